#!/bin/sh
# gv-report: hand-computed runs, formats, expectations, messages.
. "${0%/*}/lib.sh"

head='time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason'
# events FILE <ROWS: a table of events
events() { { echo "$head" && cat; } >"$1"; }

# Two jobs on one v100 and two k80.  a: active 0..20, on v100 0..10, on k80
# 10..20.  b, a gang of two: active 0..32, on k80 0..10 (20 GPU-seconds), on
# v100 10..16 and 18..32; promised 1/2 of v100 until 20, all of it behind: 22/32.
events two.csv <<E2
0,pool,,v100,n1,0,,,,
0,pool,,k80,n1,0;1,,,,
0,arrive,a,,,,100,,,
0,arrive,b,,,,200,,,
0,allocate,a,v100,,,,,0.5,
0,allocate,a,k80,,,,,0.5,
0,allocate,b,v100,,,,,0.5,
0,start,a,v100,n1,0,0,0,,
0,start,b,k80,n1,0;1,0,0,,
10,preempt,a,v100,n1,0,50,1,,
10,preempt,b,k80,n1,0;1,80,1,,
10,resume,a,k80,n1,1,50,1,,
10,resume,b,v100,n1,0,80,1,,
16,fail,b,,,,90,1,,exit status 1
18,resume,b,v100,n1,0,80,1,,
20,finish,a,,,,100,1,,
20,allocate,b,v100,,,,,1,
30,checkpoint,b,,,,190,1,,
32,finish,b,,,,200,1,,
32,end,,,,,,,,
E2
run gv-report two.csv
silent "a run"
is_out "a run: text" <<'E2'
2 jobs: 2 finished
time        32.0 s, makespan 32.0 s
completion  mean 26.0 s, median 26.0 s, longest 32.0 s
queueing    mean 0.0 s, median 0.0 s, longest 0.0 s
GPUs        3, busy 62.5 % of the time
shares      received within 31.2 points of promised (b on k80)
fairness    received / promised: Jain index 0.977, least 1.000 (a)
runs        5 launches, 2 preemptions, 1 failure, 0 restarts
lost        10 steps done again from an older checkpoint

GPU type  GPUs  available GPU s  busy GPU s  busy %  launches
v100         1             32.0        30.0    93.8         3
k80          2             64.0        30.0    46.9         2

