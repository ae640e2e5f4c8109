#!/bin/sh
# gv-report of tables made by hand, small enough to follow every number: all that it says.
# What stands first, last and alone counts as well as the rest.
. "${0%/*}/lib.sh"

# ---- an explanation: the first row of a kind is not the only one that says something ----
cat >why.csv <<E
kind,name,binds,bottleneck,value,used,limit,price,one_more_gpu,jobs_unlocked,need,need_price
gpu_type,a,capacity,yes,,2,2,5,3,1,,
gpu_type,b,,no,,1,4,,,,,
job,j,time,no,5,1,,,,,2,
job,k,,,0,0.25,,,,,,
policy,max-sum,,,5,,,,,,,
E
run gv-report why.csv
is_out "an explanation" <<E
explanation of policy max-sum
objective   5
held by     the GPUs of a

GPU type  binds     bottleneck  used    of  worth of one  one GPU more  jobs unlocked
a         capacity  yes         2.00  2.00          5.00          3.00              1
b         -         no          1.00  4.00             -             -              -

job  binds  bottleneck  value  time %  steps/s needed
j    time   no           5.00   100.0            2.00
k    -      -             0.0    25.0               -
Worth: change of the objective for each unit more (need: less).
E
run gv-report -f csv -b job why.csv
is_out "an explanation: its jobs" <<E
name,binds,bottleneck,value,used,price,need,need_price
j,time,no,5,1,,2,
k,,,0,0.25,,,
E
cat >why.csv <<E
kind,name,binds,bottleneck,value,used,price
job,i,,,,,3
policy,fifo,,,,,
job,j,,,1,0.5,
E
run gv-report why.csv
is_out "an explanation without types, and of a policy without a value" <<E
explanation of policy fifo

job  binds  bottleneck  value  time %  worth of more time
i    -      -               -       -                3.00
j    -      -            1.00    50.0                   -
Worth: change of the objective for each unit more (need: less).
E
cat >why.csv <<E
kind,name,binds,bottleneck,value,used
E
run gv-report why.csv
is_out "an explanation of nothing" <<E
explanation
Worth: change of the objective for each unit more (need: less).
E
cat >why.csv <<E
kind,name,binds,bottleneck,value,used
policy,fifo,,,,
job,j,,,1
E
run gv-report why.csv
is_err "an explanation with a short row" <<E
gv-report: why.csv:3: expected 6 cells, got 5
E
cat >why.csv <<E
kind,name,binds,bottleneck,value,used
job,j,,,x,y
gpu_type,a,,yes,,z
E
run gv-report why.csv
is_err "an explanation with words for numbers" <<E
gv-report: why.csv:3: used: expected a number, got "z"
gv-report: why.csv:2: value: expected a number, got "x"
gv-report: why.csv:2: used: expected a number, got "y"
E

# ---- allocations and rates ----
cat >cluster.csv <<E
gpu_type,gpus,usd_per_h
v,2,3
k,1,
w,4,0.5
z,3,9
E
cat >allocation.csv <<E
job_id,entity,scale_factor,gpu_type,steps_per_s,steps_remaining,share,policy
a,x,1,v,10,0,0.5,fifo
a,x,1,k,4,0,0.25,fifo
b,y,2,v,20,100,0.5,fifo
c,x,1,v,1,5,0,fifo
d,x,1,w,1,300,1,fifo
E
run gv-report allocation.csv
is_out "an allocation" <<E
allocation of 4 jobs on 3 GPU types, policy fifo
GPUs        2.75 used
no share    1 job

job  entity  GPUs   v %   k %    w %  all %  GPUs used  steps/s  done in min
a    x          1  50.0  25.0      -   75.0      0.750     6.00          0.0
b    y          2  50.0     -      -   50.0       1.00     10.0          0.2
c    x          1     -     -      -    0.0        0.0      0.0            -
d    x          1     -     -  100.0  100.0       1.00     1.00          5.0

GPU type  GPUs used
v              1.50
k             0.250
w              1.00

entity  jobs  GPUs used  of all used %
x          3       1.75           63.6
y          1       1.00           36.4
Shares are of wall time.  Done in: if nothing changes.
E
run gv-report -c cluster.csv allocation.csv
is_out "an allocation with prices" <<E
allocation of 4 jobs on 3 GPU types, policy fifo
GPUs        2.75 used of 10 (27.5 %)
no share    1 job

job  entity  GPUs   v %   k %    w %  all %  GPUs used  steps/s  done in min  USD/h
a    x          1  50.0  25.0      -   75.0      0.750     6.00          0.0      -
b    y          2  50.0     -      -   50.0       1.00     10.0          0.2   3.00
c    x          1     -     -      -    0.0        0.0      0.0            -    0.0
d    x          1     -     -  100.0  100.0       1.00     1.00          5.0  0.500

GPU type  GPUs  GPUs used  used %  USD/h
v            2       1.50    75.0   4.50
k            1      0.250    25.0      -
w            4       1.00    25.0  0.500

entity  jobs  GPUs used  of all used %  USD/h
x          3       1.75           63.6      -
y          1       1.00           36.4   3.00
Shares are of wall time.  Done in: if nothing changes.
E
run gv-report -j -c cluster.csv allocation.csv
is_out "an allocation: JSON" <<E
{
  "jobs": [
    {"job_id": "a", "entity": "x", "scale_factor": 1, "share": 0.75, "used_gpus": 0.75, "steps_per_s": 6, "steps_remaining": 0, "finish_s": 0, "usd_per_h": null},
    {"job_id": "b", "entity": "y", "scale_factor": 2, "share": 0.5, "used_gpus": 1, "steps_per_s": 10, "steps_remaining": 100, "finish_s": 10, "usd_per_h": 3},
    {"job_id": "c", "entity": "x", "scale_factor": 1, "share": 0, "used_gpus": 0, "steps_per_s": 0, "steps_remaining": 5, "finish_s": null, "usd_per_h": 0},
    {"job_id": "d", "entity": "x", "scale_factor": 1, "share": 1, "used_gpus": 1, "steps_per_s": 1, "steps_remaining": 300, "finish_s": 300, "usd_per_h": 0.5}
  ],
  "types": [
    {"gpu_type": "v", "gpus": 2, "used_gpus": 1.5, "used_share": 0.75, "usd_per_h": 4.5},
    {"gpu_type": "k", "gpus": 1, "used_gpus": 0.25, "used_share": 0.25, "usd_per_h": null},
    {"gpu_type": "w", "gpus": 4, "used_gpus": 1, "used_share": 0.25, "usd_per_h": 0.5}
  ],
  "entities": [
    {"entity": "x", "jobs": 3, "used_gpus": 1.75, "used_share": 0.6363636363636364, "usd_per_h": null},
    {"entity": "y", "jobs": 1, "used_gpus": 1, "used_share": 0.36363636363636365, "usd_per_h": 3}
  ]
}
E
cat >allocation.csv <<E
job_id,gpu_type,steps_per_s,share
a,v,1,1
E
run gv-report allocation.csv
is_out "an allocation of one job" <<E
allocation of 1 job on 1 GPU type
GPUs        1.00 used

job    v %  all %  GPUs used  steps/s  done in s
a    100.0  100.0       1.00     1.00          -

GPU type  GPUs used
v              1.00
Shares are of wall time.
E
run gv-report -c cluster.csv allocation.csv
is_out "an allocation of one job, of a cluster" <<E
allocation of 1 job on 1 GPU type
GPUs        1.00 used of 10 (10.0 %)
cost        3.00 USD/h

job    v %  all %  GPUs used  steps/s  done in s  USD/h
a    100.0  100.0       1.00     1.00          -   3.00

GPU type  GPUs  GPUs used  used %  USD/h
v            2       1.00    50.0   3.00
Shares are of wall time.
E
cat >allocation.csv <<E
job_id,gpu_type,steps_per_s,share,policy
a,v,1,1,
E
cat >one.csv <<E
gpu_type,gpus
v,1
E
run gv-report -c one.csv allocation.csv
is_out "an allocation of all GPUs, of no policy" <<E
allocation of 1 job on 1 GPU type
GPUs        1.00 used of 1 (100.0 %)

