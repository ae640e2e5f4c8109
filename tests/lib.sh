# A TAP library for tests of programs.  Source it first: . "${0%/*}/lib.sh"
#
# Each test file runs in a scratch directory of its own with a clean
# environment; $bin holds the programs, $src the source tree, $shared the real
# data (may be absent).  run CMD... keeps stdout in out, stderr in err, the
# status in $status; the checks below look at them.  With GV_TAP_STOP the first
# that fails is the last.
# shellcheck shell=sh disable=SC2034

case ${0%/*} in
/*) src=${0%/*} ;;
*) src=$PWD/${0%/*} ;;
esac
while [ ! -f "$src/VERSION" ] && [ "$src" != / ]; do src=$(dirname "$src"); done
shared=${GV_SHARED:-$src/../shared}
bin=${GV_BIN:-$src/bin}
build=${GV_BUILD:-$src/build}
if [ -z "${GV_TEST_CLEAN:-}" ]; then
	exec env -i GV_TEST_CLEAN=1 PATH="$bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" LC_ALL=C TZ=UTC \
		HOME=/nonexistent GV_DATA="$src/share" GV_BIN="$bin" GV_BUILD="$build" \
		GV_SHARED="$shared" GV_PYTHON="${GV_PYTHON:-$(command -v python3 || :)}" \
		${GV_LONG:+GV_LONG="$GV_LONG"} ${GV_SAN:+GV_SAN="$GV_SAN"} ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} \
		${LSAN_OPTIONS:+LSAN_OPTIONS="$LSAN_OPTIONS"} ${UBSAN_OPTIONS:+UBSAN_OPTIONS="$UBSAN_OPTIONS"} \
		${TSAN_OPTIONS:+TSAN_OPTIONS="$TSAN_OPTIONS"} ${GV_TAP_STOP:+GV_TAP_STOP="$GV_TAP_STOP"} \
		sh "$src/tests/$(basename "$0")" "$@"
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gv-test.XXXXXX") || exit 2
# in a file, so that checks behind a pipe, in a subshell, count as well
tap_n=0 tap_failed=0
echo 0 0 >"$scratch.tap"
trap 'cd /; rm -rf "$scratch" "$scratch.tap" "$scratch.build"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2
# job commands and LD_PRELOAD take no name with a space: a link leads there
case $build in *' '*) ln -s "$build" "$scratch.build" && build=$scratch.build ;; esac

# run CMD...: stdout to ./out, stderr to ./err, exit status to $status
run() {
	ran="$*" status=0
	"$@" >out 2>err || status=$?
}
# count N: one test more, N failures more
count() {
	read -r tap_n tap_failed <"$scratch.tap"
	tap_n=$((tap_n + 1)) tap_failed=$((tap_failed + $1))
	echo "$tap_n $tap_failed" >"$scratch.tap"
}
pass() { count 0 && printf 'ok %d - %s\n' $tap_n "$1"; }
# fail NAME [FILE...]: says what was run and shows the files
fail() {
	count 1
	printf 'not ok %d - %s\n' $tap_n "$1"
	printf '# ran: %s (status %s) in %s\n' "$(printf %s "$ran" | sed '2,$s/^/#   /')" "$status" "$scratch"
	shift
	for f; do [ ! -f "$f" ] || sed "s|^|#   ${f##*/}: |;20q" "$f"; done
	[ -z "${GV_TAP_STOP:-}" ] || kill $$
}
skip() { count 0 && echo "ok $tap_n # SKIP $1"; }
# ok NAME CMD...: the command succeeds
ok() {
	ok_name=$1
	shift
	if "$@" >/dev/null 2>&1; then pass "$ok_name"; else fail "$ok_name ($*)" out err; fi
}
# is_status N NAME; is_out NAME <<EOF; is_err NAME <<EOF: exactly this
is_status() { if [ "$status" -eq "$1" ]; then pass "$2"; else fail "$2: status $status, not $1" out err; fi; }
is_out() { cat >want && if cmp -s want out; then pass "$1"; else fail "$1" want out err; fi; }
is_err() { cat >want && if cmp -s want err; then pass "$1"; else fail "$1" want err; fi; }
# silent NAME: status 0 and nothing on stderr
silent() { if [ "$status" -eq 0 ] && [ ! -s err ]; then pass "$1"; else fail "$1" err; fi; }
# err_has TEXT NAME, out_has TEXT NAME: a line holds the text
err_has() { if grep -qF -- "$1" err; then pass "$2"; else fail "$2: stderr lacks: $1" err; fi; }
out_has() { if grep -qF -- "$1" out; then pass "$2"; else fail "$2: stdout lacks: $1" out err; fi; }
same_file() { if cmp -s "$1" "$2"; then pass "$3"; else fail "$3: $1 and $2 differ" "$1" "$2"; fi; }
# drawn KIND SEED [N [M]]: a table of draw.awk, the same for the same seed everywhere
drawn() { awk -v kind="$1" -v seed="$2" -v n="${3:-0}" -v m="${4:-0}" -f "$src/tests/draw.awk"; }
true_within() { # SECONDS CMD...: until it succeeds
	tries=$(($1 * 50))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.02
	done
}
# $port: one where nobody is, drawn below those that the system hands out by itself, so that
# neither tests that run at once nor their connections meet there
free_port() {
	while :; do
		port=$((10000 + $(od -An -N2 -tu2 /dev/urandom) * 22000 / 65536))
		grep -qs ":$(printf %04X "$port") " /proc/net/tcp /proc/net/tcp6 || return 0
	done
}
# true when CMD is there
have() { command -v "$1" >/dev/null 2>&1; }
# the last line of every test file
done_testing() { read -r tap_n tap_failed <"$scratch.tap" && echo "1..$tap_n" && [ "$tap_failed" -eq 0 ]; }