job  state     GPUs  arrival  queueing  completion  running  preempted  failed        share       v100        k80
a    finished     1      0.0       0.0        20.0     20.0          1       0  100.0/100.0  50.0/50.0  50.0/50.0
b    finished     2      0.0       0.0        32.0     30.0          1       1    93.8/68.8  62.5/68.8   31.2/0.0
Times in s.  Shares are received/promised, in % of the time from arrival to finish.
E2
run gv-report --by=job --format=csv two.csv
is_out "a run: jobs" <<'E2'
job_id,entity,state,arrival_s,start_s,finish_s,completion_s,queueing_s,running_s,gpus,gpu_s,steps,total_steps,steps_lost,launches,preemptions,failures,checkpoints,promised_share,received_share,share_difference
a,,finished,0,0,20,20,0,20,1,20,100,100,0,2,1,0,0,1,1,0
b,,finished,0,0,32,32,0,30,2,40,200,200,10,3,1,1,1,0.6875,0.9375,0.25
E2
mv out jobs.csv
run gv-report -f csv two.csv
same_file jobs.csv out "csv: jobs by default"
run gv-report -b share -f csv two.csv
is_out "a run: shares" <<'E2'
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
a,v100,0.5,0.5,0,10,10,50,5
a,k80,0.5,0.5,0,10,10,50,5
b,v100,0.6875,0.625,-0.0625,20,20,130,6.5
b,k80,0,0.3125,0.3125,10,20,80,8
E2
run gv-report -b type --tsv two.csv
tr ',' '\t' >want <<'E2'
gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
v100,1,32,30,0.9375,3
k80,2,64,30,0.46875,2
E2
same_file want out "a run: types, TSV"
run gv-report -b summary --format=csv two.csv
is_out "a run: summary" <<'E2'
jobs,waiting,running,preempted,failed,finished,dropped,ended,elapsed_s,makespan_s,completion_mean_s,completion_median_s,completion_max_s,queueing_mean_s,queueing_max_s,gpus,available_gpu_s,busy_gpu_s,busy_share,launches,preemptions,failures,checkpoints,restarts,steps_lost,jain_index,least_share_ratio,largest_share_difference,completion_p95_s,completion_p99_s,queueing_p95_s,queueing_p99_s
2,0,0,0,0,2,0,1,32,32,26,26,32,0,0,3,96,60,0.625,5,2,1,1,0,10,0.9768786127167628,1,0.3125,32,32,0,0
E2
run gv-report --json --by=type two.csv
is_out "a run: JSON of a part" <<'E2'
{
  "types": [
    {"gpu_type": "v100", "gpus": 1, "available_gpu_s": 32, "busy_gpu_s": 30, "busy_share": 0.9375, "launches": 3},
    {"gpu_type": "k80", "gpus": 2, "available_gpu_s": 64, "busy_gpu_s": 30, "busy_share": 0.46875, "launches": 2}
  ]
}
E2
run gv-report -b type -d 0 two.csv
is_out "text, no digits" <<'E2'
GPU type  GPUs  available GPU s  busy GPU s  busy %  launches
v100         1               32          30      94         3
k80          2               64          30      47         2
E2
run gv-report -b share -d 3 two.csv
is_out "text of shares, three digits" <<'E2'
job  GPU type  received %  promised %  difference  running s  steps  steps/s
a    v100          50.000      50.000       0.000     10.000     50    5.000
a    k80           50.000      50.000       0.000     10.000     50    5.000
b    v100          62.500      68.750      -6.250     20.000    130    6.500
b    k80           31.250       0.000      31.250     10.000     80    8.000
E2
run gv-report -v two.csv
is_err "verbose" <<'E2'
gv-report: 20 events of 2 jobs
E2

# ---- jobs that never start, wait, are dropped; entities; minutes ----
events mixed.csv <<'E2'
0,pool,,v100,,0;1,,,,
60,arrive,a,,,,,,,red
60,arrive,b,,,,,,,blue
60,allocate,a,v100,,,,,1,
120,start,a,v100,,0,,,,
600,drop,b,,,,,,,needs 8 GPUs
600,arrive,c,,,,,,,red
900,preempt,a,,,,,,,
1200,arrive,d,,,,,,,
1200,start,c,v100,,1,,,,
1500,checkpoint,c,,,,30,,,
E2
run gv-report mixed.csv
silent "an unfinished run"
is_out "an unfinished run: text" <<'E2'
4 jobs: 1 dropped, 1 running, 1 preempted, 1 waiting
time        25.0 min up to the last event: the run has not ended
queueing    mean 5.5 min, median 5.5 min, longest 10.0 min
GPUs        2, busy 36.0 % of the time
shares      received within 45.8 points of promised (a on v100)
fairness    received / promised: Jain index 1.000, least 0.542 (a)
runs        2 launches, 1 preemption, 0 failures, 0 restarts

GPU type  GPUs  available GPU min  busy GPU min  busy %  launches
v100         2               50.0          18.0    36.0         2

entity  jobs  finished  GPU min  mean completion min  mean queueing min  mean share %
red        2         0     18.0                    -                5.5     43.8/50.0
blue       1         0      0.0                    -                  -       0.0/0.0
-          1         0      0.0                    -                  -       0.0/0.0

