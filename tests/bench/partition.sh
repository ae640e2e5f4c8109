#!/bin/sh
# partition.sh: gv-partition on the published profiles.  Ours is the CPU time of the
# whole process, tables included, the mean of 20 runs or of 3.  Beside it the CPU times of
# PipeDream's program on the same plans (reference_plans.csv, CPython 3.11) and of
# its prototype in C (gcc -O3), both on another machine; ratio is the first of
# them over ours.  Status 1 when a time of a plan differs from that of PipeDream's
# by more than 1e-9 of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${GV_SHARED:-$here/../../../shared}/data/pipedream
if [ ! -f "$data/reference_plans.csv" ]; then
	echo "skipped: no shared data"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cd "$dir"

# cpu N ARGS...: CPU time of N runs, for each
cpu() {
	runs=$1
	shift
	(
		i=0
		while [ $((i += 1)) -le "$runs" ]; do gv-partition -v -q -o /dev/null "$@" 2>stderr; done
		times
	) | sed -n '2s/[ms]/ /gp' | awk -v n="$runs" '{ printf "%.4f\n", ($1 * 60 + $2 + $3 * 60 + $4) / n }'
}
# measure ARGS...: sets $s to the CPU time, $t to the plan's time
measure() {
	s=$(cpu 3 "$@")
	[ "${s%??}" != 0.00 ] && [ "${s%??}" != 0.01 ] || s=$(cpu 20 "$@")
	t=$(tr ' ' '\n' <stderr | sed -n 's/^slowest_s=//p')
}
# published MODEL GPUS BANDWIDTH: sets $want and $python to the published time of the plan and of the program
published() {
	awk -F, -v m="$1" -v g="$2" -v b="$3" '$1 == m && $2 == g && $3 == b && $4 == "ratio=1" {
		print $7, $NF; exit }' "$data/reference_plans.csv" >row
	read -r want python <row || want='' python='-'
}
# row MODEL MACHINE PROTOTYPE: prints a line
row() {
	[ -z "$want" ] || awk -v a="$want" -v b="$t" 'BEGIN { d = a - b; exit !(d * d <= 1e-18 * a * a) }' || {
		echo "$1 on $2: $t s, published $want" >&2
		exit 1
	}
	other=$python
	[ "${other:--}" != - ] || other=$3
	printf '%-24s %-8s %10s %12s %12s %8s\n' "$1" "$2" "$s" "${python:--}" "$3" \
		"$(awk -v a="$other" -v b="$s" 'BEGIN {
			if (a + 0 > 0 && b > 0) printf a / b < 10 ? "%.1f" : "%.0f", a / b; else print "-" }')"
}

# model, GPUs and bandwidths as published, seconds of the prototype, our options
for model in alexnet vgg16 gnmt resnet18 squeezenet1_0 resnet50 resnet101 resnext101 densenet121 \
	inception_v3.compressed; do
	case $model in
	alexnet) set -- .0001 .0001 - ;;
	vgg16) set -- .0004 .0004 .0012 ;;
	gnmt) set -- .0015 .0029 .009 ;;
	resnet18) set -- .0018 .0049 - ;;
	resnet50) set -- .017 .097 .261 ;;
	resnet101) set -- .048 .356 - ;;
	densenet121) set -- .037 .362 - ;;
	inception_v3.compressed) set -- .253 5.2 - ;;
	*) set -- - - - ;;
	esac
	echo "$model 4 1.25e+09 - -l 4@10Gb/s"
	echo "$model 8 1.25e+09 - -l 8@10Gb/s"
	echo "$model 16 1.25e+09 $1 -l 16@10Gb/s"
	echo "$model 4x4 1.2e+10;1.25e+09 $2 -l 4@12GB/s -l 4@10Gb/s"
	echo "$model 8x2 2.5e+10;3.125e+09 $3 -l 8@25GB/s -l 2@25Gb/s"
done >plans

printf '%-24s %-8s %10s %12s %12s %8s\n' profile machine 'ours, s' "PipeDream's" 'in C' ratio
while read -r model machine bandwidths prototype levels; do
	published "$model" "$machine" "$bandwidths"
	# shellcheck disable=SC2086 # levels are several words
	measure --cost=compat --cut=upstream --all-gpus $levels \
		-e "$data/$model.edges.csv" "$data/$model.layers.csv"
	row "$model" "$machine" "$prototype"
