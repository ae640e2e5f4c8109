#!/bin/sh
# gv-partition's machines: tables of levels, parts of them, pipelines across levels, GPUs of
# several types.  That the plans are the best is in unit/gv-partition.placed.c and
# gv-partition.fleet.c.
. "${0%/*}/lib.sh"
. "$src/tests/plans.sh"

cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
usage='usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]'
# plan ARGS...: gv-partition of the example
plan() { gv-partition -e edges.csv "$@" layers.csv; }
# same NAME: the output is that of want
same() { same_file out want "$1"; }

# ---- levels ----
printf 'level,gpus,gbytes_per_s\n2,2,1.25\n1,4,25\n' >levels.csv
plan -l 4@25GB/s -l 2@10Gb/s >want
run plan --levels=levels.csv
silent "a table of levels"
same "is the levels"
run plan --levels=levels.csv --gpus=8
same "--gpus of all"
run plan -l 4@25GB/s -l @10Gb/s --gpus=8
same "the last number from --gpus"
run gv-partition --gpus 8 --memory 16GiB -l 4@25GB/s -l 4@10Gb/s -e edges.csv -o out2 layers.csv
silent "8 of 16 GPUs"
plan --memory 16GiB -l 4@25GB/s -l 2@10Gb/s >out
same_file out2 out "are two of four groups"
plan -l 3@25GB/s >want
run plan --levels=levels.csv --gpus=3
same "a part of a group"
run plan -l @25GB/s --gpus=3
same "one level, counted by --gpus"
plan -l 4@25GB/s >want
run plan --levels=levels.csv --gpus=4
same "one group"
plan -p 2bw --batch=8 -l 4@25GB/s >want
run plan -p 2bw --batch=8 --levels=levels.csv --gpus=4
same "2bw has them, too"

# ---- sums, which all send to all ----
plan --explain -l 4@25GB/s:5GB/s -l 2@10Gb/s:1GB/s >want
printf 'level,gpus,sum_gbytes_per_s,gbytes_per_s\n2,2,1,1.25\n1,4,5,25\n' >sums.csv
run plan --explain --levels=sums.csv
silent "a table of levels with sums"
same "is the levels"
sed 's/,5,25/,,25/' sums.csv >empty.csv
plan --explain -l 4@25GB/s -l 2@10Gb/s:1GB/s >want
run plan --explain --levels=empty.csv
same "an empty cell: sums are as fast as all else"
for args in "-l 4@1GB/s:2GB/s" "-l 4@2GB/s" "-l 4@2GB/s:2GB/s" "-l 2@2GB/s:4GB/s -l 2@1GB/s:2GB/s --flat" "-l 2@4GB/s:2GB/s -l 2@1GB/s:4GB/s --flat"; do
	# shellcheck disable=SC2086 # options
	plan -v $args -o /dev/null 2>err
	sed 's/.*data_parallel_s=//; s/ .*//' err
done >got
ok "data parallel depends on sums alone, and across levels on the slowest" eval '[ "$(sort -u got | wc -l)" -eq 1 ]'
bad "no bandwidth of sums" '--level: expected N@BANDWIDTH such as 4@25GB/s or 4@25GB/s:20GB/s, got "4@1GB/s:"' -l 4@1GB/s:
bad "a third one" '--level: expected N@BANDWIDTH such as 4@25GB/s or 4@25GB/s:20GB/s, got "4@1GB/s:1GB/s:1GB/s"' -l 4@1GB/s:1GB/s:1GB/s
run gv-partition -p ptd-p -l 4@1GB/s:1GB/s "$src/examples/man/transformers.csv"
ok "ptd-p has none" eval '[ $status -eq 2 ] && grep -q "^gv-partition: --level: a bandwidth of sums is not for --planner=ptd-p$" err'
bad "moving" '--moving: expected a bandwidth such as 2GB/s, got "2"' -l 4@1GB/s --moving=2
printf 'level,gpus,gbytes_per_s,sum_gbytes_per_s\n1,4,1,0\n' >bad.csv
wrong "no sums" 'bad.csv:2: sum_gbytes_per_s: expected a number above 0, up to 1e9, got "0"' --levels=bad.csv
bad "both" "--level and --levels: one of them" -l 2@1GB/s --levels=levels.csv
bad "too many" "--gpus: 9, of which the levels have 8" --levels=levels.csv --gpus=9
bad "a part of two groups" "--gpus: 6 are no whole groups of 4" --levels=levels.csv --gpus=6
bad "the last of no groups" "--gpus: 6 are no whole groups of 4" -l 4@25GB/s -l @10Gb/s --gpus=6
bad "no number" "--level: @BANDWIDTH without N needs --gpus=N" -l @10Gb/s
bad "no inner number" "--level: only the last can be without N" -l @10Gb/s -l 2@10Gb/s --gpus=4
for cell in 0 5 x 1.5; do
	printf 'level,gpus,gbytes_per_s\n%s,2,1\n' "$cell" >bad.csv
	case $cell in
	x | 1.5) says='expected an integer, got' ;;
	*) says='expected a whole number from 1 to 4, got' ;;
	esac
	wrong "level $cell" "bad.csv:2: level: $says \"$cell\"" --levels=bad.csv
