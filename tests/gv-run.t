#!/bin/sh
# gv-run: rounds, shares, gangs, preemption, failures, arrivals, policies, state.
. "${0%/*}/lib.sh"
. "$src/tests/runs.sh"

nothing_left() { if [ -z "$(strays)" ]; then pass "$1"; else fail "$1"; fi; }

# ---- gangs, preemption: all GPUs promised in full; shares are tests/unit/life_shares.c's, on a virtual clock ----
cat >full.csv <<EOT
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share
half,1,100000,$w -r 200,big,200,0.5
quarter,1,100000,$w -r 200,big,200,0.25
quarter,1,100000,$w -r 200,small,100,0.25
rest,1,100000,$w -r 200,big,200,0.25
rest,1,100000,$w -r 200,small,100,0.5
gang,2,100000,$w -r 200,small,100,0.5
other,1,100000,$w -r 200,small,100,0.25
EOT
gv-run -c cluster.csv -s full --round=0.2 --grace=2 full.csv >out 2>err &
pid=$!
# until ROUND FILE: the journal has come to that round
until_round() { true_within 60 awk -F, -v n="$1" '$8 + 0 >= n { f = 1 } END { exit !f }' "$2"; }
until_round 22 full/events.csv
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
ran="gv-run ... full.csv, SIGTERM after 22 rounds"
is_status 143 "SIGTERM: status 143"
is_err "and nothing to say" </dev/null
nothing_left "and nobody left"
awk -F, '$2 == "start" || $2 == "resume" { n = split($6, g, ";")
		for (i = 1; i <= n; i++) { if (on[$4 g[i]] != "") bad = 1; on[$4 g[i]] = $3 } }
	$2 == "preempt" || $2 == "finish" || $2 == "fail" { n = split($6, g, ";")
		for (i = 1; i <= n; i++) { if (on[$4 g[i]] != $3) bad = 1; on[$4 g[i]] = "" } }
	END { exit bad }' out && status=0 || status=1
ran="looking for GPUs held twice"
is_status 0 "no GPU is held by two jobs"
ran="looking at the ranks of the gang"
n0=$(grep -c 0 full/jobs/gang/checkpoint/ranks)
n1=$(grep -c 1 full/jobs/gang/checkpoint/ranks)
n=$(awk -F, '($2 == "start" || $2 == "resume") && $3 == "gang"' out | wc -l)
# the last start may have been stopped before the workers could write
if [ "$n0" -ge $((n - 1)) ] && [ "$n1" -ge $((n - 1)) ]; then
	pass "both ranks of the gang start each time"
else
	fail "ranks: $n0 and $n1 of $n starts"
fi
ok "on both GPUs" grep -q 'gpus 0;1 type small' full/jobs/gang/checkpoint/log
ran="counting resumes"
if [ "$(events resume half)" -ge 3 ]; then pass "jobs are preempted and resumed"; else fail "resumes" out; fi
steps=$(tail -n 1 full/jobs/half/checkpoint/steps)
every_step full half "$steps" "no step is lost or done twice by preemption"
awk -F, '($2 == "start" || $2 == "resume") && $3 == "half" { print $8 }' out | sort -u | wc -l >got
ok "each life has its round" test "$(cat got)" -eq "$((1 + $(events resume half)))"
if have gv-report; then
	run gv-report -b job full/events.csv
	silent "gv-report reads the journal"
else
	skip "no gv-report"
fi

# killed and resumed: what was received counts, rounds go on
last=$(awk -F, 'NR > 1 && $8 > n { n = $8 } END { print n + 0 }' full/events.csv)
gv-run --resume -s full --round=0.2 --grace=2 >out 2>err &
pid=$!
until_round $((last + 3)) full/events.csv
kill -9 "$pid"
wait "$pid" 2>/dev/null
gv-run --resume -q -s full --round=0.2 --grace=2 >out 2>err &
pid=$!
until_round $((last + 8)) full/events.csv
true_within 60 grep -q preempt, out
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
ran="gv-run --resume ... SIGTERM"
is_status 143 "--resume runs on"
ran="reading rounds"
if [ "$last" -gt 15 ] && awk -F, -v last="$last" '$2 == "resume" && $8 + 0 <= last + 0 { exit 1 }' out; then
	pass "rounds are counted on"
else
	fail "rounds after $last" out
fi
out_has 'preempt,' "and preempts"
ok "what a kill left open is closed" grep -q ',preempt,.*gv-run was killed' full/events.csv
# all events of the three lives are one table, and the allocation is kept
ran="reading jobs.csv"
cut -d, -f1,5,9- full/jobs.csv | sed -n '1p;2p;8p' >got
cat >want <<'EOT'
job_id,gpu_type,isolated_elapsed_s,share
half,big,0,0.5
other,small,0,0.25
EOT
same_file want got "the table is kept with its shares"

# ---- a lease is extended: who stays is not disturbed ----
cat >alone.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
a,120,$w -r 200,big,200,1
b,120,$w -r 200,small,200,0.5
EOT
run gv-run -c cluster.csv -s alone --round=0.1 --grace=2 alone.csv
silent "two jobs run to their end"
sed 's/^[0-9.]*,/T,/' out >got
cat >want <<'EOT'
time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason
T,pool,,big,,0,,,,
T,pool,,small,,0;1,,,,
T,arrive,a,,,,120,,,
T,arrive,b,,,,120,,,
T,allocate,a,big,,,,,1,
T,allocate,b,small,,,,,0.5,
EOT
head -n 7 got >got.head
same_file want got.head "pools, arrivals and shares come first"
is_events 0 resume '' "nobody is preempted when nobody waits"
is_events 1 finish a "finished"
is_events 1 end '' "the end is told"
out_has ',end,' "as an event"