job  entity  state      arrival  queueing  completion  running  preempted       share        v100
a    red     preempted      1.0       1.0           -     13.0          1  54.2/100.0  54.2/100.0
b    blue    dropped        1.0         -           -      0.0          0           -           -
c    red     running       10.0      10.0           -      5.0          0    33.3/0.0    33.3/0.0
d    -       waiting       20.0         -           -      0.0          0           -           -
Times in min.  Shares are received/promised, in % of the time from arrival to finish.
E2
run gv-report -b entity -f csv mixed.csv
is_out "entities" <<'E2'
entity,jobs,finished,gpu_s,completion_mean_s,queueing_mean_s,promised_share,received_share
red,2,0,1080,,330,0.5,0.4375
blue,1,0,0,,,0,0
,1,0,0,,,0,0
E2
run gv-report --expect-finished mixed.csv
is_status 1 "not finished: status"
is_err "not finished" <<'E2'
gv-report: job "a" has not finished: preempted
gv-report: job "b" has not finished: dropped
gv-report: job "c" has not finished: running
gv-report: job "d" has not finished: waiting
E2
ok "not finished: the report is written all the same" grep -q '^4 jobs' out

# ---- expectations ----
run gv-report --expect-finished --expect-shares=31.25 two.csv
silent "as expected"
run gv-report --expect-finished --expect-shares=31.2 -o report.txt two.csv
is_status 1 "shares too far off: status"
is_err "shares too far off" <<'E2'
gv-report: job "b" on "k80" received 31.2 percent of its time, promised 0.0 percent: more than 31.2 points apart
E2
ok "shares too far off: -o is written" grep -q '^2 jobs' report.txt
run gv-report --expect-shares=6 two.csv
is_err "shares too far off, both ways" <<'E2'
gv-report: job "b" on "v100" received 62.5 percent of its time, promised 68.8 percent: more than 6 points apart
gv-report: job "b" on "k80" received 31.2 percent of its time, promised 0.0 percent: more than 6 points apart
E2

# ---- gv-run itself began again: runs end at the last event before ----
events again.csv <<'E2'
0,pool,,v100,,0,,,,
0,arrive,a,,,,100,,,
0,allocate,a,v100,,,,,1,
0,start,a,v100,,0,0,,,
8,checkpoint,a,,,,80,,,
10,restart,,,,,,,,
10,pool,,v100,,0,,,,
12,resume,a,v100,,0,80,,,
16,finish,a,,,,100,,,
E2
run gv-report -b share -f csv again.csv
is_out "a restart" <<'E2'
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
a,v100,1,0.75,-0.25,12,12,100,8.333333333333334
E2
run gv-report -b type -f csv again.csv
is_out "a restart: the pool told again is the same" <<'E2'
gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
v100,1,16,12,0.75,2
E2
# finished while gv-run was away; a pool that grows
events away.csv <<'E2'
0,pool,,v100,n1,0,,,,
0,arrive,a,,,,,,,
0,start,a,v100,n1,0,,,,
5,checkpoint,a,,,,50,,,
9,restart,,,,,,,,
9,finish,a,,,,60,,,
10,pool,,v100,n1,0;1,,,,
20,end,,,,,,,,
E2
run gv-report --json -b type away.csv
out_has '{"gpu_type": "v100", "gpus": 2, "available_gpu_s": 30, "busy_gpu_s": 5,' "a pool that grows"
run gv-report -f csv away.csv
out_has 'a,,finished,0,0,9,9,0,5,1,5,60,,0,1,0,0,1,0,' "finished while gv-run was away"