done
printf 'level,gpus,gbytes_per_s\n1,4097,1\n' >bad.csv
wrong "many GPUs" 'bad.csv:2: gpus: expected a whole number from 1 to 4096, got "4097"' --levels=bad.csv
printf 'level,gpus,gbytes_per_s\n1,4,0\n' >bad.csv
wrong "no bandwidth" 'bad.csv:2: gbytes_per_s: expected a number above 0, up to 1e9, got "0"' --levels=bad.csv
printf 'level,gpus,gbytes_per_s\n1,4,1\n1,4,1\n' >bad.csv
wrong "twice" 'bad.csv:3: level: a second row for this level' --levels=bad.csv
printf 'level,gpus,gbytes_per_s\n2,4,1\n' >bad.csv
wrong "a level is missing" 'bad.csv: no row for level 1' --levels=bad.csv
printf 'level,gpus,gbytes_per_s\n' >bad.csv
wrong "no level" 'bad.csv: no row for level 1' --levels=bad.csv
printf 'level,gpus\n1,4\n' >bad.csv
wrong "no column" 'bad.csv:1: missing column "gbytes_per_s" (found: level, gpus)' --levels=bad.csv

# ---- one pipeline across levels ----
plan --explain -l 8@25GB/s >want
run plan --explain --flat -l 4@25GB/s -l 2@25GB/s
same "equal links: levels do not matter"
# loads are never above those at the slowest link, never below those at the fastest
load() { gv-partition -v -e edges.csv -o /dev/null "$@" layers.csv 2>&1 | tr ' ' '\n' | sed -n 's/^slowest_s=//p'; }
fast=$(load -l 8@2GB/s) slow=$(load -l 8@1Gb/s) flat=$(load --flat -l 4@2GB/s -l 2@1Gb/s)
ran="--flat on 4x2: $flat, between $fast and $slow"
ok "between the links" awk "BEGIN { exit !($fast <= $flat && $flat < $slow) }"
run plan --flat -l 4@2GB/s -l 2@1Gb/s -o flat.csv
silent "a plan across levels"
run plan --explain --flat -l 4@2GB/s -l 2@1Gb/s
cp out want
run gv-partition --evaluate --flat -l 4@2GB/s -l 2@1Gb/s -e edges.csv flat.csv
same "costs what it was planned for"
run gv-partition --evaluate -l 4@2GB/s -l 2@1Gb/s -e edges.csv flat.csv
same "a plan without places for the levels is across them"
for place in 0 0y4 x 0x0 0x4x 0x1\;0 0x99999999999\;0x1; do
	sed "2,\$s/,[^,]*\$/,$place/" flat.csv >odd.csv
	run gv-partition --evaluate -l 4@2GB/s -l 2@1Gb/s -e edges.csv odd.csv
	same "as one whose places are none is, $place"
done

