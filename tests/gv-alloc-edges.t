#!/bin/sh
# gv-alloc where a pool is smaller than a gang, a queue changes, somebody is left over.
. "${0%/*}/lib.sh"

# ---- P(i) is over all GPUs that a job has a rate on ----
printf 'gpu_type,gpus\na,4\nb,2\n' >cluster.csv
{
	echo job_id,scale_factor,gpu_type,steps_per_s,total_steps
	for type in a b; do
		echo "gang,4,$type,10,100"
		seq 10 | sed "s/.*/s&,1,$type,10,100/"
	done
} >rates.csv
word() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" err; }
# objective NAME VALUE: of the last run, to 1e-12
objective() {
	ok "$1" awk -v o="$(word objective)" -v want="$2" 'BEGIN { split(want, w, "/"); d = o - w[1] / w[2]
		exit !(o != "" && d < 1e-12 && d > -1e-12) }'
}
# level NAME ARG...: the level of the gang and of ten single jobs on six GPUs is 6/11
level() {
	name=$1
	shift
	run gv-alloc -v -c cluster.csv "$@" rates.csv
	objective "$name: a gang's rate on too small a pool counts in P(i)" 6/11
}
level max-min -p max-min
level GLPK -p max-min --solver=glpk
level prices -p max-min --solver=price
level certificate -p max-min --certify
level agnostic -p max-min --agnostic
level placeable -p max-min --placeable
level water-filling -p water-filling
level explain -p max-min --explain=why.csv
ok "--explain: every value is the level" awk -F, '$1 == "job" && ($5 - 6 / 11 > 1e-12 || 6 / 11 - $5 > 1e-12) { bad = 1 }
	END { exit bad }' why.csv
# a gang that is faster where it does not fit is worth as much as it would be on average
sed 's/gang,4,b,10/gang,4,b,40/' rates.csv >fast.csv
run gv-alloc -v -p max-min -c cluster.csv fast.csv
objective "P(i) of 10 and 40 on 4 and 2 GPUs is 20: the gang has 4 x 10 / 20" 1/2
run gv-alloc -v -p max-min --agnostic -c cluster.csv fast.csv
objective "--agnostic: the gang runs at 20 where it fits, P(i) is 20" 6/11
# one GPU more changes what is there, not what is compared with
printf 'gpu_type,gpus\na,4\nb,3\n' >three.csv
run gv-alloc -p max-min -c three.csv --explain=why.csv rates.csv
ok "--explain: a fourth GPU of b lets the gang in: from 7/11 to 8/11 of the same P(i)" awk -F, '
	$2 == "b" { d = $11 - 1 / 11; found = d < 1e-9 && d > -1e-9 } END { exit !found }' why.csv

# ---- fifo: F(i) and the queue stay when a GPU is added ----
printf 'gpu_type,gpus\na,2\nb,1\n' >cluster.csv
cat >rates.csv <<E
job_id,scale_factor,gpu_type,steps_per_s
first,2,a,1
first,2,b,8
second,1,a,4
second,1,b,3
E
run gv-alloc -p fifo -c cluster.csv --explain=why.csv rates.csv
ok "--explain: a GPU more makes no queue worse" awk -F, '$1 == "gpu_type" { n++; bad += $11 < 0 }
	END { exit !(n == 2 && !bad) }' why.csv
echo third,2,b,5 >>rates.csv
run gv-alloc -p fifo -c cluster.csv --explain=other.csv rates.csv
ok "--explain: third, who could run then, takes nobody's place" sh -c '
	[ "$(grep ^gpu_type,b why.csv | cut -d, -f 11)" = "$(grep ^gpu_type,b other.csv | cut -d, -f 11)" ] &&
	grep -q "^gpu_type,b,.*,1$" other.csv'

