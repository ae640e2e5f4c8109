#!/bin/sh
# gv-run: two jobs on the same GPUs.
. "${0%/*}/lib.sh"
. "$src/tests/runs.sh"

# is_beside KIND JOB WITH NAME: once one of the two was launched with the other one there
is_beside() {
	got=$(($(events "$1" "$2" "$3") + $(events "$1" "$3" "$2")))
	if [ "$got" -eq 1 ]; then pass "$4"; else fail "$4: $got events $1 $2 with $3" out err; fi
}

# ---- the plan ----
cat >plan.csv <<'EOT'
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
a,1,1000,run a,big,2,,,0.25
b,1,2000,run b,big,2,,,0.25
b,1,2000,run b,big,1,a,0.75,0.5
g,2,90000,run g,small,1,,,0
h,2,540,run h,small,1,,,0
g,2,90000,run g,small,0.75,h,0.5,1
EOT
run gv-run -n -c cluster.csv -r 360s plan.csv
silent "--dry-run"
sed 6q out >got
cat >want <<'EOT'
round,job_id,gpu_type,node,gpus,command,with_job_id
0,b,big,,0,run b,a
0,a,big,,0,run a,b
0,g,small,,0;1,run g,h
0,h,small,,0;1,run h,g
1,a,big,,0,run a,
EOT
same_file want got "both jobs on the same GPUs, each with the other"
# a has done 270 steps in round 0, 720 in round 1, 10 in round 3; h 180 in each of 0 to 2
awk -F, '{ print $1, $2 ($7 == "" ? "" : "+" $7) }' out | sed '1d; /[gh]+/d' | tr '\n' ' ' >got
printf '0 b+a 0 a+b 1 a 2 b 3 g 3 b+a 3 a+b 4 b 4 g 5 g 6 g 7 g 8 g 9 g ' >want
same_file want got "rates are those of the two; who is left goes on alone"

# ---- shares, alone and together ----
cat >full.csv <<EOT
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
a,1,100000,$w -r 200,big,200,,,0
b,1,100000,$w -r 200,big,200,,,0
c,1,100000,$w -r 200,big,200,,,0
c,1,100000,$w -r 200,small,200,,,0.5
g,2,100000,$w -r 200,small,200,,,0
h,2,100000,$w -r 200,small,200,,,0
a,1,100000,$w -r 200,big,180,b,180,0.5
b,1,100000,$w -r 200,big,180,c,180,0.5
h,2,100000,$w -r 200,small,180,g,180,0.5
EOT
# what is received, on a clock on which workers take no time
run gv-run -n -c cluster.csv -r 1s full.csv
silent "--dry-run of pairs and others"
awk -F, 'NR > 1 { n[$2]++; rounds = $1 + 1 } END { for (j in n) print j, n[j] / rounds }' out | sort >got
cat >want <<'EOT'
a 0.5
b 1
c 1
g 0.5
h 0.5
EOT
same_file want got "each job has what its pairs were promised"
all_pairs() {
	for j in a,b b,c g,h; do
		grep -Eq ",(start|resume),(${j%,*},.*,${j#*,}|${j#*,},.*,${j%,*})\$" out || return 1
	done
}
gv-run -c cluster.csv -s full --round=0.2 --grace=9 full.csv >out 2>err &
pid=$!
true_within 60 all_pairs
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
ran="gv-run ... full.csv, SIGTERM when all pairs have run"
is_status 143 "SIGTERM: status 143"
is_err "and nothing to say" </dev/null
ok "and nobody left" [ -z "$(strays)" ]
awk -F, 'NR > 1 && NF != 11 { bad = 1 } END { exit bad }' out
status=$?
is_status 0 "every event has the column with_job_id"
awk -F, '$2 == "allocate" { print $3, $4, $9, $11 == "" ? "alone" : $11 }' out >got
cat >want <<'EOT'
c small 0.5 alone
a big 0.5 b
b big 0.5 c
h small 0.5 g
EOT
same_file want got "shares are told as they are promised"
# who is where, at any time: at most two on a GPU, and only those that are a pair
awk -F, '
	function pair(x, y) { return (x y) ~ /^(ab|ba|bc|cb|gh|hg)$/ }
	$2 == "start" || $2 == "resume" {
		n = split($6, g, ";")
		for (i = 1; i <= n; i++) {
			k = $4 g[i]
			if (on[k] != "" && (!pair(on[k], $3) || $11 != on[k])) { print "wrong:", $0, "beside", on[k]; bad = 1 }
			if (on[k] == "" && $11 != "") { print "nobody there:", $0; bad = 1 }
			on[k] = on[k] $3
		}
		if ($11 != "") pairs[$3 < $11 ? $3 $11 : $11 $3]++
	}
	$2 == "preempt" { n = split($6, g, ";"); for (i = 1; i <= n; i++) sub($3, "", on[$4 g[i]]) }
	END { if (!pairs["ab"] || !pairs["bc"] || !pairs["gh"]) { print "pairs that never ran"; bad = 1 }; exit bad }' out >wrong