job    v %  all %  GPUs used  steps/s  done in s
a    100.0  100.0       1.00     1.00          -

GPU type  GPUs  GPUs used  used %
v            1       1.00   100.0
Shares are of wall time.
E
cat >allocation.csv <<E
policy,job_id,gpu_type,steps_per_s,share
p,a,v,1,0
E
run gv-report allocation.csv
is_out "nobody has anything" <<E
allocation of 1 job on 1 GPU type, policy p
GPUs        0.00 used
no share    1 job

job  v %  all %  GPUs used  steps/s  done in s
a      -    0.0        0.0      0.0          -

GPU type  GPUs used
v               0.0
Shares are of wall time.
E
cat >allocation.csv <<E
job_id,gpu_type,steps_per_s,share
E
run gv-report allocation.csv
is_out "an allocation of nothing" <<E
allocation of 0 jobs on 0 GPU types
GPUs        0.00 used
Shares are of wall time.
E
cat >allocation.csv <<E
job_id,gpu_type,steps_per_s,share
a,v,1,0
a,v_unconsolidated,1,0.5
b,v_unconsolidated,1,1
b,_unconsolidated,1,0
E
run gv-report allocation.csv
is_out "gangs on several nodes are of their type" <<E
allocation of 2 jobs on 2 GPU types
GPUs        1.50 used

job    v %  _unconsolidated %  all %  GPUs used  steps/s  done in s
a     50.0                  -   50.0      0.500    0.500          -
b    100.0                  -  100.0       1.00     1.00          -

GPU type         GPUs used
v                     1.50
_unconsolidated        0.0
Shares are of wall time.
E
cat >allocation.csv <<E
job_id,gpu_type,steps_per_s,share,with_job_id,with_steps_per_s
a,k,1,0.25,,
a,v,2,0.5,b,4
b,v,8,0.25,,
E
run gv-report -c cluster.csv allocation.csv
is_out "pairs have a half of the GPUs each" <<E
allocation of 2 jobs on 2 GPU types
GPUs        1.00 used of 10 (10.0 %)

job   k %   v %  all %  GPUs used  steps/s  done in s  USD/h
a    25.0  50.0   75.0      0.500     1.25          -      -
b       -  75.0   75.0      0.500     4.00          -   1.50

GPU type  GPUs  GPUs used  used %  USD/h
k            1      0.250    25.0      -
v            2      0.750    37.5   2.25
Shares are of wall time.
E
cat >rates.csv <<E
job_id,gpu_type,steps_per_s
a,v,1
a,k,1
b,k,2
b,v,1
c,v,0
d,v,4
d,v_unconsolidated,3
d,k,8
E
run gv-report rates.csv
is_out "rates: the first of equals is the fastest" <<E
rates of 4 jobs on 3 GPU types

job     v     k  v_unconsolidated  fastest  speedup
a    1.00  1.00                 -  v           1.00
b    1.00  2.00                 -  k           2.00
c       -     -                 -  -              -
d    4.00  8.00              3.00  k           2.67
Steps per second of the whole job.  Speedup: of the fastest type over the slowest.
E
run gv-report -f csv rates.csv
is_out "rates: CSV" <<E
job_id,entity,scale_factor,fastest_gpu_type,steps_per_s,speedup
a,,1,v,1,1
b,,1,k,2,2
c,,1,,,
d,,1,k,8,2.6666666666666665
E
cat >rates.csv <<E
job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s
a,v,2,b,3
b,v,4,,
E
run gv-report rates.csv
is_out "rates: who is never alone" <<E
rates of 2 jobs on 1 GPU type
pairs       not shown

job     v  fastest  speedup
a       -  -              -
b    4.00  v           1.00
Steps per second of the whole job.  Speedup: of the fastest type over the slowest.
E

# ---- a dry run ----
cat >rounds.csv <<E
round,job_id,gpu_type,gpus
1,a,v,0
1,a,v,1
3,a,v,0
3,b,k,0
5,a,v,0
E
run gv-report rounds.csv
is_out "rounds" <<E
6 rounds of 2 jobs
types       A v, B k, . waits

job  rounds
a    .A.A.A
b    ...B..

job  GPU type  rounds  of all %  first  last
a    v              3      50.0      1     5
b    k              1      16.7      3     3
E
run gv-report -f csv rounds.csv
is_out "rounds: CSV" <<E
job_id,gpu_type,rounds,share,first_round,last_round
a,v,3,0.5,1,5
b,k,1,0.16666666666666666,3,3
E
cat >rounds.csv <<E
round,job_id,gpu_type,gpus
0,a,v,0
E
run gv-report rounds.csv
is_out "one round" <<E
1 round of 1 job
types       A v, . waits

job  rounds
a    A

job  GPU type  rounds  of all %  first  last
a    v              1     100.0      0     0
E
awk 'BEGIN { print "round,job_id,gpu_type,gpus"; for (i = 0; i < 25; i++) print i ",j,t" i ",0" }' >rounds.csv
run gv-report rounds.csv
sed -n "2s/.*, \([A-Z] \)/\1/p; 4,5p" <out >got && mv got out
is_out "25 rounds on 25 types" <<E
Y t24, . waits
job  rounds
j    ABCDEFGHIJKLMNOPQRSTUVWXY
E
awk 'BEGIN { print "round,job_id,gpu_type,gpus"; for (i = 0; i < 26; i++) print i ",j,t" i ",0" }' >rounds.csv
run gv-report rounds.csv
sed -n "2s/.*, \([A-Z] \)/\1/p; 4,5p" <out >got && mv got out
is_out "26 rounds on 26 types" <<E
Z t25, . waits
job  rounds
j    ABCDEFGHIJKLMNOPQRSTUVWXYZ
E
awk 'BEGIN { print "round,job_id,gpu_type,gpus"; for (i = 0; i < 64; i++) print i ",j,t" i ",0" }' >rounds.csv
run gv-report rounds.csv
sed -n "2s/.*, \([A-Z] \)/\1/p; 4,5p" <out >got && mv got out
is_out "64 rounds on 64 types" <<E
Z t25, . waits
job  rounds
j    ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL
E
awk 'BEGIN { print "round,job_id,gpu_type,gpus"; for (i = 0; i < 65; i++) print i ",j,t" i ",0" }' >rounds.csv
run gv-report rounds.csv
sed -n "2s/.*, \([A-Z] \)/\1/p; 4,5p" <out >got && mv got out
is_out "65 rounds on 65 types" <<E
Z t25, . waits
job  first rounds
j    ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL
E
awk 'BEGIN { print "round,job_id,gpu_type,gpus"; for (i = 0; i < 27; i++) print i ",j,t" i ",0" }' >rounds.csv
run gv-report rounds.csv
sed -n "2s/.*, \([A-Z] \)/\1/p; 4,5p" <out >got && mv got out
is_out "27 rounds on 27 types" <<E
Z t25, . waits
job  rounds
j    ABCDEFGHIJKLMNOPQRSTUVWXYZA
E
run gv-report -f svg rounds.csv
grep -c ">t[0-9]*<" <out >got && mv got out
is_out "27 types: as many are told apart as there are letters" <<E
26
E
cat >rounds.csv <<E
round,job_id,gpu_type,gpus
10000000,a,v,0
E
run gv-report rounds.csv
is_out "the last round that can be told" <<E
10000001 rounds of 1 job
types       A v, . waits

job  first rounds
a    ................................................................

job  GPU type  rounds  of all %     first      last
a    v              1       0.0  10000000  10000000
E
cat >rounds.csv <<E
round,job_id,gpu_type,gpus
10000001,a,v,0
-1,a,v,0
x,a,v,0
E
run gv-report rounds.csv
is_err "rounds that cannot be" <<E
gv-report: rounds.csv:2: round: expected a whole number from 0 to 10000000, got "10000001"
gv-report: rounds.csv:3: round: expected a whole number from 0 to 10000000, got "-1"
gv-report: rounds.csv:4: round: expected an integer, got "x"
E

