#!/bin/sh
# gv-trace: workloads that are drawn, checked, scaled.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .

# holds NAME [FILE...]: the command before it succeeded
holds() {
	held=$? held_name=$1
	shift
	if [ $held -eq 0 ]; then pass "$held_name"; else fail "$held_name" "$@" err; fi
}

# ---- generate: the published sampling ----
gavel=$shared/data/gavel
if [ ! -f "$gavel/trace_synth_multi_seed0.csv.gz" ]; then
	skip "no shared data"
else
	for seed in 0 1 2; do
		for kind in single multi; do
			scales=
			[ $kind = single ] || scales=--scale-factors=1:0.7,2:0.1,4:0.15,8:0.05
			run gv-trace generate --jobs=12000 --rate=3600 --seed=$seed $scales \
				--types="$gavel/job_table.csv" "$gavel/throughputs.csv"
			cut -d, -f1-6 out >got
			gzip -dc "$gavel/trace_synth_${kind}_seed$seed.csv.gz" | awk -F, -v OFS=, '
				NR == 1 { print "job_id,arrival_s,job_type,scale_factor,total_steps,duration_s"; next }
				{ sub(/\.0$/, "", $2); print $1, $2, $3, $4, $6, $5 }' >want
			same_file got want "12000 jobs as published, $kind GPU, seed $seed: byte for byte"
		done
	done
fi

# ---- generate: the same with Python's own random numbers ----
cat >t.csv <<'E'
job_type,scale_factor,gpu_type,steps_per_s
small,1,v100,10
small,1,k80,2
large,1,v100,3.3333333333333335
large,2,v100,6.5
large,4,v100,12.25
large,4,k80,1.5
E
printf 'job_type,weight\nsmall,\nlarge,2.5\n' >weights.csv
if [ -z "$GV_PYTHON" ]; then
	skip "no python3"
else
	for seed in 0 7 4294967295 9007199254740993; do
		options="--jobs=3000 --rate=5.5 --seed=$seed --scale-factors=1:0.7,2:0.1,4:0.2 --priorities=5:0.2"
		for types in '' --types=weights.csv; do
			run gv-trace generate $options $types --slo=1.2:0.33,2:0.34,10:0.33 "--entities=a b:0.25,c:0.25" t.csv
			"$GV_PYTHON" "$src/tests/gv-trace-sample.py" $seed 3000 $types >want
			same_file out want "3000 jobs as Python draws them, seed $seed $types"
		done
		run gv-trace generate --sampling=testbed --jobs=3000 --rate=5.5 --seed=$seed --scale-factors=1:0.7,2:0.1,4:0.2 t.csv
		"$GV_PYTHON" "$src/tests/gv-trace-sample.py" $seed 3000 testbed >want
		same_file out want "3000 jobs of the testbed as Python draws them, seed $seed"
	done
fi

# ---- generate: the rest of it ----
run gv-trace generate --jobs=3 --every=90s --durations=10s t.csv
is_out "one job each time, of one length" <<'E'
job_id,arrival_s,job_type,scale_factor,total_steps,duration_s
0,0,small,1,100,10
1,90,large,1,33.333333333333336,10
2,180,small,1,100,10
E
silent "and quiet"
run gv-trace generate --jobs=2000 --durations=1h:0.25,10s..1000s:0.5 --reference=k80 --scale-factors=4:0.5 t.csv
awk -F, 'NR > 1 {
		n++
		if ($6 == 3600) hours++
		else if ($6 < 10 || $6 > 1000) bad++
		else { ranges++; if ($6 < 100) low++ }
		if ($4 == 4) wide++
		rate = $5 / $6
		if ($3 $4 == "small1" ? rate < 1.999 || rate > 2.001 : $3 $4 != "large4" || rate < 1.499 || rate > 1.501) bad++
	}
	END {
		if (n != 2000 || bad) print "bad rows:", bad
		if (hours < 430 || hours > 570) print "an hour:", hours
		if (low < ranges * 0.46 || low > ranges * 0.54) print "below 100 s:", low, "of", ranges
		if (wide < 900 || wide > 1100) print "gangs:", wide
	}' out >odd
