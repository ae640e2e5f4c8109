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
{ echo job_id,gpu_type,steps_per_s,total_steps && seq 500 | sed 's/.*/&,v100,1,9/'; } >many.csv
printf 'gpu_type,gpus\nv100,9999\n' >wide.csv
run gv-alloc -p allox -c wide.csv many.csv
is_err "too many" <<E
gv-alloc: allox: too many jobs: 500 on 500 GPUs
E
printf 'job_id,gpu_type,steps_per_s\na,v100,1\n' >none.csv
run gv-alloc -p allox -c cluster.csv none.csv
is_status 2 "no steps: status"
err_has 'missing column "total_steps"' "no steps"
done_testing
