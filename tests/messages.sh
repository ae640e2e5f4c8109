#!/bin/sh
# messages.sh: prints the error messages of the sources that no test holds.
#
# A message is the longest string of a call that makes one; a test holds it when
# the longest piece between its % conversions stands in a file of tests/.  Strings
# that stand beside each other are one string, in both.
set -u
cd "$(dirname "$0")/.." || exit 2
joined() { tr '\n\t' '  ' <"$1" | sed 's/" *"//g'; }
held=$(mktemp) || exit 2
trap 'rm -f "$held"' EXIT
find tests \( -name '*.t' -o -name '*.err' -o -name '*.sh' \) ! -name messages.sh -exec cat {} + >"$held"
for f in tests/*/*.c; do joined "$f" && echo; done >>"$held"

# what no test can bring about here
never='cannot accept a connection
%s: checkpoints need a little-endian machine
water-filling: rounding kept it from its end
the schedule cannot go on
the trees do not fit the rate found
the linear program of trees was not solved: %s
the integer program of trees was not solved: %s
the integer program of orders was not solved: %s
the plan uses %g times what a link carries
%.0f elements were wrong
the schedule needs what is not made yet
the schedule ends before its last update
stage %zu: no room to test in'
calls='gv_(error_set|error_sys|error_at|tab_error|frame_error|frame_expected|die|die_sys|warn|opt_usage)\('

for source in common/*/*.c common/*/*/*.c cmd/*/*.c cmd/*/*/*.c; do
	joined "$source" | awk -v calls="$calls" -v source="$source" '{
		while (match($0, calls)) {
			$0 = substr($0, RSTART + RLENGTH)
			end = index($0, ");")
			call = substr($0, 1, end > 0 ? end : 400)
			best = ""
			while (match(call, /"([^"\\]|\\.)*"/)) {
				s = substr(call, RSTART + 1, RLENGTH - 2)
				if (length(s) > length(best)) best = s
				call = substr(call, RSTART + RLENGTH)
			}
			gsub(/\\"/, "\"", best)
			n = split(best, piece, /%[-0-9.*]*[a-z]+|\\n/)
			longest = ""
			for (i = 1; i <= n; i++)
				if (length(piece[i]) > length(longest)) longest = piece[i]
			gsub(/^[ :]+|[ :]+$/, "", longest)
			gsub(/%%/, "%", longest)
			if (length(longest) >= 5) print source "\t" longest "\t" best
		}
	}'
done | sort -u | while IFS='	' read -r source piece message; do
	printf '%s\n' "$never" | grep -qxF -e "$message" ||
		grep -qF -e "$piece" -e "$(printf %s "$piece" | sed 's/"/\\"/g')" "$held" ||
		echo "$source: no test holds: $message"
done
