#!/bin/sh
# The manual: its pages are clean, have their sections in order, name pages that
# exist, and every command of their EXAMPLES does what is shown.
. "${0%/*}/lib.sh"
. "$src/tests/session.sh"

# plain: undoes roff's escapes
plain() {
	sed -e 's/\\e/\\/g' -e 's/\\(aq/'"'"'/g' -e 's/\\(dq/"/g' -e 's/\\(ti/~/g' -e 's/\\(ha/^/g' \
		-e 's/\\-/-/g' -e 's/\\&//g'
}
# examples PAGE: the lines of the literal blocks of EXAMPLES, a form feed behind each block
examples() {
	awk '/^\.Sh / { on = $0 ~ /EXAMPLES/ }
		on && /^\.Bd .*-literal/ { block = 1; next }
		on && /^\.Ed/ { block = 0; print "\f"; next }
		block && !/^\.\\"/' "$1" | plain
}
in_order() {
	awk '
		BEGIN {
			n = split("NAME SYNOPSIS DESCRIPTION OPTIONS METHODS INPUT OUTPUT ENVIRONMENT FILES " \
			    "EXIT_STATUS EXAMPLES DIAGNOSTICS SEE_ALSO STANDARDS CAVEATS", w, " ")
			for (i = 1; i <= n; i++) rank[w[i]] = i
		}
		/^\.Sh / {
			name = substr($0, 5)
			gsub(/"/, "", name)
			gsub(/ /, "_", name)
			if (!(name in rank)) { print "an unknown section: " name; bad = 1; next }
			if (rank[name] <= last) { print "not in its place: " name; bad = 1 }
			last = rank[name]
			seen[name] = 1
		}
		END {
			if (program)
				for (i = 1; i <= n; i++)
					if (w[i] ~ /^(NAME|SYNOPSIS|DESCRIPTION|EXIT_STATUS|EXAMPLES|SEE_ALSO)$/ && !(w[i] in seen)) {
						print "missing: " w[i]; bad = 1
					}
			exit bad
		}' program="$2" "$1"
}

for page in "$src"/man/*.[157]; do
	[ -f "$page" ] || continue
	name=${page##*/}
	if have mandoc; then
		run mandoc -T lint -W warning "$page"
		if [ "$status" -eq 0 ] && [ ! -s out ]; then pass "$name: mandoc lint"; else fail "$name: mandoc lint" out; fi
	else
		skip "no mandoc"
	fi
	if have groff; then
		run groff -mdoc -Tascii -ww -z "$page"
		if [ "$status" -eq 0 ] && [ ! -s err ]; then pass "$name: groff"; else fail "$name: groff" err; fi
	else
		skip "no groff"
	fi
	case $name in
	*.1)
		run in_order "$page" 1
		silent "$name: sections in order" || cat out
		[ ! -s out ] || sed 's/^/# /' out
		;;
	esac
	# OPTIONS: each list by the long names
	case $name in
	*.1)
		awk '
			/^\.Sh / { on = $0 == ".Sh OPTIONS"; seen = seen || on }
			on && /^\.Bl/ { depth++; last = "" }
			on && /^\.El/ { depth-- }
			on && depth == 1 && /^\.It Fl/ && match($0, /Fl Fl [a-z][a-z0-9-]*/) {
				option = substr($0, RSTART + 6, RLENGTH - 6)
				if (option < last) print option " stands behind " last
				last = option
			}
			END { if (!seen) print "no section OPTIONS" }' "$page" >out
		ran="reading OPTIONS of $name" status=0
		if [ ! -s out ]; then pass "$name: OPTIONS sorted"; else fail "$name: OPTIONS sorted" out; fi
		;;
	esac
	# other pages of ours that it names
	sed -n 's/^\.Xr \(gv[a-z-]*\) \([157]\).*/\1.\2/p' "$page" | sort -u | while read -r other; do
		[ -f "$src/man/$other" ] || echo "$other"
	done >out
	ran="looking for the pages that $name names" status=0
	if [ ! -s out ]; then pass "$name: the pages it names exist"; else fail "$name: the pages it names exist" out; fi

	# SEE ALSO has all pages of ours that it names, that of gv all that there are
	case $name in
	gv.7) (cd "$src/man" && printf '%s\n' gv*.[157] | grep -vx gv.7) ;;
	*.1) sed -n '/^\.Sh NAME/,/^\.Sh SEE ALSO/s/.*\.*Xr \(gv[a-z-]*\) \([157]\).*/\1.\2/p' "$page" ;;
	esac | grep -vx "$name" | sort -u >named
	sed -n '/^\.Sh SEE ALSO/,$s/^\.Xr \(gv[a-z-]*\) \([157]\).*/\1.\2/p' "$page" | sort -u >also
	comm -23 named also >out
	ran="looking in SEE ALSO of $name for what it names" status=0
	if [ ! -s out ]; then pass "$name: SEE ALSO"; else fail "$name: SEE ALSO lacks" out; fi

	examples "$page" >"$scratch/lines"
	case $name in
	*.1)
		ran="reading EXAMPLES of $name"
		if [ "$(grep -c '^\$ ' "$scratch/lines")" -ge 2 ] && grep -q '^\$ .*|' "$scratch/lines" &&
			grep -q '^\(@[a-z]*\|[0-9*][0-9*/,-]* [0-9*]\)' "$scratch/lines"; then
			pass "$name: examples, a pipe and a crontab line among them"
		else
			fail "$name: at least three examples, a pipe and a crontab line among them" "$scratch/lines"
		fi
		;;
	esac
	# crontab lines: sh can read the command, and no % that cron would break the line at
	sed -n 's/^@[a-z]* //p; s/^[0-9*][^ ]* [0-9*][^ ]* [0-9*][^ ]* [0-9*a-z][^ ]* [0-9*a-z][^ ]* //p' \
		"$scratch/lines" >"$scratch/cron"
	if [ -s "$scratch/cron" ]; then
		run sh -n "$scratch/cron"
		ran="sh -n of the crontab lines of $name"
		if [ "$status" -eq 0 ] && ! grep -q '%' "$scratch/cron"; then
			pass "$name: crontab lines"
		else
			fail "$name: crontab lines" "$scratch/cron" err
		fi
	fi
	rm -rf "$scratch/dir"
	mkdir "$scratch/dir"
	cd "$scratch/dir" || exit 2
	cp "$src"/examples/man/* . 2>/dev/null
	# what stands in one block is one session, with the others' files at hand
	session "$name" <"$scratch/lines"
	cd "$scratch" || exit 2
done
done_testing
