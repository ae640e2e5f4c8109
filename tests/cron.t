#!/bin/sh
# examples/cron: jobs come through a folder, and the run goes on by itself.
. "${0%/*}/lib.sh"

w=$build/helpers/worker
printf 'gpu_type,gpus,threads\nbig,2,1\n' >c.csv
table() {
	echo job_id,total_steps,command,gpu_type,steps_per_s,share
	for j; do echo "$j,20,$w -r 200,big,200,0.5"; done
}
cron() { ROUND=0.5s run sh "$src/examples/cron/train-from-cron" s inbox; }
mkdir inbox
table first >jobs.csv
gv-run -q -c c.csv -s s jobs.csv >/dev/null
cron
silent "nothing to do"
table a b >inbox/1.csv
cron
silent "jobs in the folder"
ok "are done" grep -q ',finish,b,' s/events.csv
ok "and put aside" test -f inbox/1.csv.submitted
table a >inbox/2.csv
cron
is_status 0 "a table with a job that the run has"
err_has 'job_id: the run has a job "a" already' "is said"
ok "and stays" test -f inbox/2.csv
rm inbox/2.csv
echo "long,100000,$w -r 200,big,200,0.5" | { table && cat; } >inbox/3.csv
ROUND=0.5s sh "$src/examples/cron/train-from-cron" s inbox >/dev/null 2>err.first &
pid=$!
true_within 60 grep -q ',start,long,' s/events.csv
table c >inbox/4.csv
cron
silent "while one is at work the next one only hands over"
true_within 60 grep -q ',finish,c,' s/events.csv
ok "its jobs are done" grep -q ',finish,c,' s/events.csv
gv-run --cancel -s s long
status=0
wait $pid || status=$?
ran="the first one"
is_status 0 "a job that was cancelled is no failure of cron's"
done_testing