# ---- the same again: nothing to do; a new job is added ----
run gv-run -c cluster.csv -s alone --round=0.1 --grace=2 alone.csv
silent "the same table again"
is_events 0 start '' "starts nothing"
is_events 1 restart '' "a restart"
is_events 1 end '' "and an end"
sed '2,$s/^[ab],/c,/; 3d' alone.csv >more.csv
run gv-run -c cluster.csv -s alone --round=0.1 --grace=2 more.csv
silent "one more job"
is_events 1 start '' "runs alone"
ran="reading jobs.csv"
cut -d, -f1 alone/jobs.csv | tr '\n' ' ' >got
echo 'job_id a b c ' | tr -d '\n' >want
same_file want got "all jobs are kept"
run gv-run --resume -s alone
silent "--resume of what is done"
is_events 0 start '' "starts nothing"

# ---- torn journal: a kill in the middle of a line ----
printf '9.5,resume,"a' >>alone/events.csv
run gv-run --resume -s alone
silent "a torn last line is cut off"
ok "and the journal is whole again" grep -q ',end,' alone/events.csv
ok "without it" sh -c '! grep -q "9.5,resume" alone/events.csv'
rm alone/clock
run gv-run --resume -s alone
silent "a lost clock goes on from the last event"
cp alone/events.csv keep.csv
echo 'x,finish,a,,,,,,,' >>alone/events.csv
run gv-run --resume -s alone
is_status 2 "a broken journal is an error"
err_has 'events.csv:' "that says where"
cp keep.csv alone/events.csv

# ---- failures ----
cat >fail.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
once,60,$w -r 300 -e 10 -x 35 -b,big,300,0.5
ever,60,echo lost; $w -r 300 -e 10 -x 25 -X 9,small,300,0.5
none,,no-such-command-$$,small,300,0.5
EOT
run gv-run -c cluster.csv -s fail --round=0.2 --grace=2 --max-failures=3 fail.csv
is_status 1 "a dropped job: status 1"
is_events 1 fail once "a job fails once"
is_events 1 finish once "and goes on to its end"
ran="reading steps"
sort -n fail/jobs/once/checkpoint/steps | uniq -c | awk '{ print $1 "x" }' | sort | uniq -c | tr -s ' \n' ' ' >got
printf ' 55 1x 5 2x ' >want
same_file want got "from its checkpoint: 5 steps are done again"
awk -F, '$2 == "checkpoint" && $3 == "once" { n++; if ($7 % 10 != 0) bad = 1 } END { exit bad || n == 0 }' out && status=0 || status=1
ran="reading checkpoints"
is_status 0 "a checkpoint event has the steps that are safe"
is_events 3 fail ever "another fails three times"
is_events 1 drop ever "and is dropped"
is_events 3 fail none "so does a command that is not there"
p=$(cd fail && pwd -P)
grep -v 'none' err >got
cat >want <<EOT
gv-run: warning: job "ever" has failed: status 9; see $p/jobs/ever/log
gv-run: warning: job "ever" has failed: status 9; see $p/jobs/ever/log
gv-run: warning: job "once" has failed: status 3; see $p/jobs/once/log
gv-run: job "ever" is dropped: 3 failures in a row without progress, the last: status 9; see $p/jobs/ever/log
EOT
sort got >got.sorted
sort want >want.sorted
same_file want.sorted got.sorted "messages name the log"
out_has ',fail,ever,small,,0,25,' "the event has GPUs and steps"
out_has 'status 127' "and the status"
ok "the log has what the job wrote" test "$(grep -c lost fail/jobs/ever/log)" -eq 3
ok "and what the shell said" grep -q "no-such-command-$$" fail/jobs/none/log
run gv-run --resume -s fail
is_status 1 "dropped jobs stay dropped"
is_events 0 start '' "and are not tried again"
run gv-run -q -c cluster.csv --log-dir=logs -s fail1 --round=0.2 --max-failures=1 fail.csv
is_status 1 "--max-failures=1"
is_events 1 fail ever "drops at the first"
ok "--log-dir" test -s logs/ever.log
ran="counting messages"
if [ "$(wc -l <err)" -eq 3 ]; then pass "-q: only what is dropped"; else fail "-q" err; fi

# ---- a gang too large for any pool ----
cat >large.csv <<EOT
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share
large,3,60,$w,small,300,0.5
slow,1,60,$w,big,0,0.5
fine,1,20,$w -r 200,big,200,0.5
EOT
run gv-run -c cluster.csv -s large --round=0.2 large.csv
is_status 1 "jobs that can never run: status 1"
is_err "and why" <<'EOT'
gv-run: job "large" is dropped: no GPU type it runs on has as many GPUs as it needs
gv-run: job "slow" is dropped: it has no rate above 0 on a GPU type of the cluster
EOT
is_events 1 finish fine "the others do"

