#!/bin/sh
# gv-run among people, signals and files that are not as they should be.
. "${0%/*}/lib.sh"
. "$src/tests/runs.sh"

nothing_left() { if [ -z "$(strays)" ]; then pass "$1"; else fail "$1"; fi; }
cat >short.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
a,20,$w -r 200,big,200,0.5
b,20,$w -r 200,small,200,0.5
EOT
cat >long.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
l,100000,$w -r 100,big,100,1
EOT

# ---- the state is its owner's ----
(umask 0 && gv-run -c cluster.csv -s open --round=0.3 -o open.csv short.csv) >out 2>err && status=0 || status=$?
ran="umask 0; gv-run -s open"
is_status 0 "with no umask"
find open ! -type l -perm /077 ! -path '*/checkpoint/*' >got
same_file /dev/null got "nothing of the state is open to others"
ok "what jobs write has the user's mask" sh -c 'test "$(stat -c %a open/jobs/a/checkpoint/steps)" = 666'
ok "so has the output" sh -c 'test "$(stat -c %a open.csv)" = 666'
chmod 755 open
run gv-run --resume -s open
ok "a state that is older is closed" sh -c 'test "$(stat -c %a open)" = 700'
if [ "$(id -u)" -eq 0 ] && have setpriv; then
	run setpriv --reuid=65534 --clear-groups flock -n open/workers.lock true
	err_has 'Permission denied' "a stranger cannot lock it"
	# what a stranger prepares is not run, and no file is written through his links
	cp -R open theirs && chown -R 65534 theirs && chmod 750 theirs
	rm -f theirs/jobs/*/checkpoint/done theirs/events.csv theirs/clock
	sed -i '2s/,exec [^,]*,/,touch was.run; exit 0,/' theirs/jobs.csv
	run gv-run --resume -s theirs --round=0.3
	is_status 2 "the state of a stranger is refused"
	err_has "theirs: is refused: another user's, of uid 65534" "and is named"
	ok "its commands are not run" test ! -e was.run -a -s theirs/jobs.csv
	ok "and nothing of it is changed" sh -c 'test "$(stat -c %a theirs)" = 750'
	mkdir -m 777 planted
	seq 100 >mine
	cp mine was.mine
	ln -s ../mine planted/clock && chown -h 65534 planted/clock
	run gv-run -c cluster.csv -s planted --round=0.3 short.csv
	is_status 2 "so is a link of a stranger in one's own"
	err_has "planted/clock: is refused: another user's, of uid 65534" "which is named"
	same_file was.mine mine "and nothing is written through it"
	rm planted/clock
	run timeout -s KILL 60 gv-run -q -c cluster.csv -s planted --round=0.3 short.csv
	is_status 0 "without it, it is used"
else
	skip "not root: strangers"
fi

# ---- locks of others ----
# shellcheck disable=SC2046
locker flock open $(find open -type f)
ok "somebody has a flock on each file of the state, and on itself" grep locked held
sed -i '/,finish,[ab],/d; /,end,/d; s/,[^,]*$//' open/events.csv
: >open/clock # which knows how long the journal was
rm -f open/jobs/*/checkpoint/done
run timeout -s KILL 60 gv-run --resume -s open --round=0.3
silent "a run goes on"
is_events 2 finish '' "to its end"
gv-run -q -s open -c cluster.csv --round=0.3 --grace=0.2 long.csv >out 2>err &
pid=$!
true_within 60 grep -q ',start,l,' open/events.csv
run gv-run -s open -c cluster.csv long.csv
is_status 75 "and keeps a second one out"
err_has "gv-run already runs here, process $pid" "by its number"
kill -9 "$pid"
wait "$pid" 2>/dev/null
gv-run --resume -s open --round=0.3 --grace=0.2 >out 2>err &
pid=$!
true_within 60 grep -q ',resume,l,' out
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
ran="gv-run --resume after kill -9"
is_status 143 "killed, it goes on at once"
release
rm -rf open
(umask 0 && gv-run -c cluster.csv -s open --round=0.3 -o open.csv short.csv) 2>err
locker record open/lock
run gv-run --resume -s open
is_status 75 "another program's record lock on lock"
is_err "is told from a gv-run's" <<EOT
gv-run: $(cd open && pwd -P)/lock: locked by process $holder, which is no gv-run
EOT
release
locker record open/workers.lock
run gv-run -q --resume -s open --grace=0
is_status 75 "and on workers.lock"
is_err "from the workers'" <<EOT
gv-run: $(cd open && pwd -P)/workers.lock: locked by process $holder, which is none of gv-run's
EOT
release