# ---- stage times: the stage is not the first column ----
cat >times.csv <<E
replica,stage,micro_batches,forward_ms,backward_ms,send_ms,update_ms,wait_ms,planned_forward_ms,planned_backward_ms,bubble,planned_bubble,memory_bytes,planned_memory_bytes,other_ms
0,1,4,1,2,0.25,0.5,0,1,2,0.1,0.2,1048576,2097152,0
0,2,4,2,1,0,0,1,1,1,0.5,,0,0,0
3,2,4,1,1.5,0,0,1.5,2,2,,,,1572864,0.125
E
run gv-report times.csv
is_out "stage times" <<E
stage times of 3 workers
slowest     stage 1: 3 ms of passes for a micro-batch, planned 3
off plan    at most -37.5 % of the planned passes, stage 2, replica 3

stage  replica  micro-batches  forward ms  planned  backward ms  planned  other ms  update ms  send ms  wait ms  passes to plan  bubble %  planned %  MiB
    1        0              4        1.00     1.00         2.00     2.00       0.0      0.500    0.250      0.0            1.00      10.0       20.0  1.0 of 2.0
    2        0              4        2.00     1.00         1.00     1.00       0.0        0.0      0.0     1.00            1.50      50.0          -  0.0 of 0.0
    2        3              4        1.00     2.00         1.50     2.00     0.125        0.0      0.0     1.50           0.625         -          -  1.5 planned
Times are of a micro-batch, means.  Bubble: the part of a GPU's time without passes.
E
run gv-report -f csv times.csv
is_out "stage times: CSV" <<E
stage,replica,micro_batches,forward_ms,planned_forward_ms,backward_ms,planned_backward_ms,other_ms,update_ms,send_ms,wait_ms,passes_to_plan,bubble,planned_bubble,memory_bytes,planned_memory_bytes
1,0,4,1,1,2,2,0,0.5,0.25,0,1,0.1,0.2,1048576,2097152
2,0,4,2,1,1,1,0,0,0,1,1.5,0.5,,0,0
2,3,4,1,2,1.5,2,0.125,0,0,1.5,0.625,,,,1572864
E
run gv-report -j times.csv
is_out "stage times: JSON" <<E
{
  "stages": [
    {"stage": 1, "replica": 0, "micro_batches": 4, "forward_ms": 1, "planned_forward_ms": 1, "backward_ms": 2, "planned_backward_ms": 2, "other_ms": 0, "update_ms": 0.5, "send_ms": 0.25, "wait_ms": 0, "passes_to_plan": 1, "bubble": 0.1, "planned_bubble": 0.2, "memory_bytes": 1048576, "planned_memory_bytes": 2097152},
    {"stage": 2, "replica": 0, "micro_batches": 4, "forward_ms": 2, "planned_forward_ms": 1, "backward_ms": 1, "planned_backward_ms": 1, "other_ms": 0, "update_ms": 0, "send_ms": 0, "wait_ms": 1, "passes_to_plan": 1.5, "bubble": 0.5, "planned_bubble": null, "memory_bytes": 0, "planned_memory_bytes": 0},
    {"stage": 2, "replica": 3, "micro_batches": 4, "forward_ms": 1, "planned_forward_ms": 2, "backward_ms": 1.5, "planned_backward_ms": 2, "other_ms": 0.125, "update_ms": 0, "send_ms": 0, "wait_ms": 1.5, "passes_to_plan": 0.625, "bubble": null, "planned_bubble": null, "memory_bytes": null, "planned_memory_bytes": 1572864}
  ]
}
E
cat >times.csv <<E
stage,replica,micro_batches,forward_ms,backward_ms,send_ms,update_ms,wait_ms
2,0,1,0,0,0,0,0
E
run gv-report times.csv
is_out "stage times of one worker" <<E
stage times of 1 worker
slowest     stage 2: 0 ms of passes for a micro-batch

stage  replica  micro-batches  forward ms  planned  backward ms  planned  update ms  send ms  wait ms  passes to plan  bubble %  planned %  MiB
    2        0              1         0.0        -          0.0        -        0.0      0.0      0.0               -         -          -  -
Times are of a micro-batch, means.  Bubble: the part of a GPU's time without passes.
E
cat >times.csv <<E
stage,replica,micro_batches,forward_ms,backward_ms,send_ms,update_ms,wait_ms
E
run gv-report times.csv
is_out "stage times of nobody" <<E
stage times of 0 workers
Times are of a micro-batch, means.  Bubble: the part of a GPU's time without passes.
E
cat >times.csv <<E
stage,replica,micro_batches,forward_ms,backward_ms,send_ms,update_ms,wait_ms,planned_forward_ms,planned_backward_ms
2,0,1,1,1,0,0,0,0,0
3,0,1,1,1,0,0,0,1,1
E
run gv-report times.csv
is_out "nothing was planned for the slowest" <<E
stage times of 2 workers
slowest     stage 2: 2 ms of passes for a micro-batch

stage  replica  micro-batches  forward ms  planned  backward ms  planned  update ms  send ms  wait ms  passes to plan  bubble %  planned %  MiB
    2        0              1        1.00      0.0         1.00      0.0        0.0      0.0      0.0               -         -          -  -
    3        0              1        1.00     1.00         1.00     1.00        0.0      0.0      0.0            1.00         -          -  -
Times are of a micro-batch, means.  Bubble: the part of a GPU's time without passes.
E
cat >times.csv <<E
stage,replica,micro_batches,forward_ms,backward_ms,send_ms,update_ms,wait_ms
2,0,1,1,1,0,0,0
3,0,1,1,1
E
run gv-report times.csv
is_err "stage times with a short row" <<E
gv-report: times.csv:3: expected 8 cells, got 5
E
cat >times.csv <<E
stage,replica,micro_batches,forward_ms,backward_ms,send_ms,update_ms,wait_ms
2,,1,1,1,0,0,0
-3,0,1,1,x,0,0,0
E
run gv-report times.csv
is_err "stage times with words for numbers" <<E
gv-report: times.csv:2: replica: expected a number, got nothing
E

# ---- any other table ----
cat >samples.csv <<E
id,in_channels,in_height,in_width,out_channels,out_height,out_width
7,1,2.5,a,3,4,
,1,,5,3,4,
E
run gv-report samples.csv
is_out "a table of shapes, with what is no number" <<E
a table of shapes: 2 rows

id  in_channels  in_height  in_width  out_channels  out_height  out_width
 7            1        2.5  a                    3           4          -
 -            1          -  5                    3           4          -
E
run gv-report -j samples.csv
is_out "a table of shapes: JSON" <<E
{
  "rows": [
    {"id": 7, "in_channels": 1, "in_height": 2.5, "in_width": "a", "out_channels": 3, "out_height": 4, "out_width": null},
    {"id": null, "in_channels": 1, "in_height": null, "in_width": "5", "out_channels": 3, "out_height": 4, "out_width": null}
  ]
}
E
cat >samples.csv <<E
id,in_channels,in_height,in_width,out_channels,out_height,out_width
7,1,2.5
E
run gv-report samples.csv
is_err "a table with a short row" <<E
gv-report: samples.csv:2: expected 7 cells, got 3
E

# ---- stages ----
cat >stages.csv <<E
level,stage,within,layers,first_layer,last_layer,replicas,gpus,compute_s,sync_s,transfer_s,load_s,limit,parameter_bytes,activation_bytes,in_flight,memory_bytes,gpu_type
1,1,1,2,c,d,1,2,0.004,0.001,0,0.002,compute,1024,10,1,2048,
1,0,0,1,a,a,2,2,0.001,0,0.001,0.001,transfer,1048576,0,2,4096,
1,0,1,1,b,b,1,2,0.002,0,0,0.002,sync,0,0,1,4096,
2,1,0,3,b,d,2,4,0.004,0.001,,0.003,compute,1024,10,,,
2,0,0,1,a,a,1,2,0.001,0,0.001,0.001,transfer,1048576,0,,,
E
run gv-report stages.csv
is_out "stages in stages" <<E
3 stages on 6 GPUs
slowest     3.0 ms a minibatch: stage 1 of level 2, limited by compute
GPUs        computing 44.4 % of the time in a full pipeline
memory      4096 bytes on each GPU of stage 0, the fullest

