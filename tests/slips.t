#!/bin/sh
# What can be read and was probably meant otherwise is warned about by name;
# tables of another kind are told what they are.  Nothing is said where nothing
# is wrong.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .

printf 'gpu_type,gpus,node\nV100,4,n\nK80,2,n\n' >cluster2.csv
# alloc POLICY TABLE [OPTION...]: the table comes from stdin
alloc() {
	policy=$1 table=$2
	shift 2
	cat >"$table"
	run gv-alloc -p "$policy" -c cluster2.csv "$@" "$table"
}

# ---- GPU types ----
alloc max-min r.csv <<E
job_id,gpu_type,steps_per_s
a,v100,1
b,k80,2
b,v100,2
E
is_status 1 "none of the types is in the cluster: status"
is_err "both lists of types" <<E
gv-alloc: r.csv: no GPU type of it is in the cluster: it has v100, k80; the cluster has V100, K80
E
[ ! -s out ]
is_status 1 "no shares of 0"
alloc max-min r.csv <<E
job_id,gpu_type,steps_per_s
a,V100,1
a,k80,1
a,P100,1
a,k80_unconsolidated,1
E
is_err "one type that is spelled otherwise; others are nobody's business" <<E
gv-alloc: warning: r.csv:3: gpu_type: the cluster has no "k80"; is "K80" meant?
E
is_status 0 "a warning is no failure"
printf 'job_id,gpu_type,steps_per_s,share,command\na,v100,1,1,true\n' >allocation2.csv
run gv-run --dry-run -c cluster2.csv allocation2.csv
is_err "gv-run says so, too" <<E
gv-run: warning: allocation2.csv:2: gpu_type: the cluster has no "v100"; is "V100" meant?
gv-run: job "a" would be dropped: it has no rate above 0 on a GPU type of the cluster
E

# ---- columns ----
alloc max-min r.csv <<E
job_id,gpu_type,steps_per_s,priority_wieght,scalefactor,Deadline,note
a,V100,1,1,1,1,1
b,V100,1,1,1,1,1
E
is_err "columns that look like known ones, once a table" <<E
gv-alloc: warning: r.csv:1: column "priority_wieght" is not known; is "priority_weight" meant?
gv-alloc: warning: r.csv:1: column "scalefactor" is not known; is "scale_factor" meant?
gv-alloc: warning: r.csv:1: column "Deadline" is not known; is "deadline_s" meant?
E
run gv-alloc -q -p max-min -c cluster2.csv r.csv
is_err "not with --quiet" </dev/null
alloc max-min r.csv <<E
job_id,gpu_type,steps_per_s,scale_factor,scalefactor,shard,model,steps,weight,mode,user,rank,id
a,V100,1,1,1,1,1,1,1,1,1,1,1
E
is_err "columns of one's own, also beside the known one" </dev/null
printf 'job_type,command,Job-ID\na,true,x\n' >jobs2.csv
run gv-profile jobs -c cluster2.csv jobs2.csv
is_err "where one must be there" <<E
gv-profile: jobs2.csv:1: missing column "job_id" (found: job_type, command, Job-ID); column "Job-ID" looks like it
E
printf 'gpu_type,gpus,nodes\nV100,4,n\n' >cluster3.csv
run gv-alloc -p max-min -c cluster3.csv r.csv
is_err "columns of a cluster" <<E
gv-alloc: warning: cluster3.csv:1: column "nodes" is not known; is "node" meant?
E
# with one name misspelt a table of rates has the columns of another kind
printf 'job_id,command,gpu_type,steps_per_sec\na,true,V100,1\n' >r.csv
run gv-alloc -p max-min -c cluster2.csv r.csv
is_err "a misspelt column that must be there" <<E
gv-alloc: r.csv:1: missing column "steps_per_s" (found: job_id, command, gpu_type, steps_per_sec); column "steps_per_sec" looks like it
E

# ---- entities ----
alloc water-filling r.csv <<E
job_id,gpu_type,steps_per_s,entity
a,V100,1,vision
b,V100,1,Vision
c,V100,1,speech
d,V100,1,Vision
e,V100,1,
E
is_err "entities alike" <<E
gv-alloc: warning: r.csv:3: entity: "Vision" is another entity than "vision" at line 2
E

printf 'entity,weight,Parent\nvision,2,\nSPEECH,1,\n' >names.csv
alloc water-filling r.csv --entities=names.csv <<E
job_id,gpu_type,steps_per_s,entity
a,V100,1,vision
b,V100,1,speech
c,V100,1,sales
E
is_err "entities that the table of entities has under a name like it" <<E
gv-alloc: warning: names.csv:1: column "Parent" is not known; is "parent" meant?
gv-alloc: warning: r.csv:3: entity: names.csv has no "speech"; is "SPEECH" meant?
E
printf 'entity,weight\na,2\nb,1\n' >names.csv
alloc water-filling r.csv --entities=names.csv <<E
job_id,gpu_type,steps_per_s,entity
a,V100,1,A
b,V100,1,
E
is_err "names of one letter, and none" <<E
gv-alloc: warning: r.csv:2: entity: names.csv has no "A"; is "a" meant?
E

