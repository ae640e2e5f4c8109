#!/bin/sh
# gv-report shows every table of the house: numbers by hand, and none is refused;
# on a terminal tables fit and have colour, elsewhere they are plain.
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .

# ---- an allocation, by hand ----
cat >cluster2.csv <<E
gpu_type,gpus,usd_per_h
v100,2,3
k80,4,1
p100,1,
E
cat >some.csv <<E
job_id,entity,scale_factor,total_steps,gpu_type,steps_per_s,share,policy,with_job_id,with_steps_per_s
a,x,1,1000,v100,10,0.5,max-sum,,
a,x,1,1000,k80,4,0.25,max-sum,,
b,y,2,6000,v100,20,0.25,max-sum,,
b,y,2,6000,k80_unconsolidated,5,0.5,max-sum,,
c,y,1,10,k80,1,0,max-sum,,
a,x,1,1000,k80,2,0.1,max-sum,c,1
E
# a: 1/2 v100 and 1/4 + 1/10 k80, of which the pair's GPU is half: 0.8 GPUs, 6.2
# steps/s, 1000/6.2 s, 1.5 + .25 + .05 USD; b: 1.5 GPUs, 7.5 steps/s, 1.5 + 1 USD
run gv-report -c cluster2.csv some.csv
is_out "an allocation" <<E
allocation of 3 jobs on 2 GPU types, policy max-sum
GPUs        2.35 used of 7 (33.6 %)
cost        4.35 USD/h

job  entity  GPUs  v100 %  k80 %  all %  GPUs used  steps/s  done in min   USD/h
a    x          1    50.0   35.0   85.0      0.800     6.20          2.7    1.80
b    y          2    25.0   50.0   75.0       1.50     7.50         13.3    2.50
c    y          1       -   10.0   10.0     0.0500    0.100          1.7  0.0500

GPU type  GPUs  GPUs used  used %  USD/h
v100         2       1.00    50.0   3.00
k80          4       1.35    33.8   1.35

entity  jobs  GPUs used  of all used %  USD/h
x          1      0.800           34.0   1.80
y          2       1.55           66.0   2.55
Shares are of wall time.  Done in: if nothing changes.
E
run gv-report -f csv -c cluster2.csv some.csv
cut -d, -f1,3-9 out >got && mv got out
sed -i 's/161.2903225806451[0-9]*/161.29/; s/0\.8[0-9]*,/0.8,/' out
is_out "its jobs as a table" <<E
job_id,scale_factor,share,used_gpus,steps_per_s,steps_remaining,finish_s,usd_per_h
a,1,0.8,0.8,6.2,1000,161.29,1.8
b,2,0.75,1.5,7.5,6000,800,2.5
c,1,0.1,0.05,0.1,10,100,0.05
E
# GPUs that cost nothing have a price
sed 's/^k80,4,1/k80,4,0/' cluster2.csv >free.csv
run gv-report -f csv -c free.csv some.csv
cut -d, -f1,9 out >got && mv got out
is_out "free GPUs" <<E
job_id,usd_per_h
a,1.5
b,1.5
c,0
E
run gv-report -c free.csv some.csv
out_has 'cost        3.00 USD/h' "and what all costs"
cat >late.csv <<E
job_id,scale_factor,total_steps,gpu_type,steps_per_s,share,policy
last,1,1,k80,4,0.5,max-sum
done,1,0,k80,4,0,max-sum
never,1,8,k80,4,0,max-sum
E
run gv-report -f csv -b job late.csv
cut -d, -f1,7,8 out >got && mv got out
is_out "one step left, none, and never" <<E
job_id,steps_remaining,finish_s
last,1,0.5
done,0,0
never,8,
E
for at in 299:s 300:min 10799:min 10800:h 259199:h 259200:d; do
	printf 'job_id,scale_factor,total_steps,gpu_type,steps_per_s,share,policy\na,1,%s,k80,1,1,max-sum\n' "${at%:*}" >unit.csv
	run gv-report -b job unit.csv
	out_has "done in ${at#*:}" "${at%:*} s are told in ${at#*:}"
