#!/bin/sh
# coverage.sh DIR: lines of the kernels and of their launches that the tests in DIR, built
# with COVERAGE=1, have run.  Prints a row for each file and the total; status 1 below 95 %.
set -eu
src=$PWD
cd "$1"
rm -f ./*.gcda ./*.gcov
for t in kernels_*; do
	case $t in *.*) continue ;; esac
	"./$t" >/dev/null || { echo "coverage: $t fails" >&2 && exit 2; }
done
cd "$src"
# one object at a time, for headers that several have; of templates' instances any counts
for f in "$1"/*.gcda; do
	gcov -o "$1" "$f" >/dev/null 2>&1
	cat ./*.gcov
	rm -f ./*.gcov
done | awk -F: '
	/^ *-: *0:Source:/ { file = $4; next }
	file !~ /gpu\/cuda\// || $1 ~ /^-+$/ || $2 + 0 == 0 { next }
	{ sub(/^ */, "", $1) }
	$1 == "-" { next }
	{ at = file ":" $2 + 0; if (!(at in seen)) { seen[at] = file; lines[file]++ } }
	$1 !~ /^[#=]/ && !(at in ran) { ran[at] = 1; good[file]++ }
	END {
		for (f in lines) {
			n = f; sub(/.*gpu\/cuda\//, "", n)
			printf "%-28s %5d %5d %6.1f%%\n", n, lines[f], good[f], 100 * good[f] / lines[f] | "sort"
			all += lines[f]; run += good[f]
		}
		close("sort")
		printf "%-28s %5d %5d %6.1f%%\n", "total", all, run, 100 * run / all
		for (at in seen) if (!(at in ran)) print "not run: " at | "sort >&2"
		exit run < 0.95 * all
	}' && status=0 || status=$?
exit "$status"
