#!/bin/sh
# gv-alloc's objectives against other solvers: what --dump-lp writes, solved by
# glpsol and by HiGHS, has the objective that gv-alloc says, on Gavel's own traces.
. "${0%/*}/lib.sh"

data=$shared/data/gavel
if [ ! -d "$data" ]; then
	skip "no shared data"
	done_testing
	exit
fi
have glpsol || { skip "no glpsol" && done_testing && exit; }
if [ -z "$GV_PYTHON" ]; then
	skip "no python3: no HiGHS"
elif ! "$GV_PYTHON" -c 'import scipy.optimize' 2>/dev/null; then
	skip "no scipy: no HiGHS"
else
	highs=yes
fi
# cluster V100 P100 K80: with Gavel's prices
cluster() { printf 'gpu_type,gpus,usd_per_h\nv100,%d,2.85\np100,%d,1.68\nk80,%d,0.52\n' "$@" >cluster.csv; }
# word NAME: the value of a word of the last -v line in err
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
# in_unit POLICY SOLUTION: a program's optimum in the policy's unit
in_unit() { if [ "$1" = makespan ]; then awk -v t="$2" 'BEGIN { printf "%.17g\n", 1 / t }'; else echo "$2"; fi; }
# compare POLICY JOBS THROUGHPUTS
compare() {
	name="$1 of $2"
	run gv-alloc -q -v -p "$1" -c cluster.csv -t "$3" --dump-lp=p.lp -o out.csv "$2"
	ours=$(word objective)
	ok "$name: proved" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'
	# levels of 1e-5 are near glpsol's tolerance of 1e-7
	if [ "$1" = makespan ]; then how=--exact; else how=--primal; fi
	glpsol --lp p.lp "$how" -w sol >/dev/null 2>err
	near "$name: glpsol" "$(in_unit "$1" "$(awk '$1 == "s" { print $NF }' sol)")" "$ours"
	n=$((n + 1))
	mv p.lp $n.lp
	printf '%s\t%s\t%s\t%s\n' "$1" "$n.lp" "$ours" "$name" >>programs
}
n=0

ran="taking Gavel's jobs"
cp "$data/trace_physical_minimize_makespan.csv" static.csv
gzip -dc "$data/trace_synth_multi_seed0.csv.gz" >all.csv
head -n 301 all.csv >jobs300.csv
# a third of the jobs have a deadline that can be met
awk -F, -v OFS=, 'NR == 1 { print $0, "slo_factor"; next } { print $0, NR % 3 == 0 ? 40 + NR % 7 : "" }' \
	jobs300.csv >slo300.csv

cluster 8 16 24
for policy in makespan max-sum min-cost min-cost+per-dollar fifo; do
	compare "$policy" static.csv "$data/throughputs_physical.csv"
done
run gv-alloc -q -v -p makespan -c cluster.csv -t "$data/throughputs_physical.csv" -o out.csv static.csv
ok "makespan of static.csv: 17.09 hours, as others have found" awk -v s="$(word objective)" \
	'BEGIN { exit !(s / 3600 > 17.085 && s / 3600 < 17.095) }'
cluster 50 50 50
for policy in max-sum min-cost min-cost+per-dollar; do
	compare "$policy" slo300.csv "$data/throughputs.csv"
	ok "$policy of slo300.csv: with deadlines" grep -q '^ need(' $n.lp
done
compare fifo jobs300.csv "$data/throughputs.csv"
for policy in makespan finish-time max-sum min-cost fifo; do
	run gv-alloc -q -v --certify -p $policy -c cluster.csv -t "$data/throughputs.csv" -o out.csv slo300.csv
	err_has "certified=yes" "$policy: certified"
done
run gv-alloc -q -v --solver=glpk -p finish-time -c cluster.csv -t "$data/throughputs.csv" -o out.csv slo300.csv
ours=$(word objective)
run gv-alloc -q -v --solver=price -p finish-time -c cluster.csv -t "$data/throughputs.csv" -o out.csv slo300.csv
near "finish-time: both ways" "$(word objective)" "$ours"
if [ -n "${highs:-}" ]; then
	# shellcheck disable=SC2046
	run "$GV_PYTHON" "$src/tests/gv-alloc-lp.py" $(cut -f2 programs)
	paste programs out >answers
	while IFS='	' read -r policy _ ours name optimum; do
		near "$name: HiGHS" "$(in_unit "$policy" "$optimum")" "$ours"
	done <answers
fi
done_testing
