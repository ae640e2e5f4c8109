#!/bin/sh
# lint.sh: what compilers, analysers and checkers have to say about the tree.
# Silent tools pass; one that is not here is skipped, with a line.  LINT="NAME..."
# runs only these.  Status 1 when there are findings.
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/.." || exit 2
out=build/lint
mkdir -p "$out"
jobs=$(nproc 2>/dev/null || echo 2)
failed=

warn=$(sed -n '/^WARN :=/,/[^\\]$/p' Makefile | tr -d '\\\n' | sed 's/^WARN := //')
flags="-D_POSIX_C_SOURCE=200809L -Icommon -Icmd -Igpu -Itests/unit -Itests/cuda $warn"
sources=$(ls common/*/*.c common/*/*/*.c cmd/*/*.c cmd/*/*/*.c gpu/*/*.c)
tests=$(ls tests/unit/*.c tests/helpers/*.c tests/bench/*.c tests/fuzz/*.c 2>/dev/null)

# lint NAME TOOL COMMAND...: shows what the command prints or that it failed
lint() {
	name=$1 tool=$2
	shift 2
	case " ${LINT:-$name} " in *" $name "*) ;; *) return ;; esac
	if ! command -v "$tool" >/dev/null 2>&1; then
		echo "skipped: $name (no $tool)"
		return
	fi
	if "$@" >"$out/$name.log" 2>&1 && [ ! -s "$out/$name.log" ]; then
		echo "clean:   $name"
	else
		echo "FOUND:   $name ($out/$name.log)"
		grep -v -e '^In file included' "$out/$name.log" | head -n 40
		failed="$failed $name"
	fi
}
build_with() { # NAME VARIABLE=...: everything, warnings are errors
	dir=$out/$1
	shift
	make -s -j"$jobs" WERROR=1 BUILD="$dir" BIN="$dir/bin" "$@" tests
}
# each FILES COMMAND...: the command on every file, which {} stands for
each() {
	files=$1
	shift
	printf '%s\n' $files | xargs -P "$jobs" -I '{}' "$@"
}
hardened() {
	build_with hardened CFLAGS="$(dpkg-buildflags --get CFLAGS) -O2" \
		CPPFLAGS="$(dpkg-buildflags --get CPPFLAGS)" LDFLAGS="$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now"
}
shells() {
	find tests examples .ci share -type f \( -name '*.sh' -o -name '*.t' -o -name run \) -print |
		sort | xargs shellcheck
}
pages() { for page in man/*.[157]; do mandoc -T lint -W warning "$page"; done; }
includes() { # each header can be read alone
	# one without a guard is a piece that another file includes several times
	grep -l '^#ifndef GV_' common/*/*.h common/*/*/*.h cmd/*/*.h cmd/*/*/*.h | while read -r h; do
		printf '#include "%s"\n' "$(echo "$h" | sed 's/^common.//; s/^cmd.//')" |
			gcc -std=c17 -D_POSIX_C_SOURCE=200809L -Icommon -Icmd -fsyntax-only -x c - 2>&1 |
			sed "s|^|$h alone: |;3q"
	done
}
c11() { # the syntax; a test _f64 with the reals that it is for
	each "$sources $tests" sh -c 'case $1 in *_f64.c) set -- "$@" -DGV_REAL_DOUBLE ;; esac
		exec gcc "$@"' sh {} $flags -DGV_VERSION='"x"' -std=c11 -fsyntax-only
}
tidy() { # its counts of suppressed warnings go to stderr
	each "$sources" clang-tidy --quiet {} -- $flags -std=c17 -DGV_ANALYZE 2>/dev/null
}
format() { # what clang-format would change; version 14, as in Debian 12
	git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror
}
words() { # what must not stand in the tree
	grep -rnE '\b(TODO|FIXME|XXX)\b' common cmd man share tests Makefile --include='*.[ch157]' --include=Makefile |
		grep -v 'XXXXXX'
	git grep -nI ' $' -- '*.c' '*.h' '*.sh' '*.t' '*.[157]'
	return 0
}

# Functions that are written and that nobody calls, or only tests.
called() { git ls-files '*.[ch]' '*.cu' | grep -v '^tests/preload' | xargs awk -f tests/called.awk; }

# Changes that are listed are such that tests/mutate.awk makes.
equivalents() {
	cat tests/mutants.equivalent tests/mutants.costs | grep -v '^#' | sort -u >"$out/listed"
	cut -f 1 "$out/listed" | sort -u | while IFS= read -r f; do
		awk -f tests/mutate.awk "$f" | awk -F '\t' -v file="$f" '
			BEGIN { while ((getline line < file) > 0) source[++n] = line }
			{
				now = substr(source[$1], 1, $2 - 1) $4 substr(source[$1], $2 + $3)
				sub(/^\t*/, "", now)
				print file "\t" now
			}' >"$out/made"
		grep "^$f$(printf '\t')" "$out/listed" | grep -vxFf "$out/made"
	done >"$out/never"
	sed 's/$/: no change of this file makes it/' "$out/never" && [ ! -s "$out/never" ]
}

lint gcc gcc build_with gcc CC=gcc
lint clang clang build_with clang CC=clang
lint c11 gcc c11
lint hardened dpkg-buildflags hardened
lint headers gcc includes
lint called awk called
lint equivalents awk equivalents
lint analyzer gcc each "$sources" gcc $flags -std=c17 -DGV_ANALYZE -O1 -fanalyzer -Wno-unused-value -c -o /dev/null {}
lint cppcheck cppcheck cppcheck -q -j"$jobs" --std=c11 --enable=warning,performance,portability \
	--inline-suppr --suppressions-list=tests/cppcheck.txt -D_POSIX_C_SOURCE=200809L -DGV_ANALYZE \
	-Icommon -Icmd --error-exitcode=1 common cmd
lint tidy clang-tidy tidy
lint shellcheck shellcheck shells
lint mandoc mandoc pages
lint words git words
lint format clang-format format
lint messages awk sh tests/messages.sh
[ -z "$failed" ] || { echo "findings:$failed" && exit 1; }
