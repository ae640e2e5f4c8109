#!/bin/sh
# gv-report of a plan and of its stages: what it sums up, how it draws them, messages.
. "${0%/*}/lib.sh"

cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
usage='usage: gv-report [-jqv] [-f FORMAT] [-b PART] [-c CLUSTER] [-o FILE] [[NAME=]TABLE ...]'
head='level,stage,within,layers,first_layer,last_layer,replicas,gpus,recompute,compute_s,sync_s,transfer_s,load_s,limit,parameter_bytes,activation_bytes,in_flight,memory_bytes'

# columns_of NAMES: those columns of standard input or ./out, spaces between
columns_of() {
	awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, c, " ") }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[c[i]], i < n ? " " : "\n" }' "${2:--}"
}

# ---- stages ----
# 3 + 1 GPUs of 4 busy 20 of 20 and 5 of 20 ms: 81.25 %
{ echo $head && cat; } >stages.csv <<'EOT'
1,0,0,6,conv1,pool,3,3,none,0.02,0.001,0,0.02,compute,1500000,2e8,2,579176192
1,1,1,1,fc1,fc1,1,1,full,0.005,0,0.0125,0.0125,transfer,221900000,650000,1,888353408
EOT
run gv-report stages.csv
silent "stages"
is_out "stages: text" <<'EOT'
2 stages on 4 GPUs
slowest     20.0 ms a minibatch: stage 0, limited by compute
GPUs        computing 81.2 % of the time in a full pipeline
memory      0.827 GiB on each GPU of stage 1, the fullest

stage  layers  from ... to     replicas  GPUs  compute ms  sync ms  transfer ms  load ms  limit       weights     memory  load
    0       6  conv1 ... pool         3     3        20.0      1.0          0.0     20.0  compute   0.001 GiB  0.539 GiB  ####################
    1       1  fc1                    1     1         5.0      0.0         12.5     12.5  transfer  0.207 GiB  0.827 GiB  #############
EOT
run gv-report -f csv stages.csv
is_out "stages: CSV" <<'EOT'
level,stage,layers,first_layer,last_layer,replicas,gpus,compute_s,sync_s,transfer_s,load_s,limit,busy_share,parameter_bytes,activation_bytes,in_flight,memory_bytes,gpu_type
1,0,6,conv1,pool,3,3,0.02,0.001,0,0.02,compute,1,1500000,200000000,2,579176192,
1,1,1,fc1,fc1,1,1,0.005,0,0.0125,0.0125,transfer,0.25,221900000,650000,1,888353408,
EOT
tr , '\t' <out >want
run gv-report --tsv stages.csv
same_file want out "stages: TSV"
run gv-report -j stages.csv
is_out "stages: JSON" <<'EOT'
{
  "gpus": 4,
  "slowest_s": 0.02,
  "busy_share": 0.8125,
  "stages": [
    {"level": 1, "stage": 0, "layers": 6, "first_layer": "conv1", "last_layer": "pool", "replicas": 3, "gpus": 3, "compute_s": 0.02, "sync_s": 0.001, "transfer_s": 0, "load_s": 0.02, "limit": "compute", "busy_share": 1, "parameter_bytes": 1500000, "activation_bytes": 200000000, "in_flight": 2, "memory_bytes": 579176192, "gpu_type": null},
    {"level": 1, "stage": 1, "layers": 1, "first_layer": "fc1", "last_layer": "fc1", "replicas": 1, "gpus": 1, "compute_s": 0.005, "sync_s": 0, "transfer_s": 0.0125, "load_s": 0.0125, "limit": "transfer", "busy_share": 0.25, "parameter_bytes": 221900000, "activation_bytes": 650000, "in_flight": 1, "memory_bytes": 888353408, "gpu_type": null}
  ]
}
EOT
run gv-report -v stages.csv
echo 'gv-report: 2 rows of 2 stages' | is_err "stages: verbose"
run gv-report -d 0 stages.csv
out_has "computing 81 % of the time" "stages: digits"
printf 'stage,load_s\n0,0.01\n1,0.02\n' >short.csv
run gv-report -f csv short.csv
columns_of 'level layers replicas gpus load_s' out >got && mv got out
is_out "what a table does not tell: one level, one GPU a stage" <<'EOT'
level layers replicas gpus load_s
1 0 1 1 0.01
1 0 1 1 0.02
EOT
run gv-report short.csv
out_has "2 stages on 2 GPUs" "and its GPUs"
# the axis ends where the slowest does, and only its last number has a unit
axis() { sed -n 's/^<text class="mid dim" x="\([^"]*\)".*>\(.*\)<.*/\1 \2/p; s/^<line class="slowest" x1="\([^"]*\)".*/\1 slowest/p' out >got && mv got out; }
for table in short stages; do
	run gv-report -f svg $table.csv
	axis
	is_out "the axis of $table: to 20 ms, where the slowest ends" <<'EOT'