level  stage  layers  from ... to  replicas  GPUs  compute ms  sync ms  transfer ms  load ms  limit        weights      memory  load
    1      1       2  c ... d             1     2         4.0      1.0          0.0      2.0  compute   1024 bytes  2048 bytes  ####################
    1      0       1  a                   2     2         1.0      0.0          1.0      1.0  transfer   0.001 GiB  4096 bytes  ##########
    1      0       1  b                   1     2         2.0      0.0          0.0      2.0  sync         0 bytes  4096 bytes  ####################
    2      1       3  b ... d             2     4         4.0      1.0            -      3.0  compute   1024 bytes           -  ####################
    2      0       1  a                   1     2         1.0      0.0          1.0      1.0  transfer   0.001 GiB           -  #######
E
run gv-report -f csv stages.csv
is_out "stages in stages: CSV" <<E
level,stage,layers,first_layer,last_layer,replicas,gpus,compute_s,sync_s,transfer_s,load_s,limit,busy_share,parameter_bytes,activation_bytes,in_flight,memory_bytes,gpu_type
1,1,2,c,d,1,2,0.004,0.001,0,0.002,compute,0.6666666666666666,1024,10,1,2048,
1,0,1,a,a,2,2,0.001,0,0.001,0.001,transfer,0.3333333333333333,1048576,0,2,4096,
1,0,1,b,b,1,2,0.002,0,0,0.002,sync,0.3333333333333333,0,0,1,4096,
2,1,3,b,d,2,4,0.004,0.001,,0.003,compute,,1024,10,,,
2,0,1,a,a,1,2,0.001,0,0.001,0.001,transfer,,1048576,0,,,
E
cat >stages.csv <<E
load_s,stage
E
run gv-report stages.csv
is_out "no stages" <<E
0 stages on 0 GPUs

stage  layers  from ... to  replicas  GPUs  compute us  sync us  transfer us  load us  limit  weights  memory  load
E
run gv-report -j stages.csv
is_out "no stages: JSON" <<E
{
  "gpus": 0,
  "slowest_s": null,
  "busy_share": 0,
  "stages": []
}
E
cat >stages.csv <<E
stage,load_s
0,0
E
run gv-report stages.csv
is_out "a stage that takes no time" <<E
1 stage on 1 GPU
slowest     0.0 us a minibatch: stage 0, limited by -
GPUs        computing 0.0 % of the time in a full pipeline

stage  layers  from ... to  replicas  GPUs  compute us  sync us  transfer us  load us  limit  weights  memory  load
    0       0  -                   1     1           -        -            -      0.0  -            -       -  -
E
cat >stages.csv <<E
stage,load_s,memory_bytes,limit,replicas
0,0.5,,x,3
1,0.5,1,y,1
E
run gv-report stages.csv
is_out "the first of equals is the slowest" <<E
2 stages on 4 GPUs
slowest     500.0 ms a minibatch: stage 0, limited by x
GPUs        computing - % of the time in a full pipeline
memory      1 bytes on each GPU of stage 1, the fullest

stage  layers  from ... to  replicas  GPUs  compute ms  sync ms  transfer ms  load ms  limit  weights   memory  load
    0       0  -                   3     3           -        -            -    500.0  x            -        -  ####################
    1       0  -                   1     1           -        -            -    500.0  y            -  1 bytes  ####################
E
cat >stages.csv <<E
stage,load_s,compute_s,place,gpus,limit
0,0.5,0.5,1,1,x
1,0.25,0.125,1,1,y
2,0.625,0.25,0,2,z
3,0.5,0.5,,1,z
E
run gv-report stages.csv
is_out "stages of one place" <<E
4 stages on 4 GPUs
slowest     750.0 ms a minibatch: the stages of place 1, one after the other
GPUs        computing 45.8 % of the time in a full pipeline

stage  layers  from ... to  replicas  GPUs  compute ms  sync ms  transfer ms  load ms  limit  weights  memory  load
    0       0  -                   1     1       500.0        -            -    500.0  x            -       -  ################
    1       0  -                   1     1       125.0        -            -    250.0  y            -       -  ########
    2       0  -                   1     2       250.0        -            -    625.0  z            -       -  ####################
    3       0  -                   1     1       500.0        -            -    500.0  z            -       -  ################
E
cat >stages.csv <<E
stage,load_s,limit
0,0.0009999,q
1,0,r
E
run gv-report stages.csv
sed -n 2p <out >got && mv got out
is_out "the unit of 0.0009999 s" <<E
slowest     999.9 us a minibatch: stage 0, limited by q
E
cat >stages.csv <<E
stage,load_s,limit
0,0.001,q
1,0,r
E
run gv-report stages.csv
sed -n 2p <out >got && mv got out
is_out "the unit of 0.001 s" <<E
slowest     1.0 ms a minibatch: stage 0, limited by q
E
cat >stages.csv <<E
stage,load_s,limit
0,9.99,q
1,0,r
E
run gv-report stages.csv
sed -n 2p <out >got && mv got out
is_out "the unit of 9.99 s" <<E
slowest     9990.0 ms a minibatch: stage 0, limited by q
E
cat >stages.csv <<E
stage,load_s,limit
0,10,q
1,0,r
E
run gv-report stages.csv
sed -n 2p <out >got && mv got out
is_out "the unit of 10 s" <<E
slowest     10.0 s a minibatch: stage 0, limited by q
E

# ---- schedules ----
cat >steps.csv <<E
gpu,stage,replica,step,op,micro_batch,start_ms,end_ms
0,0,0,0,F,0,0,1
0,0,0,1,F,0,5,6
1,1,0,0,F,0,1,2
1,1,0,1,F,0,6,7
E
run gv-report steps.csv
is_out "a result that is there in time is not waited for" <<E
1 micro-batch, 2 stages, 2 GPUs
time        7.0 ms, 7.00 ms a micro-batch
GPUs        busy 28.6 %, bubble 71.4 %
in flight   2 on a GPU at most

stage  GPUs  forward ms  backward ms  busy %  bubble %  in flight
0         1         2.0          0.0    28.6      71.4          2
1         1         2.0          0.0    28.6      71.4          2
E

# ---- events ----
cat >events.csv <<E
time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason,with_job_id
0,pool,,v,n1,0;1,,,,,
0,pool,,k,n1,2,,,,,
0,arrive,a,,,,100,,,x,
0,arrive,b,,,,40,,,y,
0,allocate,a,v,,,,,0.5,,
0,start,a,v,n1,0;1,0,0,,,
2,arrive,c,,,,10,,,,
2,allocate,b,k,,,,,0.25,,c
4,checkpoint,a,,,,8,,,,
4,start,b,k,n1,2,0,1,,,
4,start,c,k,n1,2,0,1,,,
6,preempt,a,,,,12,,,,
8,pool,,v,n2,5,,,,,
8,resume,a,v,n1,1,8,2,,,
8,fail,b,,,,4,,,,
9,finish,c,,,,10,,,,
9,arrive,d,,,,,,,,
9.5,drop,d,,,,,,,,
10,restart,,,,,,,,,
10,pool,,v,n2,,,,,,
10,allocate,a,v,,,,,1,,
11,resume,b,v,n1,1,4,3,,,
14,resume,a,v,n1,0,8,3,,,
16,finish,a,,,,100,,,,
E
run gv-report events.csv
is_out "events" <<E
4 jobs: 2 finished, 1 dropped, 1 running
time        16.0 s up to the last event: the run has not ended
completion  mean 11.5 s, median 11.5 s, longest 16.0 s
queueing    mean 2.0 s, median 2.0 s, longest 4.0 s
GPUs        3, busy 51.0 % of the time
shares      received within 46.4 points of promised (c on k)
fairness    received / promised: Jain index 0.741, least 0.864 (a)
runs        6 launches, 1 preemption, 1 failure, 1 restart
lost        4 steps done again from an older checkpoint