done
run gv-report -f csv -b type some.csv
is_out "types, without a cluster" <<E
gpu_type,gpus,used_gpus,used_share,usd_per_h
v100,,1,,
k80,,1.35,,
E
run gv-report -b entity --tsv some.csv
is_status 0 "entities"
run gv-report -j some.csv
ok "JSON" "$GV_PYTHON" -c 'import json; o = json.load(open("out")); assert [j["job_id"] for j in o["jobs"]] == ["a", "b", "c"] and len(o["types"]) == 2 and o["entities"][1]["jobs"] == 2'
printf 'job_id,gpu_type,steps_per_s,share\n' >none.csv
run gv-report none.csv
is_out "no jobs" <<E
allocation of 0 jobs on 0 GPU types
GPUs        0.00 used
Shares are of wall time.
E
printf 'job_id,gpu_type,steps_per_s,share\na,v100,1,2\n' >bad.csv
run gv-report bad.csv
is_err "a bad share" <<E
gv-report: bad.csv:2: share: expected a number from 0 to 1, got "2"
E

# ---- rates ----
run gv-report rates.csv
is_out "rates" <<E
rates of 4 jobs on 2 GPU types

job   entity  GPUs    cpu2    cpu1  fastest  speedup
wide  vision     1   702.5   409.5  cpu2        1.72
deep  vision     1   820.0   474.6  cpu2        1.73
tiny  speech     1  8210.0  6918.0  cpu2        1.19
pair  speech     2       -  4614.0  cpu1        1.00
Steps per second of the whole job.  Speedup: of the fastest type over the slowest.
E
printf 'job_id,gpu_type,steps_per_s\na,v100,0\na,k80,0\nb,v100,3\nb,k80,2\n' >nowhere.csv
run gv-report -f csv nowhere.csv
is_out "a job that runs nowhere has no fastest type" <<E
job_id,entity,scale_factor,fastest_gpu_type,steps_per_s,speedup
a,,1,,,
b,,1,v100,3,1.5
E

# ---- a dry run ----
cat >dry.csv <<E
round,job_id,gpu_type,node,gpus,command
0,a,v100,n1,0,x
0,a,v100,n2,0,x
0,b,k80,n1,1,x
2,b,v100,n1,0,x
3,a,v100,n1,0;1,x
E
run gv-report dry.csv
is_out "a dry run" <<E
4 rounds of 2 jobs
types       A v100, B k80, . waits

job  rounds
a    A..A
b    B.A.

job  GPU type  rounds  of all %  first  last
a    v100           2      50.0      0     3
b    k80            1      25.0      0     0
b    v100           1      25.0      2     2
E
printf 'round,job_id,gpu_type,gpus\n-1,a,v100,0\nx,a,v100,0\n' >bad.csv
run gv-report bad.csv
is_err "bad rounds" <<E
gv-report: bad.csv:2: round: expected a whole number from 0 to 10000000, got "-1"
gv-report: bad.csv:3: round: expected an integer, got "x"
E
printf 'round,job_id,gpu_type,gpus\n' >none.csv
run gv-report none.csv
echo "0 rounds of 0 jobs" | is_out "no rounds"

# ---- an explanation ----
gv-alloc -q -p max-sum -c cluster.csv --explain=why.csv -o /dev/null rates.csv
run gv-report why.csv
head -n 7 out >got && mv got out
is_out "an explanation" <<E
explanation of policy max-sum
objective   12824
held by     the GPUs of cpu2, cpu1

