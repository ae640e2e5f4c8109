#!/bin/sh
# gv-profile layers: the table it makes of a model, and of PipeDream's graphs; what
# it measures, on a clock that only the program moves.
. "${0%/*}/lib.sh"

models=$src/share/models
usage='usage: gv-profile layers [-qvV] [-o FILE] [option ...] [model]'
# layers ARGS...: a short run that says nothing of noise
layers() { run gv-profile layers -q --warmup=0s --window=0s --repeats=3 "$@"; }
# column NAME [FILE]: its cells, below each other
column() {
	awk -F, -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		NR > 1 && at { print $at }' "${2:-out}"
}
# bad NAME LINE ARGS...: a usage error that says LINE
bad() {
	bad_name=$1 bad_line=$2
	shift 2
	run gv-profile layers "$@"
	is_status 2 "$bad_name: status"
	is_err "$bad_name" <<EOT
gv-profile: $bad_line
$usage
EOT
}
# wrong NAME LINE ARGS...: an error of the input that says LINE
wrong() {
	wrong_name=$1 wrong_line=$2
	shift 2
	run gv-profile layers "$@"
	is_status 2 "$wrong_name: status"
	is_err "$wrong_name" <<EOT
gv-profile: $wrong_line
EOT
}

# ---- sequences: from the table to a plan ----
layers --shape=16x1 --classes=20 --batch=4 gpt-tiny
silent "a language model"
column layer | head -n 4 >names
printf 'embed 32\nln\nlinear 96 k1\ncausal g2\n' >want
same_file want names "names of its layers"
cp out gpt.csv
run gv-partition -l 2@1GB/s --straight gpt.csv
silent "and its plan"
ok "in two stages" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "stage") at = i }
	NR > 1 && NF > 2 { seen[$at]++ } END { exit !(seen[0] > 0 && seen[1] > 0) }' out

# ---- samples: as training on them has it, without a word on shapes ----
# no_times: what does not depend on how long anything took
no_times() { awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /_ms$/) times[i] } { for (i in times) $i = ""; print }' out; }
# on_data NAME SHAPE CLASSES MODEL OPTION...: the same table as of random samples of that shape
on_data() {
	on=$1 shape=$2 classes=$3 of=$4
	shift 4
	layers --batch=5 "$@" "$of"
	silent "$on"
	no_times >got
	layers --batch=5 --shape="$shape" --classes="$classes" "$of"
	no_times >want
	same_file want got "$on: the layers of its shape and classes"
}
printf 'label,a,b\n0,1,2\n2,3,4\n1,5,6\n' >points.csv
printf 'id,op,out\n1,linear,4\n2,linear,\n3,xent,\n' >points.model
on_data "digits" 16x16x1 10 cnn-small --data=digits:20
on_data "digits of another shape" 16x1x16 10 lstm-small --data=digits:7 --shape=16x1x16
on_data "text" 24x1 256 gnmt-small --data=sentences:40 --context=24
on_data "text by default" 64x1 256 gpt-tiny --data=sentences:40
on_data "without any, a text's" 64x1 256 gpt-tiny
on_data "without any, images" 28x28x1 10 cnn-small
on_data "a table of three rows" 1x1x2 3 points.model --data=csv:points.csv
on_data "samples that are their own targets" 16x16x1 256 dcgan-small --data=digits:9 --scale=unit --autoencode
run gv-profile memory -q --batch=4 --data=sentences:40 --context=24 gnmt-small
cut -d, -f2- out >got
run gv-profile memory -q --batch=4 --shape=24x1 --classes=256 gnmt-small
cut -d, -f2- out >want
same_file want got "memory: on samples"
run gv-profile arrays -q --most=2 --batch=4 --warmup=0s --window=0s --repeats=2 --data=digits:20 linear
silent "arrays: on samples"
bad "samples have their classes" "--classes and --data: the samples say how many" --data=digits --classes=10 linear
for option in --label=a --context=8 --scale=unit --autoencode; do
	bad "$option alone" "${option%%=*} says nothing without --data" $option linear
done
bad "a scale" '--scale: unknown "big"; known: standard, unit, none' --data=digits --scale=big linear
wrong "samples that are no text" "$models/gpt-tiny.tsv: a sample of digits:5 has 1 targets, the model's head wants 256" \
	--data=digits:5 gpt-tiny

