#!/bin/sh
# gv-sim: jobs on a virtual clock.  Beside slow simulators: tests/unit/gv-sim.reference.c.
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .
gavel=$shared/data/gavel

cat >jobs.csv <<E
job_id,job_type,scale_factor,total_steps,arrival_s
a,t,1,1000,0
b,t,1,1000,0
c,t,2,500,100
E
cat >speeds.csv <<E
job_type,scale_factor,gpu_type,steps_per_s
t,1,v,2
t,1,k,1
t,2,v,4
E
printf 'gpu_type,gpus,usd_per_h\nv,2,3\nk,1,1\n' >gpus.csv
# sim OPTION...: on these; value MEASURE TYPE: of the summary in out
sim() { run gv-sim -c gpus.csv -t speeds.csv -r 60s "$@"; }
value() { sed -n "s/^$1,$2,//p" out; }
# equals WANT GOT NAME: to six digits
equals() { ok "$3: $2" awk -v a="$1" -v b="$2" 'BEGIN { exit !(b != "" && (a - b) ^ 2 <= 1e-12 * (a * a + 1)) }'; }

# ---- by hand ----
sim -p 'gv-alloc -p max-min' --jobs=jobs.out --summary=summary.out --events=events.csv jobs.csv
silent "three jobs on three GPUs"
ok "nothing on standard output where all have files" [ ! -s out ]
cat >want <<E
job_id,job_type,scale_factor,total_steps,arrival_s,start_s,finish_s,completion_s,running_s,gpu_s,launches,preemptions
a,t,1,1000,0,0,640,640,580,580,6,5
b,t,1,1000,0,0,625,625,560,560,6,5
c,t,2,500,100,180,605,505,125,250,3,2
E
same_file want jobs.out "the rows of the table, and what became of each job"
run gv-report --format=csv --by=job events.csv
ok "gv-report reads the events" [ "$status" = 0 ]
ok "and says the same" [ "$(cut -d, -f1 out | tail -n +2 | tr '\n' ' ')" = "a b c " ]
cp summary.out out
equals 640 "$(value makespan_s '')" "makespan"
equals 590 "$(value completion_mean_s '')" "mean completion"
equals "$(awk 'BEGIN { print 580 + 560 + 250 }')" "$(value busy_gpu_s '')" "GPU time"
v=$(value busy_gpu_s v) k=$(value busy_gpu_s k)
equals "$(awk -v v="$v" -v k="$k" 'BEGIN { printf "%.12g", (3 * v + k) / 3600 }')" "$(value usd '')" "what it costs"
equals "$(awk -v v="$v" 'BEGIN { printf "%.12g", v / (2 * 640) }')" "$(value utilisation v)" "utilisation of a type"

# ideal: a and b alone 100 s, then 2/3 of v and 1/3 of k each, until c is done; c has 1/3 of v
sim -p 'gv-alloc -p max-min' --ideal --jobs=- jobs.csv
silent "--ideal"
cut -d, -f1,7 out >got
cat >want <<E
job_id,finish_s
a,562.5
b,562.5
c,475.00000000000017
E
same_file want got "each job has exactly its shares"

# one job, so that times are plain: launched at 0, 5 s of loading
printf 'job_id,total_steps,arrival_s,gpu_type,steps_per_s,share\nx,100,30,v,2,1\n' >one.csv
run gv-sim -c gpus.csv --load=5s --jobs=- one.csv
silent "--load, on shares of the table"
ok "loading comes before work" [ "$(cut -d, -f8 out | tail -n 1)" = 85 ]
# two on one GPU: each preemption costs saving and loading
printf 'gpu_type,gpus\nv,1\n' >one-gpu.csv
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,100,v,1,0.5\ny,100,v,1,0.5\n' >two.csv
run gv-sim -c one-gpu.csv -r 50s --load=3s --save=2s --summary=- two.csv
silent "--load and --save"
equals 4 "$(value launches '')" "launches"
equals 2 "$(value preemptions '')" "preemptions"
equals $((200 + 4 * 3 + 2 * 2)) "$(value makespan_s '')" "each costs loading or saving"
equals $((4 * 3 + 2 * 2)) "$(value loading_gpu_s '')" "which is counted"
run gv-sim -c one-gpu.csv -r 50s --load=3s --save=.5s --summary=- two.csv
equals $((200 + 4 * 3 + 2 / 2)) "$(value makespan_s '')" "half a second of saving, too"

