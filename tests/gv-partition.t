#!/bin/sh
# gv-partition: its tables, options and messages.  That its plans are the best is
# in unit/gv-partition.brute.c and gv-partition.reference.c.
. "${0%/*}/lib.sh"
. "$src/tests/plans.sh"

cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
usage='usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]'
# places: node, stage and replicas of each row of the plan in TSV in out
places() { cut -f1,7,8 out | tr '\t' ' ' >got && mv got out; }

# ---- tables ----
run gv-partition -l 4@10Gb/s -e edges.csv --tsv layers.csv
silent "a plan"
places
is_out "each layer has its stage" <<EOF
node_id stage replicas
in 0 3
conv1 0 3
conv2a 0 3
conv2b 0 3
add 0 3
conv3 0 3
pool 0 3
fc1 1 1
fc2 1 1
EOF
gv-partition -l 4@10Gb/s -e edges.csv layers.csv >plain
sed 's/,[01],[0-9]*,none,[01]x[0-9]*$//; s/,stage,replicas,recompute,place$//' plain >copied
ran="gv-partition without its columns"
same_file copied layers.csv "rows and cells are copied byte for byte"
run gv-partition -l 4@10Gb/s -e edges.csv <layers.csv
same_file out plain "standard input without an operand"
run gv-partition -l 4@10Gb/s -e edges.csv - <layers.csv
same_file out plain "standard input by -"
run gv-partition -l 4@10Gb/s -e - layers.csv <edges.csv
same_file out plain "the edges on standard input"
gzip -c layers.csv >layers.csv.gz
run gv-partition -l 4@10Gb/s -e edges.csv layers.csv.gz
same_file out plain "gzip"
run gv-partition -l 4@10Gb/s -e edges.csv -o result.csv layers.csv
silent "-o"
same_file result.csv plain "-o writes the same"
run gv-partition -l 4@10Gb/s -e edges.csv plain
same_file out plain "a plan comes out as it went in"
run gv-partition -l 1@10Gb/s -e edges.csv plain
sed 's/,0,1,none,0x1$//; s/,stage,replicas,recompute,place$//' out >copied
same_file copied layers.csv "an old plan is replaced in place"
{ cat layers.csv && echo && cat edges.csv; } >both.csv
{ cat plain && echo && cat edges.csv; } >wanted
run gv-partition -l 4@10Gb/s both.csv
same_file out wanted "edges behind the layers are used, and follow the plan"
cp out again.csv
run gv-partition -l 4@10Gb/s again.csv
same_file out wanted "and again"
{ cat both.csv && echo && cat edges.csv; } >three.csv
run gv-partition -l 4@10Gb/s three.csv
is_status 2 "a third table is refused"
run gv-partition -l 4@10Gb/s -e edges.csv both.csv
is_status 2 "and a second one where edges are a file"
(head -n 1 layers.csv && sed 1d layers.csv | sort -r) >shuffled.csv
gv-partition -l 4@10Gb/s -e edges.csv shuffled.csv | sort >out
sort plain >wanted
ran="gv-partition of rows in another order"
same_file out wanted "the order of the rows does not matter"
sed '/^conv2b\|^add/d; s/conv2b/conv2a/' layers.csv >chain.csv
printf 'src,dst\nin,conv1\nconv1,conv2a\nconv2a,conv3\nconv3,pool\npool,fc1\nfc1,fc2\n' >chain-edges.csv
gv-partition -l 4@10Gb/s -e chain-edges.csv -o wanted chain.csv
run gv-partition -l 4@10Gb/s chain.csv
same_file out wanted "without edges each row feeds the next"
run gv-partition -l 4@1.25GB/s -e edges.csv layers.csv
same_file out plain "10Gb/s are 1.25GB/s"
run gv-partition -l 4@10Gbps -e edges.csv layers.csv
same_file out plain "10Gbps are 10Gb/s"

