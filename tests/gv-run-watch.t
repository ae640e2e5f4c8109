#!/bin/sh
# gv-run --watch: the cluster table changes while a run goes on.
. "${0%/*}/lib.sh"

w=$build/helpers/worker
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
# cluster POOL...: the table, put in place as a whole
cluster() {
	echo gpu_type,node,gpus,threads,ids >new.csv
	for row; do echo "$row" >>new.csv; done
	mv new.csv c.csv
}
has() { grep -q "$1" s/events.csv; }
running() { [ "$(gv-run -q --status -s s | grep -c ",running,")" -eq "$1" ]; }
on() { gv-run -q --status -s s | awk -F, -v j="$1" -v t="$2" '$1 == j && $2 == "running" && $3 == t { ok = 1 } END { exit !ok }'; }
{
	echo job_id,total_steps,command,gpu_type,steps_per_s,share
	for j in a b c d; do
		echo "$j,100000,$w -r 100,big,100,0.5"
		echo "$j,100000,$w -r 100,small,50,0.5"
	done
} >jobs.csv

run gv-run --watch --resume -s s
err_has 'gv-run: --watch needs the file: -c FILE' "which file"
cluster big,,2,1,
gv-run -c c.csv --watch -s s --round=0.5 --grace=5 jobs.csv >ev 2>err.run &
pid=$!
ok "two run" within 60 running 2
cluster small,,1,1, big,,2,1,
ok "a type that comes is used" within 60 running 3
ok "it is told" grep -q 'gv-run: c.csv: was read again: 3 GPUs' err.run
ok "and in the events" has ',pool,,small,,0,'
ok "the state has it" grep -q small s/cluster.csv
cluster big,,3,1, small,,1,1,
ok "a pool that grows, in another order" within 60 running 4
cluster 'big,,1,1,1' small,,1,1,
ok "a pool that shrinks" within 60 has ',pool,,big,,1,'
ok "leaves two to run" within 60 running 2
# gpus TYPE: those on which jobs were started since the pools have changed
gpus() {
	awk -F, -v t="$1" '$2 == "pool" { n = 0 } ($2 == "start" || $2 == "resume") && $4 == t { gpu[n++] = $6 }
		END { for (i = 0; i < n; i++) print gpu[i] }' s/events.csv
}
turns() { [ "$(gpus big | wc -l)" -ge 2 ]; }
ok "jobs take turns on what is left" within 60 turns
ok "and on nothing else, by its id" test "$(gpus big | sort -u)" = 1
cluster small,,2,1,
ok "a pool that goes" within 60 has ',pool,,big,,,'
ok "jobs go to the other" within 60 running 2
ok "nobody has failed" sh -c '! grep -q ,fail, s/events.csv'
echo nonsense >c.csv
ok "a bad table" within 60 grep -q 'gv-run: warning: the cluster table is not good, the GPUs stay as they are:' err.run
ok "changes nothing" within 60 running 2
cluster small,,2,1, big,,1,1,
ok "the next one does" within 60 running 3
lines=$(grep -c 'was read again' err.run)
kill -HUP $pid
again() { [ "$(grep -c 'was read again' err.run)" -gt "$lines" ]; }
ok "SIGHUP reads it again" within 60 again
ok "and ends nothing" within 60 running 3
kill -9 $pid
wait $pid 2>/dev/null
gv-run -q --resume -s s --round=0.5 --grace=5 >again 2>err.again &
pid=$!
ok "the state goes on with the GPUs of last" within 60 running 3
gv-run --cancel -s s a b c d
wait $pid
ok "the events are a table of events" gv-report s/events.csv

# ---- pairs, and a policy that reads the table ----
rm -rf s
cat >pairs.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share,with_job_id,with_steps_per_s
p,100000,$w -r 200,big,200,0.1,,
q,100000,$w -r 200,big,200,0.1,,
p,100000,$w -r 200,big,100,0.8,q,100
EOT
cluster big,,1,1,
gv-run -q -c c.csv --watch -s s --round=0.5 --grace=5 pairs.csv >ev 2>err.run &
pid=$!
ok "two on one GPU" within 60 running 2
cluster small,,1,1, big,,2,1,
ok "go on beside others" within 60 has ',pool,,small,'
ok "both" within 60 running 2
gv-run --cancel -s s p q
wait $pid
rm -rf s
cut -d, -f1-5 jobs.csv >rates.csv
cluster big,,1,1,
gv-alloc -p max-min -c c.csv rates.csv >alloc.csv
gv-run -q -c c.csv --watch -s s --round=0.5 --grace=5 alloc.csv >ev 2>err.run &
pid=$!
within 60 has ,start,
ok "a share of one GPU each" has ',allocate,a,big,,,,,0.25,'
cluster big,,4,1,
ok "the policy sees the new table" within 60 has ',allocate,a,big,,,,[0-9]*,1,'
gv-run --cancel -s s a b c d
wait $pid

# ---- another table when it goes on, without --watch ----
rm -rf s
cat >rooms.csv <<EOT
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share
a,1,200,$w -r 100,big,100,0.5
a,1,200,$w -r 100,small,100,0.5
wide,3,200,$w -r 100,big,100,1
EOT
# killed DIR: a run on three of one type and one of another, killed once a job has begun
killed() {
	cluster big,,3,1, small,,1,1,
	rm -rf "$1"
	gv-run -q -c c.csv -s "$1" --round=0.5 --grace=5 rooms.csv >ev 2>err.run &
	pid=$!
	within 60 has ,start,
	kill -9 $pid
	wait $pid 2>/dev/null
}
killed s
cluster big,,4,1, new,,1,1,
run gv-run --resume -s s -c c.csv --round=0.5 --grace=5
is_status 0 "more GPUs"
grep ,pool, s/events.csv | tail -n 3 | cut -d, -f 3-6 | sort >got
printf '%s\n' ',big,,0;1;2;3' ',new,,0' ',small,,' >want
same_file want got "the events say which are there"
ok "and are a table of events" gv-report s/events.csv
killed s
cluster small,,1,1,
gv-run --resume -s s -c c.csv --round=0.5 --grace=5 >ev 2>err.run &
pid=$!
ok "fewer GPUs: who can run goes on" within 60 has ,finish,a,
kill -TERM $pid
wait $pid
echo "gv-run: warning: 1 job, first \"wide\", cannot run on these GPUs and waits for others" >want
grep cannot err.run >got
same_file want got "and who cannot is named"
run gv-run --resume -s s -c c.csv
is_status 2 "nobody can run"
echo "gv-run: no job that is left can run on these GPUs, job \"wide\" for one: go on with another table: -c" | is_err "it says so"
cluster big,,3,1,
run gv-run --resume -s s -c c.csv --round=0.5 --grace=5
is_status 0 "when its GPUs are back it goes on"
done_testing
