# Running what a document shows.  Source it behind lib.sh.
#
# A session is lines as a terminal would show them: "$ command" (going on while
# a line ends in a backslash), then what it prints, if that is shown: stdout, or
# stderr and behind it stdout.  A line "..." stands for any lines, "..." in a
# line for any text; a line with a form feed ends the session.
# shellcheck shell=sh

# session NAME <LINES: runs each command in the present directory: status 0, and the output shown
session() {
	session_name=$1
	rm -rf "$scratch/session"
	mkdir "$scratch/session"
	awk -v dir="$scratch/session" '
		/^\$ / { n++; name = sprintf("%s/%03d", dir, n); sub(/^\$ /, ""); more = open = 1 }
		/^\f/ { open = 0 } # the end of a block
		!open { next }
		more { print >(name ".cmd"); more = /\\$/; next }
		{ print >(name ".want") }' -
	for session_cmd in "$scratch"/session/*.cmd; do
		[ -f "$session_cmd" ] || return 0
		session_run "$session_cmd" "${session_cmd%.cmd}.want"
	done
}
session_run() {
	status=0 ran=$(cat "$1")
	session_what=$(sed 's/#/(hash)/g;q' "$1")
	timeout 60 sh "$1" >"$scratch/session/out" 2>"$scratch/session/err" </dev/null || status=$?
	if [ $status -ne 0 ]; then
		fail "$session_name: $session_what" "$scratch/session/err"
	elif [ -f "$2" ] && ! session_matches "$2" "$scratch/session/out" &&
		! { cat "$scratch/session/err" "$scratch/session/out" >"$scratch/session/both" &&
			session_matches "$2" "$scratch/session/both"; }; then
		fail "$session_name: shows what it prints: $session_what" "$2" "$scratch/session/out" "$scratch/session/err"
	else
		pass "$session_name: $session_what"
	fi
}
# session_matches WANT GOT: equal, where "..." in a line is any text, and alone any lines
session_matches() {
	awk -v want="$1" '
		# the pieces of w between its "..." stand in g, in order, from end to end
		function like(w, g,   n, piece, i, at) {
			n = split(w, piece, /\.\.\./)
			if (n < 2) return w == g
			if (substr(g, 1, length(piece[1])) != piece[1]) return 0
			g = substr(g, length(piece[1]) + 1)
			for (i = 2; i < n; i++) {
				at = index(g, piece[i])
				if (at == 0) return 0
				g = substr(g, at + length(piece[i]))
			}
			return length(g) >= length(piece[n]) &&
			    substr(g, length(g) - length(piece[n]) + 1) == piece[n]
		}
		BEGIN { while ((getline line < want) > 0) w[++nw] = line }
		{ g[NR] = $0 }
		END {
			j = 1
			for (i = 1; i <= nw; i++) {
				if (w[i] == "...") { any = 1; continue }
				while (any && j <= NR && !like(w[i], g[j])) j++
				if (j > NR || !like(w[i], g[j])) exit 1
				j++; any = 0
			}
			exit !(any || j == NR + 1)
		}' "$2"
}
