#!/bin/sh
# gv-run in an allocation of Slurm that does not last: nodes that drain, die and come back, a
# controller that goes away, an allocation that is cancelled or runs out of time.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"
SLURM_LOST=8 # nodes are killed here
. "$src/tests/slurm_runs.sh"

allocate
# jobs N RATE STEPS: an allocation table of N jobs that run anywhere
jobs() {
	awk -v n="$1" -v rate="$2" -v steps="$3" -v w="exec $worker" 'BEGIN {
		OFS = ","
		print "job_id", "scale_factor", "total_steps", "command", "gpu_type", "steps_per_s", "share"
		split("v100 p100 k80", type, " ")
		for (i = 1; i <= n; i++)
			for (t = 1; t <= 3; t++)
				print "j" i, 1, steps, w " -e 10 -r " rate, type[t], rate, 1 / 3
	}'
}
# whole STATE N STEPS NAME: each of N jobs has finished, has done each step, and never ran twice at once
whole() {
	for i in $(seq "$2"); do
		sort -nu "$1/jobs/j$i/checkpoint/steps" 2>/dev/null >did
		seq "$3" | cmp -s - did || echo "j$i steps"
		! grep TWICE "$1/jobs/j$i/checkpoint/log" || echo "j$i twice"
		[ "$(grep -c ",finish,j$i," "$1/events.csv")" = 1 ] || echo "j$i not finished"
	done >got
	same_file /dev/null got "$4"
}

# ---- a node drains and comes back ----
jobs 8 20 300 >jobs.csv
begin drain --round=1s --grace=3s jobs.csv
until_true 60 grep -q ',start,[^,]*,v100,n1' drain/events.csv
scontrol update nodename=n1 state=drain reason=test
until_true 60 grep -q ',pool,,v100,n1,,' drain/events.csv
is 0 $? "a node that drains is taken out"
none_on_n1() {
	awk -F, '$5 == "n1" { if ($2 ~ /start|resume/) open[$3] = 1; else if ($2 ~ /preempt|finish/) delete open[$3] }
		END { n = 0; for (j in open) n++; exit n > 0 }' drain/events.csv
}
until_true 10 none_on_n1
is 0 $? "its jobs leave at the end of the round"
touch resumed
scontrol update nodename=n1 state=resume
until_true 60 sh -c 'grep -c ",pool,,v100,n1,0;1;2;3" drain/events.csv | grep -q 2'
is 0 $? "and is there again"
finish
is_status 0 "the run goes on"
err_has 'GPUs v100 of node n1 cannot be used: it is dr' "it says so"
err_has 'GPUs v100 of node n1 can be used again' "once each"
is 0 "$(n fail)" "nothing counts as a failure"
whole drain 8 300 "all steps are done"

# ---- the controller goes away ----
jobs 8 40 120 >jobs.csv
# Slurm keeps what it knows of nodes a while behind: a controller that is begun again would
# have the node drained
until_true 60 test slurm/state/node_state -nt resumed
begin away --round=1s --grace=3s jobs.csv
until_true 60 grep -q ',start,j8' away/events.csv
kill -9 "$(cat slurm/run/ctld.pid)"
sleep 4
slurm start "$scratch/slurm"
finish
is_status 0 "without slurmctld for four seconds"
is 0 "$(n fail)" "nothing counts as a failure"
whole away 8 120 "all steps are done"

# ---- a controller that does not answer is told of once ----
mkdir stub
printf '#!/bin/sh\n[ -f answers ] || { echo none >&2; exit 1; }\nexec %s "$@"\n' "$(command -v squeue)" >stub/squeue
chmod +x stub/squeue
jobs 2 40 400 >two.csv
PATH="$PWD/stub:$PATH" gv-run --launcher=slurm --slurm-job="$job" -s quiet --round=1s two.csv >out 2>err &
pid=$!
until_true 60 grep -q 'does not answer' err
touch answers
status=0
wait "$pid" || status=$?
is_status 0 "squeue fails for a while"
err_has 'warning: Slurm does not answer; what runs goes on, launches wait' "it says so"
err_has 'Slurm answers again' "and that it is over"
is 1 "$(grep -c 'does not answer' err)" "once"

