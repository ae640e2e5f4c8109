#!/bin/sh
# gv-alloc --budget: what GPUs in use cost in an hour.
. "${0%/*}/lib.sh"

# word NAME: of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }

cat >cluster.csv <<EOF
gpu_type,gpus,usd_per_h
v100,4,3
k80,4,.5
EOF
cat >jobs.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor,total_steps,arrival_s
a,v100,40,1,4000,0
a,k80,10,1,4000,0
b,v100,12,2,3000,1
b,k80,4,2,3000,1
c,v100,100,1,9000,2
c,k80,50,1,9000,2
d,v100,7,4,2000,3
EOF
# cost: of ./out by the prices
cost() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "share") at = i; next }
		{ sum += $at * $4 * ($2 == "v100" ? 3 : .5) } END { printf "%.9f\n", sum }' out
}
# ---- by hand: two jobs, one type ----
cat >two.csv <<EOF
job_id,gpu_type,steps_per_s
x,v100,10
y,v100,20
EOF
run gv-alloc -p max-sum --budget=4.5 -c cluster.csv --explain=why two.csv
is_out "the faster one first, then what the money is enough for" <<EOF
job_id,gpu_type,steps_per_s,share,policy
x,v100,10,0.5,max-sum --budget=4.5
y,v100,20,1,max-sum --budget=4.5
EOF
sed 's/3[.]33333333*[0-9]/3.33/' why >out
is_out "a dollar has a price" <<EOF
kind,name,binds,bottleneck,value,used,limit,price,need,need_price,one_more_gpu,jobs_unlocked
policy,max-sum,,,25,,,,,,,
gpu_type,v100,nothing,no,,1.5,4,0,,,0,0
gpu_type,k80,nothing,no,,0,4,0,,,0,0
budget,usd_per_h,budget,yes,,4.5,4.5,3.33,,,,
job,x,budget,no,5,0.5,1,0,,0,,
job,y,time,no,20,1,1,10,,0,,
EOF

# ---- every policy, against glpsol ----
have glpsol || skip "no glpsol"
for policy in max-min makespan max-sum min-cost min-cost+per-dollar fifo finish-time; do
	dump=--dump-lp=p.lp
	[ $policy != finish-time ] || dump=
	run gv-alloc -v -p $policy -c cluster.csv jobs.csv
	free=$(word objective) spent=$(cost)
	run gv-alloc -v --budget=1000 -p $policy -c cluster.csv jobs.csv
	ok "$policy: a large budget changes nothing" [ "$(word objective) $(cost)" = "$free $spent" ]
	run gv-alloc -v --certify --budget=4 -p $policy $dump -c cluster.csv jobs.csv
	err_has certified=yes "$policy: proved"
	ok "$policy: the budget is kept" awk -v c="$(cost)" 'BEGIN { exit !(c <= 4 + 1e-9 && c > 0) }'
	if [ -z "$dump" ] || ! have glpsol; then continue; fi
	glpsol --lp p.lp -w sol >/dev/null
	ours=$(word objective)
	[ $policy != makespan ] || ours=$(awk -v v="$ours" 'BEGIN { printf "%.17g\n", 1 / v }')
	ran="$policy: gv-alloc and glpsol"
	ok "$policy: glpsol's objective" awk -v a="$ours" -v b="$(awk '$1 == "s" { print $NF }' sol)" \
		'BEGIN { d = a - b; exit !(b > 0 && d * d <= 1e-16 * b * b) }'
done
run gv-alloc -v --budget=4 -p min-cost --dump-lp=p.lp -c cluster.csv -o /dev/null jobs.csv
sed -n '/budget/,/gpus\|time\|<=/p' p.lp | tr -d '\n' | tr -s ' ' >out && echo >>out
is_out "--dump-lp has its row" <<EOF
 budget: - 4 u + 0.5 y(1,1) + 3 y(1,2) + 1 y(2,1) + 6 y(2,2) + 0.5 y(3,1) + 3 y(3,2) + 12 y(4,2) <= 0
EOF

# ---- deadlines that are too expensive ----
cat >slo.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,deadline_s
x,v100,10,1000,200
y,v100,20,1000,100
EOF
run gv-alloc -p min-cost --budget=2 -c cluster.csv slo.csv
is_err "deadlines that cost too much" <<EOF
gv-alloc: slo.csv:2: job "x" cannot be done by its deadline: others need the GPUs, too
gv-alloc: slo.csv:3: job "y" cannot be done by its deadline: others need the GPUs, too
gv-alloc: with 1.5 times the time that is left the deadlines could be met (--relax-slo)
EOF
run gv-alloc -p min-cost --budget=2 --relax-slo -c cluster.csv slo.csv
is_status 0 "--relax-slo pays for longer ones"

# ---- with whole gangs ----
run gv-alloc -v -p makespan --placeable --budget=4 -c cluster.csv jobs.csv
ok "--placeable keeps it, too" awk -v c="$(cost)" 'BEGIN { exit !(c <= 4 + 1e-9 && c > 3) }'

# ---- wrong usage ----
for bad in 0 -1 x; do
	run gv-alloc -p max-sum --budget=$bad -c cluster.csv jobs.csv
	is_status 2 "--budget=$bad: status"
done
run gv-alloc -p max-sum --budget=0 -c cluster.csv jobs.csv
is_err "nothing to spend" <<EOF
gv-alloc: --budget: expected a number above 0
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
run gv-alloc -p isolated --budget=4 -c cluster.csv jobs.csv
is_err "a policy that does not have it" <<EOF
gv-alloc: --budget: policy isolated does not have it
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
run gv-alloc -p max-min --budget=4 --space-sharing=x -c cluster.csv jobs.csv
is_err "not with pairs" <<EOF
gv-alloc: --budget does not go together with --space-sharing
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
printf 'gpu_type,gpus\nv100,1\n' >free.csv
run gv-alloc -p max-sum --budget=4 -c free.csv jobs.csv
is_err "no prices" <<EOF
gv-alloc: --budget needs the usd_per_h of every GPU type; "v100" has none
EOF
# ---- next to nothing to spend: the second sum takes nothing from the first ----
printf 'gpu_type,gpus,usd_per_h\na,3,2\n' >one.csv
printf 'job_id,gpu_type,steps_per_s\nslow,a,1\nfast,a,3\n' >two.csv
run gv-alloc -p max-sum --budget=1e-9 -c one.csv two.csv
silent "a budget of 1e-9: proved"
is_out "a budget of 1e-9: the faster job has it" <<EOF
job_id,gpu_type,steps_per_s,share,policy
slow,a,1,0,max-sum --budget=1e-09
fast,a,3,5e-10,max-sum --budget=1e-09
EOF
done_testing