GPU type  binds     bottleneck  used    of  worth of one  one GPU more  jobs unlocked
cpu2      capacity  yes         1.00  1.00        3599.0         820.0              0
cpu1      capacity  yes         2.00  2.00        2307.0         474.6              0
E
printf 'kind,name,binds,bottleneck,value,used,price,need,need_price\ngpu_type,a,,yes,,,,,\ngpu_type,b,,no,,,,,\ngpu_type,c,,yes,,,,,\n' >letters.csv
run gv-report letters.csv
ok "types of one letter hold it" grep -qx 'held by  *the GPUs of a, c' out
printf 'job_id,entity,gpu_type,steps_per_s\nj,x,cpu1,2\nk,y,cpu1,3\nl,y,cpu1,3\n' >owned.csv
printf 'entity,weight,quota_gpus\nx,2,\ny,1,1\n' >entities.csv
gv-alloc -q -p water-filling -c cluster.csv --entities=entities.csv --explain=whose.csv -o /dev/null owned.csv
run gv-report -f csv -b entity whose.csv
ok "its entities, with what they have" [ "$(awk -F, 'NR > 1 { printf "%s %.6g %s; ", $1, $5, $6 }' out)" = "x 1 ; y 1 1; " ]
run gv-report -f csv -b job why.csv
ok "its jobs are the table's" [ "$(cut -d, -f1 out | tr '\n' ' ')" = "name wide deep tiny pair " ]

# ---- every table of gv, in every format that fits ----
gv-profile devices -q --cpu --list >devices.csv
gv-train --data=digits:64 --steps=1 net.tsv >losses.csv
gv-partition --top=2 -l 2@10Gb/s layers.csv >ranking.csv
gv-partition -p ptd-p --gpu-type=H100 --gpus=128 transformers.csv >ptd.csv
# what it writes itself
for part in summary type entity job share run curve; do
	gv-report -f csv -b $part events.csv >"report-$part.csv"
done
for part in type entity job; do gv-report -f csv -b $part some.csv >"report-some-$part.csv"; done
for of in why rates dry; do gv-report -f csv $of.csv >"report-$of.csv"; done
gv-report -f csv -b job why.csv >report-why-job.csv
gv-tree -o packed.csv links.csv
gv-report -f csv packed.csv links.csv >report-trees.csv
gv-report -f csv -b link packed.csv links.csv >report-links.csv
gv-partition --timeline -l 4@10Gb/s layers.csv >timeline.csv
gv-report -f csv timeline.csv >report-timeline.csv
gv-partition --explain -l 4@10Gb/s layers.csv >stages.csv
gv-report -f csv stages.csv >report-stages.csv
gv-train --export=samples.csv --data=digits:2
printf 'seed,lr\n1,0.1\n' >array.csv
printf '%s\n' job_id,gpu_type,steps_per_s a,cpu1,1 '' change,place,job_id,gpu_type,steps_per_s new,1,b,cpu1,1 |
	gv-alloc -p max-min --changes -c cluster.csv | sed '1,/^$/d' >answer.csv
for file in *.csv net.tsv "$src/share/gpus.csv"; do
	case $file in bad.csv | cluster-log.csv) continue ;; esac # no tables of gv
	for format in text csv tsv json html; do
		run gv-report -q -f $format "$file"
		[ -s out ] && [ ! -s err ] || status=1
		[ "$status" -eq 0 ] || break
	done
	is_status 0 "${file##*/}: every format"
done
run gv-report --format=svg rates.csv
err_has '--format=svg is for events, allocations, dry runs, links, trees, losses, plans, schedules and stage times; this is a table of rates' "no drawing"
run gv-report --format=prom cluster.csv
err_has '--format=prom is for events; this is a cluster' "no Prometheus"
run gv-report --by=share allocation.csv
err_has '--by=share: this is an allocation table, which has no such part' "no such part"
run gv-report --expect-finished rates.csv
err_has '--expect-finished is for events, this is a table of rates' "nothing to expect"
run gv-report -c cluster.csv rates.csv
err_has '--cluster is for allocations, this is a table of rates' "a cluster for nothing"

# ---- stage times, by hand: bars of 1.5 + 3 + .25 + .05 + .2 and of .5 + .75 ms ----
cat >times.csv <<E
stage,replica,micro_batches,forward_ms,planned_forward_ms,backward_ms,planned_backward_ms,send_ms,update_ms,wait_ms,bubble,planned_bubble,memory_bytes,planned_memory_bytes
0,0,160,1.5,.6,3,3,.05,.25,.2,.1,.05,10485760,20971520
1,0,160,.5,,.75,,,,,,,,
E
run gv-report times.csv
is_out "stage times" <<E
stage times of 2 workers
slowest     stage 0: 4.5 ms of passes for a micro-batch, planned 3.6
off plan    at most +25.0 % of the planned passes, stage 0, replica 0

