#!/bin/sh
# gv-run: what a start costs is measured, and counts.
. "${0%/*}/lib.sh"

w=$build/helpers/worker
printf 'gpu_type,gpus,threads\nbig,1,1\n' >one.csv
# table SECONDS: two jobs that need so long until they train
table() {
	echo job_id,total_steps,command,gpu_type,steps_per_s,share
	for j in a b; do echo "$j,100000,sleep $1; exec $w -r 200,big,200,0.5"; done
}

# ---- rounds that are too short ----
# runs that sleep most of their time, all at once
table 2 >long.csv
table 0.6 >jobs.csv
sed 's/sleep 0.6; exec //' jobs.csv >fast.csv
gv-run -q -c one.csv -s quiet --round=0.5 --grace=5 long.csv >ev.quiet 2>err.quiet &
quiet=$!
timeout 16 gv-run -c one.csv -s lease --round=1 --grace=5 jobs.csv >ev.lease 2>/dev/null &
lease=$!
timeout 8 gv-run -c one.csv -s fast --round=0.5 --grace=5 fast.csv >ev.fast 2>/dev/null &
fast=$!
# of two launches of a one makes no step, and then another one
{
	head -n 1 fast.csv
	echo "a,100000,cd \$GV_CHECKPOINT_DIR; echo launch >>steps; if [ \$((\$(grep -c launch steps) % 3)) = 0 ]; then exec $w -r 200; else exec sleep 100; fi,big,200,0.5"
	tail -n 1 fast.csv
} >turns.csv
timeout 14 gv-run -c one.csv -s turns --round=0.5 --grace=5 turns.csv >ev.turns 2>err.turns &
turns=$!
gv-run -c one.csv -s s --round=0.5 --grace=5 long.csv >ev 2>err &
pid=$!
# starts FILE; started N FILE: at least N
starts() { grep -c -e ',start,' -e ',resume,' "$1"; }
started() { [ "$(starts "$2")" -ge "$1" ]; }
true_within 120 grep -q 'was started 3 times' err
true_within 120 started $(($(starts ev) + 4)) ev
kill $pid
wait $pid
ran="two jobs that need 2 s, in rounds of .5 s"
err_has 'gv-run: warning: job "a" was started 3 times without a step: round of 0.5 s: use --round=' "who gets nowhere is named"
ok "once" test "$(grep -c 'job "a" was started' err)" -eq 1
true_within 120 started 9 ev.quiet
kill $quiet
wait $quiet
ok "--quiet" sh -c '! grep "was started" err.quiet'

wait $turns
ran="two jobs, one of which makes steps in every third launch, for 14 s"
cat turns/jobs/a/checkpoint/steps >turns.steps
awk '/launch/ { n++; row++; most = row > most ? row : most; next } { row = 0 } END { print n + 0, most + 0 }' turns.steps >in_a_row
echo "# launches, and most in a row without a step: $(cat in_a_row)"
# on a busy machine the third one may be stopped before its step as well
ok "who gets somewhere in between is not named" sh -c '[ "$(cut -d " " -f 2 in_a_row)" -gt 3 ] || ! grep "was started" err.turns'

# ---- leases ----
wait $lease
ran="two jobs that need .6 s, in rounds of 1 s, for 16 s"
ok "first steps are in the events" grep -q ',first_step,a,big,,0,' ev.lease
awk -F, '($2 == "start" || $2 == "resume") { at[$3] = $1 } $2 == "first_step" { d = $1 - at[$3]; sum += d; n++; if (d < .55 || d > 6) bad++ }
	END { print int(.55 * 16 / (1 + (n > 0 ? 4 * sum / n : 0))) >"least"; exit !(n > 1 && !bad) }' ev.lease
status=$?
is_status 0 "and come as long after the start as it takes"
starts=$(starts ev.lease)
echo "# $starts starts in 16 s, 16 without leases"
ok "GPUs are kept for longer than a round: $starts starts" test "$starts" -le 8
ok "and handed over, $(cat least) times at least" test "$starts" -ge "$(cat least)"
kill_at=$(tail -n 1 lease/events.csv | cut -d, -f1)
timeout 8 gv-run --resume -s lease --round=1 --grace=5 >again 2>err
awk -F, -v t="$kill_at" '$2 == "resume" && $1 > t { n++ } END { exit n > 4 }' again
status=$?
is_status 0 "also by who goes on with the state"
ok "the journal is a table of events" gv-report lease/events.csv

# who starts at once is moved as ever: turns are of a round and four times what a start takes, which
# on a busy machine is not at once
wait $fast
ran="two jobs that start at once, in rounds of .5 s, for 8 s"
starts=$(starts ev.fast)
awk -F, '($2 == "start" || $2 == "resume") { at[$3] = $1 } $2 == "first_step" { d += $1 - at[$3]; n++ }
	END { print int(.55 * 8 / (.5 + (n > 0 ? 4 * d / n : 0))) }' ev.fast >least
ok "who starts at once takes turns: $starts starts, $(cat least) at least" test "$starts" -ge "$(cat least)"
done_testing
