#!/bin/sh
# reproduce.sh DATA: Gavel's evaluation (Narayanan et al., OSDI 2020), simulated again.
#
# DATA is a folder with the tables of its README: throughputs.csv, throughputs_pairs.csv
# and trace_synth_{single,multi}_seed{0,1,2}.csv.gz.  Writes a table, a configuration a
# row: hours as published and as simulated, and by how many percent they differ.
# shellcheck disable=SC2030,SC2031,SC2086
set -eu
data=${1:?usage: reproduce.sh DATA}
PATH=${GV_BIN:+$GV_BIN:}$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/gv-reproduce.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
printf 'gpu_type,gpus\nv100,36\np100,36\nk80,36\n' >"$work/cluster.csv"
pairs=$data/throughputs_pairs.csv

# trace KIND SEED JOBS_PER_H [N]: arrivals at that rate; 0: the first N jobs, all at once
trace() {
	file=$work/$1-$2-$3-${4:-all}.csv
	[ -f "$file" ] || gzip -dc "$data/trace_synth_$1_seed$2.csv.gz" | awk -F, -v OFS=, -v rate="$3" -v n="${4:-0}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print $0, "arrival_s"; next }
		n == 0 || NR <= n + 1 { printf "%s,%.17g\n", $0, (rate > 0 ? $at["unit_arrival"] * 3600 / rate : 0) }' >"$file"
}
mechanism='--order=gavel --in-step --interval=1920s'
# hours MEASURE POLICY [OPTION...]: of the trace
hours() {
	measure=$1 policy=$2
	shift 2
	gv-sim -q -c "$work/cluster.csv" -t "$data/throughputs.csv" $mechanism \
		-p "gv-alloc -p $policy" --summary=- "$@" "$file" |
		awk -F, -v name="$measure" '$1 == name { print $3 / 3600 }'
}
# jct POLICY [OPTION...]: mean completion time of jobs 4,000 to 4,999
jct() {
	policy=$1
	shift
	hours completion_mean_s "$policy" --measure=4000-4999 "$@"
}
# row CONFIGURATION PUBLISHED OURS
row() { awk -v c="$1" -v p="$2" -v s="$3" 'BEGIN { printf "%s,%s,%.2f,%+.1f\n", c, p, s, 100 * (s / p - 1) }'; }
# mean COMMAND...: of seeds 0, 1, 2, which it finds in $seed
mean() { for seed in 0 1 2; do "$@"; done | awk '{ s += $1 } END { print s / NR }'; }

echo configuration,published_h,simulated_h,difference_percent
trace single 0 0.4
row "single 0.4/h: max-min" 17.58 "$(jct max-min)"
row "single 0.4/h: max-min agnostic" 23.26 "$(jct max-min+agnostic --shuffle=0)"
trace single 0 4.0
row "single 4.0/h: water-filling" 16.82 "$(jct water-filling)"
row "single 4.0/h: max-min" 16.82 "$(jct max-min)"
row "single 4.0/h: max-min agnostic" 23.49 "$(jct max-min+agnostic --shuffle=0)"
row "single 4.0/h: max-min with space sharing" 16.96 "$(jct "max-min --space-sharing=$pairs")"
row "single 4.0/h: allox" 17.13 "$(jct allox)"
row "single 4.0/h: gandiva" 18.88 "$(jct "gandiva --space-sharing=$pairs")"
row "single 4.0/h: finish-time" 17.57 "$(jct finish-time)"
row "single 4.0/h: max-min rounds of 2880 s" 17.16 "$(jct max-min --round=2880s)"
row "single 4.0/h: max-min ideal" 16.82 "$(mechanism=--ideal && jct max-min)"
trace single 0 5.2
row "single 5.2/h: fifo" 56.69 "$(jct fifo-greedy --strict)"
trace single 0 5.6
row "single 5.6/h: max-min" 28.96 "$(jct max-min)"
row "single 5.6/h: max-min agnostic" 95.99 "$(jct max-min+agnostic --shuffle=0)"
row "single 5.6/h: max-min with space sharing" 19.64 "$(jct "max-min --space-sharing=$pairs")"
trace multi 0 2.6
row "multi 2.6/h: max-min" 36.44 "$(jct max-min)"
row "multi 2.6/h: max-min agnostic" 70.54 "$(jct max-min+agnostic --shuffle=0)"
# makespan POLICY N [OPTION...]: of N jobs that are all there at once
makespan() {
	policy=$1 n=$2
	shift 2
	trace multi "$seed" 0 "$n"
	hours makespan_s "$policy" "$@"
}
row "multi 500 at once: makespan" 169.4 "$(mean makespan makespan 500)"
row "multi 700 at once: makespan" 244.2 "$(mean makespan makespan 700)"
row "multi 700 at once: makespan with space sharing" 226.2 "$(mean makespan "makespan --space-sharing=$pairs" 700)"
row "multi 700 at once: gandiva" 347.3 "$(mean makespan "gandiva --space-sharing=$pairs" 700)"