[ "$status" -eq 0 ] && [ ! -s odd ]
holds "mixtures, on another reference" odd
run gv-trace generate --sampling=testbed --jobs=2000 --durations=2h,10s..1000s --scale-factors=2:0.5 t.csv
awk -F, 'NR > 1 { n[$3, $4]++; if ($6 == 7200) hours++; whole += $5 == int($5) && $2 == 0 }
	END { if (n["small", 1] < 900 || n["large", 1] < 400 || n["large", 2] < 400 || hours < 900 || hours > 1100 || whole != 2000)
		print n["small", 1], n["large", 1], n["large", 2], hours, whole }' out >odd
[ "$status" -eq 0 ] && [ ! -s odd ]
holds "mixtures of the testbed" odd
run gv-trace generate --sampling=testbed --jobs=2000 --durations=2h:0.25,1h:0.75 --scale-factors=3 -o made2 t.csv
is_err "a scale factor that nobody measured" <<'E'
gv-trace: t.csv: no job type to draw runs on "v100" with scale factor 3
E
printf 'job_type,weight\nsmall,1e300\nlarge,1\n' >rare.csv
run timeout 20 gv-trace generate --jobs=2 --scale-factors=4 --types=rare.csv t.csv
[ "$status" -eq 0 ] && [ "$(grep -c ,large,4, out)" -eq 2 ]
holds "a type so rare that it is never drawn is taken when there is no other" out
run gv-trace generate --jobs=2 --types=types.csv throughputs.csv
[ "$(head -n 1 out)" = job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,command ] &&
	grep -q 'gv-train -q --data=digits:1000' out
holds "columns of types go along" out
printf 'job_type,entity,duration_s,note\nsmall,x,9,"a,b"\n' >own.csv
run gv-trace generate --tsv --jobs=1 --durations=1m --entities=me --types=own.csv t.csv
printf 'job_id\tarrival_s\tjob_type\tscale_factor\ttotal_steps\tduration_s\tentity\tnote\n0\t0\tsmall\t1\t600\t60\tme\ta,b\n' |
	is_out "but for those that are drawn; TSV"
gv-trace generate --jobs=200 --durations=50ms..1s t.csv >real.csv
run gv-trace generate --jobs=200 --durations=50ms..1s --whole-steps t.csv
awk -F, -v OFS=, 'NR > 1 { $5 = int($5); if ($5 < 1) $5 = 1 } 1' real.csv >want
same_file out want "--whole-steps: rounded down, at least 1"
run gv-trace generate -v --jobs=2 --every=1h --durations=2h -o made t.csv
is_err "-v" <<'E'
gv-trace: 2 jobs, 4 GPU hours of v100, the last at 1 h
E
run gv-trace generate --jobs=50 --scale-factors=16 -o made2 t.csv
is_err "no type runs so wide" <<'E'
gv-trace: t.csv: no job type to draw runs on "v100" with scale factor 16
E
is_status 2 "no type runs so wide: status"
ok "no type runs so wide: no file" [ ! -e made2 ]

