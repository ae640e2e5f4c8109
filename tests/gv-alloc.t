#!/bin/sh
# gv-alloc: its tables, options and messages.  What the numbers must be is in
# unit/gv-alloc.policies.c and gv-alloc-glpsol.t.
. "${0%/*}/lib.sh"

usage='usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]'
cat >cluster.csv <<EOF
gpu_type,gpus
v100,1
k80,1
EOF
cat >rates.csv <<EOF
job_id,gpu_type,steps_per_s,note
a,v100,40,007
a,k80,10,"x, y"
b,v100,12,
b,k80,4.0,1e3
c,v100,100,
c,k80,50,
EOF
# shares FILE: job, type and share, rounded, of an allocation
shares() { awk -F, -v OFS=, 'NR > 1 { print $1, $2, sprintf("%.9f", $(NF - 1)) }' "$1"; }

# ---- tables ----
run gv-alloc -p max-min -c cluster.csv rates.csv
silent "the paper's example"
cp out plain
run shares plain
is_out "the paper's example: shares of the level 8/11" <<EOF
a,v100,0.454545455
a,k80,0.000000000
b,v100,0.454545455
b,k80,0.090909091
c,v100,0.090909091
c,k80,0.909090909
EOF
sed 's/,[^,]*,max-min$//; s/,share,policy$//' plain >copied
ran="gv-alloc without its two columns"
same_file copied rates.csv "rows and cells are copied byte for byte"
run head -n 1 plain
is_out "the new columns stand behind" <<EOF
job_id,gpu_type,steps_per_s,note,share,policy
EOF
run gv-alloc -p max-min -c cluster.csv <rates.csv
same_file out plain "standard input without an operand"
run gv-alloc -p max-min -c cluster.csv - <rates.csv
same_file out plain "standard input by -"
run gv-alloc -p max-min -c - rates.csv <cluster.csv
same_file out plain "the cluster on standard input"
gzip -c rates.csv >rates.csv.gz
run gv-alloc -p max-min -c cluster.csv rates.csv.gz
same_file out plain "gzip"
run gv-alloc -p max-min -c cluster.csv -o result.csv rates.csv
silent "-o"
same_file result.csv plain "-o writes the same"
run gv-alloc -p max-min -c cluster.csv plain
same_file out plain "an allocation comes out as it went in"
run gv-alloc -p isolated -c cluster.csv plain
sed 's/,[^,]*,isolated$//; s/,share,policy$//' out >copied
same_file copied rates.csv "an old share and policy are replaced in place"
run gv-alloc -p isolated -c cluster.csv --tsv rates.csv
sed -n 3p out >third
run cat third
is_out "TSV" <<EOF
a	k80	10	x, y	0.3333333333333333	isolated
EOF
printf 'policy\tjob_id\tshare\tsteps_per_s\tgpu_type\nx\ta\t0.5\t2\tv100\n' >odd.tsv
run gv-alloc -p isolated -c cluster.csv odd.tsv
is_out "columns in any order, TSV in" <<EOF
policy,job_id,share,steps_per_s,gpu_type
isolated,a,1,2,v100
EOF
echo job_id,gpu_type,steps_per_s >empty.csv
run gv-alloc -v -p max-min -c cluster.csv empty.csv
is_out "no rows" <<EOF
job_id,gpu_type,steps_per_s,share,policy
EOF
is_err "no rows, and nothing to say of an objective" <<EOF
gv-alloc: policy=max-min jobs=0 classes=0 types=2
EOF

# ---- -v ----
run gv-alloc -v -p proportional -c cluster.csv -o /dev/null rates.csv
is_err "-v of a formula" <<EOF
gv-alloc: policy=proportional jobs=3 classes=3 types=2 objective=0.6666666666666666
EOF
run gv-alloc -v --certify -p max-min -c cluster.csv rates.csv
# near NAME: out is plain but for units in the last place of shares (column 5 of six)
near() {
	if paste -d, out plain | awk -F, '{ d = $(NF / 2 - 1) - $(NF - 1) } NR > 1 && (d > 0 || d < -1e-15) { bad = 1 }
		END { exit bad || NR < 7 }'; then pass "$1"; else fail "$1" out plain; fi
}
near "--certify takes no more than a unit in the last place from a share"
sed 's/\(objective\|bound\)=0.72727272727[0-9]*/\1=8:11/g; s/gap=[0-9.]*e-1[3456]/gap=small/' err >rounded
mv rounded err
is_err "-v --certify" <<EOF
gv-alloc: policy=max-min jobs=3 classes=3 types=2 objective=8:11 bound=8:11 gap=small certified=yes
EOF
{
	echo job_id,gpu_type,steps_per_s
	for i in 1 2 3 4 5 6 7; do printf 'j%d,k80,5\nj%d,v100,7\n' $i $i; done
} >equal.csv
run gv-alloc -v -p max-min -c cluster.csv -o one.csv equal.csv
err_has "jobs=7 classes=1 types=2" "equal jobs are one class"
run gv-alloc -v --solver=glpk -p max-min -c cluster.csv -o /dev/null equal.csv
err_has "jobs=7 classes=7 types=2" "--solver=glpk solves job by job"
run gv-alloc -v --solver=price -p max-min -c cluster.csv -o price.csv rates.csv
err_has "classes=3 types=2 objective=0.72727272727" "--solver=price"
shares plain >a && shares price.csv >b
same_file a b "--solver=price gives the same shares"
run gv-alloc --solver=auto -p max-min -c cluster.csv equal.csv
same_file out one.csv "--solver=auto is the default"
sed 1d one.csv | cut -d, -f2,4 | sort -u >kinds
run cut -d, -f1 kinds
is_out "equal jobs get equal shares on each type" <<EOF
k80
v100
EOF

