#!/bin/sh
# The main job of gv on this machine: profile, allocate, run, report; then the
# proof that preemption changed nothing: every job trained alone, uninterrupted,
# must end with the same losses to the last bit.
#
# usage: demo.sh [DIR]   (DIR keeps what was made; default: a temporary directory)
#
# DEMO_S (12) is how many seconds each job is to train, at the speed measured.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
PATH=${GV_BIN:-$top/bin}:$PATH
GV_DATA=${GV_DATA:-$top/share} # the jobs that run alone want it, too
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
# sized: a table of rates with total_steps for DEMO_S seconds of each job where
# it is fastest, so that a slow or busy machine takes as long as others
sized() {
	awk -F, -v OFS=, -v seconds="${DEMO_S:-12}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
		{ row[NR] = $0; if ($at["steps_per_s"] > best[$1]) best[$1] = $at["steps_per_s"] }
		END {
			for (n = 2; n <= NR; n++) {
				$0 = row[n]
				$at["total_steps"] = int(best[$1] * seconds) + 10
				print
			}
		}'
}

say 'the cluster (cluster.csv) and the jobs (jobs.csv)'
cat cluster.csv
cut -c1-100 jobs.csv

say 'gv-profile jobs -c cluster.csv jobs.csv | gv-alloc -p max-min -c cluster.csv | gv-run -c cluster.csv | gv-report'
# as many at once as there are devices: they are threads of one processor, slower beside each other, as they will be
devices=$(awk -F, 'NR > 1 { n += $2 } END { print n }' cluster.csv)
gv-profile jobs -c cluster.csv --parallel="$devices" --warmup=0.5s --window=1.5s jobs.csv | sized | tee rates.csv |
	gv-alloc -v -p max-min -c cluster.csv |
	gv-run -c cluster.csv -s state --round=1s --grace=20s | tee events.csv | gv-report

say 'each job alone, without interruption'
cut -d, -f1,4,5 rates.csv | sed 1d | sort -u >steps.csv
# alone N: every second job from the Nth on, so that two run side by side, a thread each
alone() {
	awk -v n="$1" 'NR % 2 == n' steps.csv | while IFS=, read -r id steps command; do
		mkdir -p "alone/$id"
		GV_CHECKPOINT_DIR=$PWD/alone/$id GV_TOTAL_STEPS=$steps GV_THREADS=1 sh -c "$command" >/dev/null 2>"alone/$id/err" ||
			cat "alone/$id/err" >&2
	done
}
alone 0 &
alone 1
wait

same=0 differ=0
# shellcheck disable=SC2013
for id in $(cut -d, -f1 steps.csv); do
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
finished=0
if gv-report --expect-finished events.csv >report.txt; then
	finished=1
	echo "every job finished"
fi

# What other programs do to this machine is no fault of the jobs: a note.
if gv-report --expect-shares=10 events.csv >/dev/null 2>shares.txt; then
	echo "shares received within 10 points of those promised"
else
	echo "note: shares received differ from those promised by more than 10 points:"
	sed 's/^gv-report: /  /' shares.txt
	echo "  load average $(cut -d ' ' -f 1 /proc/loadavg) on $(nproc) processors"
	gv-report --format=csv --by=share events.csv >by-share.csv
	awk -F, '
		FNR == 1 { delete at; for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ key = $at["job_id"] " on " $at["gpu_type"]; v = $at["steps_per_s"] }
		FNR == NR { measured[key] = v; next }
		v > 0 && measured[key] > 0 { printf "  %s ran at %.0f %% of the speed measured\n", key, 100 * v / measured[key] }
	' rates.csv by-share.csv
fi
[ "$differ" -eq 0 ] && [ "$finished" -eq 1 ]
