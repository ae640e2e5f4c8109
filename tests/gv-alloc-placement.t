#!/bin/sh
# gv-alloc: gangs on one node and on several are two speeds on the same GPUs.
. "${0%/*}/lib.sh"

cat >rates.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor
pair,v100,10,2
pair,v100_unconsolidated,6,2
wide,v100,20,4
wide,v100_unconsolidated,8,4
odd,v100,3,2
odd,v100_unconsolidated,5,2
one,v100,7,1
one,v100_unconsolidated,7,1
old,v100,9,4
EOF
# counting CLUSTER: the rows that have a share, of jobs that all can run all the time
counting() {
	run gv-alloc -q -p max-sum -c "$1" rates.csv
	awk -F, 'NR > 1 && $5 > 0 { print $1, $2, $5 }' out >rows && mv rows out
}
printf 'gpu_type,gpus\nv100,100\n' >flat.csv
counting flat.csv
is_out "where nothing is known of nodes, gangs are together" <<EOF
pair v100 1
wide v100 1
odd v100 1
one v100 1
old v100 1
EOF
{ echo gpu_type,gpus,node && seq 50 | sed 's/.*/v100,2,n&/'; } >two.csv
counting two.csv
is_out "on nodes of 2 GPUs a gang of 4 is spread, and who is faster so" <<EOF
pair v100 1
wide v100_unconsolidated 1
odd v100_unconsolidated 1
one v100 1
old v100 1
EOF
{ echo gpu_type,gpus,node && seq 100 | sed 's/.*/v100,1,n&/'; } >single.csv
counting single.csv
is_out "on nodes of 1 all gangs are" <<EOF
pair v100_unconsolidated 1
wide v100_unconsolidated 1
odd v100_unconsolidated 1
one v100 1
old v100 1
EOF
# both rows take the same GPUs: 4 of them, for pair (2) and wide (4)
printf 'gpu_type,gpus,node\nv100,2,a\nv100,2,b\n' >small.csv
head -n 5 rates.csv >few.csv
run gv-alloc -v --certify -p makespan -c small.csv --explain=why few.csv
is_status 2 "steps are asked for as ever"
awk -F, 'NR == 1 { print $0 ",total_steps" } NR > 1 { print $0 ",1000" }' few.csv >steps.csv
run gv-alloc -v --certify -p makespan -c small.csv --explain=why steps.csv
err_has "certified=yes" "proved"
# 2 x + 4 y = 4 with 10 x = 8 y: x = 8/14, y = 10/14, 1000 / (80/14) = 175
ok "they share the GPUs of their type" awk '{
	sub(/.*objective=/, ""); exit !($1 - 175 < 1e-9 && 175 - $1 < 1e-9) }' err
grep -c gpu_type,v100 why >out
is_out "which is one type" <<EOF
1
EOF
cp steps.csv asked.csv
run gv-alloc -p makespan -c small.csv asked.csv
awk -F, 'NR > 1 { printf "%s %s %.6f\n", $1, $2, $6 }' out >rows && mv rows out
is_out "rows keep their type" <<EOF
pair v100 0.571429
pair v100_unconsolidated 0.000000
wide v100 0.000000
wide v100_unconsolidated 0.714286
EOF
# a type of that name in the cluster is one of its own
printf 'gpu_type,gpus\nv100,4\nv100_unconsolidated,4\n' >own.csv
run gv-alloc -p max-sum -c own.csv few.csv
awk -F, 'NR > 1 { print $1, $2, $5 }' out >rows && mv rows out
is_out "a type of the cluster stays what it is" <<EOF
pair v100 0
pair v100_unconsolidated 1
wide v100 1
wide v100_unconsolidated 0
EOF

# gv-run has the same rows count
cat >shares.csv <<EOF
job_id,gpu_type,steps_per_s,scale_factor,share,command,total_steps
together,cpu,5,2,1,true,100
together,cpu_unconsolidated,9,2,0,true,100
spread,cpu_unconsolidated,3,2,1,true,100
EOF
printf 'gpu_type,gpus,threads\ncpu,4,1\n' >cpus.csv
run gv-run --dry-run -c cpus.csv shares.csv
cut -d, -f2-4 out | sort -u >rows && mv rows out
is_out "gv-run has the same rows count: one node, one row of its own" <<EOF
job_id,gpu_type,node
spread,cpu,
together,cpu,
EOF

printf 'gpu_type,gpus,node\nv100,1,n1\nv100,1,n2\n' >apart.csv
printf 'job_id,gpu_type,steps_per_s\na,v100,5\na,v100_unconsolidated,6\n' >one.csv
run gv-alloc -p max-sum -c apart.csv one.csv
is_out "one GPU is on one node" <<EOF
job_id,gpu_type,steps_per_s,share,policy
a,v100,5,1,max-sum
a,v100_unconsolidated,6,0,max-sum
EOF

# ---- Gavel's measurements ----
data=$shared/data/gavel
if [ ! -d "$data" ]; then
	skip "no shared data"
else
	head -n 61 "$data/trace_physical_max_min_fairness.csv" >jobs.csv
	for type in v100 p100 k80; do seq 4 | sed "s/.*/$type,8,$type-&/"; done >nodes
	{ echo gpu_type,gpus,node && cat nodes; } >eight.csv
	{ echo gpu_type,gpus,node && sed 's/,8,/,1,/' nodes && sed 's/,8,/,31,x/' nodes; } >mixed.csv
	for type in v100 p100 k80; do seq 32 | sed "s/.*/$type,1,$type-&/"; done >nodes
	{ echo gpu_type,gpus,node && cat nodes; } >ones.csv
	run gv-alloc -q -v -p max-sum -c eight.csv -t "$data/throughputs.csv" -o at8.csv jobs.csv
	together=$(sed 's/.*objective=\([^ ]*\).*/\1/' err)
	run gv-alloc -q -v -p max-sum -c ones.csv -t "$data/throughputs.csv" -o at1.csv jobs.csv
	apart=$(sed 's/.*objective=\([^ ]*\).*/\1/' err)
	ok "GPUs on nodes of their own are worth less" awk -v a="$together" -v b="$apart" \
		'BEGIN { exit !(b > 0 && b < a) }'
	ok "there no gang that was measured spread is together" awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["scale_factor"] > 1 && $at["share"] > 0 && $at["gpu_type"] ~ /00$/ { bad = 1 }
		END { exit bad }' at1.csv
fi
done_testing