GPU type  GPUs  available GPU s  busy GPU s  busy %  launches
v            2             34.0        20.5    60.3         4
k            1             16.0         5.0    31.2         2

entity  jobs  finished  GPU s  mean completion s  mean queueing s  mean share %
x          1         1   15.5               16.0              0.0     59.4/68.8
y          1         0    9.0                  -              4.0     56.2/10.9
-          2         1    5.0                7.0              2.0     35.7/12.5

job  entity  state     GPUs  arrival  queueing  completion  running  preempted  failed      share          v          k
a    x       finished     2      0.0       0.0        16.0      9.5          1       0  59.4/68.8  59.4/68.8          -
b    y       running      1      0.0       4.0           -      9.0          0       1  56.2/10.9   31.2/0.0  25.0/10.9
c    -       finished     1      2.0       2.0         7.0      5.0          0       0  71.4/25.0          -  71.4/25.0
d    -       dropped      0      9.0         -           -      0.0          0       0          -          -          -
Times in s.  Shares are received/promised, in % of the time from arrival to finish.
E
run gv-report -f csv -b summary events.csv
is_out "events: summary" <<E
jobs,waiting,running,preempted,failed,finished,dropped,ended,elapsed_s,makespan_s,completion_mean_s,completion_median_s,completion_max_s,queueing_mean_s,queueing_max_s,gpus,available_gpu_s,busy_gpu_s,busy_share,launches,preemptions,failures,checkpoints,restarts,steps_lost,jain_index,least_share_ratio,largest_share_difference,completion_p95_s,completion_p99_s,queueing_p95_s,queueing_p99_s
4,0,1,0,0,2,1,0,16,,11.5,11.5,16,2,4,3,50,25.5,0.51,6,1,1,1,1,4,0.7406508592778274,0.8636363636363636,0.4642857142857143,16,16,4,4
E
run gv-report -f csv -b type events.csv
is_out "events: type" <<E
gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
v,2,34,20.5,0.6029411764705882,4
k,1,16,5,0.3125,2
E
run gv-report -f csv -b entity events.csv
is_out "events: entity" <<E
entity,jobs,finished,gpu_s,completion_mean_s,queueing_mean_s,promised_share,received_share
x,1,1,15.5,16,0,0.6875,0.59375
y,1,0,9,,4,0.109375,0.5625
,2,1,5,7,2,0.125,0.35714285714285715
E
run gv-report -f csv -b job events.csv
is_out "events: job" <<E
job_id,entity,state,arrival_s,start_s,finish_s,completion_s,queueing_s,running_s,gpus,gpu_s,steps,total_steps,steps_lost,launches,preemptions,failures,checkpoints,promised_share,received_share,share_difference
a,x,finished,0,0,16,16,0,9.5,2,15.5,100,100,4,3,1,0,1,0.6875,0.59375,-0.09375
b,y,running,0,4,,,4,9,1,9,4,40,0,2,0,1,0,0.109375,0.5625,0.453125
c,,finished,2,4,9,7,2,5,1,5,10,10,0,1,0,0,0,0.25,0.7142857142857143,0.4642857142857143
d,,dropped,9,,,,,0,0,0,,,0,0,0,0,0,0,0,0
E
run gv-report -f csv -b share events.csv
is_out "events: share" <<E
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
a,v,0.6875,0.59375,-0.09375,9.5,15.5,104,13
b,v,0,0.3125,0.3125,5,5,,
b,k,0.109375,0.25,0.140625,4,4,4,1
c,k,0.25,0.7142857142857143,0.4642857142857143,5,5,10,2
E
cat >events.csv <<E
time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason,with_job_id
E
run gv-report events.csv
is_out "no events" <<E
0 jobs
time        0.0 s up to the last event: the run has not ended
runs        0 launches, 0 preemptions, 0 failures, 0 restarts
E
run gv-report -f csv -b summary events.csv
is_out "no events: CSV" <<E
jobs,waiting,running,preempted,failed,finished,dropped,ended,elapsed_s,makespan_s,completion_mean_s,completion_median_s,completion_max_s,queueing_mean_s,queueing_max_s,gpus,available_gpu_s,busy_gpu_s,busy_share,launches,preemptions,failures,checkpoints,restarts,steps_lost,jain_index,least_share_ratio,largest_share_difference,completion_p95_s,completion_p99_s,queueing_p95_s,queueing_p99_s
0,0,0,0,0,0,0,0,0,,,,,,,,,0,,0,0,0,0,0,0,,,,,,,
E
cat >events.csv <<E
time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason
0,pool,,v,a,0,,,,
0,pool,,v,b,0,,,,
0,arrive,j,,,,8,,,e
0,arrive,k,,,,8,,,e
0,allocate,j,v,,,,,1,
0,start,j,v,a;b,0;0,0,,,
0.125,preempt,j,,,,2,,,
0.125,start,j,v,a,0,2,,,
0.125,start,k,v,b,0,0,,,
0.25,finish,j,,,,8,,,
0.5,finish,k,,,,8,,,
0.5,end,,,,,,,,
E
run gv-report -d 3 events.csv
is_out "nodes of one letter, and less than a second" <<E
2 jobs: 2 finished
time        0.500 s, makespan 0.500 s
completion  mean 0.375 s, median 0.375 s, longest 0.500 s
queueing    mean 0.062 s, median 0.062 s, longest 0.125 s
GPUs        2, busy 75.000 % of the time
shares      received within 75.000 points of promised (k on v)
fairness    received / promised: Jain index 1.00000, least 1.00000 (j)
runs        3 launches, 1 preemption, 0 failures, 0 restarts

GPU type  GPUs  available GPU s  busy GPU s  busy %  launches
v            2            1.000       0.750  75.000         3

job  entity  state     GPUs  arrival  queueing  completion  running  preempted            share                v
j    e       finished     2    0.000     0.000       0.250    0.250          1  100.000/100.000  100.000/100.000
k    e       finished     1    0.000     0.125       0.500    0.375          0     75.000/0.000     75.000/0.000
Times in s.  Shares are received/promised, in % of the time from arrival to finish.
E
run gv-report -f csv -b summary events.csv
is_out "nodes of one letter: summary" <<E
jobs,waiting,running,preempted,failed,finished,dropped,ended,elapsed_s,makespan_s,completion_mean_s,completion_median_s,completion_max_s,queueing_mean_s,queueing_max_s,gpus,available_gpu_s,busy_gpu_s,busy_share,launches,preemptions,failures,checkpoints,restarts,steps_lost,jain_index,least_share_ratio,largest_share_difference,completion_p95_s,completion_p99_s,queueing_p95_s,queueing_p99_s
2,0,0,0,0,2,0,1,0.5,0.5,0.375,0.375,0.5,0.0625,0.125,2,1,0.75,0.75,3,1,0,0,0,0,1,1,0.75,0.5,0.5,0.125,0.125
E
run gv-report -f csv -b type events.csv
is_out "nodes of one letter: type" <<E
gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
v,2,1,0.75,0.75,3
E
run gv-report -f csv -b share events.csv
is_out "nodes of one letter: share" <<E
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
j,v,1,1,0,0.25,0.375,8,32
k,v,0,0.75,0.75,0.375,0.375,8,21.333333333333332
E
sed '/pool/d' events.csv >without.csv
run gv-report without.csv
is_out "GPUs that no pool tells" <<E
2 jobs: 2 finished
time        0.5 s, makespan 0.5 s
completion  mean 0.4 s, median 0.4 s, longest 0.5 s
queueing    mean 0.1 s, median 0.1 s, longest 0.1 s
shares      received within 75.0 points of promised (k on v)
fairness    received / promised: Jain index 1.000, least 1.000 (j)
runs        3 launches, 1 preemption, 0 failures, 0 restarts

