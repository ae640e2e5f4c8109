#!/bin/sh
# gv-run is ended by force: whatever the moment, nothing is left running, no job
# is lost, none runs twice at once, and the run goes on where it was.
. "${0%/*}/lib.sh"

worker=$build/helpers/worker
mark=gv-run-kill-$$
rounds=4
[ -z "${GV_LONG:-}" ] || rounds=100

cat >cluster.csv <<'EOT'
gpu_type,gpus,threads
big,1,2
small,2,1
EOT
cat >jobs.csv <<EOT
job_id,scale_factor,total_steps,arrival_s,command,gpu_type,steps_per_s,share
a,1,150,0,exec $worker -m $mark -r 150 -e 20,big,150,0.5
a,1,150,0,exec $worker -m $mark -r 150 -e 20,small,150,0.2
b,1,150,0,exec $worker -m $mark -r 150 -C,big,150,0.5
b,1,150,0,exec $worker -m $mark -r 150 -C,small,150,0.2
gang,2,100,0.1,exec $worker -m $mark -r 150,small,150,0.5
late,1,60,0.4,exec $worker -m $mark -r 150,small,150,0.3
flop,1,50,0,exec $worker -m $mark -r 150 -e 10 -x 30 -b,small,150,0.3
EOT

# processes that bear the mark on their command line; the pattern does not match itself
strays() { grep -las "[g]v-run-kill-$$" /proc/[0-9]*/cmdline; }
# tell_strays: who they are
tell_strays() {
	for p in $(strays); do
		p=${p#/proc/} p=${p%/cmdline}
		echo "# left: $p $(tr '\0' ' ' </proc/"$p"/cmdline) $(grep -e PPid -e State /proc/"$p"/status | tr '\n\t' '  ')"
	done
}
# gone SECONDS: waits that long for all of them to have left; looks twice, for a
# process has no command line at the moment of its exec
gone() {
	n=$(($1 * 20)) empty=0
	while [ "$n" -ge 0 ] && [ "$empty" -lt 2 ]; do
		if [ -z "$(strays)" ]; then empty=$((empty + 1)); else empty=0; fi
		[ "$empty" -ge 2 ] || sleep 0.05
		n=$((n - 1))
	done
	[ "$empty" -ge 1 ] || { tell_strays 2>/dev/null && false; }
}
# moment I: a delay in seconds that differs from round to round
moment() { awk -v i="$1" 'BEGIN { printf "%.3f\n", 0.02 + (i * 0.6180339887 % 1) * 1.1 }'; }
# all jobs of state $1 are done, every step once, none was run twice at once
whole() {
	bad=
	for job in a:150 b:150 gang:100 late:60 flop:50; do
		dir=$1/jobs/${job%:*}/checkpoint
		seq "${job#*:}" >want
		if [ "${job%:*}" = flop ]; then
			# it does again what it had not saved when it failed
			sort -nu "$dir/steps" | cmp -s - want || bad="$bad ${job%:*}"
		else
			cmp -s "$dir/steps" want || bad="$bad ${job%:*}"
		fi
		! grep -q TWICE "$dir/log" || bad="$bad ${job%:*}-twice"
		[ "$(grep -c ",finish,${job%:*}," "$1/events.csv")" -eq 1 ] || bad="$bad ${job%:*}-finish"
	done
	[ -z "$bad" ] || echo "# wrong: $bad"
	[ -z "$bad" ]
}

# ---- kill -9, again and again ----
kills=0 lost=0 stray=0
i=0
while [ "$kills" -lt "$rounds" ]; do
	i=$((i + 1))
	state=st$i
	lives=0
	while :; do
		gv-run -c cluster.csv -s "$state" --round=0.3 --grace=2 jobs.csv >"out$lives" 2>>err &
		pid=$!
		if [ "$kills" -lt "$rounds" ] && [ "$lives" -lt 6 ]; then
			sleep "$(moment $((i * 7 + kills)))"
			kill -9 "$pid" 2>/dev/null && kills=$((kills + 1))
			wait "$pid" 2>/dev/null
			status=$?
		else
			wait "$pid"
			status=$?
		fi
		lives=$((lives + 1))
		[ "$status" -eq 137 ] || break
		# every third time the next one must wait for the workers to leave
		[ $((kills % 3)) -eq 0 ] || gone 3 || stray=$((stray + 1))
	done
	ran="gv-run killed and started $lives times"
	if [ "$status" -eq 0 ] && whole "$state"; then :; else
		lost=$((lost + 1))
		sed 's/^/# /' err "$state/events.csv" | tail -n 60
	fi
	gone 3 || stray=$((stray + 1))
	run gv-report "$state/events.csv"
	[ "$status" -eq 0 ] || sed 's/^/# gv-report: /' err
done
echo "# $kills kills, $i runs, $lost with lost or doubled work, $stray with strays"
ran="$kills times kill -9"
if [ "$lost" -eq 0 ]; then pass "kill -9: no job lost, none run twice, every step once"; else fail "kill -9: no job lost"; fi
if [ "$stray" -eq 0 ]; then pass "kill -9: nothing left running"; else fail "kill -9: nothing left running"; fi

# ---- SIGTERM at any moment ----
i=0 stray=0 wrong=0
while [ "$i" -lt "$rounds" ]; do
	i=$((i + 1))
	rm -rf st
	gv-run -c cluster.csv -s st --round=0.3 --grace=2 jobs.csv >out 2>err &
	pid=$!
	sleep "$(moment "$i")"
	kill -TERM "$pid"
	n=300
	while kill -0 "$pid" 2>/dev/null && [ "$n" -gt 0 ]; do
		sleep 0.05
		n=$((n - 1))
	done
	if [ "$n" -eq 0 ] || ! gone 0; then stray=$((stray + 1)); fi
	wait "$pid"
	status=$?
	[ "$status" -eq 143 ] || wrong=$((wrong + 1))
done
ran="$i times SIGTERM"
echo "# $i times SIGTERM, $stray with something left after grace + 13 s, $wrong with another status"
if [ "$stray" -eq 0 ]; then pass "SIGTERM: nothing left soon after the grace time"; else fail "SIGTERM: nothing left" err; fi
if [ "$wrong" -eq 0 ]; then pass "SIGTERM: status 143"; else fail "SIGTERM: status 143" err; fi
run gv-run --resume -s st --round=0.3 --grace=2
is_status 0 "and --resume ends what it began"
ok "with every step once" whole st
done_testing