# ---- two jobs on a GPU ----
# a: alone on GPU 0 until 4, with b until 12, on GPU 1 from 16 to 20; promised 1/4
# alone until 20 and 1/2 with b until 16: 13/20.  b: on GPU 0 from 4 to 16, promised 1/2.
events shared.csv <<'E2'
0,pool,,v100,n1,0;1,,,,,
0,arrive,a,,,,100,,,,
0,arrive,b,,,,60,,,,
0,allocate,a,v100,,,,,0.25,,
0,allocate,b,v100,,,,,0.5,,a
0,start,a,v100,n1,0,0,0,,,
4,start,b,v100,n1,0,0,0,,,a
12,preempt,a,v100,n1,0,80,1,,,
16,finish,b,v100,n1,0,60,1,,,
16,resume,a,v100,n1,1,80,1,,,
20,finish,a,v100,n1,1,100,1,,,
20,end,,,,,,,,,
E2
sed -i '1s/$/,with_job_id/' shared.csv
run gv-report -b type -f csv shared.csv
is_out "two jobs on a GPU: it is busy once" <<'E2'
gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
v100,2,40,20,0.5,3
E2
run gv-report -b share -f csv shared.csv
is_out "two jobs on a GPU: each is promised what both are" <<'E2'
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
a,v100,0.65,0.8,0.15000000000000002,16,16,100,6.25
b,v100,0.5,0.75,0.25,12,12,60,5
E2
sed '6s/b,v100\(.*\)a$/a,v100\1b/' shared.csv >turned.csv
run gv-report -b share -f csv turned.csv
out_has 'a,v100,0.65,0.8,' "two jobs on a GPU: either of them first"
ok "two jobs on a GPU: turned" sh -c '! cmp -s shared.csv turned.csv'
{ sed '6,$d' shared.csv && echo '0,allocate,a,v100,,,,,0.5,,a'; } >self.csv
run gv-report self.csv
is_err "a job with itself" <<'E2'
gv-report: self.csv:6: with_job_id: expected another job, got "a"
E2

# many jobs, types and nodes; long names
awk -v head="$head" 'BEGIN {
	print head
	for (t = 0; t < 6; t++) for (n = 0; n < 4; n++) printf "0,pool,,type number %d,node%d,0;1,,,,\n", t, n
	for (i = 0; i < 40; i++) printf "0,arrive,jöb with a name too long to be shown %02d,,,,,,,\n", i
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 40; i++) printf("%d,%s,jöb with a name too long to be shown %02d,type number %d,node%d,%d,,%d,,\n",
			10 * round, round ? "resume" : "start", i, (i + round) % 6, int((i + round) / 6) % 4, i >= 24, round)
		for (i = 0; i < 40; i++) printf("%d,%s,jöb with a name too long to be shown %02d,,,,,,,\n",
			10 * round + 8, round == 4 ? "finish" : (i == 3 ? "fail" : "preempt"), i)
	}
}' >many.csv
run gv-report -b summary -f csv many.csv
out_has '40,0,0,0,0,40,0,0,48,48,48,48,48,0,0,48,2304,1600,' "many jobs"

run gv-report -f svg many.csv
out_has '>jöb with … shown 39</text>' "names too long lose their middle"
out_has '>other types</text>' "four types and the rest have a shade"

# ---- what is too short to be seen ----
awk -v head="$head" 'BEGIN {
	print head "\n0,arrive,a,,,,,,,\n0,arrive,b,,,,,,,"
	for (i = 0; i < 20000; i++) printf("%d,%s,%s,v100,,0,,,,\n%d.5,preempt,%s,,,,,,,\n",
		i, i < 2 ? "start" : "resume", i % 2 ? "b" : "a", i, i % 2 ? "b" : "a")
}' >short-runs.csv
run gv-report -f svg short-runs.csv
ok "short runs are not drawn one by one" [ "$(wc -c <out)" -lt 600000 ]
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: needs more memory"
else
	run sh -c 'ulimit -v 20000 && gv-report -b summary -f csv short-runs.csv'
	out_has '2,0,0,2,0,0,0,0,19999.5,' "memory grows with the jobs, not with the events"
fi

