#!/bin/sh
# gv-profile links: the shape of its table, that it feeds gv-tree, ends when a process
# does, and what it says of options.
. "${0%/*}/lib.sh"

run gv-profile links -n 3 --window=2ms --repeats=1
is_status 0 "three processes over shared memory"
ok "a row for each two and direction" [ "$(grep -c '^gpu[0-2],gpu[0-2],[0-9.e+-]*,SHM,' out)" -eq 6 ]
ok "every number is one" eval 'awk -F, "NR > 1 { for (i = 3; i <= 9; i++) if (i != 4 && !(\$i > 0)) bad = 1 } END { exit bad }" out'
cp out links.csv
run gv-tree -v -c broadcast links.csv
ok "trees are packed into it" grep -q '(100 %)' err
run gv-profile links -q --processes=2 --transport=tcp --window=2ms --repeats=1 --size=64KiB --node=n1 --tsv
is_status 0 "two over TCP"
ok "called by their node" grep -q '^n1.gpu1	n1.gpu0	[0-9.e+-]*	TCP	' out
run gv-profile links -v -n 5 --window=1ms --repeats=1 -o five.csv
ok "an odd number of processes" eval '[ $(wc -l <five.csv) -eq 21 ] && ! grep -q ",0$\|,0," five.csv'
ok "what is measured is said" grep -q 'gv-profile: 5 processes over memory, messages of 1048576 bytes, 1 window of 0.001 s' err

# ---- processes that somebody else has started ----
# started RANK N ARGS...: one of N
started() {
	started_rank=$1 started_n=$2
	shift 2
	env RANK="$started_rank" WORLD_SIZE="$started_n" MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" GV_GANG_LINK=tcp \
		gv-profile links --window=2ms --repeats=1 "$@"
}
free_port
started 2 3 -q >out.2 2>&1 &
last=$!
started 1 3 -q >out.1 2>&1 &
middle=$!
run started 0 3 -v --node=x
is_status 0 "three processes of a launcher"
wait $last && wait $middle
ok "the others end well" [ $? -eq 0 ]
ok "and write nothing" [ ! -s out.1 -a ! -s out.2 ]
ok "all six links are measured" eval 'awk -F, "NR > 1 { n++; if (\$1 == \$2 || \$1 !~ /^x\.gpu[0-2]\$/ || \$2 !~ /^x\.gpu[0-2]\$/ || \$4 != \"NET\" || seen[\$1 \$2]++) bad = 1
	for (i = 3; i <= 9; i++) if (i != 4 && !(\$i > 0)) bad = 1 } END { exit bad || n != 6 }" out'
ok "what a process sends to all others is one number" eval '[ $(cut -d, -f1,8,9 out | sort -u | wc -l) -eq 4 ]'
ok "over the network, it says" grep -q 'gv-profile: 3 processes over the network, messages of 1048576 bytes' err
run env RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=9 gv-profile links -n 2
ok "a number of processes beside it is an error" eval '[ $status -eq 2 ] && grep -q "gv-profile: --processes is of processes of one machine; here are those that a launcher has started (WORLD_SIZE)" err'
run env RANK=0 WORLD_SIZE=65 MASTER_ADDR=127.0.0.1 MASTER_PORT=9 gv-profile links
ok "too many are" eval '[ $status -eq 2 ] && grep -q "WORLD_SIZE: 65, of at most 64" err'
free_port
(exec env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" gv-profile links -q --window=2s --repeats=100) &
other=$!
(sleep 3 && kill -9 $other) & # it takes minutes
run timeout 60 env RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" gv-profile links -q --window=2s --repeats=100
wait
ok "one that is killed is named" eval '[ $status -eq 2 ] && [ ! -s out ] && grep -q "rank 1 of 127.0.0.1 is gone" err'

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
gv-profile links -n 2 --window=5ms --repeats=100 >out 2>err &
pid=$!
until child=$(pgrep -P "$pid" | sed -n 2p) && [ -n "$child" ]; do sleep .02; done
sleep .1
kill -STOP "$child" && sleep .4 && kill -CONT "$child"
status=0
wait "$pid" || status=$?
is_status 0 "a process that stands still is waited for"
ok "and it shows" grep -q 'warning: repeats of one measurement differ by a factor of .*: the machine was busy' err

# messages to all are sums of others that came: none of many short runs waits for ever
mkdir many
seq 300 | xargs -n 1 -P 6 sh -c 'timeout 20 gv-profile links -q -n 2 --window=1ms --repeats=1 >"many/$0" || echo "$0: status $?"' >hung
ok "short runs end" [ ! -s hung ]
rm -rf many

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
