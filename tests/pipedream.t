#!/bin/sh
# examples/pipedream: two hosts over a slow link, by plan and data parallel; nothing is left
# behind, whoever is killed.
. "${0%/*}/lib.sh"
pipedream=$src/examples/pipedream
export GV_BIN="$bin" WORKERS=2 GBPS=2 BATCH=8 STEPS=24 RUN_S=0.5 LOSS=2.31
ok "what its manual types is a program" [ -x "$pipedream/pipedream.sh" ]
why=$(. "$pipedream/hosts.sh" && hosts_why)
if [ -n "$why" ]; then
	run sh "$pipedream/pipedream.sh" one
	is_status 77 "where it cannot be done"
	skip "$why"
	done_testing
	exit
fi
# left PID DIRECTORY: what the run in the background, or the last one, has left
left() {
	ip netns list | grep "^gvpd$1-"
	find /sys/fs/cgroup -maxdepth 2 -name "gvpd$1-*" 2>/dev/null
	find /proc -maxdepth 2 -name cwd -lname "$PWD/$2*" 2>/dev/null
}
nothing_left() { [ -z "$(left "$1" "$2")" ]; }
# clean NAME PID DIRECTORY
clean() {
	true_within 20 nothing_left "$2" "$3"
	left "$2" "$3" >found
	if [ -s found ]; then fail "$1" found; else pass "$1"; fi
}

sh "$pipedream/pipedream.sh" one >out 2>err &
pid=$!
status=0
wait $pid || status=$?
ran="pipedream.sh one"
is_status 0 "two hosts"
clean "nothing is left" $pid one
sed 1d one/results.csv >rows
ok "a plan of two stages and data parallel, predicted and measured" \
	awk -F, 'END { exit !(NR == 1 && $1 == 2 && $4 == "1-1" && $5 > 0 && $6 > 0 && $7 > 0 && $8 > 0 && $9 > 1 && $10 > 1 && $11 > 0 && $12 > 0) }' rows

for signal in TERM KILL; do
	rm -rf two
	STEPS=2400 setsid sh "$pipedream/pipedream.sh" two >out 2>err &
	pid=$!
	for i in $(seq 600); do
		[ -s two/plan.2.2.times ] && break
		sleep 0.1
	done
	kill -$signal $pid
	wait $pid 2>/dev/null || :
	clean "$signal: nothing is left" $pid two
done
done_testing