# ---- branches: edges behind the layers, each once ----
layers resnet-small
silent "a model with branches"
cp out branches.csv
sed -n '/^src/,$p' branches.csv >out
is_out "its edges" <<'EOT'
src,dst
1,2
2,3
3,4
4,5
5,6
6,7
2,7
7,8
8,9
9,10
10,11
7,12
12,13
11,14
13,14
14,15
15,16
16,17
EOT
printf 'id,op,from,out\n4,linear,0,10\n5,add,4;4;0,\n9,xent,5,\n' >twice.csv
layers --shape=1x1x10 --classes=10 twice.csv
sed -n '/^src/,$p' out >got && mv got out
is_out "a row that is read twice, and the sample" <<'EOT'
src,dst
4,5
5,9
EOT
run gv-partition --straight --all-gpus -l 3@10GB/s -o planned.csv branches.csv
silent "it is planned"
awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == "stage") at = i; next }
	$0 == "" { edges = 1; next }
	!edges { stage[$1] = $at; if (!($at in seen)) { seen[$at] = 1; n++ }; next }
	$1 != "src" { bad += stage[$1] > stage[$2]; k++ }
	END { exit !(n == 3 && k == 18 && !bad) }' planned.csv
ok "no layer feeds an earlier stage" [ $? -eq 0 ]
layers planned.csv
silent "a plan is a model, with its edges"
ok "and gives the same edges" grep -q '^16,17$' out
{ cat "$models/linear.tsv" && printf '\nid,op\n1,xent\n'; } | tr '\t' , >two.csv
wrong "two models" "two.csv:$(grep -n '^id,op$' two.csv | sed 's/:.*//'): expected one table, got a second one after an empty line" two.csv

# ---- the table ----
layers "$models/cnn.tsv"
silent "a model"
cp out cnn.csv
head -n 1 cnn.csv >out
is_out "the model's columns, and the new ones" <<'EOT'
id,op,from,out,k,s,p,g,act,node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes,update_ms,repeats,forward_mad_ms,backward_mad_ms,kept_bytes
EOT
cut -d, -f1-9 cnn.csv >kept
tr '\t' , <"$models/cnn.tsv" >wanted
same_file kept wanted "the model's cells are copied"
cut -d, -f14 cnn.csv | sed 1d >wanted
column kept_bytes cnn.csv >kept
same_file kept wanted "of these layers none keeps more than its output"
cut -d, -f10,11,14,15,17 cnn.csv >out
is_out "names, bytes of 64 samples, repeats" <<'EOT'
node_id,layer,activation_bytes,parameter_bytes,repeats
1,conv 32 k3 p1 relu,6422528,1280,3
2,maxpool k2,1605632,0,3
3,conv 64 k3 p1 relu,3211264,73984,3
4,conv 64 k3 p1 relu,3211264,147712,3
5,maxpool k2,802816,0,3
6,linear 128 relu,32768,1606144,3
7,linear 10,2560,5160,3
8,xent,256,0,3
EOT
layers --batch=3 --shape=8x6x2 --classes=5 - <<'EOT'
id,op,out,k,s,p,g,act,bias,why
7,conv,4,3,2,,2,,0,half
3,relu,,,,,,,,
4,bn,,,,,,relu,,
9,avgpool,,,,,,,,
5,linear,,,,,,,,
1,xent,,,,,,,,
EOT
silent "standard input"
layers --batch=3 --shape=8x6x2 --classes=5 -o net.csv - <<'EOT'
id,op,out,k,s,p,g,act,bias,why
7,conv,4,3,2,,2,,0,half
3,relu,,,,,,,,
4,bn,,,,,,relu,,
9,avgpool,,,,,,,,
5,linear,,,,,,,,
1,xent,,,,,,,,
EOT
silent "-o"
for name in node_id activation_bytes parameter_bytes why; do column $name net.csv | tr '\n' ';' && echo; done >out
column layer net.csv >>out
is_out "every operator; other columns stay" <<'EOT'
7;3;4;9;5;1;
288;288;288;48;60;12;
144;0;32;0;100;0;
half;;;;;;
conv 4 k3 s2 g2
relu
bn relu
avgpool
linear 5
xent
EOT
# 5 samples of 6 places: a cell keeps its gates and its state beside the output, gelu what it is of
layers --batch=5 --shape=6x1 --classes=9 - <<'EOT'
id,op,out,act
1,embed,8,
2,lstm,8,
3,linear,12,relu
4,linear,12,gelu
5,linear,,
6,xent,,
EOT
silent "what layers keep"
{ column activation_bytes && column kept_bytes; } | tr '\n' ';' >got && echo >>got && mv got out
is_out "the output, and beside it what forward leaves for backward" <<'EOT'
960;960;240;240;180;20;960;5760;240;480;180;20;
EOT
layers --batch=8 cnn.csv
silent "a table that it wrote"
cp out again.csv
cut -d, -f1-11,15 out >got
cut -d, -f1-11,15 cnn.csv >wanted
same_file got wanted "its own columns are replaced"
column activation_bytes again.csv | head -n 1 >out
is_out "by those of the new batch" <<'EOT'
802816
EOT
layers --tsv --batch=8 "$models/linear.tsv"
ok "--tsv" grep -q "^1	linear	0	.*	linear 10	" out
layers --batch=8 linear
ok "the name of a shipped model" grep -q '^1,linear,0,' out
for optimizer in sgd momentum adam adamw; do
	layers --batch=8 --optimizer=$optimizer --threads=2 "$models/linear.tsv"
	silent "--optimizer=$optimizer, two threads"