stage  replica  micro-batches  forward ms  planned  backward ms  planned  update ms  send ms  wait ms  passes to plan  bubble %  planned %  MiB
    0        0            160        1.50    0.600         3.00     3.00      0.250   0.0500    0.200            1.25      10.0        5.0  10.0 of 20.0
    1        0            160       0.500        -        0.750        -          -        -        -               -         -          -  -
Times are of a micro-batch, means.  Bubble: the part of a GPU's time without passes.
E
{ sed -n 1,2p times.csv; sed -n '2s/^0,0/1,0/p' times.csv; } >alike.csv
run gv-report alike.csv
out_has 'off plan    at most +25.0 % of the planned passes, stage 0, replica 0' "of two that are as far the first is named"
run gv-report -f csv times.csv
is_out "as a table" <<E
stage,replica,micro_batches,forward_ms,planned_forward_ms,backward_ms,planned_backward_ms,update_ms,send_ms,wait_ms,passes_to_plan,bubble,planned_bubble,memory_bytes,planned_memory_bytes
0,0,160,1.5,0.6,3,3,0.25,0.05,0.2,1.25,0.1,0.05,10485760,20971520
1,0,160,0.5,,0.75,,,,,,,,,
E
run gv-report -f svg times.csv
silent "drawn"
# the parts of the bars, and where the line of what is planned is
sed -n 's/.*<rect class="\(f[0-4]\)" x="\([0-9.]*\)" y="[^"]*" width="\([0-9.]*\)".*/\1 \2 \3/p' out | tail -n 7 >bars
sed -n 's/.*<line class="c-rule" x1="\([0-9.]*\)".*/\1/p' out >rule
ok "bars as long as times, and the plan's line" awk -v rule="$(cat rule)" '
	function is(a, b) { return a - b < .02 && b - a < .02 }
	NR == 1 { from = $2; ms = $3 / 1.5 }
	{ split("1.5 3 .25 .05 .2 .5 .75", v, " "); if (!is($3, v[NR] * ms)) bad = 1 }
	END { exit bad || NR != 7 || !is(rule - from, 3.6 * ms) }' bars
sed 's/,3,3,\.05,/,3,3,0,/' times.csv >zero.csv
run gv-report -f svg zero.csv
ok "a time of 0 has no bar" awk '/<rect class="f[0-4]"/ && / width="0(\.0*)?"/ { bad = 1 } END { exit bad }' out
# and what passes took beside computing, where it is told: .9 ms
awk -F, -v OFS=, '{ print $0, NR == 1 ? "other_ms" : NR == 2 ? ".9" : "" }' times.csv >other.csv
run gv-report -f csv other.csv
ok "passes beside computing" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { exit !($at["other_ms"] == .9 && $at["update_ms"] == .25) }' out
run gv-report -f svg other.csv
sed -n 's/.*<rect class="f\([05]\)".*width="\([0-9.]*\)".*/\1 \2/p' out >bars
ok "and their part of the bar" awk '$2 != 10 { w[$1] = w[$1] + 0 > 0 ? w[$1] : $2 } END { exit !(w[5] > .59 * w[0] && w[5] < .61 * w[0]) }' bars
sed 's/^0,0,160,1.5/0,0,160,-1.5/' times.csv >bad.csv
run gv-report bad.csv
is_status 2 "a time below 0"
err_has 'bad.csv:2: forward_ms: ' "and where"
head -n 1 times.csv >none.csv
run gv-report -f svg none.csv
is_status 0 "no stages"
rm bad.csv

