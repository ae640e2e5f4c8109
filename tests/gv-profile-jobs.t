#!/bin/sh
# gv-profile jobs: rates of workers whose rate is known, and of workers that misbehave.
. "${0%/*}/lib.sh"

PATH=$build/helpers:$PATH
TMPDIR=$scratch/tmp
mkdir "$TMPDIR"
export TMPDIR
cat >cluster.csv <<'EOT'
gpu_type,gpus,threads
cpu2,1,2
cpu1,2,1
EOT
usage='usage: gv-profile jobs -c CLUSTER [-qvV] [-o FILE] [-s DIR] [-t KNOWN] [option ...] [jobs.csv]'

# rate_between JOB TYPE LEAST MOST NAME: the last column of out.  Workers are late on a machine
# that does other things as well: then all is measured once more, four times at most
rate_between() {
	for try in 1 2 3 4 5; do
		rate=$(awk -F, -v j="$1" -v t="$2" '$1 == j && $(NF - 1) == t { print $NF }' out)
		if awk -v v="$rate" -v a="$3" -v b="$4" 'BEGIN { exit !(v != "" && v >= a && v <= b) }'; then
			pass "$5" && return
		fi
		# shellcheck disable=SC2086
		case $try,$ran in 5,*) ;; *,"gv-profile jobs "*) run $ran ;; esac
	done
	fail "$5: $rate, not $3 to $4" out err
}
# rate_is JOB TYPE WANT NAME: within 10 %
rate_is() { rate_between "$1" "$2" "$(awk "BEGIN { print .9 * $3 }")" "$(awk "BEGIN { print 1.1 * $3 }")" "$4"; }
# nothing_left NAME: no directory and no process of a job; keepers whose program died have 5 s
is_clean() {
	ls -A "$TMPDIR" >left
	grep -lsF "GV_CHECKPOINT_DIR=$TMPDIR/" /proc/[0-9]*/environ >>left
	[ ! -s left ]
}
nothing_left() {
	true_within 30 is_clean
	if [ -s left ]; then fail "$1" left; else pass "$1"; fi
}
# calm: on a busy machine speeds may vary
calm() { sed -i '/ its speed varies: /d' err; }
# measure [OPTION...]: a short measurement of jobs.csv
measure() { run gv-profile jobs --warmup=0.1s --window=0.4s --grace=1s -c cluster.csv "$@" jobs.csv; }

# ---- rates ----
cat >jobs.csv <<'EOT'
job_id,note,job_type,scale_factor,total_steps,command
a,007,mlp,1,1000000,stepper -r 100
b," x,""y"" ",gang,2,,stepper -r 40 -k 2
c,1e3,mlp,1,7,false
d,,,,1000000,stepper -g cpu2=300 -g cpu1=90 -k 10
EOT
measure
calm
silent "measure"
rate_is a cpu2 200 "100 steps/s per thread on two"
rate_is a cpu1 100 "and on one"
rate_is b cpu1 40 "a gang"
rate_is d cpu2 300 "another on two threads"
rate_is d cpu1 90 "and on one"
nothing_left "nothing is left"
if [ "$(awk -F, '$1 == "a" { print $NF }' out)" = "$(awk -F, '$1 == "c" { print $NF }' out)" ]; then
	pass "a type is measured once: its second command would have failed"
else
	fail "a type is measured once" out
fi
if awk -F, 'NR > 1 && $NF != 0 && (length($NF) > 7 || $NF !~ /\./) { bad = 1 } END { exit bad }' out; then
	pass "six digits"
else
	fail "six digits" out
