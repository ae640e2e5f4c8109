#!/bin/sh
# gv-partition --top and --rank: plans ranked by running them.  How good they are is in
# unit/gv-partition.rank.c.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"
. "$src/tests/plans.sh"

cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
usage='usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]'
# column NAME FILE: its cells, a line each
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$2"; }
plan() { gv-partition -l 4@1GB/s "$@" layers.csv; }
# is NAME GOT WANT
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: $2, not $3" out err; fi; }

# Two layers of 3 ms on two GPUs, all-reduces of next to nothing, of which that of the first layer
# is behind the backward pass: stages of one GPU, where the first keeps two versions of the weights,
# are a little faster than two replicas, and smaller.
printf '%s\n' node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes \
	a,1,2,0,1000 b,1,2,0,1000 >two.csv
run gv-partition --top=0 -l 2@1GB/s two.csv
silent "a ranking"
is_out "a ranking" <<EOF
rank,step_s,speedup,bubble_share,stages,gpus,replicas,gpu_types,flat,recompute,in_flight,memory_bytes,first_layers
1,0.003,2,0,2,2,1;1,,yes,none,2,5000,a;b
2,0.0030005,1.999667,0.000167,1,2,2,,yes,none,1,8000,a
3,0.006,1,0,1,1,1,,yes,none,1,8000,a
EOF
run gv-partition --top=2 --schedule=flush --micro-batches=4 -l 2@1GB/s two.csv
is_out "a flush leaves a bubble between stages" <<EOF
rank,step_s,speedup,bubble_share,stages,gpus,replicas,gpu_types,flat,recompute,in_flight,memory_bytes,first_layers
1,0.00300025,1.999833,8.3e-05,1,2,2,,yes,none,1,8000,a
2,0.00375,1.6,0.2,2,2,1;1,,yes,none,2,4000,a;b
EOF

# ---- each replica has a micro-batch ----
# on GPUs of several types, on levels and on one, varied or not
widest() { awk -F'[,;]' 'NR > 1 { for (i = 7; i < 7 + $5; i++) if ($i > most) most = $i } END { print most + 0 }' out; }
printf 'gpu_type,gpus\na,4\nb,3\n' >fleet.csv
for schedule in flush gpipe zb-h1; do
	for machine in "-l 5@1GB/s" "-l 2@10GB/s -l 3@1GB/s" "-l @1GB/s -c fleet.csv --gpu-speed=a=1 --gpu-speed=b=.4"; do
		run gv-partition --top=0 $machine --schedule=$schedule --micro-batches=2 layers.csv
		is "$schedule $machine: two micro-batches, the most replicas" "$(widest)" 2
	done
done
run gv-partition --explain -l @1GB/s -c fleet.csv --gpu-speed=a=1 --gpu-speed=b=.4 --schedule=flush --micro-batches=2 layers.csv
is_status 0 "the fastest on GPUs of two types"
is "has no more" "$(column replicas out | sort -n | tail -n 1)" 2
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,1,2,9e9,10\nb,1,2,10,10\n' >wide.csv
run gv-partition -l 2@1GB/s -l 2@1GB/s --schedule=flush --micro-batches=3 wide.csv
is_status 2 "levels whose product is too wide"
is_err "are told of what is not" <<EOF
gv-partition: stage 0 has replicas=4, which need as many micro-batches; got 3; --flat looks for a plan of no more
EOF
run gv-partition --flat -l 2@1GB/s -l 2@1GB/s --schedule=flush --micro-batches=3 wide.csv
is_status 0 "which finds one"

run gv-partition -v --top=1 -l 2@1GB/s two.csv
sed 's/tried=[0-9]*/tried=N/' err >got && mv got err
echo 'gv-partition: schedule=1f1b plans=3 tried=N' | is_err "-v"

