#!/bin/sh
# pipeline.sh [DIRECTORY]: a model cut into two stages, trained as a pipeline, and then in one
# process; both leave the same losses and the same parameters.
#
# In DIRECTORY (default: pipeline) are then layers.csv (times), plan.csv (stages), cluster.csv
# and jobs.csv (what gv-run gets), events.csv, and one.csv and two.csv, the losses.
set -eu
dir=${1:-pipeline}
mkdir -p "$dir"
cd "$dir"
rm -rf state one two

# how fast the layers are as two stages have them, four micro-batches in an update, and where to cut
gv-profile layers -q --beside=1 --stages=2 --micro-batches=4 --window=0.1s --shape=16x16 --batch=16 cnn >layers.csv
gv-partition -q --straight -l 2@1GB/s -o plan.csv layers.csv
gv-report plan.csv

# two workers, a stage each; updates of four micro-batches of 16
train='--data=digits:1000 --batch=64 --micro-batches=4 --lr=0.05 --momentum=0.9 --steps=40 --log-every=10 -q'
printf 'gpu_type,gpus,threads\ncpu1,2,1\n' >cluster.csv
cat >jobs.csv <<E
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share
two stages,2,40,exec gv-train $train --schedule=flush --checkpoint=two -o two.csv plan.csv,cpu1,10,1
E
gv-run -q -c cluster.csv -s state -o events.csv jobs.csv

# the same in one process
# shellcheck disable=SC2086
gv-train $train --checkpoint=one -o one.csv cnn
gv-train --join=two/whole.ckpt two/gv-train.set
cat two.csv
cmp one.csv two.csv
cmp one/gv-train.ckpt two/whole.ckpt
echo "two stages and one process: the same losses, the same parameters"