done

# others that train meanwhile
run gv-profile layers -q --warmup=0s --window=0s --repeats=3 --beside=2 "$models/linear.tsv"
is_status 0 "--beside: measured beside two others"
is_err "--beside: says nothing" </dev/null
cp out beside.csv
layers "$models/linear.tsv"
cut -d, -f1-11,14,15 beside.csv >one
cut -d, -f1-11,14,15 out >two
ok "--beside: the same layers and bytes" cmp -s one two
bad "--beside: a number" '--beside: expected a whole number from 0 to 1024, got "-1"' --beside=-1
bad "--beside: nothing is measured of a graph" \
	"with --from nothing is measured: options of measuring say nothing" --from=pipedream --beside=1
# micro-batches on their way: the same rows, and times of one of them
layers --in-flight=3 "$models/cnn-bn.tsv"
silent "--in-flight"
cp out flight.csv
layers "$models/cnn-bn.tsv"
cut -d, -f1-11,14,15 flight.csv | sed '/^$/,$d' >one
cut -d, -f1-11,14,15 out | sed '/^$/,$d' >two
ok "--in-flight: the same layers and bytes" cmp -s one two
layers --in-flight=2 --micro-batches=5 "$models/cnn-bn.tsv"
silent "--micro-batches"
cut -d, -f1-11,14,15 out | sed '/^$/,$d' >two
ok "--micro-batches: the same layers and bytes" cmp -s one two
# as stages have them: the same rows, whatever their number and what crosses
for model in cnn-bn resnet-small; do
	gv-profile layers -q --warmup=0s --window=0s --repeats=2 --shape=16x16 "$models/$model.tsv" | cut -d, -f1-11,14,15 | sed '/^$/,$d' >one
	for options in --stages=1 --stages=2 "--stages=3 --micro-batches=5" "--stages=4 --micro-batches=2"; do
		# shellcheck disable=SC2086 # options
		run gv-profile layers -q --warmup=0s --window=0s --repeats=2 --shape=16x16 $options "$models/$model.tsv"
		silent "$model $options"
		cut -d, -f1-11,14,15 out | sed '/^$/,$d' >two
		ok "$model $options: the same layers and bytes" cmp -s one two
	done
