#!/bin/sh
# gv-partition --timeline: schedules as tables.  That the orders and times are
# right is in unit/gv-partition.timetable.c.
. "${0%/*}/lib.sh"
. "$src/tests/plans.sh"

cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
usage='usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]'
# timeline ARGS...: of the example on four GPUs
timeline() { run gv-partition --timeline -l 4@10Gb/s -e edges.csv "$@" layers.csv; }
# short: of out, only gpu, op, micro-batch, version and times, one GPU a line
short() {
	awk -F, 'NR > 1 { if ($1 != gpu && NR > 2) print ""; gpu = $1
		printf "%s%s%s/%s:%s-%s", (NR > 2 && $1 == was ? " " : ""), $(NF-4), $(NF-3), $(NF-2), $(NF-1), $NF
		was = $1 } END { print "" }' out >got
	mv got out
}

# ---- two equal layers on two GPUs: 1 ms forward, 2 ms backward ----
printf '%s\n' node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes \
	a,1,2,1000,1000000 b,1,2,1000,1000000 >two.csv
# two ARGS...: their timeline
two() { run gv-partition --timeline -l 2@1GB/s --straight "$@" two.csv; }

two --cut=none --schedule=flush --micro-batches=2
silent "flush"
is_out "flush" <<EOF
gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms
0,0,0,0,F,0,0,0,1
0,0,0,1,F,1,0,1,2
0,0,0,2,B,0,0,4,6
0,0,0,3,B,1,0,7,9
0,0,0,4,U,1,1,9,9
1,1,0,0,F,0,0,1,2
1,1,0,1,B,0,0,2,4
1,1,0,2,F,1,0,4,5
1,1,0,3,B,1,0,5,7
1,1,0,4,U,1,1,7,7
EOF
two --cut=none --schedule=gpipe --micro-batches=2
short
is_out "gpipe" <<EOF
F0/0:0-1 F1/0:1-2 B0/0:5-7 B1/0:7-9 U1/1:9-9
F0/0:1-2 F1/0:2-3 B0/0:3-5 B1/0:5-7 U1/1:7-7
EOF
two --cut=none --micro-batches=4
short
is_out "1f1b" <<EOF
F0/0:0-1 F1/0:1-2 B0/0:4-6 U0/1:6-6 F2/1:6-7 B1/0:7-9 U1/2:9-9 F3/2:9-10 B2/1:10-12 U2/3:12-12 B3/2:13-15 U3/4:15-15
F0/0:1-2 B0/0:2-4 U0/1:4-4 F1/1:4-5 B1/1:5-7 U1/2:7-7 F2/2:7-8 B2/2:8-10 U2/3:10-10 F3/3:10-11 B3/3:11-13 U3/4:13-13
EOF
awk -F, -v OFS=, '{ print $0, NR == 1 ? "update_ms" : NR == 2 ? "" : .5 }' two.csv >update.csv
run gv-partition --timeline -l 2@1GB/s --straight --cut=none --micro-batches=2 update.csv
short
is_out "1f1b, with updates that take time" <<EOF
F0/0:0-1 F1/0:1-2 B0/0:4-6 U0/1:6-6 B1/0:7.5-9.5 U1/2:9.5-9.5
F0/0:1-2 B0/0:2-4 U0/1:4-4.5 F1/1:4.5-5.5 B1/1:5.5-7.5 U1/2:7.5-8
EOF
awk -F, -v OFS=, '{ print $0, NR == 1 ? "kept_bytes" : NR == 2 ? "" : 5000 }' two.csv >kept.csv
for table in two kept; do gv-partition --explain -l 2@1GB/s --straight --schedule=gpipe --micro-batches=3 $table.csv >$table.stages; done
ok "what a layer keeps for its backward pass waits, its output crosses" awk -F, '
	NR == 1 || FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	FNR == NR { memory[FNR] = $c["memory_bytes"]; transfer[FNR] = $c["transfer_s"]; next }
	{ bad += $c["transfer_s"] != transfer[FNR] || $c["memory_bytes"] - memory[FNR] != (FNR == 3) * 3 * 4000; n++ }
	END { exit bad || n != 2 }' two.stages kept.stages
