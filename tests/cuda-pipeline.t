#!/bin/sh
# Pipelines whose workers have GPUs that are fakes: what crosses stages goes from the memory
# of one to that of the other by NCCL of the tests (tests/cuda/fake_nccl.c).  The bits are
# those over TCP, under every schedule; whoever fails or dies, all end, and say the same.
. "${0%/*}/lib.sh"

fake=$build/fake
if [ ! -f "$fake/libnccl.so.2" ]; then
	skip "no C++ compiler: kernels are not emulated"
	done_testing
	exit 0
fi
export TMPDIR="$scratch" GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake"
cat >mlp.csv <<'END'
id,op,out,act
1,linear,12,relu
2,linear,9,relu
3,linear,11,relu
4,linear,,
5,xent,,
END
cat >res.csv <<'END'
id,op,from,out,k,s,p,act
1,conv,,4,3,2,1,relu
2,bn,1,,,,,relu
3,conv,2,4,3,1,1,
4,add,3;1,,,,,relu
5,conv,4,6,3,2,1,relu
6,linear,5,,,,,
7,xent,6,,,,,
END
# plan CUTS REPLICAS <model >plan: the stages begin with the rows CUTS ("0 2 3"), on so many each
plan() {
	awk -F, -v OFS=, -v cuts="$1" -v replicas="$2" '
	BEGIN { n = split(cuts, cut, " "); split(replicas, r, " ") }
	NR == 1 { print $0, "stage", "replicas"; next }
	{ s = 0; for (i = 1; i <= n; i++) if (NR - 2 >= cut[i]) s = i; print $0, s - 1, r[s] }'
}
train="--data=digits:64 --batch=8 --steps=6 --log-every=1 --momentum=.9"
pids=''
# begin N OPTION...: workers, each in a host of its own, out.R and err.R
begin() {
	world=$1 rank=0 pids=''
	shift
	free_port
	ran="pipeline $*"
	while [ "$rank" -lt "$world" ]; do
		# shellcheck disable=SC2086
		env RANK=$rank LOCAL_RANK=$rank WORLD_SIZE="$world" MASTER_ADDR=127.0.0.1 MASTER_PORT=$port NCCL_HOSTID="${HOST:-host$rank}" \
			GV_FAKE_CUDA="$([ "$rank" -eq "${ON:-$rank}" ] && echo "${GV_FAKE:-}")" \
			timeout 60 gv-train --timeout=15s --device=cuda $train "$@" >out.$rank 2>err.$rank &
		pids="$pids $!"
		rank=$((rank + 1))
	done
}
# end: waits for them; their statuses to $statuses
end() {
	statuses=''
	for i in $pids; do
		wait "$i"
		statuses="$statuses $?"
	done
	statuses=${statuses# }
}
# both N NAME OPTION...: over NCCL as over TCP
both() {
	n=$1 name=$2
	shift 2
	rm -f tcp.w nccl.w
	begin "$n" --transport=tcp --weights=tcp.w "$@"
	end
	tcp_statuses=$statuses
	mv out.0 tcp
	begin "$n" --transport=nccl --weights=nccl.w "$@"
	end
	ok "$name: all end" test "$statuses $tcp_statuses" = "$(echo "$statuses $tcp_statuses" | tr 1-9 0)"
	[ "$statuses" = "$tcp_statuses" ]
	same_file tcp out.0 "$name: the losses over TCP"
	ok "$name: and the weights" cmp -s tcp.w nccl.w
}

plan "0 2" "1 1" <mlp.csv >two.csv
plan "0 1 2 3" "1 1 1 1" <mlp.csv >four.csv
plan "0 2 4" "1 1 1" <res.csv >res3.csv
plan "0 2" "2 1" <mlp.csv >unequal.csv
plan "0 2" "1 2" <mlp.csv >unequal2.csv
plan "0 1 3" "2 2 1" <mlp.csv >many.csv

both 2 "flush" --schedule=flush --micro-batches=4 two.csv
both 2 "gpipe" --schedule=gpipe --micro-batches=4 two.csv
both 2 "1f1b" --schedule=1f1b two.csv
both 2 "2bw" --schedule=2bw --micro-batches=4 two.csv
both 2 "zb-h1" --schedule=zb-h1 --micro-batches=4 two.csv
both 2 "interleaved" --schedule=interleaved --chunks=2 --micro-batches=4 four.csv
both 4 "four stages" --schedule=flush --micro-batches=8 four.csv
both 3 "rows that skip a stage, bn" --schedule=flush --micro-batches=2 res3.csv
both 3 "two replicas, then one" --schedule=flush --micro-batches=4 unequal.csv
both 3 "two replicas, then one, under 1f1b" --schedule=1f1b unequal.csv
both 3 "one, then two" --schedule=2bw --micro-batches=4 unequal2.csv
both 5 "2, 2 and 1 replicas" --schedule=flush --micro-batches=4 many.csv
both 2 "clipped by the norm of all stages" --schedule=flush --micro-batches=4 --clip-norm=.1 two.csv
both 2 "tested on the way" --schedule=flush --micro-batches=2 --test=digits:30 --test-every=2 two.csv
both 2 "numbers of 2 bytes" --math=bf16 --schedule=1f1b two.csv

# ---- what is said, and what moves ----
GV_FAKE=log=calls ON=0
begin 2 -v --schedule=flush --micro-batches=4 two.csv
end
GV_FAKE='' ON=''
ok "-v says how they are sent" grep -q '^gv-train: what crosses stages is sent from GPU to GPU, by NCCL$' err.0
ok "NCCL sent" test "$(sed -n 's/^ncclSend //p' calls)" -ge 24
ok "and received" test "$(sed -n 's/^ncclRecv //p' calls)" -ge 24
HOST=one
begin 2 -v --schedule=flush --micro-batches=4 two.csv
end
HOST=
ok "two workers on one GPU: over TCP" grep -q 'what crosses stages is sent over TCP: ranks 0 and 1 have the same GPU' err.0

# ---- what goes wrong ----
for what in ncclCommInitRankConfig:1:5 ncclSend:3:4 ncclRecv:4:3 async:40:1 async:60:6 cuStreamWaitEvent:5:999 cuEventCreate:9:2 cuStreamCreate:2:2; do
	GV_FAKE=fail=$what ON=1
	begin 2 --steps=100000 --schedule=1f1b two.csv
	end
	GV_FAKE='' ON=''
	ok "$what: both end" test "$statuses" = "2 2"
	ok "$what: one says why" grep -q '^gv-train: \(stage 1: \)\{0,1\}Fake H100 (GPU 0): ' err.1
	ok "$what: the other who" grep -q '^gv-train: rank 1 of 127.0.0.1 is gone' err.0
done

# ---- who is killed ----
for schedule in "1f1b two.csv" "flush --micro-batches=4 two.csv" "zb-h1 --micro-batches=4 two.csv" "2bw --micro-batches=4 unequal2.csv"; do
	n=2
	case $schedule in *unequal*) n=3 ;; esac
	for dies in 0 1; do
		rm -rf c
		# shellcheck disable=SC2086
		begin $n --steps=1000000 --checkpoint=c --checkpoint-steps=3 --schedule=$schedule
		true_within 30 test -s c/gv-train.set
		# shellcheck disable=SC2086
		set -- $pids
		shift $dies
		kill -KILL "$(ps -o pid= --ppid "$1")"
		end
		ok "$schedule: rank $dies is killed, all end" test "$(echo "$statuses" | tr -s ' ' '\n' | sort -n | uniq | tr '\n' ' ')" = "2 137 "
		ok "$schedule: with the sentence of TCP" grep -q "^gv-train: rank $dies of 127.0.0.1 is gone: it had stage $dies" err.$((1 - dies))
	done
done
# shellcheck disable=SC2086
begin 2 --steps=1000 --checkpoint=c2 --schedule=1f1b --checkpoint-steps=3 two.csv
until [ -s c2/gv-train.set ]; do sleep .05; done
# shellcheck disable=SC2086
set -- $pids
kill -TERM "$(ps -o pid= --ppid "$2")"
end
ok "told to stop" test "$statuses" = "143 143"
done_testing