done <plans
# where nobody published a plan
want='' python='-'
while read -r model machine prototype levels; do
	# shellcheck disable=SC2086
	measure --cost=compat $levels -e "$data/$model.edges.csv" "$data/$model.layers.csv"
	row "$model" "$machine" "$prototype"
done <<EOF
vgg16 64 .006 -l 64@10Gb/s
vgg16 256 .102 -l 256@10Gb/s
resnet50 64 .23 -l 64@10Gb/s
resnet50 256 3.9 -l 256@10Gb/s
inception_v3 16 - -l 16@10Gb/s
inception_v3 4x4 - -l 4@12GB/s -l 4@10Gb/s
nasnetamobile 16 - -l 16@10Gb/s
nasnetamobile 8x2 - -l 8@25GB/s -l 2@25Gb/s
nasnetalarge 16 - -l 16@10Gb/s
nasnetalarge 8x2 - -l 8@25GB/s -l 2@25Gb/s
EOF

# Several types of GPUs, 256 of each, the second and third 0.6 and 0.35 times as fast.
# Sailor's planner takes 0.3, 6.2 and 4900 s for 1, 2 and 3 types of as many GPUs (SOSP 2025,
# for OPT-350M; it searches tensor parallelism as well).
awk 'BEGIN {
	print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
	print "embedding,2,4,8388608,206045184"
	for (i = 1; i <= 32; i++) print "block" i ",10,20,8388608,50331648"
	print "loss,6,12,4,0"
}' >chain.csv
cp "$data/resnet50.layers.csv" resnet50.csv
sed 1q "$data/resnet50.edges.csv" >chain.edges.csv
awk 'BEGIN { p = "embedding"; for (i = 1; i <= 32; i++) { print p ",block" i; p = "block" i } print p ",loss" }' >>chain.edges.csv
cp "$data/resnet50.edges.csv" resnet50.edges.csv
printf '\n%-24s %-8s %10s %12s %8s\n' profile types 'ours, s' "Sailor's" ratio
for model in chain resnet50; do
	for types in 1 2 3; do
		printf 'gpu_type,gpus\n' >types.csv
		awk -v n="$types" 'BEGIN { for (i = 1; i <= n; i++) print "t" i ",256" }' >>types.csv
		speeds=$(echo --gpu-speed=t1=1 --gpu-speed=t2=0.6 --gpu-speed=t3=0.35 | cut -d ' ' -f "1-$types")
		for memory in '' -m16GiB; do
			[ -z "$memory" ] || [ "$model" = chain ] || continue
			# shellcheck disable=SC2086
			measure --cost=compat -c types.csv $speeds $memory -l @100Gb/s -e "$model.edges.csv" "$model.csv"
			sailor=$(echo 0.3 6.2 4900 | cut -d ' ' -f "$types")
			printf '%-24s %-8s %10s %12s %8s\n' "$model${memory:+, memory}" "$types" "$s" "$sailor" \
				"$(awk -v a="$sailor" -v b="$s" 'BEGIN { printf "%.0f", a / (b > 0.0005 ? b : 0.0005) }')"
		done
	done
done

# one pipeline across the levels
want='' python='-'
printf '\n%-24s %-8s %10s\n' 'profile, --flat' machine 'ours, s'
while read -r model machine cost levels; do
	# shellcheck disable=SC2086
	measure --flat --cost="$cost" $levels -e "$data/$model.edges.csv" "$data/$model.layers.csv"
	printf '%-24s %-8s %10s\n' "$model, $cost" "$machine" "$s"
done <<EOF
vgg16 4x4 paper -l 4@12GB/s -l 4@10Gb/s
resnet50 4x4 compat -l 4@12GB/s -l 4@10Gb/s
resnet50 16x16 compat -l 16@12GB/s -l 16@10Gb/s
inception_v3.compressed 4x4 paper -l 4@12GB/s -l 4@10Gb/s
inception_v3.compressed 4x4 compat -l 4@12GB/s -l 4@10Gb/s
EOF