# ---- row order ----
{ head -n 1 rates.csv && sed 1d rates.csv | sort -r; } >reversed.csv
run gv-alloc -p max-min -c cluster.csv reversed.csv
sort out >a && sort plain >b
same_file a b "the rows' order does not matter"
{ head -n 1 cluster.csv && sed 1d cluster.csv | sort; } >other.csv
run gv-alloc -p max-min -c other.csv rates.csv
same_file out plain "nor does the cluster's"

# ---- jobs that can never run ----
cat >never.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor
a,v100,40,1
gang,v100,7,2
gang,k80,0,2
a,k80,20,1
zero,v100,0,1
tpu,tpu,5,1
EOF
run gv-alloc -p max-min -c cluster.csv never.csv
is_out "they have shares of 0 and leave the others alone" <<EOF
job_id,gpu_type,steps_per_s,scale_factor,share,policy
a,v100,40,1,1,max-min
gang,v100,7,2,0,max-min
gang,k80,0,2,0,max-min
a,k80,20,1,0,max-min
zero,v100,0,1,0,max-min
tpu,tpu,5,1,0,max-min
EOF
is_err "and are named" <<EOF
gv-alloc: never.csv:3: job "gang" can never run: it needs 2 GPUs of one type, the largest pool it has a rate on has 1
gv-alloc: never.csv:6: job "zero" can never run: no rate above 0 on a GPU of the cluster
gv-alloc: never.csv:7: job "tpu" can never run: no rate above 0 on a GPU of the cluster
EOF
is_status 0 "which is no failure"
run gv-alloc -q -p isolated -c cluster.csv never.csv
silent "-q does not name them"
{ echo job_id,gpu_type,steps_per_s && seq 13 | sed 's/.*/j&,v100,0/'; } >many.csv
run gv-alloc -p max-min -c cluster.csv many.csv
tail -n 2 err >last && mv last err
is_err "ten are named, the others counted" <<EOF
gv-alloc: many.csv:11: job "j10" can never run: no rate above 0 on a GPU of the cluster
gv-alloc: 3 more jobs can never run
EOF
printf 'gpu_type,gpus\nv100,0\nk80,0\n' >drained.csv
run gv-alloc -q -p proportional -c drained.csv never.csv
silent "a cluster of no GPUs"

# ---- -t ----
cat >jobs.csv <<EOF
job_id,job_type,scale_factor,command
1,lm,1,train 1
2,cnn,2,
3,gan,16,
EOF
cat >thr.csv <<EOF
gpu_type,job_type,scale_factor,steps_per_s
v100,lm,1,40.0
v100,cnn,2,5
k80,lm,1,10
EOF
run gv-alloc -p isolated -c cluster.csv -t thr.csv jobs.csv
is_out "-t joins jobs with throughputs" <<EOF
job_id,job_type,scale_factor,command,gpu_type,steps_per_s,share,policy
1,lm,1,train 1,v100,40.0,0.5,isolated
1,lm,1,train 1,k80,10,0.5,isolated
2,cnn,2,,v100,5,0,isolated
EOF
is_err "and names what is left out" <<EOF
gv-alloc: jobs.csv:4: job "3" is left out: thr.csv has no throughput of "gan" with scale_factor 16
gv-alloc: jobs.csv:3: job "2" can never run: it needs 2 GPUs of one type, the largest pool it has a rate on has 1
EOF
{ head -n 1 jobs.csv && seq 12 | sed 's/.*/j&,gan,1,/'; } >missing.csv
run gv-alloc -p isolated -c cluster.csv -t thr.csv missing.csv
tail -n 1 err >last && mv last err
is_err "ten are named, the others counted, with -t" <<EOF
gv-alloc: 2 more jobs are left out
EOF
run gv-alloc -p isolated -c cluster.csv -t thr.csv rates.csv
is_err "-t wants one row for each job" <<EOF
gv-alloc: rates.csv:3: job_id: repeated job_id "a", first at line 2
gv-alloc: rates.csv:5: job_id: repeated job_id "b", first at line 4
gv-alloc: rates.csv:7: job_id: repeated job_id "c", first at line 6
EOF
is_status 2 "-t with rates: status"
printf 'job_type,gpu_type,steps_per_s,scale_factor\nlm,v100,-1,1\n' >bad-thr.csv
run gv-alloc -p isolated -c cluster.csv -t bad-thr.csv jobs.csv
is_err "a bad throughput" <<EOF
gv-alloc: bad-thr.csv:2: steps_per_s: expected a number >= 0, got "-1"
EOF
for scale in x 0; do
	{ cat thr.csv && echo "v100,gan,$scale,1"; } >bad-thr.csv
	run gv-alloc -p isolated -c cluster.csv -t bad-thr.csv jobs.csv
	err_has "bad-thr.csv:5: scale_factor: expected a" "a gang that is none, $scale"
	is_status 2 "a gang that is none, $scale: status"
done

