#!/bin/sh
# gv-alloc --explain: what binds, prices, and what one more GPU brings.
. "${0%/*}/lib.sh"

# column NAME KIND: of the rows of ./why of that kind, names and values, 6 digits
column() {
	awk -F, -v want="$1" -v kind="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i; next }
		$1 == kind { print $2, ($at ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) ? sprintf("%.6g", $at) : $at }' why
}

# ---- the paper's example: by hand ----
# levels (paper: rates [40,10;12,4;100,50], one GPU of each): t = 8/11, and all three
# jobs and both types hold it; with p = (p1, p2) the multipliers of the program
cat >cluster.csv <<EOF
gpu_type,gpus
v100,1
k80,1
EOF
cat >rates.csv <<EOF
job_id,gpu_type,steps_per_s
a,v100,40
a,k80,10
b,v100,12
b,k80,4
c,v100,100
c,k80,50
EOF
run gv-alloc -p max-min -c cluster.csv --explain=why rates.csv
silent "--explain says nothing else"
gv-alloc -p max-min -c cluster.csv rates.csv >plain
same_file out plain "and leaves the allocation as it is"
head -n 1 why >out
is_out "its columns" <<EOF
kind,name,binds,bottleneck,value,used,limit,price,need,need_price,one_more_gpu,jobs_unlocked
EOF
{ column value policy && column value job; } >out
is_out "all are at the level of the policy" <<EOF
max-min 0.727273
a 0.727273
b 0.727273
c 0.727273
EOF
# Lagrange: lambda_i a_ij = p_j u: b uses both types, so p1:p2 = 3:1; c both, which
# also has all its time, so u_c takes the difference; sum lambda = 1 gives
# lambda_a = p1/1.6, lambda_b = p1/1.5, and c: lambda_c 4/3 - p1 = lambda_c 2/3 - p2
{ column price gpu_type && column price job; } >out
is_out "prices as by hand" <<EOF
v100 0.436364
k80 0.145455
a 0
b 0
c 0.145455
EOF
{ column binds gpu_type && column binds job && column bottleneck job; } >out
is_out "what binds" <<EOF
v100 capacity
k80 capacity
a capacity
b capacity
c time
a yes
b yes
c yes
EOF

# ---- prices are what a GPU more brings, where many are there ----
cat >many.csv <<EOF
gpu_type,gpus,usd_per_h
v100,1000,3
k80,1000,.5
EOF
{
	echo job_id,gpu_type,steps_per_s,total_steps,arrival_s
	seq 3000 | awk '{ print "a" $1 ",v100,40,4000,0\na" $1 ",k80,10,4000,0" }'
	seq 2000 | awk '{ print "b" $1 ",v100,12,1000,1\nb" $1 ",k80,4,1000,1" }'
} >crowd.csv
for policy in max-min makespan finish-time max-sum min-cost+per-dollar fifo; do
	run gv-alloc -q -p $policy -c many.csv --explain=why crowd.csv
	{ column price gpu_type && column one_more_gpu gpu_type; } >seen
	ok "$policy: one of 1000 GPUs brings its price" awk '
		{ price[$1] = price[$1] " " $2 }
		END {
			for (type in price) {
				if (split(price[type], v, " ") != 2) exit 1
				if ((v[1] - v[2])^2 > (2e-3 * v[2])^2) exit 1
				n++
			}
			exit n != 2
		}' seen
done
run gv-alloc -q -p water-filling -c cluster.csv --explain=why rates.csv
{ column price gpu_type && column bottleneck job; } | sed 's/ $//' >out
is_out "water-filling has no prices, but its least" <<EOF
v100
k80
a yes
b yes
c yes
EOF

# ---- two jobs on the same GPUs ----
cat >shared.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,with_job_id,with_steps_per_s
a,v100,10,1000,,
b,v100,10,1500,,
c,v100,8,1200,,
c,k80,2,1200,,
a,v100,7,1000,b,6
a,v100,6,1000,c,5
b,v100,8,1500,c,7
EOF
printf 'gpu_type,gpus,usd_per_h\nv100,1,3\nk80,1,.5\n' >priced.csv
for policy in max-min makespan max-sum min-cost+per-dollar fifo; do
	run gv-alloc -p $policy -c priced.csv --explain=why shared.csv
	ok "$policy: prices times limits are the objective, with pairs" awk -F, -v p=$policy '
		$1 == "policy" { o = $5 } NR > 2 { sum += $7 * $8 }
		END { d = (p == "makespan" ? -sum : sum) / o - 1; exit !(d < 1e-9 && d > -1e-9) }' why
done
run gv-alloc -p min-cost -c priced.csv --explain=why shared.csv
column value policy >out
column value job | awk 'NF > 1 { print }' >values
is_out "min-cost: b and c together make 15 steps/s for 3 dollars an hour" <<EOF
min-cost 18000
EOF
cp values out
is_out "each pays a half" <<EOF
b 19200
c 16800
EOF

