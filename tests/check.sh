#!/bin/sh
# check.sh BUILD BIN: runs tests/*.t and BUILD/unit/* under prove, two at a time.
# Before prove's summary, which comes last, it shows what failed, and what was
# skipped and why (tests/skips).
#
# GV_LONG=1 also runs what takes long; TESTS="FILE..." runs only these.
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
rm -rf "$GV_TAP"
mkdir -p "$GV_TAP"

all_tests() {
	# the long ones first, so that both processors are busy to the end
	for name in faults matrix; do
		[ ! -f tests/$name.t ] || echo tests/$name.t
	done
	for t in tests/*.t; do
		case $t in */faults.t | */matrix.t) ;; *) echo "$t" ;; esac
	done
	find "$build/unit" -type f -perm -u+x ! -name '*.d' 2>/dev/null | sort
}

# what to say before prove's summary
before_summary() {
	for f in "$GV_TAP"/*.tap; do
		[ ! -f "$f" ] || awk -v name="$(basename "$f" .tap)" '
			/^not ok / { show = 12; print name ": " $0; next }
			/^ok / { show = 0 }
			show-- > 0 && /^#/' "$f"
	done
	for f in "$GV_TAP"/*.hung; do
		[ ! -f "$f" ] || { echo "$(basename "$f" .hung): the time was over; then ran:" && cat "$f"; }
	done
	if ls "$GV_TAP"/*.skips >/dev/null 2>&1; then
		echo "skipped:"
		cat "$GV_TAP"/*.skips | sort | uniq -c
	else
		echo "skipped: nothing"
	fi
}

# shellcheck disable=SC2046,SC2086
{
	prove -j2 --timer --exec "sh tests/one.sh" ${TESTS:-$(all_tests)}
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
