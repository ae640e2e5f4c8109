#!/bin/sh
# check.sh BUILD BIN: runs tests/*.t and BUILD/unit/* under prove, the longest first and
# two for each processor (at most 16), since tests wait for others much of their time.  Before
# prove's summary, which comes last, it shows what was skipped and why (tests/skips), and what
# failed: nearest to the end, for a record of a run may keep no more of it.
#
# GV_LONG=1 also runs what takes long; TESTS="FILE..." runs only these; JOBS=N so many at once.
set -u
build=$1 bin=$2
case $build in /*) ;; *) build=$PWD/$build ;; esac
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
export GV_BUILD="$build" GV_BIN="$bin" GV_TAP="$build/tap" GV_SAN="${GV_SAN:-}"
export GV_SHARED="${GV_SHARED:-$PWD/../shared}" GV_PYTHON="${GV_PYTHON:-$(command -v python3)}"
# what a sanitizer finds must not look like the answer "no" (1) or trouble (2)
export ASAN_OPTIONS="${ASAN_OPTIONS:-exitcode=99:detect_leaks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-exitcode=99:print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-exitcode=99}"
for made in helpers preload whole; do
	if [ -d "$build/$made" ] || [ "$GV_SAN" = valgrind ]; then continue; fi
	echo "check: $build/$made is not there; 'make tests' builds what tests run" >&2
	exit 2
done
# a second one would remove what this one writes; prove, too, holds the lock, its tests do not
exec 9>"$build/check.lock"
if ! flock -n 9; then
	echo "check: another one is at work in $build; this one does nothing" >&2
	exit 2
fi
rm -rf "$GV_TAP"
mkdir -p "$GV_TAP"

# the longest first, so that processors are busy to the end: by what each took the last time
# in this folder, else by tests/times; who is in neither comes last
: >>"$build/times"
all_tests() {
	{
		printf '%s\n' tests/*.t
		find "$build/unit" -type f -perm -u+x ! -name '*.d' 2>/dev/null | sort
	} | awk '
		!/\// { took[$2] = $1; next }
		{ name = $0; sub(/.*\//, "", name); print took[name] + 0, $0 }' tests/times "$build/times" - |
		sort -s -k1,1rn | cut -d ' ' -f 2-
}
# what each has taken now, for the next time (a run under GV_LONG is another matter), and who
# is missed in tests/times
keep_times() {
	[ -z "${GV_LONG:-}" ] || return 0
	for f in "$GV_TAP"/*.times; do
		[ ! -f "$f" ] || echo "$(sed 1q "$f") $(basename "$f" .times)"
	done >"$GV_TAP/times"
	awk '{ took[$2] = $1 } END { for (name in took) print took[name], name }' "$build/times" "$GV_TAP/times" |
		sort -k1,1rn -k2 >"$build/times.new" && mv "$build/times.new" "$build/times"
	[ -n "${TESTS:-}${GV_SAN:-}" ] || awk '
		FILENAME == "tests/times" { listed[$2]; next }
		{ all += $1; took[$2] = $1 }
		END { for (name in took) if (!(name in listed) && took[name] > 10 && took[name] > all / 50)
			print "check: " name " took " took[name] " s and is not in tests/times, which says what to begin with" }
		' tests/times "$GV_TAP/times"
}

# what to say before prove's summary
before_summary() {
	keep_times
	if ls "$GV_TAP"/*.skips >/dev/null 2>&1; then
		echo "skipped:"
		cat "$GV_TAP"/*.skips | sort | uniq -c
	else
		echo "skipped: nothing"
	fi
	for f in "$GV_TAP"/*.tap; do
		[ ! -f "$f" ] || awk -v name="$(basename "$f" .tap)" '
			/^not ok / { show = 12; print name ": " $0; next }
			/^ok / { show = 0 }
			show-- > 0 && /^#/' "$f"
	done
	for f in "$GV_TAP"/*.hung; do
		[ ! -f "$f" ] || { echo "$(basename "$f" .hung): the time was over; then ran:" && cat "$f"; }
	done
}

jobs=$((2 * $(nproc 2>/dev/null || echo 2)))
[ "$jobs" -le 16 ] || jobs=16
# shellcheck disable=SC2046,SC2086
{
	prove -j"${JOBS:-$jobs}" --timer --exec "sh tests/one.sh" ${TESTS:-$(all_tests)}
	echo $? >"$GV_TAP/status"
} | while IFS= read -r line; do
	case $line in
	"All tests successful."* | "Test Summary Report"* | Files=*)
		[ -f "$GV_TAP/summary" ] || before_summary
		: >"$GV_TAP/summary"
		;;
	esac
	printf '%s\n' "$line"
done
exit "$(cat "$GV_TAP/status")"
