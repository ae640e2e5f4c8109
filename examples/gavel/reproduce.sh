#!/bin/sh
# reproduce.sh [--quick] [--markdown] DATA [FIGURE...]: Gavel's evaluation (Narayanan et al., OSDI
# 2020), simulated again.
#
# DATA is a folder with the tables that README.md names.  Writes a table, a configuration a
# row: what was published, what comes out here, by how many percent they differ, how many
# they may, whether they do, and which note of README.md says why.  FIGURE is one of those at
# the end of this file; all by default, those of some seconds with --quick.  Rows of the published program alone
# (plain.py) need a Python with scipy, those of gandiva.py any: GV_PYTHON or python3.
# shellcheck disable=SC2086
set -eu
quick='low entities cost testbed'
all='low single saturated rounds fifo multi makespan share priorities cost entities testbed'
figures=$all format=csv
while :; do
	case ${1-} in
	--quick) figures=$quick ;;
	--markdown) format=markdown ;;
	*) break ;;
	esac
	shift
done
data=${1:?usage: reproduce.sh [--quick] [--markdown] DATA [FIGURE...]}
shift
[ $# -eq 0 ] || figures=$*
here=$(dirname "$0")
PATH=${GV_BIN:+$GV_BIN:}$PATH
python=${GV_PYTHON:-python3}
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/gv-reproduce.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
pairs=--space-sharing=$data/throughputs_pairs.csv

# ---- what is simulated ----

# gpus V100 P100 K80: the cluster, from now on; with prices, of GPUs on demand
gpus() {
	cluster=$work/gpus-$1-$2-$3.csv
	printf 'gpu_type,gpus,usd_per_h\nv100,%s,2.85\np100,%s,1.68\nk80,%s,0.52\n' "$@" | grep -v ',0,' >"$cluster"
}
# trace KIND SEED JOBS_PER_H [N]: the jobs, from now on; with 0 the first N, all at once
trace() {
	jobs=$work/$1-$2-$3-${4:-all}.csv
	[ -f "$jobs" ] || gzip -dc "$data/trace_synth_$1_seed$2.csv.gz" | awk -F, -v OFS=, -v rate="$3" -v n="${4:-0}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print $0, "arrival_s"; next }
		n == 0 || NR <= n + 1 { printf "%s,%.17g\n", $0, (rate > 0 ? $at["unit_arrival"] * 3600 / rate : 0) }' >"$jobs"
}
gavel='--order=gavel --in-step --interval=1920s --ask-first'
mechanism=$gavel
speeds=$data/throughputs.csv
# measures POLICY [OPTION...]: the summary
measures() {
	command=$1
	shift
	gv-sim -q -c "$cluster" -t "$speeds" $mechanism -p "$command" --summary=- "$@" "$jobs"
}
# value MEASURE [UNIT]: of a summary
value() { awk -F, -v name="$1" -v unit="${2:-1}" '$1 == name && $2 == "" { print $3 / unit }'; }
# jct POLICY [OPTION...]: mean completion time of jobs 4,000 to 4,999, in hours
jct() {
	policy=$1
	shift
	measures "gv-alloc -p $policy" --measure=4000-4999 "$@" | value completion_mean_s 3600
}
# Who knows of no types treats all alike: the middle of its answers is an equal part of each.
agnostic() { jct isolated --shuffle=0; }
plain() { measures "'$python' '$here/plain.py' '$cluster' $1" --measure=4000-4999 | value completion_mean_s 3600; }
# packing SEED [OPTION...]: the summary with Gandiva's pairs as the published program tries them
packing() {
	draws=$1
	shift
	measures "'$python' '$here/gandiva.py' '$cluster' '$data/throughputs_pairs.csv' $draws" "$@"
}
has_python() { "$python" -c '' 2>/dev/null; }
has_scipy() { "$python" -c 'import numpy, scipy' 2>/dev/null; }
makespan() {
	policy=$1
	shift
	measures "gv-alloc -p $policy" "$@" | value makespan_s 3600
}
over() { awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'; }
mean() { awk '{ s += $1 } END { print s / NR }'; }

# row CONFIGURATION UNIT PUBLISHED OURS BAND [NOTE]
row() {
	awk -v c="$1" -v unit="$2" -v p="$3" -v s="$4" -v band="$5" -v note="${6-}" -v format="$format" 'BEGIN {
		d = p == 0 ? 100 * s : 100 * (s / p - 1)
		verdict = s == "" ? "failed" : d <= band && d >= -band ? "within" : "differs"
		form = format == "csv" ? "%s,%s,%.4g,%.4g,%+.1f,%s,%s,%s\n" : "| %s, %s | %.4g | %.4g | %+.1f %% | %s %% | %s | %s |\n"
		printf form, c, unit, p, s, d, band, verdict, note }'
}

# ---- the figures ----

# LAS, one GPU a job, where nobody waits
low() {
	gpus 36 36 36
	trace single 0 0.4
	row "single 0.4/h: max-min" h 17.58 "$(jct max-min)" 3
	row "single 0.4/h: max-min agnostic" h 23.26 "$(agnostic)" 2
}
# LAS and others, moderate load
single() {
	gpus 36 36 36
	trace single 0 4.0
	row "single 4.0/h: max-min" h 16.82 "$(jct max-min)" 3
	row "single 4.0/h: max-min agnostic" h 23.49 "$(agnostic)" 2
	row "single 4.0/h: water-filling" h 16.82 "$(jct water-filling)" 3 1
	row "single 4.0/h: max-min with space sharing" h 16.96 "$(jct "max-min $pairs")" 3 1
	row "single 4.0/h: allox" h 17.13 "$(jct allox)" 3
	row "single 4.0/h: gandiva" h 18.88 "$(jct "gandiva $pairs")" 3
	row "single 4.0/h: finish-time" h 17.57 "$(jct finish-time)" 3 1
	if has_scipy; then
		row "single 4.0/h: max-min (published program alone)" h 16.82 "$(plain max-min)" 3
		row "single 4.0/h: finish-time (published program alone)" h 17.57 "$(plain finish-time)" 3
	fi
}
# three ratios of the 3.5x of the paper's text
saturated_ratios() {
	for seed in 0 1 2; do
		trace single $seed 5.6
		over "$(agnostic)" "$(jct max-min)"
	done
}
saturated() {
	gpus 36 36 36
	trace single 0 5.6
	row "single 5.6/h: max-min" h 28.96 "$(jct max-min)" 3
	row "single 5.6/h: max-min agnostic" h 95.99 "$(agnostic)" 3
	row "single 5.6/h: max-min with space sharing" h 19.64 "$(jct "max-min $pairs")" 3
	row "single 5.6/h: agnostic over aware" ratio 3.5 "$(saturated_ratios | mean)" 10 2
}
# longer rounds, and none
rounds() {
	gpus 36 36 36
	trace single 0 4.0
	short=$(jct max-min)
	row "single 4.0/h: rounds of 720 s over 360 s" ratio 1 "$(over "$(jct max-min --round=720s)" "$short")" 2
	row "single 4.0/h: rounds of 1440 s over 360 s" ratio 1 "$(over "$(jct max-min --round=1440s)" "$short")" 2
	row "single 4.0/h: rounds of 2880 s over 360 s" ratio 1.02 "$(over "$(jct max-min --round=2880s)" "$short")" 2
	mechanism=--ideal
	row "single 4.0/h: ideal shares over rounds of 360 s" ratio 1 "$(over "$(jct max-min)" "$short")" 3
	mechanism=$gavel
}
fifo() {
	gpus 36 36 36
	trace single 0 5.2
	row "single 5.2/h: fifo asked every 1920 s" h 56.69 "$(jct fifo-greedy --strict)" 3 3
	mechanism='--order=gavel --in-step --interval=1000s --ask-first'
	row "single 5.2/h: fifo asked every 1000 s" h 56.69 "$(jct fifo-greedy --strict)" 3
	row "single 5.2/h: fifo with space sharing every 1000 s" h 38.11 "$(jct "fifo-greedy $pairs" --strict)" 3
	mechanism=$gavel
}
# finish_time_multi POLICY [OPTION...]: mean completion, and mean finish-time fairness
finish_time_multi() {
	policy=$1
	shift
	measures "gv-alloc -p $policy" --isolated --measure=4000-4999 "$@" |
		awk -F, '$1 == "completion_mean_s" { c = $3 } $1 == "fairness_mean" { f = $3 } END { print c, f }'
}
# gangs
multi() {
	gpus 36 36 36
	trace multi 0 2.6
	aware=$(jct max-min) not=$(agnostic)
	row "multi 2.6/h: max-min" h 36.44 "$aware" 3 "1 4"
	row "multi 2.6/h: max-min agnostic" h 70.54 "$not" 3 4
	row "multi 2.6/h: max-min agnostic over aware" ratio 1.94 "$(over "$not" "$aware")" 10 1
	if has_scipy; then
		aware=$(plain max-min)
		row "multi 2.6/h: max-min (published program alone)" h 36.44 "$aware" 3 4
		row "multi 2.6/h: agnostic over the published program alone" ratio 1.94 "$(over "$not" "$aware")" 3
	fi
	row "multi 2.6/h: max-min with space sharing" h 30.51 "$(jct "max-min $pairs")" 3 "1 4"
	row "multi 2.6/h: gandiva" h 60.43 "$(jct "gandiva $pairs")" 3 "4 6"
	if has_python; then
		packed=$(packing 0 --measure=4000-4999 | value completion_mean_s 3600)
		row "multi 2.6/h: gandiva (pairs as published)" h 60.43 "$packed" 3 4
		row "multi 2.6/h: agnostic over gandiva (pairs as published)" ratio 1.167 "$(over "$not" "$packed")" 3
	fi
	aware=$(finish_time_multi finish-time) not=$(finish_time_multi finish-time+agnostic --shuffle=0)
	row "multi 2.6/h: finish-time agnostic over aware" ratio 3 "$(over "${not% *}" "${aware% *}")" 10
	row "multi 2.6/h: their finish-time fairness" ratio 2.8 "$(over "${not#* }" "${aware#* }")" 10 5
}
# of_seeds COMMAND...: mean over the static traces of N jobs
makespans() {
	n=$1
	shift
	for seed in 0 1 2; do
		trace multi $seed 0 "$n"
		makespan "$@"
	done | mean
}
# packing_makespans [N]: of seeds, on the static traces of N jobs or on the present one
packing_makespans() {
	for seed in 0 1 2; do
		[ $# -eq 0 ] || trace multi $seed 0 "$1"
		packing $seed | value makespan_s 3600
	done | mean
}
makespan_figure() {
	gpus 36 36 36
	row "multi 500 at once: makespan" h 169.4 "$(makespans 500 makespan)" 3
	row "multi 700 at once: makespan" h 244.2 "$(makespans 700 makespan)" 3
	row "multi 700 at once: makespan with space sharing" h 226.2 "$(makespans 700 "makespan $pairs")" 3
	row "multi 700 at once: gandiva" h 347.3 "$(makespans 700 "gandiva $pairs")" 3 6
	! has_python || row "multi 700 at once: gandiva (pairs as published)" h 347.3 "$(packing_makespans 700)" 3
}
# makespan of those who take all rates for those on V100s, over that of those who know
makespan_gain() {
	for seed in 0 1 2; do
		trace multi $seed 0 500
		aware=$(makespan makespan)
		over "$(measures "awk -f '$here/v100.awk' -f '$here/stream.awk' | gv-alloc --stream -q -p makespan -c '$cluster' |
			awk -f '$here/spread.awk' -f '$here/stream.awk' '$cluster' -" --shuffle=0 | value makespan_s 3600)" "$aware"
	done | mean
}
# jct_gain RATE SEED...
jct_gain() {
	rate=$1
	shift
	for seed in "$@"; do
		trace single "$seed" "$rate"
		over "$(agnostic)" "$(jct max-min)"
	done | mean
}
# V100s and K80s, 100 together
share() {
	for f in 90:1.144 50:1.451 10:1.435; do
		gpus "${f%:*}" 0 $((100 - ${f%:*}))
		row "multi 500 at once on ${f%:*} V100 of 100: makespan agnostic over aware" ratio "${f#*:}" "$(makespan_gain)" 10
	done
	gpus 10 0 90
	row "single 0.4/h on 10 V100 of 100: max-min agnostic over aware" ratio 1.658 "$(jct_gain 0.4 0 1 2)" 3
	gpus 50 0 50
	row "single 0.4/h on 50 V100 of 100: max-min agnostic over aware" ratio 1.463 "$(jct_gain 0.4 0 1)" 3
	row "single 4.4/h on 50 V100 of 100: max-min agnostic over aware" ratio 2.986 "$(jct_gain 4.4 1 2)" 10 2
}
# by_priority POLICY [OPTION...]: mean completion of jobs of weight 5 and of the others
by_priority() {
	policy=$1
	shift
	gv-sim -q -c "$cluster" -t "$speeds" $mechanism -p "gv-alloc -p $policy" --measure=4000-4999 --jobs=- "$@" "$jobs" |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			NR > 4001 && NR <= 5001 { high = $c["priority_weight"] > 1; n[high]++; s[high] += $c["completion_s"] }
			END { print s[1] / n[1], s[0] / n[0] }'
}
priority_gains() {
	for seed in 0 1 2; do
		jobs=$work/priorities-$seed.csv
		gv-trace generate --jobs=12000 --rate=2.4 --scale-factors=1:0.7,2:0.1,4:0.15,8:0.05 \
			--priorities=5:0.2 --seed=$seed "$speeds" >"$jobs"
		aware=$(by_priority water-filling) not=$(by_priority water-filling+agnostic --shuffle=0)
		echo "$(over "${not% *}" "${aware% *}") $(over "${not#* }" "${aware#* }")"
	done
}
priorities() {
	gpus 36 36 36
	gains=$(priority_gains)
	row "multi 2.4/h: jobs of weight 5 agnostic over aware" ratio 1.5 "$(echo "$gains" | mean)" 10 7
	row "multi 2.4/h: jobs of weight 1 agnostic over aware" ratio 2.7 \
		"$(echo "$gains" | cut -d' ' -f2 | mean)" 10 7
}
# slo NAME FACTOR: a policy that is shown the deadlines as FACTOR of what they are, or with 0 none
slo() {
	echo "awk -F, -v OFS=, -v f=$2 'NR == 1 || head { for (i = 1; i <= NF; i++) if (\$i == \"slo_factor\") k = i; head = 0
		print; fflush(); next } { head = NF == 0; if (NF) \$k = f > 0 ? \$k * f : \"\"; print; fflush() }' |
		gv-alloc --stream -q -c '$cluster' -p $1 --relax-slo"
}
# what 500 jobs cost where there are GPUs enough, and deadlines
cost() {
	gpus 500 0 500
	jobs=$work/cost.csv
	printf 'job_type,weight\nA3C,4\n' >"$work/types.csv"
	for n in 16 32 64 128; do echo "ResNet-50 (batch size $n),1"; done >>"$work/types.csv"
	gv-trace generate --jobs=500 --types="$work/types.csv" --durations=12h,1d,2d,4d,8d \
		--slo=1.2:0.33,2:0.34,10:0.33 --seed=0 "$speeds" >"$jobs"
	mechanism='--in-step --strict'
	measures "$(slo max-sum 0)" >"$work/fast"
	measures "$(slo min-cost+per-dollar 0)" >"$work/cheap"
	measures "$(slo min-cost+per-dollar 0.99)" >"$work/slo"
	mechanism=$gavel
	fast=$(value usd <"$work/fast")
	row "500 jobs on V100 and K80: cost of max-sum over min-cost" ratio 1.4 "$(over "$fast" "$(value usd <"$work/cheap")")" 10 8
	row "500 jobs on V100 and K80: deadlines missed by min-cost" % 35 "$(value deadlines_missed 5 <"$work/cheap")" 20 8
	row "500 jobs on V100 and K80: cost of max-sum over min-cost with deadlines" ratio 1.2 \
		"$(over "$fast" "$(value usd <"$work/slo")")" 10 8
	row "500 jobs on V100 and K80: deadlines missed then" % 0 "$(value deadlines_missed 5 <"$work/slo")" 0
}
# levels N POLICY: what the first N jobs have, over what an equal part of each type is to them
levels() {
	awk -F, -v n="$1" 'NR == 1 || $1 < n' "$here/entities.csv" |
		gv-alloc -q -p "$2" -c "$cluster" --entities="$work/entities.csv" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ equal[$c["job_id"]] += $c["steps_per_s"] / 3; has[$c["job_id"]] += $c["steps_per_s"] * $c["share"] }
		END { for (j in equal) print j, has[j] / equal[j] }' | sort -n
}
# 18 jobs of three entities on 9 GPUs
entities() {
	gpus 3 3 3
	printf 'entity,weight\ne0,1\ne1,2\ne2,3\n' >"$work/entities.csv"
	row "1 job of an entity on 9 GPUs: its level" level 1.252 "$(levels 1 water-filling | cut -d' ' -f2)" 1
	row "6 jobs of an entity: sum of levels" ratio 6.275 "$(over "$(levels 6 water-filling | cut -d' ' -f2 | mean)" .166667)" 1 10
	row "12 jobs of two entities: sum of levels" ratio 8.56 "$(over "$(levels 12 water-filling | cut -d' ' -f2 | mean)" .083333)" 1 10
	levels 18 water-filling >"$work/levels"
	i=0
	for published in .201 .402 .402 .805 .604 1.207; do
		row "18 jobs: entity $((i / 2)) of weight $((i / 2 + 1)): level of jobs of weight $((i % 2 + 1))" level "$published" \
			"$(awk -v i=$i 'int($1 / 6) == int(i / 2) && $1 % 2 == i % 2 { print $2 }' "$work/levels" | mean)" 1
		i=$((i + 1))
	done
	row "18 jobs: sum of levels over that of equal parts" ratio 1.207 "$(over "$(cut -d' ' -f2 "$work/levels" | mean)" .5)" 1
}
# 48 GPUs, the traces of the physical cluster
testbed() {
	gpus 8 16 24
	speeds=$data/throughputs_physical.csv
	jobs=$data/trace_physical_minimize_makespan.csv
	row "testbed all at once: makespan" h 17.6 "$(makespan makespan)" 3
	row "testbed all at once: gandiva" h 22.1 "$(makespan "gandiva $pairs")" 3 6
	if has_python; then
		packed=$(packing_makespans)
		row "testbed all at once: gandiva (pairs as published)" h 22.1 "$packed" 3 11
		row "testbed all at once: gandiva (pairs as published) beside the testbed" h 21.3 "$packed" 3
	fi
	jobs=$data/trace_physical_max_min_fairness.csv
	row "testbed over a day: max-min" h 3.7 "$(measures 'gv-alloc -p max-min' | value completion_mean_s 3600)" 3
	row "testbed over a day: max-min agnostic" h 5.4 \
		"$(measures 'gv-alloc -p isolated' --shuffle=0 | value completion_mean_s 3600)" 3 9
	speeds=$data/throughputs.csv
}

if [ $format = csv ]; then
	echo configuration,unit,published,simulated,difference_percent,band_percent,verdict,note
else
	printf '| configuration | published | simulated | difference | band | verdict | note |\n'
	printf '| --- | --- | --- | --- | --- | --- | --- |\n'
fi
for figure in $figures; do
	case $figure in
	makespan) makespan_figure ;;
	low | single | saturated | rounds | fifo | multi | share | priorities | cost | entities | testbed) $figure ;;
	*)
		echo "reproduce.sh: no such figure: $figure; there are: $all" >&2
		exit 2
		;;
	esac
done
