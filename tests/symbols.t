#!/bin/sh
# What the archives hold, seen by a linker: every name begins with gv_ and stands
# once, libgv.a needs no solver, and each can be linked as a whole.
. "${0%/*}/lib.sh"

for archive in libgv libgv-alloc; do
	run sh -c 'nm -g --defined-only "$1"' sh "$build/$archive.a"
	# names of compilers' own: .resolver of a function in several versions, __ of sanitizers
	awk 'NF == 3 && $3 !~ /^(gv_|_)/ { print $3 }' out | sort -u >wrong
	if [ "$status" -eq 0 ] && [ -s out ] && [ ! -s wrong ]; then
		pass "$archive.a: every name begins with gv_"
	else
		fail "$archive.a: names without gv_" wrong err
	fi
	awk 'NF == 3 && $2 ~ /[TDBR]/ && $3 ~ /^gv_/ { print $3 }' out | sort | uniq -d >wrong
	if [ ! -s wrong ]; then pass "$archive.a: every name is there once"; else fail "$archive.a: names twice" wrong; fi
	run "$build/whole/$archive"
	silent "$archive.a: links as a whole"
done
run nm "$build/libgv.a"
if [ "$status" -eq 0 ] && ! grep -qE ' U (glp|__gmp)' out; then
	pass "libgv.a: needs no GLPK"
else
	fail "libgv.a: needs GLPK or GMP"
fi
# GLPK is GPL-3+, CUDA's runtime proprietary
for program in "$bin"/gv-*; do
	case $program in *.d) continue ;; esac
	run nm -D "$program"
	case $(grep -c ' U dlopen' out)$(grep -c ' U glp_' out) in
	0* | *0) pass "${program##*/}: GLPK or a plug-in, not both" ;;
	*) fail "${program##*/}: links GLPK and opens plug-ins" ;;
	esac
done
done_testing