# ---- arrivals ----
cat >late.csv <<EOT
job_id,total_steps,arrival_s,entity,command,gpu_type,steps_per_s,share
first,60,0,x,$w -r 200,big,200,0.5
late,20,0.5,y,$w -r 200,big,200,0.5
EOT
run gv-run -c one.csv -s late --round=0.2 late.csv
silent "a job arrives later"
ran="reading the arrival"
if awk -F, '$2 == "arrive" && $3 == "late" { exit !($1 >= 0.5 && $10 == "y") }' out; then
	pass "at its time, with its entity"
else
	fail "arrival" out
fi
awk -F, '$3 == "late" && $2 == "start" { s = $1 } $3 == "late" && $2 == "arrive" { a = $1 } END { exit !(s >= a) }' out
status=$?
is_status 0 "and not before"

# ---- what a worker finds ----
cat >env.csv <<EOT
job_id,total_steps,working_directory,command,gpu_type,steps_per_s,share
x/../y z,10,$scratch,"env >\$GV_CHECKPOINT_DIR/env; pwd >pwd; $w -r 500",small,500,1
EOT
run env EXTRA=1 gv-run -c cluster.csv -s env env.csv
silent "a job with an odd name"
e=env/jobs/x%2F..%2Fy%20z/checkpoint/env
for v in GV_JOB_ID='x/../y z' GV_GPUS=0 GV_GPU_TYPE=small GV_THREADS=1 GV_ROUND=0 GV_TOTAL_STEPS=10 \
	RANK=0 WORLD_SIZE=1 EXTRA=1; do
	ok "$v" grep -qxF "$v" "$e"
done
is_dir=$(cat pwd)
ok "working directory" test "$is_dir" = "$scratch"
cat >where.csv <<EOT
job_id,total_steps,working_directory,command,gpu_type,steps_per_s,share
here,20,,"pwd >here; $w -r 100",big,500,1
there,20,sub,"pwd >there; $w -r 100",small,500,1
EOT
mkdir sub
gv-run -c cluster.csv -s moved -p "pwd >asked; cat policy.csv" where.csv >out 2>err &
pid=$!
true_within 60 test -s sub/there
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm here sub/there asked
cp where.csv policy.csv
run sh -c 'cd / && exec gv-run --resume -q -s "$1/moved"' sh "$scratch"
is_status 0 "resumed from elsewhere"
for f in here asked; do ok "in the same directory: $f" grep -qx "$scratch" $f; done
ok "the working_directory too" grep -qx "$scratch/sub" sub/there
run env EXTRA=1 gv-run --clean-env -c cluster.csv -s env2 env.csv
silent "--clean-env"
ok "without EXTRA" sh -c '! grep -q EXTRA env2/jobs/*/checkpoint/env'

# ---- policies ----
cat >jobs3.csv <<EOT
job_id,total_steps,arrival_s,note,command,gpu_type,steps_per_s,share
p,120,0,ab,$w -r 100 -w $PWD/go.p,big,100,0.9
q,60,0,,$w -r 100 -w $PWD/go.q,big,100,0.1
EOT
cat >r.csv <<EOT
job_id,total_steps,arrival_s,note,command,gpu_type,steps_per_s,share
r,20,0,,$w -r 100 -w $PWD/go.r,big,100,0
EOT
# equal shares; keeps what it was asked
cat >equal <<'EOT'
#!/bin/sh
n=0
while [ -f asked.$n ]; do n=$((n + 1)); done
cat >asked.$n
awk -F, 'NR == FNR { if (FNR > 1) m++; next } FNR == 1 { print $0 ",share"; next } { printf "%s,%.6g\n", $0, 1 / m }' asked.$n asked.$n
EOT
chmod +x equal
# who comes and who is done is said here, when the policy has answered and steps are told, so
# that it is the same on a busy machine
asked() { true_within 60 test -e "asked.$1"; }
gv-run -c one.csv -s pol --round=0.2 -p ./equal jobs3.csv >out 2>err &
pid=$!
true_within 60 grep -q ',first_step,p,' pol/events.csv
gv-run -q --submit -s pol r.csv
asked 1
: >go.r
asked 2
: >go.q
asked 3
: >go.p
status=0
wait $pid || status=$?
ran="gv-run -p ./equal jobs3.csv; gv-run --submit r.csv"
silent "-p: a policy of one's own"
ran="counting what the policy was asked"
# p q | p q r | without one | without two
if [ -f asked.3 ] && [ ! -f asked.4 ]; then pass "asked whenever jobs come and go"; else fail "asked $(echo asked.*)" out; fi
head -n 1 asked.0 >got
echo 'job_id,total_steps,arrival_s,note,command,gpu_type,steps_per_s,steps_remaining,elapsed_s,isolated_elapsed_s' >want
same_file want got "with the job's columns and what it has done"
cut -d, -f1 asked.1 | tr '\n' ' ' >got
printf 'job_id p q r ' >want
same_file want got "about the jobs that are there"
awk -F, '$2 == "allocate" { print $3 "," $9 }' out | head -n 5 | tr '\n' ' ' >got
printf 'p,0.5 q,0.5 p,0.333333 q,0.333333 r,0.333333 ' >want
same_file want got "new shares are told"
sed -n '2p' asked.1 | awk -F, '{ exit !($(NF - 2) < 120 && $(NF - 2) > 0 && $(NF - 1) > 0.4 && $NF > 0) }'
status=$?
is_status 0 "steps_remaining, elapsed_s and isolated_elapsed_s go on"
rm -f asked.*
# p and r would have half of big each, and no time on small, which they cannot use: 50 steps/s
cat >other.csv <<EOT
job_id,total_steps,arrival_s,command,gpu_type,steps_per_s,share
p,100,0,$w -r 100 -w $PWD/go.p,big,100,1
r,100,0,$w -r 100 -w $PWD/go.r,big,100,1
EOT
sed "2,\$d" other.csv >q.csv
echo "q,5,0,$w -r 100,small,100,1" >>q.csv
rm -f go.*
gv-run -q -c cluster.csv -s pol_other --round=0.1 -p ./equal other.csv >out 2>err &
pid=$!
true_within 60 grep -q ',first_step,p,' pol_other/events.csv
gv-run -q --submit -s pol_other q.csv
asked 1
: >go.p
: >go.r
status=0
wait $pid || status=$?
ran="gv-run -p ./equal other.csv; gv-run --submit q.csv"
is_status 0 "-p: jobs of different types"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$1 != "q" { steps += $at["total_steps"] - $at["steps_remaining"]; s += $at["isolated_elapsed_s"] }
	END { exit !(steps > 0 && s > .019999 * steps && s < .020001 * steps) }' asked.1