fi
sed 's/,[0-9.]*$/,R/' out >kept
cat >want <<'EOT'
job_id,note,job_type,scale_factor,total_steps,command,gpu_type,steps_per_s
a,007,mlp,1,1000000,stepper -r 100,cpu2,R
a,007,mlp,1,1000000,stepper -r 100,cpu1,R
b," x,""y"" ",gang,2,,stepper -r 40 -k 2,cpu2,R
b," x,""y"" ",gang,2,,stepper -r 40 -k 2,cpu1,R
c,1e3,mlp,1,7,false,cpu2,R
c,1e3,mlp,1,7,false,cpu1,R
d,,,,1000000,stepper -g cpu2=300 -g cpu1=90 -k 10,cpu2,R
d,,,,1000000,stepper -g cpu2=300 -g cpu1=90 -k 10,cpu1,R
EOT
same_file kept want "all columns of the jobs, byte for byte"
out_has 'b," x,""y"" ",gang,2,,stepper -r 40 -k 2,cpu2,0' "a gang larger than its type has rate 0"
cp out rates.csv

# ---- what is known is not measured ----
awk -F, 'BEGIN { print "job_type,scale_factor,gpu_type,steps_per_s" }
	$1 == "a" { print "mlp,1," $7 "," $8 }' rates.csv >known.csv
printf 'gang,2,cpu2,0.50\ngang,2,cpu1,1e2\nmlp,1,v100,7\nother,1,cpu1,7\n' >>known.csv
sed '/^d,/d; s/stepper [^,]*/false/' jobs.csv >told.csv
run gv-profile jobs -v -c cluster.csv -t known.csv told.csv
silent "-t: no command is run"
sed 's/stepper [^,]*/false/; /^d,/d; /^b,/s/,cpu2,0$/,cpu2,0.50/; /^b,/s/,cpu1,[0-9.]*$/,cpu1,1e2/' rates.csv >want
same_file out want "-t: rates byte for byte"
run gv-profile jobs -c cluster.csv -t known.csv --tsv - <told.csv
tr , '\t' <want | head -n 1 >want.tsv
head -n 1 out >got.tsv
same_file got.tsv want.tsv "--tsv, from standard input"
run gv-profile jobs -c cluster.csv -t known.csv --throughputs told.csv
is_out "--throughputs: one row a class, for -t" <<EOT
job_type,scale_factor,gpu_type,steps_per_s
mlp,1,cpu2,$(sed -n 's/^mlp,1,cpu2,//p' known.csv)
mlp,1,cpu1,$(sed -n 's/^mlp,1,cpu1,//p' known.csv)
gang,2,cpu2,0.50
gang,2,cpu1,1e2
EOT
# rates of a table that has such columns already are replaced
printf 'job_id,gpu_type,job_type,steps_per_s\nz,old,mlp,9\n' >old.csv
printf 'job_type,scale_factor,gpu_type,steps_per_s\nmlp,1,cpu1,3\nmlp,1,cpu2,4\n' >k.csv
run gv-profile jobs -c cluster.csv -t k.csv old.csv
is_out "columns of these names are replaced" <<'EOT'
job_id,job_type,gpu_type,steps_per_s
z,mlp,cpu2,4
z,mlp,cpu1,3
EOT

# ---- workers that misbehave ----
cat >jobs.csv <<'EOT'
job_id,job_type,scale_factor,total_steps,command
crash,crash,1,,stepper -x 3 -n 5 -w 'CUDA out of memory'
gone,gone,1,,no-such-program
empty,empty,1,,true
killed,killed,1,,kill -9 $$
rank,rank,2,,stepper -f 1 -n 3 -x 9
EOT
sed -i '/cpu2/d' cluster.csv
run gv-profile jobs -c cluster.csv jobs.csv
is_status 1 "failed jobs"
cut -d, -f1,6,7 out >got
cat >want <<'EOT'
job_id,gpu_type,steps_per_s
crash,cpu1,0
gone,cpu1,0
empty,cpu1,0
killed,cpu1,0
rank,cpu1,0
EOT
same_file got want "failed jobs have rate 0"
is_err "failed jobs: warnings" <<'EOT'
gv-profile: warning: jobs.csv:2: job "crash" on cpu1: failed with status 3: "CUDA out of memory"
gv-profile: warning: jobs.csv:3: job "gone" on cpu1: failed with status 127: "sh: 1: no-such-program: not found"
gv-profile: warning: jobs.csv:4: job "empty" on cpu1: left without having reported a step: a job appends "step N" to the file $GV_PROGRESS
gv-profile: warning: jobs.csv:5: job "killed" on cpu1: failed with status 137 and wrote nothing
gv-profile: warning: jobs.csv:6: job "rank" on cpu1: failed with status 9 and wrote nothing
gv-profile: job "crash" runs on no GPU type of the cluster
gv-profile: job "gone" runs on no GPU type of the cluster
gv-profile: job "empty" runs on no GPU type of the cluster
gv-profile: job "killed" runs on no GPU type of the cluster
gv-profile: job "rank" runs on no GPU type of the cluster
EOT
printf 'job_id,command\nmute,stepper -m\n' >jobs.csv
run gv-profile jobs --timeout=0.4s -c cluster.csv jobs.csv
is_status 1 "a job that reports nothing"
is_err "a job that reports nothing: warning" <<'EOT'
gv-profile: warning: jobs.csv:2: job "mute" on cpu1: reported no step within 0.4 s: a job appends "step N" to the file $GV_PROGRESS
gv-profile: job "mute" runs on no GPU type of the cluster
EOT
nothing_left "failed jobs leave nothing"