# ---- deadlines ----
cat >slo.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,deadline_s
a,v100,10,1000,
b,v100,4,100,100
EOF
printf 'gpu_type,gpus\nv100,1\n' >one.csv
run gv-alloc -q -p max-sum -c one.csv --explain=why slo.csv
cp why out
is_out "a deadline has its price" <<EOF
kind,name,binds,bottleneck,value,used,limit,price,need,need_price,one_more_gpu,jobs_unlocked
policy,max-sum,,,8.5,,,,,,,
gpu_type,v100,capacity,yes,,1,1,10,,,5.5,0
job,a,capacity,no,7.5,0.75,1,0,,0,,
job,b,capacity;deadline,yes,1,0.25,1,0,1,1.5,,
EOF
sed 's/,100$/,5/' slo.csv >late.csv
run gv-alloc -q -p max-sum -c one.csv --relax-slo --explain=why late.csv
grep ^job,b why >out
is_out "of the longer time when that is asked for" <<EOF
job,b,time;deadline,yes,4,1,1,0,4,1.5,,
EOF

# ---- who could run with one GPU more ----
cat >gangs.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor
small,k80,1,1
pair,v100,3,2
pair,k80,1,2
big,v100,5,4
zero,v100,0,1
EOF
run gv-alloc -q -p max-sum -c cluster.csv --explain=why gangs.csv
cp why out
is_out "jobs that can never run, and what would let them" <<EOF
kind,name,binds,bottleneck,value,used,limit,price,need,need_price,one_more_gpu,jobs_unlocked
policy,max-sum,,,1,,,,,,,
gpu_type,v100,nothing,no,,0,1,0,,,0,1
gpu_type,k80,capacity,yes,,1,1,1,,,0,1
job,small,time,no,1,1,1,0,,0,,
job,pair,never,,,0,1,,,,,
job,big,never,,,0,1,,,,,
job,zero,never,,,0,1,,,,,
EOF
printf 'gpu_type,gpus\nv100,0\nk80,2\n' >drained.csv
run gv-alloc -q -p max-sum -c drained.csv --explain=why gangs.csv
grep ^gpu_type why >out
is_out "a type without GPUs has no price, but a first one may bring something" <<EOF
gpu_type,v100,capacity,,,0,0,,,,0,0
gpu_type,k80,capacity,yes,,2,2,0.5,,,0.5,0
EOF
printf 'gpu_type,gpus\nv100,1\nk80,2\n' >drained.csv
run gv-alloc -q -p max-sum -c drained.csv --explain=why gangs.csv
grep ^gpu_type,v100 why >out
is_out "also to a gang that then first fits" <<EOF
gpu_type,v100,nothing,no,,0,1,0,,,2.5,0
EOF
printf 'gpu_type,gpus\ntpu,3\n' >none.csv
sed 's/,k80,.*/,tpu,0/; /,v100,/d' rates.csv >nowhere.csv
run gv-alloc -q -p max-min -c none.csv --explain=why nowhere.csv
cp why out
is_out "nobody can run" <<EOF
kind,name,binds,bottleneck,value,used,limit,price,need,need_price,one_more_gpu,jobs_unlocked
policy,max-min,,,,,,,,,,
gpu_type,tpu,nothing,,,0,3,,,,,0
job,a,never,,,0,1,,,,,
job,b,never,,,0,1,,,,,
job,c,never,,,0,1,,,,,
EOF

# ---- the rest ----
run gv-alloc -q --tsv -p max-min -c cluster.csv --explain=why rates.csv
ok "--tsv counts for it, too" grep -q "^kind	name	" why
run gv-alloc -q -p max-min+agnostic -c cluster.csv --explain=why rates.csv
{ column value policy && column price gpu_type; } >out
is_out "--agnostic: types are worth the same" <<EOF
max-min+agnostic 0.666667
v100 0.333333
k80 0.333333
EOF
run gv-alloc -p isolated -c cluster.csv --explain=why rates.csv
is_err "a policy that aims for nothing" <<EOF
gv-alloc: --explain: policy isolated aims for nothing that has prices
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
is_status 2 "a policy that aims for nothing: status"
run gv-alloc -p max-min -c cluster.csv --explain=- rates.csv
is_err "standard output is taken" <<EOF
gv-alloc: --explain=-: standard output has the allocation
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
run gv-alloc -p max-min -c cluster.csv -o to.csv --explain=- --dump-lp=- rates.csv
is_err "only one can have it" <<EOF
gv-alloc: --dump-lp=-: standard output has the explanation
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
run gv-alloc -p max-min -c cluster.csv -o to.csv --explain=- rates.csv
silent "it may have standard output"
out_has "policy,max-min," "which then has it"
run gv-alloc -p max-min -c cluster.csv --explain=no/such rates.csv
is_status 2 "a file that cannot be written"
# ---- on a terminal ----
if have script; then
	printf 'gpu_type,gpus\nx,2\ny,1\n' >two.csv
	printf 'job_id,gpu_type,steps_per_s\na,x,1\na,y,2\n' >ab.csv
	for quiet in '' -q; do
		script -qec "gv-alloc $quiet -p max-min -c two.csv --explain=why.csv -o shares.csv ab.csv" /dev/null </dev/null |
			tr '\r' '\n' | grep -o 'explaining: .*' >got
		if [ -z "$quiet" ]; then
			printf 'explaining: %s of 2 times asked with one more\n' 0 1 >want
		else
			: >want
		fi
		same_file got want "how far it is$quiet"
	done
else
	skip "a terminal: no script(1)"
fi
done_testing
