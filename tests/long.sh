#!/bin/sh
# long.sh: what takes too long for make check, and the reliability card of it
# all: a property, how often it was looked at, how often it did not hold.  Logs
# lie in build/long.  LONG="NAME..." runs only these.
set -u
cd "$(dirname "$0")/.." || exit 2
unset MAKEFLAGS MAKELEVEL MFLAGS
top=$PWD
out=$top/build/long
mkdir -p "$out"
: >"$out/card"
jobs=$(nproc 2>/dev/null || echo 2)
tab=$(printf '\t')
failures=0

# part NAME TITLE: runs the function NAME, which sets n and bad
part() {
	case " ${LONG:-$1} " in *" $1 "*) ;; *) return ;; esac
	n=0 bad=0 why=
	start=$(date +%s)
	echo "== $2"
	"$1" >"$out/$1.log" 2>&1
	[ -z "$why" ] || echo "   skipped: $why"
	[ "$bad" -eq 0 ] || { echo "   see $out/$1.log" && tail -n 15 "$out/$1.log"; }
	failures=$((failures + bad))
	if [ -n "$why" ]; then
		printf '%-58s %9s %9s\n' "$2" - "($why)" >>"$out/card"
	else
		printf '%-58s %9d %9d %5d s\n' "$2" "$n" "$bad" $(($(date +%s) - start)) >>"$out/card"
	fi
}
# counted DIR STATUS: takes n and bad from the tests' lines of a check
counted() {
	n=$(cat "$1"/*.tap | grep -c '^\(not \)\{0,1\}ok ')
	bad=$(cat "$1"/*.tap | grep -c '^not ok ')
	[ "$2" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
}

checks() {
	GV_LONG=1 sh tests/check.sh build bin
	counted build/tap $?
	points=$(sed -n 's/^# \([0-9]*\) points$/\1/p' build/tap/faults.t.tap)
	errors=$(grep -c '^not ok ' build/tap/faults.t.tap)
}
faults() { n=${points:-0} bad=${errors:-0}; }
sanitized() {
	make -s SAN=1 check
	counted build/san-1/tap $?
}
threads() {
	make -s SAN=thread -j"$jobs" tests || { bad=1 && return; }
	TSAN_OPTIONS=exitcode=99 GV_SAN=thread \
		TESTS="$(find build/san-thread/unit -type f -perm -u+x ! -name '*.d') $(ls tests/gv-train*.t tests/gv-run*.t)" \
		sh tests/check.sh build/san-thread build/san-thread/bin
	counted build/san-thread/tap $?
}
valgrind_cli() {
	command -v valgrind >/dev/null || { why="no valgrind" && return; }
	rm -rf "$out/valgrind"
	mkdir -p "$out/valgrind/bin" "$out/valgrind/log"
	for program in bin/*; do
		name=${program##*/}
		printf '#!/bin/sh\nexec valgrind -q --child-silent-after-fork=yes --leak-check=full %s "%s" "$@"\n' \
			"--errors-for-leak-kinds=definite --log-file=$out/valgrind/log/$name.%p" \
			"$top/$program" >"$out/valgrind/bin/$name"
		chmod +x "$out/valgrind/bin/$name"
	done
	GV_SAN=valgrind GV_BUILD="$out/valgrind" TESTS="tests/gv-alloc.t tests/gv-report.t" \
		sh tests/check.sh "$out/valgrind" "$out/valgrind/bin"
	# what valgrind says starts so; where a descriptor was closed, others write there, too
	grep -h '^==' "$out"/valgrind/log/* | head -n 200
	n=$(find "$out/valgrind/log" -type f | wc -l)
	bad=$(grep -l '^==' "$out"/valgrind/log/* | wc -l)
}
fuzzed() {
	command -v clang >/dev/null || { why="no clang" && return; }
	[ -f tests/fuzz.sh ] || { why="no targets" && return; }
	n=$(grep -l LLVMFuzzerTestOneInput tests/fuzz/*.c | wc -l)
	FUZZ_S=${FUZZ_S:-20} sh tests/fuzz.sh || bad=1
}
mutated() {
	MUTATE_S=${MUTATE_S:-1200} sh tests/mutate.sh >"$out/mutants" || bad=1
	cat "$out/mutants"
	n=$(sed -n 's/^all mutants: *\([0-9]*\) drawn.*/\1/p' "$out/mutants")
}

