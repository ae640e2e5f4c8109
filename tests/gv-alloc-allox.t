#!/bin/sh
# gv-alloc -p allox: who is first on which GPU, and its messages.  Whether it is the
# least average is in unit/gv-alloc.allox.c.
. "${0%/*}/lib.sh"

printf 'gpu_type,gpus\nv100,1\nk80,1\n' >cluster.csv
cat >rates.csv <<E
job_id,gpu_type,steps_per_s,total_steps
long,v100,10,1000
long,k80,1,1000
mid,v100,10,300
mid,k80,2,300
short,v100,10,100
short,k80,4,100
E
run gv-alloc -v -p allox -c cluster.csv rates.csv
is_out "the middle one before the long one, the short one on the slow GPU" <<E
job_id,gpu_type,steps_per_s,total_steps,share,policy
long,v100,10,1000,0,allox
long,k80,1,1000,0,allox
mid,v100,10,300,1,allox
mid,k80,2,300,0,allox
short,v100,10,100,0,allox
short,k80,4,100,1,allox
E
is_err "on average: 30 s and 130 s on the one, 25 s on the other" <<E
gv-alloc: policy=allox jobs=3 classes=3 types=2 objective=61.666666666666664 bound=61.666666666666664 gap=0
E
printf 'job_id,gpu_type,steps_per_s,total_steps,scale_factor\na,v100,1,9,1\nb,v100,1,9,2\n' >gang.csv
printf 'gpu_type,gpus\nv100,4\n' >four.csv
run gv-alloc -p allox -c four.csv gang.csv
is_err "a gang" <<E
gv-alloc: allox: only jobs of one GPU; a job here needs 2 at once
E
is_status 2 "a gang: status"
printf 'gpu_type,gpus\nv100,1\n' >one.csv
{ echo job_id,gpu_type,steps_per_s,total_steps && seq 10000 | sed 's/.*/&,v100,1,9/'; } >many.csv
run gv-alloc -p allox -c one.csv many.csv
is_err "too many" <<E
gv-alloc: allox: too many jobs: 10000 wait for 1 GPUs; --alpha=A looks at fewer
E
is_status 2 "too many: status"
# firsts ARG...: who gets what all the time
firsts() {
	run gv-alloc -p allox -c cluster.csv "$@"
	awk -F, 'NR > 1 && $(NF - 1) == 1 { print $1, $2 }' out >got && mv got out
}
firsts --alpha=.01 many.csv
silent "--alpha: not too many"
is_out "--alpha: who came first" <<E
1 v100
E
sed '1s/$/,arrival_s/; 2,3s/$/,2/; 4,5s/$/,3/; 6,7s/$/,1/' rates.csv >came.csv
firsts --alpha=.5 came.csv
is_out "--alpha: of the two who came first, for two GPUs, one after the other" <<E
short v100
E
firsts came.csv
is_out "--alpha: without it all are looked at" <<E
mid v100
short k80
E
gv-alloc -p allox --alpha=.5 -c cluster.csv -o again.csv came.csv
firsts again.csv
is_out "a job that is started stays, and nobody waits for its GPU" <<E
mid k80
short v100
E
sed '/^short/s/,100,1,/,0,1,/' again.csv >done.csv
firsts done.csv
is_out "until it is done" <<E
mid v100
E
# bad NAME MESSAGE ARG...: a usage error
bad() {
	printf 'gv-alloc: %s\n%s\n' "$2" \
		'usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]' >message
	bad_name=$1
	shift 2
	run gv-alloc "$@" -c cluster.csv rates.csv
	is_err "$bad_name" <message
	is_status 2 "$bad_name: status"
}
bad "--alpha: another policy" "--alpha is an option of policy allox" -p sjf --alpha=.5
bad "--alpha: 0" "--alpha: expected a number above 0" -p allox --alpha=0
printf 'job_id,gpu_type,steps_per_s\na,v100,1\n' >none.csv
run gv-alloc -p allox -c cluster.csv none.csv
is_status 2 "no steps: status"
err_has 'missing column "total_steps"' "no steps"
done_testing