done
bad "--stages: a number" '--stages: expected a whole number from 1 to 4096, got "0"' --stages=0
bad "--stages and --in-flight" '--in-flight and --stages: one of them' --stages=2 --in-flight=2
run gv-profile layers --stages=3 "$models/linear.tsv"
is_status 2 "more stages than rows: status"
is_err "more stages than rows" <<'EOT'
gv-profile: 2 rows are no 3 stages
EOT
# a plan has its own
gv-profile layers -q --warmup=0s --window=0s --repeats=2 --shape=16x16 "$models/cnn-bn.tsv" >chain.csv
awk -F, -v OFS=, '{ print $0, NR == 1 ? "stage" : (NR > 3), NR == 1 ? "replicas" : 1 }' chain.csv >plan.csv
run gv-profile layers -q --warmup=0s --window=0s --repeats=2 --shape=16x16 --stages=2 plan.csv
silent "stages of a plan"
is_status 0 "stages of a plan"
run gv-profile layers -q --stages=3 plan.csv
is_err "as many as it has" <<'EOT'
gv-profile: a plan of stages=2 is no 3 stages
EOT
awk -F, -v OFS=, '{ print $0, NR == 1 ? "stage" : (NR < 3), NR == 1 ? "replicas" : 1 }' chain.csv >back.csv
run gv-profile layers -q --stages=2 back.csv
is_status 2 "stages of a plan, the last first: status"
is_err "stages of a plan, the last first" <<'EOT'
gv-profile: back.csv:2: stage: expected rows of stages 0 to 1, in order
EOT
bad "--micro-batches: a number" '--micro-batches: expected a whole number from 1 to 4096, got "x"' --micro-batches=x
bad "--in-flight: a number" '--in-flight: expected a whole number from 1 to 4096, got "0"' --in-flight=0
# others on its core are no part of a layer's time
passes_ms() {
	layers --repeats=5 --batch=512 --shape=16x16 "$models/cnn.tsv"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 { s += $c["forward_ms"] + $c["backward_ms"] } END { print s }' out
}
passes_ms >ms
busy=
for i in 1 2 3 4 5 6; do
	timeout 60 sh -c 'while :; do :; done' &
	busy="$busy $!"
done
passes_ms >>ms
# shellcheck disable=SC2086
kill $busy
wait
ok "beside six that are busy: the same times" awk 'NR == 1 { ms = $1 } NR == 2 { exit !($1 < 2 * ms) }' ms
# child PID: the first of its processes, once it is there
child() {
	until pgrep -P "$1" | head -n 1 | grep .; do sleep 0.02; done
}
gv-profile layers -q --warmup=0s --window=1s --beside=1 "$models/linear.tsv" >out 2>err &
pid=$!
kill -9 "$(child $pid)"
status=0
wait $pid || status=$?
is_status 2 "--beside: one that is killed: status"
is_err "--beside: one that is killed" <<'EOT'
gv-profile: a process of --beside has gone
EOT
gv-profile layers -q --warmup=0s --window=60s --beside=1 "$models/linear.tsv" >out 2>err &
pid=$!
other=$(child $pid)
kill -9 $pid
wait $pid 2>/dev/null || :
i=0
while kill -0 "$other" 2>/dev/null && [ $((i += 1)) -lt 500 ]; do sleep 0.02; done
ok "--beside: they go when who measures has gone" [ $i -lt 500 ]

# ---- what is measured ----
# numbers that are as they must be on any machine
awk -F, 'NR > 1 { f += $12; b += $13; if ($12 <= 0 || $13 < 0 || $16 < 0) bad = 1; t[$1] = $12 + $13 }
	END { exit bad || t[4] < 5 * t[7] || f <= 0 || b <= f / 4 }' cnn.csv
check=$?
ran="the times of $models/cnn.tsv"
ok "all times are there, and those of the largest layer large" [ $check -eq 0 ]
run gv-profile layers -q -v --warmup=0.02s --window=0.2s "$models/mlp.tsv"
sed 's/.*sum_to_step=//' err >ratio
ok "layers and updates are about a step: $(cat ratio)" awk '{ exit !($1 > 0.5 && $1 < 2) }' ratio
run gv-profile layers -q -v --warmup=0.02s --window=0.2s --batch=4 "$models/cnn-small.tsv"
sed 's/.* forward_backward_ms=\([^ ]*\).*/\1/' err >all
ok "times of layers add up to those of all" awk -F, '
	FNR == NR { all = $1; next }
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ sum += $at["forward_ms"] + $at["backward_ms"] }
	END { exit !(sum > all * (1 - 1e-5) && sum < all * (1 + 1e-5)) }' all out