status=$?
is_status 0 "isolated_elapsed_s is on types that the job can use"
rm -f asked.*
{ cat jobs3.csv && sed '1d; s/,0,,/,0.03,,/' r.csv; } | sed 's/-r 100 -w [^,]*/-r 1000/' >fast3.csv
run gv-run -c one.csv -s pol2 --round=0.2 -p 'exit 3' fast3.csv
is_status 0 "a policy that fails"
err_has 'gv-run: warning: the policy has failed with status 3, shares stay as they are' "is a warning"
out_has 'allocate,p,big,,,,,0.9,' "and the shares of the table hold"
for bad in 'echo "a,b,"' 'cat' 'sed "s/\$/,2/; 1s/,2\$/,share/"' 'sed "s/\$/,0.5/; 1s/,0.5\$/,share/; s/^p/z/"'; do
	run gv-run -c one.csv -s pol3 --round=0.2 -p "$bad" fast3.csv
	is_status 0 "a policy that answers $bad"
	err_has "gv-run: warning: the policy's answer is not good, shares stay as they are:" "is a warning"
	rm -rf pol3
done
err_has 'the policy was not asked about job "z"' "an answer about somebody else"
run gv-run -c one.csv -s pol4 --round=0.2 --policy-timeout=0.3s -p 'sleep 9' fast3.csv
is_status 0 "a policy that never answers"
err_has 'gv-run: warning: the policy did not answer within 0.3 s, shares stay as they are' "is a warning"
run gv-run -c one.csv -s pol5 --round=0.2 -p 'kill -9 $$' fast3.csv
err_has 'gv-run: warning: the policy was killed by signal 9, shares stay as they are' "killed: a warning"
cut -d, -f1-7 fast3.csv >rates3.csv
run gv-run -c one.csv -s pol6 --round=0.2 -p ./equal rates3.csv
silent "with -p a table without shares will do"
if have gv-alloc; then
	# p and q are not done before r is there
	rm -f go.*
	{ cat jobs3.csv && sed "1d; s/,0,,/,2,,/; s|exec|touch $PWD/go.p $PWD/go.q $PWD/go.r; exec|" r.csv; } |
		sed 's/$/,max-min/; 1s/max-min/policy/' >named.csv
	run gv-run -c one.csv -s pol7 --round=0.2 named.csv
	silent "the policy named in the table is asked"
	awk -F, '$2 == "allocate" { print $3 "," $9 }' out | head -n 2 | tr '\n' ' ' >got
	printf 'p,0.5 q,0.5 ' >want
	same_file want got "when not all jobs of the table are there"
	# q and r are not done before they have new shares
	sed "s/,2,,/,0,,/; s/touch.*exec/exec/; s|-w $PWD/go.p||" named.csv >whole.csv
	rm -f go.*
	gv-run -c one.csv -s pol8 --round=0.2 whole.csv >out 2>err &
	pid=$!
	true_within 60 grep -q ',allocate,r,big,,,,[0-9]*,0.5,' pol8/events.csv
	: >go.q
	: >go.r
	status=0
	wait $pid || status=$?
	ran="gv-run whole.csv"
	silent "when all are there"
	awk -F, '$2 == "allocate" { print $3 "," $9 }' out | head -n 4 | tr '\n' ' ' >got
	printf 'p,0.9 q,0.1 q,0.5 r,0.5 ' >want
	same_file want got "not before the first has left"
else
	skip "no gv-alloc"
	skip "no gv-alloc"
	skip "no gv-alloc"
	skip "no gv-alloc"
fi