# ---- several tables ----
{ cat rates.csv && echo && cat never.csv; } >two.csv
run gv-alloc -q -p max-min -c cluster.csv two.csv
gv-alloc -q -p max-min -c cluster.csv never.csv >second
{ cat plain && echo && cat second; } >both
same_file out both "two tables, an empty line between the answers"
run gv-alloc -q -p max-min -c cluster.csv -v two.csv
cut -d' ' -f2,3 err >lines && mv lines err
is_err "-v has a line for each" <<EOF
policy=max-min jobs=3
policy=max-min jobs=4
EOF
mkfifo ask answer
gv-alloc -p max-min -c cluster.csv <ask >answer &
exec 3>ask 4<answer
for round in first second; do
	cat rates.csv >&3 && echo >&3
	while read -r line && [ -n "$line" ]; do echo "$line"; done <&4 >got
	ran="asking a running gv-alloc" status=0
	same_file got plain "asked while it runs, it answers at once: $round"
done
exec 3>&- 4<&-
wait
{ cat rates.csv && printf '\njob_id\nx\n'; } >bad2.csv
run gv-alloc -p max-min -c cluster.csv -o keep.csv bad2.csv
is_err "an error in the second table" <<EOF
gv-alloc: bad2.csv:9: missing column "gpu_type" (found: job_id)
gv-alloc: bad2.csv:9: missing column "steps_per_s" (found: job_id)
EOF
ok "writes no file" [ ! -e keep.csv ]

# ---- makespan ----
cat >steps.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,steps_remaining
a,v100,4,800,400
a,k80,1,800,400
b,v100,2,100,
b,k80,2,100,
c,v100,2,100,0
EOF
run gv-alloc -v -p makespan -c cluster.csv steps.csv
is_out "makespan: shares" <<EOF
job_id,gpu_type,steps_per_s,total_steps,steps_remaining,share,policy
a,v100,4,800,400,1,makespan
a,k80,1,800,400,0,makespan
b,v100,2,100,,0,makespan
b,k80,2,100,,1,makespan
c,v100,2,100,0,0,makespan
EOF
sed 's/bound=99.99999[0-9]*/bound=99+/; s/gap=[0-9.]*e-1[3456]/gap=small/' err >rounded
mv rounded err
is_err "makespan: seconds" <<EOF
gv-alloc: policy=makespan jobs=3 classes=3 types=2 objective=100 bound=99+ gap=small
EOF
run gv-alloc -p makespan -c cluster.csv --dump-lp=p.lp steps.csv
sed -n '/level/p' p.lp >out
is_out "makespan: --dump-lp" <<EOF
 level(1): - 1 t + 0.0025 x(1,1) + 0.01 x(1,2) >= 0
 level(2): - 1 t + 0.02 x(2,1) + 0.02 x(2,2) >= 0
 level(3): + 1 x(3,1) + 1 x(3,2) >= 0
EOF
run gv-alloc -p makespan -c cluster.csv rates.csv
is_err "makespan: no steps at all" <<EOF
gv-alloc: rates.csv:1: missing column "total_steps" (found: job_id, gpu_type, steps_per_s, note)
EOF
is_status 2 "makespan: no steps at all: status"
printf 'job_id,gpu_type,steps_per_s,total_steps\na,v100,1,5\nb,v100,1,\n' >nosteps.csv
run gv-alloc -p makespan -c cluster.csv nosteps.csv
is_err "makespan: a job without steps" <<EOF
gv-alloc: nosteps.csv:3: total_steps: expected a number, got ""
EOF
printf 'job_id,gpu_type,steps_per_s,total_steps\na,v100,1,0\n' >done.csv
run gv-alloc -v -p makespan -c cluster.csv -o /dev/null done.csv
is_err "makespan: all done" <<EOF
gv-alloc: policy=makespan jobs=1 classes=1 types=2 objective=0 bound=0 gap=0
EOF

# ---- finish-time ----
cat >finish.csv <<EOF
job_id,gpu_type,steps_per_s,steps_remaining,elapsed_s,isolated_elapsed_s
a,k80,1,50,50,0
b,k80,1,50,0,0
EOF
run gv-alloc -v -p finish-time -c cluster.csv finish.csv
cp err said
shares out >rounded && mv rounded out
is_out "finish-time: who has waited gets more" <<EOF
a,k80,0.618033989
b,k80,0.381966011
EOF
sed 's/=1.309016994374[0-9]*/=golden/g; s/gap=[0-9.]*e-1[23456]/gap=small/' said >err
is_err "finish-time: the ratio" <<EOF
gv-alloc: policy=finish-time jobs=2 classes=2 types=2 objective=golden bound=golden gap=small
EOF
run gv-alloc -v --certify -p finish-time -c cluster.csv -o /dev/null finish.csv
err_has "certified=yes" "finish-time: --certify"
run gv-alloc -p finish-time -c cluster.csv rates.csv
is_err "finish-time: no steps at all" <<EOF
gv-alloc: rates.csv:1: missing column "total_steps" (found: job_id, gpu_type, steps_per_s, note)
EOF
run gv-alloc -v -p finish-time -c cluster.csv -o /dev/null done.csv
is_err "finish-time: all done" <<EOF
gv-alloc: policy=finish-time jobs=1 classes=1 types=2 objective=0 bound=0 gap=0
EOF

