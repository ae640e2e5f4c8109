#!/bin/sh
# The program on a node of Slurm, gv-run --worker=MODE, by hand: what it is told on its standard
# input or by signals, what it writes into the launch's directory, and how it leaves.
# shellcheck disable=SC2034,SC2154
. "${0%/*}/lib.sh"

mkdir ck
# on NODE DIR CMD...: as Slurm would, for a launch whose directory is DIR
on() {
	node=$1 dir=$2
	shift 2
	${by:-} env SLURMD_NODENAME="$node" SLURM_JOB_ID=7 SLURM_PROCID=5 GV_LAUNCH_DIR="$PWD/$dir" "$@"
}
# works NODE DIR GPUS COMMAND: a worker whose standard input is the fifo DIR/tell.NODE
works() {
	mkdir -p "$2"
	mkfifo "$2/tell.$1"
	by="exec" on "$1" "$2" GV_WORKER_JOB=a GV_WORKER_COMMAND="$4" GV_WORKER_TYPE=v100 GV_WORKER_GPUS="$3" \
		GV_WORKER_ADDR=127.0.0.1 GV_WORKER_THREADS=1 GV_WORKER_CHECKPOINTS="$PWD/ck" GV_WORKER_GRACE="${grace:-20}" \
		GV_WORKER_ROUND=4 GV_WORKER_PROGRESS="$PWD/progress" GV_WORKER_LOG="$PWD/$2/log.$1" \
		gv-run --worker=work <"$2/tell.$1" >"$2/out.$1" 2>&1 &
	pid=$!
}
# left FILE...: how each has left, without the time
left() { for f; do sed 's/ [0-9.]* / /; s/ *$//' "$f/left.n1"; done; }
ended() { wait "$1"; status=$?; }
is() { if [ "$1" = "$2" ]; then pass "$3"; else fail "$3: $2, not $1" out err; fi; }

# ---- looks ----
mkdir looks
run on n1 looks CUDA_VISIBLE_DEVICES=2,5 gv-run --worker=probe="$PWD/looks"
is_status 0 "a probe"
is_out "says its node and the GPUs there" <<-X
	probe n1 2,5
X
ok "and that it sees the directory" test -f looks/probe.n1
run on n2 looks gv-run --worker=probe="$PWD/looks"
is "probe n2 " "$(cat out)" "without GPUs"
for mode in probe="$PWD/looks" sweep="1=$PWD/looks"; do
	run gv-run --worker="$mode"
	is_status 2 "on no node: ${mode%%=*}"
	is "" "$(cat out)" "says nothing"
done
for mode in "sweep=1" "sweep=" "sweep=1 =$PWD/looks"; do
	run on n1 looks gv-run --worker="$mode"
	is_status 2 "no mode of ours: $mode"
done
for mode in "" works probe; do
	run on n1 looks gv-run --worker="$mode"
	is_status 2 "no mode: \"$mode\""
	err_has 'worker is for gv itself' "says so"
done
run on n1 looks gv-run --worker=work
is_status 2 "work without a launch"
err_has 'worker is for gv itself' "says so"

# of_launch DIR COMMAND...: in the background, as a process of that launch; $pid
of_launch() {
	dir=$PWD/$1
	shift
	GV_LAUNCH_DIR=$dir "$@" &
	pid=$!
	true_within 60 grep -qsazxF "GV_LAUNCH_DIR=$dir" "/proc/$pid/environ" # it is that once it has begun
}

# ---- sweeps ----
mkdir swept other
echo '3 1.500000 own 0 ' >swept/left.n1
for d in swept swept/7 other; do
	of_launch "$d" sleep 100
	eval "p_${d#*/}=$pid"