# ---- one at a time ----
cat >long.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
l,100000,$w -r 100,big,100,1
EOT
gv-run -c one.csv -s busy --round=0.2 --grace=2 long.csv >out 2>err &
pid=$!
true_within 60 grep -q start busy/events.csv
run gv-run -c one.csv -s busy long.csv
is_status 75 "a second one on the same state: status 75"
is_err "says who is there" <<EOT
gv-run: $(cd busy && pwd -P): gv-run already runs here, process $pid
EOT
kill -9 "$pid"
wait "$pid" 2>/dev/null
nobody() { [ -z "$(strays)" ]; } # the status of grep also tells of processes that go away meanwhile
true_within 60 nobody
nothing_left "killed, its workers go"
locker ours busy/workers.lock
gv-run --resume -s busy --grace=60 >out 2>err &
pid=$!
true_within 60 grep -q waiting err
release
true_within 60 grep -q resume out
kill -TERM "$pid"
wait "$pid" 2>/dev/null
ran="gv-run --resume while workers are there"
is_err "the next one waits for the workers to leave" <<'EOT'
gv-run: waiting for workers of the gv-run before to leave
EOT
locker ours busy/workers.lock
run gv-run -q --resume -s busy --grace=0
is_status 75 "but not for ever: status 75"
is_err "workers that do not leave" <<EOT
gv-run: $(cd busy && pwd -P): workers of the gv-run before are still there
EOT
release
rm -rf busy

# ---- a worker that does not go ----
cat >hang.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
h,100000,$w -r 100 -i -C -f,big,100,1
EOT
# a shell starts what is in the background with SIGINT ignored, and gv-run honours that
env --default-signal=INT gv-run -q -c one.csv -s hang --round=5 --grace=0.4 hang.csv >out 2>err &
pid=$!
true_within 60 grep -q '^20$' hang/jobs/h/checkpoint/steps
kill -INT "$pid"
status=0
wait "$pid" || status=$?
ran="SIGINT to a gv-run with a worker that ignores SIGTERM"
is_status 130 "SIGINT: status 130"
nothing_left "who does not go is killed after the grace time, its children too"
out_has ',preempt,h,big,,0,' "and can be resumed"
out_has 'status 137 when told to stop' "the event says what happened"
did=$(wc -l <hang/jobs/h/checkpoint/steps)
goes_on() { [ "$(wc -l <hang/jobs/h/checkpoint/steps)" -gt "$did" ]; }
gv-run -q -c one.csv -s hang --round=5 --grace=30 hang.csv >out 2>err &
pid=$!
true_within 60 goes_on # it ignores signals by now
start=$(date +%s)
kill -TERM "$pid"
sleep 0.2
kill -TERM "$pid"
sleep 0.2
ok "a repeat of a signal does not kill" kill -0 "$pid"
kill -HUP "$pid"
status=0
wait "$pid" || status=$?
ran="SIGTERM, SIGTERM, SIGHUP"
is_status 143 "another signal: the status of the first"
nothing_left "kills at once"
ok "not after the grace time of 30 s" test $(($(date +%s) - start)) -lt 20

# ---- outputs that fail ----
gv-run -c one.csv -s full1 --round=0.2 --grace=2 long.csv >/dev/full 2>err &
status=0
wait $! || status=$?
ran="gv-run >/dev/full"
is_status 2 "a full device: status 2"
is_err "one message" <<'EOT'
gv-run: cannot write to standard output: No space left on device
EOT
nothing_left "and nothing runs"
status=0
{
	gv-run -c one.csv -s pipe --round=0.2 --grace=2 long.csv 2>err || echo $? >code
} | head -n 1 >out
ran="gv-run | head -n 1"
status=$(cat code)
is_status 141 "a reader that leaves: as SIGPIPE"
is_err "quietly" </dev/null
nothing_left "and nothing runs"
run gv-run -c cluster.csv -s alone2 --tsv -o events.tsv alone.csv
silent "-o --tsv"
ok "writes there" grep -q "$(printf '\tend\t')" events.tsv
ok "the journal is CSV still" grep -q ,end, alone2/events.csv
run env TMPDIR="$scratch" gv-run -c cluster.csv alone.csv
silent "without -s"
ok "the state is removed after a success" sh -c '! ls -d gv-run.* 2>/dev/null'
run env TMPDIR="$scratch" gv-run -q -c cluster.csv --max-failures=1 fail.csv
ok "and kept after a failure" sh -c 'ls -d gv-run.*'
rm -rf gv-run.*
run env TMPDIR="$scratch" gv-run -c cluster.csv --max-failures=1 fail.csv
err_has "gv-run: the state is kept: go on with gv-run --resume -s $scratch/gv-run." "saying where"
run env TMPDIR="$scratch/none" gv-run -c cluster.csv alone.csv
is_status 2 "no TMPDIR"
is_err "is said" <<EOT
gv-run: $scratch/none: cannot make a directory in it: No such file or directory
EOT

# ---- calls that fail ----
faulty() { # FAULT ARGS...: with a call that fails, an error of ours
	run env LD_PRELOAD="$build/preload/faults.so" GV_FAIL="$1" gv-run -c cluster.csv "$2" "$3" "$4" "$5" -q alone.csv
}
if [ -f "$build/preload/faults.so" ] && [ -z "${GV_SAN:-}" ]; then
	rm -rf fault
	faulty pipe:1:EMFILE -s fault --round=0.2 --grace=1
	is_status 2 "no pipe"
	is_err "no pipe: says so" <<'EOT'
