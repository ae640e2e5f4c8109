#!/bin/sh
# gv-alloc: jobs that name their nodes are promised GPUs of these, as gv-run runs them.
. "${0%/*}/lib.sh"

cat >cluster.csv <<EOF
gpu_type,gpus,node
v100,4,n1
v100,2,n2
k80,2,n1
EOF
cat >rates.csv <<EOF
job_id,scale_factor,node,command,gpu_type,steps_per_s
a,1,n1,true,v100,10
a,1,n1,true,k80,2
b,4,n1,true,v100,20
b,4,n1,true,k80,4
c,1,n2,true,v100,10
c,1,n2,true,k80,2
d,2,n2,true,v100,16
d,2,n2,true,k80,3
EOF
run gv-alloc -p max-min -c cluster.csv rates.csv
silent "each node for itself"
cp out allocation.csv
is_out "what nodes have" <<EOF
job_id,scale_factor,node,command,gpu_type,steps_per_s,share,policy
a,1,n1,true,v100,10,1,max-min
a,1,n1,true,k80,2,0,max-min
b,4,n1,true,v100,20,0.75,max-min
b,4,n1,true,k80,4,0,max-min
c,1,n2,true,v100,10,1,max-min
c,1,n2,true,k80,2,0,max-min
d,2,n2,true,v100,16,0.5,max-min
d,2,n2,true,k80,3,0,max-min
EOF
# what a job makes of an equal part of the cluster is the same wherever it runs
run gv-alloc -q -p max-min -c cluster.csv --certify --explain=why.csv -o /dev/null rates.csv
is_status 0 "--certify"
cut -d, -f1,2,5,7 why.csv | grep -e ^job -e ^gpu_type >out
is_out "levels are of the whole cluster; pools have names of their own" <<EOF
gpu_type,v100@n1,,4
gpu_type,v100@n2,,2
gpu_type,k80@n1,,2
gpu_type,k80@n2,,0
job,a,1.25,1
job,b,3.75,1
job,c,1.25,1
job,d,1.2549019607843137,1
EOF
for node in n1 n2; do
	run gv-run -n --node=$node -c cluster.csv allocation.csv
	silent "gv-run on $node takes it"
done
sed 's/^\([^,]*,[^,]*\),n.,/\1,,/' rates.csv >free.csv
cut -d, -f1,2,4- rates.csv >none.csv
run gv-alloc -q -p max-min -c cluster.csv free.csv
cut -d, -f1,7 out >shares
run gv-alloc -q -p max-min -c cluster.csv none.csv
cut -d, -f1,6 out >without
same_file shares without "a column without a node changes nothing"
printf 'gpu_type,gpus,node\nv100,4,n1\nk80,2,n1\n' >one.csv
run gv-alloc -q -p max-min -c one.csv rates.csv
is_status 0 "one node: all are there"

# ---- a node is as a cluster of its own ----
sed 's/true/100/; 1s/command/total_steps/' rates.csv >steps.csv
run gv-alloc -q -p max-sum -c cluster.csv steps.csv
cp out both
differ=0
for node in n1 n2; do
	grep -e gpu_type -e ,$node cluster.csv | cut -d, -f1,2 >own.csv
	grep -e job_id -e ,$node, steps.csv | cut -d, -f1,2,4- >own-jobs.csv
	gv-alloc -q -p max-sum -c own.csv own-jobs.csv | awk -F, 'NR > 1 { print $1, $4, $5 * $6 }' >alone
	grep ,$node, both | awk -F, '{ print $1, $5, $6 * $7 }' >here
	cmp -s alone here || differ=$((differ + 1))
done
ran="max-sum" status=0
ok "sums are those of each node alone" [ "$differ" -eq 0 ]

sed '3d; 2s/v100,10/k80,2/; 2s/n1//' rates.csv >only.csv
run gv-alloc -q -p max-sum -c cluster.csv only.csv
cut -d, -f1,5,7 out | sed -n 2p >first && mv first out
is_out "a job whose GPUs are all of one node need not name it" <<EOF
a,k80,1
EOF
{ cat rates.csv && echo never,1,,true,t4,5; } >never.csv
run gv-alloc -q -p max-min -c cluster.csv never.csv
is_status 0 "neither need one that can run nowhere"
printf 'gpu_type,gpus,node\nv100,4,n1\nv100,2,\nk80,2,n1\n' >mixed.csv
run gv-alloc -q -p max-min -c mixed.csv rates.csv
is_status 0 "where some GPUs have no node, nodes do not count"

