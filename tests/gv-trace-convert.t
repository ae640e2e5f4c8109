#!/bin/sh
# gv-trace convert: the traces of others.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .
gavel=$shared/data/gavel

# holds NAME [FILE...]: the command before it succeeded
holds() {
	held=$? held_name=$1
	shift
	if [ $held -eq 0 ]; then pass "$held_name"; else fail "$held_name" "$@" err; fi
}
# bad MESSAGE COMMAND...: the trace x comes from stdin, the first line of the error is this
bad() {
	message=$1
	shift
	cat >x
	run gv-trace convert "$@" x
	[ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-trace: $message" ]
	holds "$message" out
}
usage_error() {
	run gv-trace convert $1
	[ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-trace: $2" ] && sed -n 2p err | grep -q '^usage: gv-trace convert'
	holds "$2"
}
usage_error x 'no format given: use --from'
usage_error '--from=x x' '--from: unknown "x"; known: gavel, philly-json, philly-csv, slurm, alibaba-2020, alibaba-2023'
usage_error '--from=alibaba-2020 x' 'alibaba-2020 needs --tasks: GPUs are those of tasks'
usage_error '--from=slurm --tasks=x x' '--tasks is for --from=alibaba-2020'
usage_error '--from=slurm --data-dir=x x' '--data-dir is for --from=gavel'
usage_error '--from=gavel --completed x' 'a trace of gavel has job types and steps, and no states'
usage_error '--from=slurm --types=x x' '--types and --reference need -t'
usage_error '--from=slurm -t - -' 'standard input can be read only once'

# ---- Gavel ----
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
	'ResNet-50 (batch size 64)' 'python3 main.py -b 64 %s/imagenet/ 50%%' image_classification/imagenet --num_minibatches 1 2931 1 1 -1.000000 0 \
	A3C 'python3 main.py' rl --max-steps 0 17.5 1 5.0 1.2 3600.25 >ten
run gv-trace convert --from=gavel --data-dir=/data ten
is_out "10 columns" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,priority_weight,slo_factor,command,working_directory
0,0,ResNet-50 (batch size 64),1,2931,1,,"python3 main.py -b 64 /data/imagenet/ 50%% --num_minibatches ""$GV_TOTAL_STEPS""",image_classification/imagenet
1,3600.25,A3C,1,17.5,5.0,1.2,"python3 main.py --max-steps ""$GV_TOTAL_STEPS""",rl
E
silent "and quiet"
run gv-trace convert -v --from=gavel ten
out_has '%s/imagenet/' "without --data-dir commands stay"
err_has "gv-trace: 2 jobs" "-v"
cut -f1,2,4- ten >nine
run gv-trace convert --from=gavel nine
cp out got
gv-trace convert --from=gavel ten | sed '2,$s/,[^,]*$/,/' >want
same_file got want "9 columns: no working directory"
printf 'LM (batch size 5)\tpython3 main.py\t--steps\t0\t900\t12.5\t8\n' >seven
run gv-trace convert --from=gavel seven
is_out "7 columns" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,priority_weight,slo_factor,command,working_directory
0,12.5,LM (batch size 5),8,900,,,"python3 main.py --steps ""$GV_TOTAL_STEPS""",
E
if [ -f "$gavel/trace_physical_debug.csv" ]; then
	for trace in "$gavel"/trace_physical_*.csv; do
		awk -F, -v OFS='\t' 'NR > 1 { print $3, "x", "d", "-n", 0, $5, $4, $6, "-1.000000", $2 }' "$trace" >x
		gv-trace convert --from=gavel x | cut -d, -f1-7 >got
		same_file got "$trace" "as ${trace##*/} was made"
	done
else
	skip "no shared data"
fi
awk '{ print; print "" }' ten | tr '\n' '~' | sed 's/~/\r\n/g' | gzip >ten.gz
gv-trace convert --from=gavel ten >want
run gv-trace convert --from=gavel ten.gz
same_file out want "gzip, CRLF, empty lines"
awk 'BEGIN { OFS = FS = "\t" } { $5 = 2 } 1' ten | bad 'x:1: needs_data_dir: expected 0 or 1, got "2"' --from=gavel
awk 'BEGIN { OFS = FS = "\t" } NR == 2 { $6 = "" } 1' ten | bad 'x:2: total_steps: expected a number >= 0, got ""' --from=gavel
awk 'BEGIN { OFS = FS = "\t" } NR == 2 { $7 = "1.5" } 1' ten | bad 'x:2: scale_factor: expected a whole number >= 1, got "1.5"' --from=gavel
awk 'BEGIN { OFS = FS = "\t" } NR == 2 { $7 = 0 } 1' ten | bad 'x:2: scale_factor: expected a whole number >= 1, got "0"' --from=gavel
awk 'BEGIN { OFS = FS = "\t" } NR == 2 { $10 = "-5" } 1' ten | bad 'x:2: arrival_time: expected a number >= 0, got "-5"' --from=gavel
awk 'BEGIN { OFS = FS = "\t" } NR == 1 { $1 = "" } 1' ten | bad 'x:1: job_type: expected the name of a job type, got ""' --from=gavel
cut -f1-8 ten | bad 'x:1: expected 10, 9 or 7 cells between tabs, got 8' --from=gavel
printf '' | bad 'x: the trace is empty' --from=gavel
printf 'a\0b\n' | bad 'x:1: a NUL byte' --from=gavel
awk 'BEGIN { for (i = 0; i < 1200000; i++) printf "x"; print "" }' | bad 'x:1: a line over 1 MiB' --from=gavel
awk 'BEGIN { for (i = 0; i < 600; i++) printf "x\t"; print "" }' | bad 'x:1: more than 512 columns' --from=gavel

# ---- Philly ----
run gv-trace convert --from=philly-json philly.json
is_out "the log of Philly: attempts are added up" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
application_14199,0,traced,2,193256,193256,ee9e8c,ce2f4c,Pass
E
is_err "what is left out" <<'E'
gv-trace: warning: philly.json: jobs left out without a GPU: 1
E
cat >log.json <<'E'
[ {"jobid": "late", "submitted_time": "2017-10-07 02:00:00", "status": "Failed", "more": {"x": [1, null]},
   "attempts": [{"start_time": "2017-10-07 02:00:10", "end_time": "2017-10-07 02:00:20.5", "detail": null}]},
  {"jobid": "first", "submitted_time": "2017-10-07 01:00:00", "user": null, "vc": "caf\u00e9", "status": "Pass",
   "attempts": [{"start_time": null, "end_time": "None", "detail": [{"gpus": []}]},
                {"detail": [{"ip": "m1", "gpus": ["gpu0"]}, {"gpus": ["gpu1", "gpu2"]}],
                 "start_time": "2017-10-07 01:00:30", "end_time": "2017-10-07 01:01:00"},
                {"start_time": "2017-10-07 01:02:00", "end_time": "2017-10-07 01:02:30", "detail": [{"gpus": ["gpu7"]}]}]},
  {"jobid": "killed", "submitted_time": "2017-10-07 01:30:00", "status": "Killed",
   "attempts": [{"start_time": "2017-10-07 01:30:00", "end_time": "2017-10-07 01:31:00", "detail": [{"gpus": [1]}]}]},
  {"jobid": "runs", "submitted_time": "2017-10-07 01:30:00", "status": "Pass",
   "attempts": [{"start_time": "2017-10-07 01:30:00", "end_time": null, "detail": [{"gpus": [1]}]}]},
  {"jobid": "short", "submitted_time": "2017-10-07 01:30:00", "status": "Pass",
   "attempts": [{"start_time": "2017-10-07 01:30:00", "end_time": "2017-10-07 01:30:00", "detail": [{"gpus": [1]}]}]},
  {"jobid": "when", "submitted_time": null, "status": "Pass",
   "attempts": [{"start_time": "2017-10-07 01:30:00", "end_time": "2017-10-07 01:30:09", "detail": [{"gpus": [1]}]}]} ]
E
sed 's/:20\.5"/:20"/' log.json >log2.json
run gv-trace convert -v --from=philly-json log2.json
is_out "in the order of arrival; GPUs of the first attempt that has some" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
first,0,traced,3,60,60,café,,Pass
killed,1800,traced,1,60,60,,,Killed
E
is_err "why others are left out" <<'E'
gv-trace: warning: log2.json: jobs left out without a GPU: 1
gv-trace: warning: log2.json: jobs left out without a start, an end: 1
gv-trace: warning: log2.json: jobs left out as too short: 1
gv-trace: warning: log2.json: jobs left out without an arrival: 1
gv-trace: 2 jobs, 0.0666667 GPU hours, the last at 0.5 h
E
run gv-trace convert --completed --from=philly-json log2.json
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "job_id first " ] && grep -q 'jobs left out as not completed: 1' err
holds "--completed" out
run gv-trace convert -q --completed --from=philly-json - <log2.json
silent "-q; standard input"
run gv-trace convert --from=philly-json - <log2.json
err_has "gv-trace: warning: <stdin>: jobs left out" "standard input has a name"
bad 'x:2: end_time: expected a date such as 2017-10-07 01:12:09, got "2017-10-07 02:00:20.5"' --from=philly-json <log.json
printf '{}' | bad 'x:1: expected an array of jobs' --from=philly-json
printf '[\n1]' | bad 'x:2: a job: expected an object' --from=philly-json
printf '[{"jobid": {}}]' | bad 'x:1: jobid: expected a text' --from=philly-json
printf '[{"submitted_time": true}]' | bad 'x:1: submitted_time: expected a date' --from=philly-json
printf '[{"attempts": 1}]' | bad 'x:1: attempts: expected an array' --from=philly-json
printf '[{"attempts": [{"detail": [1]}]}]' | bad 'x:1: detail: expected an object' --from=philly-json
printf '[{"a": 1},\n' | bad 'x:2: not JSON: the end was not expected here' --from=philly-json
printf '[] 1' | bad 'x:1: not JSON: something behind the document' --from=philly-json
sed 's/14200/14199/; s/"attempts": \[\],/"attempts": [{"start_time": "2017-10-07 01:13:30", "end_time": "2017-10-09 06:53:12", "detail": [{"gpus": [0]}]}],/' philly.json |
	bad 'x:7: repeated job "application_14199"' --from=philly-json

run gv-trace convert -q --from=philly-csv cluster-log.csv
is_out "a table of Helios" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
310,0,traced,2,3600,3600,vision,u1,COMPLETED
312,290,traced,1,60,60,speech,u2,FAILED
E
printf 'start_time\tgpus\tend_time\n100\t1\t190\n50\t1.5\tNone\n40\t0.5\t60\n60\t2.5\t70\n' |
	gv-trace convert -q --from=philly-csv --tsv - | tr '\t' , >out
is_out "a start and an end alone; TSV" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
0,0,traced,3,10,10,,,
1,40,traced,1,90,90,,,
E
if [ -f "$gavel/philly_duration_gpus.csv.gz" ]; then
	run gv-trace convert --from=philly-csv "$gavel/philly_duration_gpus.csv.gz"
	awk -F, 'NR > 1 { print $6 + 0, $4, $2 }' out >got
	gzip -dc "$gavel/philly_duration_gpus.csv.gz" | awk -F, 'NR > 1 { print $1 + 0, $2, 0 }' >want
	same_file got want "durations and GPUs of Philly: 33192 jobs, all at 0"
	run gv-trace convert --from=philly-csv -o drawn.csv -t "$gavel/throughputs.csv" --types="$gavel/job_table.csv" \
		"$gavel/philly_duration_gpus.csv.gz"
	gv-trace check --fix=clip -o fit.csv -t "$gavel/throughputs.csv" drawn.csv
	run gv-trace check -t "$gavel/throughputs.csv" fit.csv
	is_status 0 "with types that run on so many GPUs"
	# every job does in its time on a V100 what its type does there
	awk -F, 'NR == FNR { if ($3 == "v100") speed[$1 "," $2] = $4; next }
		FNR > 1 && ($3 "," $4) in speed {
			steps = int($6 * speed[$3 "," $4]); if (steps < 1) steps = 1
			if ($5 - steps > 1 || steps - $5 > 1) print
			types[$3]++
		}
		END { for (t in types) n++; if (n != 26) print n, "types" }' "$gavel/throughputs.csv" drawn.csv >odd
	[ ! -s odd ]
	holds "and their steps" odd
else
	skip "no shared data"
fi
printf 'a,b\n1,2\n' | bad 'x:1: missing column "num_gpus" or "gpu_num" or "gpus" or "scale_factor" (found: a, b)' --from=philly-csv
printf 'gpus,end_time\n1,2\n' | bad 'x:1: missing column "duration_s", or "start_time" and "end_time"' --from=philly-csv
printf 'gpus,duration\n1,2\n1,x\n' | bad 'x:3: duration: expected a number, got "x"' --from=philly-csv
printf 'gpus,duration,submit_time\n1,2,soon\n' |
	bad 'x:2: submit_time: expected a date such as 2026-11-22T09:30:15, or seconds, got "soon"' --from=philly-csv
printf 'gpus,duration\n1,2\n1\n' | bad 'x:3: expected 2 cells, got 1' --from=philly-csv

# ---- job types ----
printf 'job_type,scale_factor,gpu_type,steps_per_s\ntune,1,v100,2.5\nother,1,v100,10\nother,2,v100,15\nother,2,k80,3\n' >t.csv
run gv-trace convert --from=slurm -q -t t.csv sacct.txt
is_out "types and steps: a job that has throughputs keeps its name" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
71,0,other,2,216000,14400,vision,ann,COMPLETED
73,1800,tune,1,3000,1200,speech,bob,FAILED
E
run gv-trace convert --from=slurm -q -t t.csv --reference=k80 --types=t2.csv sacct.txt
is_err "no such table" <<'E'
gv-trace: t2.csv: cannot open: No such file or directory
E
sed 's/v100=2,gres\/gpu=2/v100=8,gres\/gpu=8/' sacct.txt >wide.txt
run gv-trace convert --from=slurm -t t.csv wide.txt
out_has '71,0,other,8,864000,14400' "a gang that nobody measured: as fast for each GPU as the largest"
err_has 'wide.txt: jobs with as many GPUs as no type was measured with: 1' "and said"
for seed in 1 2; do gv-trace convert -q --from=philly-csv --seed=$seed -t throughputs.csv cluster-log.csv >"seed$seed"; done
gv-trace convert -q --from=philly-csv -t throughputs.csv cluster-log.csv | cmp -s - seed1
holds "--seed: 1 unless said"

# ---- Slurm ----
run gv-trace convert -q --from=slurm sacct.txt
is_out "sacct -P" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
71,0,pretrain,2,14400,14400,vision,ann,COMPLETED
73,1800,tune,1,1200,1200,speech,bob,FAILED
E
cat >old.txt <<'E'
JobIDRaw|JobName|State|Eligible|Elapsed|AllocGRES|
1|a|COMPLETED|2024-02-29T00:00:00|1-02:03:04|gpu:4|
2|b|COMPLETED|2024-03-01T00:00:00|02:03|gpu:v100:2,gpu:k80:1|
3|c|TIMEOUT|1709337600|00:00:07|gres/gpu:a100=1,gres/gpu:h100=2|
4|d|COMPLETED|2024-03-01T00:00:00|00:00:07|cpu=4,gpux=3|
E
run gv-trace convert --from=slurm old.txt
is_out "sacct -p of older versions" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
1,0,a,4,93784,93784,,,COMPLETED
2,86400,b,3,123,123,,,COMPLETED
3,172800,c,3,7,7,,,TIMEOUT
E
sed 's/gpu:4/gpu:999999,gpu:a:999999,gres\/gpu:b=999999/' old.txt | gv-trace convert -q --from=slurm - >out
out_has '1,0,a,1000000,93784' "more GPUs than a table of jobs may have"
cat >times.txt <<'E'
JobID|Submit|Start|End|ReqTRES
1|2024-01-01T00:00:00|2024-01-01T01:00:00|2024-01-01T03:00:00|gres/gpu=1
2|2024-01-01T00:00:00|2024-01-01T01:00:00|Unknown|gres/gpu=1
E
run gv-trace convert -q --from=slurm times.txt
out_has '1,0,traced,1,7200,7200' "a start and an end"
sed 's/|1200|/|soon|/' sacct.txt | bad 'x:5: ElapsedRaw: expected a number, got "soon"' --from=slurm
sed 's/02:03|gpu:v/2h|gpu:v/' old.txt | bad 'x:3: Elapsed: expected a time such as 1-02:03:04, got "2h"' --from=slurm
printf 'JobID|Submit|Start|End|AllocTRES\n1|0|60|soon|gres/gpu=1\n' |
	bad 'x:2: End: expected a date such as 2026-11-22T09:30:15, or seconds, got "soon"' --from=slurm
sed 's/|bob|FAILED/|bo|b|FAILED/' sacct.txt | bad 'x:5: expected 10 cells as in the header, got 11' --from=slurm
cut -d'|' -f1-9 sacct.txt |
	bad 'x:1: missing column "AllocTRES" or "ReqTRES" or "AllocGRES" or "ReqGRES" (found: JobID, JobName, Account, User, State, Submit, Start, End, ElapsedRaw)' --from=slurm
cut -d'|' -f1,6,10 sacct.txt | bad 'x:1: missing column "ElapsedRaw", or "Elapsed", or "Start" and "End"' --from=slurm

# ---- Alibaba ----
cat >pai-jobs <<'E'
j1,i1,u1,Terminated,100.0,500.0
j2,i2,u2,Failed,90.0,300.0
j3,i3,u3,Running,95.0,
j4,i4,u1,Terminated,99.0,100.0
E
cat >tasks <<'E'
j1,worker,2.0,Terminated,120.0,500.0,600.0,29.29,50.0,V100
j1,ps,1.0,Terminated,110.0,500.0,600.0,29.29,,MISC
j1,chief,1.0,Terminated,115.0,500.0,600.0,29.29,25.0,V100
j2,worker,1.0,Failed,95.0,300.0,600.0,29.29,800.0,V100
j3,worker,1.0,Running,96.0,,600.0,29.29,100.0,P100
j4,ps,1.0,Terminated,99.0,100.0,600.0,29.29,,
E
run gv-trace convert -q --from=alibaba-2020 --tasks=tasks pai-jobs
is_out "PAI: GPUs of all tasks, from the first start" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
j2,0,traced,8,205,205,u2,u2,Failed
j1,10,traced,2,390,390,u1,u1,Terminated
E
{ echo job_name,inst_id,user,status,start_time,end_time && cat pai-jobs; } >headed
cp out want
run gv-trace convert -q --from=alibaba-2020 --tasks=tasks headed
same_file out want "PAI: with a header"
sed 's/^j2,i2,/j2,/' pai-jobs | bad 'x:2: expected 6 cells, got 5' --from=alibaba-2020 --tasks=tasks
sed 's/,90.0,/,early,/' pai-jobs | bad 'x:2: start_time: expected a number, got "early"' --from=alibaba-2020 --tasks=tasks
sed 's/800.0/all/' tasks >x2
bad 'x2:4: plan_gpu: expected a number, got "all"' --from=alibaba-2020 --tasks=x2 <pai-jobs
cat >pods.csv <<'E'
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p1,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437499
p2,4000,15258,1,220,,BE,Running,9437490,9973826,9437500
p3,16000,32768,0,0,,LS,Running,9967058,9968575,9967063
p4,16000,32768,1,1000,V100M16|V100M32,LS,Pending,9967058,9968575,
E
run gv-trace convert --from=alibaba-2023 pods.csv
is_out "pods" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,entity,user,status
p2,0,traced,1,536326,536326,BE,,Running
p1,7,traced,8,1332355,1332355,Burstable,,Succeeded
E
sed 's/,9973826,/,x,/' pods.csv | bad 'x:3: deletion_time: expected a number, got "x"' --from=alibaba-2023

# a million GPUs are as many as a table of jobs may have
for gpus in 1 999999 1000000 1000001; do
	echo "$gpus $(printf 'gpus,duration\n1,9\n%s,7\n' $gpus | gv-trace convert -q --from=philly-csv - | awk -F, '$6 == 7 { print $4 }')"
	echo "$gpus $(sed "s/,8,1000,/,$gpus,1000,/" pods.csv | gv-trace convert -q --from=alibaba-2023 - | awk -F, '/^p1,/ { print $4 }')"
	sed "s/800.0/${gpus}00/" tasks >x2
	echo "$gpus $(gv-trace convert -q --from=alibaba-2020 --tasks=x2 pai-jobs | awk -F, '/^j2,/ { print $4 }')"
	echo "$gpus $(printf 'JobID|Submit|Elapsed|AllocTRES\n1|0|00:00:09|gres/gpu=1\n2|0|00:00:09|gres/gpu=%s\n' $gpus | gv-trace convert -q --from=slurm - | awk -F, '$1 == 2 { print $4 }')"
done >got
for gpus in 1 999999 1000000; do for i in 1 2 3 4; do echo $gpus $gpus; done; done >want
# more are none, but for PAI, whose tasks are added up
printf '%s\n' '1000001 ' '1000001 ' '1000001 1000000' '1000001 ' >>want
same_file got want "a million GPUs are a job, more are none"
# elapsed times, good ones with their seconds
cat >elapsed <<'E'
00:07 7
02:03 123
1:02:03 3723
23:59:59 86399
1-02:03:04 93784
365-00:00:01 31536001
00:000000007 7
5
1-5
1:
:5
1:2:3:4
1:2x
1x:2
1--2:3
1-1-1:00
1:2-3
00:0000000007
-1:00
E
while read -r text _; do
	printf 'JobID|Submit|Elapsed|AllocTRES\n1|0|%s|gres/gpu=1\n' "$text" >x
	if gv-trace convert -q --from=slurm x >out 2>err; then
		echo "$text $(awk -F, 'NR == 2 { print $6 }' out)"
	else
		echo "$text $(cat err)"
	fi
done <elapsed >got
awk 'NF == 2 { print; next }
	{ print $1 " gv-trace: x:2: Elapsed: expected a time such as 1-02:03:04, got \"" $1 "\"" }' elapsed >want
same_file got want "elapsed times"
# ---- large ----
rows=100000
[ -z "${GV_LONG:-}" ] || rows=1000000
awk -v n=$rows 'BEGIN {
	print "JobID|JobName|Account|User|State|Submit|ElapsedRaw|AllocTRES"
	for (i = 0; i < n; i++)
		printf "%d|train|a%d|u%d|COMPLETED|2024-01-%02dT%02d:00:00|%d|cpu=4,gres/gpu=%d\n", i, i % 9, i % 99, 1 + i * 7 % 28, i % 24, 1 + i % 5000, 1 + i % 8
}' >large.txt
run timeout 60 gv-trace convert --from=slurm -o large.csv large.txt
[ "$status" -eq 0 ] && [ "$(wc -l <large.csv)" -eq $((rows + 1)) ] && sed 1d large.csv | cut -d, -f2 | sort -nc
holds "$rows jobs, sorted"
done_testing