gv-run: cannot make a pipe: Too many open files
EOT
	for lock in '/lock: cannot lock' '/workers.lock: cannot lock'; do
		n=0
		until grep -qF "fault$lock" err; do # which fcntl is the lock
			n=$((n + 1))
			[ "$n" -lt 20 ] || break
			faulty "fcntl:$n:EIO" -s fault --round=0.2 --grace=1
		done
		is_status 2 "no lock ($lock)"
		is_err "says so" <<EOT
gv-run: $(cd fault && pwd -P)$lock: Input/output error
EOT
	done
	rm -rf fault
	faulty fork:1:EAGAIN -s fault --round=0.2 -pcat
	is_status 0 "the policy cannot be started"
	err_has 'gv-run: warning: the policy cannot be asked, shares stay as they are:' "that is a warning"
	n=0
	until grep -q '/events.csv: cannot write: Input/output error' err; do # which fsync is the journal's
		n=$((n + 1))
		[ "$n" -lt 9 ] || break
		rm -rf fault
		faulty "fsync:$n:EIO" -s fault --round=0.2 --grace=1
	done
	is_status 2 "a journal that cannot be written at all"
	err_has 'fault/events.csv: cannot be begun' "cannot be begun"
	for n in $((n + 1)) $((n + 2)) $((n + 3)); do # what is between them is not the journal's
		rm -rf fault
		faulty "fsync:$n:EIO" -s fault --round=0.2 --grace=1
		! grep -q '/events.csv: cannot write' err || break
	done
	is_status 2 "a journal that cannot be written any more"
	err_has '/events.csv: cannot write: Input/output error' "ends the run, saying so"
	nothing_left "with all workers"
	rm -rf fault
	mkdir fault
	cp alone/jobs.csv alone/cluster.csv alone/events.csv fault
	printf '9.5,resume,"a' >>fault/events.csv
	chmod 555 fault/events.csv
	if [ "$(id -u)" -ne 0 ]; then
		run gv-run --resume -s fault
		err_has 'events.csv: cannot cut off a torn line' "a torn line that cannot be cut"
	else
		skip "root may cut any file: cannot cut off a torn line"
	fi
else
	skip "sanitizer: its runtime must come first"
fi

# ---- the plan only ----
cat >plan.csv <<'EOT'
job_id,scale_factor,total_steps,arrival_s,command,gpu_type,steps_per_s,share
a,1,1000,0,run a,big,2,0.5
b,1,1000,0,run b,big,1,0.5
g,2,700,0,"run ""g""",small,1,1
z,1,300,2000,run z,small,1,1
EOT
run gv-run -n -c cluster.csv -s planned plan.csv
silent "--dry-run"
is_out "prints the first rounds" <<'EOT'
round,job_id,gpu_type,node,gpus,command
0,a,big,,0,run a
0,g,small,,0;1,"run ""g"""
1,b,big,,0,run b
1,g,small,,0;1,"run ""g"""
2,a,big,,0,run a
3,b,big,,0,run b
4,b,big,,0,run b
5,z,small,,0,run z
EOT
ok "and leaves no state" test ! -e planned
if have script; then
	printf 'job_id,total_steps,command,gpu_type,steps_per_s,share\na\302\233c,20,run \033[2J,big,200,1\n' >steer.csv
	script -qec "gv-run -n -c cluster.csv steer.csv" /dev/null </dev/null |
		tr -d '\r' | sed 1d >got
	printf '%s\n' '0,a\xc2\x9bc,big,,0,run \x1b[2J' >want
	same_file want got "on a terminal names and commands are shown, not obeyed"
else
	skip "a terminal: no script(1)"
fi
run gv-run -v -c cluster.csv -s verbose --round=0.2 alone.csv
is_status 0 "-v"
err_has 's, round 0: big 0 "a", small 0 "b"' "says what is decided"

