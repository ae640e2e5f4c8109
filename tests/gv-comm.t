#!/bin/sh
# gv-comm: the model by hand, every collective run and checked over both transports,
# what links of given rates carry, members that die, messages.
. "${0%/*}/lib.sh"
topologies=$shared/data/topologies
cp "$src"/examples/man/links.csv .
gv-tree -c broadcast -o trees.csv links.csv
# column NAME [FILE]: of the first row
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 { print $c }' "${2:-out}"; }
# table ROW...: of trees
table() { echo tree,root,weight,phase,src,dst,path && { [ $# -eq 0 ] || printf '%s\n' "$@"; }; }
# says CONDITION NAME: of numbers
says() { if awk "BEGIN { exit !($1) }"; then pass "$2"; else fail "$2: $1" out err; fi; }

# ---- the model: 4 trees of 25 GB/s, the deepest of depth 3 ----
run gv-comm --model -b 1MB -e 1MB -c 62500 trees.csv
# T = 10 us, k = 4: (4 + 3 - 1) (10 + 2.5)
is_out "a pipeline of four chunks, by hand" <<'E2'
collective,size,count,type,redop,root,time_us,algbw,busbw,wrong,chunk_bytes
broadcast,1000000,250000,float,,gpu0,75,13.3333,13.3333,,62500
E2
# k* = sqrt(10 (3 - 1) / 1.25) = 4
run gv-comm --model -b 1MB -e 1MB -c formula --chunk-cost=1.25us trees.csv
ok "the best chunk, by hand" grep -q ',22.5,44.4444,44.4444,,62500$' out
run gv-comm --model -b 1MB -e 1MB -c formula --slower=10 --chunk-cost=12.5us trees.csv
ok "and of links ten times slower" grep -q ',225,4.44444,4.44444,,62500$' out
run gv-comm --model --tsv -b 1KiB -e 16KiB -f 2 trees.csv
is_status 0 "tabs"
ok "a row for each size" awk -F '\t' 'NR > 1 && $2 != 512 * 2 ^ (NR - 1) { exit 1 } END { exit NR != 6 }' out
for of in broadcast:1 reduce:1 allreduce:1.5 allgather:.75 reducescatter:.75; do
	gv-tree -c "${of%:*}" links.csv | gv-comm --model -b 1MiB -e 1MiB >out
	says "\"$(column collective)\" == \"${of%:*}\" && ($(column busbw) / $(column algbw) - ${of#*:}) ^ 2 < 1e-8" "busbw of ${of%:*}"
done
run gv-comm --model -b 0 -e 2KiB trees.csv
ok "nothing takes no time; then 1 KiB" awk -F, 'NR == 2 { a = $2 == 0 && $7 == 0 && $8 == 0 } NR == 3 { exit !(a && $2 == 1024) }' out

# over given links, chunk by chunk: a chain has each of its links for itself, so that the formula is exact
gv-tree -m chain -c broadcast links.csv >out
awk -F, 'NR == 1 || $1 == 0' out >t
sed 's/,50,/,25,/' links.csv >even.csv
gv-comm --model --chunk-cost=20us -b 1MB -e 1MB -f 2 -c 50000 t >want
run gv-comm --model --chunk-cost=20us -b 1MB -e 1MB -f 2 -c 50000 -l even.csv t
same_file want out "one chain, simulated: the formula's time"
gv-comm --model --slower=100 -b 1MB -e 1MB -c 50000 t >want
run gv-comm --model --slower=100 -b 1MB -e 1MB -c 50000 -l even.csv t
same_file want out "and a hundred times slower"
run gv-comm --model -b 1MB -e 1MB -c 50000 -l links.csv trees.csv
# every byte must pass the cut about gpu0, 100 GB/s
says "$(column time_us) > 10 && $(column algbw) < 100" "no faster than the links"
gv-tree -c allreduce links.csv >t
gv-comm --model -l links.csv -b 256MiB -e 256MiB -c 128KiB --chunk-cost=.1us t >out
says "$(column algbw) > 72 && $(column algbw) < 75" "large buffers come near what links carry, 75 GB/s"

# ---- every collective, every element ----
# runs NAME OPTION...: the trees of ./t are run, all elements right
runs() {
	runs_name=$1
	shift
	run gv-comm -n 2 -w 0 "$@" t
	if [ "$status" -eq 0 ] && [ ! -s err ] && awk -F, 'NR > 1 && ($10 != 0 || $10 == "") { exit 1 } END { exit NR < 2 }' out; then
		pass "$runs_name"
	else
		fail "$runs_name" err out
	fi
}
for of in broadcast reduce allreduce allgather reducescatter; do
	for method in auto ring chain; do
		case $method:$of in chain:allgather | chain:reducescatter) continue ;; esac
		gv-tree -m $method -c $of -o t links.csv
		runs "$of by $method" -b 0 -e 256KiB -f 16
		runs "$of by $method, tcp, a chunk" -t tcp -b 12345 -e 400KB -f 7 -c 3000
		says "\"$(column collective)\" == \"$of\"" "it is a $of"
	done
done
gv-tree -o t links.csv
runs "the largest, in double" --op=max --type=double -b 100KB -e 100KB
ok "they are named" grep -q ',double,max,,' out
runs "the smallest" --op=min -b 100KB -e 100KB
runs "a chunk of one element" -c 1 -b 4KiB -e 4KiB
runs "no chunk at all: one for all" -c 1TiB -b 1MiB -e 1MiB
runs "the formula's chunk" -c formula -b 1MiB -e 1MiB
gv-tree -c broadcast -r 2 -o t links.csv
runs "another root" -b 10KB -e 10KB
ok "by its name" grep -q ',float,,gpu2,' out
for hosts in dgx2 dgx1v_x2_40gbe; do
	[ -d "$topologies" ] || continue
	gv-tree -o t "$topologies/$hosts.csv"
	runs "sixteen GPUs: $hosts" -b 300KB -e 300KB -c 4KiB
	runs "sixteen GPUs, shaped: $hosts" -b 300KB -e 300KB -c 4KiB -l "$topologies/$hosts.csv" --slower=500
done
run gv-comm -v -b 4KiB -e 4KiB -n 1 -l links.csv trees.csv
is_err "what is run" <<'E2'
gv-comm: broadcast over 4 GPUs: 4 trees, depth 3, 100 GB/s in all
gv-comm: 4 processes, over memory, no faster than links.csv
E2
run gv-comm -v --model -b 4KiB -e 4KiB trees.csv
is_err "what is predicted" <<'E2'
gv-comm: broadcast over 4 GPUs: 4 trees, depth 3, 100 GB/s in all
E2
table 0,a,1,broadcast,a,b, >one.csv
run gv-comm -v --model -b 4KiB -e 4KiB one.csv
is_err "one tree" <<'E2'
gv-comm: broadcast over 2 GPUs: 1 tree, depth 1, 1 GB/s in all
E2
# names in the order of their numbers: the blocks of an allgather are by rank
sed 's/gpu3/gpu10/g' links.csv >ten.csv
gv-tree -c allgather -o t ten.csv
runs "gpu10 is behind gpu2" -b 64KiB -e 64KiB

# ---- members that a launcher starts ----
# together PORT: four of them; rank 0 in the foreground
together() {
	for rank in 3 2 1; do
		env RANK=$rank WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT="$1" gv-comm -v -n 2 -b 64KiB -e 64KiB trees.csv >"out.$rank" 2>&1 &
	done
	run env RANK=0 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT="$1" timeout 30 gv-comm -v -n 2 -b 64KiB -e 64KiB trees.csv
	wait
}
free_port
together "$port"
ok "four members over TCP" grep -q '^broadcast,65536,16384,float,,gpu0,.*,0,[0-9]*$' out
ok "rank 0 says so" grep -q '4 processes, over TCP' err
cat out.1 out.2 out.3 >rest
ok "the others are silent" [ ! -s rest ]

# ---- somebody dies ----
# The links are so slow that it takes minutes.
slow='-l links.csv --slower=1e5 -b 64MiB -e 64MiB'
# children PID: its processes
children() { grep -ls "^PPid:	$1\$" /proc/[0-9]*/status | sed 's,/proc/,,; s,/status,,' | sort -n; }
# start OPTION...: in the background, until all members are there
start() {
	# shellcheck disable=SC2086
	gv-comm $slow "$@" trees.csv >out 2>err &
	parent=$!
	ran="gv-comm $slow $* trees.csv" status=0
	four() { [ "$(children $parent | wc -l)" -ge 4 ]; }
	true_within 60 four
	sleep .3
	children $parent >members
}
# shellcheck disable=SC2013 # numbers
# gone: no member is left; one whose parent is not there may wait for somebody to ask how it ended
gone() { for pid in $(cat members); do case $(sed -n 's/^State:	\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null) in '' | Z) ;; *) return 1 ;; esac; done; }
now_ms() { date +%s%3N; }
for transport in memory tcp; do
	start -t $transport
	victim=$(sed -n 2p members)
	begun=$(now_ms)
	kill -9 "$victim"
	status=0
	wait $parent || status=$?
	took=$(($(now_ms) - begun))
	is_status 2 "$transport: one is killed"
	is_err "$transport: who it was" <<-'E2'
		gv-comm: gpu1 was killed by signal 9
	E2
	ok "$transport: all have ended soon ($took ms)" [ $took -lt 10000 ]
	ok "$transport: nobody is left" gone
done
start
kill -9 $parent
wait $parent 2>/dev/null
ok "their parent is killed: nobody is left" true_within 10 gone
start -o target
kill $parent
wait $parent 2>/dev/null
ok "it is ended: nobody is left" true_within 10 gone
ok "and no file" [ ! -e target ]
start
kill -STOP "$(sed -n 3p members)"
kill -9 "$(sed -n 2p members)"
status=0
begun=$(now_ms)
wait $parent || status=$?
took=$(($(now_ms) - begun))
ok "one that hangs is ended, too ($took ms)" [ $took -lt 15000 ]
ok "nobody is left" gone
start
kill -9 "$(sed -n 1p members)" "$(sed -n 2p members)" "$(sed -n 3p members)"
status=0
wait $parent || status=$?
is_status 2 "three are killed at once"
ok "nobody is left" gone

# members that a launcher has started say who is gone
free_port
pids=
for rank in 0 1 2 3; do
	env RANK=$rank WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" timeout 120 gv-comm -n 100000 -b 1MiB -e 1MiB -c 64KiB trees.csv >"out.$rank" 2>"err.$rank" &
	pids="$pids $!"
done
# three have called rank 0: it is the remote port of those that are ESTABLISHED
called() { [ "$(grep -c ":$(printf %04X "$port") 01 " /proc/net/tcp)" -ge 3 ]; }
true_within 60 called
sleep 1.5
# shellcheck disable=SC2086
set -- $pids
kill -9 "$(children "$3" | tr -d ' ')"
begun=$(now_ms)
told=0
for rank in 0 1 3; do
	status=0
	eval "wait \$$((rank + 1))" || status=$?
	[ $status -eq 2 ] && grep -q '^gv-comm: rank 2 of 127.0.0.1 is gone$' "err.$rank" && told=$((told + 1))
done
took=$(($(now_ms) - begun))
wait
cat err.0 err.1 err.3 >err
says "$told == 3 && $took < 10000" "the others say so, soon ($took ms)"

# ---- links of given rates ----
# of carries BEST of 3 tries at least WANT: chunks are what they carry when processors are free
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: no times"
elif [ -d "$topologies" ]; then
	# part LINKS SLOWER CARRIED OPTION...: of CARRIED GB/s, in per cent, the best of three tries, over
	# slower links each time, since members wake up late on a machine that does other things as well
	part() {
		part_links=$1 part_slower=$2 part_of=$3
		shift 3
		part_best=0
		for i in 1 2 3; do
			run gv-comm -l "$part_links" --slower=$((part_slower * i)) -n 3 "$@" t
			part_best=$(awk -v b="$part_best" -v x="$(column algbw)" -v s="$((part_slower * i))" -v of="$part_of" \
				'BEGIN { x = 100 * x * s / of; printf "%.1f", (x > b ? x : b) }')
			awk -v b="$part_best" 'BEGIN { exit !(b >= 98) }' && break
		done
		echo "$part_best"
	}
	six=$topologies/alloc/dgx1p_0-1-3-4-5-7.csv
	gv-tree -c broadcast -o t "$six"
	three=$(part "$six" 1000 60 -b 24MiB -e 24MiB -c 32KiB)
	echo "# broadcast by 3 trees over links of 20 MB/s: $three % of what they carry"
	says "$three >= 95" "three trees carry 95 % of what links do"
	says "$three < 100" "and not more than all"
	gv-tree -c broadcast -o t "$topologies/dgx1v.csv"
	many=$(part "$topologies/dgx1v.csv" 3000 150 -b 24MiB -e 24MiB -c 32KiB)
	echo "# broadcast by 6 trees over links of 8 MB/s a lane: $many %"
	says "$many >= 88 && $many < 100" "six trees carry 88 %"
	# trees beside a ring, measured and by the simulation
	for i in 1 2 3 4; do
		for method in auto ring; do
			gv-tree -m $method -o t "$six"
			run gv-comm -l "$six" --slower=${i}000 -n 3 -b 6MiB -e 6MiB -c 32KiB t
			column algbw >"algbw.$method"
			gv-comm --model -l "$six" --slower=${i}000 -b 6MiB -e 6MiB -c 32KiB t >out
			column algbw >"model.$method"
		done
		measured=$(awk -v a="$(cat algbw.auto)" -v b="$(cat algbw.ring)" 'BEGIN { printf "%.3f", a / b }')
		model=$(awk -v a="$(cat model.auto)" -v b="$(cat model.ring)" 'BEGIN { printf "%.3f", a / b }')
		awk "BEGIN { exit !(($measured / $model - 1) ^ 2 < .03 ^ 2) }" && break
	done
	echo "# allreduce over packed trees against the ring: $measured times as fast; by the simulation $model"
	says "($measured / $model - 1) ^ 2 < .05 ^ 2 && $measured > 1.3" "trees beside a ring, as simulated"
	# the chunk that is found, beside others over the range
	gv-tree -c broadcast -o t "$six"
	for i in 1 2 4 8; do
		run gv-comm -l "$six" --slower=${i}000 -n 6 -b 12MiB -e 12MiB t
		found=$(column algbw) chunk=$(column chunk_bytes) best=0
		for other in 4KiB 16KiB 64KiB 256KiB; do
			run gv-comm -l "$six" --slower=${i}000 -n 3 -b 12MiB -e 12MiB -c $other t
			best=$(awk -v b="$best" -v x="$(column algbw)" 'BEGIN { print (x > b ? x : b) }')
		done
		awk "BEGIN { exit !($found >= .97 * $best) }" && break
	done
	echo "# a chunk of $chunk was found: $found of $best GB/s"
	says "$found >= .97 * $best" "the chunk that is found is within 3 % of the best"
else
	skip "no shared data: links of real machines"
fi

# ---- messages ----
bad() { # TEXT COMMAND...: status 2, saying that, writing nothing
	bad_text=$1
	shift
	run "$@"
	if [ "$status" -eq 2 ] && [ ! -s out ] && grep -qF -e "$bad_text" err; then pass "$bad_text"; else fail "$bad_text" err; fi
}
bad 'links.csv:1: this is a table of links; expected a table of trees (tree, root, weight, src, dst)' gv-comm --model links.csv
table >x
bad 'x: trees over 0 GPUs; a collective has 2 to 1024' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,a,-1,broadcast,a,c, >x
bad 'x:3: weight: expected GB/s above 0, got -1' gv-comm --model x
table 0,c,1,broadcast,a,b, >x
bad 'x:2: root: "c" is no GPU of these trees' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,b,1,broadcast,a,b, >x
bad 'x:3: root: tree 0 has another one above' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,a,2,broadcast,a,b, >x
bad 'x:3: weight: tree 0 has another one above' gv-comm --model x
table 0,a,1,up,a,b, >x
bad 'x:2: phase: expected reduce or broadcast, got "up"' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,a,1,broadcast,a,b, >x
bad 'x:3: dst: tree 0: "b" receives twice' gv-comm --model x
table 0,a,1,reduce,b,a, 0,a,1,reduce,b,a, >x
bad 'x:3: src: tree 0: "b" sends twice' gv-comm --model x
table 0,a,1,broadcast,b,a, >x
bad 'x:2: dst: tree 0: "a" is the root and receives' gv-comm --model x
table 0,a,1,reduce,a,b, >x
bad 'x:2: src: tree 0: "a" is the root and sends' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,a,1,broadcast,c,c, >x
bad 'x:3: dst: tree 0: "c" is linked to itself' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,a,1,broadcast,c,d, 0,a,1,broadcast,d,c, >x
bad 'x: tree 0: no way between "c" and its root "a" in phase broadcast' gv-comm --model x
table 0,a,1,reduce,b,a, 1,a,1,broadcast,a,b, >x
bad 'x: tree 1 has other phases than tree 0: trees of one collective are alike' gv-comm --model x
table 0,a,1,broadcast,a,b, 0,a,1,broadcast,a,c, 1,b,1,broadcast,b,a, 1,b,1,broadcast,b,c, >x
bad 'x: 2 of 3 GPUs are roots; expected one (broadcast) or all (allgather)' gv-comm --model x
awk 'BEGIN { print "tree,root,weight,phase,src,dst"; for (i = 0; i < 10001; i++) print i ",a,1,broadcast,a,b" }' >x
bad 'x:10002: tree: more than 10000 trees' gv-comm --model x
sed 's/gpu0,gpu1,25/gpu0,gpu1,-1/' links.csv >x
bad 'x:2: gbytes_per_s: expected 0 to 1000000 GB/s, got -1' gv-comm -l x trees.csv
sed 's/gpu0,gpu1,25/gpu0,gpu1,2e6/' links.csv >x
bad 'x:2: gbytes_per_s: expected 0 to 1000000 GB/s, got 2e+06' gv-comm -l x trees.csv
sed 's/gpu0,gpu1,25/gpu0,gpu1,fast/' links.csv >x
bad 'x:2: gbytes_per_s: expected a number, got "fast"' gv-comm -l x trees.csv
ok "and no more than that" [ "$(wc -l <err)" -eq 1 ]
sed 's/gpu0,gpu1,25/gpu0,gpu1,0/' links.csv >x
bad 'the trees use a link from "gpu0" to "gpu1": there is none' gv-comm -l x trees.csv
table 0,b,1,broadcast,b,a, >of_b
printf 'src,dst,gbytes_per_s\na,b,10\n' >x
bad 'the trees use a link from "b" to "a": there is none' gv-comm --model -l x of_b
sed 's/gpu0,gpu1,25/gpu0,gpu1,1e6/' links.csv >x
run gv-comm --model -b 1KiB -e 1KiB -l x trees.csv
is_status 0 "the fastest that may be"
grep -v 'gpu0,gpu1' links.csv >x
bad 'the trees use a link from "gpu0" to "gpu1": there is none' gv-comm -l x trees.csv
bad 'this is a table of trees; expected a table of links' gv-comm -l trees.csv trees.csv
bad '--min-size: expected bytes, as in 64KiB, got "some"' gv-comm -b some trees.csv
for size in 2TiB 1099511627777; do
	bad "--min-size: expected bytes, as in 64KiB, got \"$size\"" gv-comm -b $size trees.csv
	bad "--max-size: expected bytes, as in 64KiB, got \"$size\"" gv-comm -e $size trees.csv
	bad "--chunk: expected bytes, search or formula, got \"$size\"" gv-comm -c $size trees.csv
done
for chunk in 0 some; do
	bad "--chunk: expected bytes, search or formula, got \"$chunk\"" gv-comm -c $chunk trees.csv
done
bad '--chunk-cost: expected a time above 0' gv-comm --chunk-cost=0s trees.csv
bad '--min-size is above --max-size' gv-comm -b 2 -e 1 trees.csv
bad 'chunks of 1 bytes are too many to simulate; give larger ones' gv-comm --model -l links.csv -b 64MiB -c 1 trees.csv
bad '--links is of processes on one machine; here are workers that a launcher has started' env RANK=0 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 gv-comm -l links.csv trees.csv
bad 'nowhere/x: cannot create: No such file or directory' gv-comm --model -o nowhere/x trees.csv
# members that are ended because of it do not matter
for i in 1 2 3 4; do
	bad 'gv-comm: cannot write: No space left on device' sh -c 'exec gv-comm -n 1 -w 0 -b 1KiB -e 1MiB -f 2 trees.csv >/dev/full'
	ok "and nothing else" [ "$(wc -l <err)" -eq 1 ]
done
bad 'no sockets: Too many open files' sh -c 'ulimit -n 12 && exec gv-comm trees.csv'
bad '2 workers for trees over 4 GPUs' env RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 gv-comm trees.csv
done_testing