cat >jobs.csv <<'EOT'
job_id,total_steps,command
brief,40,stepper -r 100
one,50,stepper -r 200 -k 50 -s 0.05
silent,30,stepper -r 100 -m
deaf,,stepper -r 200 -i -d
EOT
run gv-profile jobs -v --warmup=0.1s --window=0.6s --grace=0.1s -c cluster.csv jobs.csv
is_status 0 "short jobs"
rate_is brief cpu1 100 "a job done before the window: all its reports"
rate_between one cpu1 50 167 "one report: since its start"
rate_between silent cpu1 40 100 "no report but total_steps: those"
rate_is deaf cpu1 200 "one that ignores SIGTERM, with a daemon"
calm
sed -E 's/[0-9.]+ steps.s/R steps\/s/; s/standard error [0-9.e+-]+ %/standard error E %/
	s/[0-9]+ reports in [0-9.]+ s/N reports in T s/; s/only [0-9]+ reports/only N reports/' err >got
cat >want <<'EOT'
gv-profile: warning: jobs.csv:2: job "brief" on cpu1: only N reports, then it was done
gv-profile: jobs.csv:2: job "brief" on cpu1: R steps/s, standard error E %, N reports in T s
gv-profile: warning: jobs.csv:3: job "one" on cpu1: too short to measure: the time of its start is counted in
gv-profile: jobs.csv:3: job "one" on cpu1: R steps/s, N reports in T s
gv-profile: warning: jobs.csv:4: job "silent" on cpu1: too short to measure: the time of its start is counted in
gv-profile: jobs.csv:4: job "silent" on cpu1: R steps/s, N reports in T s
gv-profile: jobs.csv:5: job "deaf" on cpu1: R steps/s, standard error E %, N reports in T s
EOT
same_file got want "short jobs: warnings and -v"
nothing_left "nothing of the daemon is left"
printf 'job_id,command\nslow,stepper -r 40\n' >jobs.csv
run gv-profile jobs --window=60s --timeout=0.6s -c cluster.csv jobs.csv
rate_is slow cpu1 40 "time is out"
if grep -qE '^gv-profile: warning: jobs.csv:2: job "slow" on cpu1: only [0-9]+ reports before time was out$' err; then
	pass "time is out: a warning"
else
	fail "time is out: a warning" err
fi

# speed that varies: as long as four windows, and a warning
cat >jobs.csv <<'EOT'
job_id,command
wild,stepper -r 300 -j 0.95
EOT
run gv-profile jobs --warmup=0s --window=0.15s -c cluster.csv jobs.csv
if grep -qE '^gv-profile: warning: jobs.csv:2: job "wild" on cpu1: its speed varies: standard error [0-9]+ %$' err; then
	pass "an unsteady job is warned of"
else
	fail "an unsteady job is warned of" err