# ---- files that are none ----
for f in clock events.csv jobs.csv cluster.csv policy workers.lock; do
	rm -rf pipes
	cp -r open pipes
	rm -f "pipes/$f"
	mkfifo "pipes/$f"
	run timeout -s KILL 10 gv-run --resume -s pipes
	is_status 2 "a pipe in place of $f"
	is_err "is an error" <<EOT2
gv-run: pipes/$f: not a regular file
EOT2
done
rm -rf pipes
mkdir logs
mkfifo logs/a.log
run timeout -s KILL 10 gv-run -c cluster.csv -s logged --log-dir=logs --round=0.3 short.csv
is_status 2 "a pipe in place of a log"
is_err "is not waited for" <<'EOT2'
gv-run: logs/a.log: is a pipe
EOT2
# the files of a job are made when it is launched
awk -v w="$w" 'BEGIN { print "job_id,total_steps,command,gpu_type,steps_per_s,share"
	for (i = 0; i < 200; i++) print "j" i ",100000," w " -r 200,small,200,0.005" }' >many.csv
timeout 60 gv-run -q -c cluster.csv -s many --round=300 many.csv >out 2>err &
pid=$!
true_within 60 grep -q ,start, many/events.csv
ok "jobs that wait have no files yet" test "$(find many/jobs -mindepth 1 -maxdepth 1 | wc -l)" -lt 10
kill $pid
wait $pid
# a signal while many are launched
printf 'gpu_type,gpus,threads\nbig,400,1\n' >400.csv
awk -v w="$w" 'BEGIN { print "job_id,total_steps,command,gpu_type,steps_per_s,share"
	print "j0,100000,kill -TERM $(cat pid); exec " w " -r 20,big,20,1"
	for (i = 1; i < 400; i++) print "j" i ",100000,exec " w " -r 20,big,20,1" }' >launched.csv
run timeout -s KILL 100 sh -c 'echo $$ >pid; exec gv-run -q -c 400.csv -s launched --round=300 launched.csv'
is_status 143 "told to stop while 400 jobs are launched"
starts=$(grep -c ,start, launched/events.csv)
ok "it launches no more: $starts" test "$starts" -gt 0 -a "$starts" -lt 400
launched_have() { test "$(grep -c ",$1," launched/events.csv)" -eq "$2"; }
ok "who was launched is stopped" launched_have preempt "$starts"
ok "and nobody fails" launched_have fail 0
if [ -n "${GV_LONG:-}" ]; then
	printf 'gpu_type,gpus,threads\nbig,150,1\n' >wide.csv
	awk -v w="$w" 'BEGIN { print "job_id,total_steps,command,gpu_type,steps_per_s,share"
		for (i = 0; i < 150; i++) print "j" i ",100000," w " -r 20 -e 20,big,20,1" }' >all.csv
	gv-run -q -c wide.csv -s wide --round=300 --grace=5 all.csv >out 2>err &
	pid=$!
	each_twice() { [ "$(awk -F, '$2 == "checkpoint" { n[$3]++ } END { for (j in n) k += n[j] > 1; print k + 0 }' wide/events.csv)" = 150 ]; }
	if true_within 60 each_twice; then pass "150 running jobs are read in turn"; else fail "150 running jobs are read in turn" out err; fi
	kill $pid
	wait $pid