# ---- what a policy does not look at ----
alloc proportional r.csv <<E
job_id,gpu_type,steps_per_s,deadline_s,slo_factor,min_steps_per_s
a,V100,1,,,.5
b,V100,1,5,,
c,V100,1,,2,0
E
is_err "deadlines" <<E
gv-alloc: warning: r.csv:2: min_steps_per_s: policy proportional does not look at it
gv-alloc: warning: r.csv:3: deadline_s: policy proportional does not look at it
gv-alloc: warning: r.csv:4: slo_factor: policy proportional does not look at it
E
alloc max-min r.csv --entities=weights.csv <<E
job_id,gpu_type,steps_per_s
a,V100,1
E
printf 'entity,weight\nx,2\n' >weights.csv
printf 'gpu_type,usd_per_h,time_s\nV100,2,0\nK80,1,0\n' >prices.csv
alloc water-filling r.csv --entities=weights.csv --prices=prices.csv --at=0 <<E
job_id,gpu_type,steps_per_s
a,V100,1
E
is_err "options" <<E
gv-alloc: warning: --prices changes nothing: policy water-filling does not look at what GPUs cost
gv-alloc: warning: --entities changes nothing: r.csv has no column "entity"
E
run gv-alloc -p isolated -c cluster2.csv --solver=glpk r.csv
echo "gv-alloc: warning: --solver changes nothing: policy isolated has none" | is_err "--solver"
{
	echo job_id,gpu_type,steps_per_s
	for i in $(seq 12); do echo "a$i,gpu-$i,1"; done
	echo b,V100,1
} >many.csv
{ cat cluster2.csv && for i in $(seq 12); do echo "GPU_$i,1,n"; done; } >wide.csv
run gv-alloc -p isolated -c wide.csv many.csv
[ "$(grep -c 'the cluster has no' err)" -eq 10 ] && grep -q 'warning: 2 more warnings' err || status=1
is_status 0 "ten warnings, and how many more"
# weights: the warning is there just where they change nothing
printf 'gpu_type,gpus,usd_per_h\nV100,1,2\nK80,1,1\n' >cluster2.csv
for weights in '1 1 1' '1 5 9'; do
	# shellcheck disable=SC2086
	set -- $weights
	cat >"w$3.csv" <<E
job_id,gpu_type,steps_per_s,priority_weight,total_steps
a,V100,4,$1,90
a,K80,1,$1,90
b,V100,3,$2,70
b,K80,2,$2,70
c,V100,5,$3,100
c,K80,2,$3,100
E
done
for policy in $(gv-alloc -p x -c x 2>&1 | sed -n 's/.*known: //p' | tr -d ,); do
	gv-alloc -q -p "$policy" -c cluster2.csv w1.csv | cut -d, -f1-3,6 >without
	run gv-alloc -p "$policy" -c cluster2.csv w9.csv
	cut -d, -f1-3,6 out >with
	said=no
	! grep -q 'priority_weight: policy .* does not look at it' err || said=yes
	same=yes
	cmp -s without with || same=no
	[ $said = $same ] || status=1
	is_status 0 "$policy: weights are warned about where they change nothing"
done

# ---- tables of another kind ----
# told FILE TEXT COMMAND...: the command says so about the file
told() {
	file=$1 text=$2
	shift 2
	run "$@"
	is_status 2 "$file: status"
	err_has "$file:1: $text" "$file: $*"
}
told events.csv 'this is an events table; expected a table of rates (job_id, gpu_type, steps_per_s)' \
	gv-alloc -p max-min -c cluster.csv events.csv
told jobs.csv 'this is a jobs table; expected a cluster (gpu_type, gpus)' gv-alloc -p max-min -c jobs.csv rates.csv
told cluster.csv 'this is a cluster; expected a jobs table (job_id, command)' \
	gv-profile jobs -c cluster.csv cluster.csv
told layers.csv 'this is a table of layers; expected a table of throughputs' \
	gv-alloc -p max-min -t layers.csv -c cluster.csv jobs.csv
told rates.csv 'this is a table of rates; expected a table of layers' gv-partition -l 2@10Gb/s rates.csv
told cluster.csv 'this is a cluster; expected a model' gv-train --data=digits:1 --steps=1 cluster.csv
told rates.csv 'this is a table of rates; expected a table of pairs' \
	gv-alloc -p max-min -c cluster.csv --space-sharing=rates.csv rates.csv
