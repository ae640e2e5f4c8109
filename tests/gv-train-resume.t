#!/bin/sh
# gv-train: interrupted runs, damaged checkpoints, gangs.  Whatever happens on
# the way, the checkpoint and the record at the end are those of one run alone.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

python=${GV_PYTHON:-python3}
printf 'id\top\tout\tact\n1\tlinear\t16\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >mlp.tsv
cat >bn.csv <<'EOF'
id,op,out,k,p,act
1,conv,4,3,1,
2,bn,,,,relu
3,maxpool,,4,,
4,linear,,,,
5,xent,,,,
EOF
seed=${GV_SEED:-1}
# a random number from 0 to 999, the same in every run of the test
draw() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	echo $((seed / 65536 % 1000))
}

# ---- killed at any time ----
# again SIGNAL SECONDS DIR ARGS...: a run that gets the signal if it lasts so long
again() {
	signal=$1 after=$2 dir=$3
	shift 3
	status=0
	ran="gv-train $* (SIG$signal after $after s)"
	# in the foreground it is waited for: else a KILL takes timeout, too, and the next run may find the lock still held
	timeout --foreground --preserve-status -s "$signal" "$after" gv-train --checkpoint="$dir" "$@" >out 2>err || status=$?
}
# same DIR DIR NAME: both left the same
same() {
	same_file "$1/gv-train.ckpt" "$2/gv-train.ckpt" "$3: checkpoint"
	same_file "$1/losses.csv" "$2/losses.csv" "$3: record"
}
# interrupted NAME ARGS...: runs with TERM and KILL by turns, later and later
interrupted() {
	name=$1
	shift
	rm -rf whole parts
	run gv-train --checkpoint=whole "$@"
	silent "$name: uninterrupted"
	turn=0 stops=0
	while [ $turn -lt 60 ]; do
		turn=$((turn + 1))
		case $((turn % 3)) in 0) signal=KILL want=137 ;; *) signal=TERM want=143 ;; esac
		again $signal "$(awk -v t=$turn -v r="$(draw)" 'BEGIN { print 0.02 + (0.02 + t / 100) * r / 1000 }')" parts "$@"
		[ $status -eq 0 ] && break
		stops=$((stops + 1))
		# a signal that comes before there is anything to save kills at once
		if [ $status -ne $want ] || grep -v '^Killed$' err; then
			fail "$name: stop $stops: status $status" err
			return
		fi
	done
	[ $status -eq 0 ] || again KILL 60 parts "$@"
	silent "$name: done after $stops stops"
	same whole parts "$name"
	ok "$name: nothing left behind" test "$(echo parts/*)" = \
		"parts/gv-train.ckpt parts/gv-train.ckpt.old parts/losses.csv"
}
n=400 m=100
[ -z "${GV_LONG:-}" ] || n=6000 m=1500
saving="--checkpoint-steps=20 --log-every=7"
interrupted "sgd" --data=digits:300 --test=digits:50 --test-every=50 --steps=$n $saving --batch=16 --lr=0.1 mlp.tsv
interrupted "momentum, weight decay, rate steps" --data=digits:300 --steps=$n $saving --batch=16 --lr=0.1 \
	--momentum=0.9 --weight-decay=0.001 --lr-step=150 mlp.tsv
interrupted "adam" --data=digits:300 --steps=$n $saving --batch=16 --optimizer=adam mlp.tsv
interrupted "cnn with bn, adamw, two threads" --data=digits:300 --test=digits:50 --steps=$m --checkpoint-steps=10 \
	--log-every=3 --batch=16 --optimizer=adamw --weight-decay=0.01 --threads=2 bn.csv
