#!/bin/sh
# fuzz.sh [TARGET...]: fuzzes each target of tests/fuzz for FUZZ_S seconds
# (default 60) with clang's libFuzzer, AddressSanitizer and UBSan, starting from
# its corpus.  What is found stays in build/libfuzzer/TARGET; a finding ends it
# with status 1 and the input's path.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_S:-60}
out=build/libfuzzer
cc=${FUZZ_CC:-clang}
command -v "$cc" >/dev/null || {
	echo "fuzz.sh: needs $cc: apt-get install clang" >&2
	exit 2
}
if [ $# -eq 0 ]; then
	for f in tests/fuzz/*.c; do
		[ "$f" = tests/fuzz/replay.c ] || set -- "$@" "$(basename "$f" .c)"
	done
fi
san='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
make -s -j"$(nproc 2>/dev/null || echo 2)" BUILD=$out CC="$cc" \
	CFLAGS="-O2 -g $san -fsanitize=fuzzer-no-link" $out/libgv.a
# the parser keeps large buffers: a small quarantine makes it several times faster
export ASAN_OPTIONS="quarantine_size_mb=4:malloc_context_size=4${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
found=
for target; do
	# PROG.NAME also sees the parts of PROG but its main
	prog=${target%%.*} parts=
	[ "$prog" = "$target" ] ||
		parts=$(find "cmd/$prog" -name '*.c' ! -name "$prog.c" | sort)
	# shellcheck disable=SC2086
	"$cc" -std=c17 -D_POSIX_C_SOURCE=200809L -Icommon -Icmd -O2 -g $san -fsanitize=fuzzer -pthread \
		-o "$out/$target" "tests/fuzz/$target.c" $parts $out/libgv.a -Wl,--as-needed \
		-lglpk -lgmp -lcsv -lz -lm -ldl
	mkdir -p "$out/$target.corpus" "$out/$target.found"
	# max_len: nothing that the targets can tell apart needs more, and short inputs are fast
	if "$out/$target" -max_len=512 -max_total_time="$seconds" -print_final_stats=1 \
		-artifact_prefix="$out/$target.found/" "$out/$target.corpus" \
		"tests/fuzz/corpus/$target" >"$out/$target.log" 2>&1; then
		awk -v t="$target" '$1 == "stat::number_of_executed_units:" { n = $2 }
			/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") c = $(i + 1) }
			END { printf "%s: %d runs, %d edges, nothing found\n", t, n, c }' "$out/$target.log"
	else
		echo "$target: see $out/$target.log and $out/$target.found"
		found=1
	fi
done
[ -z "$found" ]