# ---- max-sum, min-cost, deadlines ----
cat >prices.csv <<EOF
gpu_type,gpus,usd_per_h
v100,1,3.6
k80,2,0.36
EOF
cat >slo.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor,total_steps,elapsed_s,deadline_s
a,v100,10,1,1000,0,
a,k80,2,1,1000,0,
b,v100,8,1,400,50,100
b,k80,4,1,400,50,100
g,k80,9,2,1000,0,
EOF
run gv-alloc -v -p max-sum -c prices.csv slo.csv
cp err said
shares out >rounded && mv rounded out
is_out "max-sum: the deadline holds, the rest is for the sum" <<EOF
a,v100,0.000000000
a,k80,0.000000000
b,v100,1.000000000
b,k80,0.000000000
g,k80,1.000000000
EOF
sed 's/bound=17[0-9.]*/bound=17/; s/gap=[0-9.]*e-1[3456]/gap=small/; s/=\(16.9999999999\|17.0000000000\)[0-9]*/=17/' said >err
is_err "max-sum: steps per second" <<EOF
gv-alloc: policy=max-sum jobs=3 classes=3 types=2 objective=17 bound=17 gap=small
EOF
run gv-alloc -v -p min-cost -c prices.csv slo.csv
cp err said
shares out >rounded && mv rounded out
is_out "min-cost: needs, and what is as cheap as they allow" <<EOF
a,v100,0.000000000
a,k80,0.000000000
b,v100,1.000000000
b,k80,0.000000000
g,k80,1.000000000
EOF
sed 's/bound=[0-9.]*/bound=some/; s/gap=[0-9.]*e-1[23456]/gap=small/; s/objective=1416[56].[69][0-9]*/objective=17.3600:4.32/' said >err
is_err "min-cost: steps per dollar" <<EOF
gv-alloc: policy=min-cost jobs=3 classes=3 types=2 objective=17.3600:4.32 bound=some gap=small
EOF
sed 's/,100$/,/' slo.csv >free.csv
run gv-alloc -v -p min-cost -c prices.csv free.csv
sed -i 's/=\(45000\|44999\)[0-9.]*/=45000/g; s/gap=[0-9.]*e-1[456]/gap=small/' err
is_err "min-cost: without deadlines the best ratio alone" <<EOF
gv-alloc: policy=min-cost jobs=3 classes=3 types=2 objective=45000 bound=45000 gap=small
EOF
shares out >rounded && mv rounded out
is_out "min-cost: which is not the fastest" <<EOF
a,v100,0.000000000
a,k80,0.000000000
b,v100,0.000000000
b,k80,0.000000000
g,k80,1.000000000
EOF
run gv-alloc -v --per-dollar -p min-cost -c prices.csv free.csv
sed -n 's/.* policy=\([^ ]*\).* objective=\([0-9]*\).*/\1 \2/p' err >rounded && mv rounded err
is_err "--per-dollar: gangs pay for one GPU" <<EOF
min-cost+per-dollar 100000
EOF
cut -d, -f9 out | sort -u >rounded && mv rounded out
is_out "--per-dollar is part of the name" <<EOF
min-cost+per-dollar
policy
EOF
cp out named
run gv-alloc -p min-cost+per-dollar -c prices.csv free.csv
cut -d, -f9 out | sort -u >rounded
same_file rounded named "and -p takes it"
run gv-alloc -p min-cost -c cluster.csv slo.csv
is_err "min-cost: no prices" <<EOF
gv-alloc: policy min-cost needs the usd_per_h of every GPU type; "v100" has none
gv-alloc: policy min-cost needs the usd_per_h of every GPU type; "k80" has none
EOF
is_status 2 "min-cost: no prices: status"
cat >late.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,elapsed_s,deadline_s,slo_factor
a,v100,10,1000,100,50,
b,v100,10,1000,0,50,
c,v100,10,300,0,50,
d,k80,1,300,0,,5
EOF
run gv-alloc -p max-sum -c cluster.csv -o none.csv late.csv
is_err "deadlines that cannot be met are named" <<EOF
gv-alloc: late.csv:2: job "a" cannot be done by its deadline: it is over
gv-alloc: late.csv:3: job "b" cannot be done by its deadline: it needs 20 steps/s, its fastest GPU type gives 10
gv-alloc: late.csv:4: job "c" cannot be done by its deadline: others need the GPUs, too
gv-alloc: with 2.6 times the time that is left the deadlines could be met (--relax-slo)
EOF
is_status 1 "deadlines that cannot be met: status"
ok "deadlines that cannot be met: no file" [ ! -e none.csv ]
run gv-alloc --relax-slo -p max-sum -c cluster.csv --dump-lp=p.lp late.csv
shares out >rounded
tail -n 1 err >last && mv last err
is_err "--relax-slo says by how much" <<EOF
gv-alloc: deadlines have 2.6 times the time that is left
EOF
mv rounded out
is_out "--relax-slo: the least relaxation" <<EOF
a,v100,0.000000000
b,v100,0.769230769
c,v100,0.230769231
d,k80,1.000000000
EOF
run gv-alloc -q --relax-slo -p max-sum -c cluster.csv late.csv
is_err "--relax-slo -q" </dev/null
{ head -n 1 late.csv && seq 12 | sed 's/.*/j&,v100,10,1000,100,50,/'; } >over.csv
run gv-alloc -p max-sum -c cluster.csv over.csv
tail -n 1 err >last && mv last err
is_err "ten are named, the others counted, late" <<EOF
gv-alloc: 2 more jobs cannot have what they need
EOF
is_status 1 "all deadlines are over: status"
printf 'job_id,gpu_type,steps_per_s,deadline_s\na,v100,1,5\n' >nosteps.csv
run gv-alloc -p max-sum -c cluster.csv nosteps.csv
is_err "a deadline for no steps" <<EOF
gv-alloc: nosteps.csv:1: missing column "total_steps" (found: job_id, gpu_type, steps_per_s, deadline_s)
EOF
printf 'job_id,gpu_type,steps_per_s,deadline_s,steps_remaining\na,v100,1,5,\nb,v100,1,,\n' >nosteps.csv
run gv-alloc -p max-sum -c cluster.csv nosteps.csv
is_err "a deadline for unknown steps" <<EOF
gv-alloc: nosteps.csv:2: steps_remaining: expected a number, got ""
EOF