printf 'lr,seed,steps,momentum\n0.1,1,%d,0\n0.01,2,%d,0.9\n0.02,3,%d,0.5\n' $n $((n / 2)) $n >array.csv
cat >res.csv <<'END'
id,op,from,out,k,s,p,act
1,conv,0,4,3,2,1,relu
2,conv,1,4,3,,1,
3,bn,2,,,,,
4,add,3;1,,,,,relu
5,maxpool,4,,4,,,
6,linear,5,,,,,
7,xent,6,,,,,
END
interrupted "residual" --data=digits:300 --steps=$m --checkpoint-steps=10 --log-every=3 --batch=16 --momentum=0.9 \
	--threads=2 res.csv
cat >drop.csv <<'END'
id,op,from,out,k,s,p,act,rate,dir
1,dropout,0,,,,,,0.2,
2,conv,1,6,3,2,1,gelu,,
3,dropout,2,,,,,,0.3,
4,conv,1,5,3,2,1,leaky,,
5,concat,3;4,,,,,tanh,,
6,maxpool,5,,2,,,,,
7,linear,6,24,,,,relu,,
8,lstm,7,8,,,,,,both
9,dropout,8,,,,,,0.5,
10,linear,9,,,,,,,
11,xent,10,,,,,,,
END
interrupted "dropout, two micro-batches and threads" --data=digits:300 --steps=$m --checkpoint-steps=10 --log-every=3 \
	--batch=16 --micro-batches=2 --optimizer=adam --threads=2 drop.csv
interrupted "an array of three" --data=digits:300 --test=digits:50 $saving --batch=16 --array=array.csv mlp.tsv

# ---- signals ----
# started: waits until the run in the background has made a step
started() { true_within 60 grep -qs "^${1:-step}" progress; }
status_of() {
	status=0
	wait "$1" 2>/dev/null || status=$?
}
long="--data=digits:300 --steps=100000000 --batch=16 mlp.tsv"
GV_PROGRESS=$PWD/progress
GV_CHECKPOINT_DIR=$PWD/sig
export GV_PROGRESS GV_CHECKPOINT_DIR
ran="gv-train $long"
gv-train $long >out 2>err &
pid=$!
started
run gv-train $long
is_status 75 "the directory is in use: status"
is_err "the directory is in use" <<EOF
gv-train: $PWD/sig: another gv-train is at work there
EOF
kill -USR1 $pid
started checkpoint
ok "SIGUSR1: a checkpoint is reported" grep -q '^checkpoint [0-9]*$' progress
ok "and is there" test -s sig/gv-train.ckpt
ok "and the run goes on" kill -0 $pid
kill -TERM $pid
status_of $pid
is_status 143 "SIGTERM: status"
saved=$(tail -n 1 progress)
ok "SIGTERM: the last report is of the checkpoint: $saved" test "${saved%% *}" = checkpoint
ok "the checkpoint is of that step" grep -qa "^state steps=${saved#* } " sig/gv-train.ckpt
rm progress
gv-train $long >out 2>err &
pid=$!
started
kill -INT $pid 2>/dev/null
kill -TERM $pid
status_of $pid
ok "goes on from there: $(head -n 1 progress)" test "$(sed -n '1s/step //p' progress)" -gt "${saved#* }"
unset GV_CHECKPOINT_DIR
rm progress
gv-train $long >out 2>err &
pid=$!
started
kill -TERM $pid
status_of $pid
is_status 143 "without a directory: status"
ok "without a directory: says that nothing is saved" grep -q \
	'^gv-train: stopped after step [0-9]* of 100000000; nothing is saved without --checkpoint$' err
unset GV_PROGRESS
GV_PROGRESS=$PWD/no/such/file
export GV_PROGRESS
run gv-train --data=digits:100 --steps=3 mlp.tsv
is_status 0 "a report that cannot be written stops nobody"
is_err "and is told once" <<EOF
gv-train: $PWD/no/such/file: cannot open: No such file or directory
EOF
unset GV_PROGRESS