fi
run gv-profile jobs -q --warmup=0s --window=0.15s -c cluster.csv jobs.csv
silent "-q: no warning"

# ---- where it runs, and what it sees ----
mkdir place
cat >jobs.csv <<EOT
job_id,job_type,total_steps,working_directory,command
a b,t,500,$scratch/place,stepper -c env -r 200
EOT
TORCHELASTIC_USE_AGENT_STORE=True SECRET=1 run gv-profile jobs --clean-env --warmup=0s --window=0.1s -c cluster.csv jobs.csv
grep -E '^(GV_|CUDA|OMP|RANK|WORLD|PATH|SECRET)' place/env | sed 's|gv-profile\.[A-Za-z0-9]*|DIR|' | sort >got
cat >want <<EOT
CUDA_VISIBLE_DEVICES=
GV_CHECKPOINT_DIR=$TMPDIR/DIR/run.1/checkpoint
GV_DATA=$GV_DATA
GV_GPUS=0
GV_GPU_TYPE=cpu1
GV_JOB_ID=a b
GV_PROGRESS=$TMPDIR/DIR/run.1/progress
GV_THREADS=1
GV_TOTAL_STEPS=500
OMP_NUM_THREADS=1
PATH=$PATH
RANK=0
WORLD_SIZE=1
EOT
same_file got want "a worker's environment, its working directory"
mkdir mine
echo 400 >mine/state
cat >jobs.csv <<EOT
job_id,total_steps,command
a,500,stepper -r 200; : >after
EOT
GV_CHECKPOINT_DIR=$scratch/mine GV_PROGRESS=$scratch/mine/progress run gv-profile jobs --warmup=0s --window=0.1s -c cluster.csv jobs.csv
rate_is a cpu1 200 "the job begins at its beginning"
if [ "$(ls mine)" = state ] && [ "$(cat mine/state)" = 400 ]; then
	pass "its own checkpoint stays as it is"
else
	fail "its own checkpoint stays as it is" mine/state
fi
cd place || exit 2
TMPDIR=. run gv-profile jobs --warmup=0s --window=0.1s -c ../cluster.csv ../jobs.csv
calm
silent "a relative TMPDIR"
rm -f after env out err && rmdir ../place 2>/dev/null
cd "$scratch" || exit 2
ok "is clean again" [ ! -e place ]

# ---- several at once ----
printf 'gpu_type,gpus,threads\ncpu1,2,1\ncpu2,1,2\n' >three.csv
cat >jobs.csv <<EOT
job_id,scale_factor,command
a,1,"touch up.\$GV_GPU_TYPE.\$GV_GPUS; until [ \$(ls up.* | wc -l) = 3 ]; do sleep .02; done; exec stepper -r 100"
b,1,"exec stepper -r 100"
two,2,exec stepper -r 50
EOT
touch up.cpu2.1
run gv-profile jobs --parallel=3 --warmup=0s --window=0.3s --timeout=10s -c three.csv -s mine/files jobs.csv
calm
silent "--parallel: two wait for each other"
rate_is two cpu1 50 "a gang beside them"
rate_is a cpu1 100 "those that waited"
ls -A mine/files >left
same_file /dev/null left "-s: what is put there goes again"
rm -rf up.* mine three.csv
cat >jobs.csv <<'EOT'
job_id,command
a,"mkdir alone || exit 9; trap 'rmdir alone; exit 143' TERM; n=0; while :; do n=$((n + 1)); echo step $n >>$GV_PROGRESS; sleep .05; done"
b,"mkdir alone || exit 9; trap 'rmdir alone; exit 143' TERM; n=0; while :; do n=$((n + 1)); echo step $n >>$GV_PROGRESS; sleep .05; done"
EOT
run gv-profile jobs -q --warmup=0s --window=0.3s -c cluster.csv jobs.csv
is_status 0 "one after another, if nothing else is said"
if have script; then
	printf 'job_id,command\na,stepper -r 100\nb,stepper -r 100\n' >jobs.csv
	script -qec "gv-profile jobs --warmup=0s --window=0.9s -o rates -c cluster.csv jobs.csv" /dev/null </dev/null |
		tr '\r' '\n' >out
	if grep -q '1/2 a on cpu1 \.\.\., about [1-9]s left' out && grep -q '2/2 b on cpu1 \.\.\., about [0-9]s left' out; then
		pass "a line of progress with the time left"
	else
		fail "a line of progress with the time left" out
	fi
	rm -f rates
