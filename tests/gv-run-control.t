#!/bin/sh
# gv-run: jobs of a run are cancelled, held and released from elsewhere.
# shellcheck disable=SC2046
. "${0%/*}/lib.sh"

w=$build/helpers/worker
printf 'gpu_type,gpus,threads\nbig,2,1\n' >two.csv
jobs() {
	echo job_id,total_steps,command,gpu_type,steps_per_s,share
	for j; do echo "$j,600,$w -r 200,big,200,0.5"; done
}
# within SECONDS CMD...: the command succeeds before that
within() {
	looks=$(($1 * 20))
	shift
	while [ $looks -gt 0 ]; do
		"$@" 2>/dev/null && return
		looks=$((looks - 1))
		sleep 0.05
	done
	return 1
}
has() { grep -q "$1" ev; }
nothing_asked() { [ -z "$(ls s/control)" ]; }
of_job() { awk -F, -v j="$1" '$3 == j { print $2 }' ev | grep -v -e allocate -e checkpoint | tr "\n" " "; }

jobs a b c d "e,f" >jobs.csv
sed -i 's/^e,f/"e,f"/' jobs.csv
gv-run -c two.csv -s s --round=0.5 --grace=5 jobs.csv >ev 2>err.run &
pid=$!
within 60 has ,start,a
run gv-run --hold -s s a "e,f"
silent "--hold"
ok "is done" within 60 has ',hold,a,.*,asked for$'
ok "of both" within 60 has ',hold,"e,f",'
run gv-run --cancel -s s b
silent "--cancel"
run gv-run --cancel -s s c x y
is_status 2 "jobs that are not there"
is_err "are named" <<'EOT'
gv-run: s: has no job "x"
gv-run: s: has no job "y"
EOT
ok "a request is removed when it is done" within 60 nothing_asked
kill -9 $pid
wait $pid 2>/dev/null
gv-run --resume -s s --round=0.5 --grace=5 >again 2>err.again &
pid=$!
sleep 2
run gv-run --release -s s a "e,f"
silent "--release"
status=0
wait $pid || status=$?
ran="gv-run --resume, with jobs held and released"
is_status 1 "a cancelled job is one that is not done"
cp s/events.csv ev
ok "a job is cancelled" grep -q ,drop,b, ev
ok "the reason is in the events" grep -q ',drop,b,.*,cancelled,' ev
for j in a c d; do ok "$j finishes once" test "$(of_job $j | grep -o finish | wc -l)" -eq 1; done
ok "c was not cancelled, since another job of that request is unknown" grep -q ',finish,c,' ev
awk -F, '$3 == "a" && $2 == "hold" { held = 1 } $3 == "a" && $2 == "release" { held = 0 }
	$3 == "a" && ($2 == "start" || $2 == "resume") && held { bad = 1 } END { exit bad }' ev
status=$?
ran="starts of a while it was held"
is_status 0 "who is held does not start, also when the run goes on after a kill"

# ---- requests that wait for a run ----
rm -rf s ev
gv-run -c two.csv -s s --round=0.5 jobs.csv >ev 2>err.run &
pid=$!
within 60 has ,start,a
kill -9 $pid
wait $pid 2>/dev/null
run gv-run --cancel -s s a b c d
silent "no run is there: the request waits"
echo "nonsense" >s/control/1.1
printf 'request,job_id\neat,a\nhold,z\n' >s/control/2.2
: >s/control/.gv.new
run gv-run --resume -s s --round=0.5
is_status 1 "the next run takes it"
for j in a b c d; do ok "$j is cancelled" grep -q ",drop,$j,.*,cancelled" out; done
ok "and is not started again" sh -c '! grep -q ",resume,[abcd]," out'
ok "who was not cancelled is done" grep -q ',finish,"e,f",' out
err_has 'gv-run: warning: a request is not good:' "a request without columns is warned about"
err_has 'gv-run: warning: a request to "eat" job "a" makes no sense' "one of another kind, too"
err_has 'gv-run: warning: a request to "hold" job "z" makes no sense' "and one for another job"
ls -A s/control >got
echo .gv.new >want
same_file want got "all of them are gone, but what is no request"