# ---- --prices ----
cat >offers.csv <<EOF
gpu_type,usd_per_h,time_s,source
v100,3.6,0,east
v100,1.8,100,west
v100,7.2,200,west
k80,0.36,0,east
k80,36,150,east
tpu,1,0,east
EOF
printf 'gpu_type,gpus,usd_per_h\nv100,1,100\nk80,1,100\n' >dear.csv
printf 'job_id,gpu_type,steps_per_s\na,v100,1\nb,k80,.01\n' >two-types.csv
# cost [OPTION]: the steps per dollar that min-cost finds
cost() {
	run gv-alloc -v -p min-cost -c dear.csv "$@" two-types.csv
	sed 's/.*objective=\([^ ]*\) .*/\1/' err | awk '{ printf "%.6g\n", $1 }' >out
}
cost
is_out "without --prices: the cluster's" <<EOF
36
EOF
cost --prices=offers.csv --at=0
is_out "--prices --at: the first ones" <<EOF
1000
EOF
cost --prices=offers.csv --at=100
is_out "--prices --at: the lowest of two sources" <<EOF
2000
EOF
cost --prices=offers.csv
is_out "--prices: the last of each source" <<EOF
1000
EOF
awk 'NR == 1 { print; next } { row[n++] = $0 } END { while (n > 0) print row[--n] }' offers.csv >turned.csv
cost --prices=turned.csv
is_out "--prices: the last by its time, wherever it stands" <<EOF
1000
EOF
cost --prices=offers.csv --at=-1
is_out "--prices --at before the first: the cluster's" <<EOF
36
EOF
cost --prices=offers.csv --at=1970-01-01T00:01:40Z
is_out "--prices --at a date" <<EOF
2000
EOF
run gv-alloc -p min-cost -c dear.csv --prices=offers.csv --at=yesterday two-types.csv
err_has '--at: expected seconds or a date such as 2026-11-22T09:30, got "yesterday"' "--at neither"
printf 'gpu_type,usd_per_h\nv100,-1\n' >bad.csv
run gv-alloc -p min-cost -c dear.csv --prices=bad.csv two-types.csv
is_err "a negative price" <<EOF
gv-alloc: bad.csv:2: usd_per_h: expected a number >= 0, got "-1"
EOF
is_status 2 "a negative price: status"
printf 'gpu_type,price\nv100,1\n' >bad.csv
run gv-alloc -p min-cost -c dear.csv --prices=bad.csv two-types.csv
is_err "prices without prices" <<EOF
gv-alloc: bad.csv:1: missing column "usd_per_h" (found: gpu_type, price)
EOF
run gv-alloc -p min-cost -c dear.csv --prices=- -
err_has "only one input can be standard input" "prices and rates on standard input"

