#!/bin/sh
# alloc.sh: gv-alloc against general solvers on the same max-min programs.
# Prints one table of ratios; status 1 when two of them disagree.  Times are
# medians of three of the whole process, reading and writing included; for HiGHS
# only the solver's own time counts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${GV_SHARED:-$here/../../../shared}/data/gavel
if [ ! -d "$data" ]; then
	echo "skipped: no shared data"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cd "$dir"
python=${GV_PYTHON:-$(command -v python3 || :)}
[ -n "$python" ] && "$python" -c 'import scipy.optimize' 2>/dev/null || python=
gzip -dc "$data/trace_synth_multi_seed0.csv.gz" >all.csv
grep -v unconsolidated "$data/throughputs.csv" >thr.csv

# seconds NAME CMD...: sets NAME to the median of three runs
seconds() {
	seconds_name=$1
	shift
	for i in 1 2 3; do
		begin=$(date +%s.%N)
		"$@" >stdout 2>stderr
		end=$(date +%s.%N)
		echo "$begin $end" | awk '{ printf "%.6f\n", $2 - $1 }'
	done | sort -g | sed -n 2p >median
	# shellcheck disable=SC2229
	read -r "$seconds_name" <median
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "" || b == "") print "-"; else printf "%.3g", a / b }'; }
objective() { tr ' ' '\n' <stderr | sed -n 's/^objective=//p'; }
# same A B TOLERANCE: equal within that part of themselves, or the benchmark fails
same() {
	awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= t * a) }' || {
		echo "objectives differ: $1 and $2" >&2
		exit 1
	}
}
# differ <RATES: every rate and weight drawn anew
differ() {
	awk -F, -v OFS=, 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN { s = 42 }
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 {
		if ($1 != last) { w = .5 + 1.5 * u(); last = $1 }
		$at["priority_weight"] = w
		$at["steps_per_s"] = $at["steps_per_s"] * (.85 + .3 * u())
	}
	{ print }'
}
# row NAME JOBS: jobs.csv or rates.csv on cluster.csv
row() {
	gv-alloc -q -p max-min -c cluster.csv --solver=glpk --dump-lp=p.lp -o full.csv "$@" 2>/dev/null
	seconds auto gv-alloc -q -v -p max-min -c cluster.csv -o out.csv "$@"
	best=$(objective)
	classes=$(tr ' ' '\n' <stderr | sed -n 's/^classes=//p')
	seconds glpk gv-alloc -q -v -p max-min -c cluster.csv --solver=glpk -o out.csv "$@"
	same "$(objective)" "$best" 1e-9
	glpsol=
	if command -v glpsol >/dev/null; then
		seconds glpsol glpsol --lp p.lp -w sol
		same "$(awk '$1 == "s" { print $NF }' sol)" "$best" 1e-6 # it works to 1e-7
	fi
	highs=
	if [ -n "$python" ]; then
		"$python" "$here/../gv-alloc-highs.py" cluster.csv out.csv --time >highs
		# shellcheck disable=SC2094
		read -r level highs <highs
		same "$level" "$best" 1e-6
	fi
	printf '%-22s %8s %12s %12s %12s\n' "$name" "$classes" "$(ratio "$glpk" "$auto")" \
		"$(ratio "$glpsol" "$auto")" "$(ratio "$highs" "$auto")"
}

printf '%-22s %8s %12s %12s %12s\n' 'time / gv-alloc' classes --solver=glpk glpsol HiGHS
for n in 128 512 2048; do
	name="$n jobs"
	head -n $((n + 1)) all.csv >jobs.csv
	printf 'gpu_type,gpus\nv100,%d\np100,%d\nk80,%d\n' $((n / 6)) $((n / 6)) $((n / 6)) >cluster.csv
	row -t thr.csv jobs.csv
	name="$n that all differ"
	gv-alloc -q -p isolated -c cluster.csv -t thr.csv jobs.csv | differ >rates.csv
	row rates.csv
done

# many rows of few kinds: against copying them, which any filter must do
{
	head -n 1 all.csv
	for i in 0 1 2 3 4 5 6 7 8 9; do sed -n "2,3501{s/^/$i-/;p;}" all.csv; done
} >jobs.csv
printf 'gpu_type,gpus\nv100,100\np100,100\nk80,100\n' >cluster.csv
gv-alloc -q -p max-min -c cluster.csv -t thr.csv -o rates.csv jobs.csv
seconds whole gv-alloc -q -v -p max-min -c cluster.csv -o out.csv rates.csv
seconds copying gv-alloc -q -v -p isolated -c cluster.csv -o out.csv rates.csv
echo
printf '%s rows of 83 kinds: max-min takes %s times as long as isolated, which only reads and writes\n' \
	"$(($(wc -l <rates.csv) - 1))" "$(ratio "$whole" "$copying")"
differ <rates.csv >distinct.csv
seconds whole gv-alloc -q -v -p max-min -c cluster.csv -o out.csv distinct.csv
seconds copying gv-alloc -q -v -p isolated -c cluster.csv -o out.csv distinct.csv
printf '%s rows that all differ: %s times as long\n' \
	"$(($(wc -l <distinct.csv) - 1))" "$(ratio "$whole" "$copying")"