# ---- by their columns, also where they have those of another one ----
cat >wanted <<E
a table of lifetimes: cloud,gpu,gpus,start,end,outcome
a table of costs: job_id,arrival_s,total_steps,policy,cost_usd,end_s,moves,slack_s
a schedule of markets: job_id,start_s,end_s,source,usd_per_h,cost_usd
a table of changes: time_s,gpu_type,node,event
a table of changes of rates: change,place,job_id,gpu_type,steps_per_s,steps_remaining
a status: job_id,state,gpu_type,gpus,steps,total_steps,steps_per_s,share,received_share,eta_s
a table of moves: node_id,stage,new_stage,replicas,new_replicas,recompute,new_recompute
a table of memory: time_ms,bytes,change_bytes,tensor
a table of arrays: models,step_ms,step_mad_ms,fit_ms,fixed_ms,per_model_ms,samples_per_s,speedup
a table of shapes: id,in_channels,in_height,in_width,out_channels,out_height,out_width
a list of findings: line,level,message
a report's summary: jobs,waiting,running,ended,elapsed_s,makespan_s
a report of runs: run,jobs,finished,completion_mean_s
a report of GPU types: gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
a report of an allocation: gpu_type,gpus,used_gpus,used_share,usd_per_h
a report of an explanation: name,binds,bottleneck,value,used,price,need,need_price
a table of shares: job_id,gpu_type,share
a table of samples: label,p0,p1
a ranking of plans of transformers: model,hidden_size,seq_len,gpu_type,gpus,rank,tensor_parallel,pipeline_parallel
E
while IFS= read -r line; do
	echo "${line#*: }" >kind.csv
	gv-report kind.csv | head -n 1
done <wanted >got 2>&1
sed 's/:.*/: 0 rows/' wanted >names
same_file names got "each is called what it is"
# as gv-run --status writes it: a finished job has no speed and no share
printf 'job_id,state,gpu_type,gpus,steps,total_steps,steps_per_s,share,received_share,eta_s\nx,finished,,,9,9,,,,\n' >status.csv
run gv-report status.csv
silent "a status"
out_has 'a status: 1 row' "whose finished jobs have no speed"
rm kind.csv status.csv

# ---- drawn ----
run gv-report -f svg some.csv
silent "an allocation, drawn"
ok "a job has a bar of each type it has a share on" [ "$(grep -c '<rect class="f[01]"' out)" -eq 7 ] # two of them in the legend
out_has '>85.0 %<' "and their sum"
grep -o '<rect class="f0" x="[^"]*" y="[^"]*" width="[0-9.]*"' out | sed 's/.*width="//; s/"//' | tail -n 2 >got
awk 'NR == 1 { a = $1 } NR == 2 { exit a / $1 != 2 }' got || status=1
is_status 0 "half of the time is twice a quarter"
run gv-report -f svg dry.csv
silent "a dry run, drawn"
ok "rounds that follow each other are one bar" [ "$(grep -c '<rect class="f0"' out)" -eq 4 ]
for n in 1 2 3 5 8 13 40; do
	seq 0 $((n - 1)) | awk 'BEGIN { print "round,job_id,gpu_type,gpus" } { print $1 ",a,k80,0" }' | gv-report -f svg >out
	sed -n 's/.*class="c-dim c-mid" x="\([^"]*\)"[^>]*>\([^<]*\)<.*/\1 \2/p' out
	echo
done >ticks
ran="dry runs of 1 to 40 rounds" status=0
ok "numbers of rounds are whole, and none stands on another" awk '
	NF == 0 { before = ""; next }
	$2 !~ /^[0-9]+$/ || before != "" && $1 - before < 25 { exit status = 1 }
	{ before = $1; n++ }
	END { exit status || n < 14 }' ticks
for file in some.csv dry.csv; do
	run gv-report -f html $file
	ok "$file: the page has the chart" grep -q '<svg ' out
done
awk 'BEGIN { print "job_id,gpu_type,steps_per_s,share"; for (i = 0; i < 1000; i++) print "j" i ",v100,1,0.5" }' >thousand.csv
run gv-report -f svg thousand.csv
out_has 'The first 60 of 1000 jobs.' "many jobs: the first"
printf 'job_id,gpu_type,steps_per_s,share\n' >none.csv
run gv-report -f svg none.csv
silent "no jobs, drawn"