# ---- whose they are ----
# shellcheck disable=SC2012
mode() { ls -ld "$1" | cut -c 1-10; }
(umask 0 && run gv-train --data=digits:100 --steps=5 --checkpoint=new/dir --record=mine.csv mlp.tsv)
echo "$(mode new/dir) $(mode new/dir/gv-train.ckpt) $(mode new/dir/losses.csv 2>/dev/null) $(mode mine.csv)" >out
echo "drwx------ -rw-------  -rw-rw-rw-" >want
same_file want out "what gv-train makes is its owner's alone, what is asked for by name is not"
(umask 0 && run gv-train --data=digits:100 --steps=5 --checkpoint=new/dir2 mlp.tsv)
ok "the record of a checkpoint's directory: $(mode new/dir2/losses.csv)" test "$(mode new/dir2/losses.csv)" = -rw-------
(umask 0 && run gv-train --data=digits:100 --steps=1 --checkpoint=far/off/dir// mlp.tsv)
ok "however its name ends: $(mode far/off/dir)" test "$(mode far/off/dir) $(mode far/off)" = "drwx------ drwxrwxrwx"
run gv-train --data=digits:100 --steps=1 --checkpoint=mlp.tsv/dir/deep mlp.tsv
is_status 2 "below a file there is no directory"
is_err "and it says so" <<'EOT'
gv-train: mlp.tsv: cannot make the directory: File exists
EOT
mkdir -p locked.d/.gv-train.lock
run gv-train --data=digits:100 --steps=1 --checkpoint=locked.d mlp.tsv
is_status 2 "a lock that cannot be opened"
is_err "is told" <<'EOT'
gv-train: locked.d/.gv-train.lock: cannot open: Is a directory
EOT
mkdir held
if have flock; then
	flock held sleep 20 &
	holder=$!
	sleep 0.1
	run gv-train --data=digits:100 --steps=5 --checkpoint=held mlp.tsv
	is_status 0 "somebody else's lock on the directory stops nobody"
	kill $holder
	wait $holder 2>/dev/null || :
else
	skip "no flock"
fi
"$build/helpers/locker" flock held/.gv-train.lock >locked &
holder=$!
until grep -q locked locked; do sleep 0.02; done
run gv-train --data=digits:100 --steps=5 --checkpoint=held mlp.tsv
is_status 0 "nor one on the file of the lock"
kill $holder
wait $holder 2>/dev/null || :
mkdir strange
ln -s ../mlp.tsv strange/.gv-train.lock
run gv-train --data=digits:100 --steps=5 --checkpoint=strange mlp.tsv
is_status 0 "a lock that is a link elsewhere is not opened"
is_err "and is warned of" <<'EOT'
gv-train: warning: strange/.gv-train.lock: not this user's: nothing keeps a second gv-train from this directory
EOT

# ---- all steps done ----
run gv-train --data=digits:100 --steps=20 --checkpoint=done mlp.tsv
cp done/gv-train.ckpt done/losses.csv .
ls -i done/gv-train.ckpt >inode
run gv-train --data=digits:100 --steps=20 --checkpoint=done mlp.tsv
silent "all steps done before"
is_out "no more rows" <<'EOF'
step,model,loss,test_loss,accuracy
EOF
same_file gv-train.ckpt done/gv-train.ckpt "the checkpoint stays"
ls -i done/gv-train.ckpt >out
same_file inode out "and is not written again"
same_file losses.csv done/losses.csv "the record stays"

# ---- checkpoints of other runs ----
gv-train --data=digits:100 --steps=5 --log-every=1 --lr=0.1 --checkpoint=c mlp.tsv >/dev/null
# refused TEXT ARGS...
refused() {
	text=$1
	shift
	cp c/gv-train.ckpt before
	run gv-train --steps=9 --checkpoint=c "$@"
	echo "gv-train: c/gv-train.ckpt: of another run: $text" >want
	if [ $status -eq 2 ] && [ ! -s out ] && cmp -s want err && cmp -s before c/gv-train.ckpt; then
		pass "refused: $text"
	else
		fail "refused: $text" want err
	fi
}
base="--data=digits:100 --lr=0.1"
printf 'id\top\tout\tact\n1\tlinear\t17\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >wide.tsv
printf 'id\top\tout\tact\n1\tlinear\t16\t\n2\tlinear\t\t\n3\txent\t\t\n' >bare.tsv
printf 'seed\n1\n2\n' >pair.csv
refused 'it has "row 1 linear from=0 out=16 bias relu", this run "row 1 linear from=0 out=17 bias relu"' $base wide.tsv
refused 'it has "row 1 linear from=0 out=16 bias relu", this run "row 1 linear from=0 out=16 bias"' $base bare.tsv
refused 'it has "optimizer sgd", this run "optimizer adam"' $base --optimizer=adam mlp.tsv
refused 'it has "batch 64", this run "batch 32"' $base --batch=32 mlp.tsv
refused 'it has "shards 4", this run "shards 2"' $base --shards=2 mlp.tsv
refused 'it has "samples 100", this run "samples 101"' --data=digits:101 --lr=0.1 mlp.tsv
refused 'it has "scale standard", this run "scale none"' $base --scale=none mlp.tsv
refused 'model 0 was "seed=1 lr=0.1 momentum=0 weight_decay=0", is now "seed=1 order_seed=2 lr=0.1 momentum=0 weight_decay=0"' \
	$base --order-seed=2 mlp.tsv
refused 'it holds 1 models, this run trains 2' $base --array=pair.csv mlp.tsv
refused 'model 0 was "seed=1 lr=0.1 momentum=0 weight_decay=0", is now "seed=2 lr=0.1 momentum=0 weight_decay=0"' \
	$base --seed=2 mlp.tsv
run gv-train --data=digits:100:7 --lr=0.1 --steps=9 --checkpoint=c mlp.tsv
err_has 'c/gv-train.ckpt: of another run: it has "data_crc ' "refused: other data of the same size"
run gv-train $base --threads=2 --steps=9 --log-every=2 --checkpoint=c mlp.tsv
silent "threads, steps and rows may differ"

# ---- damaged checkpoints ----
# good: two checkpoints, of steps 5 and 10
good() {
	rm -rf d
	gv-train $base --steps=10 --checkpoint-steps=5 --log-every=1 --checkpoint=d mlp.tsv >/dev/null
}
good
size=$(wc -c <d/gv-train.ckpt)
gv-train $base --steps=20 --log-every=1 --checkpoint=e mlp.tsv >/dev/null
# damage NAME MESSAGE SED-like COMMAND: it warns, takes the one before, and the end is the same
damage() {
	run gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv
	is_status 0 "$1: status"
	is_err "$1: goes on from the one before" <<EOF
gv-train: d/gv-train.ckpt: not a whole checkpoint: $2
gv-train: warning: going on from d/gv-train.ckpt.old
EOF
	same d e "$1"
}
good
head -c $((size - 100)) d/gv-train.ckpt >piece && cp piece d/gv-train.ckpt
damage "cut short" "its checksum is wrong"
good
: >d/gv-train.ckpt
damage "empty" 'it does not start with "gvckpt 1"'
good
printf 'gvckpt 1\n' >d/gv-train.ckpt
damage "all but empty" 'it ends too early'
good
printf 'X' | dd of=d/gv-train.ckpt bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
damage "one byte" "its checksum is wrong"
good
printf 'X' | dd of=d/gv-train.ckpt bs=1 seek=20 conv=notrunc 2>/dev/null
damage "a byte of the header" "its checksum is wrong"
good
: >d/gv-train.ckpt
: >d/gv-train.ckpt.old
run gv-train $base --steps=20 --checkpoint=d mlp.tsv
is_status 2 "both damaged: status"
is_err "both damaged" <<'EOF'
gv-train: d/gv-train.ckpt: not a whole checkpoint: it does not start with "gvckpt 1"
EOF
good
gzip -c d/gv-train.ckpt >packed && cp packed d/gv-train.ckpt
run gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv
silent "a checkpoint that was gzip'ed"
same d e "a checkpoint that was gzip'ed"
# a save that fails does not take the last good checkpoint with it
lib=$build/preload/faults.so
if [ -n "${GV_SAN:-}" ] || [ ! -f "$lib" ]; then
	skip "sanitizer: its runtime must come first"
else
	for call in mkstemp:1:EACCES fsync:2:ENOSPC rename:1:EIO; do
		good
		printf 'X' | dd of=d/gv-train.ckpt bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
		cp d/gv-train.ckpt.old was
		ran="GV_FAIL=$call LD_PRELOAD=$lib gv-train --checkpoint=d" status=0
		env GV_FAIL="$call" LD_PRELOAD="$lib" gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv \
			>out 2>err || status=$?
		is_status 2 "damaged, and then $call: status"
		same_file was d/gv-train.ckpt.old "damaged, and then $call: the good one stays"
		damage "damaged, and then $call" "its checksum is wrong"
		good
		cp d/gv-train.ckpt was
		env GV_FAIL="$call" LD_PRELOAD="$lib" gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv \
			>out 2>err || :
		same_file was d/gv-train.ckpt "whole, and then $call: it stays"
	done
	# record, checkpoint, directory, record
	env GV_FAIL='' GV_COUNT="$PWD/calls" LD_PRELOAD="$lib" gv-train $base --steps=5 --checkpoint=y mlp.tsv >out
	ok "a checkpoint's directory is synced" grep -qx 'fsync 4' calls
	ran="GV_FAIL=fsync:3:EIO gv-train" status=0
	env GV_FAIL=fsync:3:EIO LD_PRELOAD="$lib" gv-train $base --steps=5 --checkpoint=z mlp.tsv >out 2>err || status=$?
	is_status 2 "a directory that cannot be synced: status"
	err_has 'z: cannot sync' "a directory that cannot be synced"
fi
run gv-train --split=x mlp.tsv
is_status 2 "--split of something else: status"
err_has 'mlp.tsv: not a whole checkpoint: it does not start with "gvckpt 1"' "--split of something else"
run timeout 20 gv-train --split=pieces /dev/zero
err_has '/dev/zero: not a whole checkpoint: it is no regular file' "--split of what has no end"
mkdir endless piped
ln -s /dev/full endless/gv-train.ckpt
mkfifo piped/gv-train.ckpt
for d in endless piped; do
	run timeout 20 gv-train --data=digits:20 --steps=1 --checkpoint=$d linear
	err_has "$d/gv-train.ckpt: not a whole checkpoint: it is no regular file" "nor is gone on from: $d"
done

# ---- the record ----
good
sed 5,10d d/losses.csv >short && cp short d/losses.csv
run gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv
is_status 0 "a record without its end: status"
good
head -n 3 d/losses.csv >short && cp short d/losses.csv
run gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv
is_err "rows that are missing are told" <<'EOF'
gv-train: warning: d/losses.csv: rows before step 10 are missing
EOF
good
printf '11,0,0.5,,\n12,0,0.' >>d/losses.csv
run gv-train $base --steps=20 --log-every=1 --checkpoint=d mlp.tsv
silent "rows behind the checkpoint, the last one cut"
same d e "rows behind the checkpoint, the last one cut"

# ---- killed while it saves ----
if have "$python"; then
	cat >kill.py <<'EOF'
import os, random, signal, subprocess, sys, time
random.seed(1)
runs = int(sys.argv[1])
args = ["gv-train", "--data=digits:64", "--batch=8", "--steps=1000000", "--checkpoint-steps=1",
        "--checkpoint=k", "--log-every=1", "mlp-large"]
bad = []
last = 0
i = 0
while i < runs or (last == 0 and i < 60):  # on a slow machine later and later
    i += 1
    p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep((0.05 + 0.15 * random.random()) * (1.1 ** i if last == 0 else 1))
    p.kill()
    err = p.communicate()[1].decode()
    if p.returncode != -signal.SIGKILL or err:
        bad.append((i, p.returncode, err))
    if os.path.exists("k/gv-train.ckpt"):
        r = subprocess.run(["gv-train", "--split=ks", "k/gv-train.ckpt"], capture_output=True, text=True)
        state = [l for l in open("k/gv-train.ckpt", "rb").read(2000).split(b"\n") if l.startswith(b"state")]
        step = int(state[0].split()[1].split(b"=")[1])
        if r.returncode != 0 or step < last:
            bad.append((i, r.returncode, r.stderr, step, last))
        last = step
print("kills:", runs, "steps:", last, "bad:", bad)
sys.exit(len(bad) > 0 or last == 0)
EOF
	kills=6
	[ -z "${GV_LONG:-}" ] || kills=100
	run "$python" kill.py $kills
	is_status 0 "SIGKILL while saving: old or new, never mixed"
else
	skip "no python3"
fi

# ---- every call that saving makes fails once ----
# Then the run says so and ends, or gets along; and started again it comes to the same end.
lib=$build/preload/faults.so
# spread N MOST: at most MOST of the numbers 1..N, from the first to the last
spread() {
	awk -v n="$1" -v most="$2" 'BEGIN {
		for (i = 1; i <= n && i <= most; i++) print n <= most ? i : 1 + int((n - 1) * (i - 1) / (most - 1)) }'
}
if [ -n "${GV_SAN:-}" ] || [ ! -f "$lib" ]; then
	skip "sanitizer: its runtime must come first"
