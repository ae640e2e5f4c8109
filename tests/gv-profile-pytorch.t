#!/bin/sh
# examples/pytorch: an ordinary PyTorch loop is measured, interrupted and resumed.
. "${0%/*}/lib.sh"

train=$src/examples/pytorch/train.py
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
if [ -z "$GV_PYTHON" ]; then
	skip "no python3"
	done_testing
	exit
fi
# without site-packages there is no torch
run "$GV_PYTHON" -I -S "$train"
is_status 1 "no torch"
is_err "no torch: message" <<'EOT'
train.py: PyTorch is not installed: pip install torch
EOT
if [ -z "${GV_LONG:-}" ]; then
	skip "long: training with PyTorch"
	done_testing
	exit
fi
if ! "$GV_PYTHON" -c 'import torch' 2>/dev/null; then
	skip "no torch"
	done_testing
	exit
fi

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