# ---- nodes ----
printf 'gpu_type,gpus,node,threads\nbig,1,n1,2\nsmall,2,n2,1\n' >nodes.csv
run gv-run -n -c nodes.csv plan.csv
is_status 2 "pools of several nodes"
err_has 'gv-run: nodes.csv: node: pools of several nodes, "n1" is not this host (' "are an error"
err_has 'say which with --node' "that tells the way out"
sed '2a a,1,1000,0,run a,small,1,0.5' plan.csv >twice.csv
run gv-run -n --node=n1 -c nodes.csv twice.csv
is_status 2 "jobs that could run on both nodes"
err_has 'can run on node "n1" and on others, where gv-run with this table would run it, too; a column "node" says where it shall run' "are an error"
sed 's/$/,n1/; 1s/n1$/node/' twice.csv >plan1.csv
run gv-run -n --node=n2 -c nodes.csv plan1.csv
out_has 'round,job_id' "jobs of another node"
ok "are left out" test "$(wc -l <out)" -eq 1
run gv-run -n --node=n1 -c nodes.csv plan1.csv
is_err "--node: gangs that are too large for it" <<'EOT'
gv-run: job "g" would be dropped: no GPU type it runs on has as many GPUs as it needs
gv-run: job "z" would be dropped: no GPU type it runs on has as many GPUs as it needs
EOT
is_out "takes the pools of the node" <<'EOT'
round,job_id,gpu_type,node,gpus,command
0,a,big,n1,0,run a
1,b,big,n1,0,run b
2,a,big,n1,0,run a
3,b,big,n1,0,run b
4,b,big,n1,0,run b
EOT
run gv-run -n --node=n3 -c nodes.csv plan.csv
is_status 2 "a node that is not there"
is_err "is an error" <<'EOT'
gv-run: nodes.csv: node: no pool of node "n3"
EOT
printf 'gpu_type,gpus,node,threads\nbig,1,n1,2\nbig,2,,2\nsmall,1,,1\n' >both.csv
run gv-run -n --node=n1 -c both.csv plan.csv
is_status 2 "a type with and without a node"
is_err "is an error" <<'EOT'
gv-run: both.csv: node: GPU type "big" both with node "n1" and with none
EOT
printf 'job_id,total_steps,command,gpu_type,steps_per_s,share\nx,10,true,A,1,1\ny,10,true,B,1,1\n' >two.csv
printf 'gpu_type,gpus,node\nA,1,\nB,1,n1\n' >both.csv
run gv-run -q -c both.csv --node=n1 -s both --round=0.2 two.csv
is_status 0 "GPUs with a node and without"
out_has ',start,x,A,,0,' "are counted"
out_has ',start,y,B,n1,1,' "one after the other"
run gv-run --resume -s both
is_status 0 "resumed they are of this node"
sed 's/$/,1/; 1s/1$/ids/' both.csv >twice.csv
run gv-run -n -c twice.csv --node=n1 two.csv
is_status 2 "a GPU with a node and without"
is_err "is an error" <<'EOT'
gv-run: twice.csv:3: ids: GPU 1 is in two pools of this node, first at line 2
EOT
echo C,1,n2 >>both.csv
run gv-run -n -c both.csv --node=n1 two.csv
is_status 2 "a job for GPUs that each node has"
is_err "is an error, too" <<'EOT'
gv-run: two.csv:2: job "x" can run on node "n1" and on others, where gv-run with this table would run it, too; a column "node" says where it shall run
EOT
printf 'job_id,total_steps,command,gpu_type,steps_per_s,share,node\n' >halves.csv
printf 'x,1,echo x >>ran,B,1,.5,n1\ny,1,:,B,1,.5,n1\nx,1,echo x >>ran,C,1,.5,n2\n' >>halves.csv
for node in n1 n2; do
	run gv-run -q -c both.csv --node=$node -s halves.$node --round=0.2 halves.csv
	is_status 2 "a job with rows of two nodes, on $node"
	is_err "is an error on $node" <<'EOT'
gv-run: halves.csv:4: node: expected "n1" as at line 2, got "n2"
EOT
done
ok "and runs nowhere" [ ! -e ran ]
run gv-run -c nodes.csv --node=n2 -s node2 --round=0.2 large.csv
out_has ',pool,,small,n2,0;1,' "events have the node"
ok "only its pools are kept" sh -c '! grep -q n1 node2/cluster.csv'

# ---- tables that will not do ----
bad() { # NAME: the table on standard input is refused with the message of ./want.err
	cat >bad.csv
	run gv-run -c cluster.csv -s bad bad.csv
	is_status 2 "$1"
	ok "$1: no state is made" test ! -e bad
}
bad "no shares" <<'EOT'
job_id,command,gpu_type,steps_per_s
a,x,big,1
EOT
is_err "no shares: says who adds them" <<'EOT'
gv-run: bad.csv:1: missing column "share"; gv-alloc adds it, or -p names a command that does
EOT
bad "no commands" <<'EOT'
job_id,gpu_type,steps_per_s,share
a,big,1,1
EOT
err_has 'gv-run: bad.csv:1: missing column "command"' "no commands: says so"
bad "an empty command" <<'EOT'
job_id,command,gpu_type,steps_per_s,share
a,x,big,1,1
b,,big,1,0
EOT
is_err "an empty command: says where" <<'EOT'
gv-run: bad.csv:3: command: expected a command, got nothing
EOT
bad "shares above 1" <<'EOT'
job_id,command,gpu_type,steps_per_s,share
a,x,big,1,0.75
a,x,small,1,0.5
EOT
is_err "shares above 1: says whose" <<'EOT'
gv-run: bad.csv:2: share: expected shares of job "a" that add up to at most 1, got 1.25
EOT
bad "shares above 1 with those of two jobs" <<'EOT'
job_id,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
a,x,big,1,,,0.5
b,x,big,1,,,0.75
a,x,big,0.75,b,0.75,0.375
EOT
is_err "shares above 1 with those of two jobs: says whose" <<'EOT'
gv-run: bad.csv:3: share: expected shares of job "b" that add up to at most 1, got 1.125
EOT
cat >bad.csv <<'EOT'
job_id,command,gpu_type,steps_per_s,share,policy
a,x,big,1,0.75,max-min
a,x,small,1,0.25,isolated
EOT
run gv-run -c cluster.csv -s bad bad.csv
is_status 2 "two policies"
is_err "two policies: says where" <<'EOT'
gv-run: bad.csv:3: policy: expected "max-min" as in the first row, got "isolated"
EOT
rm -rf bad
name=$(printf 'x%.0s' $(seq 201))
sed "s/^l,/$name,/" long.csv >bad.csv
run gv-run -c cluster.csv -s bad bad.csv
is_status 2 "a name of 201 bytes"
err_has 'its name is too long' "is too long"
rm -rf bad
run gv-run -c none.csv alone.csv
is_err "no cluster table" <<'EOT'
gv-run: none.csv: cannot open: No such file or directory
EOT
run gv-run --resume -s none
is_status 2 "--resume without a state"
is_err "is an error" <<'EOT'
gv-run: none: holds no run to resume
EOT
run sh -c 'mkdir gone && cd gone && rmdir ../gone && exec gv-run -c "$1/cluster.csv" -s "$1/x" "$1/alone.csv"' sh "$scratch"
is_status 2 "a directory that is gone"
is_err "jobs cannot run there" <<'EOT'
gv-run: cannot find the working directory: No such file or directory
EOT
mkdir -p empty
run gv-run --resume -s empty
echo "gv-run: empty: holds no run to resume" | is_err "--resume without a run, without a cluster"
run gv-run --resume -c cluster.csv -s empty
is_err "so is one without a run" <<'EOT'
gv-run: empty: holds no run to resume
EOT
run gv-run --resume -c cluster.csv -s none
is_err "or none at all" <<'EOT'
gv-run: none: holds no run to resume
EOT

