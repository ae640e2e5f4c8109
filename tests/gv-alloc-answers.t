#!/bin/sh
# gv-alloc: what it answers to drawn problems is what it has answered before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-alloc "${1:-}"

policies='max-min water-filling isolated proportional makespan finish-time max-sum min-cost
	min-cost+per-dollar fifo fifo-greedy sjf strategy-proof allox gandiva'

seed=0
for jobs in 2 3 4 5 6 8 10 14 20 30 45 70; do
	seed=$((seed + 1)) types=$((1 + seed * 3 % 7))
	case="drawn $seed, $jobs jobs, $types types"
	drawn cluster $seed $jobs $types >c.csv
	drawn nodes $seed $jobs $types >nodes.csv
	drawn rates $seed $jobs $types >r.csv
	# without what some policies refuse
	awk -F, -v OFS=, '{ NF = 9; print }' r.csv >plain.csv
	awk -F, 'NR == 1 || $4 == 1' plain.csv >singles.csv
	drawn pairs $seed $jobs $types >all_pairs.csv
	awk -F, 'NR == FNR { is[$1] = 1; next } FNR == 1 || ($1 in is && $2 in is)' singles.csv all_pairs.csv >pairs.csv
	drawn entities $seed >e.csv
	for p in $policies; do
		case $p in
		allox) same gv-alloc -p "$p" -c c.csv singles.csv ;;
		*) same gv-alloc -p "$p" -c c.csv plain.csv ;;
		esac
	done
	for p in max-min water-filling makespan finish-time max-sum min-cost fifo; do
		same gv-alloc -q -p $p -c c.csv --relax-slo r.csv
	done
	for p in max-min makespan finish-time max-sum min-cost water-filling; do
		same gv-alloc -p $p -c c.csv --explain=beside plain.csv
		same gv-alloc -q -p $p -c c.csv --space-sharing=pairs.csv singles.csv
		same gv-alloc -q -p $p -c nodes.csv --nodes plain.csv
	done
	for p in max-min makespan max-sum min-cost; do
		same gv-alloc -q -p $p -c c.csv --dump-lp=beside plain.csv
		same gv-alloc -q -p $p -c c.csv --dump-lp=beside --relax-slo r.csv
	done
	for p in max-min makespan finish-time; do
		same gv-alloc -q -p $p -c c.csv --placeable plain.csv
	done
	for p in max-min max-sum; do
		same gv-alloc -q -p $p -c c.csv --space-sharing=pairs.csv --dump-lp=beside singles.csv
		same gv-alloc -q -p $p -c c.csv --budget=5 plain.csv
		same gv-alloc -q -p $p -c c.csv --pop=2 --seed=4 plain.csv
		same gv-alloc -q -p $p -c c.csv --agnostic --certify plain.csv
		for solver in glpk interior price; do
			same gv-alloc -v -p $p -c c.csv --solver=$solver plain.csv
		done
	done
	for inside in fairness fifo none; do
		same gv-alloc -p water-filling -c c.csv --entities=e.csv --inside=$inside --explain=beside plain.csv
	done
	gv-alloc -q -p max-min -c c.csv -o before.csv plain.csv
	sed 1d plain.csv | sed 's/^j0,/jx,/' | { head -1 plain.csv && cat; } >next.csv
	same gv-alloc -v -p max-min -c c.csv --previous=before.csv --stay=.1 next.csv
done

answered