status=$?
if [ "$status" -eq 0 ]; then pass "only pairs share GPUs, each of them in its turn"; else fail "only pairs share GPUs" wrong out; fi
is_events 1 preempt b "who goes from one pair to the other stays where he is"
run gv-report -f csv -b type full/events.csv
awk -F, '$1 == "big" { exit !($5 > 0 && $5 <= 1.0001) }' out
status=$?
is_status 0 "a GPU is busy once"

# ---- kill -9 with a pair running; the run goes on ----
cat >pair.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
a,200,$w -r 200,big,200,,,0
b,300,$w -r 200,big,200,,,0
a,200,$w -r 200,big,180,b,180,1
EOT
gv-run -v -c one.csv -s kill --round=0.2 --grace=2 pair.csv >out 2>err &
pid=$!
true_within 60 grep -q ',start,[ab],.*,[ab]$' out
true_within 60 test -s kill/jobs/b/checkpoint/steps
true_within 60 test -s kill/jobs/a/checkpoint/steps
kill -9 "$pid"
wait "$pid" 2>/dev/null
ran="gv-run ... pair.csv, kill -9"
is_events 1 start a "both started"
is_events 1 start b "on the same GPU"
is_beside start b a "and said so"
err_has ': big 0 "a" and "b"' "who are together is said when it is decided"
run gv-run --resume -s kill --round=0.2 --grace=2
sed -i '/^gv-run: waiting for workers of the gv-run before to leave$/d' err # a busy machine's leave late
silent "--resume"
is_events 1 resume a "both are resumed"
is_beside resume b a "together"
is_events 1 finish a "the first one finishes"
is_events 1 preempt b "and the other one is not disturbed: it left only when killed"
is_events 1 finish b "until it is done"
every_step kill a 200 "every step once"
every_step kill b 300 "of both"
ok "none ran twice at once" sh -c '! grep -q TWICE kill/jobs/*/checkpoint/log'
ok "what was open was closed for both" [ "$(grep -c 'gv-run was killed' kill/events.csv)" -eq 2 ]
run gv-report -q -b summary kill/events.csv
silent "gv-report reads the two lives as one"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } { print $c["job_id"], $c["with_job_id"], $c["share"] }' kill/jobs.csv >got
cat >want <<'EOT'
job_id with_job_id share
a  0
b  0
a b 1
EOT
same_file want got "the table is kept with the share of the two"

# ---- one of the two fails ----
cat >fail.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
a,100,$w -r 200 -e 10 -x 35,big,200,,,0
b,200,$w -r 200,big,200,,,0
a,100,$w -r 200 -e 10 -x 35,big,180,b,180,1
EOT
run gv-run -q -c one.csv -s fail --round=0.4 --grace=2 --max-failures=2 fail.csv
is_status 1 "a job that is dropped"
is_events 2 fail a "has failed twice"
is_beside resume a b "was tried again beside the other one"
is_events 0 preempt b "which was not disturbed"
is_events 1 finish b "and is done"

