#!/bin/sh
# gv-report: what it says and draws of drawn tables is what it has said and drawn before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-report "${1:-}"

for seed in 1 2 3 4 5 6; do
	jobs=$((4 + seed * 5)) types=$((1 + seed % 3))
	case="drawn $seed, $jobs jobs, $types types"
	drawn_trace $seed $jobs $types
	gv-sim -q -c c.csv -t t.csv --isolated --changes ch.csv -p "gv-alloc -q -p max-min -c c.csv" --events events.csv --jobs jobs.csv \
		--summary summary.csv j.csv
	gv-sim -q -c c.csv -t t.csv --isolated -p "gv-alloc -q -p fifo -c c.csv" --events other.csv --jobs others.csv j.csv
	for format in text csv json svg html prom; do
		same gv-report -f $format events.csv
		same gv-report -f $format a=events.csv b=other.csv
		same gv-report -f $format a=jobs.csv b=others.csv
	done
	for chart in jobs completion lengths queueing busy waiting held rounds; do
		same gv-report -f svg --chart=$chart events.csv
	done
	for chart in runs completion lengths queueing fairness; do
		same gv-report -f svg --chart=$chart a=jobs.csv b=others.csv
	done
	for part in summary type entity job share; do
		same gv-report -b $part events.csv
	done
	same gv-report summary.csv
	same gv-report c.csv
	same gv-report -d 3 t.csv
	same gv-report -f prom --per-job --run=night events.csv

	# an allocation, and why it is so
	drawn cluster $seed $jobs 4 >c.csv
	drawn rates $seed $jobs 4 | awk -F, -v OFS=, '{ NF = 9; print }' >r.csv
	gv-alloc -q -p max-min -c c.csv --explain=explanation.csv -o a.csv r.csv
	for format in text csv svg html; do
		same gv-report -f $format -c c.csv a.csv
		same gv-report -f $format explanation.csv
	done

	# plans, their steps, and what came of them
	drawn layers $seed $jobs >l.csv
	gv-partition -q -l 4@1GB/s -l 2@1Gb/s -o plan.csv l.csv
	awk -F, -v OFS=, 'NR > 1 { $3 *= 1000; $4 *= 1000 } 1' l.csv >slow.csv
	gv-partition -q -l 4@1GB/s -o slow_plan.csv slow.csv
	same gv-report slow_plan.csv
	same gv-report -f svg slow_plan.csv
	gv-partition -q -l 4@1GB/s --top=5 -o top.csv l.csv
	for format in text csv svg html; do
		same gv-report -f $format plan.csv
		same gv-report -f $format top.csv
	done
	of=$case
	for schedule in 1f1b gpipe interleaved zb-h1; do
		case="$of, $schedule"
		gv-partition -q --straight -l 2@1GB/s --schedule=$schedule --micro-batches=4 --timeline -o steps.csv l.csv
		same gv-report steps.csv
		same gv-report -f svg steps.csv
	done
	case=$of
	drawn losses $seed 30 $((1 + seed % 4)) >losses.csv
	drawn losses $((seed + 9)) 7 2 >more_losses.csv
	drawn stages $seed 4 $((1 + seed % 2)) >stages.csv
	for format in text csv svg html; do
		same gv-report -f $format losses.csv
		same gv-report -f $format stages.csv
	done
	same gv-report -f svg --axis=log --smooth=5 losses.csv more_losses.csv
	same gv-report -f html --axis=linear losses.csv more_losses.csv

	# links and trees
	gpus=$((1 + seed % 6 + 1))
	drawn links $seed $gpus >l.csv
	gv-tree -q -o trees.csv l.csv
	same gv-report trees.csv l.csv
	same gv-report -b link trees.csv l.csv
	digits=3 # pixels of a circle
	same gv-report -f svg l.csv
	same gv-report -f svg trees.csv l.csv
	digits=7
done

answered