done
run on n1 none gv-run --worker=sweep="20=$PWD/swept"
is_status 0 "a sweep, which waits for a keeper only"
is "left n1 3 1.500000 own 0 " "$(cat out)" "says how the node's workers left"
# who has ended is a process still, until this shell has waited for another one
tries=0
# shellcheck disable=SC2154
while kill -0 "$p_swept" 2>/dev/null && [ $((tries += 1)) -lt 100 ]; do sleep .05; done
kill -0 "$p_swept" 2>/dev/null
is "1 0 0" "$? $(kill -0 "$p_7" && echo 0) $(kill -0 "$p_other" && echo 0)" "ends what belongs to the launch, and nothing else"
run on n2 none gv-run --worker=sweep="20=$PWD/swept/"
is_status 0 "a sweep of all launches below"
is "" "$(cat out)" "nothing is known of another node"
kill -0 "$p_7" 2>/dev/null
is "1 0" "$? $(kill -0 "$p_other" && echo 0)" "ends them, and no others"
kill "$p_other"
cp "$(command -v sleep)" gv-keeper
of_launch swept ./gv-keeper 100
kept=$pid
(sleep .4 && kill "$kept") &
t0=$(cut -d . -f 1-2 /proc/uptime | tr -d . | cut -d ' ' -f 1)
run on n1 none gv-run --worker=sweep="20=$PWD/swept"
t=$(($(cut -d . -f 1-2 /proc/uptime | tr -d . | cut -d ' ' -f 1) - t0))
ended "$kept"
is 143 "$status" "a keeper may end by itself (after $t hundredths)"
of_launch swept ./gv-keeper 100
kept=$pid
run on n1 none gv-run --worker=sweep=".2=$PWD/swept"
ended "$kept"
is 137 "$status" "while its time is not over; then it is killed"

# ---- a launch on one node ----
works n1 own n1=3,4 'env >"$GV_LAUNCH_DIR/env.$LOCAL_RANK"; cd "$GV_LAUNCH_DIR" && echo $RANK >>ranks; until [ $(wc -l <ranks) = 2 ]; do sleep .02; done; exit 3'
exec 7>own/tell.n1
ended "$pid"
is_status 3 "a command's status is the worker's"
is "3 own 0" "$(left own)" "and it has left by itself"
ok "says that it began, and that it runs" test -f own/here.n1 -a -f own/up
ok "no port where there is one node" test ! -e own/port
is "0 1" "$(sort own/ranks | tr '\n' ' ' | sed 's/ $//')" "a worker for each GPU"
is "SLURM_JOB_ID=7" "$(grep "^SLURM_" own/env.0)" "of Slurm's variables the job's number"
is "" "$(grep '^GV_WORKER' own/env.0)" "and none of what it was handed"
is "GV_GPUS=3;4" "$(grep '^GV_GPUS' own/env.1)" "the GPUs of its node"
is "GV_ROUND=4" "$(grep '^GV_ROUND' own/env.1)" "the round"

# ---- a directory that is taken away, or for a moment only; looked at last ----
waits='trap "exit 143" TERM; echo $$ >"$GV_LAUNCH_DIR/ready"; while :; do sleep .05; done'
deaf='trap "" TERM; echo $$ >"$GV_LAUNCH_DIR/ready"; while :; do sleep .05; done'
for d in gone back; do
	works n1 $d n1=0 "$waits"
	eval "p_$d=$pid"
	sleep 60 >$d/tell.n1 &
	eval "holds_$d=$!"
done
for d in gone back; do true_within 60 test -s $d/ready; done
mv gone gone.away
mv back back.away
(sleep 2.7 && mv back.away back) &
# shellcheck disable=SC2154
{
	sleep 3.2
	kill -0 "$p_gone" && echo early
	for _ in $(seq 200); do kill -0 "$p_gone" || break; sleep .1; done
	kill -0 "$p_gone" || echo gone
} >looked 2>/dev/null &
looks=$!

# ---- being told: the seven at once ----
for d in told cut term; do
	works n1 $d n1=0 "$waits"
	eval "p_$d=$pid"