# ---- what they find; the policy ----
cat >rates.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s
a,60,env >a.env; $w -r 200,big,200,,
b,100,env >b.env; $w -r 200,big,200,,
c,40,$w -r 200,big,200,,
a,60,env >a.env; $w -r 200,big,180,b,180
c,40,$w -r 200,big,180,b,180
EOT
# together as long as there are two; keeps what it was asked
cat >together <<'EOT'
#!/bin/sh
n=0
while [ -f asked.$n ]; do n=$((n + 1)); done
awk -F, 'NR == 1 { print $0 ",share"; next } { print $0 ($6 == "a" || $6 == "b" ? ",0.5" : ",0") }' | tee asked.$n
EOT
chmod +x together
run gv-run -c one.csv -s pol --round=0.2 -p ./together rates.csv
silent "a policy that lets jobs share"
for f in a b; do grep -E '^(GV_GPUS|GV_THREADS|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|GV_GPU_TYPE|RANK|WORLD_SIZE)=' $f.env | sort >$f.found; done
same_file a.found b.found "both find the same GPUs and threads"
ok "each its own directory" sh -c '! cmp -s a.env b.env'
cut -d, -f1,6 asked.0 | tr '\n' ' ' >got
printf 'job_id,with_job_id a, b, c, a,b c,b ' >want
same_file want got "the policy is asked about pairs"
awk -F, 'FNR == 1 { split("", there); next } $6 == "" { there[$1] = 1; next }
	!there[$1] || !there[$6] { print FILENAME, $0; bad = 1 } END { exit bad }' asked.* >wrong
status=$?
if [ "$status" -eq 0 ]; then pass "and no more about those of which one has left"; else fail "pairs of jobs that have left" wrong; fi
awk -F, '$2 == "allocate" { print $3, $9, $11 }' out | sed 2q >got
printf 'a 0.5 b\nc 0.5 b\n' >want
same_file want got "its shares are told"
is_events 1 end '' "and the run ends"
sed 5q rates.csv >few.csv
cat >stranger <<'EOT'
#!/bin/sh
echo job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
echo a,big,1,,,0
echo a,big,1,z,1,0.5
echo z,big,1,,,0
EOT
chmod +x stranger
run gv-run -c one.csv -s pol3 --round=0.2 -p ./stranger few.csv
err_has 'with_job_id: the policy was not asked about job "z"' "nor with a stranger"

# ---- pairs that only the policy knows ----
cat >plain.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s
a,200,$w -r 200,big,200
b,300,$w -r 200,big,200
c,200,$w -r 200,big,200
EOT
cat >finder <<'EOT'
#!/bin/sh
n=0
while [ -f asked.$n ]; do n=$((n + 1)); done
cat >asked.$n
if [ $n -gt 0 ]; then sed '1s/$/,share/; 2,$s/$/,0.25/' asked.$n; exit; fi
awk 'NR == 1 { print $0 ",with_job_id,with_steps_per_s,share"; next } { print $0 ",,,0" } { last = $0 }
	END { sub(/big,200/, "big,150", last); print last ",b,160,1" }' asked.0