else
	args="--data=digits:100 --steps=20 --checkpoint-steps=5 --log-every=3 --batch=16 mlp.tsv"
	gv-train --checkpoint=fine $args >/dev/null
	env GV_FAIL='' GV_COUNT="$PWD/calls" LD_PRELOAD="$lib" gv-train --checkpoint=counted $args >/dev/null
	points=0 bad=0
	while read -r call made <&8; do
		case $call in alloc | pthread_create) continue ;; esac
		most=3
		[ -z "${GV_LONG:-}" ] || most=$made
		for n in $(spread "$made" $most); do
			rm -rf q
			ran="GV_FAIL=$call:$n:EIO LD_PRELOAD=$lib gv-train --checkpoint=q $args" status=0
			env GV_FAIL="$call:$n:EIO" LD_PRELOAD="$lib" gv-train --checkpoint=q $args >out 2>err || status=$?
			points=$((points + 1)) first=$status
			[ "$first" -eq 0 ] || { [ "$first" -eq 2 ] && grep -q '^gv-train: ' err; } || first=bad
			gv-train --checkpoint=q $args >out 2>>err || first=bad
			if [ "$first" != bad ] && cmp -s q/gv-train.ckpt fine/gv-train.ckpt && cmp -s q/losses.csv fine/losses.csv; then
				continue
			fi
			bad=$((bad + 1))
			echo "# $ran: status $status"
			sed 's/^/#   err: /' err
		done
	done 8<calls
	if [ $bad -eq 0 ] && [ $points -gt 20 ]; then pass "failing calls of saving ($points points)"; else
		fail "failing calls of saving: $bad of $points points"
	fi