clock=$build/preload/clock.so
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: no preloaded clock"
else
	# a clock that goes on by 1 us at each reading: the same times everywhere
	run env GV_CLOCK=1000 LD_PRELOAD="$clock" gv-profile layers -v --batch=8 --warmup=0s --window=0s "$models/linear.tsv"
	silent_but=$(grep -cv ': steps=20 forward_backward_ms=[0-9.]* update_ms=0.001 step_ms=0.001 step_error_ms=[^ ]* sum_to_step=' err)
	ok "-v says one line" [ "$silent_but" -eq 0 ]
	cp out first
	run env GV_CLOCK=1000 LD_PRELOAD="$clock" gv-profile layers --batch=8 --warmup=0s --window=0s "$models/linear.tsv"
	silent "no noise without noise"
	same_file out first "a clock of its own: the same times"
	cut -d, -f18,19 out >got && mv got out
	is_out "deviations of equal times are 0" <<'EOT'
forward_mad_ms,backward_mad_ms
0,0
0,0
EOT
	# passes are of one micro-batch, whatever the number of them; a step is of all
	for n in --in-flight=1 --in-flight=6 --micro-batches=7 "--in-flight=2 --micro-batches=7" "--stages=3 --micro-batches=7"; do
		# shellcheck disable=SC2086 # options
		run env GV_CLOCK=1000 LD_PRELOAD="$clock" gv-profile layers -qv $n --batch=8 --warmup=0s \
			--window=0s "$models/mlp.tsv"
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { f += $c["forward_ms"]; b += $c["backward_ms"] }
			END { print f, b }' out
	done >flight
	ok "--in-flight, --micro-batches: times of a micro-batch" awk 'NR == 1 { f = $1; b = $2 } NR > 1 {
		n += $1 > .7 * f && $1 < 2.5 * f && $2 > .7 * b && $2 < 2.5 * b } END { exit n != 4 }' flight
	run env GV_CLOCK=1000 GV_CLOCK_NOISE=1 LD_PRELOAD="$clock" gv-profile layers --batch=8 --warmup=0s \
		--window=0s --repeats=5 "$models/linear.tsv"
	is_status 0 "noise: status"
	ok "noise is warned of" grep -qx 'gv-profile: warning: times of 2 of 2 layers are noisy; layer [12] has a relative standard error of 0\.[0-9]*; measure longer, with --window' err
	run env GV_CLOCK=1000 GV_CLOCK_NOISE=1 LD_PRELOAD="$clock" gv-profile layers -q --batch=8 --warmup=0s \
		--window=0s --repeats=5 "$models/linear.tsv"
	silent "but not with -q"
	for option in --warmup=1ms --window=1ms --repeats=40; do
		run env GV_CLOCK=1000 LD_PRELOAD="$clock" gv-profile layers --batch=8 --warmup=0s --window=0s \
			--repeats=2 "$option" "$models/linear.tsv"
		column repeats | head -n 1 >"repeats$option"
	done
	cat repeats--* >out
	ok "--repeats and --window are kept; --warmup is not counted" \
		awk '$1 != 40 && NR == 1 || $1 != 2 && NR == 2 || $1 < 10 && NR == 3 { bad = 1 } END { exit bad || NR != 3 }' out
fi

# ---- in a pipe ----
gv-profile layers -q --warmup=0s --window=0s --repeats=3 "$models/cnn-small.tsv" >small.csv
run gv-partition -l 2@10GB/s --all-gpus --straight small.csv
silent "gv-partition reads it"
cp out plan.csv
column stage plan.csv | sort -u >out
is_out "and cuts it" <<'EOT'
0
1
EOT
gv-train --data=digits:100 --steps=5 --batch=8 --log-every=1 "$models/cnn-small.tsv" >wanted
run gv-train --data=digits:100 --steps=5 --batch=8 --log-every=1 small.csv
silent "gv-train reads it"
same_file out wanted "and trains the model"
run gv-train --data=digits:100 --steps=5 --batch=8 --log-every=1 plan.csv
is_err "gv-train says that a plan is not followed" <<'EOT'
gv-train: warning: plan.csv: a plan of stages=2 on gpus=2: the whole model is trained here on workers=1
EOT
same_file out wanted "and trains the model of the plan"
run gv-train -q --data=digits:100 --steps=5 --batch=8 --log-every=1 plan.csv
silent "and is silent with -q"
sed 's/,1,1,none,[01]x1$/,0,2,none,0x2/; s/,0,1,none,[01]x1$/,0,2,none,0x2/' plan.csv >replicas.csv
run gv-train --data=digits:100 --steps=5 --batch=8 --log-every=1 replicas.csv
is_err "replicas are processes of a gang, and there is one" <<'EOT'
gv-train: warning: replicas.csv: a plan of stages=1 on gpus=2: the whole model is trained here on workers=1
EOT
gv-partition -l 1@10GB/s small.csv >one.csv
run gv-train --data=digits:100 --steps=5 --batch=8 --log-every=1 one.csv
silent "a plan on one GPU is followed"