else
	skip "a terminal: no script(1)"
fi

# ---- signals ----
cat >jobs.csv <<EOT
job_id,command
a,stepper -i -d -w $scratch
EOT
reports() { grep -qs step "$TMPDIR"/*/run.*/progress; }
for name in HUP INT TERM; do
	case $name in HUP) want=129 ;; INT) want=130 ;; TERM) want=143 ;; esac
	echo old >target
	status=0 ran="gv-profile jobs, SIG$name"
	env --default-signal=INT gv-profile jobs -o target --window=60s --grace=0.2s -c cluster.csv jobs.csv >out 2>err &
	pid=$!
	true_within 60 reports
	kill -s $name $pid
	wait $pid || status=$?
	is_status "$want" "SIG$name: status"
	nothing_left "SIG$name: nothing is left"
	if [ "$(cat target)" = old ] && [ -z "$(ls target.* 2>/dev/null)" ] && [ ! -s err ]; then
		pass "SIG$name: the old file stays"
	else
		fail "SIG$name: the old file stays" err
	fi
done
gv-profile jobs --window=60s --grace=0.2s -c cluster.csv jobs.csv >out 2>err &
pid=$!
true_within 60 reports
kill -9 $pid
wait $pid 2>/dev/null
nobody_works() { ! grep -qsF "GV_CHECKPOINT_DIR=$TMPDIR/" /proc/[0-9]*/environ; }
true_within 30 nobody_works
rm -rf "$TMPDIR"/gv-profile.*
nothing_left "SIGKILL: the job is gone"

# ---- nodes ----
printf 'job_id,job_type,scale_factor,command\na,t,2,stepper -r 200\n' >jobs.csv
printf 'gpu_type,gpus,node,threads\ncpu1,2,n1,1\ncpu1,4,n2,1\n' >nodes.csv
run gv-profile jobs -c nodes.csv jobs.csv
is_status 1 "GPUs of other nodes"
is_err "GPUs of other nodes: message" <<'EOT'
gv-profile: cannot measure job "a" here: it needs 2 of type cpu1, this machine has 0; give its rate with -t
EOT
ok "GPUs of other nodes: no table" [ ! -s out ]
run gv-profile jobs --node=n1 --warmup=0s --window=0.1s -c nodes.csv jobs.csv
rate_is a cpu1 200 "--node"
printf 'gpu_type,gpus,node,threads\ncpu1,2,%s,1\n' "$(uname -n)" >nodes.csv
run gv-profile jobs --warmup=0s --window=0.1s -c nodes.csv jobs.csv
rate_is a cpu1 200 "this host's name"
printf 'gpu_type,gpus,node,threads\ncpu1,1,localhost,1\ncpu1,1,n1,1\n' >nodes.csv
run gv-profile jobs -c nodes.csv jobs.csv
is_err "a gang of more GPUs than one node has" <<'EOT'
gv-profile: cannot measure job "a" here: it needs 2 of type cpu1, this machine has 1; give its rate with -t
EOT
# GPUs of this machine that a row says are its node's, and those of a row that says nothing
printf 'gpu_type,gpus,node\nbig,1,n1\nsmall,2,\n' >nodes.csv
printf 'job_id,command\na,"echo $GV_GPU_TYPE $GV_GPUS >>%s/seen; exec stepper -r 200"\n' "$PWD" >jobs.csv
run gv-profile jobs --node=n1 --warmup=0s --window=0.1s -c nodes.csv jobs.csv
ok "are counted together" [ "$(sort -u seen | tr '\n' ' ')" = 'big 0 small 1 ' ]