# ---- sjf: the shortest first, and then whoever can use what is left ----
printf 'gpu_type,gpus\na,1\nb,1\n' >cluster.csv
cat >rates.csv <<E
job_id,total_steps,gpu_type,steps_per_s
x,100,a,10
x,100,b,10
y,1000,a,5
E
run gv-alloc -p sjf -c cluster.csv rates.csv
is_out "x leaves a to y, who cannot use b" <<E
job_id,total_steps,gpu_type,steps_per_s,share,policy
x,100,a,10,0,sjf
x,100,b,10,1,sjf
y,1000,a,5,1,sjf
E

# ---- GPUs that are away ----
printf 'gpu_type,gpus\na,4\nb,1\n' >away-cluster.csv
cat >away.csv <<E
job_id,scale_factor,gpu_type,steps_per_s,gpus_available
x,1,a,10,1
y,1,a,10,1
z,1,b,5,
gang,2,a,20,1
E
run gv-alloc -p max-min -c away-cluster.csv away.csv
is_out "gpus_available: those that are there are divided" <<E
job_id,scale_factor,gpu_type,steps_per_s,gpus_available,share,policy
x,1,a,10,1,0.5,max-min
y,1,a,10,1,0.5,max-min
z,1,b,5,,1,max-min
gang,2,a,20,1,0,max-min
E
silent "a gang that waits for GPUs is no reason to warn"
awk -F, -v OFS=, 'NR == 1 { print $0, "total_steps"; next } { print $0, 100 * NR }' away.csv >steps.csv
cut -d, -f 1-4,6 steps.csv >whole.csv
{ cat steps.csv; echo; cat whole.csv; echo; cat steps.csv; } >stream.in
for p in max-min finish-time makespan fifo; do
	gv-alloc --stream -p $p -c away-cluster.csv stream.in >stream.out
	gv-alloc -p $p -c away-cluster.csv steps.csv >alone.1
	gv-alloc -p $p -c away-cluster.csv whole.csv >alone.2
	{ cat alone.1; echo; cat alone.2; echo; cat alone.1; echo; } >alone.out
	same_file alone.out stream.out "$p: a table's word is for that table"
done
printf 'job_id,gpu_type,steps_per_s,gpus_available\nx,a,1,2\ny,a,1,3\nz,a,1,-1\n' >bad.csv
run gv-alloc -p max-min -c away-cluster.csv bad.csv
is_err "rows that differ, GPUs below 0" <<E
gv-alloc: bad.csv:3: gpus_available: expected 2 as at line 2, got "3"
gv-alloc: bad.csv:4: gpus_available: expected a whole number >= 0, got "-1"
E
cat >waits.csv <<E
job_id,scale_factor,total_steps,deadline_s,gpu_type,steps_per_s,gpus_available
gang,2,10,100,a,1,1
one,1,10,100,a,1,1
E
run gv-alloc -p max-sum -c away-cluster.csv waits.csv
is_status 0 "a deadline of a gang that waits does not stop the others"
ok "who have what there is" grep -q '^one,.*,1,max-sum$' out
cat >least.csv <<E
job_id,total_steps,min_steps_per_s,gpu_type,steps_per_s,gpus_available
g,100,9,a,10,1
h,100,9,a,10,1
E
run gv-alloc -p max-min -c away-cluster.csv least.csv
is_status 0 "minimums that some of the GPUs cannot give"
ok "are divided meanwhile" [ "$(awk -F, 'NR > 1 { printf "%.6g ", $7 }' out)" = "0.5 0.5 " ]
err_has 'each min_steps_per_s is divided by 1.8' "which is said"
cut -d, -f 1-5 least.csv >held.csv
printf 'gpu_type,gpus\na,1\n' >one-a.csv
run gv-alloc -p max-min -c one-a.csv held.csv
is_status 1 "but not on a cluster that has no more"