told jobs.csv 'this is a jobs table; expected remembered prices' \
	gv-alloc -p max-min -c cluster.csv --warm=jobs.csv rates.csv
told events.csv 'this is an events table; expected a jobs table' \
	gv-sim -c cluster.csv -t throughputs.csv -p 'gv-alloc -p max-min' events.csv
told cluster.csv 'this is a cluster; expected a table of changes' \
	gv-sim -c cluster.csv -t throughputs.csv -p 'gv-alloc -p max-min' --changes=cluster.csv jobs.csv
for kind in events:'an events table' cluster:'a cluster' layers:'a table of layers' links:'a table of links' \
	pairs:'a table of pairs' edges:'a table of edges' trees:'a table of trees' throughputs:'a table of throughputs'; do
	told "${kind%%:*}.csv" "this is ${kind#*:}; expected a trace of jobs (job_id, arrival_s, total_steps)" \
		gv-trace scale --load=2 "${kind%%:*}.csv"
done
gv-run --dry-run -c cluster.csv allocation.csv >rounds.csv
told rounds.csv 'this is a dry run; expected a trace of jobs' gv-trace scale --load=2 rounds.csv
gv-trace check -t throughputs.csv -c cluster.csv jobs.csv >problems.csv
told problems.csv 'this is a list of problems; expected a trace of jobs' gv-trace scale problems.csv
told layers.csv 'this is a table of layers; expected a table of edges' \
	gv-partition -l 2@10Gb/s -e layers.csv layers.csv
told layers.csv 'this is a table of layers; expected a plan' gv-partition -l 2@10Gb/s --evaluate layers.csv
told layers.csv 'this is a table of layers; expected a plan' \
	gv-partition -l 2@10Gb/s --compare=layers.csv layers.csv
told cluster.csv 'this is a cluster; expected a table of levels' gv-partition --levels=cluster.csv layers.csv
told links.csv 'this is a table of links; expected a table of speeds' \
	gv-partition -p 2bw -l 2@10Gb/s --batch=2 --speeds=links.csv layers.csv
told layers.csv 'this is a table of layers; expected a table of transformers' gv-partition -p ptd-p layers.csv
told cluster.csv 'this is a cluster; expected a table of GPU types' \
	gv-partition -p ptd-p --gpu-types=cluster.csv transformers.csv
tr , ';' <rates.csv >semicolons.csv
told semicolons.csv 'cells are separated by semicolons; expected commas or tabs' \
	gv-alloc -p max-min -c cluster.csv semicolons.csv
is_err "once" <<E
gv-alloc: semicolons.csv:1: cells are separated by semicolons; expected commas or tabs
E

printf 'timestamp;cloud;price_usd_h\n2020-01-01;aws;1\n' >spot.csv
told spot.csv 'cells are separated by semicolons; expected commas or tabs' gv-trace prices spot.csv
printf 'time_s,event,job_id,gpu_type,gpus\n0,start,a,v100,0;1\n' >happened.csv
told happened.csv 'this is an events table; expected a cluster' gv-alloc -p max-min -c happened.csv rates.csv
told links.csv 'this is a table of links; expected a table of edges' \
	gv-partition -l 2@10Gb/s -e links.csv layers.csv
printf 'gpu_type,gpus,usd_per_hour\ncpu2,2,3\ncpu1,2,1\n' >dear.csv
run gv-alloc -p max-min -c dear.csv rates.csv
is_err "a unit that is written out" <<E
gv-alloc: warning: dear.csv:1: column "usd_per_hour" is not known; is "usd_per_h" meant?
E

# ---- models ----
shipped=$(find "$src/share/models" -name '*.tsv' | sed 's|.*/||; s|\.tsv$||' | sort | paste -sd, | sed 's/,/, /g')
for command in 'gv-train --data=digits:1 --steps=1' 'gv-profile layers'; do
	run $command resnet
	echo "${command%% *}: resnet: there is no such file and no such model; shipped are $shipped" |
		is_err "a model that is not there: ${command%% *}"
done
mkdir -p none/models
run env GV_DATA=none gv-train --data=digits:1 --steps=1 resnet
echo "gv-train: resnet: there is no such file, and no models in none/models" | is_err "none are"
# a dry run ends as the run would
printf 'gpu_type,gpus\nV100,4\n' >cluster.csv
printf 'job_id,total_steps,command,gpu_type,steps_per_s,share\na,10,true,v100,1,1\n' >jobs.csv
run gv-run -q -n -c cluster.csv jobs.csv
is_status 1 "a dry run in which a job is dropped"
echo 'gv-run: job "a" would be dropped: it has no rate above 0 on a GPU type of the cluster' | is_err "says so"
run gv-partition -q -l 4@10Gbit/s "$src/examples/man/layers.csv"
is_status 0 "bits are spelled out"
done_testing
