#!/bin/sh
# gv-partition on the profiles and machines of PipeDream's paper (SOSP 2019, table 1) and of the
# plans that its program shipped: which of their configurations are found, and the speed-up
# over data parallel that is predicted beside the one that was measured.  A machine A has
# servers of 4 GPUs on PCIe and 10 Gb/s, B of 8 on NVLink and 25 Gb/s; the shipped plans
# were made for 1 GB/s.  The profiles are of other GPUs than the table's.
. "${0%/*}/lib.sh"

data=$shared/data/pipedream
if [ ! -f "$data/vgg16.layers.csv" ]; then
	skip "no shared data"
	done_testing
	exit
fi
A='-l 4@12GB/s -l 4@10Gb/s' B='-l 8@25GB/s -l 2@25Gb/s'
# plan MODEL ARGS...: the table of stages to stages.csv, what -v says to said
plan() {
	model=$1
	shift
	ran="gv-partition $* on $model" status=0
	gv-partition -v --explain "$@" -e "$data/$model.edges.csv" -o stages.csv "$data/$model.layers.csv" 2>said ||
		status=$?
}
# replicas LEVEL: of the stages of this level, as the paper writes them: 15-1
replicas() { awk -F, -v level="$1" 'NR > 1 && $1 == level { printf "%s%s", n++ ? "-" : "", $7 }' stages.csv; }
value() { tr ' ' '\n' <said | sed -n "s/^$1=//p"; }
# found NAME PUBLISHED LEVEL: the configuration is the published one
found() {
	got=$(replicas "$3")
	echo "# $1: published $2, ours $got; predicted over data parallel $(value speedup_over_data_parallel)"
	if [ "$got" = "$2" ]; then pass "$1: $2"; else fail "$1: $got, published $2" stages.csv said; fi
}

# shellcheck disable=SC2086 # levels are several words
{
	# table 1
	plan vgg16 --cost=paper --flat $B
	found "VGG-16 on 2x8, paper, across the levels" 15-1 1
	plan vgg16 --cost=compat -l 16@16Gb/s
	found "VGG-16 on 16 at 2 GB/s, compat" 15-1 1
	plan alexnet --cost=compat -l 16@10Gb/s
	found "AlexNet on 16 at 10 Gb/s, compat" 15-1 1
	for cost in paper compat; do
		plan gnmt --cost=$cost -l 4@10Gb/s
		found "GNMT-8 on 4, $cost: straight" 1-1-1-1 1
	done
	plan resnet50 --cost=paper $B
	found "ResNet-50 on 2x8, paper: data parallel, servers" 2 2
	found "ResNet-50 on 2x8, paper: data parallel, GPUs" 8 1
	speedup=$(value speedup_over_data_parallel)
	if [ "$speedup" = 1 ]; then pass "ResNet-50 on 2x8: speed-up 1, published 1"; else fail "ResNet-50: $speedup" said; fi
	plan resnet50 --cost=compat $A
	found "ResNet-50 on 4x4, compat: data parallel over servers" 4 2
	speedup=$(value speedup_over_data_parallel)
	ok "ResNet-50 on 4x4: speed-up $speedup, published 1, within 5 %" awk "BEGIN { exit !($speedup >= 1 && $speedup <= 1.05) }"
	# shipped plans
	plan vgg16 --cost=compat -l 4@8Gb/s
	found "VGG-16 on 4, shipped" 3-1 1
	plan vgg16 --cost=compat -l 8@8Gb/s
	found "VGG-16 on 8, shipped" 7-1 1
	plan alexnet --cost=compat -l 4@8Gb/s
	found "AlexNet on 4, shipped" 3-1 1

	# 15-1 where it is not the plan that is found: how much slower is it?
	gv-partition --cost=paper --flat $B -e "$data/vgg16.edges.csv" -o paper.csv "$data/vgg16.layers.csv"
	# shipped: all fully connected layers on one GPU, as in the last stage of 13-2-1
	gv-partition --cost=compat -l 16@10Gb/s -e "$data/vgg16.edges.csv" "$data/vgg16.layers.csv" | awk -F, -v OFS=, '
		NR > 1 { last = $(NF - 3) == 2; $(NF - 3) = last; $(NF - 2) = last ? 1 : 15; $NF = last ? "1x1" : "0x15" } 1' >compat.csv
	for cost in paper compat; do
		plan vgg16 --cost=$cost --flat $A
		best=$(value slowest_s)
		at_15_1=$(gv-partition -v --evaluate --cost=$cost --flat $A -e "$data/vgg16.edges.csv" -o /dev/null $cost.csv 2>&1 |
			tr ' ' '\n' | sed -n 's/^slowest_s=//p')
		echo "# VGG-16 on 4x4, $cost: published 15-1 takes $at_15_1 s, ours, $(replicas 1), $best s"
		ok "VGG-16 on 4x4, $cost: 15-1 is as fast as the best within 2.5 %" \
			awk "BEGIN { exit !($best <= $at_15_1 * (1 + 1e-9) && $at_15_1 <= $best * 1.025) }"
	done

	# the models bracket what was measured
	while read -r machine measured levels; do
		plan vgg16 --cost=compat --flat $levels
		low=$(value speedup_over_data_parallel)
		plan vgg16 --cost=paper --flat $levels
		high=$(value speedup_over_data_parallel)
		echo "# VGG-16 on $machine over data parallel: measured $measured, predicted $low (compat), $high (paper)"
		ok "VGG-16 on $machine: $measured is between the cost models" awk "BEGIN { exit !($low <= $measured && $measured <= $high) }"
	done <<EOF
4x4 5.28 $A
2x8 2.98 $B
EOF
}
done_testing