220 0
337.5 5
455 10
572.5 15
690 20 ms
690 slowest
EOT
done
# on levels: a stage of 10 ms on 2 GPUs, replicated twice, is busy 5 of 8 ms
{ echo $head && cat; } >levels.csv <<'EOT'
1,0,0,3,a,c,2,4,none,0.01,0,0,0.01,compute,1000000,2000,1,4000000
2,0,0,3,a,c,2,4,,0.005,0.008,0,0.008,sync,1000000,2000,,
EOT
run gv-report levels.csv
is_out "levels: the slowest is one of the outermost" <<'EOT'
1 stage on 4 GPUs
slowest     8.0 ms a minibatch: stage 0 of level 2, limited by sync
GPUs        computing 62.5 % of the time in a full pipeline
memory      0.004 GiB on each GPU of stage 0, the fullest

level  stage  layers  from ... to  replicas  GPUs  compute ms  sync ms  transfer ms  load ms  limit      weights     memory  load
    1      0       3  a ... c             2     4        10.0      0.0          0.0     10.0  compute  0.001 GiB  0.004 GiB  ####################
    2      0       3  a ... c             2     4         5.0      8.0          0.0      8.0  sync     0.001 GiB          -  ####################
EOT
echo $head >empty.csv
run gv-report empty.csv
silent "no stages"
is_out "no stages: text" <<'EOT'
0 stages on 0 GPUs

stage  layers  from ... to  replicas  GPUs  compute us  sync us  transfer us  load us  limit  weights  memory  load
EOT
for format in svg html csv json; do
	run gv-report -f $format empty.csv
	silent "no stages: $format"
	ok "no stages: $format: no number is none" sh -c '! grep -q -i -e "\"-*nan" -e "\"-*inf" out'
done

sed '1s/$/,gpu_type/; 2s/$/,a100/; 3s/$/,t4/' stages.csv >typed.csv
run gv-report typed.csv
out_has "from ... to     replicas  GPUs  type  compute ms" "types of GPUs: a column"
out_has "conv1 ... pool         3     3  a100        20.0" "types of GPUs: in it"
run gv-report -f svg typed.csv
out_has ">stage 0, 3 GPUs a100<" "types of GPUs: drawn"
# what stands in a row stands on one line: its name, its load, its memory
awk '/<text/ && match($0, /y="[0-9.]*"/) {
	y = substr($0, RSTART + 3, RLENGTH - 4)
	if ($0 ~ />stage [01],/) rows[++n] = y
	if ($0 ~ />(20\.0|12\.5) ms</ || $0 ~ / GiB</) at[y]++
} END { for (i = 1; i <= n; i++) print at[rows[i]] + 0 }' out >got && mv got out
is_out "drawn: the load and the memory of a stage are on the line of its name" <<'EOT'
2
2
EOT
run gv-report -f csv typed.csv
ok "types of GPUs: CSV" grep -q ',888353408,t4$' out
sed 's/,a100$/,/; s/,t4$/,k/' typed.csv >one_letter.csv
run gv-report one_letter.csv
out_has "1     1  k            5.0" "types of GPUs: names of one letter, of some stages"

# ---- a plan ----
gv-partition -l 4@10Gb/s -e edges.csv -o plan.csv layers.csv
run gv-report plan.csv
cp out want
# any column may be the first
for first in stage forward_ms; do
	sed 's/"[^"]*"/x/' plan.csv | awk -F, -v OFS=, -v first="$first" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == first) at = i }
		{ was = $1; $1 = $at; $at = was; print }' >moved.csv
	run gv-report moved.csv
	same_file want out "a plan whose first column is $first"
done
run gv-report plan.csv
silent "a plan"
is_out "a plan: its rows tell of computing and weights" <<'EOT'
2 stages on 4 GPUs
slowest     21.1 ms a minibatch: stage 0, its computing alone
GPUs        computing 81.8 % of the time in a full pipeline

stage  layers  from ... to     replicas  GPUs  load ms    weights  load
    0       6  conv1 ... pool         3     3     21.1  0.001 GiB  ####################
    1       2  fc1 ... fc2            1     1      5.8  0.207 GiB  ######
