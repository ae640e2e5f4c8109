#!/bin/sh
#SBATCH --job-name=gv --nodes=3 --gres=gpu:4 --exclusive --no-kill
#SBATCH --open-mode=append --signal=B:TERM@180 --dependency=singleton
# nightly.sh TABLE: the jobs of an allocation table, in one allocation after the other until all
# are done.  STATE (by default run, here) must be seen by all nodes; GV_RUN_OPTIONS go to gv-run.
state=${STATE:-$PWD/run}
if [ -s "$state/events.csv" ]; then table=--resume; else table=$1; fi
# shellcheck disable=SC2086
gv-run --launcher=slurm -s "$state" -o "$state.csv" ${GV_RUN_OPTIONS:-} "$table" &
pid=$! status=0
trap 'kill -TERM $pid' TERM
wait $pid || status=$?
while kill -0 $pid 2>/dev/null; do # a signal has ended the wait, not gv-run
	status=0
	wait $pid || status=$?
done
case $status in
75 | 143) sbatch "$0" "$1" ;; # 75: the allocation ends; 143: Slurm has said so
*) exit $status ;;
esac