# ---- inputs ----
run gv-report -b summary <<E2
$head
E2
silent "no events"
is_out "no events: text" <<'E2'
0 jobs
time        0.0 s up to the last event: the run has not ended
runs        0 launches, 0 preemptions, 0 failures, 0 restarts
E2
run gv-report -f csv <<E2
$head
E2
ok "no events: a table of no rows" [ "$(wc -l <out)" -eq 1 ]
awk -F, -v OFS=, '{ print $10, $9, $8, $7, $6, $5, $4, $3, $2, $1, "x" NR }' two.csv >turned.csv
run gv-report -f csv turned.csv
same_file jobs.csv out "columns in any order, unknown ones ignored"
cut -d, -f1-3 two.csv >short.csv
run gv-report -b type -f csv short.csv
is_err "an allocate event needs a share" <<'E2'
gv-report: short.csv:6: share: expected a share from 0 to 1, got ""
gv-report: short.csv:7: share: expected a share from 0 to 1, got ""
gv-report: short.csv:8: share: expected a share from 0 to 1, got ""
gv-report: short.csv:18: share: expected a share from 0 to 1, got ""
E2
grep -v -e allocate -e pool short.csv >shorter.csv
run gv-report -b share -f csv shorter.csv
is_out "three columns will do" <<'E2'
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
a,,0,1,1,20,20,,
b,,0,0.9375,0.9375,30,30,,
E2
run gv-report -b type shorter.csv
is_out "without pools nothing is said of GPUs" <<'E2'
GPU type  GPUs  available GPU s  busy GPU s  busy %  launches
-            -                -        50.0       -         5
E2

# cut: a log that is being written
head -c "$(($(wc -c <mixed.csv) - 8))" mixed.csv >cut.csv
run gv-report -f csv cut.csv
is_status 0 "a row being written: status"
is_err "a row being written" <<'E2'
gv-report: warning: cut.csv:12: the last row is not complete, ignored
E2
mv out cut.out
run gv-report -q -f csv cut.csv
silent "a row being written, quiet"
same_file cut.out out "a row being written, quiet: the same report"
sed '$d' mixed.csv >whole.csv
run gv-report -f csv whole.csv
same_file cut.out out "a row being written is as if it were not there"
{ cat two.csv && printf '33,rest'; } >cut.csv
run gv-report cut.csv
is_status 2 "half a row behind the end: status"
is_err "half a row behind the end" <<'E2'
gv-report: cut.csv:22: expected 10 cells, got 2
E2
{ sed '$d' two.csv && printf '32,end'; } >cut.csv
run gv-report -q -b summary cut.csv
out_has 'the run has not ended' "half an end is no end"

# ---- messages ----
# refused ROWS EXPECTED: reading this fails with that
refused() {
	printf '%s\n' "$head" "$1" >bad.csv
	run gv-report bad.csv
	is_status 2 "refused: $2"
	printf '%s\n' "gv-report: bad.csv:$2" >want
	same_file want err "refused: $2: message"
	ok "refused: $2: nothing written" [ ! -s out ]
}
refused 'x,end,,,,,,,,' '2: time_s: expected a time of 0 s or more, got "x"'
refused '-1,end,,,,,,,,' '2: time_s: expected a time of 0 s or more, got "-1"'
refused ',end,,,,,,,,' '2: time_s: expected a time of 0 s or more, got ""'
refused '5,restart,,,,,,,,
4.5,end,,,,,,,,' '3: time_s: expected a time of 5 s or more, as in the row before, got "4.5"'
refused '0,began,,,,,,,,' '2: event: unknown event "began"; known: pool, arrive, allocate, start, resume, checkpoint, first_step, hold, release, preempt, finish, fail, drop, submit, restart, end'
refused '0,start,,v100,,,,,,' '2: job_id: expected the job of this start event, got nothing'
refused '0,checkpoint,a,,,,many,,,' '2: steps: expected a number of 0 or more, got "many"'
refused '0,checkpoint,a,,,,-1,,,' '2: steps: expected a number of 0 or more, got "-1"'
refused '0,start,a,v100,,,,1.5,,' '2: round: expected a whole number of 0 or more, got "1.5"'
refused '0,start,a,v100,,,,-1,,' '2: round: expected a whole number of 0 or more, got "-1"'
refused '0,allocate,a,v100,,,,,1.25,' '2: share: expected a share from 0 to 1, got "1.25"'
refused '0,allocate,a,v100,,,,,-0.1,' '2: share: expected a share from 0 to 1, got "-0.1"'
refused '0,allocate,a,v100,,,,,,' '2: share: expected a share from 0 to 1, got ""'
refused '0,start,a,v100,,0,,,,
2,resume,a,v100,,0,,,,' '3: event: resume of job "a", which was started at 0 s'
refused '0,start,a,v100,,0,,,,
2.5,finish,a,,,,,,,
3,start,a,v100,,0,,,,' '4: event: start of job "a", which has finished at 2.5 s'
refused '0,drop,a,,,,,,,
3,finish,a,,,,,,,' '3: event: finish of job "a", which was dropped at 0 s'
refused '1,arrive,a,,,,,,,
3,arrive,a,,,,,,,' '3: event: arrive of job "a", which has arrived at 1 s'
refused '0,end,,,,,,,,

