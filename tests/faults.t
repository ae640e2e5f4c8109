#!/bin/sh
# Every allocation and system call of a small run of every program fails once,
# through preload/faults.so.  Then the program must say so on stderr, end with
# its status for trouble, leave -o's old file and nothing beside it; or get
# along without the call: status 0 and the very same output.
#
# The runs are those of matrix.tab.  A sample of the points each time, all of
# them with GV_LONG.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

tab=$(printf '\t')
table=$src/tests/matrix.tab
lib=$build/preload/faults.so
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: its runtime must come first"
	done_testing
	exit
fi
mkdir work tmp
TMPDIR=$scratch/tmp
export TMPDIR
cd work || exit 2
cp "$src"/examples/man/* .
cp "$src"/tests/matrix/* .

# how a call fails, as faults.so names it
reason() {
	case $1 in
	alloc | mmap) echo ENOMEM ;;
	write | pwrite | ftruncate | mkstemp | mkdtemp | mkdir) echo ENOSPC ;;
	open | openat | fopen | opendir | fdopendir | pipe | pipe2 | dup | dup2 | fcntl | stat) echo EMFILE ;;
	fork | pthread_create) echo EAGAIN ;;
	rename | unlink | rmdir | realpath | setpgid) echo EACCES ;;
	exec*) echo ENOENT ;;
	*) echo EIO ;;
	esac
}
# points COUNT MAX: at most MAX of the numbers 1..COUNT: the first ones, then spread to the last
points() {
	awk -v n="$1" -v max="$2" 'BEGIN {
		if (n <= max) { for (i = 1; i <= n; i++) print i; exit }
		half = int(max / 2)
		for (i = 1; i <= half; i++) print i
		for (i = 1; i <= max - half; i++) print half + int((n - half) * i / (max - half))
	}'
}
# with FAIL COUNT: the command with the injector; stdout in out, stderr in err
with() {
	status=0
	ran="GV_FAIL=$1 LD_PRELOAD=$lib $cmd"
	timeout -k 2 60 env GV_FAIL="$1" ${2:+GV_COUNT="$2"} LD_PRELOAD="$lib" $cmd >../out 2>../err || status=$?
}
# result: where the answer is: ../out or, with -o, the file target
result() { if [ -n "$to" ]; then echo target; else echo ../out; fi; }
same_result() { if [ "$timing" = yes ]; then [ -s "$(result)" ]; else cmp -s ../plain "$(result)"; fi; }
files() { ls -A . ../tmp; }
# sound CALL: the run that has just ended is as it must be
sound() {
	if [ "$status" -eq 0 ]; then
		same_result
	elif [ "$no" = yes ] && [ "$status" -eq 1 ]; then
		grep -q "^$prog: " ../err # it was a job that failed
	else
		[ "$status" -eq "$trouble" ] && grep -q "^$prog: " ../err &&
			{ [ "$1" != alloc ] || grep -qi -e "out of memory" -e "no memory" -e "cannot allocate memory" ../err; } &&
			{ [ -z "$to" ] || [ "$(cat target)" = old ]; }
	fi && { [ "$state" = yes ] || [ "$(files)" = "$before" ]; }
}
again() {
	[ -z "$to" ] || { rm -f target && echo old >target; }
	rm -rf ../tmp/* target.*
}

total=0
# campaign: all calls of $cmd
campaign() {
	before=$(files)
	with "" ../count
	if [ "$status" -ne 0 ]; then
		fail "$prog: runs under the injector${to:+, -o}" ../err
		return
	fi
	cp "$(result)" ../plain
	while read -r call count <&8; do
		bad=0 n_points=0
		how=$(reason "$call")
		max=$count
		[ -n "${GV_LONG:-}" ] || max=$sample
		for n in $(points "$count" "$max"); do
			again
			with "$call:$n:$how"
			n_points=$((n_points + 1))
			sound "$call" && continue
			bad=$((bad + 1))
			[ $bad -gt 3 ] || { echo "# $ran: status $status" && sed 's/^/#   err: /;3q' ../err; }
		done
		total=$((total + n_points))
		if [ $bad -eq 0 ]; then
			pass "$prog: $call fails${to:+, -o} ($n_points of $count)"
		else
			fail "$prog: $call fails${to:+, -o}: $bad of $n_points points"
		fi
	done 8<../count
	for fault in read:0:short read:0:EINTR write:0:short write:0:EINTR; do
		again
		with $fault
		if [ "$status" -eq 0 ] && same_result; then
			pass "$prog: ${fault%%:*} is ${fault##*:} each time${to:+, -o}"
		else
			fail "$prog: ${fault%%:*} is ${fault##*:} each time${to:+, -o}" ../err
		fi
	done
}

while IFS=$tab read -r prog flags args <&9; do
	case $prog in '' | '#'*) continue ;; esac
	timing=no trouble=2 no=no state=no sample=24
	case ,$flags, in *,timing,*) timing=yes ;; esac
	case ,$flags, in *,slow,*) sample=2 ;; esac
	case ,$flags, in *,jobs,*) sample=2 ;; esac
	case ,$flags, in *,jobs,*) no=yes ;; esac
	case ,$flags, in *,state,*) state=yes ;; esac
	case $flags in *trouble=*) trouble=${flags##*trouble=} trouble=${trouble%%,*} ;; esac
	for to in "" "-o target"; do
		cmd=$bin/$prog
		for word in $args; do
			case $word in
			@*) cmd="$cmd $to ${word#@}" ;;
			*) cmd="$cmd $word" ;;
			esac
		done
		rm -f target
		[ -z "$to" ] || echo old >target
		campaign
	done
	rm -f target
done 9<"$table"
echo "# $total points"
done_testing
