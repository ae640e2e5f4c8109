#!/bin/sh
# philly.sh [-n JOBS] [-g GPUS] DATA OUT: a trace of Microsoft's Philly clusters, from its
# lines to a page that lays four policies beside each other.
#
# DATA is a folder with throughputs.csv and trace_philly_vc_0e4a51_seed0.csv, which is
# the trace as Gavel passes it on, with names for its columns.  OUT is made if need be and
# gets all tables and report.html.  JOBS: only so many; GPUS: of each type, 36 by default.
set -eu
usage='usage: philly.sh [-n JOBS] [-g GPUS] DATA OUT'
jobs=1000000000 gpus=36
while getopts n:g: option; do
	case $option in
	n) jobs=$OPTARG ;;
	g) gpus=$OPTARG ;;
	*) echo "$usage" >&2 && exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || { echo "$usage" >&2 && exit 2; }
data=$1 out=$2
PATH=${GV_BIN:+$GV_BIN:}$PATH
mkdir -p "$out"
throughputs=$data/throughputs.csv

# 1. the lines of the trace: seven cells with tabs between them, without a head
tr -d '\r' <"$data/trace_philly_vc_0e4a51_seed0.csv" | awk -F, -v OFS='\t' -v n="$jobs" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	NR <= n + 1 { print $at["job_type"], "train", "--steps", 0, $at["total_steps"], $at["arrival_s"], $at["scale_factor"] }' >"$out/philly.trace"

# 2. convert: a table of jobs
gv-trace convert -v --from=gavel -o "$out/trace.csv" "$out/philly.trace"

# 3. check: which jobs can never run, and the others
cat >"$out/cluster.csv" <<E
gpu_type,gpus,usd_per_h
v100,$gpus,2.85
p100,$gpus,1.68
k80,$gpus,0.52
E
gv-trace check -q -t "$throughputs" -c "$out/cluster.csv" -o "$out/problems.csv" "$out/trace.csv" || [ $? -eq 1 ]
gv-trace check -v -t "$throughputs" -c "$out/cluster.csv" --fix=drop -o "$out/jobs.csv" "$out/trace.csv" || [ $? -eq 1 ]

# 4. simulate
# simulate NAME POLICY: what would happen, and beside it what would in an equal part of the cluster
simulate() {
	gv-sim -q -c "$out/cluster.csv" -t "$throughputs" -p "gv-alloc -p $2" --isolated \
		--events="$out/$1.events.csv.gz" --jobs="$out/$1.jobs.csv" --summary="$out/$1.summary.csv" "$out/jobs.csv"
}
simulate fifo fifo
simulate max-min-agnostic 'max-min --agnostic'
simulate max-min max-min
simulate finish-time finish-time

# 5. report
set --
for run in fifo max-min-agnostic max-min finish-time; do
	set -- "$@" "$out/$run.events.csv.gz" "$out/$run.jobs.csv" "$out/$run.summary.csv"
done
gv-report "$@"
gv-report -f html -o "$out/report.html" "$@"