two --cut=none --schedule=2bw
short
is_out "2bw, three batches of as many as GPUs" <<EOF
F0/0:0-1 F1/0:1-2 B0/0:4-6 F2/0:6-7 B1/0:7-9 U1/1:9-9 F3/0:9-10 B2/0:10-12 F4/1:12-13 B3/0:13-15 U3/2:15-15 F5/1:15-16 B4/1:16-18 B5/1:19-21 U5/3:21-21
F0/0:1-2 B0/0:2-4 F1/0:4-5 B1/0:5-7 U1/1:7-7 F2/0:7-8 B2/0:8-10 F3/0:10-11 B3/0:11-13 U3/2:13-13 F4/1:13-14 B4/1:14-16 F5/1:16-17 B5/1:17-19 U5/3:19-19
EOF
two --cut=none --schedule=zb-h1 --micro-batches=3
short
is_out "zb-h1" <<EOF
F0/0:0-1 F1/0:1-2 B0/0:3-4 W0/0:4-5 F2/0:5-6 B1/0:6-7 W1/0:7-8 B2/0:8-9 W2/0:9-10 U2/1:10-10
F0/0:1-2 B0/0:2-3 F1/0:3-4 B1/0:4-5 W0/0:5-6 F2/0:6-7 B2/0:7-8 W1/0:8-9 W2/0:9-10 U2/1:10-10
EOF
sed 's/a,1,2,1000,1000000/a,1,2,1000,0/' two.csv >none.csv
run gv-partition --timeline -l 2@1GB/s --straight --cut=none --schedule=zb-h1 --micro-batches=1 none.csv
short
is_out "zb-h1: without weights there are no gradients of them" <<EOF
F0/0:0-1 B0/0:3-5 W0/0:5-5 U0/1:5-5
F0/0:1-2 B0/0:2-3 W0/0:3-4 U0/1:4-4
EOF
printf '%s\n' node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes \
	a,1,2,1000,1000 b,1,2,1000,1000 c,1,2,1000,1000 d,1,2,1000,1000 >four.csv
run gv-partition --timeline -l 2@1GB/s --straight --cut=none --schedule=interleaved --micro-batches=2 four.csv
silent "interleaved"
is_out "interleaved, two chunks" <<EOF
gpu,stage,replica,chunk,step,op,micro_batch,version,start_ms,end_ms
0,0,0,0,0,F,0,0,0,1
0,0,0,0,1,F,1,0,1,2
0,2,0,1,2,F,0,0,2,3
0,2,0,1,3,F,1,0,3,4
0,2,0,1,4,B,0,0,7,9
0,2,0,1,5,B,1,0,9,11
0,0,0,0,6,B,0,0,11,13
0,0,0,0,7,B,1,0,13,15
0,2,0,1,8,U,1,1,15,15
0,0,0,0,9,U,1,1,15,15
1,1,0,0,0,F,0,0,1,2
1,1,0,0,1,F,1,0,2,3
1,3,0,1,2,F,0,0,3,4
1,3,0,1,3,F,1,0,4,5
1,3,0,1,4,B,0,0,5,7
1,3,0,1,5,B,1,0,7,9
1,1,0,0,6,B,0,0,9,11
1,1,0,0,7,B,1,0,11,13
1,3,0,1,8,U,1,1,13,13
1,1,0,0,9,U,1,1,13,13
EOF

