#!/bin/sh
# torchrun under gv-run: it sends SIGTERM to all processes of its ranks, those of DataLoaders, too,
# and fails; share/gv_torchrun.py and gv_torch's loaders make a preemption of it.
# shellcheck disable=SC2002,SC2016
. "${0%/*}/lib.sh"
. "$src/tests/torch.sh"
PYTHONPATH=$src/share
export PYTHONPATH
# is WANT GOT NAME
is() {
	echo "$1" >is.want
	echo "$2" >is.got
	same_file is.want is.got "$3"
}

# ---- by itself, with a torchrun that only says what it was asked for ----
if [ -n "$GV_PYTHON" ]; then
	mkdir -p fake/torch/distributed
	: >fake/torch/__init__.py
	: >fake/torch/distributed/__init__.py
	cat >fake/torch/distributed/run.py <<'EOT'
import os, signal, sys, time

def tell(*_):
    open(os.environ["GV_PROGRESS"], "a").write(os.environ.get("WORDS", ""))
    sys.exit(1)
signal.signal(signal.SIGTERM, tell)
print(*sys.argv[1:], flush=True)
if sys.argv[-1].isdigit():
    sys.exit(int(sys.argv[-1]))
if sys.argv[-1] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(20)
print('not told')
EOT
	# fake [VARIABLE=VALUE]... -- ARGUMENT...
	fake() { run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/fake:$src/share" "$@"; }
	fake LOCAL_RANK=0 LOCAL_WORLD_SIZE=3 GROUP_RANK=1 GROUP_WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=99 \
		"$GV_PYTHON" -m gv_torchrun --no-python script 7
	is_status 7 "torchrun's status is its own"
	is_out "the ranks of this node" <<'EOT'
--nnodes=2 --node-rank=1 --nproc-per-node=3 --master-addr=n1 --master-port=99 --no-python script 7
EOT
	fake LOCAL_RANK=1 "$GV_PYTHON" -m gv_torchrun script
	is_status 0 "the other workers of a node leave"
	silent "at once"
	fake "$GV_PYTHON" -m gv_torchrun script die
	is_status 137 "a torchrun that is killed"
	# told WORDS: status of one that is told to stop, and writes WORDS into its progress
	told() {
		printf 'checkpoint 2\nstep 5\n' >progress
		rm -f out
		PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/fake:$src/share" GV_PROGRESS=$PWD/progress WORDS=$1 \
			"$GV_PYTHON" -m gv_torchrun script >out 2>err &
		pid=$! status=0
		true_within 60 test -s out
		kill $pid
		wait $pid || status=$?
		ran="gv_torchrun, told"
	}
	told 'checkpoint 5
'
	is_status 143 "ranks that have saved themselves were preempted"
	told 'step 7
checkpoint 6
'
	is_status 1 "not those that have saved less than they did"
	told 'checkpoint 5'
	is_status 1 "or have not written the whole line"
	told ''
	is_status 1 "or nothing"
else
	skip "no python3"
fi

# ---- with PyTorch, in a gang of two whose loaders have processes ----
needs_torch "$src/examples/pytorch/loop.py"
# go STATE COMMAND: gv-run with a job of that command in the background
go() {
	printf 'gpu_type,gpus,threads\ncpu,2,1\n' >cluster.csv
	printf 'job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share\nt,2,400,%s %s,cpu,50,1\n' \
		"$GV_PYTHON $2" "$src/examples/pytorch/loop.py" >jobs.csv
	gv-run -s "$1" -c cluster.csv --round=600s --grace=25s jobs.csv >"$1.out" 2>"$1.err" &
	pid=$!
}
# ended STATE
ended() {
	status=0
	wait $pid || status=$?
	ran="gv-run, state $1"
	cp "$1.out" out
	cp "$1.err" err
}
go whole ""
ended whole
is_status 0 "left alone, without torchrun"
go parts "-m gv_torchrun"
for n in 1 2; do
	i=0 before=$(cat parts/jobs/t/progress 2>/dev/null | wc -l)
	until [ "$(cat parts/jobs/t/progress 2>/dev/null | wc -l)" -gt $((before + 1)) ] || [ $i -gt 1200 ]; do i=$((i + 1)) && sleep 0.05; done
	gv-run --hold -s parts t
	i=0
	until [ "$(grep -c ',preempt,t,' parts/events.csv)" -ge $n ] || [ $i -gt 1200 ]; do i=$((i + 1)) && sleep 0.05; done
	gv-run --release -s parts t
done
ended parts
is_status 0 "stopped twice, in torchrun"
is "2 0" "$(grep -c ,preempt, out) $(grep -c ,fail, out)" "preempted each time, never failed"
grep -h weights whole/jobs/t/log >want
grep -h weights parts/jobs/t/log >got
same_file want got "the same weights"
is 0 "$(grep -c 'DataLoader worker' parts/jobs/t/log)" "no process of a loader died under its script"
done_testing