# usage_error 'ARGUMENTS' MESSAGE
usage_error() {
	run gv-trace $1
	[ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-trace: $2" ] && sed -n 2p err | grep -q '^usage: gv-trace'
	holds "$2"
}
usage_error 'generate t.csv' 'no number of jobs given: use --jobs'
usage_error 'generate --jobs=1 --rate=1 --every=1s t.csv' '--rate and --every cannot be given together'
usage_error 'generate --jobs=1 --types=- -' 'standard input can be read only once'
usage_error 'generate --jobs=1 --scale-factors=0 t.csv' '--scale-factors: expected a whole number from 1 to 1000000, got "0"'
usage_error 'generate --jobs=1 --scale-factors=1.5 t.csv' '--scale-factors: expected a whole number from 1 to 1000000, got "1.5"'
usage_error 'generate --jobs=1 --priorities=x:0.5 t.csv' '--priorities: expected a number > 0, got "x"'
usage_error 'generate --jobs=1 --slo=2:0.6,3:0.6 t.csv' '--slo: expected probabilities of at most 1 in all, got 1.2'
usage_error 'generate --jobs=1 --entities=a:2 t.csv' '--entities: expected a probability above 0 and at most 1, got "2"'
usage_error 'generate --jobs=1 --durations=1h:0.5,2h t.csv' '--durations: expected a probability for each value, or for none'
usage_error 'generate --jobs=1 --durations=4h..1h t.csv' '--durations: expected a duration such as 90s, 15m or 2h, or 1h..4h, got "4h..1h"'
usage_error 'generate --jobs=1 --durations=0s t.csv' '--durations: expected a duration such as 90s, 15m or 2h, or 1h..4h, got "0s"'
usage_error '' 'no subcommand given; known: check, convert, generate, prices, scale'
usage_error 'gen' 'unknown subcommand "gen"; known: check, convert, generate, prices, scale'
usage_error '-q generate' 'options other than -h and -V go after the subcommand'

# bad FILE MESSAGE COMMAND...: the file comes from stdin, the first line of the error is this
bad() {
	file=$1 message=$2
	shift 2
	cat >"$file"
	run "$@"
	[ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-trace: $message" ]
	holds "$message" out
}
t=job_type,scale_factor,gpu_type,steps_per_s
printf 'job_type,scale_factor,gpu_type\n' |
	bad x.csv 'x.csv:1: missing column "steps_per_s" (found: job_type, scale_factor, gpu_type)' gv-trace generate --jobs=1 x.csv
printf '%s\na,0,v,1\n' $t |
	bad x.csv 'x.csv:2: scale_factor: expected a whole number >= 1, got "0"' gv-trace generate --jobs=1 x.csv
printf '%s\na,1,v,-1\n' $t |
	bad x.csv 'x.csv:2: steps_per_s: expected a number >= 0, got "-1"' gv-trace generate --jobs=1 x.csv
printf '%s\n,1,v,1\n' $t |
	bad x.csv 'x.csv:2: job_type: expected the name of a job type, got nothing' gv-trace generate --jobs=1 x.csv
printf '%s\na,1,,1\n' $t |
	bad x.csv 'x.csv:2: gpu_type: expected the name of a GPU type, got nothing' gv-trace generate --jobs=1 x.csv
printf '%s\na,1,v,1\na,1,v,1\n' $t |
	bad x.csv 'x.csv:3: gpu_type: repeated row of this job type, scale factor and GPU type' gv-trace generate --jobs=1 x.csv
printf '%s\n' $t | bad x.csv 'x.csv: expected a row, got none' gv-trace generate --jobs=1 x.csv
printf 'job_type\n' | bad x.csv 'x.csv: expected a job type, got none' gv-trace generate --jobs=1 --types=x.csv t.csv
printf 'job_type\na\na\n' | bad x.csv 'x.csv:3: job_type: repeated job type "a"' gv-trace generate --jobs=1 --types=x.csv t.csv
printf 'job_type,weight\nsmall,1\nlarge,3\n' >right.csv
awk -F, -v OFS=, '{ print $2, $1 }' right.csv >left.csv
for order in right left; do gv-trace generate --jobs=50 --types=$order.csv t.csv >$order.out; done
same_file left.out right.out "the column of weights may be the first"
printf 'job_type,weight\na,0\n' | bad x.csv 'x.csv:2: weight: expected a number > 0, got "0"' gv-trace generate --jobs=1 --types=x.csv t.csv
printf '' | bad x.csv 't.csv: no GPU type "a100"; it has v100, k80' gv-trace generate --jobs=1 --reference=a100 t.csv
printf '' | bad x.csv "jobs.csv:1: this is a jobs table; expected a table of throughputs (job_type, scale_factor, gpu_type, steps_per_s)" \
	gv-trace generate --jobs=1 jobs.csv

# ---- check ----
cat >trace.csv <<'E'
job_id,job_type,scale_factor,total_steps,arrival_s,deadline_s,note
fine,large,4,100,0,,x
other,tiny,1,100,0,,
none,,1,100,0,,
wide,large,16,100,0,,"a,b"
odd,large,3,100,0,,
small2,small,2,100,0,,
still,large,1,,0,,
late,small,1,100,50,50,
soon,small,1,100,50,51,
E
run gv-trace check -v -t t.csv trace.csv
is_out "what cannot run" <<'E'
job_id,problem,job_type,scale_factor,clip_to,line
other,unknown-type,tiny,1,,3
none,no-job-type,,1,,4
wide,not-measured,large,16,4,5
odd,not-measured,large,3,2,6
small2,not-measured,small,2,1,7
still,no-steps,large,1,,8
late,late,small,1,,9
E
is_status 1 "what cannot run: status"
is_err "how many" <<'E'
gv-trace: 1 of 9 jobs: no-job-type
gv-trace: 1 of 9 jobs: unknown-type
gv-trace: 3 of 9 jobs: not-measured
gv-trace: 1 of 9 jobs: no-steps
gv-trace: 1 of 9 jobs: late
E
run gv-trace check --fix=drop -v -t t.csv trace.csv
is_out "without them" <<'E'
job_id,job_type,scale_factor,total_steps,arrival_s,deadline_s,note
fine,large,4,100,0,,x
soon,small,1,100,50,51,
E
is_status 0 "without them: status"
err_has "gv-trace: 2 jobs written, 0 of them with fewer GPUs" "without them: how many"
run gv-trace check --fix=clip -v -t t.csv trace.csv
is_out "with fewer GPUs" <<'E'
job_id,job_type,scale_factor,total_steps,arrival_s,deadline_s,note
fine,large,4,100,0,,x
wide,large,4,100,0,,"a,b"
odd,large,2,100,0,,
small2,small,1,100,0,,
soon,small,1,100,50,51,
E
err_has "gv-trace: 5 jobs written, 3 of them with fewer GPUs" "with fewer GPUs: how many"
printf 'gpu_type,gpus,node\nk80,1,a\nk80,2,b\nv100,1,a\n' >c.csv
printf 'job_id,job_type,scale_factor,total_steps\na,large,4,1\nb,large,2,1\nc,large,1,1\n' >trace.csv
run gv-trace check -t t.csv -c c.csv trace.csv
is_out "on this cluster" <<'E'
job_id,problem,job_type,scale_factor,clip_to,line
a,too-large,large,4,1,2
b,too-large,large,2,1,3
E
printf 'gpu_type,gpus\nk80,8\n' >c.csv
printf '%s\na,1,k80,0\na,1,v100,1\nb,1,v100,1\nc,1,k80,0.01\n' $t >t2.csv
printf 'job_id,job_type,scale_factor,total_steps\na,a,1,1\nb,b,1,1\nc,c,1,1\n' >trace.csv
run gv-trace check -t t2.csv -c c.csv trace.csv
is_out "where a job is too large for the memory" <<'E'
job_id,problem,job_type,scale_factor,clip_to,line
a,runs-nowhere,a,1,,2
b,not-measured,b,1,,3
E
printf 'job_id,job_type,scalefactor,total_steps\na,small,1,1\n' >trace.csv
printf 'gpu_type,gpus,nodes\nk80,2,a\n' >c.csv
run gv-trace check -t t.csv -c c.csv trace.csv
is_err "columns that look misspelled" <<'E'
gv-trace: warning: c.csv:1: column "nodes" is not known; is "node" meant?
gv-trace: warning: trace.csv:1: column "scalefactor" is not known; is "scale_factor" meant?
E
run gv-trace check -q -t t.csv -c c.csv trace.csv
silent "-q"
usage_error 'check trace.csv' 'no throughputs given: use -t'
usage_error 'check -t - -' 'standard input can be read only once'
usage_error 'check -t t.csv --fix=x trace.csv' '--fix: unknown "x"; known: drop, clip'
if [ -f "$gavel/throughputs.csv" ]; then
	for pair in 0e4a51:csv:197 ed69ec:csv:0 ee9e8c:csv.gz:373; do
		vc=${pair%%:*} n=${pair##*:} suffix=${pair#*:} suffix=${suffix%:*}
		run gv-trace check -t "$gavel/throughputs.csv" "$gavel/trace_philly_vc_${vc}_seed0.$suffix"
		[ "$(grep -c ,not-measured, out)" -eq "$n" ] && [ "$(wc -l <out)" -eq $((n + 1)) ]
		holds "the Philly trace $vc: $n jobs were not measured" out
		gv-trace check --fix=drop -o fit.csv -t "$gavel/throughputs.csv" "$gavel/trace_philly_vc_${vc}_seed0.$suffix"
		run gv-trace check -t "$gavel/throughputs.csv" fit.csv
		is_status 0 "the Philly trace $vc: the others can run"
	done
	# one of them through it all: every job is done
	printf 'gpu_type,gpus\nv100,36\np100,36\nk80,36\n' >c.csv
	gv-trace check --fix=clip -c c.csv -t "$gavel/throughputs.csv" -o fit.csv "$gavel/trace_philly_vc_0e4a51_seed0.csv"
	run gv-sim -q -c c.csv -t "$gavel/throughputs.csv" -p 'gv-alloc -q -p fifo' --summary=- fit.csv
	[ "$status" -eq 0 ] && grep -qx 'finished,,1181' out
	holds "the Philly trace 0e4a51, simulated" out
else
	skip "no shared data"
fi

# ---- scale ----
cat >trace.csv <<'E'
job_id,arrival_s,total_steps,steps_remaining,duration_s,deadline_s,command
a,0,007,3,10.5,100,"x, y"
b,3600,1,,1e3,,
c,7200,10.5,0,,7300,007
E
run gv-trace scale trace.csv
same_file out trace.csv "nothing asked: byte for byte"
run gv-trace scale --load=2 trace.csv
is_out "twice the load" <<'E'
job_id,arrival_s,total_steps,steps_remaining,duration_s,deadline_s,command
a,0,007,3,10.5,100,"x, y"
b,1800,1,,1e3,,
c,3600,10.5,0,,3700,007
E
run gv-trace scale -v --rate=4 trace.csv
is_out "four jobs an hour" <<'E'
job_id,arrival_s,total_steps,steps_remaining,duration_s,deadline_s,command
a,0,007,3,10.5,100,"x, y"
b,900,1,,1e3,,
c,1800,10.5,0,,1900,007
E
is_err "and -v" <<'E'
gv-trace: 3 jobs, 4 an hour; they were 1
E
run gv-trace scale --size=0.1 trace.csv
is_out "smaller jobs: whole steps stay whole, and at least 1" <<'E'
job_id,arrival_s,total_steps,steps_remaining,duration_s,deadline_s,command
a,0,1,1,1.05,10,"x, y"
b,3600,1,,100,,
c,7200,1.05,0,,7210,007
E
run gv-trace scale --time=2 --jobs=2 trace.csv
is_out "all times, of the first two" <<'E'
job_id,arrival_s,total_steps,steps_remaining,duration_s,deadline_s,command
a,0,14,6,21,200,"x, y"
b,7200,2,,2000,,
E
run gv-trace scale --time=0.5 --size=4 --load=0.5 trace.csv
is_out "all of it" <<'E'
job_id,arrival_s,total_steps,steps_remaining,duration_s,deadline_s,command
a,0,14,6,21,200,"x, y"
b,3600,2,,2000,,
c,7200,21,0,,7400,007
E
usage_error 'scale --load=2 --rate=3 trace.csv' '--load and --rate cannot be given together'
usage_error 'scale --load=0 trace.csv' '--load: expected a number from 1e-09 to 1e+09, got "0"'
printf 'job_id,arrival_s\na,5\nb,5\n' | bad x.csv 'x.csv: --rate: all jobs come at the same time' gv-trace scale --rate=1 x.csv
printf 'job_id,arrival_s,total_steps\na,5,1\nb,5,x\n' |
	bad x.csv 'x.csv:3: total_steps: expected a number, got "x"' gv-trace scale --size=2 x.csv
printf 'arrival_s\n5\n' | bad x.csv 'x.csv:1: missing column "job_id" (found: arrival_s)' gv-trace scale x.csv
gv-trace generate --jobs=500 --rate=10 -o drawn.csv t.csv
run gv-trace scale -v --rate=3 -o slower.csv drawn.csv
err_has "500 jobs, 3 an hour" "drawn arrivals at another rate"

# ---- what comes out goes on ----
run sh -c 'gv-trace generate --jobs=20 --rate=60 throughputs.csv |
	gv-trace check --fix=drop -t throughputs.csv -c cluster.csv |
	gv-alloc -q -p max-min -t throughputs.csv -c cluster.csv'
[ "$status" -eq 0 ] && [ "$(wc -l <out)" -eq 41 ] && head -n 1 out | grep -q '^job_id,arrival_s,.*,share,policy$'
holds "to gv-alloc" out
printf 'gpu_type,gpus,threads\ncpu1,1,1\n' >c.csv
printf '%s\nshell,1,cpu1,50\n' $t >t.csv
printf 'job_type,command\nshell,"n=0; while [ $n -lt $GV_TOTAL_STEPS ]; do n=$((n + 1)); echo step $n >>""$GV_PROGRESS""; done"\n' >types.csv
gv-trace generate --jobs=2 --every=100ms --durations=0.1s --whole-steps --types=types.csv -o jobs.csv t.csv
gv-alloc -p max-min -t t.csv -c c.csv -o allocation.csv jobs.csv
run timeout 60 gv-run -q -r 1s -c c.csv allocation.csv
[ "$status" -eq 0 ] && [ "$(grep -c ,finish, out)" -eq 2 ]
holds "and to gv-run, which really runs them" out
done_testing