EOT
cp out want
{ cat plan.csv && echo && cat edges.csv; } >both.csv
run gv-report both.csv
same_file want out "edges may follow"
gv-partition --cost=compat -l 4@10Gb/s -e edges.csv layers.csv >compat.csv
run gv-report -f svg compat.csv
out_has ", computing 21.1 ms a minibatch</title>" "a plan drawn, whose time is not told: what its computing takes"
# layers in any order: what runs first and last names a stage
(sed 1q layers.csv && sed 1d layers.csv | sort -t, -k5,5n) >mixed.csv
{ cat mixed.csv && echo && cat edges.csv; } | gv-partition -l 4@10Gb/s >both.csv
run gv-report -f csv both.csv
columns_of 'first_layer last_layer' out >got
gv-partition --explain -l 4@10Gb/s -e edges.csv mixed.csv | columns_of 'first_layer last_layer' >want
same_file got want "a plan of rows in any order: as --explain names its stages"
printf 'first_layer last_layer\nconv1 pool\nfc1 fc2\n' >want
same_file got want "by the layers that run first and last"
sed '2,$s/,none,/,full,/' plan.csv >full.csv
run gv-report -f csv full.csv
gv-partition --evaluate -l 4@10Gb/s -e edges.csv full.csv >stages-full.csv
gv-report -f csv stages-full.csv | cut -d, -f2,8 >want
cut -d, -f2,8 out >got
ok "recomputing counts as gv-partition counts it" awk -F, 'NR == FNR { want[$1] = $2; next }
	FNR > 1 { n++; d = $2 - want[$1]; if (d * d > 1e-24) exit 1 } END { exit n != 2 }' want got
sed '1s/$/,gpu_type/; 2,$s/$/,t4/' plan.csv >typed.csv
run gv-report typed.csv
out_has "stage 0, its computing alone, at the profile's speed" "a plan of types: times are those of the profile"
gv-profile layers -q --warmup=0s --window=0s --repeats=2 cnn-small | gv-partition -l 2@10GB/s --all-gpus --straight >cnn.csv
run gv-report cnn.csv
out_has "2 stages on 2 GPUs" "a plan of a model, whose op is no schedule's"
for levels in "-l 4@10Gb/s" "-l 2@10Gb/s -l 2@1Gb/s" "-l 2@10Gb/s --cost=compat"; do
	# shellcheck disable=SC2086
	gv-partition -v --explain $levels -e edges.csv layers.csv >made.csv 2>said
	run gv-report -j made.csv
	silent "$levels: JSON"
	sed -n 's/.*slowest_s=\([^ ]*\) .*gpus=.*/\1/p; s/.*gpus=\([0-9]*\) slowest_s=\([^ ]*\) .*/\1 \2/p' said | tail -n 1 >want
	echo "$(sed -n 's/^  "gpus": \(.*\),/\1/p' out) $(sed -n 's/^  "slowest_s": \(.*\),/\1/p' out)" >got
	same_file want got "$levels: GPUs and slowest stage as gv-partition says"
	for format in svg html; do
		run gv-report -f $format made.csv
		silent "$levels: $format"
		mv out made.$format
	done
	if [ -n "$GV_PYTHON" ]; then
		run "$GV_PYTHON" - made.csv made.svg <<'EOT'
"""Is every time a bar of its length, and every memory?"""
import csv
import sys
import xml.dom.minidom

stages = list(csv.DictReader(open(sys.argv[1])))


def parent(s):
    up = [t for t in stages if int(t["level"]) == int(s["level"]) + 1 and t["stage"] == s["within"]]
    return up[0] if up else None


for s in stages:  # replicas of what a stage is in share its minibatches; the outer stands first
    s["outer"], s["path"], up = 1, [int(s["stage"])], parent(s)
    while up:
        s["outer"] *= int(up["replicas"])
        s["path"].insert(0, int(up["stage"]))
        up = parent(up)
stages.sort(key=lambda s: s["path"])
for s in stages:
    for c in ("compute_s", "sync_s", "transfer_s", "load_s"):
        s[c] = float(s[c]) / s["outer"]
most = max(float(s[c]) for s in stages for c in ("compute_s", "sync_s", "transfer_s", "load_s"))
memory = max(float(s["memory_bytes"] or 0) for s in stages)
rects = [r for r in xml.dom.minidom.parse(sys.argv[2]).getElementsByTagName("rect")
         if r.getElementsByTagName("title")]


def widths(cls):
    return [float(r.getAttribute("width")) for r in rects if r.getAttribute("class") == cls]


for cls, column, scale in (("p0", "compute_s", 470 / most), ("p1", "sync_s", 470 / most),
                           ("p2", "transfer_s", 470 / most), ("memory", "memory_bytes", 130 / memory)):
    want = [float(s[column]) * scale for s in stages if s[column] != ""]
    got = widths(cls)
    if len(got) != len(want) or any(abs(a - b) > 0.02 for a, b in zip(got, want)):
        print(column, got, want)
EOT
		is_out "$levels: every time and every memory is drawn" </dev/null
	else
		skip "no python3"
	fi
done
mv made.html out
ok "html: loads nothing" sh -c '! grep -q -e "<script " -e "src=" -e "href=" -e "url(" -e "@import" out'
ok "html: holds the drawing" [ "$(grep -c '^<svg ' out)" -eq 1 ]
out_has '<dt>slowest</dt>' "html: the summary"
sed 's/conv1/<b>\&"/; s/,compute,/,a<b,/' stages.csv >odd.csv
run gv-report -f html odd.csv
ok "html: texts of the table are escaped" sh -c '! grep -q "<b>" out'

