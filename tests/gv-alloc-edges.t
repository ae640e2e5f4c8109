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
done_testing