printf 'step,model,loss,test_loss,accuracy\n1,0,2.5,,\n1,1,2.25,,\n2,0,1.5,1.75,0.5\n2,1,,,\n3,0,0.5,0.75,0.75\n' >l.csv
run gv-report -f svg l.csv
silent "losses, drawn"
ok "a panel of each kind" [ "$(grep -c 'class="c-head"' out)" -eq 3 ]
ok "a line of each model that has any" [ "$(grep -c '<path class="l0 d0"' out)" -eq 3 ]
out_has '<title>model 1</title>' "models are named where there are several"
run gv-report -f svg a=l.csv b=losses.csv
out_has '<title>a, model 0</title>' "several trainings: names"
ok "several trainings: three models" [ "$(grep -c '<line class="l[0-9] d[0-9]"' out)" -eq 3 ]
run gv-report -f html l.csv
silent "losses, a page"
printf 'step,loss\n' >none.csv
run gv-report -f svg none.csv
out_has 'Nothing is told yet.' "no losses, drawn"
run gv-report l.csv losses.csv
err_has 'several tables of losses are drawn: --format=svg or --format=html' "several trainings are no text"
run gv-report -f svg l.csv cluster.csv
echo 'gv-report: cluster.csv: this is no table of losses' | is_err "losses and another table"
run gv-report -f svg --chart=busy l.csv
err_has '--chart is for runs of jobs, these are losses' "no charts of losses"
sed '2s/2.5/x/' l.csv >bad.csv
run gv-report -f svg bad.csv
echo 'gv-report: bad.csv:2: loss: expected a number, got "x"' | is_err "a bad loss"

# a run that is writing its record, cut at any byte of its last row
printf 'step,model,loss,test_loss,accuracy\n1,0,2.5,,\n2,0,1.5,1.75,0.5\n' >whole.csv
run gv-report -f svg whole.csv
cp out whole.svg
for n in 1 2 3 5 9; do
	{ cat whole.csv && printf '3,0,0.75,1.5,0.625\n' | head -c $n; } >cut.csv
	run gv-report -f svg cut.csv
	is_status 0 "a row cut after $n bytes: status"
	echo 'gv-report: warning: cut.csv:4: the last row is not complete, ignored' | is_err "a row cut after $n bytes"
	same_file whole.svg out "is drawn without: $n"
done
run gv-report -q -f svg cut.csv
silent "--quiet: a cut row is not told"
printf 'step,model,loss,test_loss,accuracy\n1,0\n2,0,1.5,1.75,0.5\n' >bad.csv
run gv-report -f svg bad.csv
is_status 2 "a short row within is an error"

# ---- how losses are drawn ----
# means over 2 steps of 4 0 4 0 are 4 2 2 2: places of the curve that has a title
awk 'BEGIN { print "step,loss"; for (i = 1; i <= 4; i++) print i "," 4 * (i % 2) }' >saw.csv
printf 'step,loss\n1,4\n2,2\n3,2\n4,2\n' >means.csv
# points FILE: the last line drawn there
points() { gv-report -f svg "$@" | grep -o '<path class="l0 d0" d="[^"]*"' | tail -n 1; }
ok "--smooth: means" test "$(points --smooth=2 saw.csv)" = "$(points means.csv)"
gv-report -f svg --smooth=2 saw.csv >out
out_has 'means of 2 steps' "--smooth: said so"
ok "--smooth: and the losses behind" test "$(grep -c 'opacity="0.25"' out)" -eq 1
printf 'step,loss\n1,4\n2,2\n3,1\n4,0\n' >halves.csv
# the three points over 0 lie on a straight line by ratio, and not in proportion
straight() {
	points "$@" | sed 's/.* d="M//; s/"//' | tr L '\n' | awk '{ y[NR] = $2 }
		END { d = y[3] - 2 * y[2] + y[1]; exit !(d < .3 && d > -.3) }'
}
ok "--axis=log: by ratios, without what is not over 0" straight --axis=log halves.csv
ok "--axis=linear: in proportion" test "$(points --axis=linear halves.csv)" = "$(points halves.csv)"
ok "which is not straight" test "$(straight --axis=linear halves.csv && echo yes)" != yes
run gv-report -f svg --axis=square halves.csv
err_has '--axis: unknown "square"; known: auto, linear, log' "another axis"
run gv-report --smooth=3 halves.csv
err_has '--smooth needs --format=svg or --format=html' "a text has no means"
run gv-report -f svg --smooth=3 rates.csv
err_has '--smooth is for losses' "nor have rates"
run gv-report -f svg --axis=log rates.csv rates.csv
err_has '--axis is for losses' "nor have several tables of others"