# ---- the same bytes, whoever answers ----
for p in max-min makespan finish-time 'max-min --agnostic' 'water-filling'; do
	sim -p "gv-alloc -p $p" jobs.csv
	cp out within
	sim -p "env gv-alloc --stream -p $p -c gpus.csv" jobs.csv
	silent "gv-alloc -p $p over pipes"
	same_file within out "and within: the same bytes"
done
run gv-sim -c cluster.csv -t throughputs.csv -r 1s -p 'gv-alloc -p max-min --space-sharing=pairs.csv' "$src/examples/man/jobs.csv"
cp out within
silent "jobs that share GPUs"
ok "do" grep -q ',allocate,.*,.*,[a-z]*$' within
run gv-sim -c cluster.csv -t throughputs.csv -r 1s \
	-p 'env gv-alloc --stream -p max-min -c cluster.csv --space-sharing=pairs.csv' "$src/examples/man/jobs.csv"
same_file within out "the same bytes over pipes"
# a job that has finished is nobody's partner any more
printf '%s\n' job_id,total_steps,gpu_type,steps_per_s,with_job_id,with_steps_per_s a,1000,v,10,, b,1000,v,10,, c,100,v,10,, \
	a,1000,v,7,b,7 b,1000,v,6,c,6 a,1000,v,5,c,5 >shared.csv