done
works n1 killed n1=0 "$deaf" && p_killed=$pid
works n1 late n1=0 "$deaf" && p_late=$pid
works n1 dies n1=0 "$deaf" && p_dies=$pid
grace=.2 works n1 grace n1=0 "$deaf" && p_grace=$pid
exec 3>told/tell.n1 4>cut/tell.n1 5>term/tell.n1 6>killed/tell.n1 7>late/tell.n1 8>grace/tell.n1 9>dies/tell.n1
for d in told cut term killed late grace dies; do true_within 60 test -s $d/ready; done
printf s >&3
exec 4>&-
# shellcheck disable=SC2154
kill -TERM "$p_term"
printf sk >&6
printf s >&8
kill -KILL "$(cat dies/ready)"
printf s >&7
true_within 60 test -e late/left.n1 -o -e told/left.n1
kill -KILL "$(cat late/ready)"
sleep .1
exec 7>&-
for d in told:143:0 cut:143:0 term:143:0 killed:137:0 grace:137:0 late:137:0 dies:137:137; do
	of=${d#*:}
	eval "ended \$p_${d%%:*}"
	is_status "${of#*:}" "${d%%:*}: only its own end is the worker's status"
	how=${d%%:*}
	case $how in killed | grace) how="told" ;; late) how="cut" ;; dies) how="own" ;; esac
	is "${of%:*} $how 0" "$(left "${d%%:*}")" "${d%%:*}: and why it has left is told"
done

# ---- a gang on two nodes ----
says='echo $MASTER_PORT $RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE $GV_GPUS >>"$GV_LAUNCH_DIR/says"'
works n2 gang "n1=0,1;n2=6" "$says" && p_second=$pid
exec 4>gang/tell.n2
true_within 60 test -e gang/here.n2
ok "the second node waits for the first" test ! -e gang/says -a ! -e gang/port
works n1 gang "n1=0,1;n2=6" "$says" && p_first=$pid
exec 3>gang/tell.n1
ended "$p_first"
is_status 0 "the first node's"
ended "$p_second"
is_status 0 "the second node's"
port=$(cat gang/port)
ok "a port is chosen" test "$port" -gt 1023
printf '%s\n' "$port 0 0 0 3 0;1" "$port 1 1 0 3 0;1" "$port 2 0 1 3 6" >want
sort gang/says >out
same_file want out "both have the port, each its ranks and GPUs"

# ---- told before it could begin ----
works n1 never "n2=0;n1=1" "$says" && p_never=$pid
exec 3>never/tell.n1
true_within 60 test -e never/here.n1
exec 3>&-
ended "$p_never"
is_status 0 "who is told before there is a port"
is "143 cut 0" "$(left never)" "does not begin"
ok "nothing ran" test ! -e never/says

# ---- what cannot be ----
mkdir -p shut/here.n1 portless/port
works n1 shut n1=0 "$says" && p_shut=$pid
works n1 portless "n1=0;n2=1" "$says" && p_portless=$pid
exec 3>shut/tell.n1 4>portless/tell.n1
ended "$p_shut"
is_status 125 "a directory that nothing can be written to: nothing begins"
is "125 refused 0 cannot write into the state" "$(left shut)" "and that is told, if it can be"
ended "$p_portless"
is_status 125 "nor where no port can be told"
is "125 refused 0 the first node of the gang has told no port" "$(left portless)" "which is said"
ok "nothing ran" test ! -e shut/says -a ! -e portless/says
works n1 unkept n1=0 "$deaf" && p_unkept=$pid
exec 3>unkept/tell.n1
true_within 60 test -s unkept/ready
# its child is the keeper
read -r keeper _ <"/proc/$p_unkept/task/$p_unkept/children"
kill -KILL "$keeper"
ended "$p_unkept"
is_status 0 "one whose keeper was killed has not ended by itself"
is "137 unkept 0 who looked after it was killed (status 137)" "$(left unkept)" "and is told as it is"
true_within 60 sh -c '! kill -0 "$(cat unkept/ready)"'
ok "and its workers are gone" sh -c '! kill -0 "$(cat unkept/ready)" 2>/dev/null'

# ---- what was taken away ----
wait "$looks"
is "early gone" "$(tr '\n' ' ' <looked | sed 's/ $//')" "a directory that is not there twice ends its workers"
ended "$p_gone"
is_status 2 "where they cannot say how"
# shellcheck disable=SC2154
ok "once is not enough" kill -0 "$p_back"
# shellcheck disable=SC2154
kill "$holds_gone" "$holds_back"
ended "$p_back"
is "143 cut 0" "$(left back)" "and it goes on being told"
done_testing