# ---- usage ----
bad "two models" "too many operands" "$models/cnn.tsv" "$models/mlp.tsv"
bad "--batch" '--batch: expected a whole number from 1 to 16777216, got "0"' --batch=0 x
bad "--shape" '--shape: expected HxW or HxWxC, got "28"' --shape=28 x
bad "--shape of four" '--shape: expected HxW or HxWxC, got "2x2x2x2"' --shape=2x2x2x2 x
bad "--classes" '--classes: expected a whole number from 2 to 16777216, got "1"' --classes=1 x
bad "--optimizer" '--optimizer: unknown "lion"; known: sgd, momentum, adam, adamw' --optimizer=lion x
bad "--threads" '--threads: expected a whole number from 1 to 1024, got "many"' --threads=many x
bad "--repeats" '--repeats: expected a whole number from 1 to 1000000, got "0"' --repeats=0 x
bad "--from" '--from: unknown "tensorflow"; known: pipedream' --from=tensorflow x
bad "--from measures nothing" 'with --from nothing is measured: options of measuring say nothing' \
	--from=pipedream --batch=8 x
wrong "a model that does not fit" "$models/cnn.tsv:3: k: window 2 is larger than the padded height 1" \
	--warmup=0s --window=0s --shape=1x1 "$models/cnn.tsv"

# ---- PipeDream's graphs ----
printf '%s\n' 'node1 -- Input0 -- forward_compute_time=0.000, backward_compute_time=0.000, activation_size=0.0, parameter_size=0.000' \
	'node4 -- LSTM(8, 8) -- forward_compute_time=3.190, backward_compute_time=5.348, activation_size=[6291456.0; 131072.0; 131072.0], parameter_size=50364416.000' \
	'node7 -- Conv2d(3, 64, kernel_size=(3, 3)) -- or so -- forward_compute_time=0.060, backward_compute_time=1e-05, activation_size=1e+17, parameter_size=0.000' \
	'	node1 -- node4' '	node4 -- node7' >graph.txt
run gv-profile layers --from=pipedream graph.txt
silent "--from=pipedream"
is_out "nodes and edges; lists are summed, descriptions hold anything" <<'EOT'
node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes
node1,Input0,0,0,0,0
node4,"LSTM(8, 8)",3.19,5.348,6553600,50364416
node7,"Conv2d(3, 64, kernel_size=(3, 3)) -- or so",0.06,1e-05,1e+17,0

src,dst
node1,node4
node4,node7
EOT
cp out both.csv
sed 's/$/\r/' graph.txt | gzip -c >graph.txt.gz
run gv-profile layers --from=pipedream graph.txt.gz
same_file out both.csv "gzip, CRLF"
run gv-profile layers --from=pipedream <graph.txt
same_file out both.csv "standard input"
run gv-profile layers --from=pipedream --tsv -o both.tsv graph.txt
silent "--from=pipedream --tsv -o"
ok "with tabs" grep -q '^node4	node7$' both.tsv
run gv-partition -l 2@1GB/s both.csv
silent "gv-partition reads both tables"
sed '/^node/s/$/ -- stage_id=1/' graph.txt >staged.txt
run gv-profile layers --from=pipedream staged.txt
sed -n '1,3s/.*,//p' out >got && mv got out
is_out "stages of a planned graph" <<'EOT'
stage
1
1
EOT
# odd LINE MESSAGE: a graph of this line
odd() {
	printf "%b\n" "$2" >odd.txt
	wrong "$1" "odd.txt$3" --from=pipedream odd.txt
}
times='forward_compute_time=1, backward_compute_time=2'
odd "a table" 'node_id,layer' ':1: expected ID -- LAYER -- forward_compute_time=..., got "node_id,layer"'
odd "a missing size" "n -- L -- $times, parameter_size=1" \
	':1: expected activation_size=NUMBER, got "parameter_size=1"'