time_s,event' '4: expected one table, got a second one after an empty line'
printf '%s\n' 'time_s,job_id' '0,a' >bad.csv
run gv-report bad.csv
is_err "a column that is missing" <<'E2'
gv-report: bad.csv:1: missing column "event" (found: time_s, job_id)
E2
{
	echo "$head"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "0,nothing$i,,,,,,,,"; done
} >bad.csv
run gv-report bad.csv
ok "many errors: ten and a count" [ "$(grep -c '^gv-report: bad.csv:' err)" -eq 10 ]
ok "many errors: all counted" grep -q '2 more' err

# usage ARGUMENTS: refused with this message
usage='usage: gv-report [-jqv] [-f FORMAT] [-b PART] [-c CLUSTER] [-o FILE] [[NAME=]TABLE ...]'
wrong() {
	want=$1
	shift
	run gv-report "$@" two.csv
	is_status 2 "usage: $want: status"
	printf 'gv-report: %s\n%s\n' "$want" "$usage" >want
	same_file want err "usage: $want"
}
wrong 'unknown format "xml"; known: text, csv, tsv, json, svg, html, prom' --format=xml
wrong 'unknown part "day"; known: summary, type, entity, job, share; of runs: run, type, job, curve; of trees: tree, link' --by day
wrong '--digits: expected a whole number from 0 to 15, got "16"' --digits=16
wrong '--digits: expected a whole number from 0 to 15, got "x"' -d x
wrong '--expect-shares: expected a number from 0 to 100, got "-1"' --expect-shares=-1
wrong '--expect-shares: expected a number from 0 to 100, got "5%"' --expect-shares=5%
wrong '--by cannot be used with --format=prom' -f prom -b job
wrong '--by cannot be used with --format=svg' --by=job --format=svg
wrong '--by cannot be used with --format=html' --by=job --format=html
wrong '--per-job needs --format=prom' --per-job
wrong 'unknown option "--shares"' --shares

# ---- any bytes ----
printf '%s\n0,arrive,"a,""b\n\t\001\377é",,,,,,,"e\342\202"\n' "$head" >odd.csv
printf '1,start,"a,""b\n\t\001\377é",v\\100,,0,,,,\n2,end,,,,,,,,\n' >>odd.csv
run gv-report -b job odd.csv
silent "odd names"
out_has 'a,"b\x0a\x09\x01\xffé  e\xe2\x82  running' "odd names: text"
printf '%s\n0,arrive,a\342\200\256b\302\233c,,,,,,,\n2,end,,,,,,,,\n' "$head" >steer.csv
run gv-report -b job steer.csv
out_has 'a\xe2\x80\xaeb\xc2\x9bc  ' "odd names: nothing turns a terminal's text around"
run gv-report --json -b job odd.csv
out_has '"job_id": "a,\"b\u000a\u0009\u0001�é", "entity": "e��"' "odd names: JSON"
run gv-report --tsv -b share odd.csv
printf 'a,"b\\n\\t\001\377é\tv\\\\100\t' >want
ok "odd names: TSV" grep -qaF -- "$(cat want)" out
run gv-report -f prom --per-job odd.csv
out_has 'gv_job_running_seconds_total{run="odd",job_id="a,\"b\n' "odd names: Prometheus"
out_has '\\xffé",gpu_type="v\\100"} 1' "odd names: Prometheus, bytes"