# ---- what a ranking is, under every schedule ----
for how in 1f1b 2bw "flush --micro-batches=6" "gpipe --micro-batches=6" "zb-h1 --micro-batches=6" \
	"interleaved --micro-batches=8"; do
	# shellcheck disable=SC2086
	run gv-partition --top=0 -l 4@10Gb/s -e edges.csv --schedule=$how layers.csv
	silent "$how"
	mv out all.csv
	column step_s all.csv >got
	if sort -g -c got; then pass "$how: the fastest first"; else fail "$how: not the fastest first" all.csv; fi
	is "$how: no plan twice" "$(cut -d, -f2- all.csv | sort | uniq -d)" ""
	n=$(sed 1d all.csv | wc -l)
	is "$how: ranks from 1" "$(column rank all.csv | tr '\n' ' ')" "$(seq "$n" | tr '\n' ' ')"
	# shellcheck disable=SC2086
	gv-partition -v --timeline -l 4@10Gb/s -e edges.csv --schedule=$how -o /dev/null layers.csv 2>said
	best=$(head -n 1 got)
	plain=$(sed -n 's/.* step_s=\([^ ]*\).*/\1/p' said)
	if awk "BEGIN { exit !($best <= $plain * (1 + 1e-9)) }"; then
		pass "$how: none slower than the plan without ranking"
	else
		fail "$how: $best, but $plain without" all.csv
	fi
	# each is the plan that --rank gives, which takes as long when it is read again
	for rank in 1 2 "$n"; do
		# shellcheck disable=SC2086
		gv-partition --rank="$rank" -l 4@10Gb/s -e edges.csv --schedule=$how -o plan.csv layers.csv
		# shellcheck disable=SC2086
		run gv-partition --evaluate -v --timeline -l 4@10Gb/s -e edges.csv --schedule=$how -o /dev/null plan.csv
		is "$how: time of rank $rank" "$(sed -n 's/.* step_s=\([^ ]*\).*/\1/p' err)" "$(column step_s all.csv | sed -n "${rank}p")"
		is "$how: bytes of rank $rank" "$(sed -n 's/.*memory_bytes=//p' err)" "$(column memory_bytes all.csv | sed -n "${rank}p")"
	done
	# shellcheck disable=SC2086
	run gv-partition --rank=$((n + 1)) -l 4@10Gb/s -e edges.csv --schedule=$how layers.csv
	is_status 1 "$how: a rank too many: status"
	echo "gv-partition: no plan of rank $((n + 1)): $n were found" | is_err "$how: a rank too many"
done

# ---- what is asked of plans holds ----
run gv-partition --top=0 -l 4@10Gb/s -e edges.csv --straight layers.csv
is "--straight" "$(column replicas out | tr -d ';\n' | tr -d 1)" ""
run gv-partition --top=0 -l 4@10Gb/s -e edges.csv --all-gpus layers.csv
is "--all-gpus" "$(column gpus out | sort -u)" 4
run gv-partition --top=0 -l 4@10Gb/s -e edges.csv -m 900MB layers.csv
silent "-m"
is "-m" "$(column memory_bytes out | awk '$1 > 9e8')" ""
out_has "full" "-m: some stages recompute"
run gv-partition --top=0 -l 4@10Gb/s -e edges.csv -m 500MB layers.csv
is_status 1 "-m, too little: status"
is_err "-m, too little" <<EOF
gv-partition: no plan fits: the fullest stage of the best one, 2 layers from "fc1" to "fc2" with replicas=1 and in_flight=1, needs 0.827 GiB on each GPU, 0.362 GiB too much
EOF
run gv-partition --top=0 -l 4@10Gb/s -e edges.csv --schedule=interleaved --micro-batches=8 -m 500MB layers.csv
is_status 1 "interleaved, too little: status"
run gv-partition --top=0 -l 2@25GB/s -l 2@10Gb/s -e edges.csv layers.csv
silent "levels"
mv out levels.csv
is "on levels and flat" "$(column flat levels.csv | sort -u | tr '\n' ' ')" "no yes "
for kind in no yes; do
	rank=$(awk -F, -v kind=$kind '$9 == kind { print $1; exit }' levels.csv)
	gv-partition --rank="$rank" -l 2@25GB/s -l 2@10Gb/s -e edges.csv -o plan.csv layers.csv
	run gv-partition --evaluate -v --timeline -l 2@25GB/s -l 2@10Gb/s -e edges.csv -o /dev/null plan.csv
	is "flat=$kind: time" "$(sed -n 's/.* step_s=\([^ ]*\).*/\1/p' err)" "$(column step_s levels.csv | sed -n "${rank}p")"
done
run gv-partition --top=1 --flat -l 2@25GB/s -l 2@10Gb/s -e edges.csv layers.csv
sed 1d out | cut -d, -f2- >got
grep ',yes,' levels.csv | head -n 1 | cut -d, -f2- >want
same_file got want "--flat: the best of these"
run gv-partition --top=3 -l 4@10Gb/s -e edges.csv layers.csv
mv out three.csv
gv-partition --top=0 -l 4@10Gb/s -e edges.csv layers.csv | head -n 4 >want
same_file three.csv want "--top=3 is the beginning of all"
run gv-partition --top=3 --tsv -l 4@10Gb/s -e edges.csv -o made.tsv layers.csv
tr , '\t' <three.csv >want
same_file made.tsv want "--tsv and -o"
run gv-partition --rank=1 --explain -l 4@10Gb/s -e edges.csv layers.csv
silent "--rank with --explain"