odd "no number" "n -- L -- $times, activation_size=[1; x], parameter_size=1" \
	':1: activation_bytes: expected a number from 0 up, got "[1; x]"'
odd "an open list" "n -- L -- $times, activation_size=[1; , parameter_size=1" \
	':1: activation_bytes: expected a number from 0 up, got "[1; "'
odd "a negative size" "n -- L -- $times, activation_size=3, parameter_size=-1" \
	':1: parameter_bytes: expected a number from 0 up, got "-1"'
odd "a stage" "n -- L -- $times, activation_size=3, parameter_size=1 -- stage=1" \
	':1: expected stage_id=NUMBER, got "stage=1"'
odd "more numbers" "n -- L -- $times, activation_size=3, parameter_size=1, x=2" \
	':1: expected nothing after the numbers, got ", x=2"'
odd "a node twice" "n -- L -- $times, activation_size=3, parameter_size=1\nn -- L -- $times, activation_size=3, parameter_size=1" \
	':2: node_id: another node is called "n" too'
odd "half an edge" "n -- L -- $times, activation_size=3, parameter_size=1\n\tn" ':2: expected ID -- ID, got "n"'
odd "an edge to nowhere" "n -- L -- $times, activation_size=3, parameter_size=1\n\tn -- m" ':2: there is no node "m"'
odd "nothing" '' ': has no nodes'
printf 'n -- \000' >odd.txt
wrong "a NUL" "odd.txt:1: a NUL byte" --from=pipedream odd.txt
wrong "no file" "no.txt: cannot open: No such file or directory" --from=pipedream no.txt

# the real profiles: their tables, as graph.txt again, come back
cat >graphs.py <<'EOT'
"""graphs.py write|check DIR: NAME.txt of every profile in DIR; does NAME.csv hold it?"""
import csv, glob, os, sys

def rows(text):
    return list(csv.DictReader(text))

def near(a, b):
    return abs(float(a) - float(b)) <= 0.0005  # graph.txt has three digits

for path in sorted(glob.glob(sys.argv[2] + "/*.layers.csv")):
    name = os.path.basename(path)[: -len(".layers.csv")]
    nodes, edges = rows(open(path)), rows(open(path.replace(".layers.", ".edges.")))
    if sys.argv[1] == "write":
        with open(name + ".txt", "w") as f:
            for r in nodes:
                f.write("%s -- %s -- forward_compute_time=%.3f, backward_compute_time=%.3f, "
                        "activation_size=%s, parameter_size=%.3f\n" % (
                            r["node_id"], r["layer"], float(r["forward_ms"]), float(r["backward_ms"]),
                            float(r["activation_bytes"]), float(r["parameter_bytes"])))
            for r in edges:
                f.write("\t%s -- %s\n" % (r["src"], r["dst"]))
        continue
    have = [rows(t.splitlines()) for t in open(name + ".csv").read().split("\n\n")]
    same = len(have) == 2 and have[1] == edges and len(have[0]) == len(nodes) and all(
        a["node_id"] == b["node_id"] and a["layer"] == b["layer"] and
        all(near(a[c], b[c]) for c in ("forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"))
        for a, b in zip(have[0], nodes))
    print(name, "same" if same else "differs")
EOT
if [ -d "$shared/data/pipedream" ] && [ -n "$GV_PYTHON" ]; then
	"$GV_PYTHON" graphs.py write "$shared/data/pipedream"
	for graph in *[0-9a-z].txt; do
		[ -f "$shared/data/pipedream/${graph%.txt}.layers.csv" ] || continue
		gv-profile layers --from=pipedream -o "${graph%.txt}.csv" "$graph"
	done
	run "$GV_PYTHON" graphs.py check "$shared/data/pipedream"
	ok "PipeDream's profiles come back" [ "$(grep -c ' same$' out)" -ge 15 ]
	ok "all of them" [ "$(grep -cv ' same$' out)" -eq 0 ]
elif [ -n "$GV_PYTHON" ]; then
	skip "no shared data: PipeDream's profiles"
else
	skip "no python3: PipeDream's profiles"
fi
done_testing