fi
# each launch holds a descriptor of gv-run's, whatever its shell allows; workers keep that
printf 'gpu_type,gpus,threads\nbig,40,1\n' >wide.csv
awk -v w="$w" 'BEGIN { print "job_id,total_steps,command,gpu_type,steps_per_s,share"
	for (i = 0; i < 40; i++) print "j" i ",1,\"ulimit -n; sleep 3; " w " -r 20\",big,20,1" }' >few.csv
# shellcheck disable=SC3045
run sh -c 'ulimit -Sn 30; exec timeout 60 gv-run -c wide.csv -s fds --round=300 few.csv'
is_status 0 "more jobs at once than descriptors"
silent_err() { if [ ! -s err ]; then pass "$1"; else fail "$1" err; fi; }
silent_err "all are launched"
ok "workers may open what they could" test "$(cat fds/jobs/*/log | sort -u)" = 30
mkdir -p late/jobs
: >late/jobs/b
gv-run -c cluster.csv -s late --round=0.3 short.csv >out 2>err &
pid=$!
true_within 60 grep -q 'will be tried' err
rm late/jobs/b
status=0
wait $pid || status=$?
is_status 0 "files of a job that cannot be made"
is_err "are no failure of the job" <<EOT2
gv-run: warning: job "b" cannot be launched: $PWD/late/jobs/b: cannot make the directory: File exists; it will be tried again
EOT2
is_events 1 finish b "it is launched when they can"
run gv-run -c cluster.csv -s half --round=0.3 short.csv
sed -i '/,finish,[ab],/d; /,end,/d; s/,[^,]*$//' half/events.csv
rm half/clock # which knows how long the journal was
rm -rf half/jobs/a/progress half/jobs/*/checkpoint/done
mkdir half/jobs/a/progress
run gv-run --resume -s half
is_events 1 finish b "one job's progress that cannot be read stops no other"
err_has 'half/jobs/a/progress: a progress file must be a regular file' "and is told"
ok "once" test "$(grep -c 'a progress file must be' err)" -eq 1
cp -r open cut
sed -i '1s/,row_crc32$/\nrow_crc32/' cut/events.csv # a byte of the header
run gv-run --repair -s cut
is_status 1 "a header cut before its checksums' name is damaged"
run gv-run --resume -s cut
is_status 2 "and is no journal without checksums"
run timeout -s KILL 60 gv-run --resume --repair -s cut
is_status 0 "it is mended"
cp -r open far
sed -i 's/,[^,]*$//; $s/,[0-9]*,,$/,9223372036854775807,,/' far/events.csv # without checksums
run gv-run --resume -s far
is_status 2 "a round beyond all numbers"
err_has 'round: expected a whole number of 0 or more, got "9223372036854775807"' "is an error"

# ---- a journal that is cut off ----
# at every byte: what was on disk is missed, but for a last line that a kill can tear
rm -rf whole cut
gv-run -q -c cluster.csv -s whole --round=0.3 short.csv >/dev/null
mv whole/events.csv all.csv
size=$(wc -c <all.csv)
head=$(head -n 1 all.csv | wc -c)
for n in $(seq $((head + 30)) 97 $((size - 1))) $((size - 1)); do
	head -c "$n" all.csv >whole/events.csv
	gv-run -q --resume -s whole >out 2>err
	echo $?
done | sort | uniq -c >statuses
ok "is an error, wherever" eval '[ "$(awk "{ print \$2 }" statuses)" = 2 ]'
head -n 5 all.csv >whole/events.csv
run gv-run --resume -s whole
cut=$((size - $(head -n 5 all.csv | wc -c)))
is_err "how much is missing is told" <<EOT
gv-run: $(cd whole && pwd -P)/events.csv: is cut off: $cut bytes that were written are missing
gv-run: without these lines jobs may run again: gv-run --repair says what would be lost, with --resume it goes on
EOT
run gv-run --repair -s whole
is_status 1 "--repair: status 1"
out_has "$cut bytes behind them are missing: what happened since the last event is lost, and jobs that ended then run again" "it is told there"
run gv-run --resume --repair -s whole
is_status 0 "--resume --repair goes on"
err_has "warning: $(cd whole && pwd -P)/events.csv: is cut off: $cut bytes that were written are missing" "with a warning"
is_events 1 finish a "to the end"
run gv-run --resume -s whole
is_status 0 "and the state is whole"

# ---- a journal that is damaged ----
ok "each line has its number and checksum" sh -c '! sed 1d open/events.csv | grep -Ev ",[0-9a-f]{16}\$"'
old() { rm -rf "$1" && cp -r open "$1" && sed -i 's/,[^,]*$//' "$1/events.csv"; }
old old
run gv-run --resume -s old
silent "a journal without checksums is read"
is_events 0 start '' "as it is"
ok "and has them from then on" sh -c 'head -n 1 old/events.csv | grep -q ",row_crc32\$"'
lines=$(wc -l <open/events.csv)
at=$(grep -n ',finish,a,' open/events.csv | cut -d: -f1)
for what in quote byte cut; do
	rm -rf harm
	cp -r open harm
	case $what in
	quote) sed -i "${at}s/finish/\"inish/" harm/events.csv ;;
	byte) sed -i "${at}s/finish/finisj/" harm/events.csv ;;
	cut) sed -i "${at}s/^.....//" harm/events.csv ;;
	esac
	cp harm/events.csv keep.csv
	run gv-run --resume -s harm
	is_status 2 "a damaged line ($what): status 2"
	err_has "harm/events.csv:$at: damaged: its checksum is wrong" "with its number"
	is_events 0 start '' "and nothing is started"
	same_file keep.csv harm/events.csv "nor changed"
	run gv-run --repair -s harm
	is_status 1 "--repair: status 1"
	out_has "events.csv:$at: damaged, would be lost: \"" "says what would be lost"
	out_has "$((lines - 2)) of $((lines - 1)) lines are whole" "and what would not"
	same_file keep.csv harm/events.csv "and changes nothing"
done
run gv-run --resume --repair -s harm
is_status 0 "--resume --repair goes on"
is_events 1 finish a "does again what was lost"
is_events 0 start b "and nothing else"
same_file keep.csv harm/events.csv.damaged "the journal as it was is kept"
run gv-run --repair -s harm
is_status 0 "nothing is damaged then"
printf '9.5,resume,"a' >>harm/events.csv
run gv-run --repair -s harm
out_has 'the last line is torn: 13 bytes' "a torn line is told"
is_status 0 "and is no damage"
for what in 's/end/"nd/' 's/,end,/,end"/'; do
	rm -rf harm
	cp -r open harm
	sed -i "\$$what" harm/events.csv
	run gv-run --resume -s harm
	is_status 2 "a last line with a quote too many ($what) is not torn"
	err_has "harm/events.csv:$lines: damaged" "it is damaged"
	err_has "without these lines jobs may run again: gv-run --repair says what would be lost, with --resume it goes on" \
		"and what to do is said"
done
# ordered NAME AWK-PROGRAM TEXT LOSS SAYS: whole lines in another order
ordered() {
	rm -rf harm
	cp -r open harm
	awk -v at="$at" "$2" open/events.csv >harm/events.csv
	cp harm/events.csv keep.csv
	run gv-run --resume -s harm
	is_status 2 "a line $1: status 2"
	err_has "harm/events.csv:$3" "is told"
	same_file keep.csv harm/events.csv "and nothing is changed"
	run gv-run --status -s harm
	is_status 2 "nor is its status told"
	run gv-run --repair -s harm
	is_status 1 "--repair: status 1"
	out_has "events.csv:$4" "says what becomes of it"
	run gv-run --resume --repair -s harm
	is_status 0 "--resume --repair goes on"
	is_events "$5" finish a "and runs again what was lost, and no more"
	same_file keep.csv harm/events.csv.damaged "the journal as it was is kept"
	run gv-run --repair -s harm
	silent "nothing is wrong then"
}
ordered "that was swapped with the next" 'NR == at { kept = $0; next } { print } NR == at + 1 { print kept }' \
	"$((at + 1)): damaged: it stood before others that are before it: \"" \
	"$((at + 1)): stood before others that are before it, would be put back: \"" 0
ordered "that stands twice" '{ print } NR == at' "$((at + 1)): damaged: it is there twice: \"" \
	"$((at + 1)): is there twice, would be left once: \"" 0
ordered "that was taken out" 'NR != at' "$at: damaged: 1 line is missing before it" "$at: missing before it, are lost: 1 line" 1
# journals of before rows had numbers
row_sums() {
	sed 's/,[^,]*$//' "$1" | while IFS= read -r line; do
		crc=$(printf %s "$line" | gzip -c | tail -c 8 | od -An -tx4 -N4 | tr -d ' ')
		case $line in time_s,*) crc=crc32 ;; esac
		printf '%s,%s\n' "$line" "$crc"
	done >"$1.old"
	mv "$1.old" "$1"
}
rm -rf old
cp -r open old
row_sums old/events.csv
rm old/clock # which knows how long it was
run gv-run --resume -s old
silent "a journal of lines without numbers is read"
is_events 0 start '' "as it is"
ok "and has them from then on" sh -c 'head -n 1 old/events.csv | grep -q ",row_crc32\$"'
rm -rf old
cp -r open old
row_sums old/events.csv
sed -i "${at}s/finish/finisj/" old/events.csv
run gv-run --resume -s old
err_has "old/events.csv:$at: damaged: its checksum is wrong" "and its damage is seen"
rm -rf harm
cp -r open harm
printf %s "$(cat open/events.csv)x" >harm/events.csv
run gv-run --repair -s harm
is_status 1 "nor is one whose line feed is another byte"
rm -rf harm
cp -r open harm
sed -i '1s/event/evxnt/' harm/events.csv
run gv-run --resume -s harm
is_status 2 "a damaged header"
err_has 'harm/events.csv:1: damaged' "is line 1"
run gv-run --resume --repair -s harm
is_status 0 "it can be made anew"
is_events 0 start '' "and nothing is lost"
run gv-run --repair -s none
is_status 2 "no journal"
for what in empty header gone; do
	rm -rf harm
	cp -r open harm
	case $what in
	empty) : >harm/events.csv ;;
	header) sed -i 1q harm/events.csv ;;
	gone) rm harm/events.csv ;;
	esac
	run gv-run --resume -s harm
	is_status 2 "a journal that has lost all ($what)"
	is_err "does not begin anew by itself" <<EOT
gv-run: $(cd harm && pwd -P)/events.csv: holds no events though the run had begun; --resume --repair runs all jobs again
EOT
	run gv-run --repair -s harm
	[ $what = gone ] || out_has 'the run had begun: its events are lost, and all jobs would run again' "--repair says so"
done
run gv-run --resume --repair -s harm
is_status 0 "but when it is told to"
is_events 2 finish '' "all jobs run again"

# ---- a clock that is damaged ----
for clock in '0 1e300 5' '-1e300 1 5' '1 9 9000' x; do
	rm -rf harm
	cp -r open harm
	sed -i '/,finish,b,/d; /,end,/d; s/,[^,]*$//' harm/events.csv
	printf '%-99s\n' "$clock" >harm/clock
	run gv-run --resume -s harm --round=0.3
	is_status 0 "a clock that says $clock"
	ok "is not believed" awk -F, 'NR > 1 && ($1 > 60 || $8 > 999) { bad = 1 } END { exit bad }' out
done

# ---- readers that do not read ----
cat >chatty.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
EOT
for i in 0 1 2 3 4 5 6 7 8 9; do
	for j in 0 1 2 3 4 5 6 7 8 9; do
		echo "a-job-with-quite-a-long-name-that-fills-a-pipe-and-then-has-even-more-letters-and-then-again-and-again-and-again-and-at-last-an-end-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j-$i$j,1,\"echo step 1 >>\$GV_PROGRESS; echo checkpoint 1 >>\$GV_PROGRESS\",big,1,0.01"
	done
done >>chatty.csv
mkfifo lazy
# shellcheck disable=SC2217
sleep 600 <lazy &
sleeper=$!
gv-run -c one.csv -s lazy.state --round=0.2 chatty.csv >lazy 2>err &
pid=$!
true_within 200 grep -q ',end,' lazy.state/events.csv
ran="gv-run with a reader that does not read"
if [ "$(grep -c ',finish,' lazy.state/events.csv)" -eq 100 ]; then pass "a full pipe stops no round"; else fail "a full pipe" err; fi
ok "it waits for its reader" kill -0 "$pid"
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
is_status 143 "until a signal comes"
err_has "warning: not all events were read; all are in $(cd lazy.state && pwd -P)/events.csv" "and says what is missing"
# messages in the same pipe
sed 's/,"echo[^"]*",big/,exit 3,big/' chatty.csv >failing.csv
gv-run -c one.csv -s mixed.state --round=0.2 --max-failures=1 failing.csv >lazy 2>&1 &
pid=$!
true_within 200 grep -q ',end,' mixed.state/events.csv
ran="gv-run with a reader that reads neither events nor messages"
if [ "$(grep -c ',drop,' mixed.state/events.csv)" -eq 100 ]; then pass "a pipe full of messages stops no round"; else fail "a pipe full of messages"; fi
kill -TERM "$pid"
true_within 60 sh -c "! kill -0 $pid 2>/dev/null" || kill -9 "$pid"
status=0
wait "$pid" || status=$?
is_status 143 "nor a signal"
kill "$sleeper"
wait "$sleeper" 2>/dev/null
(gv-run -c one.csv -s mixed2.state --round=0.2 --max-failures=1 failing.csv 2>&1; echo $? >code) | { true_within 200 grep -q ',end,' mixed2.state/events.csv; cat; } >out
status=$(cat code)
is_status 1 "messages to a reader that begins late"
got=$(grep -c ' is dropped: ' out)
if [ "$got" -eq 100 ]; then pass "wait for it"; else fail "$got of 100 messages came" out; fi
(gv-run -c one.csv -s slow.state --round=0.2 chatty.csv; echo $? >code) 2>err | { true_within 200 grep -q ',end,' slow.state/events.csv; cat; } >out
status=$(cat code)
silent "a reader that begins late"
sed 's/,[^,]*$//' slow.state/events.csv >got
same_file out got "has all of it"
run gv-run --tsv -c one.csv -s tsv.state --round=0.2 short.csv
tr '\t' , <out >got
sed 's/,[^,]*$//' tsv.state/events.csv >want
same_file want got "as TSV, too"
if [ -n "${GV_PYTHON:-}" ]; then
	cat >nonblock.py <<'EOT'
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
p = subprocess.Popen(sys.argv[1:], stdout=w)
os.close(w)
time.sleep(1.5)
got = b""
while True:
    piece = os.read(r, 65536)
    if not piece:
        break
    got += piece
open("out", "wb").write(got)
sys.exit(p.wait())
EOT
	"$GV_PYTHON" nonblock.py gv-run -c one.csv -s nb.state --round=0.2 chatty.csv 2>err && status=0 || status=$?
	silent "a standard output that does not wait"
	sed 's/,[^,]*$//' nb.state/events.csv >got
	same_file out got "gets all of it"
else
	skip "no python3"
	skip "no python3"
fi

# ---- GPUs that are in two pools ----
printf 'gpu_type,gpus,ids\nbig,2,0;1\nsmall,2,1;2\n' >twice.csv
run gv-run -n -c twice.csv short.csv
is_status 2 "a GPU in two pools"
is_err "both lines are named" <<'EOT'
gv-run: twice.csv:3: ids: GPU 1 is in two pools of this node, first at line 2
EOT

# ---- signals ----
cat >slow.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
s,100000,"trap 'sleep 0.6; echo saved >\$GV_CHECKPOINT_DIR/saved; exit 143' TERM; touch up; while :; do sleep 0.05; done # $mark",big,100,1
EOT
env --default-signal=HUP gv-run -q -c one.csv -s hup --grace=9 slow.csv >out 2>err &
pid=$!
true_within 60 test -e up
kill -HUP "$pid"
sleep 0.1
kill -HUP "$pid"
status=0
wait "$pid" || status=$?
ran="SIGHUP twice, as of a terminal that closes"
is_status 129 "SIGHUP twice: status 129"
ok "the job saves itself" grep -q saved hup/jobs/s/checkpoint/saved
nothing_left "and nothing is left"

# ---- done when told to stop ----
cat >done.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
d,10,"echo step 10 >>\$GV_PROGRESS; echo checkpoint 10 >>\$GV_PROGRESS; exec sleep 600 # $mark",big,10,0.5
e,300,$w -r 100,big,100,0.5
EOT
run timeout -s KILL 60 gv-run -c one.csv -s "done" --round=1.5 --grace=5 --max-failures=2 done.csv
is_status 0 "a job that is done and does not leave by itself"
is_events 1 finish d "has finished when it is told to stop"
is_events 0 resume d "and is not started again"
out_has 'status 143 when told to stop' "the event says how it left"
sed '/^e,/d' done.csv >safe.csv
gv-run -q -c one.csv -s safe --round=60 --grace=0.2 safe.csv >out 2>err &
pid=$!
true_within 60 grep -qs checkpoint safe/jobs/d/progress
true_within 60 grep -q ,start,d, safe/events.csv
kill -9 "$pid"
wait "$pid" 2>/dev/null
run timeout 60 gv-run --resume -q -s safe
is_status 0 "one that was done when gv-run was killed"
is_events 0 resume d "is not, either"

# ---- launches that cannot be made ----
cat >forks.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
f,20,$w -r 200,big,200,1
EOT
if [ -z "${GV_SAN:-}" ]; then
	run timeout 60 env LD_PRELOAD="$build/preload/faults.so" GV_FAIL=fork:1:EAGAIN gv-run -c one.csv -s forks --max-failures=1 forks.csv
	is_status 0 "a launch that cannot be made is made later"
	is_events 0 fail f "and is no failure of the job"
	is_events 1 finish f "which finishes"
	ran="counting warnings"
	if [ "$(grep -c 'cannot be launched' err)" -eq 1 ]; then pass "it is said once"; else fail "said once" err; fi
	run timeout 60 env LD_PRELOAD="$build/preload/faults.so" GV_FAIL=execve:1:EAGAIN gv-run -c one.csv -s execs --max-failures=1 forks.csv
	is_status 0 "a shell that cannot be run is a launch that cannot be made"
	is_events 0 fail f "and no failure of the job"
	is_err "and is said" <<'EOT'
gv-run: warning: job "f" cannot be launched: cannot run /bin/sh as worker 0: Resource temporarily unavailable; it will be tried again
EOT
	# a shell that runs and then cannot fork, twice; what it says is known by its words and its status
	cat >starved.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
f,20,"n=$PWD/tried; if [ ! -e \$n.2 ]; then mv \$n.1 \$n.2 2>&- || : >\$n.1; export LD_PRELOAD=$build/preload/faults.so GV_FAIL=fork:1:EAGAIN; exec sh -c '(:); exit 0'; fi; $w -r 200",big,200,1
EOT
	run timeout 60 gv-run -c one.csv -s starved --max-failures=1 starved.csv
	is_status 0 "a shell that cannot fork"
	is_events 0 fail f "is no failure of the job"
	is_events 2 preempt f "it is tried again, and again"
	is_events 1 finish f "and the job finishes"
	out_has ',preempt,f,big,,0,,0,,its shell cannot fork' "the event says why"
	is_err "and it is said once" <<'EOT'
gv-run: warning: job "f" cannot be launched: its shell cannot fork; it will be tried again
EOT
	printf 'job_id,total_steps,command,gpu_type,steps_per_s,share\nf,20,"echo I cannot fork; exit 2",big,200,1\n' >poor.csv
	run timeout 60 gv-run -q -c one.csv -s poor --max-failures=1 poor.csv
	is_events 1 fail f "other words are the job's own"
else
	skip "sanitizers are loaded first: launches that cannot be made"
fi
done_testing