# ---- options ----
usage='usage: gv-run -c CLUSTER [-s DIR] [-r TIME] [-g TIME] [-p COMMAND] [-o FILE] [TABLE]'
is_usage() { # MESSAGE ARGS...
	message=$1
	shift
	run gv-run "$@"
	is_status 2 "gv-run $*"
	printf 'gv-run: %s\n%s\n' "$message" "$usage" >says
	is_err "says: $message" <says
}
is_usage 'no cluster: -c FILE' alone.csv
is_usage '--resume needs the state: -s DIR' --resume
is_usage '--resume reads no table' --resume -s x alone.csv
is_usage '--repair needs the state: -s DIR' --repair
is_usage '--repair reads no table' --repair -s x alone.csv
is_usage '--dry-run cannot be combined with --resume' --resume -n -s x
is_usage '--round: expected a time above 0' -r 0 -c c
is_usage '--policy-timeout: expected a time above 0' --policy-timeout=0s -c c
is_usage '--max-failures: expected a whole number from 1 to 1000000, got "0"' --max-failures=0
is_usage '--grace: expected a duration such as 90s, 15m or 2h, got "1y"' -g 1y
is_usage 'too many operands' -c c a b
is_usage '--node cannot be combined with --launcher=slurm' -n --node=n --launcher=slurm -c c
is_usage '--slurm-job goes with --launcher=slurm' -n --slurm-job=3 -c c
is_usage 'no cluster: -c FILE' -n --launcher=slurm
run gv-run -n --launcher=slurm -c none.csv alone.csv
is_err "a dry run for Slurm: no such cluster" <<'EOT'
gv-run: none.csv: cannot open: No such file or directory
EOT
run gv-run -n --launcher=slurm -c alone.csv alone.csv
is_err "no cluster" <<'EOT'
gv-run: alone.csv:1: this is an allocation table; expected a cluster (gpu_type, gpus)
EOT

# ---- files that cannot be ----
run gv-run -c cluster.csv -s full2 --round=0.2 -o /dev/full alone.csv
is_status 2 "an output that is full"
is_err "says so" <<'EOT'
gv-run: /dev/full: cannot write: No space left on device
EOT
run gv-run -c cluster.csv -s unmade -o none/out alone.csv
is_err "one that cannot be made" <<'EOT'
gv-run: none/out: cannot create: No such file or directory
EOT
run gv-run -c cluster.csv -s unmade --log-dir=alone.csv/logs alone.csv
is_err "so is --log-dir" <<'EOT'
gv-run: alone.csv: cannot make the directory: File exists
EOT
ok "and there is no state" test ! -e unmade
run gv-run -c cluster.csv -s alone.csv/state alone.csv
is_err "so is the state" <<'EOT'
gv-run: alone.csv: cannot make the directory: File exists
EOT
run gv-run --launcher=slurm -c cluster.csv -s alone.csv/state alone.csv
is_err "also for Slurm" <<'EOT'
gv-run: alone.csv: cannot make the directory: File exists
EOT
for table in jobs cluster; do
	rm -rf bad
	cp -r alone bad
	printf 'x,y\n1\n' >bad/$table.csv
	for how in --resume --status --submit; do
		run gv-run $how -s bad
		is_status 2 "$how: a $table.csv that is no table"
		err_has "bad/$table.csv:2: expected 2 cells, got 1" "is an error"
	done </dev/null
done
rm -rf bad
cp -r alone bad
printf 'x,y\n1\n' >bad/jobs.csv
run gv-run --cancel -s bad a
is_err "--cancel: one that is no table" <<'EOT'
gv-run: bad/jobs.csv:2: expected 2 cells, got 1
EOT
run gv-run -c cluster.csv -s bad alone.csv
err_has "bad/jobs.csv:2: expected 2 cells, got 1" "so is a table that is to go on with it"
run sh -c 'gv-run --repair -s alone >/dev/full'
is_status 2 "--repair: an output that is full"
for how in --status --follow; do
	run gv-run $how -s alone -o none/out
	is_err "$how: an output that cannot be made" <<-'EOT'
		gv-run: none/out: cannot create: No such file or directory
	EOT
	run gv-run $how -s alone -o /dev/full
	is_err "$how: or that is full" <<-'EOT'
		gv-run: /dev/full: cannot write: No space left on device
	EOT
done
done_testing