# ---- deadlines: the factor that is named is enough, and stands in the table ----
cat >relax.awk <<'E'
BEGIN {
	srand(seed)
	print "job_id,total_steps,arrival_s,elapsed_s,deadline_s,gpu_type,steps_per_s" >"late.csv"
	n = 3 + int(6 * rand())
	for (i = 0; i < n; i++) {
		steps = 100 + int(10000 * rand())
		left = 10 + int(500 * rand())
		for (t = 0; t < 2; t++)
			print "j" i "," steps ",0,0," left "," (t ? "a" : "b") "," 1 + int(90 * rand()) / 10 >"late.csv"
	}
}
E
n=0 refused=0 without=0
for seed in $(seq 40); do
	awk -v seed="$seed" -f relax.awk
	gv-alloc -q -p max-sum --relax-slo -c cluster.csv late.csv >relaxed.csv || continue
	factor=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "relaxation") at = i } NR == 2 { print $at }' relaxed.csv)
	[ "$factor" != 1 ] || continue
	n=$((n + 1))
	awk -F, -v OFS=, -v f="$factor" 'NR > 1 { $5 = sprintf("%.17g", $5 * f) } { print }' late.csv >longer.csv
	gv-alloc -q -p max-sum -c cluster.csv longer.csv >out 2>err || refused=$((refused + 1))
	gv-alloc -p max-sum -c cluster.csv late.csv 2>&1 >out | grep -qF "with $factor times" || without=$((without + 1))
done
ran="40 random tables" status=0
ok "the factor of --relax-slo, applied, is enough ($n factors, $refused refused)" [ "$n" -gt 20 ] && [ "$refused" -eq 0 ]
ok "the message names the same factor" [ "$without" -eq 0 ]
# little is left of a deadline that is late: its last digit is more than needs are met to
n=0 refused=0
for now in 936 5333 12345 98765.4 333333 1e6 1700000000; do
	for rate in 376.6823 130.3526 7.3 21.17 99; do
		late=$(awk "BEGIN { printf \"%.17g\", $now + 9 / $rate / 1.6 }")
		printf 'job_id,total_steps,arrival_s,deadline_s,gpu_type,steps_per_s\nx,9,%s,%s,a,%s\n' "$now" "$late" "$rate" >late.csv
		factor=$(gv-alloc -q -p max-sum --relax-slo -c cluster.csv late.csv | sed -n '2s/.*,a,[^,]*,\([^,]*\),.*/\1/p')
		n=$((n + 1))
		awk -F, -v OFS=, -v f="$factor" 'NR > 1 { $4 = sprintf("%.17g", $3 + f * ($4 - $3)) } { print }' late.csv >longer.csv
		gv-alloc -q -p max-sum -c cluster.csv longer.csv >out 2>err || refused=$((refused + 1))
	done
done
ran="gv-alloc -q -p max-sum -c cluster.csv longer.csv" status=0
ok "nor is a deadline at the end of a long time ($n factors, $refused refused)" [ "$refused" -eq 0 ]
cat >never.csv <<E
job_id,scale_factor,total_steps,deadline_s,gpu_type,steps_per_s
gang,2,10,100,a,1
one,1,10,100,a,1
E
run gv-alloc -q -p max-sum -c cluster.csv -o none.csv never.csv
is_err "a deadline of a job that can never run" <<E
gv-alloc: never.csv:2: job "gang" cannot be done by its deadline: it can never run
E
is_status 1 "a deadline of a job that can never run: status"
for steps in 1e-3 1; do
	sed "2s/,10,100,/,$steps,100,/" never.csv >little.csv
	run gv-alloc -q -p max-sum -c cluster.csv little.csv
	is_status 1 "whatever little is left of it: $steps"
done
run gv-alloc -q -p max-sum --relax-slo -c cluster.csv never.csv
is_status 0 "with --relax-slo the others run"
run gv-alloc -q -p proportional -c cluster.csv -o /dev/null never.csv
is_status 0 "a policy without deadlines does not look at it"