# ---- fifo, sjf ----
cat >queue.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor,arrival_s,total_steps
late,v100,9,1,30,10
late,k80,3,1,30,10
first,v100,8,1,10,1000
first,k80,4,1,10,1000
gang,k80,4,2,20,10
EOF
printf 'gpu_type,gpus\nv100,1\nk80,2\n' >three.csv
run gv-alloc -v -p fifo -c three.csv --dump-lp=p.lp queue.csv
cp err said
shares out >rounded && mv rounded out
is_out "fifo: by arrival, not by the table's order" <<EOF
late,v100,0.000000000
late,k80,0.000000000
first,v100,1.000000000
first,k80,0.000000000
gang,k80,1.000000000
EOF
sed 's/bound=5[0-9.]*/bound=5/; s/gap=[0-9.]*e-1[3456]/gap=small/' said >err
is_err "fifo: 3 + 2" <<EOF
gv-alloc: policy=fifo jobs=3 classes=3 types=2 objective=5 bound=5 gap=small
EOF
sed 's/^gang,k80,4,2/gang,k80,4,4/; s/^late,v100,9/late,v100,9/' queue.csv | sed 's/k80,3,1/k80,3,2/; s/v100,9,1/v100,9,2/' >wide.csv
printf 'gpu_type,gpus\nv100,1\nk80,4\n' >five.csv
sed '/^first,v100/d' wide.csv >blocked.csv
run gv-alloc -v -p fifo-greedy -c five.csv blocked.csv
is_out "fifo-greedy: who does not fit is not overtaken" <<EOF
job_id,gpu_type,steps_per_s,scale_factor,arrival_s,total_steps,share,policy
late,v100,9,2,30,10,0,fifo-greedy
late,k80,3,2,30,10,0,fifo-greedy
first,k80,4,1,10,1000,1,fifo-greedy
gang,k80,4,4,20,10,0,fifo-greedy
EOF
is_err "fifo-greedy: what fifo counts" <<EOF
gv-alloc: policy=fifo-greedy jobs=3 classes=3 types=2 objective=3
EOF
run gv-alloc -p fifo-greedy -c three.csv queue.csv
shares out >rounded && mv rounded out
is_out "fifo-greedy: whole GPUs of the fastest type left" <<EOF
late,v100,0.000000000
late,k80,0.000000000
first,v100,1.000000000
first,k80,0.000000000
gang,k80,1.000000000
EOF
run gv-alloc -v -p sjf -c three.csv queue.csv
is_out "sjf: the shortest first, then the next with what is left" <<EOF
job_id,gpu_type,steps_per_s,scale_factor,arrival_s,total_steps,share,policy
late,v100,9,1,30,10,1,sjf
late,k80,3,1,30,10,0,sjf
first,v100,8,1,10,1000,0,sjf
first,k80,4,1,10,1000,0,sjf
gang,k80,4,2,20,10,1,sjf
EOF
is_err "sjf: seconds of the first" <<EOF
gv-alloc: policy=sjf jobs=3 classes=3 types=2 objective=1.1111111111111112
EOF
printf 'job_id,gpu_type,steps_per_s,total_steps\na,k80,2,10\nb,k80,2,10\n' >alike.csv
printf 'gpu_type,gpus\nk80,1\n' >k80.csv
run gv-alloc -v -p sjf --solver=glpk -c k80.csv alike.csv
is_out "sjf: equal jobs share alike, whatever the solver" <<EOF
job_id,gpu_type,steps_per_s,total_steps,share,policy
a,k80,2,10,0.5,sjf
b,k80,2,10,0.5,sjf
EOF
run gv-alloc -v -p sjf -c cluster.csv -o /dev/null done.csv
is_err "sjf: all done" <<EOF
gv-alloc: policy=sjf jobs=1 classes=1 types=2 objective=0 bound=0 gap=0
EOF
run gv-alloc -p sjf -c cluster.csv rates.csv
is_err "sjf: no steps at all" <<EOF
gv-alloc: rates.csv:1: missing column "total_steps" (found: job_id, gpu_type, steps_per_s, note)
EOF

# ---- --agnostic ----
cat >one-runs.csv <<EOF
job_id,gpu_type,steps_per_s
a,v100,30
a,k80,3
b,v100,0
b,k80,5
EOF
run gv-alloc -v --agnostic -p max-sum -c cluster.csv one-runs.csv
is_out "--agnostic: nobody is sent where he cannot run" <<EOF
job_id,gpu_type,steps_per_s,share,policy
a,v100,30,1,max-sum+agnostic
a,k80,3,0,max-sum+agnostic
b,v100,0,0,max-sum+agnostic
b,k80,5,1,max-sum+agnostic
EOF
sed -i 's/ bound=.*//' err
is_err "--agnostic: a job's mean" <<EOF
gv-alloc: policy=max-sum+agnostic jobs=2 classes=2 types=2 objective=21.5
EOF
cp out plain-agnostic
run gv-alloc -p max-sum+agnostic -c cluster.csv one-runs.csv
same_file out plain-agnostic "-p takes the name with +agnostic"
run gv-alloc -p max-sum+agnostic+relax-slo -c cluster.csv one-runs.csv
sed -n 's/.*,//p' out | sort -u >rounded && mv rounded out
is_out "and with +relax-slo" <<EOF
max-sum+agnostic+relax-slo
policy
EOF

# ---- the linear program ----
run gv-alloc -p max-min -c cluster.csv --dump-lp=p.lp -o /dev/null rates.csv
silent "--dump-lp"
run cat p.lp
is_out "--dump-lp: the program" <<EOF
\\ policy max-min; x(i,j): share of job i on GPU type j
\\ type 1: "k80"
\\ type 2: "v100"
\\ job 1: "a"
\\ job 2: "b"
\\ job 3: "c"
Maximize
 obj: + 1 t

Subject To
 gpus(1): + 1 x(1,1) + 1 x(2,1) + 1 x(3,1) <= 1
 gpus(2): + 1 x(1,2) + 1 x(2,2) + 1 x(3,2) <= 1
 level(1): - 1 t + 0.4 x(1,1) + 1.6 x(1,2) >= 0
 time(1): + 1 x(1,1) + 1 x(1,2) <= 1
 level(2): - 1 t + 0.5 x(2,1) + 1.5 x(2,2) >= 0
 time(2): + 1 x(2,1) + 1 x(2,2) <= 1
 level(3): - 1 t + 0.6666666666666666 x(3,1) + 1.3333333333333333 x(3,2) >= 0
 time(3): + 1 x(3,1) + 1 x(3,2) <= 1

Bounds

End
EOF
run gv-alloc -p max-min -c cluster.csv --dump-lp=- -o /dev/null rates.csv
same_file out p.lp "--dump-lp=- with -o"
run gv-alloc -p max-min -c cluster.csv --dump-lp=no/such/p.lp -o kept.csv rates.csv
err_has "no/such/p.lp" "--dump-lp that cannot be written"
is_status 2 "--dump-lp that cannot be written: status"
ok "--dump-lp that cannot be written: no output either" [ ! -e kept.csv ]