# ---- bad input ----
bad() {
	name=$1 want=$2
	shift 2
	run gv-profile jobs "$@"
	[ "$status" -eq 2 ] || fail "$name: status $status" err
	echo "gv-profile: $want" >want
	head -n 1 err >first
	same_file first want "$name"
}
bad "no cluster" "no cluster given: use -c" jobs.csv
bad "stdin twice" "standard input can be read only once" -c - -
bad "two operands" "too many operands" -c cluster.csv a b
bad "no number at once" '--parallel: expected a whole number from 1 to 1000000, got "0"' --parallel=0 -c cluster.csv
bad "a bad duration" '--warmup: expected a duration such as 90s, 15m or 2h, got "x"' --warmup=x -c cluster.csv
bad "a bad window" '--window: expected a duration such as 90s, 15m or 2h, got "-1s"' --window=-1s -c cluster.csv
bad "a bad timeout" '--timeout: expected a duration such as 90s, 15m or 2h, got ""' --timeout= -c cluster.csv
bad "a bad grace" '--grace: expected a duration such as 90s, 15m or 2h, got "1w"' --grace=1w -c cluster.csv
run gv-profile jobs jobs.csv
is_err "usage" <<EOT
gv-profile: no cluster given: use -c
$usage
EOT
printf 'job_id,job_type\na,t\n' >x.csv
bad "no command column" 'x.csv:1: missing column "command" (found: job_id, job_type)' -c cluster.csv x.csv
printf 'job_id,command\na,true\nb,\n' >x.csv
bad "no command" 'x.csv:3: command: expected a command to run, got ""' -c cluster.csv x.csv
nothing_left "nothing was run"
printf 'job_id,command\na,true\na,true\n' >x.csv
bad "a job twice" 'x.csv:3: job_id: repeated job_id "a", first at line 2' -c cluster.csv x.csv
printf 'job_type,scale_factor,gpu_type,steps_per_s\nt,1,cpu1,-1\n' >k.csv
bad "a bad known rate" 'k.csv:2: steps_per_s: expected a number >= 0, got "-1"' -c cluster.csv -t k.csv jobs.csv
bad "no cluster file" 'none.csv: cannot open: No such file or directory' -c none.csv jobs.csv
TMPDIR=$scratch/none bad "no TMPDIR" "$scratch/none: cannot make a directory there: No such file or directory" -c cluster.csv jobs.csv
bad "no output" "none/x: cannot create: No such file or directory" -o none/x -c cluster.csv jobs.csv
nothing_left "found out before anything was run"

# ---- the launcher's own failures: some n-th call is the one ----
printf 'job_id,command\na,stepper\n' >jobs.csv
# says CALL ERRNO MESSAGE
says() {
	n=1
	while [ $n -le 20 ]; do
		GV_FAIL=$1:$n:$2 LD_PRELOAD=$build/preload/faults.so \
			run gv-profile jobs --warmup=0s --window=0.05s -c cluster.csv jobs.csv
		echo "gv-profile: $3" | cmp -s - err && break
		n=$((n + 1))
	done
	if [ $n -le 20 ] && [ "$status" -eq 2 ] && [ ! -s out ]; then pass "$3"; else fail "$3" err; fi
}
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: its runtime must come first"
else
	says fork EAGAIN "cannot start a process: Resource temporarily unavailable"
	says fork ENOMEM "cannot start worker 0: Cannot allocate memory"
	says pipe EMFILE "cannot make a pipe: Too many open files"
	says dup2 EMFILE "cannot set up the keeper process: Too many open files"
	says read EIO "cannot hear of the keeper process: Input/output error"
	says write EIO "the keeper process has died"
	says waitpid EIO "cannot wait for a process: Input/output error"
	nothing_left "the launcher's own failures leave nothing"
fi

# ---- a Python script that reports through gv_progress.py ----
if [ -z "$GV_PYTHON" ]; then
	skip "no python3"
else
	PYTHONDONTWRITEBYTECODE=1
	export PYTHONDONTWRITEBYTECODE
	cat >loop.py <<'EOT'