# a stage twice on level 2 of two of level 1: these share its minibatches, and follow it
{ echo $head && cat; } >nested.csv <<'EOT'
1,0,0,1,a,a,1,2,none,0.016,0,0,0.016,compute,1000000,2000,1,50182275072
1,1,0,1,b,b,1,2,none,0.012,0,0,0.012,compute,1000000,2000,1,4000000
1,2,1,1,c,c,2,2,none,0.006,0,0,0.006,compute,1000000,2000,1,4000000
2,0,0,2,a,b,2,4,,0.008,0.002,0,0.008,compute,1000000,2000,,
2,1,1,1,c,c,1,2,,0.006,0,0.001,0.006,compute,1000000,2000,,
EOT
run gv-report -f svg nested.csv
cat >want <<'EOT'
stage 0 of level 2
stage 0 of level 1
stage 1 of level 1
stage 1 of level 2
stage 2 of level 1
EOT
grep -o '>stage [0-9] of level [0-9]' out | tr -d '>' >got
same_file got want "levels drawn: a stage, then those inside it"
red=$(sed -n 's/.*class="slowest" x1="\([0-9.]*\)".*/\1/p' out)
ran="gv-report -f svg nested.csv" status=0
ok "levels drawn: no bar runs past the slowest stage" awk -v red="$red" '
	/<rect class="p[012]" x="220/ { split($0, w, "width=\""); n++; if (220 + w[2] > red + 0.05) bad = 1 }
	END { exit bad || n < 10 || red == "" }' out
out_has "46.7 GiB" "levels drawn: bytes in GiB"
grep -o 'x="[0-9.]*" y="[0-9.]*">stage [0-9] of level [0-9]' out | tr -dc '0-9. \n' | awk '
	{ l = $NF; if (!(l in x)) x[l] = $1; bad = bad || x[l] != $1 }
	END { print (bad ? "not under each other" : "under each other"), (x[1] > x[2] ? "to the right" : "not to the right") }' >got
echo 'under each other to the right' >want
same_file want got "levels drawn: stages inside others stand to the right of them"

# ---- long names, in any script: both ends of the first and the last layer, beside the bars ----
awk 'BEGIN { print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes,stage,replicas"
	for (i = 0; i < 64; i++) printf "%s%d,1,2,100,100,%d,1\n", i % 2 ? "层归一化注意力机制" : "transformer.encoder.block.", i, i / 4 }' >long.csv
run gv-report -f svg long.csv
out_has '>transf…lock.0 … 层归一…力机制3</text>' "long names lose their middle"
ran="gv-report -f svg long.csv" status=0
ok "as many stages as there are" [ "$(grep -c '>4 layers<' out)" -eq 16 ]

# ---- messages ----
# wrong NAME SED MESSAGE FILE: a bad table
wrong() {
	sed "$2" "$4" >bad.csv
	run gv-report bad.csv
	is_status 2 "$1: status"
	echo "gv-report: bad.csv:$3" | is_err "$1"
}
wrong "a stage" '2s/^1,0,/1,-1,/' '2: stage: expected a whole number from 0 to 2147483648, got "-1"' stages.csv
wrong "replicas" '2s/,3,3,/,0,3,/' '2: replicas: expected a whole number from 1 to 2147483648, got "0"' stages.csv
wrong "a time" '2s/,0.02,0.001/,-0.02,0.001/' '2: compute_s: expected a number from 0 on, got "-0.02"' stages.csv
wrong "no load" '3s/,0.0125,transfer/,,transfer/' '3: load_s: expected a value' stages.csv
wrong "a layer's stage" '2s/,0,3,none,0x3$/,x,3,none,0x3/' '2: stage: expected an integer, got "x"' plan.csv
wrong "a stage too many" '2s/,0,3,none,0x3$/,5000,3,none,0x3/' '2: stage: expected a whole number from 0 to 4095, got "5000"' plan.csv
wrong "another table behind a plan" '12,$s/^src,dst/from,to/' '12: expected edges behind a plan: src, dst' both.csv
# unfit LINE ARGS...: an option that is for events
unfit() {
	unfit_line=$1
	shift
	run gv-report "$@" stages.csv
	is_status 2 "$1: status"
	is_err "$1" <<EOT
gv-report: $unfit_line
$usage
EOT
}
unfit "--by is for events, this is a plan" --by=job
unfit "--format=prom is for events, this is a plan" --format=prom
unfit "--expect-finished is for events, this is a plan" --expect-finished
unfit "--expect-shares is for events, this is a plan" --expect-shares=5
done_testing