# wrong NAME TABLE MESSAGE OPTION...
wrong() {
	name=$1 table=$2 message=$3
	shift 3
	run gv-alloc -p max-min -c cluster.csv "$@" "$table"
	echo "gv-alloc: $message" | is_err "$name"
	is_status 2 "$name: status"
}
sed '2,3s/n1//' rates.csv >some.csv
wrong "one without a node" some.csv 'some.csv:2: node: job "a" has no node and could run on several; others have one'
sed '8,9s/n2/n3/' rates.csv >other.csv
wrong "a node that is not there" other.csv 'other.csv:8: node: the cluster has no node "n3"'
wrong "--previous" rates.csv 'rates.csv: --previous does not go together with jobs that name their nodes' --previous=allocation.csv
wrong "--stay" rates.csv 'rates.csv: --previous does not go together with jobs that name their nodes' --stay=.1
wrong "--warm" rates.csv 'rates.csv: --warm does not go together with jobs that name their nodes' --warm=prices
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\na,c,1,v100,8,8\n' >pairs.csv
wrong "--space-sharing" rates.csv 'rates.csv: --space-sharing does not go together with jobs that name their nodes' --space-sharing=pairs.csv
cat >with.csv <<EOF
job_id,node,gpu_type,steps_per_s,with_job_id,with_steps_per_s
a,n1,v100,10,,
c,n1,v100,10,,
a,n1,v100,8,c,8
EOF
wrong "pairs among the rates" with.csv 'with.csv:4: with_job_id: jobs that name their nodes share no GPUs'
cat >spread.csv <<EOF
job_id,scale_factor,node,gpu_type,steps_per_s
g,4,n2,v100,10
g,4,n2,v100_unconsolidated,9
h,1,n2,v100,9
EOF
run gv-alloc -q -p max-min -c cluster.csv spread.csv
cut -d, -f1,4,6 out >shares && mv shares out
is_out "a gang of a node does not lie on others" <<EOF
job_id,gpu_type,share
g,v100,0
g,v100_unconsolidated,0
h,v100,1
EOF

# ---- a node for each job ----
run gv-alloc -v -p max-min -c cluster.csv --nodes none.csv
is_status 0 "--nodes"
is_out "each job has a node, and shares of its GPUs alone" <<EOF
job_id,scale_factor,command,gpu_type,steps_per_s,node,share,policy
a,1,true,v100,10,n2,1,max-min
a,1,true,k80,2,n2,0,max-min
b,4,true,v100,20,n1,0.75,max-min
b,4,true,k80,4,n1,0,max-min
c,1,true,v100,10,n1,1,max-min
c,1,true,k80,2,n1,0,max-min
d,2,true,v100,16,n2,0.5,max-min
d,2,true,k80,3,n2,0,max-min
EOF
err_has ' objective=1.25 ' "-v says what comes of it"
err_has ' together=1.25' "and what would if all were one node"
cp out chosen.csv
# held against what all GPUs on one node would give, where that is of the same kind
awk -F, -v OFS=, '{ print $0, NR == 1 ? "total_steps" : 1000 * (1 + int(NR / 2)) }' none.csv >steps.csv
for policy in max-min water-filling max-sum finish-time; do
	run gv-alloc -q -v -p $policy -c cluster.csv --nodes steps.csv
	ok "$policy: no choice of nodes beats one node" awk -v less="$([ $policy = finish-time ] && echo 1 || echo 0)" '
		{ sub(/.* objective=/, ""); o = $1 + 0; sub(/.* together=/, ""); t = $0 + 0 }
		END { exit !(o > 0 && t > 0 && (less ? t <= o * (1 + 1e-9) : t >= o * (1 - 1e-9))) }' err
done
run gv-alloc -q -v -p fifo -c cluster.csv --nodes steps.csv
ok "fifo: what jobs have alone is not the same" sh -c 'grep -q objective= err && ! grep -q together= err'
# a is alone on its node: what it has there is twice the half of all that it is compared with
printf 'gpu_type,gpus,node\nv100,2,n1\nv100,2,n2\n' >halves.csv
printf 'job_id,gpu_type,steps_per_s,total_steps,node\na,v100,1,100,n1\nb,v100,1,100,n2\nc,v100,1,100,n2\nd,v100,1,100,n2\ne,v100,1,100,n2\nf,v100,1,100,n2\n' >finish.csv
for how in "" --certify --solver=price --solver=glpk; do
	# shellcheck disable=SC2086 # an option, or none
	run gv-alloc -q -v -p finish-time -c halves.csv $how finish.csv
	err_has ' objective=1.66666666' "finish-time compares with a part of the whole cluster${how:+, $how}"