# ---- what is planned ----
# answer ARGS...: slowest_s, stages and gpus of the plan of the layers
answer() {
	gv-partition -v "$@" -e edges.csv -o /dev/null layers.csv 2>&1 | tr ' ' '\n' |
		sed -n 's/^slowest_s=\(.*\)/\1/p; s/^stages=//p; s/^gpus=//p' | tr '\n' ' '
}
# gives NAME WANT ARGS...: those are WANT
gives() {
	gives_name=$1 gives_want=$2
	shift 2
	ran="gv-partition -v $*" status=0
	got=$(answer "$@")
	if [ "$got" = "$gives_want " ]; then pass "$gives_name"; else fail "$gives_name: got $got"; fi
}
gives "paper" "2 4 0.021125" -l 4@10Gb/s
gives "compat" "2 4 0.02220179288888889" -l 4@10Gb/s --cost=compat
gives "two levels" "3 7 0.01584375" -l 4@25GB/s -l 2@10Gb/s
gives "flat" "2 8 0.008875" -l 4@25GB/s -l 2@10Gb/s --flat --cut=none
gives "straight" "4 4 0.024375" -l 4@10Gb/s --straight --cut=none --all-gpus
gives "all GPUs" "2 4 0.021125" -l 4@10Gb/s --all-gpus
gives "fewest GPUs" "3 6 0.01584375" -l 4@25GB/s -l 2@10Gb/s --fewest-gpus
gives "as upstream cuts" "2 4 0.021125" -l 4@10Gb/s --cut=upstream
gives "one GPU" "1 1 0.069125" -l 1@10Gb/s

# ---- many prefixes ----
run gv-partition -l 4@10Gb/s -e edges.csv --prefixes=3 layers.csv
is_status 0 "grouped: status"
is_err "prefixes that are left out are told of" <<EOF
gv-partition: warning: more than 3 prefixes, of which 7 are looked at
EOF
run gv-partition -q -v -l 4@10Gb/s -e edges.csv --prefixes=3 -o /dev/null layers.csv
err_has "exact=no" "and the bound is not the answer"
run gv-partition -q -l 4@10Gb/s -e edges.csv --prefixes=3 layers.csv
silent "-q does not tell"
awk 'BEGIN { print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
	for (i = 0; i < 5000; i++) print "l" i ",1,2,1000,1000" }' >deep.csv
run gv-partition -v --explain -l 8@10Gb/s deep.csv
err_has "of which 2358 are looked at" "a long chain is not one group"
run gv-partition -q -v --straight --explain -l 8@10Gb/s deep.csv
err_has "stages=8 gpus=8 slowest_s=1.87" "and can be cut"
# fork N: N branches of a layer between two layers, some heavy
fork() {
	awk -v n="$1" 'BEGIN { srand(3)
		print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes" >"fork.csv"
		print "src,dst" >"fork_edges.csv"
		for (i = 0; i < n + 2; i++) {
			t = .5 + 9.5 * rand() * rand()
			printf "l%d,%.3f,%.3f,%d,%d\n", i, t / 3, 2 * t / 3, 1e6 * rand(), 1e7 * rand() >"fork.csv"
			if (i > 0 && i <= n) printf "l0,l%d\nl%d,l%d\n", i, i, n + 1 >"fork_edges.csv"
		} }'
}
# slowest [ARGS...]: the time of that plan of the fork, all costs counted
# shellcheck disable=SC2086 # several words
slowest() {
	if [ $# -gt 0 ]; then gv-partition -q $machine -o fork_plan.csv "$@"; fi
	gv-partition -q -v --evaluate $machine -e fork_edges.csv fork_plan.csv 2>&1 >/dev/null |
		sed 's/.*slowest_s=\([^ ]*\).*/\1/'
}
# no_worse NAME A B
no_worse() {
	ran="gv-partition $machine of a fork: $2 and $3"
	ok "$1" awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a <= b * (1 + 1e-9)) }'
}
for machine in '-l 16@1.25GB/s' '-l 48@1.25GB/s' '-l 4@12GB/s -l 4@1.25GB/s' '-l 4@12GB/s -l 4@1.25GB/s --flat'; do
	for n in 14 60; do
		fork $n
		ours=$(slowest -e fork_edges.csv fork.csv)
		no_worse "$n branches, $machine: no worse than the rows in order" "$ours" "$(slowest fork.csv)"
		no_worse "$n branches, $machine: nor than with PipeDream's cuts" "$ours" \
			"$(slowest --cut=upstream -e fork_edges.csv fork.csv)"
		[ "$machine" = '-l 48@1.25GB/s' ] || no_worse "$n branches, $machine: nor than with fewer prefixes" "$ours" \
			"$(slowest --prefixes=512 -e fork_edges.csv fork.csv)"
	done
