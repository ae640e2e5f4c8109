#!/bin/sh
# Every fuzz target over its corpus, inputs that once broke it or reach far, and over
# variants of each.
. "${0%/*}/lib.sh"

for target in "$src"/tests/fuzz/*.c; do
	target=$(basename "$target" .c)
	[ "$target" != replay ] || continue
	corpus=$src/tests/fuzz/corpus/$target
	n=$(find "$corpus" -type f 2>/dev/null | wc -l)
	if [ "$n" -eq 0 ]; then
		fail "$target has a corpus"
		continue
	fi
	run "$build/fuzz/$target" -n ${GV_LONG:+20}5 "$corpus"
	echo "$((n)) inputs" >want
	if [ "$status" -eq 0 ] && cmp -s want out; then
		pass "$target: $((n)) inputs"
	else
		fail "$target" want out err
	fi
	ok "$target: at most 200 inputs" test "$n" -le 200
	ok "$target: of 4 KiB at most" test -z "$(find "$corpus" -type f -size +4096c)"
done

done_testing