done
run gv-alloc -q -p finish-time -c halves.csv --explain=- -o /dev/null finish.csv
awk -F, '{ printf "%s %.6g %.6g\n", $2, $5, $11 }' out | sed -n '3,6p' >explained && mv explained out
is_out "so does --explain, also with one GPU more" <<EOF
v100@n1 0 0
v100@n2 0 -0.555556
a 0.666667 0
b 1.66667 0
EOF
for node in n1 n2; do gv-run -n --node=$node -c cluster.csv chosen.csv | cut -d, -f2 | sed 1d | sort -u >on.$node; done
ran="gv-run -n on each node"
sort on.n1 on.n2 >got
printf '%s\n' a b c d >want
same_file want got "gv-run on each node: every job on one of them"
sed '/^[bd]/s/,n.,/,,/' rates.csv >half.csv
run gv-alloc -q -p max-min -c cluster.csv --nodes half.csv
cut -d, -f1,3 out | sed 1d | sort -u >got
printf '%s\n' a,n1 b,n1 c,n2 d,n2 >want
same_file want got "a job that names its node has that"
printf 'job_id,scale_factor,gpu_type,steps_per_s\nx,1,v100,1\nhuge,5,v100,1\n' >huge.csv
run gv-alloc -p max-min -c cluster.csv --nodes huge.csv
err_has 'huge.csv:3: job "huge" can never run: it needs 5 GPUs of one type, the largest pool it has a rate on has 4' \
	"a gang larger than any node can never run"
run gv-alloc -q -p max-min -c one.csv --nodes none.csv
cp out got
run gv-alloc -q -p max-min -c one.csv none.csv
same_file out got "one node: nothing to choose"
run gv-alloc -p max-min -c mixed.csv --nodes none.csv
is_status 2 "GPUs without a node"
is_err "are an error" <<EOF
gv-alloc: mixed.csv: --nodes: GPUs of type "v100" have no node
EOF
for option in --previous=allocation.csv --stay=.1 --warm=prices --space-sharing=pairs.csv; do
	run gv-alloc -p max-min -c cluster.csv --nodes $option none.csv
	name=${option%%=*}
	[ "$name" != --stay ] || name=--previous
	err_has "gv-alloc: --nodes does not go together with $name" "$option"
done
# against the best of all ways to put five jobs on three nodes; c does not fit on the third
cat >three.csv <<EOF
gpu_type,gpus,node
v100,2,n1
k80,4,n1
v100,4,n2
k80,1,n3
v100,1,n3
EOF
cat >five.csv <<EOF
job_id,scale_factor,gpu_type,steps_per_s
a,1,v100,9
a,1,k80,2
b,2,v100,11
b,2,k80,7
c,4,v100,17
c,4,k80,16
d,1,v100,5
d,1,k80,4
e,1,v100,8
e,1,k80,3
EOF
objective() { sed -n 's/.* objective=\([^ ]*\) .*/\1/p' err; }
ways() { awk 'BEGIN { for (i = 0; i < 243; i++) { s = ""; for (k = 0; k < 5; k++) s = s int(i / 3 ^ k) % 3 + 1; if (s !~ /^.[3]|^..3/) print s } }'; }
for policy in max-min max-sum; do
	run gv-alloc -v -p $policy -c three.csv --nodes five.csv
	chosen=$(objective) best=0
	for way in $(ways); do
		awk -F, -v OFS=, -v way="$way" 'NR == 1 { print $0, "node"; next } { print $0, "n" substr(way, index("abcde", $1), 1) }' five.csv >way.csv
		gv-alloc -v -p $policy -c three.csv way.csv >way.out 2>err
		best=$(awk -v a="$(objective)" -v b="$best" 'BEGIN { print (a + 0 > b + 0 ? a : b) }')
	done
	ran="gv-alloc -p $policy --nodes: $chosen, the best of all $best"
	ok "$policy: within 10 % of the best of all ways: $chosen of $best" awk "BEGIN { exit !($chosen >= .9 * $best && $best > 0) }"
done
# what it takes grows with what jobs can have, not with all types on all nodes
awk 'BEGIN { print "gpu_type,gpus,node"; for (k = 0; k < 500; k++) printf "t%d,8,n%d\n", k * 7 % 4, k }' >large.csv
awk 'BEGIN {
	print "job_id,gpu_type,steps_per_s,scale_factor"
	for (i = 0; i < 3000; i++)
		for (t = 0; t < 4; t++)
			printf "j%d,t%d,%g,%d\n", i, t, 1 + (i * 37 + t * 101) % 97 / 10, i % 5 == 0 ? 4 : 1
}' >crowd.csv
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: needs more memory"
else
	run sh -c 'ulimit -v 300000 && gv-alloc -qv -p max-min -c large.csv --nodes crowd.csv'
	ok "3,000 jobs on 500 nodes need less than 300 MB" sh -c 'grep -q " objective=" err && [ "$(wc -l <out)" = 12001 ]'
fi
done_testing