# ---- transfers and all-reduces ----
two --schedule=flush --micro-batches=2
short
is_out "1,000 bytes at 1 GB/s take 1 us each way" <<EOF
F0/0:0-1 F1/0:1-2 B0/0:4.002-6.002 B1/0:7.002-9.002 U1/1:9.002-9.002
F0/0:1.001-2.001 B0/0:2.001-4.001 F1/0:4.001-5.001 B1/0:5.001-7.001 U1/1:7.001-7.001
EOF
sed '1s/$/,stage,replicas/; 2,$s/$/,0,2/' two.csv >replicated.csv
run gv-partition --evaluate --timeline -l 2@1GB/s --schedule=flush --micro-batches=3 replicated.csv
short
is_out "two replicas reduce 2 MB in 2 ms, the half of each layer when its gradients are made" <<EOF
F0/0:0-2 B0/0:2-6 F2/0:6-8 B2/0:8-12 AR2/1:11-13 U2/1:13-13
F1/0:0-2 B1/0:2-6 AR1/1:11-13 U1/1:13-13
EOF
run gv-partition --evaluate --timeline -l 2@1GB/s --cost=compat --schedule=flush --micro-batches=3 replicated.csv
short
is_out "compat: twice as long, behind it" <<EOF
F0/0:0-2 B0/0:2-6 F2/0:6-8 B2/0:8-12 AR2/1:12-16 U2/1:16-16
F1/0:0-2 B1/0:2-6 AR1/1:12-16 U1/1:16-16
EOF
run gv-partition --evaluate --timeline -l 2@1GB/s:250MB/s --schedule=flush --micro-batches=3 replicated.csv
short
is_out "sums at a fourth of the bandwidth" <<EOF
F0/0:0-2 B0/0:2-6 F2/0:6-8 B2/0:8-12 AR2/1:10-18 U2/1:18-18
F1/0:0-2 B1/0:2-6 AR1/1:10-18 U1/1:18-18
EOF
sed '2s/2,1000,1000000/2,1000,0/; 3s/1000000/2000000/' replicated.csv >last.csv
run gv-partition --evaluate --timeline -l 2@1GB/s --schedule=flush --micro-batches=2 last.csv
short
is_out "weights of the last layer only: all is beside the rest of the pass" <<EOF
F0/0:0-2 B0/0:2-6 AR0/1:4-6 U0/1:6-6
F1/0:0-2 B1/0:2-6 AR1/1:4-6 U1/1:6-6
EOF
sed '3s/2,1000,1000000/2,1000,0/; 2s/1000000/2000000/' replicated.csv >first.csv
run gv-partition --evaluate --timeline -l 2@1GB/s --schedule=flush --micro-batches=2 first.csv
short
is_out "of the first only: all is behind it" <<EOF
F0/0:0-2 B0/0:2-6 AR0/1:6-8 U0/1:8-8
F1/0:0-2 B1/0:2-6 AR1/1:6-8 U1/1:8-8
EOF
two --schedule=flush --micro-batches=1 --moving=1MB/s
short
is_out "who moves 1,000 bytes at 1 MB/s itself takes 1 ms longer for each pass" <<EOF
F0/0:0-2 B0/0:7.002-10.002 U0/1:10.002-10.002
F0/0:2.001-4.001 B0/0:4.001-7.001 U0/1:7.001-7.001
EOF
run gv-partition --evaluate --timeline -l 2@1GB/s --moving=4GB/s --schedule=flush --micro-batches=2 replicated.csv
short
is_out "and for sums beside its last pass: 2 MB there and 2 MB back at 4 GB/s" <<EOF
F0/0:0-2 B0/0:2-7 AR0/1:6-8 U0/1:8-8
F1/0:0-2 B1/0:2-7 AR1/1:6-8 U1/1:8-8
EOF
run gv-partition --evaluate --timeline -l 2@1GB/s:100MB/s --moving=400MB/s --schedule=flush --micro-batches=2 replicated.csv
short
is_out "as much of it as goes over slow links meanwhile" <<EOF
F0/0:0-2 B0/0:2-10 AR0/1:6-26 U0/1:26-26
F1/0:0-2 B1/0:2-10 AR1/1:6-26 U1/1:26-26
EOF
two --cut=none --schedule=flush --micro-batches=1 --moving=1MB/s
short
is_out "nothing where nothing is sent" <<EOF
F0/0:0-1 B0/0:4-6 U0/1:6-6
F0/0:1-2 B0/0:2-4 U0/1:4-4
EOF
run gv-partition --evaluate --timeline -l 1@1GB/s -l 2@0.1GB/s --micro-batches=2 replicated.csv
grep -c ,AR, out >got && mv got out
is_out "1f1b: replicas reduce behind each backward pass" <<EOF
2
EOF

# on two groups of two GPUs, ten times slower between them; the last stage on the last GPUs
# spread REPLICAS0 REPLICAS1: the first transfer and the first all-reduce of each stage, in ms
spread() {
	sed "1s/\$/,stage,replicas/; 2s/\$/,0,$1/; 3s/\$/,1,$2/" two.csv >spread.csv
	run gv-partition --evaluate --timeline -l 2@1GB/s -l 2@0.1GB/s --schedule=flush --micro-batches=4 spread.csv
	awk -F, '$5 == "F" && $2 == 1 && !seen { print "transfer", $8 - 1; seen = 1 }
		$5 == "AR" && !reduced[$2]++ { print "all-reduce of stage", $2, $9 - $8 }' out >got
	mv got out
}
spread 1 1
is_out "both stages in one group" <<EOF
transfer 0.001
EOF
spread 2 2
is_out "each stage in a group of its own" <<EOF
all-reduce of stage 0 1
transfer 0.01
all-reduce of stage 1 1
EOF
spread 2 1
is_out "the first stage in both groups" <<EOF
all-reduce of stage 0 10
transfer 0.01
EOF
spread 1 2
is_out "one stage in each group" <<EOF
transfer 0.01
all-reduce of stage 1 1
EOF