done
# on a terminal long work tells how far it is, of how much
if [ -z "${GV_PYTHON:-}" ]; then
	skip "no python3"
else
	cat >terminal.py <<'E'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    sys.stdout.write(got.decode().replace("\r", "\n"))
E
	fork 13
	for args in '-l 64@1.25GB/s --prefixes=20000' '-l 4@12GB/s -l 4@1.25GB/s --prefixes=20000 -m 200MB' \
		'-l 16@1.25GB/s --top=2' '-l 4@12GB/s -l 4@1.25GB/s --flat' '-p 2bw --batch=512 -l 256@1GB/s'; do
		ran="gv-partition $args on a terminal" status=0
		began=$(date +%s)
		# shellcheck disable=SC2086
		"$GV_PYTHON" terminal.py gv-partition $args -e fork_edges.csv -o made.csv fork.csv >out 2>err
		ok "$args: how far it is" grep -q 'planning: [0-9]* of [0-9][0-9]* p' out
		ok "$args: ten times a second at most" [ "$(grep -c 'planning: [0-9]* of ' out)" -le $((10 * ($(date +%s) - began + 1) + 1)) ]
	done
fi
fork 14
run gv-partition -v -l 16@1.25GB/s -e fork_edges.csv -o /dev/null fork.csv
err_has "prefixes=16385 exact=yes" "on one level 16385 prefixes are all looked at"
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,1,1,1,1\nb,1,1,1,1\nc,1,1,1,1\n' >apart.csv
printf 'src,dst\n' >none.csv
run gv-partition -q -l 2@1GB/s -e none.csv --prefixes=2 apart.csv
silent "layers that nothing connects, and few prefixes"
run gv-partition -v --explain -l 3@1kB/s -e none.csv apart.csv
is_err "layers that nothing connects" <<EOF
gv-partition: cost=paper prefixes=7 exact=yes stages=2 gpus=3 slowest_s=0.002 bound_s=0.002 single_s=0.006 data_parallel_s=0.004 speedup=3 speedup_over_data_parallel=2
EOF

# ---- rows without cost ----
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,0,0,1,0\nb,0,0,1,0\n' >zero.csv
run gv-partition -v -o /dev/null -l 2@1GB/s zero.csv
is_err "a model that takes no time is as fast everywhere" <<EOF
gv-partition: cost=paper prefixes=2 exact=yes stages=1 gpus=1 slowest_s=0 bound_s=0 single_s=0 data_parallel_s=0 speedup=1 speedup_over_data_parallel=1
EOF
sed 's/^in,Input,12/in,Input,0/' layers.csv >free.csv
gv-partition -v -l 4@10Gb/s -e edges.csv free.csv 2>wanted >/dev/null
run gv-partition -v -l 4@10Gb/s -e edges.csv layers.csv
same_file err wanted "data loading counts nothing"
{ cat layers.csv && echo 'got,__getitem__(1),0,0,5,0'; } >item.csv
{ cat edges.csv && echo 'fc1,got'; } >item-edges.csv
run gv-partition -l 4@10Gb/s -e item-edges.csv --tsv item.csv
places
out_has "got 1 1" "an output that nobody reads is where it was made"

