#!/bin/sh
# gv-alloc: minimums, deadlines, entities in entities with quotas, nodes and --previous, all at once, in
# random draws that HiGHS judges.
. "${0%/*}/lib.sh"

if [ -z "$GV_PYTHON" ]; then
	skip "no python3: no HiGHS"
elif ! "$GV_PYTHON" -c 'import scipy.optimize' 2>/dev/null; then
	skip "no scipy: no HiGHS"
else
	end=25
	[ -z "${GV_LONG:-}" ] || end=400
	run "$GV_PYTHON" "$src/tests/gv-alloc-fair.py" 1 "$end"
	is_status 0 "every draw is judged"
	ok "nothing is wrong in any answer" grep -qx '[1-9][0-9]* draws, [1-9][0-9]* answers, 0 wrong' out
fi
done_testing