# ---- GPUs of several types ----
printf 'gpu_type,gpus\nv100,2\nk80,3\n' >types.csv
types='-c types.csv -l @10Gb/s --gpu-speed=v100=1 --gpu-speed=k80=0.3'
for how in 1f1b "flush --micro-batches=8" "zb-h1 --micro-batches=8 -m 1.2GB"; do
	# shellcheck disable=SC2086
	run gv-partition --top=0 $types -e edges.csv --schedule=$how layers.csv
	silent "types, $how"
	mv out all.csv
	column step_s all.csv >got
	if sort -g -c got; then pass "types, $how: the fastest first"; else fail "types, $how: not the fastest first" all.csv; fi
	is "types, $how: no plan twice" "$(cut -d, -f2- all.csv | sort | uniq -d)" ""
	is "types, $how: no more GPUs of a type than there are" "$(awk -F, 'NR > 1 { split($7, n, ";"); k = split($8, t, ";"); v = 0; o = 0
		for (i = 1; i <= k; i++) if (t[i] == "v100") v += n[i]; else if (t[i] == "k80") o += n[i]; else v = 99
		if (v > 2 || o > 3 || v + o != $6) print }' all.csv)" ""
	# shellcheck disable=SC2086
	gv-partition -v --timeline $types -e edges.csv --schedule=$how -o /dev/null layers.csv 2>said
	best=$(head -n 1 got)
	plain=$(sed -n 's/.* step_s=\([^ ]*\).*/\1/p' said)
	if awk "BEGIN { exit !($best <= $plain * (1 + 1e-9)) }"; then
		pass "types, $how: none slower than the plan without ranking"
	else
		fail "types, $how: $best, but $plain without" all.csv
	fi
	for rank in 1 2; do
		# shellcheck disable=SC2086
		gv-partition --rank=$rank $types -e edges.csv --schedule=$how -o plan.csv layers.csv
		# shellcheck disable=SC2086
		run gv-partition --evaluate -v --timeline $types -e edges.csv --schedule=$how -o /dev/null plan.csv
		is "types, $how: time of rank $rank" "$(sed -n 's/.* step_s=\([^ ]*\).*/\1/p' err)" "$(column step_s all.csv | sed -n "${rank}p")"
	done
done
# shellcheck disable=SC2086
run gv-partition --top=1 $types -m 100MB -e edges.csv layers.csv
is_status 1 "types, too little memory: status"
printf 'gpu_type,gpus\nv100,1\nk80,3\n' >types.csv
run gv-partition --top=3 -c types.csv -l @10Gb/s --gpu-speed=v100=1 --gpu-speed=k80=1 -e edges.csv layers.csv
is "types that are alike are as fast as one type" "$(column step_s out | head -n 1)" \
	"$(gv-partition --top=1 -l 4@10Gb/s -e edges.csv layers.csv | column step_s /dev/stdin)"

# ---- the bound ----
run gv-partition -v --rank=2 -o /dev/null -l 4@10Gb/s -e edges.csv layers.csv
err_has "slowest_s=0.0316875 bound_s=0.01728125 " "the second plan bounds nothing"

# ---- all GPUs ----
# the plan without --top sums gradients level by level, and has to be among them
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,0,0.1,1000,40000000\n' >one.csv
run gv-partition -v --all-gpus --timeline -l 4@25GB/s -l 2@1GB/s -o /dev/null one.csv
want=$(sed -n 's/.* step_s=\([^ ]*\) .*/\1/p' err)
run gv-partition --all-gpus --top=1 -l 4@25GB/s -l 2@1GB/s one.csv
is "the first on all GPUs is as fast as the plan without --top" "$(column step_s out)" "$want"

# ---- published configurations ----
# PipeDream, SOSP 2019, table 1, cluster A: four servers of four V100, 10 Gb/s between them.
data=$shared/data/pipedream
published() {
	if [ ! -d "$data" ]; then
		skip "no shared data"
		return
	fi
	run gv-partition --top=1 -l 4@12GB/s -l 4@10Gb/s -e "$data/$1.edges.csv" "$data/$1.layers.csv"
	is "$1 on 16 GPUs: published $2, ours (stages, GPUs, replicas)" "$(sed 1d out | cut -d, -f5-7)" "$3"
}
published vgg16 15-1 "2,16,15;1"
published resnet50 "data parallel" 1,16,16
if [ -d "$data" ]; then
	run gv-partition --top=1 -l 4@10Gb/s -e "$data/gnmt.edges.csv" "$data/gnmt.layers.csv"
	is "gnmt on 4 GPUs: published straight, ours" "$(sed 1d out | cut -d, -f5-7)" "4,4,1;1;1;1"
else
	skip "no shared data"
fi

# ---- messages ----
own='--top writes a table of its own: without --evaluate, --explain, --timeline, --compare, --export and --rank'
for with in --evaluate --explain --timeline --compare=two.csv --export=torch --rank=2; do
	bad "$with" "$own" --top=3 $with
done
bad "--rank of a plan" "--rank is for a plan that is searched, not --evaluate" --rank=1 --evaluate
bad "--rank" '--rank: expected a whole number from 1 to 1000000, got "0"' --rank=0
done_testing
