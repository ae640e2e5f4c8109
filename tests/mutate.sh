#!/bin/sh
# mutate.sh [FILE...]: plants small changes in the cores that tests/mutants lists, one
# at a time, in a copy of the tree, and sees whether the tests named there notice.
# Prints those that none notices, then per file and in all: planted, noticed, survived.
# Status 1 when more than 5 % survive; those in tests/mutants.equivalent, which change
# nothing that can be seen, do not count.
#
# MUTANTS=N of each file, drawn by SEED (default 12 and 1; MUTANTS=all).
set -u
cd "$(dirname "$0")/.." || exit 2
src=$PWD copy=$PWD/build/mutate
most=${MUTANTS:-12} seed=${SEED:-1}
[ "$most" != all ] || most=1000000
tab=$(printf '\t')
unset MAKEFLAGS MAKELEVEL

mkdir -p "$copy"
# what is there now, not what is committed; times are kept, so that make builds little
{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './build/*' ! -path './bin/*'; } |
	while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done |
	tar -cf - -T - | tar -C "$copy" -xf - || exit 2
cd "$copy" || exit 2
# what an earlier run has left there is older than its objects
grep -v '^#' tests/mutants | cut -f 1 | xargs touch
export GV_SHARED="$src/../shared" GV_DATA="$copy/share"
targets=$(awk -F '\t' '!/^#/ && NF { n = split($2, t, " "); for (i = 1; i <= n; i++) if (t[i] ~ /^unit\//) print "build/" t[i] }' tests/mutants | sort -u)
# shellcheck disable=SC2086
make -s -j"$(nproc 2>/dev/null || echo 2)" all $targets >build.log 2>&1 || { tail build.log && exit 2; }

# notices TESTS: the tests fail on what is built, or cannot be built any more
notices() {
	for t in $1; do
		case $t in
		unit/*)
			make -s "build/$t" >build.log 2>&1 || return 0
			timeout 60 "build/$t" >test.log 2>&1 || return 0
			;;
		*)
			make -s all >build.log 2>&1 || return 0
			GV_BIN="$copy/bin" GV_BUILD="$copy/build" timeout 120 sh "tests/$t.t" >test.log 2>&1 || return 0
			;;
		esac
	done
	return 1
}
is_equivalent() { # FILE LINE
	grep -qxF -e "$1$tab$2" tests/mutants.equivalent 2>/dev/null
}

: >totals
grep -v '^#' tests/mutants | while IFS="$tab" read -r file tests; do
	[ -n "$file" ] || continue
	case " ${*:-$file} " in *" $file "*) ;; *) continue ;; esac
	if notices "$tests"; then
		echo "$file: its tests fail without any change" >&2
		cat build.log test.log 2>/dev/null | grep '^not ok' | head -n 3 >&2
		echo "$file 0 0 1" >>totals
		continue
	fi
	cp "$file" saved
	planted=0 noticed=0 survived=0
	awk -f tests/mutate.awk "$file" | awk -v seed="$seed" -v most="$most" '
		BEGIN { srand(seed) }
		{ printf "%.9f\t%s\n", rand(), $0 }' | sort | head -n "$most" | cut -f 2- | sort -n >sites
	while IFS="$tab" read -r line column length instead; do
		INSTEAD=$instead awk -v line="$line" -v column="$column" -v n="$length" '
			NR == line { $0 = substr($0, 1, column - 1) ENVIRON["INSTEAD"] substr($0, column + n) }
			{ print }' saved >"$file"
		planted=$((planted + 1))
		if notices "$tests"; then
			noticed=$((noticed + 1))
		else
			now=$(sed -n "${line}s/^${tab}*//p" "$file")
			if is_equivalent "$file" "$now"; then
				planted=$((planted - 1))
			else
				survived=$((survived + 1))
				printf '%s:%s: %s\n' "$file" "$line" "$now"
			fi
		fi
		cp saved "$file"
	done <sites
	echo "$file $planted $noticed $survived" >>totals
	printf '%s\t%d planted, %d noticed, %d survived\n' "$file" $planted $noticed $survived
done
awk '{ planted += $2; noticed += $3; survived += $4 }
	END {
		printf "mutants: %d planted, %d noticed, %d survived\n", planted, noticed, survived
		exit survived > .05 * planted
	}' totals