# ---- explain, evaluate ----
run gv-partition --explain -l 4@25GB/s -l 2@10Gb/s -e edges.csv layers.csv
is_out "the stages" <<EOF
level,stage,within,layers,first_layer,last_layer,replicas,gpus,recompute,compute_s,sync_s,transfer_s,load_s,limit,parameter_bytes,activation_bytes,in_flight,memory_bytes
1,0,0,6,conv1,pool,4,4,none,0.01584375,9.08544e-05,0,0.01584375,compute,1514240,285802496,2,579176192
2,0,0,6,conv1,pool,1,4,,0.01584375,0,0,0.01584375,compute,1514240,285802496,,
1,1,1,1,fc1,fc1,1,1,none,0.005,0,0,0.005,compute,205537280,524288,3,1234796544
1,2,1,1,fc2,fc2,2,2,none,0.000375,0.00065552,4.194304e-05,0.00065552,sync,16388000,128000,1,65680000
2,1,0,2,fc1,fc2,1,3,,0.005,0,0.0051380224,0.0051380224,transfer,221925280,652288,,
EOF
cp out wanted
gv-partition -l 4@25GB/s -l 2@10Gb/s -e edges.csv -o nested.csv layers.csv
run gv-partition --evaluate -l 4@25GB/s -l 2@10Gb/s -e edges.csv nested.csv
same_file out wanted "the plan evaluated is the plan explained"
run gv-partition --evaluate -v -l 4@10Gb/s -e edges.csv plain
is_err "what an evaluated plan says" <<EOF
gv-partition: cost=paper stages=2 gpus=4 slowest_s=0.021125 bound_s=0.01728125 single_s=0.069125 data_parallel_s=0.268127424 speedup=3.272 speedup_over_data_parallel=12.69
EOF
# a plan by hand, without place and recompute, on a machine of levels
awk -F, -v OFS=, 'NR == 1 { print $0, "stage,replicas"; next } { print $0, /^fc/ ? "1,1" : "0,7" }' layers.csv >hand.csv
run gv-partition --evaluate --tsv -l 4@25GB/s -l 2@10Gb/s -e edges.csv hand.csv
cut -f2,7,14 out >got
mv got out
is_out "a plan by hand, taken as flat" <<EOF
stage	replicas	limit
0	7	compute
1	1	compute
EOF
run gv-partition --evaluate -m 700MB -l 4@10Gb/s -e edges.csv plain
is_status 1 "an evaluated plan that does not fit: status"
is_err "an evaluated plan that does not fit" <<EOF
gv-partition: stage 1 needs 0.827 GiB on each GPU, 0.175 GiB too much
EOF

# ---- memory ----
# needs NAME WANT ARGS...: recompute, in_flight and memory_bytes of the stages
needs() {
	needs_name=$1 needs_want=$2
	shift 2
	run gv-partition --explain --tsv -l 4@10Gb/s -e edges.csv "$@" layers.csv
	got=$(sed 1d out | cut -f9,17,18 | tr '\n\t' '; ')
	if [ "$got" = "$needs_want;" ]; then pass "$needs_name"; else fail "$needs_name: got $got"; fi
}
needs "PipeDream: a version and a stash for each minibatch in flight" \
	"none 2 579176192;none 1 888353408"