# ---- usage ----
policies='max-min, water-filling, isolated, proportional, makespan, finish-time, max-sum, min-cost, min-cost+per-dollar, fifo, fifo-greedy, sjf, strategy-proof, allox, gandiva'
# bad NAME MESSAGE ARG...: a usage error
bad() {
	bad_name=$1
	printf 'gv-alloc: %s\n%s\n' "$2" "$usage" >message
	shift 2
	run gv-alloc "$@" </dev/null
	is_err "$bad_name" <message
	is_status 2 "$bad_name: status"
}
bad "no policy" "a policy is needed: -p POLICY" -c cluster.csv rates.csv
bad "no cluster" "a cluster is needed: -c CLUSTER" -p max-min rates.csv
bad "unknown policy" 'unknown policy "maxmin"; known: '"$policies" -p maxmin
bad "unknown solver" '--solver: unknown "cplex"; known: auto, glpk, price, interior' --solver=cplex
bad "two standard inputs" "only one input can be standard input" -p max-min -c -
bad "two standard inputs, -t" "only one input can be standard input" -p max-min -c - -t - jobs.csv
bad "--per-dollar of something else" "--per-dollar is an option of policy min-cost" \
	--per-dollar -p max-min -c cluster.csv rates.csv
bad "--relax-slo without deadlines" "--relax-slo: policy proportional has no deadlines" \
	--relax-slo -p proportional -c cluster.csv rates.csv
bad "an option that -p does not know" 'unknown policy "max-min+fast"; known: '"$policies" -p max-min+fast
bad "no program to dump" "--dump-lp: policy isolated is not a linear program" \
	-p isolated --dump-lp=x -c cluster.csv rates.csv
bad "a program into the table" "--dump-lp=-: standard output has the allocation" \
	-p max-min --dump-lp=- -c cluster.csv rates.csv
bad "two operands" "too many operands" -p max-min -c cluster.csv rates.csv rates.csv
bad "an option without its argument" 'option "-c" needs an argument' -p max-min -c
run gv-alloc --help
silent "--help"
ok "--help fits a terminal" awk 'length > 80 || NR > 48 { exit 1 }' out
sed -n '/--policy=POLICY/,/ or /p' out | sed 's/.*POLICY//' | tr -cs 'a-z+-' '\n' | grep -vx -e or -e '' >in-help
run gv-alloc -p what
sed -n 's/.*known: //p' err | sed 's/, /\n/g' >known
same_file in-help known "--help names all policies"


# ---- bad input ----
# wrong NAME TEXT MESSAGE: rates, and what is said of them
wrong() {
	printf '%b' "$2" >bad.csv
	echo "gv-alloc: $3" >message
	run gv-alloc -p max-min -c cluster.csv -o untouched.csv bad.csv
	is_err "$1" <message
	is_status 2 "$1: status"
	ok "$1: nothing written" [ ! -e untouched.csv ]
}
wrong "no header" '' 'bad.csv: expected a table with a header line, got nothing'
wrong "a column is missing" 'job_id,gpu_type\n' 'bad.csv:1: missing column "steps_per_s" (found: job_id, gpu_type)'
wrong "a rate that is none" 'job_id,gpu_type,steps_per_s\na,v100,fast\n' \
	'bad.csv:2: steps_per_s: expected a number, got "fast"'
wrong "a negative rate" 'job_id,gpu_type,steps_per_s\na,v100,-1\n' \
	'bad.csv:2: steps_per_s: expected a number >= 0, got "-1"'
wrong "a weight of 0" 'job_id,gpu_type,steps_per_s,priority_weight\na,v100,1,0\n' \
	'bad.csv:2: priority_weight: expected a number > 0, got "0"'
wrong "a weight that has lost its digits" 'job_id,gpu_type,steps_per_s,priority_weight\na,v100,1,1e-320\n' \
	'bad.csv:2: priority_weight: expected a number > 0, no smaller than 2.3e-308, got "1e-320"'
wrong "a gang of 0" 'job_id,gpu_type,steps_per_s,scale_factor\na,v100,1,0\n' \
	'bad.csv:2: scale_factor: expected a whole number from 1 to 1000000, got "0"'
wrong "a repeated row" 'job_id,gpu_type,steps_per_s\na,v100,1\na,v100,2\n' \
	'bad.csv:3: gpu_type: repeated row of job "a" on this type, first at line 2'
wrong "a pair" 'job_id,gpu_type,steps_per_s,with_job_id\na,v100,1,b\n' \
	'bad.csv:1: missing column "with_steps_per_s" (found: job_id, gpu_type, steps_per_s, with_job_id)'
wrong "numbers too far apart" 'job_id,gpu_type,steps_per_s,priority_weight\na,v100,1,1e-300\nb,v100,1,1e300\n' \
	'the numbers of this table are too far apart for double precision'
printf 'gpu_type,gpus,usd_per_h\nv100,1,1e-300\nk80,1,1\n' >cheap.csv
printf 'job_id,gpu_type,steps_per_s\na,v100,1e9\nb,k80,1\n' >dear.csv
run gv-alloc -p min-cost -c cheap.csv dear.csv
is_err "what becomes infinite on the way" <<EOF
gv-alloc: the numbers of this table are too far apart for double precision
EOF
run gv-alloc -p max-min -c nowhere.csv rates.csv
err_has "nowhere.csv" "a cluster that is not there"
is_status 2 "a cluster that is not there: status"
run gv-alloc -p max-min -c cluster.csv -t nowhere.csv jobs.csv
err_has "nowhere.csv" "throughputs that are not there"

