#!/bin/sh
# gv-run: how a run is looked at: --follow, and --status for people.
. "${0%/*}/lib.sh"

w=$build/helpers/worker
printf 'gpu_type,gpus,threads\nbig,2,1\n' >two.csv
header=job_id,total_steps,command,gpu_type,steps_per_s,share
{
	echo $header
	echo "a,60,$w -r 100,big,100,0.5"
	echo "\"b
c\",60,$w -r 100,big,100,0.5"
	echo "long,100000,$w -r 100,big,100,0.5"
} >jobs.csv
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

# ---- events as they come ----
mkdir empty
run gv-run --follow -s empty
is_status 2 "no run"
is_err "is said" <<'EOT'
gv-run: empty: holds no run
EOT
run gv-run --follow
err_has 'gv-run: --follow needs the state: -s DIR' "no state, too"
run gv-run --follow -s empty jobs.csv
err_has 'gv-run: --follow reads no table' "no table is read"
gv-run -q -c two.csv -s s --round=0.5 jobs.csv >ev 2>err.run &
pid=$!
within 60 test -s s/events.csv
gv-run --follow -s s >followed 2>err.follow &
follower=$!
gv-run --follow --tsv -s s -o file.tsv 2>>err.follow &
second=$!
ok "events come as they happen" within 60 grep -q ',finish,a,' followed
kill -9 $pid
wait $pid 2>/dev/null
ok "that nobody runs it is said" within 60 grep -q 'gv-run: s: no gv-run runs here: events come when one goes on with it' err.follow
gv-run -q --resume -s s --round=0.5 >again 2>err.again &
pid=$!
ok "it goes on behind a restart" within 60 grep -q ,restart, followed
gv-run --cancel -s s long
wait $pid
status=0
wait $follower || status=$?
ran="gv-run --follow"
is_status 0 "it ends with the run"
wait $second
sed 's/,[0-9a-f]\{16\}$//; 1s/,row_crc32$//' s/events.csv >want
same_file want followed "all events, each once, also of jobs with line feeds in their names"
gv-report followed >of-followed
gv-report file.tsv >of-tsv
ok "TSV into a file, too" test -s of-tsv
same_file of-followed of-tsv "with the same events"
run timeout 60 gv-run --follow -s s
is_status 0 "a run that is over"
same_file want out "is written whole"
ran="gv-run --follow | head" status=0
timeout 60 gv-run --follow -s s 2>err | head -n 1 >out
ok "a reader may leave" test ! -s err
run sh -c 'gv-run --follow -s s >/dev/full'
is_status 2 "a full disk"
err_has 'cannot write' "is an error"
cp -r s old
sed 's/,[0-9a-f]\{16\}$//; 1s/,row_crc32$//' s/events.csv >old/events.csv
run gv-run --follow -s old
err_has 'old/events.csv: is of an earlier build; --resume writes it anew' "a journal of before"
echo nonsense >old/events.csv
run gv-run --follow -s old
err_has 'old/events.csv: no journal of gv-run' "and no journal"
grep -v ,end, s/events.csv >old/events.csv
rm followed # of before
timeout 60 gv-run --follow -s old >followed 2>err.follow &
follower=$!
within 60 test -s followed
{
	head -n 1 s/events.csv | sed 's/,row_crc32/,with_job_id,row_crc32/'
	sed 1d s/events.csv
} >old/new && mv old/new old/events.csv
wait $follower
ran="gv-run --follow of a journal that is replaced"
cp err.follow err
err_has 'old/events.csv: was written anew, with other columns' "other columns end it"
grep -v ,end, s/events.csv >old/events.csv
rm followed
timeout 60 gv-run --follow -s old >followed 2>err.follow &
follower=$!
within 60 test -s followed
sed 5d s/events.csv >old/new && mv old/new old/events.csv
status=0
wait $follower || status=$?
ran="gv-run --follow of a journal that loses a line"
is_status 2 "so do lines that it has handed on and that are there no more"
cp err.follow err
err_has 'old/events.csv: was written anew, with other lines' "which is said"
grep -v ,end, s/events.csv >old/events.csv
rm followed
timeout 60 gv-run --follow -s old >followed 2>err.follow &
follower=$!
within 60 test -s followed
cp s/events.csv old/new && mv old/new old/events.csv
status=0
wait $follower || status=$?
ran="gv-run --follow of a journal that is copied"
is_status 0 "one that begins as before is gone on with"
same_file want followed "where it was left"