needs "plain gradient descent" "none 2 576147712;none 1 444502848" --optimizer=sgd
needs "momentum" "none 2 577661952;none 1 666428128" --optimizer=momentum
needs "2bw" "none 2 579176192;none 1 1110278688" --schedule=2bw
needs "flush" "none 2 577661952;none 1 888353408" --schedule=flush --micro-batches=8
needs "flush with one micro-batch" "none 1 288648192;none 1 891564672" --schedule=flush --micro-batches=1
needs "gpipe: each of three replicas has three of eight" "none 3 863464448;none 8 892919424" --schedule=gpipe --micro-batches=8
needs "recomputing where it must" "full 4 291859456;none 12 895528576" -m 900MB --schedule=gpipe --micro-batches=12
needs "recomputing everywhere" "full 2 293373696;full 1 891564672" --recompute=full
run gv-partition -m 800MB --schedule=gpipe --micro-batches=8 --recompute=none -l 4@10Gb/s -e edges.csv layers.csv
is_status 1 "too large: status"
is_out "too large: no output" </dev/null
is_err "too large" <<EOF
gv-partition: no plan fits: the fullest stage of the best one, 2 layers from "fc1" to "fc2" with replicas=1 and in_flight=8, needs 0.832 GiB on each GPU, 0.087 GiB too much
EOF
run gv-partition -m 500MB -l 4@25GB/s -l 2@10Gb/s -e edges.csv -o result.csv layers.csv
is_status 1 "too large on two levels: status"
is_err "too large on two levels" <<EOF
gv-partition: no plan fits: the fullest stage of the best one, 2 layers from "fc1" to "fc2" with replicas=1 and in_flight=1, needs 0.827 GiB on each GPU, 0.362 GiB too much
EOF
ran="what -o had"
same_file result.csv plain "the old file stays"
printf "node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,a,1,2,1000,4000000\n" >sole.csv
run gv-partition -m 1MB -l 1@10Gb/s sole.csv
ok "a stage of one layer" grep -Eq '^gv-partition: no plan fits: the fullest stage of the best one, layer "[^"]*" alone with replicas=1 ' err
run gv-partition --all-gpus --straight -l 9@10Gb/s -e edges.csv layers.csv
is_status 1 "more GPUs than layers: status"
is_err "more GPUs than layers" <<EOF
gv-partition: no plan: 9 prefixes cannot make stages for all GPUs
EOF
run gv-partition -m 2GB -l 9@25GB/s -l 4@10Gb/s --straight -e edges.csv layers.csv
is_status 1 "groups are used whole: status"
is_err "groups are used whole" <<EOF
gv-partition: no plan: 9 prefixes cannot make stages for this machine within its memory
EOF

# ---- options ----
bad "no machine" "a machine is needed: -l N@BANDWIDTH" layers.csv
bad "no machine, --gpus" "a machine is needed: -l N@BANDWIDTH" --gpus=4 layers.csv
for level in 4 4@ 4@1GB/s: 4@1GB/s:x 4@:1GB/s 0@1GB/s -1@1GB/s 4@1 4@GB/s 4@1GB 4@0B/s 4@1XB/s 4@1Kib 4@1Gibps 4.5@1GB/s 4097@1GB/s; do
	bad "level $level" "--level: expected N@BANDWIDTH such as 4@25GB/s or 4@25GB/s:20GB/s, got \"$level\"" -l $level layers.csv
done
gv-partition -l 4@1GB/s layers.csv >want
run gv-partition -l "4@$(printf %059d 1)GB/s" layers.csv
same_file out want "a bandwidth of 63 characters"
bad "a bandwidth of 64 characters" \
	"--level: expected N@BANDWIDTH such as 4@25GB/s or 4@25GB/s:20GB/s, got \"4@$(printf %060d 1)GB...\"" \
	-l "4@$(printf %060d 1)GB/s" layers.csv
bad "five levels" "--level: more than 4" -l 1@1GB/s -l 1@1GB/s -l 1@1GB/s -l 1@1GB/s -l 1@1GB/s layers.csv
bad "many GPUs" "--level: more than 4096 GPUs" -l 64@1GB/s -l 65@1GB/s layers.csv
bad "memory" '--memory: expected bytes such as 16GiB, got "16X"' -l 4@1GB/s -m 16X layers.csv
bad "no memory" '--memory: expected bytes such as 16GiB, got "0"' -l 4@1GB/s -m 0 layers.csv
bad "cost" '--cost: unknown "x"; known: paper, compat' -l 4@1GB/s --cost=x layers.csv
bad "cut" '--cut: unknown "x"; known: true, upstream, none' -l 4@1GB/s --cut=x layers.csv
bad "schedule" '--schedule: unknown "x"; known: 1f1b, 2bw, flush, gpipe, interleaved, zb-h1' -l 4@1GB/s --schedule=x layers.csv
bad "optimizer" '--optimizer: unknown "x"; known: sgd, momentum, adam' -l 4@1GB/s --optimizer=x layers.csv
bad "recompute" '--recompute: unknown "x"; known: none, full, auto' -l 4@1GB/s --recompute=x layers.csv
gv-partition --explain -l 4@10Gb/s -e edges.csv layers.csv >want
run gv-partition --explain --schedule=1f1b --micro-batches=4 -l 4@10Gb/s -e edges.csv layers.csv
same_file out want "--explain of 1f1b with --micro-batches, as for --timeline"
for with in --straight --all-gpus --fewest-gpus; do
	bad "$with of a plan" "--straight, --all-gpus and --fewest-gpus are for a plan that is searched, not --evaluate" \
		-l 4@1GB/s --evaluate $with layers.csv
