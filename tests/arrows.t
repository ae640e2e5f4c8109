#!/bin/sh
# Which folder uses which, from the sources themselves: no circle between folders,
# rooms or the files of one folder, and no arrow that CONTRIBUTING does not name.
# What a file uses is what it includes, and which symbols of its neighbours it calls.
. "${0%/*}/lib.sh"

ran="grep '#include' common cmd" status=0
(cd "$src" && find common cmd -name '*.[ch]' | sort) >files

# arrows: FILE USED, a line for each include of a file of the house
(cd "$src" && xargs grep -H '^#include "' </dev/stdin) <files |
	awk -v files=files '
	BEGIN { while ((getline f < files) > 0) known[f] = 1 }
	{
		file = $0; sub(/:.*/, "", file)
		used = $0; sub(/^[^"]*"/, "", used); sub(/".*/, "", used)
		dir = file; sub(/\/[^\/]*$/, "", dir)
		if ((dir "/" used) in known) print file, dir "/" used
		else if (("common/" used) in known) print file, "common/" used
		else if (("cmd/" used) in known) print file, "cmd/" used
		else print file, used >"unknown"
	}' >arrows
: >>unknown
if [ -s unknown ]; then fail "every include is a file of the house" unknown; else pass "every include is a file of the house"; fi

# no_circle NAME: of the pairs in ./pairs
no_circle() {
	if tsort pairs >/dev/null 2>circle; then pass "$1"; else
		sed -i 's/^tsort: //' circle
		fail "$1" circle
	fi
}
awk '$2 ~ /\.h$/ && $1 ~ /\.h$/' arrows >pairs
no_circle "no header includes itself through others"
awk '{ sub(/\/[^\/]*$/, "", $1); sub(/\/[^\/]*$/, "", $2) } $1 != $2' arrows | sort -u >folders
cp folders pairs
no_circle "no circle between folders and rooms"

# parts: cmd/PROG and common/PART as wholes, whatever rooms they have
awk '{ split($1, a, "/"); split($2, b, "/"); f = a[1] "/" a[2]; t = b[1] "/" b[2] } f != t { print f, t }' folders |
	sort -u >parts
cp parts pairs
no_circle "no circle between parts of the library"
awk '$1 ~ /^common/ && $2 ~ /^cmd/' parts >wrong
if [ -s wrong ]; then fail "common/ knows no program" wrong; else pass "common/ knows no program"; fi
awk '$1 ~ /^cmd/ && $2 ~ /^cmd/' parts >wrong
if [ -s wrong ]; then fail "no program uses another's files" wrong; else pass "no program uses another's files"; fi

# CONTRIBUTING's tables: rows | `PLACE/` | ... | may use |, of the house and, below a
# heading row "room of PLACE", of its rooms
tr -d '`' <"$src/CONTRIBUTING.md" | awk -F ' *[|] *' '
	/^\|/ && $2 ~ /^room of / { base = $2; sub(/^room of /, "", base); sub(/\/$/, "", base); rooms = 1; next }
	/^\|/ && $2 == "place" { base = ""; rooms = 0; next }
	!/^\|/ { base = ""; rooms = 0; next }
	{
		n = split($2, place, /, */)
		for (i = 1; i <= n; i++) {
			p = place[i]
			if (p !~ /\/$/) continue
			sub(/\/$/, "", p)
			if (rooms) p = base "/" p
			else if (p !~ /^common\//) continue
			print p, ""
			m = split($4, use, /, */)
			for (j = 1; j <= m; j++)
				if (use[j] ~ /^[a-z_]+$/ && use[j] != "nothing")
					print p, (rooms ? base : "common") "/" use[j]
		}
	}' >may
awk '{ print $1 }' may | sort -u >rows
awk '$1 ~ /^common/ { print }' parts >arrows.common
awk 'NR == FNR { may[$1, $2] = 1; next } !(($1, $2) in may)' may arrows.common >wrong
if [ -s wrong ]; then fail "every arrow in common/ is in CONTRIBUTING's table" wrong; else pass "every arrow in common/ is in CONTRIBUTING's table"; fi
# rooms of one place among themselves; what stands beside them may use them all
awk '{ n = split($1, a, "/"); m = split($2, b, "/") }
	n == 3 && m == 3 && a[1] == b[1] && a[2] == b[2]' folders >arrows.rooms
awk 'NR == FNR { may[$1, $2] = 1; next } !(($1, $2) in may)' may arrows.rooms >wrong
if [ -s wrong ]; then fail "every arrow between rooms is in CONTRIBUTING's tables" wrong; else pass "every arrow between rooms is in CONTRIBUTING's tables"; fi
# every part of common/ has a row, every row a place
sed -n 's,^\(common/[a-z_]*\)/.*,\1,p' files | sort -u >parts.common
{
	cat parts.common
	sed -n 's,^\(c[a-z]*/[a-z_-]*/[a-z_]*\)/.*,\1,p' files
} | sort -u >places
{
	comm -23 rows places | sed 's/$/: a row, and no place/'
	comm -13 rows parts.common | sed 's/$/: no row/'
} >wrong
if [ -s wrong ]; then fail "rows of CONTRIBUTING's tables and places" wrong; else pass "rows of CONTRIBUTING's tables and places"; fi

# what CONTRIBUTING tells to open is there
grep -o '`[a-z][a-zA-Z0-9_/.-]*/[a-zA-Z0-9_.-]*`' "$src/CONTRIBUTING.md" | tr -d '`' | grep -v -e NAME -e PROG -e gv-new |
	grep -e ^cmd/ -e ^common/ -e ^tests/ -e ^share/ -e ^man/ -e ^examples/ | sort -u |
	while read -r place; do [ -e "$src/$place" ] || echo "$place"; done >wrong
if [ -s wrong ]; then fail "what CONTRIBUTING names is there" wrong; else pass "what CONTRIBUTING names is there"; fi

# files of one folder: who calls whom, from the objects; the search for plans calls
# itself level after level of the machine, through all its files
if [ -d "$build/obj" ] && have nm; then
	sed -n 's,\.c$,.o,p' files | while read -r o; do [ ! -f "$build/obj/$o" ] || echo "$o"; done >objects
	(cd "$build/obj" && xargs nm -A -P </dev/stdin) <objects 2>/dev/null | awk '
		{
			file = $1; sub(/\.o:?$/, "", file); sub(/\[.*/, "", file)
			dir = file; sub(/\/[^\/]*$/, "", dir)
		}
		$3 ~ /^[TDBRVWi]$/ { home[dir, $2] = file; next }
		$3 == "U" { n++; from[n] = file; name[n] = $2; at[n] = dir }
		END {
			for (i = 1; i <= n; i++) {
				to = home[at[i], name[i]]
				if (to != "" && to != from[i] && at[i] !~ /^cmd\/gv-partition\/search$/) print from[i], to
			}
		}' | sort -u >pairs
	[ -s pairs ] || echo "a a2" >pairs
	no_circle "no circle between the files of a folder"
else
	skip "no objects to look at"
fi
done_testing