import os, sys, time
sys.path.insert(0, os.environ["GV_DATA"])
import gv_progress as gv

start, n = time.monotonic(), 0
while True:
    n += 1
    time.sleep(max(0, start + n / 100 - time.monotonic()))
    gv.step(n)
    if gv.stopped():
        with open(os.path.join(gv.checkpoint_dir(), "state"), "w") as f:
            f.write(str(n))
        gv.checkpoint(n)
        with open("saved", "w") as f:
            f.write(open(os.environ["GV_PROGRESS"]).read())
        sys.exit(gv.PREEMPTED)
EOT
	printf 'job_id,command\na,%s loop.py\n' "$GV_PYTHON" >jobs.csv
	run gv-profile jobs --warmup=0s --window=0.5s -c cluster.csv jobs.csv
	rate_is a cpu1 100 "gv_progress.py: rate"
	if tail -n 1 saved | grep -qE '^checkpoint [0-9]+$' && head -n 1 saved | grep -qx 'step 1'; then
		pass "gv_progress.py: reports, and saves itself when it is told to stop"
	else
		fail "gv_progress.py: reports, and saves itself when it is told to stop" saved
	fi
	cat >plain.py <<'EOT'
import os, signal, sys
sys.path.insert(0, os.environ["GV_DATA"])
import gv_progress as gv

gv.step(1)
gv.checkpoint(1)
assert not gv.stopped() and gv.checkpoint_dir("here") == "here"
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
EOT
	run "$GV_PYTHON" plain.py
	silent "gv_progress.py: does nothing without gv"
	run env RANK=1 GV_PROGRESS="$scratch/p" "$GV_PYTHON" -c '
import os, sys
sys.path.insert(0, os.environ["GV_DATA"])
import gv_progress
gv_progress.step(1)'
	silent "gv_progress.py: rank 1"
	ok "gv_progress.py: only rank 0 reports" [ ! -e p ]
fi

# ---- how much GPUs are used, told by a fake NVML ----
mkdir lib && cp "$build/preload/nvml.so" lib/libnvidia-ml.so.1
cat >gpus <<'EOT'
GPU-0|NVIDIA H100 80GB HBM3|00000000:87:00.0|1000000|400000|ok|80|30|1980|0
GPU-1|NVIDIA H100 80GB HBM3|00000000:90:00.0|1000000|900000|ok|40|10|1200|4
GPU-2|NVIDIA H100 80GB HBM3|00000000:91:00.0|1000000|900000|dark
EOT
printf 'gpu_type,gpus,threads,ids\nh100,2,1,0;1\nold,1,1,2\n' >gpus.csv
printf 'job_id,scale_factor,command\none,1,stepper -r 100\nboth,2,stepper -r 100\n' >jobs.csv
run env LD_LIBRARY_PATH="$scratch/lib" GV_FAKE_NVML="$scratch/gpus" gv-profile jobs --usage --warmup=0.1s --window=0.4s -c gpus.csv jobs.csv
is_status 0 "--usage"
ok "--usage: columns" [ "$(sed -n 1p out)" = job_id,scale_factor,command,gpu_type,steps_per_s,gpu_utilization,gpu_memory_bytes ]
ok "one GPU: its use, and what is in use of its memory" grep -qE '^one,1,stepper -r 100,h100,[0-9.]+,0\.8,600000$' out
ok "two: the mean, and the most" grep -qE '^both,2,stepper -r 100,h100,[0-9.]+,0\.6,600000$' out
ok "one that tells nothing" grep -qE '^one,1,stepper -r 100,old,[0-9.]+,,$' out
ok "more than there are: not measured" grep -q '^both,2,stepper -r 100,old,0,,$' out
err_has ": the clocks of its GPUs were lowered, for power or heat" "a clock that was lowered"
run gv-profile jobs --usage --warmup=0.1s --window=0.4s -c gpus.csv jobs.csv
ok "no NVML: empty" grep -qE '^one,1,stepper -r 100,h100,[0-9.]+,,$' out
done_testing
