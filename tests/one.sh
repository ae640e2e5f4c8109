#!/bin/sh
# one.sh TEST: what tests/check.sh has prove run for each test.  Gives the test
# a time limit, keeps its lines in $GV_TAP, and makes a skip a failure when
# tests/skips does not know its reason or the reason does not hold here.
set -u
exec 9>&- # the lock of check.sh
tap=$GV_TAP/${1##*/}
limit=900 # of what hangs; on a busy machine a test takes long
[ -z "${GV_SAN:-}" ] || limit=1200
[ -z "${GV_LONG:-}" ] || limit=3600
case $1 in
*.t) set -- sh "$1" ;;
*) set -- "$1" ;;
esac
# what runs below this process, as prove's reader sees it when a test hangs
running() {
	ps -e -o pid= -o ppid= -o etime= -o args= | awk -v top=$$ '
		{ parent[$1] = $2; line[$1] = substr($0, 1, 160); pids[++n] = $1 }
		END {
			for (i = 1; i <= n; i++) {
				for (p = pids[i]; p > 1 && p != top; ) p = parent[p]
				if (p == top && line[pids[i]] !~ / awk -v top=| ps -e /) print "# " line[pids[i]]
			}
		}'
}
rm -f "$tap.hung"
(
	sleep $((limit - 5)) &
	trap 'kill $!; exit' TERM
	wait $!
	running >"$tap.hung"
) 2>/dev/null &
watch=$!
began=$(date +%s)
timeout -k 10 $limit "$@" >"$tap.raw" </dev/null
status=$?
# seconds by the clock and of processors, for the order of the next run
{ echo $(($(date +%s) - began)) && times; } >"$tap.times"
kill $watch 2>/dev/null
if [ $status -eq 124 ]; then
	{ echo "# ended after $limit s; what ran then:" && cat "$tap.hung"; } >>"$tap.raw"
else
	rm -f "$tap.hung"
fi

# holds REASON: a line of tests/skips matches it, and its command succeeds
holds() {
	while IFS='	' read -r pattern command; do
		case $pattern in '' | '#'*) continue ;; esac
		# shellcheck disable=SC2254
		case $1 in
		$pattern) (eval "$command") >/dev/null 2>&1 </dev/null && return 0 ;;
		esac
	done <tests/skips
	return 1
}

sed -n 's/^ok .*# SKIP //p; s/^1\.\.0 .*# SKIP //p' "$tap.raw" >"$tap.skips"
: >"$tap.bad"
sort -u "$tap.skips" | while IFS= read -r reason; do
	holds "$reason" || printf '%s\n' "$reason" >>"$tap.bad"
done
if [ -s "$tap.bad" ]; then
	[ $status -ne 0 ] || status=1
	awk -v bad="$tap.bad" '
		BEGIN { while ((getline line < bad) > 0) is_bad[line] = 1 }
		{ at = index($0, "# SKIP "); reason = at > 0 ? substr($0, at + 7) : "" }
		reason in is_bad && /^ok / { print "not " substr($0, 1, at - 1) "- skipped: " reason; next }
		reason in is_bad { print "not ok 1 - skipped: " reason "\n1..1"; next }
		{ print }' "$tap.raw" >"$tap.tap"
else
	mv "$tap.raw" "$tap.tap"
fi
rm -f "$tap.raw" "$tap.bad"
[ -s "$tap.skips" ] || rm "$tap.skips"
cat "$tap.tap"
exit $status
