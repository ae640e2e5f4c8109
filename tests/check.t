#!/bin/sh
# tests/check.sh itself, on a small tree: the order of tests, what a skip and a failure
# do, and two at once.
. "${0%/*}/lib.sh"

if ! have prove || ! have flock; then
	fail "prove and flock are here"
	done_testing
	exit
fi
mkdir -p tree/tests tree/build/helpers tree/build/preload tree/build/whole tree/build/unit
cp "$src/tests/check.sh" "$src/tests/one.sh" tree/tests
printf 'known reason\t:\nfalse reason\tfalse\n' >tree/tests/skips
printf '30 second.t\n40 first\n' >tree/tests/times
# test_of NAME SCRIPT: a test that writes its name into order, then runs the script
test_of() { printf '#!/bin/sh\necho %s >>"%s/order"\n%s\n' "${1##*/}" "$scratch" "$2" >"tree/$1" && chmod +x "tree/$1"; }
test_of tests/last.t 'echo "ok 1"; echo 1..1'
test_of tests/second.t 'echo "ok 1"; echo 1..1'
test_of build/unit/first 'echo "ok 1"; echo 1..1'
# check [NAME=VALUE...]: in the tree
check() {
	rm -f order
	run env -u GV_SAN -u GV_LONG "$@" sh -c 'cd "$1/tree" && exec sh tests/check.sh build bin' sh "$scratch"
}

check JOBS=1
is_status 0 "tests that pass"
out_has 'Result: PASS' "are said to"
printf '%s\n' first second.t last.t >want
same_file want order "those that take long by tests/times come first"
echo '50 last.t' >tree/build/times
check JOBS=1
printf '%s\n' last.t first second.t >want
same_file want order "by what they took here the last time before that"
sed 's/^[0-9]* //' tree/build/times | sort >got
printf '%s\n' first last.t second.t >want
same_file want got "which is kept"
check TESTS=tests/last.t
echo last.t >want
same_file want order "TESTS: only these"

# ---- skips and failures ----
test_of tests/last.t 'echo "ok 1 # SKIP known reason"; echo 1..1'
check
is_status 0 "a skip that is known"
out_has '1 known reason' "is counted"
for why in false unknown; do
	test_of tests/last.t "echo 'ok 1 # SKIP $why reason'; echo 1..1"
	check
	is_status 1 "a skip for a reason that is $why is a failure"
	out_has "last.t: not ok 1 - skipped: $why reason" "which is shown"
done
test_of tests/last.t 'echo "not ok 1 - it"; echo "# why"; echo 1..1; exit 1'
check
is_status 1 "a test that fails"
out_has 'last.t: not ok 1 - it' "is shown"

# ---- two at once ----
test_of tests/last.t "until [ -e '$scratch/go' ]; do sleep .02; done; echo 'ok 1'; echo 1..1"
rm -f order
env -u GV_SAN -u GV_LONG JOBS=3 sh -c 'cd "$1/tree" && exec sh tests/check.sh build bin' sh "$scratch" >one.out 2>&1 &
pid=$!
true_within 60 test -s tree/build/tap/first.tap
true_within 60 grep -q last order
run sh -c 'cd "$1/tree" && exec sh tests/check.sh build bin' sh "$scratch"
is_status 2 "a second one in the same folder"
is_err "says why" <<EOT
check: another one is at work in $scratch/tree/build; this one does nothing
EOT
true_within 60 grep -q second order
: >go
status=0
wait $pid || status=$?
cp one.out out
is_status 0 "does not disturb the first"
ok "which runs its tests once" test "$(sort order | tr '\n' ' ')" = "first last.t second.t "
check JOBS=2
is_status 0 "when it has ended the next one runs"
done_testing
