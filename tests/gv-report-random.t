#!/bin/sh
# gv-report against another way of computing the same, on random logs: every
# number of every part, in every format.  Long: many more of them.
. "${0%/*}/lib.sh"

if [ -n "$GV_PYTHON" ]; then
	n=25
	[ -z "${GV_LONG:-}" ] || n=1000
	run "$GV_PYTHON" "$src/tests/gv-report-compare.py" $n
	if [ "$status" -eq 0 ] && [ ! -s out ]; then pass "$n random logs"; else fail "$n random logs" out err; fi
else
	skip "no python3"
fi
done_testing