# ---- what -v says ----
two -v --cut=none --schedule=flush --micro-batches=8
sed 1d err >got && mv got err
is_err "-v" <<EOF
gv-partition: schedule=flush micro_batches=8 end_s=0.027 step_s=0.003375 bubble=0.1111 in_flight=2 versions=1 memory_bytes=4002000
EOF
two -v --cut=none
sed 1d err >got && mv got err
is_err "-v of 1f1b: the steady state has no bubble" <<EOF
gv-partition: schedule=1f1b micro_batches=8 end_s=0.027 step_s=0.003 bubble=0 in_flight=2 versions=2 memory_bytes=5002000
EOF

# ---- every schedule of a plan, and of the same plan read again ----
for how in 1f1b 2bw "flush --micro-batches=6" "gpipe --micro-batches=6" "zb-h1 --micro-batches=6" \
	"interleaved --micro-batches=8"; do
	# shellcheck disable=SC2086
	timeline --schedule=$how
	silent "$how: a searched plan"
	cp out wanted
	# shellcheck disable=SC2086
	gv-partition -l 4@10Gb/s -e edges.csv --schedule=$how layers.csv >plan.csv
	# shellcheck disable=SC2086
	run gv-partition --evaluate --timeline -l 4@10Gb/s -e edges.csv --schedule=$how plan.csv
	same_file out wanted "$how: the same plan, evaluated"
	# every micro-batch goes forward and back once through every stage
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ stage = $at["stage"]; i = $at["micro_batch"]; op = $at["op"] }
		op == "F" || op == "B" { n[op, stage, i]++; stages[stage]; batches[i] }
		$at["end_ms"] < $at["start_ms"] { print "ends before it starts" }
		op == "F" { end_f[stage, i] = $at["end_ms"] } op == "B" { start_b[stage, i] = $at["start_ms"] }
		END { for (s in stages) for (i in batches) {
			if (n["F", s, i] != 1 || n["B", s, i] != 1) print "not once", s, i
			if (start_b[s, i] < end_f[s, i]) print "back before forward", s, i
			if (s > 0 && end_f[s - 1, i] > end_f[s, i]) print "too early", s, i } }' wanted >out
	is_out "$how: once forward and once back" </dev/null
done
timeline --tsv
sed -n 1p out | tr '\t' , >got && mv got out
is_out "TSV" <<EOF
gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms
EOF

# ---- memory ----
# bytes ARGS...: memory_bytes of -v
bytes() { timeline -v "$@" && sed -n 's/.*memory_bytes=//p' err; }
ran="zb-h1 with less and less memory"
free=$(bytes --straight --schedule=zb-h1 --micro-batches=8)
tight=$(bytes --straight --schedule=zb-h1 --micro-batches=8 -m 900MB)
if [ "$free" -gt 0 ] && [ "$tight" -le 900000000 ]; then pass "zb-h1 keeps within its memory"; else fail "zb-h1: $free $tight"; fi
chunked=$(bytes --schedule=interleaved --micro-batches=8)
run gv-partition --explain -l 4@10Gb/s -e edges.csv --schedule=interleaved --micro-batches=8 layers.csv
most=$(sed 1d out | cut -d, -f18 | sort -g | tail -n 1)
if [ "$most" = "$chunked" ]; then pass "interleaved: a row has the memory of its GPU"; else fail "$most $chunked" out; fi
# the stages of a place take turns: the largest sum of their loads is the time of the plan
slowest=$(awk -F, 'NR > 1 { load[$NF] += $13 } END { for (p in load) if (load[p] > most) most = load[p]; printf "%.12g\n", most }' out)
gv-partition -v -o /dev/null -l 4@10Gb/s -e edges.csv --schedule=interleaved --micro-batches=8 layers.csv 2>err
plan=$(awk '{ for (i = 1; i <= NF; i++) if (sub(/^slowest_s=/, "", $i)) printf "%.12g\n", $i }' err)
ran="interleaved --explain: loads of places" status=0
if [ -n "$plan" ] && [ "$slowest" = "$plan" ]; then pass "interleaved: loads of a place add up to the plan's time"; else fail "$slowest and $plan" out; fi
cp out chunks.csv
run gv-report -f json chunks.csv
ok "and gv-report counts each GPU once" grep -q '^  "gpus": 4,' out
run gv-report chunks.csv
out_has "a minibatch: the stages of place " "and says which place is the slowest"
run gv-report -f svg chunks.csv
out_has ", place 1, " "and draws where stages are"
run gv-report chunks.csv --format=csv
silent "as a table"
sed '2s/,0$/,-1/' chunks.csv >bad.csv
run gv-report bad.csv
is_err "a place" <<E
gv-report: bad.csv:2: place: expected a whole number from 0 to 2147483648, got "-1"
E
run gv-partition --explain -l 4@10Gb/s -e edges.csv --schedule=interleaved --micro-batches=8 -m 1.2GB layers.csv
silent "interleaved, to fit"
over=$(sed 1d out | cut -d, -f18 | awk '$1 > 1.2e9' | wc -l)
if [ "$over" -eq 0 ]; then pass "interleaved fits"; else fail "interleaved does not fit" out; fi
run gv-partition -l 4@10Gb/s -e edges.csv --schedule=interleaved --micro-batches=8 -m 800MB layers.csv
is_status 1 "interleaved, too little memory: status"
is_err "interleaved, too little memory" <<EOF
gv-partition: no plan: 4 GPUs or fewer, of a number that divides 8 micro-batches, have no 2 stages each that fit
EOF
run gv-partition -l 4@10Gb/s -e edges.csv --schedule=interleaved --micro-batches=7 layers.csv
is_status 1 "interleaved, odd micro-batches: status"
is_err "interleaved, odd micro-batches" <<EOF
gv-partition: no plan: 4 GPUs or fewer, of a number that divides 7 micro-batches, have no 2 stages each
EOF

