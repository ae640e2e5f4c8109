#!/bin/sh
# gv-profile links: the shape of its table, that it feeds gv-tree, ends when a process
# does, and what it says of options.
. "${0%/*}/lib.sh"

run gv-profile links -n 3 --window=2ms --repeats=1
is_status 0 "three processes over shared memory"
ok "a row for each two and direction" [ "$(grep -c '^gpu[0-2],gpu[0-2],[0-9.e+-]*,SHM,' out)" -eq 6 ]
ok "every number is one" eval 'awk -F, "NR > 1 { for (i = 3; i <= 7; i++) if (i != 4 && !(\$i > 0)) bad = 1 } END { exit bad }" out'
cp out links.csv
run gv-tree -v -c broadcast links.csv
ok "trees are packed into it" grep -q '(100 %)' err
run gv-profile links -q --processes=2 --transport=tcp --window=2ms --repeats=1 --size=64KiB --node=n1 --tsv
is_status 0 "two over TCP"
ok "called by their node" grep -q '^n1.gpu1	n1.gpu0	[0-9.e+-]*	TCP	' out
run gv-profile links -v -n 5 --window=1ms --repeats=1 -o five.csv
ok "an odd number of processes" eval '[ $(wc -l <five.csv) -eq 21 ] && ! grep -q ",0$\|,0," five.csv'
ok "what is measured is said" grep -q 'gv-profile: 5 processes over memory, messages of 1048576 bytes, 1 windows of 0.001 s' err

# one process is killed: all end soon, and the old file stays
echo old >kept.csv
gv-profile links -n 4 --window=2s --repeats=100 -o kept.csv 2>err &
pid=$!
until child=$(pgrep -P "$pid" | sed -n 4p) && [ -n "$child" ]; do sleep .05; done
kill -9 "$child"
status=0
wait "$pid" || status=$?
is_status 2 "a process that is killed ends the measurement"
ok "and is told" grep -Eq 'gv-profile: (a process was killed by signal 9|.* of this machine is gone)' err
ok "and the old file stays" grep -qx old kept.csv

# one process stands still for a while: the repeats tell that something is wrong
gv-profile links -n 2 --window=5ms --repeats=40 >out 2>err &
pid=$!
until child=$(pgrep -P "$pid" | sed -n 2p) && [ -n "$child" ]; do sleep .02; done
sleep .1
kill -STOP "$child" && sleep .4 && kill -CONT "$child"
status=0
wait "$pid" || status=$?
is_status 0 "a process that stands still is waited for"
ok "and it shows" grep -q 'warning: repeats of one measurement differ by a factor of .*: the machine was busy' err

bad() { # TEXT COMMAND...
	bad_text=$1
	shift
	run "$@"
	if [ "$status" -eq 2 ] && [ ! -s out ] && grep -qF -e "$bad_text" err; then pass "$bad_text"; else fail "$bad_text" err; fi
}
bad '--size: 4: expected 8 to 2^30 bytes, such as 1MiB' gv-profile links --size=4
bad '--window: 0: expected a time such as 50ms' gv-profile links --window=0
bad 'too many operands' gv-profile links more
run env LD_PRELOAD= sh -c 'ulimit -n 6; exec gv-profile links -n 8'
ok "no descriptors are an error" [ "$status" -eq 2 ]

done_testing