done
# taken FILE LINE ARGS...: what is in the way of -o FILE
taken() {
	taken=$1 taken_line=$2
	shift 2
	wrong "-o $taken, $*" "$taken: $taken_line" -l 4@1GB/s -o "$taken" "$@" layers.csv
}
for args in -q --top=2 '-p 2bw --batch=8' '-p 2bw --batch=8 --top=2'; do
	# shellcheck disable=SC2086
	taken /dev/full 'cannot write: No space left on device' $args
	# shellcheck disable=SC2086
	taken no/x 'cannot create: No such file or directory' $args
done
wrong "no file" 'no.csv: cannot open: No such file or directory' -p 2bw --batch=8 --top=2 -l 4@1GB/s no.csv
bad "gpipe without micro-batches" "--schedule=gpipe needs --micro-batches=N" -l 4@1GB/s --schedule=gpipe layers.csv
bad "two from standard input" "only one input can be standard input" -l 4@1GB/s -e -

# ---- bad tables ----
# table NAME MESSAGE: layers.csv made of the lines behind the header on standard input is refused so
table() {
	{ echo node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes && cat; } >bad.csv
	run gv-partition -l 4@1GB/s bad.csv
	is_status 2 "$1: status"
	is_out "$1: no output" </dev/null
	printf 'gv-partition: %s\n' "$2" >wanted
	same_file err wanted "$1"
}
table "a negative time" 'bad.csv:2: forward_ms: expected a number from 0 to 1e18, got "-1"' <<EOF
a,,-1,1,1,1
EOF
table "no time" 'bad.csv:2: backward_ms: expected a number, got nothing' <<EOF
a,,1,,1,1
EOF
table "a time too large" 'bad.csv:2: forward_ms: expected a number from 0 to 1e18, got "1e19"' <<EOF
a,,1e19,1,1,1
EOF
table "a layer twice" 'bad.csv:4: node_id: duplicate node_id "a", first at line 2' <<EOF
a,,1,1,1,1
b,,1,1,1,1
a,,1,1,1,1
EOF
table "no layers" 'bad.csv:1: no layers to plan' </dev/null
table "only data loading" 'bad.csv:1: no layers to plan' <<EOF
a,Input,1,1,1,1
EOF
run gv-partition -l 4@1GB/s edges.csv
is_status 2 "other columns: status"
is_err "other columns" <<EOF
gv-partition: edges.csv:1: this is a table of edges; expected a table of layers (node_id, forward_ms)
EOF
# edges NAME MESSAGE EDGE: with one edge more the table is refused so
edges() {
	{ cat edges.csv && echo "$3"; } >bad.csv
	run gv-partition -l 4@1GB/s -e bad.csv layers.csv
	is_status 2 "$1: status"
	printf 'gv-partition: %s\n' "$2" >wanted
	same_file err wanted "$1"
}
edges "an edge to nowhere" 'bad.csv:11: dst: expected the node_id of a layer, got "fc3"' fc2,fc3
edges "an edge to itself" 'bad.csv:11: dst: a layer cannot feed itself' fc2,fc2
edges "a circle" 'bad.csv: the edges have a circle, on or in front of "conv3"' fc2,conv3
echo fc1,fc2 >>edges.csv
run gv-partition -l 4@10Gb/s -e edges.csv layers.csv
same_file out plain "an edge twice is one"
{ cat layers.csv && echo && cat edges.csv && echo && cat edges.csv; } >three.csv
run gv-partition -l 4@1GB/s three.csv
is_status 2 "a third table: status"
err_has "three.csv" "a third table"