# ---- types of GPUs ----
printf 'gpu_type,gpus,memory_bytes\nv100,3,\nk80,4,\n' >types.csv
speeds='--gpu-speed=v100=1 --gpu-speed=k80=0.3'
# shellcheck disable=SC2086 # several words
run plan -c types.csv $speeds -l @10Gb/s -o types.plan.csv
silent "two types"
{ sed 1q types.csv && echo p100,0, && sed 1d types.csv; } >drained.csv
# shellcheck disable=SC2086
run plan -c drained.csv $speeds -l @10Gb/s -o out
silent "a type without GPUs"
same_file types.plan.csv out "is not there"
sed 1d types.plan.csv | cut -d, -f1 >ids
# the name of a layer may hold a comma: columns from the end
sed 1d types.plan.csv | awk -F, '{ print $(NF - 4), $(NF - 3), $(NF - 2), $(NF - 1), $NF }' | paste -d' ' ids - | tail -n 3 >out
is_out "each stage has its type" <<EOF
pool 0 3 none 0x3 v100
fc1 1 1 none 1x1 k80
fc2 1 1 none 1x1 k80
EOF
run plan --timeline --micro-batches=2 -c types.csv --gpu-speed=v100=1 --gpu-speed=k80=0.1 -l @10Gb/s
silent "--timeline"
# times of layers: those of the profile, and 10/3 of them
awk -F, -v OFS=, -v OFMT=%.15g 'NR == 1 { print "node_id,gpu_type,forward_ms,backward_ms"; next }
	{ print $1, "v100", $(NF - 3), $(NF - 2); print $1, "k80", $(NF - 3) / 0.3, $(NF - 2) / 0.3 }' layers.csv >times.csv