# ---- a solver that is wrong ----
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: its runtime must come first"
else
	# lying HOW ARG...: with a GLPK that lies
	lying() {
		how=$1
		shift
		run env GV_GLPK="$how" LD_PRELOAD="$build/preload/glpk.so" gv-alloc -p max-min \
			-c cluster.csv "$@" rates.csv
	}
	lying none
	same_file out plain "the liar says the truth"
	lying exact
	same_file out plain "rational arithmetic is not asked without --certify"
	lying exact --certify
	near "nor with it, where the proof is our own"
	lying exact --certify -p water-filling -o none.csv
	is_err "rational arithmetic says no" <<EOF
gv-alloc: not proved in rational arithmetic
EOF
	is_status 1 "rational arithmetic says no: status"
	ok "rational arithmetic says no: no file" [ ! -e none.csv ]
	# small programs are then solved in many digits; of many jobs that all differ it is said
	awk 'BEGIN { print "job_id,gpu_type,steps_per_s"; for (i = 1; i <= 120; i++)
		printf "j%d,v100,%d\nj%d,k80,%d\n", i, 40 + i * 37 % 121, i, 10 + i * 53 % 117 }' >many.csv
	cp rates.csv few.csv
	same_shares() {
		paste -d, out plain | awk -F, '{ d = $(NF / 2 - 1) - $(NF - 1) } NR > 1 && d * d > 1e-24 { bad = 1 }
			END { exit bad || NR < 7 }'
	}
	for how in shares again duals abort; do
		lying $how --solver=glpk
		ok "$how: few jobs in many digits" same_shares
		silent "$how: proved"
	done
	cp many.csv rates.csv
	lying shares --solver=glpk
	is_err "shares that are a little too small: a warning" <<EOF
gv-alloc: not proved: the best objective may be larger by 5e-09 of itself
EOF
	is_status 0 "shares that are a little too small: status"
	lying shares --certify --solver=glpk
	is_status 1 "shares that are a little too small, --certify"
	is_out "shares that are a little too small, --certify: no table" </dev/null
	for policy in max-min max-sum; do # the last -p counts
		lying again -p $policy --solver=glpk -o again.csv
		is_status 0 "$policy: only the first program is solved"
		err_has 'gv-alloc: warning: no solver came to the end of the second program: other shares with the same objective may get more done' \
			"$policy: that is said"
		lying again -p $policy --solver=glpk -q -o again.csv
		ok "$policy: but not with -q" test ! -s err
	done
	awk 'BEGIN { print "job_id,gpu_type,steps_per_s,total_steps"; for (i = 1; i <= 120; i++)
		printf "j%d,v100,%d,%d\nj%d,k80,%d,%d\n", i, 40 + i * 37 % 121, 900 + i, i, 10 + i * 53 % 117, 900 + i }' >steps.csv
	run env GV_GLPK=again LD_PRELOAD="$build/preload/glpk.so" gv-alloc -p makespan --solver=glpk \
		-c cluster.csv -o again.csv steps.csv
	err_has 'no solver came to the end of the second program' "makespan, too"
	lying again -o again.csv
	silent "another solver comes to the end"
	for how in duals abort; do
		lying "$how"
		is_status 0 "$how: prices need no GLPK"
		lying "$how" --solver=glpk
		is_err "$how: no attempt gives an answer that passes" <<EOF
gv-alloc: the linear program of max-min: failed
EOF
		is_status 2 "$how: status"
	done
	cp few.csv rates.csv
fi
# ---- outputs ----
for twice in "--output --dump-lp" "--output --explain" "--dump-lp --explain" "--output --warm"; do
	run gv-alloc -p max-min -c cluster.csv "${twice% *}=same.csv" "${twice#* }=same.csv" rates.csv
	is_err "$twice: the same file" <<EOF
gv-alloc: ${twice% *} and ${twice#* } are the same file
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
done
for option in --dump-lp --explain; do
	run gv-alloc -q -p max-min -c cluster.csv $option=no/such rates.csv
	is_status 2 "$option that cannot be written: status"
	same_file out /dev/null "$option that cannot be written: no answer"
done
run gv-alloc -p max-min -c cluster.csv --at=3 rates.csv
is_err "--at without --prices" <<EOF
gv-alloc: --at is the time of --prices
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
printf 'gpu_type,gpus,usd_per_h\nv100,1,2\n' >v100.csv
printf 'job_id,gpu_type,steps_per_s\na,k80,1\n' >elsewhere.csv
run gv-alloc -q -p max-sum -c v100.csv --dump-lp=p.lp -o /dev/null elsewhere.csv
if have glpsol; then
	ok "--dump-lp without a job that can run: glpsol reads it" glpsol --lp p.lp
else
	skip "no glpsol"
fi
# ---- the mean of rates that add up to more than a double holds ----
printf 'job_id,gpu_type,steps_per_s\na,v100,1\na,k80,1.7e308\nb,v100,1\nb,k80,1\n' >vast.csv
printf 'gpu_type,gpus\nv100,1\nk80,2\n' >three_gpus.csv
for policy in strategy-proof proportional; do
	run timeout 10 gv-alloc -p $policy+agnostic -c three_gpus.csv -o /dev/null vast.csv
	is_status 0 "$policy+agnostic: rates near the largest number"
done
done_testing
