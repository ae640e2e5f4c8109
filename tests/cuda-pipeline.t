#!/bin/sh
# Pipelines whose workers have GPUs that are fakes: what crosses stages goes from the memory
# of one to that of the other by NCCL of the tests (tests/cuda/fake_nccl.c).  The bits are
# those over TCP, under every schedule; whoever fails or dies, all end, and say the same.
. "${0%/*}/lib.sh"
. "${0%/*}/ranks.sh"

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
train="--timeout=15s --data=digits:64 --batch=8 --steps=6 --log-every=1 --momentum=.9"
# both N NAME OPTION...: over NCCL as over TCP
both() {
	n=$1 name=$2
	shift 2
	rm -rf ./*.w late
	begin "$n" --transport=tcp --weights=tcp.w "$@"
	end
	tcp_statuses=$statuses
	mv out.0 tcp
	rm -rf late
	begin "$n" --transport=nccl --weights=nccl.w "$@"
	end
	ok "$name: all end" test "$statuses $tcp_statuses" = "$(echo "$statuses $tcp_statuses" | tr 1-9 0)"
	[ "$statuses" = "$tcp_statuses" ]
	ok "$name: there are losses" test -s tcp
	same_file tcp out.0 "$name: the losses over TCP"
	for i in tcp*.w; do
		[ "$i" = tcp.1.w ] || ok "$name: and the weights" cmp -s "$i" "nccl${i#tcp}" # that one has diverged
	done
}

plan "0 2" "1 1" <mlp.csv >two.csv
plan "0 1 2 3" "1 1 1 1" <mlp.csv >four.csv
plan "0 2 4" "1 1 1" <res.csv >res3.csv
plan "0 2" "2 1" <mlp.csv >unequal.csv
plan "0 2" "1 2" <mlp.csv >unequal2.csv
plan "0 1 3" "2 2 1" <mlp.csv >many.csv
plan "0 2" "3 1" <mlp.csv >three.csv
plan "0 2" "1 3" <mlp.csv >three2.csv
plan "0" "3" <res.csv >alone.csv
plan "0 2" "2 2" <res.csv >res2.csv
plan "0 1 2 3" "2 2 2 2" <mlp.csv >twice.csv
cat >wide.csv <<'END'
id,op,out,act,stage,replicas
1,linear,350,relu,0,2
2,linear,780,relu,0,2
4,linear,,,1,1
5,xent,,,1,1
END
printf 'seed,lr\n1,.1\n2,1e30\n3,.001\n' >array.csv

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
both 4 "three replicas, whose sum is a third" --schedule=1f1b --batch=9 --steps=12 three.csv
both 4 "one, then three, of 2bw" --schedule=2bw --micro-batches=6 --batch=12 three2.csv
plan "0 2 3" "1 3 1" <mlp.csv >three3.csv
both 5 "one, three, one, of 2bw, tested in between" --schedule=2bw --micro-batches=6 --batch=12 --steps=12 --test=digits:30 --test-every=2 three3.csv
both 3 "one stage of three, with bn" --schedule=1f1b --steps=9 alone.csv
both 4 "two of two, rows that skip, bn" --schedule=flush --micro-batches=4 res2.csv
both 4 "two of two, rows that skip, bn, 2bw" --schedule=2bw --micro-batches=4 res2.csv
both 4 "interleaved, of two replicas" --schedule=interleaved --chunks=2 --micro-batches=4 twice.csv
both 4 "zb-h1, of two replicas" --schedule=zb-h1 --micro-batches=4 res2.csv
GV_FAKE=log=calls ON=1
both 3 "in two buckets" --schedule=flush --micro-batches=2 --batch=2 --steps=2 --timeout=60s wide.csv
ok "in two buckets, each step" test "$(sed -n 's/^ncclGroupEnd //p' calls)" -eq 9
GV_FAKE='' ON=''
both 3 "an array, of which one diverges" --schedule=1f1b --array=array.csv --steps=12 unequal.csv
both 3 "replicas, clipped by the norm of all stages" --schedule=flush --micro-batches=4 --clip-norm=.1 unequal.csv
both 4 "replicas, numbers of 2 bytes" --math=bf16 --schedule=1f1b res2.csv
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
GV_FAKE=log=calls ON=1
begin 3 -v --schedule=flush --micro-batches=4 unequal.csv
end
GV_FAKE='' ON=''
ok "-v says how replicas sum" grep -q '^gv-train: what crosses stages is sent from GPU to GPU, by NCCL, and so are sums of replicas$' err.0
# of each of 6 steps, and once to connect: what the other one adds, and what it has added
ok "they sum by NCCL" test "$(sed -n 's/^ncclGroupEnd //p' calls)" -eq 13
HOST=one
begin 2 -v --schedule=flush --micro-batches=4 two.csv
end
HOST=
ok "two workers on one GPU: over TCP" grep -q 'what crosses stages is sent over TCP: ranks 0 and 1 have the same GPU' err.0

# ---- losses come later than their steps ----
# of the last stage each step's losses are read, of the first nothing at all
for schedule in "flush --micro-batches=4" "1f1b" "2bw --micro-batches=4" "zb-h1 --micro-batches=4"; do
	for of in 0 1; do
		for steps in 12 36; do
			GV_FAKE=log=calls ON=$of
			# shellcheck disable=SC2086
			begin 2 --schedule=$schedule --steps=$steps two.csv
			end
			GV_FAKE='' ON=''
			ok "$schedule, $steps steps: both end" test "$statuses" = "0 0"
			mv calls calls.$steps
		done
		was=$(sed -n 's/^cuMemcpyDtoHAsync_v2 //p' calls.12)
		is=$(sed -n 's/^cuMemcpyDtoHAsync_v2 //p' calls.36)
		ok "$schedule: rank $of reads its losses alone" test $((${is:-0} - ${was:-0})) -eq $((24 * of))
	done
done
both 3 "late, a unit of several steps" --schedule=1f1b --steps=24 unequal2.csv
both 2 "late, tested and saved on the way" --schedule=2bw --micro-batches=4 --steps=20 --test=digits:30 --test-every=7 --checkpoint=late --checkpoint-steps=3 two.csv
both 2 "late, a row of every third step" --schedule=flush --micro-batches=2 --steps=20 --log-every=3 two.csv
begin 2 --schedule=flush --micro-batches=4 --steps=100000 --lr=1e30 two.csv
end
ok "late, the only model diverges: status" test "$statuses" = "1 1"
mv out.0 nccl
begin 2 --transport=tcp --schedule=flush --micro-batches=4 --steps=100000 --lr=1e30 two.csv
end
same_file out.0 nccl "late, the only model diverges: no step is told of behind that"
# a stop while losses are on their way: every step that was done has its row
begin 2 --schedule=1f1b --steps=1000000 --checkpoint=c3 two.csv
until [ -s c3/losses.csv ] && [ "$(wc -l <c3/losses.csv)" -gt 20 ]; do sleep .05; done
signal TERM 0
end
ok "late, a stop: statuses" test "$statuses" = "143 143"
n=$(tail -n 1 c3/losses.csv | cut -d, -f1)
begin 2 --transport=tcp --schedule=1f1b --steps="$n" --checkpoint=c4 two.csv
end
cut -d, -f1-3 c3/losses.csv >a
cut -d, -f1-3 c4/losses.csv >b
same_file a b "late, a stop: the rows of all steps"

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

for what in ncclCommInitRankConfig:3:5 ncclGroupStart:1:3 ncclGroupStart:4:3 ncclGroupEnd:1:1 ncclGroupEnd:5:3 async:90:6; do
	GV_FAKE=fail=$what ON=1
	begin 3 --steps=100000 --schedule=1f1b unequal.csv
	end
	GV_FAKE='' ON=''
	ok "$what of a replica: all end" test "$statuses" = "2 2 2"
	ok "$what of a replica: one says why" grep -q '^gv-train: \(stage 0: \)\{0,1\}Fake H100 (GPU 0): NCCL: ' err.1
	ok "$what of a replica: the others who" test "$(cat err.0 err.2 | grep -c '^gv-train: rank 1 of 127.0.0.1 is gone')" -eq 2
done

# ---- who is killed ----
for dies in 0 1 2; do
	rm -rf c
	begin 3 --steps=1000000 --checkpoint=c --checkpoint-steps=3 --schedule=flush --micro-batches=4 unequal.csv
	true_within 60 test -s c/gv-train.set
	signal KILL $dies
	end
	ok "replicas: rank $dies is killed, all end" test "$(echo "$statuses" | tr -s ' ' '\n' | sort -n | uniq | tr '\n' ' ')" = "2 137 "
	is=0
	[ $dies -lt 2 ] || is=1
	ok "replicas: with the sentence of TCP" grep -q "^gv-train: rank $dies of 127.0.0.1 is gone: it had stage $is" err.$(((dies + 1) % 3))
done
for schedule in "1f1b two.csv" "flush --micro-batches=4 two.csv" "zb-h1 --micro-batches=4 two.csv" "2bw --micro-batches=4 unequal2.csv"; do
	n=2
	case $schedule in *unequal*) n=3 ;; esac
	for dies in 0 1; do
		rm -rf c
		# shellcheck disable=SC2086
		begin $n --steps=1000000 --checkpoint=c --checkpoint-steps=3 --schedule=$schedule
		true_within 60 test -s c/gv-train.set
		signal KILL $dies
		end
		ok "$schedule: rank $dies is killed, all end" test "$(echo "$statuses" | tr -s ' ' '\n' | sort -n | uniq | tr '\n' ' ')" = "2 137 "
		ok "$schedule: with the sentence of TCP" grep -q "^gv-train: rank $dies of 127.0.0.1 is gone: it had stage $dies" err.$((1 - dies))
	done
done
# shellcheck disable=SC2086
begin 2 --steps=1000000 --checkpoint=c2 --schedule=1f1b --checkpoint-steps=3 two.csv
until [ -s c2/gv-train.set ]; do sleep .05; done
signal TERM 1
end
ok "told to stop" test "$statuses" = "143 143"
done_testing