# ---- nothing takes time ----
printf 'node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes,tied_with\na,Input,0,0,1,0,\nb,b,0,0,0,0,a\nc,c,0,0,0,8,b\n' >idle.csv
for schedule in 1f1b flush gpipe zb-h1; do
	run gv-partition -v --timeline -l 2@1GB/s --all-gpus --straight --ties=apart --schedule=$schedule --micro-batches=2 idle.csv
	ok "$schedule of nothing ends as it begins" eval '[ "$(sed 1d out | cut -d, -f8,9 | sort -u)" = 0,0 ]'
	ok "$schedule of nothing has no bubble" grep -q 'bubble=0' err
done
run gv-partition --ties=together -l 2@1GB/s -o /dev/null idle.csv
ok "what loads data is in the first stage with those that have its weights" eval '[ $status -eq 0 ] && [ "$(grep -c "the weights of" err)" -eq 0 ]'

# ---- messages ----
for schedule in flush gpipe interleaved zb-h1; do
	bad "$schedule without micro-batches" "--schedule=$schedule needs --micro-batches=N" \
		-l 4@1GB/s --schedule=$schedule layers.csv
done
bad "chunks without use" "--chunks is for --schedule=interleaved" -l 4@1GB/s --chunks=2 layers.csv
bad "chunks" "--chunks: expected a whole number from 1 to 64, got \"0\"" -l 4@1GB/s --chunks=0 layers.csv
bad "interleaved on levels" "--schedule=interleaved needs one --level, or --flat" \
	-l 4@1GB/s -l 2@1GB/s --schedule=interleaved --micro-batches=8 layers.csv
bad "two tables" "--explain and --timeline are two tables: choose one" -l 4@1GB/s --explain --timeline layers.csv
wrong "2bw, too few" "2bw needs as many micro-batches in a batch as the plan has GPUs, 2; got 1" \
	--timeline -l 2@1GB/s --straight --schedule=2bw --micro-batches=1 two.csv
wrong "2bw, too few, and no timeline" "2bw needs as many micro-batches in a batch as the plan has GPUs, 2; got 1" \
	-l 2@1GB/s --straight --schedule=2bw --micro-batches=1 two.csv
sed '1s/$/,tied_with/; 2s/$/,/; 3s/$/,a/' two.csv >tied.csv
for schedule in 1f1b 2bw; do
	run gv-partition -l 2@1GB/s --straight --all-gpus --schedule=$schedule --ties=apart tied.csv
	is_status 0 "tied layers of two stages, $schedule: status"
	is_err "tied layers of two stages, $schedule" <<END