# ---- a node dies ----
jobs 6 20 160 >jobs.csv
begin dies --round=4s --grace=3s jobs.csv
until_true 60 grep -q ',start,[^,]*,v100,n1' dies/events.csv
slurm kill "$scratch/slurm" n1
finish
is_status 0 "a node dies"
grep -q ',pool,,v100,n1,,' out
is 0 $? "it is taken out"
is 0 "$(n fail)" "nothing counts as a failure"
whole dies 6 160 "all steps are done, elsewhere"
slurm start "$scratch/slurm" n1

# ---- the allocation is cancelled ----
jobs 8 40 400 >jobs.csv
begin ends --round=1s --grace=3s jobs.csv
until_true 60 grep -q ',start,j8' ends/events.csv
sleep 1
scancel "$job"
finish
is_status 75 "the allocation is cancelled"
err_has 'the allocation has ended: the run stops, and goes on with --resume' "it says so"
is 0 "$(n fail)" "nothing counts as a failure"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
allocate --time=1
run gvrun -s ends --resume --round=1s --grace=3s
is_status 75 "another one has less time left than it takes to stop"
err_has ' s: the run stops, and goes on with --resume' "it says how much"
scancel "$job"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
allocate
begin ends --resume --round=1s --grace=3s
finish
is_status 0 "a third one finishes"
is 0 "$(grep -c ',fail,' ends/events.csv)" "nothing counts as a failure"
whole ends 8 400 "all steps are done"

# ---- the next allocation has fewer nodes: what is gone is told, to readers and to the policy ----
printf 'gpu_type,gpus,node\nv100,4,n1\np100,4,n2\nk80,4,n3\n' >all.csv
jobs 6 20 200 | cut -d, -f 1-6 >jobs.csv
begin less --round=1s --grace=3s -p "tee $PWD/asked | gv-alloc -p max-min -c $PWD/all.csv" jobs.csv
until_true 60 grep -q ',start,' less/events.csv
kill -TERM "$pid"
finish
is_status 143 "a run with a policy is stopped"
scancel "$job"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
job=$(salloc --no-shell -J less -w n1,n2 -N2 --gres=gpu:4 --exclusive --no-kill 2>&1 | sed -n 's/.*Granted job allocation //p')
begin less --resume --round=1s --grace=3s
finish
is_status 0 "an allocation without one of the nodes finishes it"
is 1 "$(grep -c ',pool,,k80,n3,,' less/events.csv)" "the events say that its GPUs are gone"
grep -q ',k80,.*,0$' asked && ! grep ',k80,' asked | grep -qv ',0$' && grep -q ',v100,.*,4$' asked
is 0 $? "and the policy hears of it"
whole less 6 200 "all steps are done"

# ---- a node is lost while a run begins, and another while what was left is cleaned up ----
scancel "$job"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
allocate
cat >stub/srun <<X
#!/bin/sh
case "\$*" in *--worker=probe*) f=at.probe ;; *--worker=sweep*) f=at.sweep ;; *) f=none ;; esac
[ ! -f \$f ] || { scontrol update nodename="\$(cat \$f)" state=down reason=test && rm \$f && echo >>lost; }
exec $(command -v srun) "\$@"
X
chmod +x stub/srun
jobs 6 20 200 >jobs.csv
echo n3 >at.probe
PATH="$PWD/stub:$PATH" begin begins --round=1s --grace=3s jobs.csv
until_true 90 grep -q ',start,' begins/events.csv
is 0 $? "a node is lost while a run begins: it begins"
kill -9 "$pid"
wait "$pid" 2>/dev/null
echo n2 >at.sweep
told=$(wc -l <begins/events.csv)
PATH="$PWD/stub:$PATH" begin begins --resume --round=1s --grace=3s
finish
is_status 0 "and goes on when another is lost while it cleans up"
is 2 "$(wc -l <lost)" "both were lost then"
is 0 "$(grep -c ',start,[^,]*,[^,]*,n3,' begins/events.csv)" "what is lost is not used"
is 0 "$(tail -n "+$((told + 1))" begins/events.csv | grep -Ec ',(start|resume),[^,]*,[^,]*,n[23],')" "nor what is lost then"
whole begins 6 200 "all steps are done"
nothing_left
done_testing