# ---- GPUs that cost nothing ----
printf 'gpu_type,gpus,usd_per_h\na,1,0\nb,1,2\n' >own.csv
cat >rates.csv <<E
job_id,gpu_type,steps_per_s
x,a,10
x,b,12
y,a,5
y,b,9
E
run gv-alloc -p min-cost -c own.csv rates.csv
is_out "min-cost: what is free is used, and nothing else" <<E
job_id,gpu_type,steps_per_s,share,policy
x,a,10,1,min-cost
x,b,12,0,min-cost
y,a,5,0,min-cost
y,b,9,0,min-cost
E
run gv-alloc -p max-sum --budget=1 -c own.csv rates.csv
ok "--budget: free GPUs cost nothing of it" awk -F, '$2 == "a" { a += $4 } $2 == "b" { b += $4 }
	END { exit !(a == 1 && b > .5 - 1e-9 && b < .5 + 1e-9) }' out
printf 'gpu_type,gpus,usd_per_h\na,1,0\nb,1,\n' >own.csv
run gv-alloc -p min-cost -c own.csv rates.csv
is_err "a price that is missing is none" <<E
gv-alloc: policy min-cost needs the usd_per_h of every GPU type; "b" has none
E
is_status 2 "a price that is missing: status"

# a rate as good as none is not a pool that is too small
printf 'gpu_type,gpus\na,4\n' >slow.csv
printf 'job_id,total_steps,gpu_type,steps_per_s\nx,100,a,1\ny,100,a,4e-324\nz,100,a,1e-300\n' >rates.csv
run gv-alloc -p max-min -c slow.csv rates.csv
is_err "rates as good as 0: the reason" <<E
gv-alloc: rates.csv:3: job "y" can never run: no rate above 1e-290 steps/s where its GPUs are
gv-alloc: rates.csv:4: job "z" can never run: no rate above 1e-290 steps/s where its GPUs are
E

# ---- who has to say how many steps there are ----
# steps POLICY COLUMNS A B MESSAGE: of jobs a and b with those cells
steps() {
	printf 'job_id,gpu_type,steps_per_s,%s\na,a,1,%s\nb,a,1,%s\n' "$2" "$3" "$4" >steps.csv
	run gv-alloc -q -p "$1" -c slow.csv steps.csv
	if [ -n "$5" ]; then
		echo "gv-alloc: steps.csv$5" | is_err "$1: no $2"
		is_status 2 "$1: no $2: status"
	else
		is_status 0 "$1: no $2 is needed"
	fi
}
steps makespan total_steps 5 "" ':3: total_steps: expected a number, got ""'
steps makespan steps_remaining,total_steps 5, , ':3: steps_remaining: expected a number, got ""'
steps makespan steps_remaining,total_steps 5, ,7 ""
steps max-min total_steps,deadline_s ,9 9,9 ':2: total_steps: expected a number, got ""'
steps max-min steps_remaining,slo_factor 5, ,2 ':3: steps_remaining: expected a number, got ""'
steps max-min total_steps,deadline_s 5,100 , ""
steps max-min arrival_s,deadline_s 0,100 0,100 ':1: missing column "total_steps" (found: job_id, gpu_type, steps_per_s, arrival_s, deadline_s)'

# ---- names that would steer a terminal ----
printf 'gpu_type,gpus\na,1\n' >steer.cluster.csv
printf 'job_id,gpu_type,steps_per_s\na\342\200\256b\302\233c\033[2J,a,1\n' >steer.csv
run gv-alloc -p max-min -c steer.cluster.csv steer.csv
sed 's/,a,1,1,max-min$//' out | sed 1d >got
sed 's/,a,1$//' steer.csv | sed 1d >want
same_file got want "in a pipe a name is its bytes"
if have script; then
	script -qec "gv-alloc -p max-min -c steer.cluster.csv steer.csv" /dev/null </dev/null |
		tr -d '\r' | sed 1d >got
	printf '%s\n' 'a\xe2\x80\xaeb\xc2\x9bc\x1b[2J,a,1,1,max-min' >want
	same_file got want "on a terminal it is shown, not obeyed"
else
	skip "a terminal: no script(1)"
fi
done_testing
