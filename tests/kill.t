#!/bin/sh
# Killed at any moment, a writer of -o leaves the old file or the whole new one:
# never a mixture, and after SIGTERM nothing beside it.
. "${0%/*}/lib.sh"

moments=30
[ -z "${GV_LONG:-}" ] || moments=500
rows=40000
[ -z "${GV_SAN:-}" ] || rows=5000
printf 'gpu_type,gpus\nv100,1000\nk80,2000\n' >cluster.csv
awk -v n=$rows 'BEGIN {
	print "job_id,gpu_type,steps_per_s"
	for (i = 0; i < n / 2; i++) printf "j%d,v100,%d\nj%d,k80,%d\n", i, 7 + i % 3, i, 2 + i % 5
}' >rates.csv
sum() { cksum <"$1"; }

# kill_at SIGNAL: at each of $moments moments of the run's length
kill_at() {
	odd=0 whole=0 left=0 i=0
	while [ $i -lt $moments ]; do
		i=$((i + 1))
		echo old >target
		after=$(awk -v n=$moments -v i=$i -v s="$length_s" 'BEGIN { printf "%.4f", s * i / n }')
		timeout --foreground -s "$1" "$after" gv-alloc -p max-min -c cluster.csv -o target rates.csv 2>/dev/null
		case $(sum target) in
		"$new") whole=$((whole + 1)) ;;
		"$old") ;;
		*) odd=$((odd + 1)) ;;
		esac
		for f in target.*; do [ ! -e "$f" ] || { left=$((left + 1)) && rm "$f"; }; done
	done 2>/dev/null
	ran="$moments times gv-alloc -o target, ended by $1" status=0
	if [ $odd -eq 0 ]; then
		pass "$1 at $moments moments: old or new ($whole new)"
	else
		fail "$1 at $moments moments: $odd times neither old nor new"
	fi
}

echo old >target
old=$(sum target)
start=$(date +%s%N)
run gv-alloc -p max-min -c cluster.csv -o target rates.csv
length_s=$(awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { print 1.3 * ns / 1e9 }')
silent "undisturbed"
new=$(sum target)
kill_at KILL
kill_at TERM
if [ $left -eq 0 ]; then pass "TERM: nothing is left beside"; else fail "TERM: $left files left beside"; fi
done_testing