EOT
chmod +x finder
rm -f asked.*
gv-run -c one.csv -s new --round=0.2 -p ./finder plain.csv >out 2>err &
pid=$!
true_within 60 grep -q '^b,.*,c,150' new/jobs.csv
true_within 60 grep -q ',start,[bc],.*,[bc]$' out # once it is told it is in the journal
true_within 60 test -s new/jobs/c/checkpoint/steps
kill -9 "$pid"
wait "$pid" 2>/dev/null
ran="gv-run -p ./finder, kill -9"
is_beside start c b "a pair that only the policy named runs"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["with_job_id"] != "" { print $c["job_id"], $c["gpu_type"], $c["steps_per_s"], $c["with_job_id"], $c["with_steps_per_s"], $c["share"], $c["total_steps"] }' new/jobs.csv >got
echo 'b big 160 c 150 1 300' >want
same_file want got "and is kept with the table"
run gv-run --resume -s new --round=0.2
is_status 0 "resumed"
ok "they go on together" grep -q ',resume,[bc],.*,[bc]$' out
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["with_job_id"] != "" { print $c["job_id"], $c["with_job_id"], $c["steps_per_s"], $c["with_steps_per_s"] }' asked.1 >got
echo 'b c 160 150' >want
same_file want got "the policy is asked about them"
for j in b:300 c:200; do every_step new ${j%:*} ${j#*:} "every step of ${j%:*} once"; done
if have gv-alloc; then
	cat >types.csv <<EOT
job_id,job_type,total_steps,command,gpu_type,steps_per_s
a,x,60,$w -r 200,big,200
b,y,60,$w -r 200,big,200
EOT
	echo job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b >beside.csv
	echo x,y,1,big,180,180 >>beside.csv
	run gv-run -c one.csv -s alloc --round=5 -p "gv-alloc -p max-min -c one.csv --space-sharing=beside.csv" types.csv
	silent "gv-alloc --space-sharing as the policy"
	out_has ',allocate,a,big,,,,,1,,b' "lets both have all of the time"
	is_beside start b a "at once"
	gv-alloc -p max-min -c one.csv --space-sharing=beside.csv types.csv >whole.csv
	run sh -c 'gv-run -c one.csv -s alloc2 --round=5 whole.csv | gv-report -b type -f csv'
	silent "gv-alloc | gv-run | gv-report"
	awk -F, '$1 == "big" { exit !($5 > 0 && $5 <= 1 && $6 == 2) }' out
	status=$?
	is_status 0 "two launches on one GPU"
else
	skip "no gv-alloc"
fi

# ---- a run that had no pairs before ----
cat >before.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share
a,40,$w -r 200,big,200,1
EOT
run gv-run -c one.csv -s grow --round=0.2 before.csv
silent "a run without pairs"
ok "has no column for them" sh -c '! grep -q with_job_id out grow/events.csv'
sed 's/^a,200/d,200/; s/^a,/d,/' pair.csv >after.csv
run gv-run -c one.csv -s grow --round=0.2 after.csv
silent "two jobs that share are added"
ok "the journal has the column now" grep -q '^time_s.*,with_job_id,row_crc32$' grow/events.csv
run gv-report -q -f csv -b job grow/events.csv
silent "and is one table"
ok "of all jobs" [ "$(grep -c ',finished,' out)" -eq 3 ]
sed 's/,b,180,1$/,b,180,0.5/' after.csv >again.csv
run gv-run -c one.csv -s grow --round=0.2 again.csv
silent "a pair that is described anew"
ok "is there once" [ "$(grep -c ',b,180,' grow/jobs.csv)" -eq 1 ]

# ---- real training: the same bits as alone ----
if have gv-train; then
	cp "$GV_DATA/models/mlp.tsv" .
	train="gv-train --data=digits:300 --batch=16"
	n=1500
	cat >train.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share
x,$n,exec $train --seed=1 mlp.tsv,big,1000,,,0
y,$n,exec $train --seed=2 mlp.tsv,big,1000,,,0
x,$n,exec $train --seed=1 mlp.tsv,big,700,y,700,1
EOT
	# shellcheck disable=SC2086
	for s in 1 2; do env GV_THREADS=2 $train --steps=$n --seed=$s mlp.tsv >alone.$s; done
	run gv-run -c one.csv -s real --round=30 train.csv
	silent "two trainings share a device"
	is_beside start y x "at once"
	same_file alone.1 real/jobs/x/log "the first one is as alone, to the bit"
	same_file alone.2 real/jobs/y/log "the other one, too"
	gv-run -c one.csv -s real2 --round=30 --grace=5 train.csv >out 2>err &
	pid=$!
	true_within 60 grep -q . real2/jobs/y/progress
	sleep 0.1
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	run gv-run --resume -q -s real2 --round=30
	is_status 0 "killed and resumed"
	same_file alone.1 real2/jobs/x/checkpoint/losses.csv "the losses are those of the one alone"
	same_file alone.2 real2/jobs/y/checkpoint/losses.csv "and of the other"
else
	skip "no gv-train"
fi
done_testing