GPU type  GPUs  available GPU s  busy GPU s  busy %  launches
v            -                -         0.8       -         3

job  entity  state     GPUs  arrival  queueing  completion  running  preempted        share            v
j    e       finished     2      0.0       0.0         0.2      0.2          1  100.0/100.0  100.0/100.0
k    e       finished     1      0.0       0.1         0.5      0.4          0     75.0/0.0     75.0/0.0
Times in s.  Shares are received/promised, in % of the time from arrival to finish.
E
run gv-report -f csv -b summary without.csv
is_out "GPUs that no pool tells: summary" <<E
jobs,waiting,running,preempted,failed,finished,dropped,ended,elapsed_s,makespan_s,completion_mean_s,completion_median_s,completion_max_s,queueing_mean_s,queueing_max_s,gpus,available_gpu_s,busy_gpu_s,busy_share,launches,preemptions,failures,checkpoints,restarts,steps_lost,jain_index,least_share_ratio,largest_share_difference,completion_p95_s,completion_p99_s,queueing_p95_s,queueing_p99_s
2,0,0,0,0,2,0,1,0.5,0.5,0.375,0.375,0.5,0.0625,0.125,,,0.75,,3,1,0,0,0,0,1,1,0.75,0.5,0.5,0.125,0.125
E
run gv-report -f csv -b type without.csv
is_out "GPUs that no pool tells: types" <<E
gpu_type,gpus,available_gpu_s,busy_gpu_s,busy_share,launches
v,,,0.75,,3
E
awk -v n=19 'BEGIN {
	print "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason"
	for (i = 1; i <= n; i++) print "0,arrive,j" i ",,,,,,,"
	for (i = 1; i <= n; i++) { print i ",start,j" i ",v,n,0,,,,"; print i ".5,finish,j" i ",,,,,,," } }' >events.csv
run gv-report events.csv
sed -n "1,4p" <out >got && mv got out
is_out "percentiles of 19 jobs" <<E
19 jobs: 19 finished
time        19.5 s up to the last event: the run has not ended, makespan 19.5 s
completion  mean 10.5 s, median 10.5 s, longest 19.5 s
queueing    mean 10.0 s, median 10.0 s, longest 19.0 s
E
awk -v n=20 'BEGIN {
	print "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason"
	for (i = 1; i <= n; i++) print "0,arrive,j" i ",,,,,,,"
	for (i = 1; i <= n; i++) { print i ",start,j" i ",v,n,0,,,,"; print i ".5,finish,j" i ",,,,,,," } }' >events.csv
run gv-report events.csv
sed -n "1,4p" <out >got && mv got out
is_out "percentiles of 20 jobs" <<E
20 jobs: 20 finished
time        20.5 s up to the last event: the run has not ended, makespan 20.5 s
completion  mean 11.0 s, median 11.0 s, p95 19.5 s, p99 20.5 s, longest 20.5 s
queueing    mean 10.5 s, median 10.5 s, p95 19.0 s, p99 20.0 s, longest 20.0 s
E
cat >events.csv <<E
time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason,with_job_id
1,arrive,b,,,,,,,,
1,arrive,a,,,,,,,,
2,allocate,a,v,,,,,0.5,,b
3,allocate,b,k,,,,,0.25,,a
4,start,a,v,,,,,,,
5,fail,a,,,,,,,,
E
run gv-report -f csv -b share events.csv
is_out "what two jobs are promised together goes on to the end" <<E
job_id,gpu_type,promised_share,received_share,share_difference,running_s,gpu_s,steps,steps_per_s
b,v,0.375,0,-0.375,0,0,,
b,k,0.125,0,-0.125,0,0,,
a,v,0.375,0.25,-0.125,1,1,,
a,k,0.125,0,-0.125,0,0,,
E
run gv-report -f svg events.csv
grep -e "failed<" -e "^<line class=.fail" <out >got && mv got out
is_out "the first run failed" <<E
<rect x="682" y="106" width="128" height="20" rx="2" fill="#d55e00"><title>a on v , 4.0 to 5.0 s, failed</title>
<line class="fail" x1="810" y1="106" x2="810" y2="126"/>
<rect x="682" y="200" width="128" height="18" rx="2" fill="#d55e00"><title>a on v , 4.0 to 5.0 s, failed</title>
<line class="fail" x1="810" y1="200" x2="810" y2="218"/>
E
cp events.csv wrong.csv && cat >>wrong.csv <<E
6,arrive,a,,,,,,,,
E
run gv-report wrong.csv
is_err "a job arrives again" <<E
gv-report: wrong.csv:8: event: arrive of job "a", which has arrived at 1 s
E
cp events.csv wrong.csv && cat >>wrong.csv <<E
6,start,a,k,,,,,,,
7,resume,a,k,,,,,,,
E
run gv-report wrong.csv
is_err "a job is started while it runs" <<E
gv-report: wrong.csv:9: event: resume of job "a", which was started at 6 s
E
cp events.csv wrong.csv && cat >>wrong.csv <<E
6,finish,a,,,,,,,,
7,drop,a,,,,,,,,
E
run gv-report wrong.csv
is_err "a job ends after it has finished" <<E
gv-report: wrong.csv:9: event: drop of job "a", which has finished at 6 s
E
cp events.csv wrong.csv && cat >>wrong.csv <<E
6,drop,a,,,,,,,,
7.5,start,a,v,,,,,,,
E
run gv-report wrong.csv
is_err "a job is started after it was dropped" <<E
gv-report: wrong.csv:9: event: start of job "a", which was dropped at 6 s
E

# ---- runs beside each other ----
cat >a.csv <<E
job_id,arrival_s,start_s,finish_s,completion_s,queueing_s,running_s,gpu_s,fairness,deadline_s,launches,preemptions
a,0,0,10,10,0,10,10,1,10,1,0
b,1,5,21,20,4,16,32,2,20,2,1
c,2,4,5,3,2,1,1,0.5,,1,0
E
cat >b.csv <<E
job_id,arrival_s,start_s,finish_s,completion_s,queueing_s,running_s,gpu_s,fairness,deadline_s,launches,preemptions
a,0,0,5,5,0,5,10,1,10,1,0
b,1,5,,,4,,,,20,2,1
c,2,4,5,3,2,1,1,0.5,,1,0
d,2,4,5,3,2,1,1,0.5,,1,0
E
run gv-report a.csv b.csv
is_out "two runs" <<E
2 runs of up to 4 jobs

run  jobs  finished  JCT mean s  to first  JCT median s  JCT p95 s  JCT p99 s  JCT longest s  short jobs' mean s  long jobs' mean s
a       3         3        11.0      1.00          10.0       20.0       20.0           20.0                 3.0               10.0
b       4         3         3.7     0.333           3.0        5.0        5.0            5.0                 3.0                5.0

