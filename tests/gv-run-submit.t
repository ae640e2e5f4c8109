#!/bin/sh
# gv-run: jobs are added to a run from elsewhere, and none is lost or doubled.
. "${0%/*}/lib.sh"

w=$build/helpers/worker
printf 'gpu_type,gpus,threads\nbig,4,1\n' >four.csv
header=job_id,total_steps,command,gpu_type,steps_per_s,share
# table STEPS JOB...: one that needs so many steps each
table() {
	table_steps=$1
	shift
	echo $header
	for j; do echo "$j,$table_steps,$w -r 200,big,200,0.05"; done
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
has() { grep -q "$1" s/events.csv; }
nothing_waits() { [ -z "$(ls s/submit 2>/dev/null)" ]; }
# once FILE: of the events in FILE the jobs that finished, each once
once() { awk -F, '$2 == "finish" { print $3 }' "$1" | sort; }

# ---- jobs come ----
table 100000 long >jobs.csv
gv-run -q -c four.csv -s s --round=0.5 --grace=5 jobs.csv >ev 2>err.run &
pid=$!
within 60 has ,start,long
table 20 a b >more.csv
run gv-run --submit -s s more.csv
silent "--submit"
ok "the jobs arrive" within 60 has ',arrive,b,'
ok "and finish" within 60 has ',finish,a,'
ok "the journal says which submission it was" grep -Eq '^[0-9.]+,submit,,,,,,[0-9]+,,[0-9.]+,' s/events.csv
ok "it is removed" within 60 nothing_waits
run sh -c 'sed 1d s/jobs.csv | cut -d, -f1'
is_out "the run's table has them, too" <<'EOT'
long
a
b
EOT
table 20 c | sed 's/^c/"c,d"/' | gv-run --submit -s s
run gv-report s/events.csv
out_has '3 jobs:' "a submission is no job of a report"
ok "a table on standard input" within 60 has ',finish,"c,d",'

# ---- tables that are none ----
run gv-run --submit -s s more.csv
is_status 2 "jobs that the run has"
is_err "are named" <<'EOT'
gv-run: more.csv:2: job_id: the run has a job "a" already
gv-run: more.csv:3: job_id: the run has a job "b" already
EOT
cut -d, -f1-5 more.csv | sed 's/^[ab]/n&/' >no-share.csv
run gv-run --submit -s s no-share.csv
is_err "who cannot be asked needs shares" <<'EOT'
gv-run: no-share.csv:1: missing column "share" (found: job_id, total_steps, command, gpu_type, steps_per_s)
EOT
table 20 d | cut -d, -f1,3- >no-steps.csv
run gv-run --submit -s s no-steps.csv
is_err "every column of the run is needed" <<'EOT'
gv-run: no-steps.csv:1: missing column "total_steps" (found: job_id, command, gpu_type, steps_per_s, share)
EOT
table 20 e | sed 's/$/,x/; 1s/x$/colour/' >colour.csv
run gv-run --submit -s s colour.csv
is_status 0 "one more"
is_err "is left out and said so" <<'EOT'
gv-run: warning: colour.csv:1: column "colour" is none of the run's table, and left out
EOT
table 20 f | sed 's/big/tiny/' >tiny.csv
run gv-run --submit -s s tiny.csv
is_status 2 "GPU types that the run has not are an error"
table 20 f | sed "s|$w -r 200||" >none.csv
run gv-run --submit -s s none.csv
err_has 'none.csv:2: command: expected a command, got nothing' "no command"
echo $header >empty.csv
run gv-run --submit -s s empty.csv
err_has 'gv-run: empty.csv: no job' "no job"
table 20 f | sed 's/$/,elsewhere/; 1s/elsewhere$/node/' >node.csv
run gv-run --submit -s s node.csv
err_has 'node.csv:2: node: the run has no GPUs on node "elsewhere"' "another node"
mkdir nothing
run gv-run --submit -s nothing more.csv
is_err "no run" <<'EOT'
gv-run: nothing: holds no run
EOT
run gv-run --submit more.csv
err_has 'gv-run: --submit needs the state: -s DIR' "no state"

# ---- what nobody but the owner can have entered ----
within 60 has ',finish,e,'
table 20 evil >evil.csv
chmod 600 evil.csv
ln -s "$PWD/evil.csv" s/submit/1.1
ln evil.csv s/submit/1.2
mkfifo s/submit/1.3
# whole when they come there, since they are looked at at once
cp evil.csv wide && chmod 620 wide && mv wide s/submit/1.4
echo nonsense >other && chmod 600 other && mv other s/submit/1.5
mkdir s/submit/1.6
# holes, of as much as is read and of more
truncate -s 268435456 large && chmod 600 large && mv large s/submit/1.7
truncate -s 268435457 larger && chmod 600 larger && mv larger s/submit/1.8
printf 'request,job_id\ncancel,long\n' >cancel.csv
chmod 600 cancel.csv
mkdir -p s/control
ln -s "$PWD/cancel.csv" s/control/1.1
gone() { [ "$(find s/submit ! -name '*.refused' | wc -l)" -eq 2 ] && [ -z "$(ls s/control)" ]; }
ok "odd ones are taken out" within 60 gone
for odd in 1.6 1.8; do within 60 grep -q "s/submit/$odd: is refused" err.run; done # it is said behind that
within 60 grep -q 'submission 1.7 is refused' err.run
within 60 grep -q 's/control/1.1: is refused' err.run
cp err.run err
err_has 's/submit/1.1: is refused: a link' "a link is refused"
err_has 's/submit/1.2: is refused: it has several names' "a file with another name"
err_has 's/submit/1.3: is refused: no regular file' "a pipe"
err_has 's/submit/1.4: is refused: others can write to it' "one that others can write"
err_has 'gv-run: warning: submission 1.5 is refused:' "nonsense"
err_has 's/submit/1.6: is refused: no regular file' "a directory"
err_has 'gv-run: warning: submission 1.7 is refused:' "256 MiB are read"
ok "as large as may be" sh -c '! grep -q "s/submit/1.7: is refused: too large" err'
err_has 's/submit/1.8: is refused: too large' "no more"
err_has 's/control/1.1: is refused: a link' "a request that is a link, too"
ok "no job of it came" sh -c '! grep -q evil s/events.csv s/jobs.csv'
ok "why is kept" grep -q 'has several names' s/submit/1.2.refused
counted() {
	refused=$(find s/submit -name '*.refused' | wc -l | tr -d ' ')
	gv-run --status -s s 2>&1 >/dev/null | grep -qF "s: $refused submissions refused; why is in s/submit/*.refused"
}
ok "how many were refused" within 60 counted
sleep 1
ok "each is said once" test "$(grep -c 's/submit/1.6' err.run)" -eq 1
rm -rf s/submit/1*
chmod 777 s/submit
run gv-run --submit -s s evil.csv
is_err "a directory that others can write to" <<'EOT'
gv-run: s/submit: is refused: others than the owner of the state can write to it
EOT
chmod 700 s/submit
if [ "$(id -u)" -eq 0 ]; then
	cp evil.csv other && chmod 600 other && chown 1234 other && mv other s/submit/1.1
	ok "another user's" within 60 grep -q "s/submit/1.1: is refused: another user's" err.run
else skip "not root: another user's"; fi
gv-run --cancel -s s long
wait $pid 2>/dev/null

# ---- nobody is there ----
run gv-run --submit -s s evil.csv
is_status 0 "no gv-run is there"
is_err "it waits" <<'EOT'
gv-run: s: no gv-run runs here: the jobs wait for the one that goes on with --resume
EOT
run gv-run --submit -s s evil.csv
err_has 'evil.csv:2: job_id: the run has a job "evil" already' "jobs that wait are known"
run gv-run --hold -s s evil
silent "they can be held"
run gv-run --release -s s evil
run gv-run --resume -s s --round=0.5
out_has ,finish,evil, "--resume takes them"

# ---- the policy ----
rm -rf s
echo $header | cut -d, -f1-5 >rates.csv
echo "long,100000,$w -r 200,big,200" >>rates.csv
gv-run -q -c four.csv -s s --round=0.5 -p 'gv-alloc -p max-min -c four.csv' rates.csv >ev 2>err.run &
pid=$!
within 60 has ,start,long
run gv-run --submit -s s no-share.csv
silent "with a policy no shares are needed"
ok "it is asked" within 60 has ',allocate,nb,'
ok "shares of all are said" within 60 has ',finish,nb,'
gv-run --cancel -s s long
wait $pid 2>/dev/null

# ---- pairs of jobs ----
rm -rf s
cat >pairs.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share,with_job_id,with_steps_per_s
p,100000,$w -r 200,big,200,0.3,,
q,100000,$w -r 200,big,200,0.3,,
p,100000,$w -r 200,big,100,0.6,q,100
EOT
gv-run -q -c four.csv -s s --round=0.5 pairs.csv >ev 2>err.run &
pid=$!
within 60 has ,start,p
cat >two.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share,with_job_id,with_steps_per_s
r,50,$w -r 200,big,200,0.1,,
t,50,$w -r 200,big,200,0.1,,
r,50,$w -r 200,big,100,0.6,t,100
EOT
run gv-run --submit -s s two.csv
silent "jobs come to a run that has pairs"
ok "r finishes" within 60 has ',finish,r,'
ok "t finishes" within 60 has ',finish,t,'
ok "and what pairs have stays theirs" grep -q ',allocate,p,.*,0.6,,q,' s/events.csv
gv-run --cancel -s s p q
wait $pid 2>/dev/null
ok "the journal is whole" gv-report s/events.csv

table 100000 l >one.csv
gv-run -q -c four.csv -s none --round=0.5 one.csv >ev 2>err.run &
pid=$!
within 60 grep -q ,start, none/events.csv
run gv-run --submit -s none two.csv
is_err "a run without pairs gets none" <<'EOT'
gv-run: two.csv:4: with_job_id: the run has no pairs of jobs
EOT
gv-run --cancel -s none l
status=0
wait $pid || status=$?
ran="gv-run, and --submit of a pair"
is_status 1 "and goes on"

# ---- kill -9 at any moment ----
rm -rf s
n=${GV_LONG:+300}
n=${n:-40}
table 5 first >jobs.csv
gv-run -q -c four.csv -s s --round=0.2 --grace=2 jobs.csv >/dev/null 2>>err.kill &
pid=$!
within 60 test -s s/cluster.csv
i=0 kills=0
while [ $i -lt "$n" ]; do
	i=$((i + 1))
	table 5 "k$i" >one.csv
	# a submitter that is killed may not have entered it: then it says so by being away
	gv-run -q --submit -s s one.csv 2>>err.submit &
	submitter=$!
	[ $((i % 5)) -ne 0 ] || kill -9 $submitter 2>/dev/null
	wait $submitter 2>/dev/null && echo "k$i" >>entered
	[ $((i % 7)) -ne 0 ] || {
		sleep "0.$((i * 13 % 10))"
		kill -9 $pid 2>/dev/null && kills=$((kills + 1))
		wait $pid 2>/dev/null
		gv-run -q --resume -s s --round=0.2 --grace=2 >/dev/null 2>>err.kill &
		pid=$!
	}
done
wait $pid
gv-run -q --resume -s s --round=0.2 >/dev/null 2>>err.kill
ran="submitting $n jobs, $kills kills"
once s/events.csv >finished
sort -u finished >distinct
same_file finished distinct "no job is done twice ($n jobs, $kills kills)"
{ cat entered && echo first; } | sort >want
comm -23 want finished >lost
ok "none that was entered is lost" test ! -s lost
ok "none was lost in between: $(wc -l <finished) of $((n + 1))" test "$(wc -l <finished)" -ge "$(wc -l <want)"
ok "nothing waits" nothing_waits
ok "a table has each job once" sh -c '[ "$(sed 1d s/jobs.csv | cut -d, -f1 | sort | uniq -d | wc -l)" -eq 0 ]'

# the moment between the journal and the table
rm -rf s
table 5 one >jobs.csv
gv-run -q -c four.csv -s s jobs.csv >/dev/null
cp s/jobs.csv before.csv
table 5 two >one.csv
gv-run -q --submit -s s one.csv
cp "$(ls s/submit/*)" entered.csv
id=$(basename "$(ls s/submit/*)")
gv-run -q --resume -s s >/dev/null
grep -v -e ',two,' s/events.csv | sed 's/,[^,]*$//' >cut.csv # the journal has the submission and nothing of its job
rm s/clock # which knows how long the journal was
cp before.csv s/jobs.csv
cp cut.csv s/events.csv
cp entered.csv "s/submit/$id" && chmod 600 "s/submit/$id"
grep -v ,end, cut.csv >s/events.csv
run gv-run -q --resume -s s
out_has ,finish,two, "a submission that was taken and not added is added"
ok "it is not taken twice" test "$(grep -c ,submit, s/events.csv)" -eq 1
cp entered.csv "s/submit/$id" && chmod 600 "s/submit/$id"
run gv-run -q --resume -s s
silent "one that was added and not removed"
ok "is removed" nothing_waits
ok "and done once" test "$(grep -c ',finish,two,' s/events.csv)" -eq 1

# ---- the same job twice at one moment ----
rm -rf s
table 100000 stays >jobs.csv
gv-run -q -c four.csv -s s --round=0.5 jobs.csv >ev 2>err.run &
pid=$!
within 60 has ,start,stays
table 5 same >one.csv
for i in 1 2 3 4; do
	cp one.csv ".$i" && chmod 600 ".$i"
done
mkdir -p s/submit
mv .1 s/submit/1.1 && mv .2 s/submit/1.2 && mv .3 s/submit/1.3
gv-run -q --submit -s s .4 2>/dev/null # it may be taken or refused
table 5 "$(printf 'x%.0s' $(seq 300))" >long-name.csv
chmod 600 long-name.csv && mv long-name.csv s/submit/1.5
printf '%s\nnul\0,5,true,big,200,0.1\n' $header >nul.csv
chmod 600 nul.csv && mv nul.csv s/submit/1.6
table 5 crlf | sed 's/$/\r/' >crlf.csv
run gv-run -q --submit -s s crlf.csv
silent "lines that end as on Windows"
ok "are taken" within 60 has ,finish,crlf,
ok "one of them runs" within 60 has ,finish,same,
sleep 1
ok "and none of the others" test "$(grep -c ,start,same, s/events.csv)" -eq 1
cp err.run err
err_has 'the run has a job "same" already' "they are refused"
err_has 'its name is too long' "so is a name that no file can have"
err_has 'unexpected NUL byte' "and a table with a NUL"
gv-run -q --cancel -s s stays
wait $pid 2>/dev/null

# ---- many, one by one ----
n=${GV_LONG:+1000}
n=${n:-100}
rm -rf s
kills=0
printf 'gpu_type,gpus,threads\nbig,8,1\n' >eight.csv
table 100000 stays >jobs.csv
gv-run -q -c eight.csv -s s --round=1 --grace=2 jobs.csv >ev 2>err.run &
pid=$!
within 60 has ,start,stays
awk -v n="$n" 'BEGIN { srand(1); while (k < n / 5) { i = int(1 + n * rand()); if (!(i in c)) { c[i]; k++; print "j" i } } }' >chosen
for i in $(seq "$n"); do
	table 4 "j$i" >one.csv
	gv-run -q --submit -s s one.csv 2>>refused
	! grep -qx "j$i" chosen || gv-run -q --cancel -s s "j$i" 2>>refused
	[ $((i % (n / 4))) -ne $((n / 8)) ] || {
		kill -9 $pid
		wait $pid 2>/dev/null
		gv-run -q --resume -s s --round=1 --grace=2 >/dev/null 2>>err.run &
		pid=$!
		kills=$((kills + 1))
	}
done
all_done() { [ "$(awk -F, '$2 == "finish" || $2 == "drop"' s/events.csv | wc -l)" -ge "$n" ]; }
within 100 all_done
gv-run --cancel -s s stays
wait $pid
ran="submitting $n jobs one by one, cancelling $(grep -c . chosen), $kills kills"
ok "nobody is refused" test ! -s refused
awk -F, -v n="$n" 'FNR == NR { chosen[$1]; next } $3 ~ /^j/ && ($2 == "drop" || $2 == "finish") { k[$3]++; if ($2 == "drop" && !($3 in chosen)) bad++ }
	END { for (j in k) { all++; if (k[j] != 1) bad++ } print all + 0, bad + 0 }' chosen s/events.csv >got
echo "$n 0" >want
same_file want got "every job is done or cancelled, once; nobody else is"
done_testing