echo "conv1,tpu,1,1" >>times.csv
# numbers of an explained plan to 9 digits
rounded() { cut -d, -f2,5-9,13,19 | awk -F, -v OFS=, 'NR > 1 { $7 = sprintf("%.9g", $7) } 1'; }
plan --explain -c types.csv --gpu-speed=v100=1 --gpu-speed=k80=0.3 -l @10Gb/s | rounded >want
run plan --explain -c types.csv --times=times.csv -l @10Gb/s
silent "--times of layers"
rounded <out >got && mv got out
same "is the same"
# 69.125 ms of layers that are planned
printf 'job_type,scale_factor,gpu_type,steps_per_s\nnet,1,v100,14.466546112115732\nnet,2,v100,99\nnet,1,k80,4.33996383363472\nnet,1,tpu,9\n' >rates.csv
run plan --explain -c types.csv --times=rates.csv -l @10Gb/s
rounded <out >got && mv got out
same "--times of the model"
run plan --explain -c types.csv --times=times.csv --gpu-speed=k80=0.3 -l @10Gb/s
rounded <out >got && mv got out
same "--gpu-speed goes before --times"
# a model whose layers take no time takes none on any type
sed 's/\(.*\),[0-9.]*,[0-9.]*\(,[0-9]*,[0-9]*\)$/\1,0,0\2/' layers.csv >idle.csv
run gv-partition -v -c types.csv --times=rates.csv -l @10Gb/s -e edges.csv -o out idle.csv
ok "a model that takes no time" grep -q ' stages=1 gpus=1 slowest_s=0 bound_s=0 single_s=0 .* speedup=1 speedup_over_data_parallel=inf$' err
# one type, with times of its own
printf 'gpu_type,gpus\nv100,4\n' >one.csv
gv-partition -l 4@10Gb/s -v -e edges.csv -o /dev/null layers.csv 2>&1 | tr ' ' '\n' | sed -n 's/^single_s=//p' >want
for times in '' --gpu-speed=v100=0.5 --gpu-speed=v100=4; do
	# shellcheck disable=SC2086
	plan -v -c one.csv $times -l @10Gb/s -o /dev/null 2>&1 | tr ' ' '\n' | sed -n 's/^single_s=//p' |
		awk -v times=${times##*=} '{ print $1 * (times == "" ? 1 : times) }'
done | uniq >out
ran="gv-partition of one type" && same_file out want "one type, as fast as it is said"
# one type, with memory
printf 'gpu_type,gpus,memory_bytes,node\nv100,1,2000000000,a\nv100,3,2000000000,b\n' >one.csv
plan -m 2GB -l 4@10Gb/s | sed '1s/$/,gpu_type/; 2,$s/$/,v100/' >want
run plan -c one.csv -l @10Gb/s
same "a cluster of one type is a level"
plan -m 900MB -l 4@10Gb/s | sed '1s/$/,gpu_type/; 2,$s/$/,v100/' >want
run plan -m 900MB -c one.csv -l @10Gb/s
same "-m where it is less"
plan -m 2GB --all-gpus -l 4@10Gb/s | sed '1s/$/,gpu_type/; 2,$s/$/,v100/' >want
run plan --all-gpus -c one.csv -l @10Gb/s
same "--all-gpus of one type"
printf 'gpu_type,gpus,memory_bytes\nbig,1,900000000\nsmall,4,400000000\n' >memory.csv
run plan --explain -c memory.csv --gpu-speed=big=1 --gpu-speed=small=1 -l @10Gb/s
silent "memory of types"
ran="gv-partition with the memory of types" status=0
ok "each stage is within that of its type" awk -F, 'NR > 1 && $18 > ($19 == "big" ? 9e8 : 4e8) { bad = 1 } END { exit bad || NR < 3 }' out
printf 'gpu_type,gpus,memory_bytes\nbig,1,90000000\nsmall,4,30000000\n' >memory.csv
run plan -c memory.csv --gpu-speed=big=1 --gpu-speed=small=1 -l @10Gb/s
is_status 1 "no plan: status"
is_err "no plan" <<EOF
gv-partition: no plan: no stages fit into the memory of these types of GPUs
EOF
run gv-partition --evaluate -c memory.csv --gpu-speed=big=1 --gpu-speed=small=1 -l @10Gb/s -e edges.csv types.plan.csv
is_status 2 "types of another cluster: status"
is_err "types of another cluster" <<EOF
gv-partition: types.plan.csv:3: gpu_type: expected a GPU type of the cluster, got "v100"
EOF
sed 's/,v100$/,big/; s/,k80$/,small/; s/,3,none,0x3/,1,none,0x1/' types.plan.csv >big.csv
run gv-partition --evaluate -c memory.csv --gpu-speed=big=1 --gpu-speed=small=1 -l @10Gb/s -e edges.csv big.csv
is_status 1 "a plan that does not fit: status"
ok "a plan that does not fit" [ "$(grep -c 'needs [0-9.]* GiB on each GPU, [0-9.]* GiB too much' err)" -eq 2 ]
sed '4s/,v100$/,k80/' types.plan.csv >mixed.csv
run gv-partition --evaluate -c types.csv --gpu-speed=v100=1 --gpu-speed=k80=0.3 -l @10Gb/s -e edges.csv mixed.csv
is_err "two types in a stage" <<EOF
gv-partition: mixed.csv:4: gpu_type: other rows of stage 0 have another gpu_type
EOF
sed 's/,v100$/,k80/; s/,3,none,0x3/,4,none,0x4/' types.plan.csv >many.csv
run gv-partition --evaluate -c types.csv --gpu-speed=v100=1 --gpu-speed=k80=0.3 -l @10Gb/s -e edges.csv many.csv
is_err "more than there are" <<EOF
gv-partition: stage 1: 5 GPUs of type k80, of which there are 4
EOF

# ---- errors ----
types="-c types.csv -l @10Gb/s"
# shellcheck disable=SC2086 # several words
errors() {
	bad "no speed" '--gpu-speed: expected TYPE=SPEED such as k80=0.25, got "k80"' $types --gpu-speed=k80
	bad "speed 0" '--gpu-speed: expected TYPE=SPEED such as k80=0.25, got "k80=0"' $types --gpu-speed=k80=0
	bad "speed of no type" '--gpu-speed: expected TYPE=SPEED such as k80=0.25, got "=1"' $types --gpu-speed==1
	bad "speed too high" '--gpu-speed: expected TYPE=SPEED such as k80=0.25, got "k80=1e10"' $types --gpu-speed=k80=1e10
	bad "five speeds" '--gpu-speed: more than 4' $types --gpu-speed=a=1 --gpu-speed=b=1 --gpu-speed=c=1 --gpu-speed=d=1 --gpu-speed=e=1
	bad "no cluster" '--times and --gpu-speed are for --cluster' -l 4@1GB/s --gpu-speed=k80=1
	bad "times without a cluster" '--times and --gpu-speed are for --cluster' -l 4@1GB/s --times=times.csv
	for option in --compare=x '--schedule=interleaved --micro-batches=4'; do
		bad "$option" '--cluster is without --compare and --schedule=interleaved' $types $option
	done
	for levels in '-l 4@1GB/s' '-l 2@1GB/s -l @1GB/s' --levels=levels.csv '-l @1GB/s --gpus=4' ''; do
		bad "$levels" '--cluster says how many GPUs there are: one --level=@BANDWIDTH, without N, and no --gpus' -c types.csv $levels
	done
	wrong "all GPUs" '--all-gpus is for GPUs of one type, and the cluster has 2' --all-gpus $types $speeds
	wrong "no times" 'no times of layers on GPUs of type "k80": --times or --gpu-speed' $types --gpu-speed=v100=1
	wrong "a type of no GPUs" '--gpu-speed: the cluster has no GPUs of type "p100"' $types --gpu-speed=p100=1
	wrong "a type twice" '--gpu-speed: type "k80" twice' $types --gpu-speed=k80=1 --gpu-speed=k80=1
	sed 4d times.csv >bad.csv
	wrong "a layer without times" 'bad.csv: no row for node_id "conv1" and gpu_type "v100"' $types --times=bad.csv
	sed 5d times.csv >bad.csv
	wrong "a layer without times" 'bad.csv: no row for node_id "conv1" and gpu_type "k80"' $types --times=bad.csv
	{ cat times.csv && echo conv1,k80,1,1; } >bad.csv
	wrong "a layer twice" "bad.csv:$(wc -l <bad.csv): node_id: a second row for this layer and type" $types --times=bad.csv
	{ cat times.csv && echo conv9,k80,1,1; } >bad.csv
	wrong "no layer" "bad.csv:$(wc -l <bad.csv): node_id: expected the node_id of a layer, got \"conv9\"" $types --times=bad.csv
	sed '4s/,v100,.*/,v100,-1,2/' times.csv >bad.csv
	wrong "a time" 'bad.csv:4: forward_ms: expected a number from 0 to 1e18, got "-1"' $types --times=bad.csv
	printf 'gpu_type,x\nk80,1\n' >bad.csv
	wrong "no times at all" 'bad.csv:1: missing column "steps_per_s" (found: gpu_type, x)' $types --times=bad.csv
	printf 'job_type,gpu_type,steps_per_s\na,k80,1\nb,v100,2\n' >bad.csv
	wrong "two models" 'bad.csv:3: job_type: expected rows of one model, got "a" and "b"' $types --times=bad.csv
	printf 'gpu_type,steps_per_s\nk80,1\nk80,2\n' >bad.csv
	wrong "two rates" 'bad.csv:3: gpu_type: a second row for this type' $types --times=bad.csv
	printf 'gpu_type,steps_per_s\nk80,x\n' >bad.csv
	wrong "a rate that is none" 'bad.csv:2: steps_per_s: expected a number, got "x"' $types --times=bad.csv
	printf 'gpu_type,steps_per_s,scale_factor\nk80,1,x\n' >bad.csv
	wrong "a number of GPUs that is none" 'bad.csv:2: scale_factor: expected a number, got "x"' $types --times=bad.csv
	wrong "no file of times" 'no.csv: cannot open: No such file or directory' $types --times=no.csv
	printf 'gpu_type,steps_per_s\nk80,0\n' >bad.csv
	wrong "no rate" 'bad.csv:2: steps_per_s: expected a number from 1e-12 to 1e18, got "0"' $types --times=bad.csv
}
errors
printf 'gpu_type,gpus\na,1\nb,1\nc,1\nd,1\ne,1\n' >bad.csv
wrong "no cluster" "layers.csv:1: this is a table of layers; expected a cluster (gpu_type, gpus)" -c layers.csv -l @1GB/s
wrong "five types" 'bad.csv: more than 4 GPU types, which is too many to plan with' -c bad.csv -l @1GB/s
printf 'gpu_type,gpus\na,0\n' >bad.csv
wrong "no GPUs" 'bad.csv: no GPUs' -c bad.csv -l @1GB/s
printf 'gpu_type,gpus\na,4000\nb,97\n' >bad.csv
wrong "4097 GPUs" 'bad.csv: 4097 GPUs, of which 4096 can be planned' -c bad.csv -l @1GB/s
printf 'gpu_type,gpus\na,1024\nb,1024\nc,1024\nd,1024\n' >bad.csv
wrong "large" 'too many prefixes and numbers of GPUs of each type to plan with; --prefixes takes fewer' \
	-c bad.csv --gpu-speed=a=1 --gpu-speed=b=1 --gpu-speed=c=1 --gpu-speed=d=1 -l @1GB/s
done_testing