gv-partition: warning: layer "b" has the weights of "a", and is in another stage: under $schedule their copies go apart; schedules that flush keep them the same
END
done
run gv-partition -l 2@1GB/s --straight --all-gpus --schedule=flush --micro-batches=4 tied.csv
silent "a schedule that flushes"
run gv-partition -l 1@1GB/s tied.csv
silent "tied layers of one stage"
run gv-partition -l 2@1GB/s --straight --all-gpus tied.csv
is_status 1 "tied layers are in one stage: no plan for two"
cat >between.csv <<'END'
node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes,tied_with
in,10,10,1,1,
a,10,10,1,1000,
b,10,10,1,1,
c,10,10,1,1000,a
d,10,10,1,1,
END
for how in "" --schedule=2bw "--cut=upstream" "--cost=compat" "--prefixes=2" "--rank=1" "-l 1@1GB/s" "-l 1@1GB/s --flat" "--ties=together --schedule=flush --micro-batches=8"; do
	# shellcheck disable=SC2086 # options
	run gv-partition -l 4@1GB/s --straight $how between.csv
	err_has 'gv-partition: layer "c" has the weights of "a": they are in one stage, with 1 layer between; a schedule that flushes, or --ties=apart, can part them' \
		"what is between tied layers is in their stage${how:+, $how}"
	ok "tied layers are in one stage${how:+, $how}" \
		awk -F, 'NR > 1 { s[$1] = $7; n = $7 } END { exit !(n > 0 && s["a"] == s["b"] && s["b"] == s["c"]) }' out
done
run gv-partition -l 2@1GB/s -p 2bw --batch=4 -q between.csv
awk -F, '$1 ~ /^[abc]$/ { print $7 }' out | sort -u >kept
ok "tied layers are in one of equal stages" [ "$(wc -l <kept)" = 1 ]
run gv-partition -l 4@1GB/s --straight --schedule=flush --micro-batches=4 between.csv
silent "a schedule that flushes parts them"
printf 'gpu_type,gpus\nv100,1\nk80,2\n' >two-types.csv
run gv-partition -q -l @1GB/s -c two-types.csv --gpu-speed=v100=1 --gpu-speed=k80=.9 between.csv
awk -F, '$1 ~ /^[abc]$/ { print $7 }' out | sort -u >kept
ok "tied layers are on GPUs of one type" [ "$(wc -l <kept)" = 1 ]
sed 's/1000,a/1000,A/' between.csv >strange.csv
wrong "tied with none" 'strange.csv:5: tied_with: expected the node_id of a layer, got "A"' -l 2@1GB/s strange.csv
bad "ties" '--ties: unknown "no"; known: apart, together' -l 2@1GB/s --ties=no between.csv
bad "ties of a plan" "--ties is for a plan that is searched, not --evaluate" \
	-l 2@1GB/s --ties=apart --evaluate between.csv
sed '1s/$/,stage,replicas/; 2s/$/,0,3/; 3s/$/,1,1/' two.csv >uneven.csv
wrong "replicas without work" "stage 0 has replicas=3, which need as many micro-batches; got 2" \
	--evaluate -l 4@1GB/s --schedule=flush --micro-batches=2 uneven.csv
for schedule in flush gpipe zb-h1; do
	for m in 1 2 3; do
		run gv-partition -l 4@1GB/s --schedule=$schedule --micro-batches=$m two.csv
		ok "$schedule of $m micro-batches plans no more replicas: $(tail -n +2 out | tr '\n' ' ')" \
			awk -F, -v m=$m 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["replicas"] > m { bad = 1 } $c["replicas"] > most { most = $c["replicas"] } END { exit bad || (m > 1 && most < 2) }' out
	done
done
sed '1s/$/,stage,replicas/; 2s/$/,0,2/; 3s/$/,1,1/' two.csv >uneven.csv
wrong "interleaved, uneven" "interleaved needs as many replicas on every stage; stage 1 has 1, stage 0 has 2" \
	--evaluate -l 3@1GB/s --schedule=interleaved --chunks=1 --micro-batches=3 uneven.csv
sed '1s/$/,stage,replicas/; 2s/$/,0,1/; 3s/$/,1,1/' two.csv >straight.csv
wrong "interleaved, micro-batches" "interleaved needs a multiple of the plan's 2 GPUs as micro-batches, got 3" \
	--evaluate -l 2@1GB/s --schedule=interleaved --chunks=1 --micro-batches=3 straight.csv
wrong "interleaved, chunks" "interleaved needs a multiple of 3 chunks as stages, got 2" \
	--evaluate -l 2@1GB/s --schedule=interleaved --chunks=3 --micro-batches=3 straight.csv
done_testing
