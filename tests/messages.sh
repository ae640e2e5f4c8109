#!/bin/sh
# messages.sh: prints the error messages of the sources that no test holds.
#
# A message is the longest string of a call that makes one; a test holds it when
# the longest piece between its % conversions stands in a file of tests/.
set -u
cd "$(dirname "$0")/.." || exit 2
calls='gv_(error_set|error_sys|error_at|tab_error|frame_error|die|die_sys|warn|opt_usage)\('

for source in common/*/*.c cmd/*/*.c; do
	tr '\n\t' '  ' <"$source" | sed 's/" *"//g' | awk -v calls="$calls" -v source="$source" '{
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
			if (length(longest) >= 5) print source "\t" longest "\t" best
		}
	}'
done | sort -u | while IFS='	' read -r source piece message; do
	grep -rqF -e "$piece" -e "$(printf %s "$piece" | sed 's/"/\\"/g')" tests \
		--include='*.t' --include='*.c' --include='*.err' --include='*.sh' ||
		echo "$source: no test holds: $message"
done
