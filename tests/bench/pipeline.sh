#!/bin/sh
# Two stages on two cores against one process on one, and against torch.distributed.pipelining
# (gloo) with the same cut, micro-batches and schedule: seconds a step, and ratios.  ideal is
# what the schedule's bubble leaves of 2: 2m / (m + 1) with m micro-batches.  By the clock, so
# it wants a quiet machine of two cores.
set -eu
python=${GV_PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 2' HUP INT TERM
cd "$dir"
torch=yes
"$python" -c 'import torch.distributed.pipelining' 2>/dev/null || {
	torch=
	echo "pipeline: torch.distributed.pipelining skipped, PyTorch is not installed"
}
{
	echo id,op,out,act,stage,replicas
	for i in 1 2 3 4; do echo $i,linear,1024,relu,0,1; done
	for i in 5 6 7; do echo $i,linear,1024,relu,1,1; done
	echo 8,linear,,,1,1
	echo 9,xent,,,1,1
} >wide.csv
cat >vgg.csv <<'END'
id,op,out,k,p,act,stage,replicas
1,conv,32,3,1,relu,0,1
2,conv,32,3,1,relu,0,1
3,maxpool,,2,,,0,1
4,conv,64,3,1,relu,0,1
5,conv,64,3,1,relu,1,1
6,conv,64,3,1,relu,1,1
7,maxpool,,2,,,1,1
8,linear,128,,,relu,1,1
9,linear,,,,,1,1
10,xent,,,,,1,1
END
now() { date +%s.%N; }
# took WORLD STEPS ARGS...: seconds of a run
took() {
	world=$1 steps=$2 r=0 pids=
	shift 2
	port=$((20000 + ($$ + $(date +%N | sed 's/^0*//')) % 20000))
	from=$(now)
	while [ $r -lt "$world" ]; do
		RANK=$r WORLD_SIZE=$world MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
			gv-train -q --data=digits:1024 --threads=1 --steps="$steps" "$@" >out.$r &
		pids="$pids $!"
		r=$((r + 1))
	done
	for pid in $pids; do wait "$pid"; done
	echo "$from $(now)" | awk '{ print $2 - $1 }'
}
# a_step WORLD ARGS...: seconds of a step, the least of three, without what a run begins with
a_step() {
	on=$1
	shift
	for i in 1 2 3; do
		echo "$(took "$on" 2 "$@") $(took "$on" 8 "$@")"
	done | awk '{ s = ($2 - $1) / 6; if (NR == 1 || s < least) least = s } END { print least }'
}
echo "| model | schedule | one process s | two stages s | ratio | ideal | torch s | ours/torch |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
for model in wide vgg; do
	for schedule in gpipe flush; do
		set -- --batch=256 --micro-batches=16
		one=$(a_step 1 "$@" "$model.csv")
		two=$(a_step 2 "$@" "--schedule=$schedule" "$model.csv")
		theirs=0
		[ -z "$torch" ] ||
			theirs=$(timeout 120 "$python" "$here/pipeline.py" "$model.csv" "$schedule" 16x16x1 256 16 ||
				echo 0)
		echo "$model $schedule $one $two $theirs" | awk '{
			printf "| %s | %s | %.4f | %.4f | %.2f | %.2f |", $1, $2, $3, $4, $3 / $4, 32 / 17
			if ($5 > 0) printf " %.4f | %.2f |\n", $5, $5 / $4; else print " | |" }'
	done
done