# ---- bad plans ----
# hand NAME MESSAGE SED: the plan by hand, changed, is refused so
hand() {
	sed "$3" hand.csv >bad.csv
	run gv-partition --evaluate -l 8@10Gb/s -e edges.csv bad.csv
	is_status 2 "$1: status"
	printf 'gv-partition: %s\n' "$2" >wanted
	same_file err wanted "$1"
}
hand "a stage too high" 'bad.csv:10: stage: expected a whole number from 0 to 7, got "8"' '/^fc2/s/1,1$/8,1/'
hand "no replicas" 'bad.csv:10: replicas: expected a whole number from 1 to 4096, got "0"' '/^fc2/s/1,1$/1,0/'
hand "no number" 'bad.csv:10: stage: expected an integer, got "x"' '/^fc2/s/1,1$/x,1/'
hand "replicas that differ" 'bad.csv:10: stage: other rows of stage 1 have another replicas, recompute or place' \
	'/^fc2/s/1,1$/1,2/'
hand "a stage without layers" 'stage 1 has no layers' '/^fc/s/1,1$/2,1/'
hand "a stage in front of what feeds it" 'stage 1 feeds stage 0, which is in front of it' '/^conv2a/s/0,7$/1,1/'
for layer in conv1 conv2a conv2b add conv3; do
	hand "$layer behind what it feeds" 'stage 1 feeds stage 0, which is in front of it' "/^$layer,/s/0,7\$/1,1/"
done
hand "one edge back, the first" 'stage 1 feeds stage 0, which is in front of it' '/^conv2a,/!s/0,7$/1,1/'
hand "fc1 behind fc2" 'stage 1 feeds stage 0, which is in front of it' '/^fc2,/s/1,1$/0,7/'
hand "too many replicas" 'stage 0: 9 replicas on level 1, which has 8' 's/0,7$/0,9/'
sed 's/none/some/' plain >bad.csv
run gv-partition --evaluate -l 4@10Gb/s -e edges.csv bad.csv
err_has 'bad.csv:3: recompute: expected none or full, got "some"' "recompute"
sed 's/0,3,none/0,4,none/' plain >bad.csv
run gv-partition --evaluate -l 4@10Gb/s -e edges.csv bad.csv
err_has 'bad.csv:3: place: expected replicas whose product is 4' "a place that says otherwise"
run gv-partition --evaluate -l 4@10Gb/s -e edges.csv layers.csv
is_status 2 "no plan: status"
err_has 'layers.csv:1: this is a table of layers; expected a plan' "no plan"

# ---- real profiles ----
data=$shared/data/pipedream
if [ ! -f "$data/vgg16.layers.csv" ]; then
	skip "no shared data"
else
	run gv-partition --cost=compat -l 16@25Gb/s -e "$data/vgg16.edges.csv" --explain "$data/vgg16.layers.csv"
	cut -d, -f2,7 out >got && mv got out
	is_out "VGG-16 on 16 GPUs: 15-1, as published" <<EOF
stage,replicas
0,15
1,1
EOF
	run gv-partition -l 4@10Gb/s --fewest-gpus -e "$data/gnmt.edges.csv" --explain "$data/gnmt.layers.csv"
	cut -d, -f2,7 out >got && mv got out
	is_out "GNMT on 4 GPUs: straight, as published" <<EOF
stage,replicas
0,1
1,1
2,1
3,1
EOF
	run gv-partition -l 8@25GB/s -l 2@25Gb/s -e "$data/resnet50.edges.csv" --explain "$data/resnet50.layers.csv"
	cut -d, -f1,2,7 out >got && mv got out
	is_out "ResNet-50 on 2x8 GPUs: data parallel, as published" <<EOF
level,stage,replicas
1,0,8
2,0,2
EOF
	for model in nasnetamobile nasnetalarge; do
		run timeout 60 gv-partition -q -l 16@10Gb/s -e "$data/$model.edges.csv" -o plan.csv "$data/$model.layers.csv"
		silent "$model is planned within a minute"
	done
fi
done_testing