run gv-report -f html odd.csv
silent "odd names: HTML"
out_has '<td>a,&quot;b\x0a\x09\x01\xffé</td>' "odd names: HTML, escaped"
if [ -n "$GV_PYTHON" ]; then
	gv-report -f svg odd.csv >odd.svg
	run "$GV_PYTHON" -c 'import xml.dom.minidom as m; print(m.parse("odd.svg").documentElement.tagName)'
	is_out "odd names: SVG is XML" <<E2
svg
E2
	for file in two.csv mixed.csv again.csv away.csv many.csv shared.csv; do
		gv-report -f svg $file >drawn.svg
		gv-report -f csv -b share $file >drawn.csv
		run "$GV_PYTHON" "$src/tests/gv-report-drawn.py" $file drawn.svg drawn.csv
		is_out "drawn as it was: $file" </dev/null
	done
else
	skip "no python3"
fi
run gv-report -f html two.csv
ok "html: loads nothing" sh -c '! grep -q -e "<script " -e "src=" -e "href=" -e "url(" -e "@import" out'
ok "html: holds the drawing" [ "$(grep -c '<text class="h1"' out)" -eq 1 ]
out_has '<dt>GPUs</dt>' "html: the summary"
out_has '<td class="r">62.5/68.8</td>' "html: the jobs"
mv out two.html
ok "html: the same bytes again" sh -c 'gv-report -f html <two.csv | cmp - two.html'
printf '%s\n' "$head" >none.csv
for format in svg html; do
	run gv-report -f $format none.csv
	silent "$format: no events"
	ok "$format: no nan" sh -c '! grep -qi -e "[=\"]nan" -e "[=\"]-*inf" out'
done

# ---- Prometheus ----
run gv-report --format=prom two.csv
silent "prom"
ok "prom: no series of jobs" sh -c '! grep -q job_id out'
out_has 'gv_jobs{run="two",state="finished"} 2' "prom: jobs"
out_has 'gv_gpu_busy_seconds_total{run="two",gpu_type="k80"} 30' "prom: busy"
out_has 'gv_job_completion_seconds_sum{run="two"} 52' "prom: completion"
out_has 'gv_share_largest_difference_ratio{run="two"} 0.3125' "prom: shares"
ok "prom: each family once" [ -z "$(grep '^# TYPE' out | sort | uniq -d)" ]
ok "prom: each series once" [ -z "$(grep -v '^#' out | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
run gv-report --format=prom --per-job two.csv
out_has 'gv_job_received_share_ratio{run="two",job_id="b",gpu_type="v100"} 0.625' "prom: a job's share"
out_has 'gv_job_promised_share_ratio{run="two",job_id="b",gpu_type="v100"} 0.6875' "prom: a job's promise"
ok "prom: per job, each series once" [ -z "$(grep -v '^#' out | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
run gv-report --format=prom <<E2
$head
E2
silent "prom: no events"
ok "prom: no nan" sh -c '! grep -qi nan out'
cp "$src/examples/man/events.csv" .
run gv-report -f svg --chart=jobs events.csv
out_has '>GPUs busy 76.6 % of the time  ·  completion 49.2 s on average  ·  shares within 15.6 points of promised  ·  Jain index 0.972<' \
	"a drawing says above what the text says"
done_testing