run  makespan s  to first  queueing mean s  queueing p99 s  fairness mean  fairness p99  fairness worst  deadlines  missed  preemptions
a          21.0      1.00              2.0             4.0           1.17          2.00            2.00          2       1            1
b             -         -              2.0             4.0          0.667          1.00            1.00          2       1            1
JCT: from arrival to finish.  To first: how many times that of the first run.
E
run gv-report -f csv a.csv b.csv
is_out "two runs: CSV" <<E
run,jobs,finished,completion_mean_s,completion_median_s,completion_p95_s,completion_p99_s,completion_max_s,short_completion_mean_s,long_completion_mean_s,queueing_mean_s,queueing_median_s,queueing_p95_s,queueing_p99_s,queueing_max_s,fairness_mean,fairness_median,fairness_p95,fairness_p99,fairness_max,makespan_s,gpus,busy_gpu_s,utilisation,usd,deadlines,deadlines_missed,launches,preemptions,failures,steps_lost,jain_index,end_s,rounds,questions,most_waiting
a,3,3,11,10,20,20,20,3,10,2,2,4,4,4,1.1666666666666667,1,2,2,2,21,,43,,,2,1,4,1,,,,,,,
b,4,3,3.6666666666666665,3,5,5,5,3,5,2,2,4,4,4,0.6666666666666666,0.5,1,1,1,,,12,,,2,1,5,1,,,,,,,
E
run gv-report -f csv -b job a.csv b.csv
is_out "two runs: jobs" <<E
run,job_id,arrival_s,finish_s,completion_s,queueing_s,running_s,gpu_s,fairness,launches,preemptions
a,a,0,10,10,0,10,10,1,1,0
a,b,1,21,20,4,16,32,2,2,1
a,c,2,5,3,2,1,1,0.5,1,0
b,a,0,5,5,0,5,10,1,1,0
b,b,1,,,4,,,,2,1
b,c,2,5,3,2,1,1,0.5,1,0
b,d,2,5,3,2,1,1,0.5,1,0
E
run gv-report -f csv -b curve a.csv b.csv
is_out "two runs: curves" <<E
chart,run,series,x,y
completion,a,,3,0.3333333333333333
completion,a,,10,0.6666666666666666
completion,a,,20,1
queueing,a,,0,0.3333333333333333
queueing,a,,2,0.6666666666666666
queueing,a,,4,1
fairness,a,,0.5,0.3333333333333333
fairness,a,,1,0.6666666666666666
fairness,a,,2,1
completion,b,,3,0.25
completion,b,,3,0.5
completion,b,,5,0.75
queueing,b,,0,0.25
queueing,b,,2,0.5
queueing,b,,2,0.75
queueing,b,,4,1
fairness,b,,0.5,0.3333333333333333
fairness,b,,0.5,0.6666666666666666
fairness,b,,1,1
E
run gv-report a.csv
is_out "one run" <<E
1 run of 3 jobs

run  jobs  finished  JCT mean s  JCT median s  JCT p95 s  JCT p99 s  JCT longest s  short jobs' mean s  long jobs' mean s
a       3         3        11.0          10.0       20.0       20.0           20.0                 6.5               20.0

run  makespan s  queueing mean s  queueing p99 s  fairness mean  fairness p99  fairness worst  deadlines  missed  preemptions
a          21.0              2.0             4.0           1.17          2.00            2.00          2       1            1
JCT: from arrival to finish.  To first: how many times that of the first run.
E
run gv-report x=a.csv y=a.csv
is_out "a run beside itself" <<E
2 runs of 3 jobs

run  jobs  finished  JCT mean s  to first  JCT median s  JCT p95 s  JCT p99 s  JCT longest s  short jobs' mean s  long jobs' mean s
x       3         3        11.0      1.00          10.0       20.0       20.0           20.0                 6.5               20.0
y       3         3        11.0      1.00          10.0       20.0       20.0           20.0                 6.5               20.0

run  makespan s  to first  queueing mean s  queueing p99 s  fairness mean  fairness p99  fairness worst  deadlines  missed  preemptions
x          21.0      1.00              2.0             4.0           1.17          2.00            2.00          2       1            1
y          21.0      1.00              2.0             4.0           1.17          2.00            2.00          2       1            1
JCT: from arrival to finish.  To first: how many times that of the first run.
E
head -n 1 a.csv >none.csv
run gv-report x=none.csv
is_out "a run of no jobs" <<E
1 run

run  jobs  finished
x       0         0
JCT: from arrival to finish.  To first: how many times that of the first run.
E
run gv-report x=none.csv y=a.csv
is_out "a run beside one of no jobs" <<E
2 runs of up to 3 jobs

run  jobs  finished  JCT mean s  to first  JCT median s  JCT p95 s  JCT p99 s  JCT longest s
x       0         0           -         -             -          -          -              -
y       3         3        11.0         -          10.0       20.0       20.0           20.0

run  makespan s  to first  queueing mean s  queueing p99 s  fairness mean  fairness p99  fairness worst  deadlines  missed  preemptions
x             -         -                -               -              -             -               -          -       -            -
y          21.0         -              2.0             4.0           1.17          2.00            2.00          2       1            1
JCT: from arrival to finish.  To first: how many times that of the first run.
E
cat >s.csv <<E
measure,gpu_type,value
jobs,,1
finished,,1
completion_mean_s,,7
makespan_s,,8
utilisation,,0.5
gpus,v,2
usd,v,3
busy_gpu_s,v,8
utilisation,v,0.5
gpus,k,1
usd,k,0.25
E
run gv-report s.csv
is_out "a summary" <<E
1 run of 1 job

run  jobs  finished  JCT mean s
s       1         1         7.0

run  makespan s  GPUs busy %  cost USD
s           8.0         50.0      3.25

run  GPU type  GPUs  GPU time used s  busy %  cost USD
s    v            2              8.0    50.0      3.00
s    k            1                -       -     0.250
JCT: from arrival to finish.  To first: how many times that of the first run.
E
run gv-report -f csv -b type s.csv
is_out "a summary: types" <<E
run,gpu_type,gpus,busy_gpu_s,utilisation,usd
s,v,2,8,0.5,3
s,k,1,,,0.25
E
run gv-report -f csv s.csv
is_out "a summary: CSV" <<E
run,jobs,finished,completion_mean_s,completion_median_s,completion_p95_s,completion_p99_s,completion_max_s,short_completion_mean_s,long_completion_mean_s,queueing_mean_s,queueing_median_s,queueing_p95_s,queueing_p99_s,queueing_max_s,fairness_mean,fairness_median,fairness_p95,fairness_p99,fairness_max,makespan_s,gpus,busy_gpu_s,utilisation,usd,deadlines,deadlines_missed,launches,preemptions,failures,steps_lost,jain_index,end_s,rounds,questions,most_waiting
s,1,1,7,,,,,,,,,,,,,,,,,8,,,0.5,3.25,,,,,,,,,,,
E
run gv-report -f csv x=s.csv x=a.csv
is_out "a summary of a run and its jobs, which are others" <<E
run,jobs,finished,completion_mean_s,completion_median_s,completion_p95_s,completion_p99_s,completion_max_s,short_completion_mean_s,long_completion_mean_s,queueing_mean_s,queueing_median_s,queueing_p95_s,queueing_p99_s,queueing_max_s,fairness_mean,fairness_median,fairness_p95,fairness_p99,fairness_max,makespan_s,gpus,busy_gpu_s,utilisation,usd,deadlines,deadlines_missed,launches,preemptions,failures,steps_lost,jain_index,end_s,rounds,questions,most_waiting
x,1,1,7,,,,,6.5,20,,,,,,,,,,,8,,,0.5,3.25,,,,,,,,,,,
E
cat >one.csv <<E
job_id,arrival_s,queueing_s,finish_s,completion_s,running_s,gpu_s,deadline_s
a,86400,0,432000,345600,,5,1
E
run gv-report one.csv
is_out "a run of one job, of four days" <<E
1 run of 1 job

run  jobs  finished  JCT mean h  JCT median h  JCT p95 h  JCT p99 h  JCT longest h
one     1         1        96.0          96.0       96.0       96.0           96.0

run  makespan h  queueing mean h  queueing p99 h  deadlines  missed
one        96.0              0.0             0.0          1       1
JCT: from arrival to finish.  To first: how many times that of the first run.
E
run gv-report -f csv one.csv
is_out "a run of one job: CSV" <<E
run,jobs,finished,completion_mean_s,completion_median_s,completion_p95_s,completion_p99_s,completion_max_s,short_completion_mean_s,long_completion_mean_s,queueing_mean_s,queueing_median_s,queueing_p95_s,queueing_p99_s,queueing_max_s,fairness_mean,fairness_median,fairness_p95,fairness_p99,fairness_max,makespan_s,gpus,busy_gpu_s,utilisation,usd,deadlines,deadlines_missed,launches,preemptions,failures,steps_lost,jain_index,end_s,rounds,questions,most_waiting
one,1,1,345600,345600,345600,345600,345600,,,0,0,0,0,0,,,,,,345600,,5,,,1,1,,,,,,,,,
E
cat >one.csv <<E
measure,gpu_type,value
completion_mean_s,,1209600
usd,v,2
E
run gv-report one.csv
is_out "a run of fourteen days, and of one GPU type" <<E
1 run

