#!/bin/sh
# gv-alloc against other solvers: what --dump-lp writes, solved by glpsol and by
# HiGHS, has the objective that gv-alloc says, on Gavel's own traces.
. "${0%/*}/lib.sh"

data=$shared/data/gavel
if [ ! -d "$data" ]; then
	skip "no shared data"
	done_testing
	exit
fi
have glpsol || { skip "no glpsol" && done_testing && exit; }
thr=$data/throughputs.csv
# cluster V100 P100 K80
cluster() { printf 'gpu_type,gpus\nv100,%d\np100,%d\nk80,%d\n' "$@" >cluster.csv; }
# objective NAME=...: the value of a word of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
# near NAME A B: equal to 1e-9 of themselves
near() {
	ran="$1: $2 and $3"
	if awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; m = a < 0 ? -a : a; exit !(m > 0 && d <= 1e-9 * m) }'; then
		pass "$1"
	else
		fail "$1 ($2, $3)"
	fi
}
# compare NAME JOBS THROUGHPUTS [METHOD...]: ours, class by class and job by job, and glpsol's
compare() {
	name=$1 jobs=$2 table=$3
	shift 3
	run gv-alloc -q -v -p max-min -c cluster.csv -t "$table" --dump-lp=p.lp -o out.csv "$jobs"
	ours=$(word objective)
	ok "$name: proved" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'
	ok "$name: every job has a row" [ "$(wc -l <out.csv)" -gt "$(wc -l <"$jobs")" ]
	run gv-alloc -q -v -p max-min -c cluster.csv -t "$table" --solver=glpk -o full.csv "$jobs"
	near "$name: job by job" "$(word objective)" "$ours"
	glpsol --lp p.lp "$@" -w sol >/dev/null 2>err
	near "$name: glpsol" "$(awk '$1 == "s" { print $NF }' sol)" "$ours"
}

cluster 8 16 24
for trace in max_min_fairness minimize_makespan small_test debug; do
	compare "$trace" "$data/trace_physical_$trace.csv" "$data/throughputs_physical.csv"
done
cluster 2 0 4
compare "artifact_evaluation" "$data/trace_physical_artifact_evaluation.csv" "$thr"
gzip -dc "$data/trace_synth_multi_seed0.csv.gz" >all.csv
head -n 513 all.csv >jobs512.csv
cluster 85 85 86
compare "512 jobs" jobs512.csv "$thr"
ok "512 jobs: nothing over capacity" awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		used[$at["gpu_type"]] += $at["share"] * $at["scale_factor"]
		time[$at["job_id"]] += $at["share"]
		if ($at["share"] < 0) bad = 1
	}
	END {
		for (t in used) if (used[t] > 86 + 1e-9) bad = 1
		for (j in time) if (time[j] > 1 + 1e-12) bad = 1
		exit bad
	}' out.csv
head -n 2049 all.csv >jobs2048.csv
cluster 341 341 342
run gv-alloc -q -v --certify -p max-min -c cluster.csv -t "$thr" --dump-lp=p.lp -o out.csv jobs2048.csv
err_has "certified=yes" "2048 jobs: certified"
ours=$(word objective)
glpsol --lp p.lp -w sol >/dev/null
near "2048 jobs: glpsol" "$(awk '$1 == "s" { print $NF }' sol)" "$ours"

# jobs that all differ: every rate and weight drawn anew
ran="drawing jobs that all differ"
gv-alloc -q -p isolated -c cluster.csv -t "$thr" jobs512.csv |
	awk -F, -v OFS=, 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN { s = 42 }
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 {
		if ($1 != last) { w = .5 + 1.5 * u(); last = $1 }
		$at["priority_weight"] = w
		$at["steps_per_s"] = $at["steps_per_s"] * (.85 + .3 * u())
	}
	{ print }' >distinct.csv
cluster 85 85 86
run gv-alloc -q -v --certify -p max-min -c cluster.csv --dump-lp=p.lp -o out.csv distinct.csv
err_has "classes=512" "512 jobs that all differ"
err_has "certified=yes" "512 jobs that all differ: certified"
ours=$(word objective)
glpsol --lp p.lp -w sol >/dev/null
near "512 jobs that all differ: glpsol" "$(awk '$1 == "s" { print $NF }' sol)" "$ours"

run gv-alloc -q -v -p max-min -c cluster.csv -o out.csv distinct.csv
near "512 jobs that all differ: by prices" "$(word objective)" "$ours"
ok "512 jobs that all differ: by prices, proved" awk -v gap="$(word gap)" \
	'BEGIN { exit !(gap != "" && gap <= 1e-10) }'

if [ -z "$GV_PYTHON" ]; then
	skip "no python3"
elif ! "$GV_PYTHON" -c 'import scipy.optimize' 2>/dev/null; then
	skip "no scipy"
else
	run "$GV_PYTHON" "$src/tests/gv-alloc-highs.py" cluster.csv out.csv
	near "512 jobs that all differ: HiGHS" "$(cat out)" "$ours"
fi

# many rows of few kinds
{
	head -n 1 all.csv
	for i in 0 1 2 3 4 5 6 7 8 9; do sed -n "2,3501{s/^/$i-/;p;}" all.csv; done
} >jobs35000.csv
cluster 100 100 100
run gv-alloc -q -v -p max-min -c cluster.csv -t "$thr" -o out.csv jobs35000.csv
ok "35,000 jobs: more than 100,000 rows" [ "$(wc -l <out.csv)" -gt 100000 ]
err_has "classes=83 types=3" "35,000 jobs are 83 kinds"
ok "35,000 jobs: proved" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'
done_testing