mkdir early
cp s/jobs.csv s/cluster.csv early
timeout 60 gv-run --follow -s early >followed 2>err &
follower=$!
ran="gv-run --follow of a run that has not begun"
ok "a run without a journal is waited for" within 60 grep -q 'gv-run: early: no gv-run runs here' err
head -c 20 s/events.csv >early/new && mv early/new early/events.csv
sleep .3
cp s/events.csv early/new && mv early/new early/events.csv
status=0
wait $follower || status=$?
is_status 0 "until it is there"
same_file want followed "from its first event on"
ok "that nobody runs it is said once" test "$(wc -l <err)" -eq 1

# ---- for people ----
run gv-run --status -s s
silent "all is done: nothing to say"
rm -rf s
{
	echo $header
	echo "now,100000,$w -r 100,big,123.456789,0.5"
	printf '"\033[31mred",100000,%s -r 100,big,1,0.5\n' "$w"
	echo "b,10,$w -r 100,big,100,0.5"
} >jobs.csv
gv-run -q -c two.csv -s s --round=60 jobs.csv >ev 2>err.run &
pid=$!
two_train() { [ "$(grep -c ,first_step, s/events.csv)" -ge 2 ]; }
within 60 two_train
if have script; then
	script -qec "COLUMNS=200 gv-run --status -s s" /dev/null </dev/null | tr -d '\r' >out
	ran="gv-run --status on a terminal" status=0
	awk '{ print $1, $2, $3, $7 }' out >got
	cat >want <<'EOT'
job_id state gpu_type steps_per_s
now running big 123.5
"\x1b[31mred" running big 1
EOT
	head -n 3 got >three
	same_file three want "a terminal gets columns"
	ok "and no control characters" sh -c '! grep -q "$(printf "\033")" out'
	awk 'NR == 1 { at = index($0, "state") } substr($0, at - 1, 1) != " " || substr($0, at, 1) == " " { bad = 1 } END { exit bad }' out
	status=$?
	is_status 0 "each column begins at its place"
	for columns in 40 60 80; do
		script -qec "COLUMNS=$columns gv-run --status -s s" /dev/null </dev/null | tr -d '\r' >out
		[ "$(wc -L <out)" -le $columns ] && [ "$(grep -c '^job_id ' out)" -gt 1 ]
		status=$?
		is_status 0 "it fits in $columns columns"
		awk '/^job_id / { for (i = 2; i <= NF; i++) print $i }' out >got
		printf '%s\n' state gpu_type gpus steps total_steps steps_per_s share received_share eta_s >want
		same_file want got "with all of them"
	done
else
	skip "a terminal: no script(1)"
fi
kill -9 $pid
wait $pid 2>/dev/null
cat >more.csv <<EOT
$header
c,10,$w,big,100,0.5
EOT
gv-run -q --submit -s s more.csv
gv-run --hold -s s b
echo why >s/submit/1.1.refused
run gv-run --status -s s
is_status 0 "nobody runs it"
grep -o 'no gv-run runs here; this is how it was on 20' err >got
echo 'no gv-run runs here; this is how it was on 20' >want
same_file want got "is said, and since when"
err_has 'gv-run: s: 1 submission to be taken' "what waits"
err_has 'gv-run: s: 1 request to be done' "also requests"
err_has 'gv-run: s: 1 submission refused; why is in s/submit/*.refused' "what was refused"
run gv-run -q --status -s s
silent "--quiet"

# ---- large ones ----
n=10000
rm -rf s && mkdir s && cp two.csv s/cluster.csv
awk -v n=$n 'BEGIN {
	print "job_id,total_steps,command,gpu_type,steps_per_s,share" >"s/jobs.csv"
	print "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason" >"s/events.csv"
	for (i = 1; i <= n; i++) {
		printf "j%d,1000,true,big,100,0.0001\n", i >"s/jobs.csv"
		printf "0,arrive,j%d,,,,1000,,,\n0,allocate,j%d,big,,,,,0.0001,\n", i, i >"s/events.csv"
	}
	for (i = 1; i < n; i++)
		printf "%d,start,j%d,big,,0,,,,\n%d,finish,j%d,big,,0,1000,,,\n", i, i, i + 1, i >"s/events.csv" }' </dev/null
run gv-run -q --status -s s
ok "10,000 jobs" test "$(wc -l <out)" -eq $((n + 1))
best=$(for i in 1 2 3 4 5; do
	/usr/bin/env python3 -c '
import resource, subprocess
subprocess.run(["gv-run", "-q", "--status", "-s", "s"], stdout=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(r.ru_utime + r.ru_stime)'
done | sort -n | head -n 1)
echo "# --status of 10,000 jobs: $best s of CPU"
if [ -z "${GV_SAN:-}" ]; then
	ok "in less than .2 s" awk -v t="$best" 'BEGIN { exit !(t < .2) }'
fi
done_testing