fi

# ---- gangs ----
port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# member RANK WORLD ARGS... &: one worker, in the environment that a launcher makes
member() {
	RANK=$1 LOCAL_RANK=$1 WORLD_SIZE=$2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$p
	export RANK LOCAL_RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
	rank=$1
	shift 2
	exec gv-train --timeout=20s "$@" >"out.$rank" 2>"err.$rank"
}
# gang WORLD ARGS...: statuses in $statuses
gang() {
	world=$1 p=$(port) pids='' statuses='' ran="a gang: gv-train $*" r=0
	shift
	while [ $r -lt "$world" ]; do
		member $r "$world" "$@" &
		pids="$pids $!"
		r=$((r + 1))
	done
	for pid in $pids; do
		status_of "$pid"
		statuses="$statuses $status"
	done
}
if have "$python"; then
	for net in mlp.tsv bn.csv res.csv; do
		args="--data=digits:300 --test=digits:50 --test-every=8 --steps=20 --log-every=3 --batch=16 --lr=0.1 --momentum=0.9 --clip-norm=0.5 --clip-value=0.1 $net"
		rm -rf one g2 g4
		gv-train --checkpoint=one $args >/dev/null
		gang 2 --checkpoint=g2 $args
		ok "a gang of two: statuses$statuses: $net" test "$statuses" = " 0 0"
		same one g2 "a gang of two is as one: $net"
		ok "only rank 0 writes" test -s out.0 -a ! -s out.1
		gang 4 --checkpoint=g4 --threads=2 $args
		same one g4 "a gang of four with two threads each: $net"
	done
	args="--data=digits:300 --steps=20 --log-every=1 --batch=16 --lr=0.1 --micro-batches=2 mlp.tsv"
	rm -rf one g2
	gv-train --checkpoint=one $args >/dev/null
	gang 2 --checkpoint=g2 $args
	paste -d, one/losses.csv g2/losses.csv | awk -F, 'NR > 1 && ($3 - $8) ^ 2 > 1e-12 { exit 1 } END { exit NR != 21 }'
	ok "a gang of two with micro-batches: losses of one, but for last digits" test $? -eq 0
	args="--data=sentences:200 --context=16 --steps=20 --log-every=3 --batch=8 --optimizer=adamw gpt-tiny"
	rm -rf one g2
	gv-train --checkpoint=one $args >/dev/null
	gang 2 --checkpoint=g2 --threads=2 $args
	same one g2 "a gang of two is as one: a transformer"
	# over trees: one that adds in the order of the gang's own sums has its bits; packed
	# ones have the same in every run, and all but the last bits
	args="--data=digits:300 --steps=20 --log-every=3 --batch=16 --lr=0.1 --momentum=0.9 mlp.tsv"
	rm -rf one g4 g4b
	gv-train --checkpoint=one $args >plain
	{
		echo tree,root,weight,phase,src,dst
		printf '0,gpu0,1,%s\n' reduce,gpu3,gpu2 reduce,gpu2,gpu0 reduce,gpu1,gpu0 broadcast,gpu0,gpu2 broadcast,gpu0,gpu1 broadcast,gpu2,gpu3
	} >same.csv
	gang 4 --checkpoint=g4 --trees=same.csv $args
	ok "a gang of four over a tree: statuses$statuses" test "$statuses" = " 0 0 0 0"
	same one g4 "a gang of four over a tree like its own"
	gv-tree -o packed.csv "$src/examples/man/links.csv"
	rm -rf g4
	gang 4 --checkpoint=g4 --trees=packed.csv $args
	cp out.0 first
	gang 4 --checkpoint=g4b --trees=packed.csv $args
	same g4 g4b "over packed trees, twice"
	ok "its losses are those without" awk -F, 'NR == FNR { x[FNR] = $3; next } FNR > 1 && ($3 - x[FNR]) ^ 2 > 1e-8 * x[FNR] ^ 2 { exit 1 } END { exit FNR < 4 }' plain first
	gang 2 --trees=packed.csv $args
	echo "gv-train: packed.csv: trees over 4 GPUs; this gang has workers=2" >want
	same_file want err.0 "trees of another gang"
	gv-tree -c broadcast -o bad.csv "$src/examples/man/links.csv"
	gang 4 --trees=bad.csv $args
	echo "gv-train: bad.csv: these trees are of a collective that sums nothing up for all, broadcast; expected allreduce" >want
	same_file want err.0 "trees of another collective"
	# one worker is told to stop, and all do; then they go on
	args="--data=digits:300 --steps=20000 --log-every=4000 --batch=16 --lr=0.1 mlp.tsv"
	gv-train --checkpoint=long $args >/dev/null
	rm -f progress
	GV_PROGRESS=$PWD/progress
	export GV_PROGRESS
	p=$(port)
	member 0 2 --checkpoint=stop $args &
	zero=$!
	member 1 2 --checkpoint=stop $args &
	one=$!
	started
	kill -TERM $one
	status_of $zero
	is_status 143 "rank 1 is told to stop: rank 0"
	status_of $one
	is_status 143 "rank 1 is told to stop: rank 1"
	ok "reported: $(tail -n 1 progress)" grep -q '^checkpoint [1-9]' progress
	ok "in the middle" test "$(sed -n 's/checkpoint //p' progress | tail -n 1)" -lt 20000
	gang 2 --checkpoint=stop $args
	same long stop "a gang that was stopped and goes on"
	# a worker dies
	rm -f progress
	p=$(port)
	rm -rf stop
	member 0 2 --checkpoint=stop $args &
	zero=$!
	member 1 2 --checkpoint=stop $args &
	one=$!
	started
	kill -KILL $one
	status_of $zero
	is_status 2 "rank 1 is killed: rank 0"
	ok "rank 1 is killed: rank 0 says so: $(head -n 1 err.0)" grep -q "^gv-train: rank 1 of 127.0.0.1 is gone$" err.0
	ok "and where it is" grep -q "^gv-train: stopped after step [0-9]* of 20000$" err.0
	status_of $one
	gv-train --checkpoint=stop $args >/dev/null
	same long stop "what was done before is not lost"
	unset GV_PROGRESS
	gang 2 --data=digits:300 --steps=5 --shards=1 --batch=16 mlp.tsv
	ok "more workers than shards: $(head -n 1 err.0)" test "$statuses" = " 2 2"
	gang 3 --data=digits:300 --steps=5 mlp.tsv
	ok "a gang of three: statuses$statuses" test "$statuses" = " 2 2 2"
	echo "gv-train: 3 ranks: not a power of two up to 4 shards" >want
	same_file want err.0 "a gang of three"
	# a worker that waits for the others has nothing to save
	p=$(port)
	member 0 2 --data=digits:300 --steps=5 mlp.tsv &
	zero=$!
	sleep 0.3
	kill -TERM $zero
	status_of $zero
	is_status 143 "told to stop before the gang has met"
	# one worker was given another learning rate; both have the key of the gang
	p=$(port) GV_GANG_KEY=secret
	export GV_GANG_KEY
	member 0 2 --data=digits:300 --steps=5 mlp.tsv &
	zero=$!
	member 1 2 --data=digits:300 --steps=5 --lr=0.5 mlp.tsv &
	one=$!
	status_of $zero
	is_status 2 "workers that disagree: rank 0"
	status_of $one
	is_status 2 "workers that disagree: rank 1"
	echo "gv-train: rank 0 refused rank 1: it computes something else (model, data, options or checkpoint differ)" >want
	same_file want err.1 "workers that disagree: rank 1 says why"
	# one has another key: it is a stranger, and the gang meets without it
	p=$(port)
	member 0 2 --data=digits:300 --steps=5 mlp.tsv &
	zero=$!
	GV_GANG_KEY=guess
	member 1 2 --data=digits:300 --steps=5 mlp.tsv &
	one=$!
	status_of $one
	is_status 2 "a stranger"
	GV_GANG_KEY=secret
	member 1 2 --data=digits:300 --steps=5 mlp.tsv &
	one=$!
	status_of $zero
	is_status 0 "a stranger is sent away: rank 0"
	status_of $one
	is_status 0 "a stranger is sent away: rank 1"
	echo "gv-train: warning: 127.0.0.1 is sent away: its GV_GANG_KEY is another" >want
	same_file want err.0 "a stranger is named"
	unset GV_GANG_KEY
else
	skip "no python3"
fi
done_testing