# answers BIN DIR: the plain runs of matrix.tab whose output is determined
answers() {
	rm -rf "$2"
	mkdir -p "$2/work"
	cp examples/man/* "$2/work"
	while IFS=$tab read -r prog flags args <&9; do
		case $prog in '' | '#'*) continue ;; esac
		case ,$flags, in *,timing,*) continue ;; esac
		# shellcheck disable=SC2046
		(cd "$2/work" && echo "$prog $args" && PATH=$1:$PATH GV_DATA=$top/share "$1/$prog" $(echo "$args" | sed 's/@//')) </dev/null
	done 9<tests/matrix.tab >"$2/out" 2>"$2/err"
	(cd "$2/work" && find . -type f | sort | xargs cat) >"$2/files"
}
# compare NAME VARIABLE...: the same answers from another build
compare() {
	name=$1
	shift
	make -s -j"$jobs" BUILD="$out/$name" BIN="$out/$name/bin" "$@" all || { bad=$((bad + 1)) && return; }
	answers "$out/$name/bin" "$out/answers.$name"
	n=$((n + $(grep -c '^gv-[a-z]* ' "$out/answers.$name/out")))
	diff -r "$out/answers.usual" "$out/answers.$name" || bad=$((bad + 1))
}
same_answers() {
	answers "$top/bin" "$out/answers.usual"
	command -v clang >/dev/null && compare clang CC=clang
	compare O0 CFLAGS=-O0
	compare O3 CFLAGS="-O3 -march=native"
}
same_files() {
	rm -rf "$out/one" "$out/two"
	for dir in one two/deeper; do
		mkdir -p "$out/$dir"
		git archive HEAD | tar -xf - -C "$out/$dir"
		(cd "$out/$dir" && make -s -j"$jobs" all) || bad=$((bad + 1))
	done
	for program in "$out"/one/bin/*; do
		n=$((n + 1))
		cmp "$program" "$out/two/deeper/bin/${program##*/}" || bad=$((bad + 1))
	done
	# another PREFIX is compiled in, though everything was built already
	n=$((n + 1))
	(cd "$out/one" && make -s PREFIX=/elsewhere all && grep -q /elsewhere/share/gv-toolkit bin/gv-train) || bad=$((bad + 1))
}
covered() {
	command -v gcovr >/dev/null || { why="no gcovr" && return; }
	# what ends by _exit, as on an error, has counted, too
	mkdir -p "$out/cov"
	printf '%s\n' 'void __gcov_dump(void);' '_Noreturn void __real__exit(int);' '_Noreturn void __wrap__exit(int);' \
		'void __wrap__exit(int status) { __gcov_dump(); __real__exit(status); }' >"$out/cov/exit.c"
	${CC:-cc} -fPIC -c -o "$out/cov/exit.o" "$out/cov/exit.c" || { bad=1 && return; }
	make -s -j"$jobs" BUILD="$out/cov" BIN="$out/cov/bin" CFLAGS="-O0 -g --coverage -fprofile-update=atomic" \
		LDFLAGS="--coverage -Wl,--wrap=_exit $out/cov/exit.o" tests || { bad=1 && return; }
	find "$out/cov" -name '*.gcda' -exec rm {} +
	# its result does not count: the injector fails allocations of the coverage runtime, too
	sh tests/check.sh "$out/cov" "$out/cov/bin"
	gcovr -r . --object-directory "$out/cov" -e tests/ --gcov-ignore-parse-errors -s >"$out/coverage" 2>&1
	tail -n 3 "$out/coverage"
	n=$(sed -n 's/^lines: \([0-9]*\).*/\1/p' "$out/coverage")
	[ "${n:-0}" -ge 90 ] || bad=1
}
steady() {
	for i in 1 2 3; do
		sh tests/check.sh build bin
		counted build/tap $?
		total=$((${total:-0} + n)) total_bad=$((${total_bad:-0} + bad))
	done
	n=$total bad=$total_bad
}

part checks "all tests, the long ones too"
part faults "points where a call fails"
part sanitized "all tests, address and undefined sanitizers"
part threads "unit tests, gv-run, gv-train: thread sanitizer"
part valgrind_cli "programs run under valgrind"
part fuzzed "fuzz targets, ${FUZZ_S:-20} s each"
part mutated "changes planted in the cores, at most 5 % unnoticed"
part same_answers "runs with the same bytes: clang, -O0, -O3"
part same_files "programs built twice: the same files; PREFIX"
part covered "lines covered, percent (want 90)"
part steady "make check three times more"

echo
printf '%-58s %9s %9s\n' property count failures
cat "$out/card"
[ "$failures" -eq 0 ]
