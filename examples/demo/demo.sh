#!/bin/sh
# The main job of gv on this machine: profile, allocate, run, report; then the
# proof that preemption changed nothing: every job trained alone, uninterrupted,
# must end with the same losses to the last bit.
#
# usage: demo.sh [DIR]   (DIR keeps what was made; default: a temporary directory)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
PATH=${GV_BIN:-$top/bin}:$PATH
GV_DATA=${GV_DATA:-$top/share}
export PATH GV_DATA
if [ $# -gt 0 ]; then
	dir=$1
	mkdir -p "$dir"
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 130' INT TERM
fi
cd "$dir"
cp "$here/cluster.csv" "$here/jobs.csv" .
say() { printf '\n== %s\n' "$*"; }

say 'the cluster (cluster.csv) and the jobs (jobs.csv)'
cat cluster.csv
cut -c1-100 jobs.csv

say 'gv-profile jobs -c cluster.csv jobs.csv | gv-alloc -p max-min -c cluster.csv | gv-run -c cluster.csv | gv-report'
gv-profile jobs -c cluster.csv --warmup=0.5s --window=2s jobs.csv | tee rates.csv |
	gv-alloc -v -p max-min -c cluster.csv |
	gv-run -c cluster.csv -s state --round=1s --grace=20s | tee events.csv | gv-report

say 'each job alone, without interruption'
# alone N: every second job from the Nth on, so that two run side by side
alone() {
	tail -n +2 jobs.csv | awk -v n="$1" 'NR % 2 == n' | while IFS=, read -r id _ _ steps command; do
		mkdir -p "alone/$id"
		GV_CHECKPOINT_DIR=$PWD/alone/$id GV_TOTAL_STEPS=$steps sh -c "$command" >/dev/null 2>"alone/$id/err" ||
			cat "alone/$id/err" >&2
	done
}
alone 0 &
alone 1
wait

same=0 differ=0
for id in $(tail -n +2 jobs.csv | cut -d, -f1); do
	if cmp -s "alone/$id/losses.csv" "state/jobs/$id/checkpoint/losses.csv"; then
		same=$((same + 1))
		echo "$id: same bits, $(grep -c ",preempt,$id," events.csv || :) preemptions; last row: $(tail -n 1 "alone/$id/losses.csv")"
	else
		differ=$((differ + 1))
		echo "$id: DIFFERS"
	fi
done

say 'verdict'
preemptions=$(grep -c ,preempt, events.csv || :)
echo "$same jobs with the same losses as uninterrupted, $differ that differ; $preemptions preemptions"
kept=0
if gv-report --expect-finished --expect-shares=10 -q events.csv >report.txt; then
	kept=1
	echo "every job finished, shares received within 10 points of those promised"
fi
[ "$differ" -eq 0 ] && [ "$preemptions" -gt 0 ] && [ "$kept" -eq 1 ]