printf 'gpu_type,gpus\nv,1\n' >one.csv
run gv-sim -c one.csv -r 1s -p 'tee -a questions.csv | awk -F, -v OFS=, "NR == 1 { print \$0, \"share\"; next } { print \$0, \$5 == \"\" ? .3 : 0 }"' shared.csv
silent "a policy that is asked for pairs"
ok "a job that has finished is nobody's partner" [ "$(awk -F, '
	$1 == "job_id" { asked++; next }
	$5 != "" { n[asked]++ }
	END { print n[1] + 0, n[2] + 0 }' questions.csv)" = "3 1" ]
sim -p "awk -f '$src/examples/policy/equal.awk' gpus.csv -" --summary=- jobs.csv
silent "a policy in awk"
equals 3 "$(value finished '')" "and all are done"
if [ -x "$GV_PYTHON" ]; then
	sim -p "$GV_PYTHON '$src/examples/policy/shortest.py' gpus.csv" --summary=- jobs.csv
	silent "a policy in Python"
	equals 3 "$(value finished '')" "and all are done"
else
	skip "no python3"
fi

# ---- policies that are none ----
for p in 'false' 'echo nonsense' 'gv-alloc -p no-such' 'sed s/steps_per_s/share/'; do
	sim -p "$p" -o events.none jobs.csv
	is_status 2 "policy $p: status"
	err_has "gv-sim: after 0 s of the simulation:" "when it was asked is said"
	ok "no table is left behind" [ ! -e events.none ]
done
sim -p 'sleep 10' --policy-timeout=0.2s jobs.csv
is_status 2 "a policy that hangs"
sim -p 'sed "1s/\$/,share/; 2,\$s/\$/,0.8/"' jobs.csv
is_status 2 "shares of a job above 1"
err_has 'expected shares of job "a" that add up to at most 1, got 1.6' "are named"
sim -p "sed '1s/\$/,share/; 2,\$s/\$/,0.1/; s/^a,/z,/'" jobs.csv
err_has 'the policy was not asked about job "z"' "shares of a job that is not there"
sim -p 'cat' jobs.csv
err_has 'missing column "share"' "no shares"
printf 'deadline_s\n' | paste -d, jobs.csv - | sed '2,$s/$/1/' >late.csv
sim -p 'gv-alloc -p min-cost' late.csv
is_status 2 "deadlines that cannot be met"
err_has 'the policy has no answer: not all deadlines can be met' "are named"

# ---- how it ends ----
sim -p 'gv-alloc -p max-min' --until=200s --summary=- jobs.csv
is_status 1 "--until"
is_err "says what is not done" <<E
gv-sim: --until: 3 of the measured jobs are not done
E
equals 200 "$(value end_s '')" "and all is written"
awk 'BEGIN { print "job_id,job_type,total_steps"; for (i = 0; i < 50; i++) print i ",t,1000" }' >many.csv
sim -p 'gv-alloc -p max-min' --most-waiting=20 many.csv
is_status 1 "--most-waiting"
is_err "saturated" <<E
gv-sim: saturated: after 0 s 47 jobs wait, more than --most-waiting=20
E
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,100,v,1,0\ny,100,v,1,1\n' >none.csv
run gv-sim -c gpus.csv --strict none.csv
is_status 1 "--strict: who was promised nothing"
is_err "waits for ever" <<E
gv-sim: after 100 s: jobs wait for ever, without a promise or without GPUs: 1 ("x")
E
run gv-sim -c gpus.csv -v --summary=- none.csv
is_status 0 "else it has what is left over"
err_has 'gv-sim: jobs: 2, rounds: 1, questions to the policy: 0, at the end: 100 s' "-v says how it ended"
printf 'job_id,total_steps,scale_factor,gpu_type,steps_per_s,share\nx,100,1,v,1,1\ny,100,9,v,1,1\n' >never.csv
run gv-sim -c gpus.csv never.csv
is_status 1 "a job that can never run"
err_has 'warning: 1 job could never run, of 2: "y"' "is warned about"
sim -p 'gv-alloc -p max-min' --measure=1-1 --summary=- jobs.csv
equals 1 "$(value jobs '')" "--measure: one job"
equals 625 "$(value end_s '')" "it ends when that is done"

# ---- in step, isolated, deadlines ----
sim -p 'gv-alloc -p max-min' --in-step --jobs=- jobs.csv
ok "--in-step: GPUs are held for whole rounds" [ "$(cut -d, -f9 out | tail -n +2 | awk '$1 % 60' | wc -l)" -eq 0 ]
printf 'job_id,job_type,total_steps,arrival_s\nx,t,1000,0\ny,t,100,30\n' >late-one.csv
sim -p 'gv-alloc -p max-min' --in-step --jobs=- late-one.csv
ok "done is who has done the last step" [ "$(cut -d, -f6-8 out | tail -n 2 | tr '\n' ' ')" = "500,500,540 110,80,60 " ]
sim -p 'gv-alloc -p max-min' --in-step --interval=200s --jobs=- late-one.csv
ok "new jobs run on GPUs that are left" [ "$(cut -d, -f5 out | tail -n 1)" = 60 ]
sim -p 'gv-alloc -p max-min' --in-step --interval=200s --ask-first --jobs=- late-one.csv
ok "--ask-first: they wait for the policy" [ "$(cut -d, -f5 out | tail -n 1)" = 240 ]
sim -p 'gv-alloc -p max-min' --interval=200s --ask-first --jobs=- late-one.csv
ok "also between rounds" [ "$(cut -d, -f5 out | tail -n 1)" = 200 ]
run gv-sim -c one-gpu.csv --ask-first --jobs=- two.csv
ok "not where no policy is asked" [ "$(cut -d, -f6 out | tail -n +2 | tr '\n' ' ')" = "0 100 " ]
sim -p 'gv-alloc -p isolated' --isolated --summary=- jobs.csv
equals 1 "$(value fairness_max '')" "--isolated: as fast as itself"
sed '1s/$/,slo_factor,deadline_s/; 2s/$/,1.1,/; 3s/$/,2,/; 4s/$/,,700/' jobs.csv >slo.csv
sim -p 'gv-alloc -p max-min' --summary=- slo.csv
equals 3 "$(value deadlines '')" "deadlines"
equals 1 "$(value deadlines_missed '')" "that were missed"

# ---- GPUs go and come ----
# alone on a GPU at 2 steps/s, 1000 steps; it goes at 100 s for 50 s
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,1000,v,2,1\n' >alone.csv
printf 'time_s,gpu_type,event\n150,v,back\n100,v,away\n' >away.csv
run gv-sim -c one-gpu.csv --changes=away.csv --summary=- alone.csv
silent "--changes"
equals 650 "$(value makespan_s '')" "what was done is lost"
equals 200 "$(value steps_lost '')" "and counted"
equals 1 "$(value utilisation v)" "GPUs that are away do not idle"
run gv-sim -c one-gpu.csv --changes=away.csv --checkpoint=30s --summary=- alone.csv
equals 560 "$(value makespan_s '')" "--checkpoint: only what came after the last one"
run gv-sim -c one-gpu.csv --changes=away.csv alone.csv
out_has '100,preempt,x,v,,0,0,0,,its GPUs are gone' "the event says why"
out_has '150,resume,x,v,,0,0,' "it starts when they are back"
sed 2d away.csv >gone.csv
run gv-sim -c one-gpu.csv --changes=gone.csv alone.csv
is_status 1 "GPUs that do not come back"
is_err "are waited for" <<E
gv-sim: after 100 s: jobs wait for ever, without a promise or without GPUs: 1 ("x")
E
printf 'time_s,gpu_type,event\n1,w,away\n' >type.csv
run gv-sim -c one-gpu.csv --changes=type.csv alone.csv
is_err "a type that is none" <<E
gv-sim: type.csv:2: gpu_type: expected a GPU type of the cluster
E
printf 'time_s,gpu_type,node,event\n1,v,far,away\n' >node.csv
run gv-sim -c one-gpu.csv --changes=node.csv alone.csv
err_has 'node.csv:2: node: the cluster has no such GPUs on this node' "a node that is none"
printf 'time_s,gpu_type,event\n1,v,off\n' >event.csv
run gv-sim -c one-gpu.csv --changes=event.csv alone.csv
err_has 'event.csv:2: event: expected away or back' "an event that is none"
run gv-sim -c one-gpu.csv --checkpoint=1s alone.csv
err_has '--checkpoint is an option of --changes' "--checkpoint"

# ---- real jobs: gv-run and gv-sim, with what a launch costs here ----
if [ -n "${GV_LONG:-}" ]; then
	printf 'gpu_type,gpus,threads\nbig,1,1\nsmall,2,1\n' >real.csv
	awk -v w="$build/helpers/worker" 'BEGIN {
		print "job_id,total_steps,arrival_s,command,gpu_type,steps_per_s"
		n = split("6000 3600 10400 2800 4800 7200", steps, " "); split("0 0 2 4.8 10 12.4", at, " ")
		command = "exec " w " -r $([ $GV_GPU_TYPE = big ] && echo 1000 || echo 400)"
		for (i = 1; i <= n; i++) {
			print "j" i "," steps[i] "," at[i] "," command ",big,1000"
			print "j" i "," steps[i] "," at[i] "," command ",small,400"
		}
	}' >short.csv
	run gv-run -q -c real.csv -s state --round=2s -p 'gv-alloc --stream -p max-min -c real.csv' short.csv
	is_status 0 "six real jobs"
	cp out run.csv
	# time held that was no step, a launch
	load=$(awk -F, '
		$2 == "start" || $2 == "resume" { at[$3] = $1; had[$3] = $7; rate[$3] = $4 == "big" ? 1000 : 400; n++ }
		$2 == "preempt" || $2 == "finish" { lost += $1 - at[$3] - ($7 - had[$3]) / rate[$3] }
		END { printf "%.4f", lost / n }' run.csv)
	run gv-sim -q -c real.csv --round=2s --load="$load" -p 'gv-alloc -p max-min' short.csv
	cp out sim.csv
	for f in run sim; do
		awk -F, '$2 == "arrive" { at[$3] = $1 } $2 == "finish" { print $3, $1 - at[$3] }' $f.csv | sort >$f.times
	done
	join run.times sim.times >both.times
	ok "the mean completion time within 8 %: $(tr "\n" ";" <both.times)" \
		awk '{ a += $2; b += $3 } END { exit !(NR == 6 && (b / a - 1) ^ 2 < .08 ^ 2) }' both.times
else
	skip "long: 26 s of real jobs"
fi

# ---- bad use ----
run gv-sim -t speeds.csv jobs.csv
err_has "a cluster is needed: -c CLUSTER" "no cluster"
sim jobs.csv
err_has 'missing column "share"; -p names a policy that says shares' "no policy, no shares"
sim -p true --measure=5 jobs.csv
err_has '--measure: expected rows such as 4000-4999, got "5"' "--measure"
sim -p true --round=0s jobs.csv
err_has '--round: expected a time above 0' "--round"
sim -p true --ideal --ask-first jobs.csv
err_has '--ideal does not go together with --ask-first' "--ideal with --ask-first"
sim -p true --ideal --in-step jobs.csv
err_has '--ideal does not go together with --in-step' "--ideal"
for option in --load=.5s --save=.5s --node-mtbf=.5s --job-mtbf=.5s --ask-every=.5s; do
	sim -p true --ideal $option jobs.csv
	ok "--ideal with $option" grep -q -e "--ideal does not go together with .*${option%=*}" err
done
printf 'time_s,gpu_type,event\n5,v,away\n' >away.csv
sim -p true --ideal --changes=away.csv jobs.csv
err_has '--ideal does not go together with --changes' "--ideal with --changes"
sim -p true --shuffle=1 jobs.csv
err_has '--shuffle is an option of --order=gavel' "--shuffle"
sim -p true --jobs=- --summary=- jobs.csv
err_has 'the output can have only one table' "two tables on standard output"
sim -p true -o x --jobs=x jobs.csv
err_has 'x is to have two tables' "two tables in a file"
sed 's/1000/0/' jobs.csv >zero.csv
sim -p true zero.csv
err_has 'zero.csv:2: total_steps: expected a number above 0' "jobs without steps"
sed 's/^c,t/c,u/' jobs.csv >unknown.csv
sim -p 'gv-alloc -p max-min' unknown.csv
err_has 'warning: 1 job in unknown.csv is left out: no such job_type and scale_factor in speeds.csv, the first is "c"' \
	"a type that was measured nowhere"

# ---- --shuffle: which type of three that are the same comes first is drawn fairly ----
printf 'job_id,job_type,scale_factor,total_steps\na,t,1,100\n' >one.csv
printf 'job_type,scale_factor,gpu_type,steps_per_s\nt,1,u,1\nt,1,v,1\nt,1,w,1\n' >three.csv
printf 'gpu_type,gpus\nu,1\nv,1\nw,1\n' >each.csv
seed=0
while [ $seed -lt 150 ]; do
	gv-sim -c each.csv -t three.csv -r 600s --order=gavel --shuffle=$seed -p 'gv-alloc -p max-min+agnostic' --events=- one.csv
	seed=$((seed + 1))
done >events.csv
# 50 of each are expected, with a deviation of 5.8
grep ,start, events.csv | cut -d, -f4 | sort | uniq -c | awk '{ print $2, ($1 >= 30 && $1 <= 70 ? "about a third" : $1 " of 150") }' >out
ran="gv-sim --shuffle=0 ... 149" status=0
is_out "--shuffle: each type comes first in a third of the draws" <<E
u about a third
v about a third
w about a third
E

# ---- Gavel's single-GPU trace at 4 jobs an hour, seed 0 ----
trace=$gavel/trace_synth_single_seed0.csv.gz
if [ -f "$trace" ]; then
	gzip -dc "$trace" | awk -F, -v OFS=, '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print $0, "arrival_s"; next }
		{ printf "%s,%.17g\n", $0, $c["unit_arrival"] * 3600 / 4 }' >trace.csv
	printf 'gpu_type,gpus\nv100,36\np100,36\nk80,36\n' >108.csv
	# las POLICY LOW HIGH NAME [OPTION]: mean completion, in hours
	las() {
		policy=$1 low=$2 high=$3 name=$4
		shift 4
		run gv-sim -c 108.csv -t "$gavel/throughputs.csv" --order=gavel --in-step --interval=1920s --ask-first \
			--measure=4000-4999 --summary=- -p "gv-alloc -p $policy" "$@" trace.csv
		hours=$(awk -v s="$(value completion_mean_s '')" 'BEGIN { printf "%.2f", s / 3600 }')
		ok "$name: $hours h" awk -v h="$hours" -v low="$low" -v high="$high" 'BEGIN { exit !(h >= low && h <= high) }'
	}
	las water-filling 16.32 17.45 "aware, filled up, within 4 % of the published 16.82 h"
	las max-min 16.32 17.32 "aware, within 3 % of the published 16.82 h"
	las max-min+agnostic 23.02 23.96 "agnostic, within 2 % of the published 23.49 h" --shuffle=0
else
	skip "no shared data: gavel"
fi
done_testing
