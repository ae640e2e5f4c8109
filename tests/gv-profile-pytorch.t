#!/bin/sh
# examples/pytorch: an ordinary PyTorch loop is measured, interrupted and resumed.
. "${0%/*}/lib.sh"
. "$src/tests/torch.sh"

train=$src/examples/pytorch/train.py
needs_torch "$train"

printf 'gpu_type,gpus,threads\ncpu1,1,1\n' >cluster.csv
printf 'job_id,command\na,"%s %s --steps 1000000 --checkpoint %s"\n' "$GV_PYTHON" "$train" "$scratch" >jobs.csv
run gv-profile jobs --warmup=0.2s --window=1s -c cluster.csv jobs.csv
if [ "$status" -eq 0 ] && [ "$(sed -n '2s/.*,//p' out | cut -d. -f1)" -gt 10 ] && [ ! -e train.pt ]; then
	pass "measured, and its own checkpoint directory stays empty"
else
	fail "measured, and its own checkpoint directory stays empty" out err
fi

mkdir whole parts
run env GV_CHECKPOINT_DIR="$scratch/whole" "$GV_PYTHON" "$train" --steps 3000
silent "the whole run"
cp out want.txt
: >progress
status=143 runs=0
while [ "$status" -eq 143 ] && [ $runs -lt 50 ]; do
	runs=$((runs + 1))
	: >progress
	GV_PROGRESS=$scratch/progress GV_CHECKPOINT_DIR=$scratch/parts "$GV_PYTHON" "$train" --steps 3000 >out 2>err &
	pid=$!
	n=0
	while [ $n -lt 600 ] && ! grep -q step progress && kill -0 $pid 2>/dev/null; do sleep 0.05 && n=$((n + 1)); done
	if [ $runs -le 3 ]; then
		sleep 0.1
		kill $pid
	fi
	status=0
	wait $pid || status=$?
done
same_file out want.txt "interrupted three times: the same loss"
ok "and it was" [ $runs -eq 4 ]
tail -n 1 progress >last
echo "checkpoint 3000" >want
same_file last want "and it said when it had saved itself"
done_testing