# ---- the label run ----
# label FILE [OPTION]: the label run of all series
label() {
	run gv-report --per-job -f prom "$@"
	! grep -v '^#' out | grep -qv '{run="' || status=1
	sed -n 's/^gv_jobs{run="\([^"]*\)".*finished.*/\1/p' out >got && mv got out
}
mkdir -p state/last
cp events.csv state/last/events.csv
label events.csv
echo events | is_out "run: the file's name"
label state/last/events.csv
echo last | is_out "run: a journal's directory"
label ./events.csv --run='my "run"'
printf 'my \\\n' >want # up to the escaped quote
same_file want out "run: --run"
gv-report -f prom - <events.csv >out
out_has '{run="stdin"' "run: standard input"
gv-report --per-job -f prom events.csv >out
out_has 'gv_job_steps{run="events",job_id="wide"} 6000' "steps of a job"
out_has 'gv_job_total_steps{run="events",job_id="wide"} 6000' "total_steps of a job"
run gv-report --run=x events.csv
err_has '--run needs --format=prom' "--run without prom"

# ---- a terminal ----
# on COLUMNS [NAME=VALUE] COMMAND: what stands on a terminal, without carriage returns
on() {
	columns=$1
	shift
	run script -qec "stty cols $columns; env -u COLUMNS $*" /dev/null
	tr -d '\r' <out >got && mv got out
}
if have script && [ -e /dev/ptmx ]; then
	on 60 TERM=xterm gv-report allocation.csv
	ok "colour on a terminal" grep -q "$(printf '\033\\[1mjob')" out
	on 60 TERM=xterm NO_COLOR=1 gv-report allocation.csv
	[ "$(wc -L <out)" -le 60 ] && ! grep -q "$(printf '\033')" out || status=1
	is_status 0 "it fits in 60 columns; NO_COLOR"
	grep -q '^job   steps/s' out || status=1
	is_status 0 "what has no room stands below"
	on 40 TERM=dumb gv-report jobs.csv
	[ "$(wc -L <out)" -le 40 ] && grep -q '\.\.$' out || status=1
	is_status 0 "texts are cut"
	on 200 COLUMNS=50 TERM=dumb gv-report jobs.csv
	[ "$(wc -L <out)" -le 50 ] || status=1
	is_status 0 "COLUMNS counts more than the terminal"
	for table in events allocation layers rates cluster links trees; do
		on 40 TERM=dumb gv-report $table.csv
		[ "$(wc -L <out)" -le 40 ] || status=1
		is_status 0 "$table in 40 columns"
	done
	on 40 TERM=dumb gv-report events.csv
	grep -A1 '^fairness    received' out >got
	printf '%s\n' 'fairness    received / promised: Jain' '            index 0.972, least 0.852' |
		diff - got >/dev/null || status=1
	is_status 0 "a line of the summary goes on in its column"
	on 50 TERM=dumb gv-report events.csv
	[ "$(sed -n '/^GPU type/,$p' out | wc -L)" -le 50 ] || status=1
	is_status 0 "events, too"
	sed -n '/^Times in/,$p' out | paste -s -d ' ' - >got
	gv-report events.csv | tail -n 1 | tr -s ' ' >plain
	tr -s ' ' <got | diff plain - >/dev/null || status=1
	is_status 0 "what stands below them is broken between words"
	COLUMNS=20 gv-report allocation.csv >plain
	on 30 TERM=xterm sh -c "'gv-report allocation.csv | cat'"
	same_file plain out "not into a pipe"
else
	skip "no terminal here"
fi
done_testing