run  JCT mean d
one        14.0

run  cost USD
one      2.00

run  GPU type  GPUs  GPU time used d  busy %  cost USD
one  v            -                -       -      2.00
JCT: from arrival to finish.  To first: how many times that of the first run.
E
cat >some.csv <<E
job_id,arrival_s,queueing_s,finish_s,completion_s,running_s
a,0,,9,9,
b,0,1,8,8,7
c,0,1,6,6,5
E
run gv-report some.csv
is_out "jobs of which it is not told how long they ran are neither short nor long" <<E
1 run of 3 jobs

run   jobs  finished  JCT mean s  JCT median s  JCT p95 s  JCT p99 s  JCT longest s  short jobs' mean s  long jobs' mean s
some     3         3         7.7           8.0        9.0        9.0            9.0                 6.0                8.0

run   makespan s  queueing mean s  queueing p99 s
some         9.0              1.0             1.0
JCT: from arrival to finish.  To first: how many times that of the first run.
E

# ---- losses ----
cat >losses.csv <<E
model,step,loss,test_loss,accuracy
a,0,4,,
a,2,10,5,0.5
b,2,,8,
b,4,8,,1
E
run gv-report -f svg losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "losses: what is not told is left out" <<E
<text class="c-head" x="24" y="84">Training loss</text>
<text class="c-dim c-end" x="300.67" y="353">steps</text>
<text class="c-dim c-end" x="66" y="326">0</text>
<text class="c-dim c-end" x="66" y="285.2">2</text>
<text class="c-dim c-end" x="66" y="244.4">4</text>
<text class="c-dim c-end" x="66" y="203.6">6</text>
<text class="c-dim c-end" x="66" y="162.8">8</text>
<text class="c-dim c-end" x="66" y="122">10</text>
<path class="l0 d0" d="M72 240.4L186.3 118"><title>model a</title>
<path class="l1 d1" d="M300.7 158.8H302.7"><title>model b</title>
<text class="c-head" x="334.67" y="84">Test loss</text>
<text class="c-dim c-end" x="611.33" y="353">steps</text>
<text class="c-dim c-end" x="376.67" y="326">0</text>
<text class="c-dim c-end" x="376.67" y="275">2</text>
<text class="c-dim c-end" x="376.67" y="224">4</text>
<text class="c-dim c-end" x="376.67" y="173">6</text>
<text class="c-dim c-end" x="376.67" y="122">8</text>
<path class="l0 d0" d="M611.3 194.5H613.3"><title>model a</title>
<path class="l1 d1" d="M611.3 118H613.3"><title>model b</title>
<text class="c-head" x="645.33" y="84">Accuracy</text>
<text class="c-dim c-end" x="922" y="353">steps</text>
<text class="c-dim c-end" x="687.33" y="326">0</text>
<text class="c-dim c-end" x="687.33" y="285.2">20</text>
<text class="c-dim c-end" x="687.33" y="244.4">40</text>
<text class="c-dim c-end" x="687.33" y="203.6">60</text>
<text class="c-dim c-end" x="687.33" y="162.8">80</text>
<text class="c-dim c-end" x="687.33" y="122">100</text>
<path class="l0 d0" d="M807.7 220H809.7"><title>model a</title>
<path class="l1 d1" d="M922 118H924"><title>model b</title>
E
cat >losses.csv <<E
step,loss
0,3
E
run gv-report -f svg losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "losses of one step" <<E
<text class="c-head" x="24" y="58">Training loss</text>
<text class="c-dim c-end" x="922" y="327">steps</text>
<text class="c-dim c-end" x="66" y="300">0.0</text>
<text class="c-dim c-end" x="66" y="266">0.5</text>
<text class="c-dim c-end" x="66" y="232">1.0</text>
<text class="c-dim c-end" x="66" y="198">1.5</text>
<text class="c-dim c-end" x="66" y="164">2.0</text>
<text class="c-dim c-end" x="66" y="130">2.5</text>
<text class="c-dim c-end" x="66" y="96">3.0</text>
<path class="l0 d0" d="M72 92H74"><title></title>
E
cat >losses.csv <<E
step,loss
0,20
10,1
E
run gv-report -f svg losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "losses from 1 to 20" <<E
<text class="c-head" x="24" y="58">Training loss</text>
<text class="c-dim c-end" x="922" y="327">steps</text>
<text class="c-dim c-end" x="66" y="300">0</text>
<text class="c-dim c-end" x="66" y="249">5</text>
<text class="c-dim c-end" x="66" y="198">10</text>
<text class="c-dim c-end" x="66" y="147">15</text>
<text class="c-dim c-end" x="66" y="96">20</text>
<path class="l0 d0" d="M72 92L922 285.8"><title></title>
E
cat >losses.csv <<E
step,loss
0,21
10,1
E
run gv-report -f svg losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "losses from 1 to 21" <<E
<text class="c-head" x="24" y="58">Training loss</text>
<text class="c-dim c-end" x="922" y="327">steps</text>
<text class="c-dim c-end" x="66" y="300">1</text>
<text class="c-dim c-end" x="66" y="263.85">2</text>
<text class="c-dim c-end" x="66" y="216.07">5</text>
<text class="c-dim c-end" x="66" y="179.93">10</text>
<text class="c-dim c-end" x="66" y="143.78">20</text>
<text class="c-dim c-end" x="66" y="96">50</text>
<path class="l0 d0" d="M72 137.2L922 296"><title></title>
E
cat >losses.csv <<E
step,loss
0,4
0.5,6
1,2
1.5,0
E
run gv-report -f svg losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "losses of half steps" <<E
<text class="c-head" x="24" y="58">Training loss</text>
<text class="c-dim c-end" x="922" y="327">steps</text>
<text class="c-dim c-end" x="66" y="300">0</text>
<text class="c-dim c-end" x="66" y="266">1</text>
<text class="c-dim c-end" x="66" y="232">2</text>
<text class="c-dim c-end" x="66" y="198">3</text>
<text class="c-dim c-end" x="66" y="164">4</text>
<text class="c-dim c-end" x="66" y="130">5</text>
<text class="c-dim c-end" x="66" y="96">6</text>
<path class="l0 d0" d="M72 160L355.3 92L638.7 228L922 296"><title></title>
E
run gv-report -f svg --smooth=1 losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "means of one step" <<E
<text class="c-head" x="24" y="58">Training loss</text>
<text class="c-dim c-end" x="922" y="58">means of 1 steps</text>
<text class="c-dim c-end" x="922" y="327">steps</text>
<text class="c-dim c-end" x="66" y="300">0</text>
<text class="c-dim c-end" x="66" y="266">1</text>
<text class="c-dim c-end" x="66" y="232">2</text>
<text class="c-dim c-end" x="66" y="198">3</text>
<text class="c-dim c-end" x="66" y="164">4</text>
<text class="c-dim c-end" x="66" y="130">5</text>
<text class="c-dim c-end" x="66" y="96">6</text>
<path class="l0 d0" d="M72 160L355.3 126L638.7 160L922 262"><title></title>
E
run gv-report -f svg --axis=log losses.csv
grep -e '^<path' -e '^<text.*c-head' -e means -e '^<text.*c-end' <out >got && mv got out
is_out "losses by ratio" <<E
<text class="c-head" x="24" y="58">Training loss</text>
<text class="c-dim c-end" x="922" y="327">steps</text>
<text class="c-dim c-end" x="66" y="300">2</text>
<text class="c-dim c-end" x="66" y="183.86">5</text>
<text class="c-dim c-end" x="66" y="96">10</text>
<path class="l0 d0" d="M72 208.1L355.3 156.7L638.7 296"><title></title>
E

done_testing
