#!/bin/sh
# What carries the messages of a gang's workers: memory between those of one machine, TCP
# else, with the same bytes; whoever is killed or stopped is named, nothing hangs and
# nothing stays behind.
# shellcheck disable=SC2012,SC2086
. "${0%/*}/lib.sh"

seed=${GV_SEED:-1}
draw() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	echo $((seed / 65536 % 1000))
}
# start N ARGS...: N workers in the background: $pids, out.R, err.R
start() {
	world=$1 r=0 pids=
	shift
	free_port
	ran="gv-train $* (on $world workers)"
	rm -f out.* err.*
	while [ $r -lt $world ]; do
		RANK=$r WORLD_SIZE=$world MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
			gv-train --data=digits:200 --batch=16 "$@" >out.$r 2>err.$r &
		pids="$pids $!"
		r=$((r + 1))
	done
}
# ended: waits for them; the largest status in $status
ended() {
	status=0
	for pid in $pids; do
		one=0
		wait $pid 2>/dev/null || one=$?
		[ $one -le $status ] || status=$one
	done
	cat err.* >err
	cp out.0 out
}
# rank_pid R: its pid
rank_pid() {
	echo $pids | cut -d' ' -f$(($1 + 1))
}

cat >plan.csv <<'END'
id,op,out,act,stage,replicas
1,linear,64,relu,0,1
2,linear,64,relu,1,1
3,linear,,,2,1
4,xent,,,2,1
END
pipe="--micro-batches=4 --schedule=flush plan.csv"
shares() { grep -c "shares memory with $1 of $2 other workers; TCP to the rest" err; }

# ---- which ----
start 3 --steps=6 -v $pipe
ended
is_status 0 "a pipeline on one machine"
ok "all share memory" test "$(shares 2 2)" = 3
mv out.0 by_memory
GV_GANG_LINK=tcp
export GV_GANG_LINK
start 3 --steps=6 -v $pipe
ended
is_status 0 "the same over TCP"
ok "nobody shares memory" test "$(shares 0 2)" = 3
same_file by_memory out.0 "the same losses"
GV_GANG_LINK=unix
run env WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=7 gv-train --data=digits:50 --steps=1 plan.csv
is_status 2 "no such link"
unset GV_GANG_LINK
echo 'gv-train: GV_GANG_LINK: expected auto or tcp, got "unix"' | is_err "no such link: message"

# ---- workers that die ----
named=0 hung=0 i=0
while [ $i -lt 24 ]; do
	start 3 --steps=1000000 --timeout=20 $pipe
	sleep ".$((3 + $(draw) % 5))$(draw)"
	victim=$((i % 3))
	kill -9 "$(rank_pid $victim)"
	began=$(date +%s)
	ended
	[ $(($(date +%s) - began)) -lt 15 ] || hung=$((hung + 1))
	r=0
	while [ $r -lt 3 ]; do
		if [ $r -ne $victim ] && [ "$(grep -c . err.$r)" -eq 1 ] &&
			grep -qE "rank $victim of 127.0.0.1 is gone|no rank 0 of a gang|cannot connect|rank $victim of 127.0.0.1 has not come|workers are missing" err.$r; then
			named=$((named + 1))
		elif [ $r -ne $victim ]; then
			sed "s/^/# killed $victim: rank $r: /" err.$r
		fi
		r=$((r + 1))
	done
	i=$((i + 1))
done
ok "whoever is killed whenever, the others end" test $hung = 0
ok "and name it, in one line" test $named = 48
ok "and nothing is left behind" test -z "$(find /dev/shm -name '*gv*' -newer plan.csv 2>/dev/null)"

# ---- workers that are stopped ----
# stopped NAME VICTIM WORLD MOMENT ARGS...: behind MOMENT, once the gang trains, all others name
# VICTIM, who hears of it when it goes on
stopped() {
	name=$1 victim=$2 moment=$4 args=$5
	start $3 --steps=1000000 --timeout=3 --log-every=1 $args
	while [ ! -s out.0 ] && kill -0 "$(rank_pid 0)" 2>/dev/null; do
		sleep 0.1
	done
	sleep $moment
	kill -STOP "$(rank_pid $victim)"
	began=$(date +%s) named=0 r=0
	while [ $r -lt $world ]; do
		one=0
		[ $r -eq $victim ] || wait "$(rank_pid $r)" 2>/dev/null || one=$?
		if [ $one -eq 2 ] && grep -q "^gv-train: rank $victim of 127.0.0.1 has not answered for 3 s" err.$r; then
			named=$((named + 1))
		elif [ $r -ne $victim ]; then
			sed "s/^/# stopped $victim: rank $r: /" err.$r
		fi
		r=$((r + 1))
	done
	took=$(($(date +%s) - began))
	kill -CONT "$(rank_pid $victim)"
	ended
	ok "$name: the others name rank $victim: $named" test $named = $((world - 1))
	ok "$name: within $took s" test $took -lt 15
	ok "$name: it hears of it" grep -q "gave up: this worker, rank $victim, had not answered for 3 s" err.$victim
}
cat >two.csv <<'END'
id,op,out,act,stage,replicas
1,linear,256,relu,0,2
2,linear,64,relu,1,2
3,linear,,,1,2
4,xent,,,1,2
END
replicas="--micro-batches=4 --schedule=2bw two.csv"
stopped "the last of three stages, memory" 2 3 ".$(draw)" "$pipe"
ok "its stage is named" test "$(grep -c "rank 2 of 127.0.0.1 has not answered for 3 s (process $(rank_pid 2), stopped): it had stage 2" err)" = 2
stopped "two by two, memory" $(($(draw) % 4)) 4 ".$(draw)" "$replicas"
stopped "two models, memory" $(($(draw) % 2)) 2 ".$(draw)" plan.csv
stopped "saving, memory" $(($(draw) % 4)) 4 ".$(draw)" "--checkpoint=saved --checkpoint-every=1 $replicas"
GV_GANG_LINK=tcp
export GV_GANG_LINK
stopped "two by two, TCP" $(($(draw) % 4)) 4 ".$(draw)" "$replicas"
stopped "four models, TCP" $(($(draw) % 4)) 4 ".$(draw)" plan.csv
stopped "saving, TCP" $(($(draw) % 2)) 2 ".$(draw)" "--checkpoint=saved2 --checkpoint-every=1 plan.csv"
unset GV_GANG_LINK
done_testing