# ---- many at once ----
n=${GV_LONG:+1000}
n=${n:-150}
{
	echo job_id,total_steps,command,gpu_type,steps_per_s,share
	for i in $(seq "$n"); do echo "j$i,10,$w -r 100,big,100,0.01"; done
} >many.csv
printf 'gpu_type,gpus,threads\nbig,8,1\n' >eight.csv
rm -rf s ev
gv-run -q -c eight.csv -s s --round=1 many.csv >ev 2>err.run &
pid=$!
within 60 has ,start,j1
awk -v n="$n" 'BEGIN { srand(1); for (i = 0; i < n / 5; i++) print "j" int(1 + n * rand()) }' | sort -u >chosen
while read -r j; do gv-run --cancel -s s "$j" 2>>refused || :; done <chosen
status=0
wait $pid || status=$?
ran="cancelling $(grep -c . chosen) of $n jobs, one by one"
is_status 1 "many are cancelled one by one"
ok "nobody is refused" test ! -s refused
awk -F, 'FNR == NR { chosen[$1]; next } $2 == "drop" || $2 == "finish" { n[$3]++; if ($2 == "drop" && !($3 in chosen)) bad++ }
	END { for (j in n) { k++; if (n[j] != 1) bad++ } print k + 0, bad + 0 }' chosen ev >got
echo "$n 0" >want
same_file want got "every job is done or cancelled, once; nobody else is"
ok "some were cancelled: $(grep -c ,cancelled ev)" grep -q ,cancelled ev
ok "nothing waits" nothing_asked

# ---- how it is asked ----
run gv-run --cancel -s s
is_status 2 "no job"
err_has 'gv-run: --cancel needs jobs' "is an error"
run gv-run --hold a
err_has 'gv-run: --hold needs the state: -s DIR' "no state, too"
run gv-run --hold --cancel -s s a
err_has 'gv-run: --hold cannot be combined with --cancel' "and both"
mkdir empty
run gv-run --hold -s empty a
is_err "no run" <<'EOT'
gv-run: empty: holds no run
EOT
# ---- how it is ----
cat >status.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share,arrival_s
now,100000,$w -r 200,big,200,0.5,0
idle,100000,$w -r 200,big,200,0.25,0
gang,100000,$w -r 200,big,200,0.25,0
tomorrow,10,true,big,200,0,86400
never,10,true,small,200,0,0
EOT
rm -rf s ev
gv-run -q -c two.csv -s s --round=60 status.csv >ev 2>err.run &
pid=$!
within 60 has ,start,now
gv-run --hold -s s idle
within 60 has ,hold,idle,
within 60 has ,start,gang
within 60 test -s s/jobs/now/progress
sleep 1
run gv-run --status -s s
silent "--status"
head -n 1 out >got
echo job_id,state,gpu_type,gpus,steps,total_steps,steps_per_s,share,received_share,eta_s >want
same_file want got "a table"
cut -d, -f1,2,3,6,7,8 out | sed 1d >got
cat >want <<'EOT'
now,running,big,100000,200,0.5
idle,held,,100000,,0.25
gang,running,big,100000,200,0.25
tomorrow,later,,10,,
never,dropped,,10,,
EOT
same_file want got "says how each job is"
ok "steps are what the job has told" awk -F, '$1 == "now" { exit !($5 > 0) }' out
ok "the time left is of the share" awk -F, '$1 == "now" { d = $10 - (100000 - $5) / 100; exit !(d < .01 && d > -.01) }' out
ok "what it has received is of the time" awk -F, '$1 == "now" { exit !($9 > .5 && $9 <= 1) }' out
cp s/events.csv whole.csv
printf '3,preempt,no' >>s/events.csv
run gv-run --status -s s
silent "a line that is being written is not read"
cp whole.csv s/events.csv
kill $pid
wait $pid 2>/dev/null
sed '5s/a/b/' whole.csv >s/events.csv
run gv-run --status -s s
is_status 2 "a damaged journal"
err_has ':5: damaged: its checksum is wrong' "is an error"
run gv-run --status
err_has 'gv-run: --status needs the state: -s DIR' "no state"
run gv-run --status -s empty
err_has 'gv-run: empty: holds no run' "no run"
run gv-run --status -s s jobs.csv
err_has 'gv-run: --status reads no table' "no table"
done_testing
