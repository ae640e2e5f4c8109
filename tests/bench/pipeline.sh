#!/bin/sh
# Two stages on two cores against one process on one, and against torch.distributed.pipelining
# (gloo) with the same cut, micro-batches and schedule: seconds a step, and ratios.  The two take
# turns and the least of each counts: on a machine that others use, both suffer.  ideal is what
# the schedule's bubble and the cut leave of 2, (t0 + t1) / max(t0, t1) * m / (m + 1), with m
# micro-batches and t0, t1 the seconds that the stages say they computed.  MODELS: "wide vgg even".
set -eu
python=${GV_PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 2' HUP INT TERM
cd "$dir"
batch=512
micro_batches=32
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
5,conv,64,3,1,relu,0,1
6,conv,64,3,1,relu,1,1
7,conv,64,3,1,relu,1,1
8,conv,96,3,1,relu,1,1
9,maxpool,,2,,,1,1
10,linear,128,,,relu,1,1
11,linear,,,,,1,1
12,xent,,,,,1,1
END
cat >even.csv <<'END'
id,op,out,k,p,act,stage,replicas
1,conv,48,3,1,relu,0,1
2,conv,48,3,1,relu,0,1
3,conv,48,3,1,relu,0,1
4,conv,48,3,1,relu,0,1
5,conv,48,3,1,relu,1,1
6,conv,48,3,1,relu,1,1
7,conv,48,3,1,relu,1,1
8,avgpool,,8,,,1,1
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
			gv-train -q --data=digits:1024 --threads=1 --steps="$steps" \
			--batch=$batch --micro-batches=$micro_batches "$@" >out.$r &
		pids="$pids $!"
		r=$((r + 1))
	done
	for pid in $pids; do wait "$pid"; done
	echo "$from $(now)" | awk '{ print $2 - $1 }'
}
# What a run begins with is taken off: the least long run less the least short one.
both() { # both MODEL SCHEDULE: seconds a step of one process, of two stages
	for i in 1 2 3 4 5; do
		echo "$(took 1 2 "$1") $(took 1 8 "$1") $(took 2 2 "--schedule=$2" "$1") $(
			took 2 8 "--schedule=$2" --stages=stages.csv "$1")"
	done | awk '{ for (i = 1; i <= 4; i++) if (NR == 1 || $i < least[i]) least[i] = $i }
		END { print (least[2] - least[1]) / 6, (least[4] - least[3]) / 6 }'
}
cut_leaves() { # cut_leaves: of the table of stages, what the cut leaves of 2
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ t = $at["forward_ms"] + $at["backward_ms"]; sum += t; if (t > most) most = t }
		END { print sum / most }' stages.csv
}
echo "| model | schedule | one process s | two stages s | ratio | ideal | torch s | ours/torch |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
for model in ${MODELS:-wide vgg even}; do
	for schedule in gpipe flush; do
		s=$(both "$model.csv" $schedule)
		theirs=0
		[ -z "$torch" ] || theirs=$(timeout 120 "$python" "$here/pipeline.py" \
			"$model.csv" "$schedule" 16x16x1 $batch $micro_batches || echo 0)
		echo "$model $schedule $s $(cut_leaves) $micro_batches $theirs" | awk '{
			printf "| %s | %s | %.4f | %.4f | %.2f | %.2f |", $1, $2, $3, $4, $3 / $4, $5 * $6 / ($6 + 1)
			if ($7 > 0) printf " %.4f | %.2f |\n", $7, $7 / $4; else print " | |" }'
	done
done
