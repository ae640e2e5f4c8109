#!/bin/sh
# partition.sh: gv-partition on the published profiles, beside the CPU times of
# PipeDream's program on the same plans (reference_plans.csv, CPython 3.11 on
# another machine) and of its C prototype.  Ours is the median of three of the
# whole process, tables included.  Status 1 when a time of a plan differs from
# that of PipeDream's by more than 1e-9 of it.
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

# measure ARGS...: sets $s to the median of three runs, $t to the plan's time
measure() {
	for i in 1 2 3; do
		begin=$(date +%s.%N)
		gv-partition -v -q -o /dev/null "$@" 2>stderr
		end=$(date +%s.%N)
		echo "$begin $end" | awk '{ printf "%.3f\n", $2 - $1 }'
	done | sort -g | sed -n 2p >median
	read -r s <median
	t=$(tr ' ' '\n' <stderr | sed -n 's/^slowest_s=//p')
}
# published MODEL GPUS BANDWIDTH: sets $want and $python to the published time of the plan and of the program
published() {
	awk -F, -v m="$1" -v g="$2" -v b="$3" '$1 == m && $2 == g && $3 == b && $4 == "ratio=1" {
		print $7, $NF; exit }' "$data/reference_plans.csv" >row
	read -r want python <row || want='' python='-'
}
row() {
	model=$1 machine=$2
	shift 2
	[ -z "$want" ] || awk -v a="$want" -v b="$t" 'BEGIN { d = a - b; exit !(d * d <= 1e-18 * a * a) }' || {
		echo "$model on $machine: $t s, published $want" >&2
		exit 1
	}
	printf '%-24s %-8s %10s %12s %8s\n' "$model" "$machine" "$s" "${python:--}" \
		"$(awk -v a="$python" -v b="$s" 'BEGIN { if (a + 0 > 0) printf "%.0f", a / (b > 0.005 ? b : 0.005); else print "-" }')"
}

printf '%-24s %-8s %10s %12s %8s\n' profile machine 'ours, s' "PipeDream's" ratio
for model in alexnet vgg16 gnmt resnet18 squeezenet1_0 resnet50 resnet101 resnext101 densenet121 \
	inception_v3.compressed; do
	set -- -e "$data/$model.edges.csv" "$data/$model.layers.csv"
	published "$model" 16 1.25e+09
	measure --cost=compat --cut=upstream --all-gpus -l 16@10Gb/s "$@"
	row "$model" 16
	published "$model" 4x4 '1.2e+10;1.25e+09'
	measure --cost=compat --cut=upstream --all-gpus -l 4@12GB/s -l 4@10Gb/s "$@"
	row "$model" 4x4
	published "$model" 8x2 '2.5e+10;3.125e+09'
	measure --cost=compat --cut=upstream --all-gpus -l 8@25GB/s -l 2@25Gb/s "$@"
	row "$model" 8x2
done
want='' python='-'
measure --cost=compat -l 256@10Gb/s -e "$data/resnet50.edges.csv" "$data/resnet50.layers.csv"
row resnet50 256
for model in nasnetamobile nasnetalarge; do
	measure -l 16@10Gb/s -e "$data/$model.edges.csv" "$data/$model.layers.csv"
	row "$model" 16
done
