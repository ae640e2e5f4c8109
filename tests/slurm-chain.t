#!/bin/sh
# examples/slurm: a run in one allocation after the other, on a Slurm of our own.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"
. "$src/tests/slurm_runs.sh"

# fewer steps: each job is trained a second time, and other tests have the processors, too
for f in jobs nets; do sed 's/150000/45000/; s/15000/4500/' "$src/examples/slurm/$f.csv" >$f.csv; done
export GV_RUN_OPTIONS='--round=1s --grace=5s' STATE="$scratch/chain"
run sbatch --parsable -o chain.log "$src/examples/slurm/nightly.sh" "$scratch/jobs.csv"
is_status 0 "examples/slurm/nightly.sh is a batch script"
until_true 120 grep -qs step chain/jobs/mlp/progress
until_true 120 grep -qs step chain/jobs/cnn/progress
scancel "$(cat out)"
until_true 120 grep -q ',restart,' chain/events.csv
is 0 $? "its allocation is cancelled: it submits itself again, and goes on"
until_true 600 grep -q ',end,' chain/events.csv
is 0 $? "to the end"
ran='nightly.sh' && cp chain/events.csv out && cp chain.log err
is 2 "$(n finish)" "both have finished"
is 0 "$(n fail)" "nothing counts as a failure"
for job in mlp:45000:.05 cnn-small:4500:.02; do
	lr=${job##*:} model=${job%%:*}
	steps=${job#*:}
	gv-train -q --data=digits:2000 --batch=64 --lr="$lr" --steps="${steps%:*}" --checkpoint="alone.$model" \
		"$src/share/models/$model.tsv" >/dev/null
	same_file "alone.$model/losses.csv" "chain/jobs/${model%-small}/checkpoint/losses.csv" "$model: the losses are those of an uninterrupted training"
done

# ---- what README.md says to type ----
allocate
scontrol show node >nodes
run gv-profile devices --from=nodes -o cluster.csv
is_status 0 "the nodes are a cluster table"
run gv-run --launcher=slurm -n -c cluster.csv jobs.csv
is_status 0 "what would run where"
ok "on all types that were named" grep -q ',cnn,p100,n2,0' out
gv-alloc -p max-min -c cluster.csv jobs.csv >shared.csv
run gvrun -s typed --round=1s --grace=5s shared.csv
is_status 0 "shares of gv-alloc are trained"
run gv-profile jobs --launcher=slurm --slurm-job="$job" -s tmp --warmup=.5s --window=1s -o rates.csv nets.csv
is_status 0 "all jobs are measured on all types"
is 6 "$(grep -c '^[mc]' rates.csv)" "two jobs, three types"
nothing_left
done_testing
