#!/bin/sh
# gv-train as worker of a pipeline: flush, gpipe and interleaved are one process with the
# same micro-batches, byte for byte; every schedule, plan and number of replicas runs;
# whoever is killed whenever, the run goes on to the same end.
# shellcheck disable=SC2046,SC2086
. "${0%/*}/lib.sh"

seed=${GV_SEED:-1}
draw() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	echo $((seed / 65536 % 1000))
}
# start N ARGS...: N workers in the background; pids in $pids, outputs in out.R and err.R
start() {
	world=$1 r=0 pids=
	shift
	free_port
	ran="gv-train $* (on $world workers)"
	while [ $r -lt $world ]; do
		RANK=$r WORLD_SIZE=$world MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
			gv-train --timeout=20 "$@" >out.$r 2>err.$r &
		pids="$pids $!"
		r=$((r + 1))
	done
}
# ended: waits for them; statuses in $status (the largest) and $statuses
ended() {
	statuses='' status=0
	for pid in $pids; do
		one=0
		wait $pid 2>/dev/null || one=$?
		statuses="$statuses $one"
		[ $one -le $status ] || status=$one
	done
	cat err.* >err
	cp out.0 out
}
gang() {
	rm -f out.* err.*
	start "$@"
	ended
}

# plan CUTS REPLICAS <model >plan: the stages begin with the rows CUTS ("0 2 3"), on so many each
plan() {
	awk -F, -v OFS=, -v cuts="$1" -v replicas="$2" '
	BEGIN { n = split(cuts, cut, " "); split(replicas, r, " ") }
	NR == 1 { print $0, "stage", "replicas"; next }
	{ s = 0; for (i = 1; i <= n; i++) if (NR - 2 >= cut[i]) s = i; print $0, s - 1, r[s] }'
}
cat >mlp.csv <<'END'
id,op,out,act
1,linear,32,relu
2,linear,24,relu
3,linear,24,relu
4,linear,,
5,xent,,
END
cat >res.csv <<'END'
id,op,from,out,k,s,p,act
1,conv,0,4,3,2,1,relu
2,conv,1,4,3,,1,
3,bn,2,,,,,
4,add,3;1,,,,,relu
5,maxpool,4,,4,,,
6,linear,5,16,,,,relu
7,linear,6,,,,,
8,xent,7,,,,,
END
data="--data=digits:300 --test=digits:70"
common="$data --log-every=3 --test-every=5 --batch=24 --micro-batches=4"

# ---- as one process ----
# same MODEL CUTS SCHEDULE OPTIONS: losses and checkpoint are those of one process
same() {
	model=$1 cuts=$2 schedule=$3
	shift 3
	rm -rf one many
	run gv-train $common "$@" --steps=12 --checkpoint=one $model.csv
	mv out want
	world=$(echo $cuts | wc -w)
	plan "$cuts" "1 1 1 1 1 1" <$model.csv >plan.csv
	case $schedule in interleaved) world=$((world / 2)) ;; esac
	gang $world $common "$@" --steps=12 --checkpoint=many --schedule=$schedule plan.csv
	silent "$schedule of $model cut at $cuts, $*"
	same_file want out.0 "$schedule of $model cut at $cuts, $*: losses"
	same_file one/losses.csv many/losses.csv "$schedule of $model cut at $cuts, $*: record"
	run gv-train --join=joined.ckpt many/gv-train.set
	same_file one/gv-train.ckpt joined.ckpt "$schedule of $model cut at $cuts, $*: joined"
	run gv-train $common "$@" --steps=12 --checkpoint=many $model.csv
	same_file one/gv-train.ckpt many/gv-train.ckpt "$schedule of $model cut at $cuts, $*: gone on from in one process"
	ok "and nothing else is left" test "$(echo many/*)" = "many/gv-train.ckpt many/losses.csv"
}
same mlp "0 2" flush --lr=.1 --clip-value=.01
same mlp "0 1 3" gpipe --lr=.05 --momentum=.9
same mlp "0 1 2 3" flush --optimizer=adam
same mlp "0 1 2 3" interleaved --lr=.1
same mlp "0 2" zb-h1 --lr=.1
same res "0 2" flush --lr=.05 --momentum=.9
same res "0 3 5" gpipe --optimizer=adamw --weight-decay=.01
cat >drop.csv <<'END'
id,op,from,out,k,s,p,act,rate
1,conv,0,6,3,2,1,gelu,
2,dropout,1,,,,,,0.3
3,conv,1,5,3,2,1,leaky,
4,maxpool,2,,2,,,,
5,concat,4;3,,,,,silu,
6,linear,5,24,,,,gelu,
7,dropout,6,,,,,,0.5
8,linear,7,,,,,,
9,xent,8,,,,,,
END
same drop "0 5" flush --lr=.05 --momentum=.9
same drop "0 1 6" gpipe --optimizer=adam
# rows of a plan whose stages are not in the table's order: branches that are cut at once
cat >plan.csv <<'END'
id,op,from,out,k,s,p,act,rate,bias,stage,replicas
1,conv,0,4,3,2,1,relu,,,0,1
2,conv,1,4,3,,1,relu,,,0,1
5,dropout,2,,,,,,.2,,1,1
3,conv,1,4,1,,,,,,0,1
4,bn,3,,,,,relu,,,1,1
6,add,4;5,,,,,,,,1,1
7,linear,6,,,,,,,,2,1
8,xent,7,,,,,,,,2,1
END
rm -rf one many part
cut -d, -f1-10 plan.csv >model.csv
run gv-train $common --lr=.05 --steps=12 model.csv
mv out want
gang 3 $common --lr=.05 --steps=12 --checkpoint=many --schedule=flush plan.csv
silent "stages that are not in the table's order"
same_file want out.0 "stages that are not in the table's order: losses"
run gv-train -q $common --lr=.05 --steps=12 --checkpoint=one plan.csv
run gv-train --join=joined.ckpt many/gv-train.set
same_file one/gv-train.ckpt joined.ckpt "and the checkpoint of one process on the plan"
printf 'seed,lr\n1,.1\n2,.05\n' >array.csv
same mlp "0 2" flush --array=array.csv

# clipped by the norm of all stages' gradients; models that end before others
same mlp "0 2" flush --lr=.1 --clip-norm=.05
same res "0 2 5" gpipe --lr=.05 --momentum=.9 --clip-norm=.3 --clip-value=.05
same mlp "0 1 2 3" interleaved --lr=.1 --clip-norm=.05
printf 'seed,lr,steps,clip_norm\n1,.1,12,.05\n2,.05,7,\n3,.05,10,.1\n' >array.csv
same res "0 3" flush --array=array.csv
same mlp "0 1 2 3" interleaved --array=array.csv

# and that see the samples in orders of their own
printf 'seed,order_seed,lr,steps\n1,1,.1,12\n2,2,.05,7\n3,1,.05,10\n4,3,.02,12\n' >array.csv
same res "0 3 5" flush --array=array.csv --momentum=.9
same mlp "0 1 2 3" interleaved --array=array.csv
same drop "0 5" zb-h1 --array=array.csv
# stages that look at samples, those that do not, and 1f1b: each model as it is alone
sed 's/,12$/,24/; s/,7$/,8/; s/,10$/,16/' array.csv >orders.csv
plan "0 3 5" "1 2 1" <res.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "recompute"; next } { print $0, "full" }' >plan.csv
gang 4 $data --log-every=1 --test-every=4 --batch=6 --array=orders.csv --schedule=1f1b plan.csv
silent "models of three orders under 1f1b"
mv out.0 want
for b in 1 2 3 4; do
	awk -v b=$b 'NR == 1 || NR == b + 1' orders.csv >alone.csv
	gang 4 $data --log-every=1 --test-every=4 --batch=6 --steps=$(sed '1d; s/.*,//' alone.csv) --array=alone.csv --schedule=1f1b plan.csv
	awk -F, -v b=$b 'NR > 1 && $2 == b - 1 { $2 = 0; print $1, $3, $4, $5 }' want >of
	awk -F, 'NR > 1 { print $1, $3, $4, $5 }' out.0 >alone
	same_file of alone "model $b of them as it is alone"
done

# a weight of two rows, of one stage or of two
cat >tied.csv <<'END'
id,op,from,out,k,g,act,bias,tied_with
1,embed,0,16,,,,,
2,ln,1,,,,,,
3,linear,2,48,1,,,,
4,causal,3,,,4,,,
5,linear,4,16,1,,,,
6,add,1;5,,,,,,
7,linear,6,32,1,,gelu-tanh,,
8,linear,7,16,1,,,,
9,add,6;8,,,,,,
10,ln,9,,,,,,
11,linear,10,,1,,,,1
12,xent,11,,,,,,
END
digits=$common
common="--data=sentences:120 --test=sentences:30 --context=8 --log-every=3 --test-every=5 --batch=24 --micro-batches=4"
same tied "0 5" flush --lr=.1 --momentum=.9
same tied "0 2 9" gpipe --optimizer=adamw --weight-decay=.01 --clip-norm=.3
same tied "0 2 6 9" interleaved --optimizer=adam --clip-norm=.3
same tied "0 9" zb-h1 --lr=.1
printf 'seed,lr,steps,clip_norm\n1,.1,12,.05\n2,.05,7,\n3,.05,10,.1\n' >array.csv
same tied "0 2 6 9" interleaved --array=array.csv
# replicas of both: what they sum is one thing, however many there are
plan "0 5" "1 1" <tied.csv >one.csv
plan "0 5" "2 3" <tied.csv >many.csv
for plan in one many; do
	rm -rf $plan.d
	gang $(if [ $plan = one ]; then echo 2; else echo 5; fi) $common --batch=48 --micro-batches=12 --lr=.1 --clip-norm=.5 --steps=10 --checkpoint=$plan.d --schedule=flush $plan.csv
	silent "a weight of two stages, $plan"
	cut -d, -f3 $plan.d/losses.csv >$plan.loss
done
ok "replicas of two stages with one weight lose as much" \
	awk -F, 'NR == FNR { a[FNR] = $1; next } FNR > 1 && ($1 - a[FNR] > 1e-4 || a[FNR] - $1 > 1e-4) { bad = 1 } END { exit bad || FNR < 4 }' one.loss many.loss
run gv-train --join=joined.ckpt many.d/gv-train.set
run gv-train -q $common --batch=48 --micro-batches=12 --lr=.1 --clip-norm=.5 --steps=10 --checkpoint=many.d --weights=tied.safetensors tied.csv
silent "one process goes on from there, and writes both copies"
run gv-train -q $common --lr=.1 --steps=1 --init=tied.safetensors tied.csv
silent "which are the same: they are taken"
sed 's/,1$/,/' tied.csv >apart.csv
run gv-train -q $common --lr=.1 --steps=1 --init=tied.safetensors --weights=apart.safetensors apart.csv
run gv-train -q $common --lr=.1 --steps=1 --init=apart.safetensors tied.csv
is_err "others are not" <<'END'
gv-train: apart.safetensors: tensor "1.weight" is not that of row 11, which is tied with it
END
is_status 2 "and it says so"
plan "0 5" "1 1" <tied.csv >plan.csv
for schedule in 1f1b 2bw; do
	gang 2 ${common%--micro*} --micro-batches=$(if [ $schedule = 2bw ]; then echo 4; else echo 1; fi) --lr=.1 --steps=12 --schedule=$schedule plan.csv
	err_has "gv-train: rows 11 and 1 are tied and of two stages, whose weights $schedule updates at different times: one stage for both, or flush, gpipe, interleaved or zb-h1" \
		"$schedule of a weight of two stages is refused"
	is_status 2 "with an error"
done
common=$digits

# tensors in and out
# weights NAME CUTS ARGS...: the file of a pipeline is that of one process
weights() {
	name=$1 cuts=$2
	shift 2
	run gv-train $common --steps=6 --weights=one.safetensors "$@" res.csv
	mv out want && mv err want.err
	plan "$cuts" "1 1 1" <res.csv >plan.csv
	gang $(echo $cuts | wc -w) $common --steps=6 --weights=many.safetensors --schedule=flush "$@" plan.csv
	same_file want out.0 "$name: losses"
	cat err.* | sort >got.err
	sort want.err >want
	same_file want got.err "$name: what is said of it"
	for file in one*.safetensors; do same_file $file many${file#one} "$name: $file"; done
	rm one*.safetensors
}
run gv-train $data --batch=24 --steps=3 --seed=5 --weights=start.safetensors res.csv
weights "tensors" "0 2 5" --lr=.05 --init=start.safetensors
printf 'seed,lr,init\n1,.1,start.safetensors\n2,.05,\n3,.05,start.safetensors\n' >array.csv
weights "tensors of an array" "0 3" --array=array.csv
sed 's/^6,linear/60,linear/; s/^7,linear,6/7,linear,60/' res.csv >other.csv
run gv-train $data --batch=24 --steps=3 --seed=5 --weights=start.safetensors other.csv
weights "some tensors" "0 2 5" --lr=.05 --init=start.safetensors --init-partial
plan "0 2" "1 2" <mlp.csv >plan.csv
gang 3 $data --batch=8 --micro-batches=2 --steps=4 --checkpoint=two --weights=many.safetensors --schedule=flush plan.csv
run gv-train $data --batch=8 --micro-batches=2 --steps=4 --checkpoint=two --weights=one.safetensors mlp.csv
same_file one.safetensors many.safetensors "tensors of stages with replicas"

# no step at all: the weights are those that a run begins with
plan "0 2" "1 1" <mlp.csv >plan.csv
gv-train $data --batch=24 --steps=0 --weights=one.safetensors mlp.csv >want
for schedule in 1f1b 2bw flush; do
	gang 2 $data --batch=24 --micro-batches=$(if [ $schedule = 1f1b ]; then echo 1; else echo 4; fi) --steps=0 --weights=many.safetensors --schedule=$schedule plan.csv
	same_file want out.0 "$schedule: no steps, no rows"
	same_file one.safetensors many.safetensors "$schedule: the first weights"
	rm -f many.safetensors
done

# stages that recompute
plan "0 3" "1 1" <res.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "recompute"; next } { print $0, "full" }' >plan.csv
run gv-train -q $common --lr=.05 --steps=12 res.csv
mv out want
gang 2 $common --lr=.05 --steps=12 --schedule=flush plan.csv
same_file want out.0 "stages that recompute: losses"
gang 2 $common --lr=.05 --steps=12 --schedule=zb-h1 plan.csv
same_file want out.0 "stages that recompute, and put gradients of weights off: losses"

# ---- what stages hold and take ----
# held NAME STAGE: what -v says of a stage is what gv-partition has for it
held() {
	awk -F, -v s="$2" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 && $c["stage"] == s { printf "%.0f (the plan: %.0f)\n", $c["memory_bytes"], $c["memory_bytes"] }' explained >want
	grep "^gv-train: stage $2," err | sed 's/.*: \([0-9]*\) bytes \((the plan: [0-9]*)\).*/\1 \2/' >got
	same_file want got "$1: stage $2 holds what gv-partition says"
	ok "and took some time" grep -Eq "^gv-train: stage $2, replica 0: a micro-batch took [0-9.]+ ms forward \(the plan: [0-9.]+\) and [0-9.]+ ms backward \([0-9.]+\); waited [0-9.]+ % of the time; " err
}
gv-profile layers -q --batch=6 --shape=16x16 --classes=10 --window=.01 --warmup=.01 --repeats=1 mlp.csv >layers.csv 2>/dev/null
gv-partition -q -l 3@1GB/s --straight --all-gpus --optimizer=adam layers.csv >plan.csv
for schedule in 1f1b flush 2bw; do
	case $schedule in 1f1b) m=1 ;; *) m=4 ;; esac
	gv-partition -q -l 3@1GB/s --evaluate --explain --optimizer=adam --schedule=$schedule --micro-batches=$m plan.csv >explained
	gang 3 -v --data=digits:300 --batch=$((6 * m)) --micro-batches=$m --steps=12 --optimizer=adam --schedule=$schedule plan.csv
	for stage in 0 1 2; do held $schedule $stage; done
done
# what is kept beside outputs counts, too: what stood before an activation, the gates of an lstm
cat >gates.csv <<'END'
id,op,from,out,k,act,dir
1,linear,0,12,1,silu,
2,lstm,1,8,,,both
3,add,2;2,,,gelu,
4,linear,3,10,,silu,
5,linear,4,,,,
6,xent,5,,,,
END
for recompute in none full; do
	gv-profile layers -q --batch=6 --shape=16x1x16 --classes=10 --window=.01 --warmup=.01 --repeats=1 gates.csv 2>/dev/null |
		gv-partition -q -l 2@1GB/s --straight --all-gpus --optimizer=adam --recompute=$recompute --schedule=gpipe --micro-batches=3 >gates.plan
	gv-partition -q -l 2@1GB/s --evaluate --explain --optimizer=adam --schedule=gpipe --micro-batches=3 gates.plan >explained
	gang 2 -v --data=digits:300 --shape=16x1x16 --batch=18 --micro-batches=3 --steps=4 --optimizer=adam --schedule=gpipe gates.plan
	# a stage that computes its outputs again has them of each in flight, until they were sent
	[ $recompute = full ] || held "gates" 0
	held "gates, recompute $recompute" 1
done
# a third of a megabyte each: what the first row leaves to be summed behind the way back is little
printf 'id,op,out,act\n1,linear,256,relu\n2,linear,256,relu\n3,linear,256,relu\n4,linear,,\n5,xent,,\n' | plan "0" "2" >wide.csv
gang 2 -v --data=digits:300 --batch=16 --micro-batches=2 --steps=2 --schedule=flush wide.csv
ok "rows of a small stage are summed one by one" grep -q "stage 0, replica 1: .*; gradients summed in 3 buckets$" err.1

# ---- replicas ----
# near FILE: its losses are those of the file want, but for the order of sums
near() { awk -F, 'NR == FNR { want[FNR] = $3; next } FNR > 1 && ($3 - want[FNR]) ^ 2 > 1e-8 { bad = 1 } END { exit bad || FNR < 4 }' want "$1"; }
for schedule in flush gpipe; do
	run gv-train $common --lr=.1 --clip-norm=.05 --steps=12 mlp.csv
	mv out want
	cp plan.csv kept.csv
	plan "0 2" "2 3" <mlp.csv >plan.csv
	gang 5 $common --lr=.1 --clip-norm=.05 --steps=12 --schedule=$schedule plan.csv
	ok "$schedule of replicas, clipped by the norm of all: $(tail -n 1 out.0)" near out.0
	mv kept.csv plan.csv
done
# running statistics: the mean of what each replica would have, of a micro-batch each
if [ -n "$GV_PYTHON" ]; then
	printf 'id,op,out,k,s,p\n1,conv,3,3,2,1\n2,bn,,,,\n3,linear,,,,\n4,xent,,,,\n' >norm.csv
	cp plan.csv kept.csv
	plan "0 2" "2 1" <norm.csv >plan.csv
	run gv-train $data --batch=12 --steps=1 --weights=half.safetensors norm.csv
	run gv-train $data --batch=24 --micro-batches=2 --steps=1 --weights=one.safetensors norm.csv
	gang 3 $data --batch=24 --micro-batches=2 --steps=1 --schedule=flush --weights=many.safetensors plan.csv
	ok "running statistics of replicas are their mean" "$GV_PYTHON" -c '
import json, struct
def read(name):
    raw = open(name, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    out = []
    for part in ("2.running_mean", "2.running_var"):
        a, b = head[part]["data_offsets"]
        out.append(struct.unpack("<3f", raw[8 + n + a:8 + n + b]))
    return out
half, one, many = read("half.safetensors"), read("one.safetensors"), read("many.safetensors")
for part, start in ((0, 0), (1, 1)):
    for a, m, got in zip(half[part], one[part], many[part]):
        # m = .9 a + .1 s, of the second micro-batch
        want = (a + .9 * start + m - .9 * a) / 2
        assert abs(got - want) < 1e-6, (got, want)'
	mv kept.csv plan.csv
fi

# what stages took, as a table
head -n 1 plan.csv | grep -q forward_ms || fail "the plan has no times" plan.csv
gang 3 --data=digits:300 --batch=24 --micro-batches=4 --steps=12 --optimizer=adam --schedule=flush --stages=stages.csv plan.csv
silent "--stages"
run gv-report -q stages.csv
ok "gv-report shows it" grep -q 'passes to plan' out
ok "a row of numbers for each stage" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["stage"] != NR - 2 || $c["micro_batches"] != 48 || !($c["forward_ms"] > 0 && $c["planned_forward_ms"] > 0 && $c["backward_ms"] > 0 &&
		$c["planned_backward_ms"] > 0 && $c["other_ms"] > 0 && $c["send_ms"] >= 0 && $c["update_ms"] > 0 && $c["wait_ms"] >= 0 && $c["bubble"] > 0 && $c["bubble"] < 1 &&
		$c["planned_bubble"] > 0 && $c["planned_bubble"] < 1 && $c["memory_bytes"] > 0) { bad = 1 } END { exit bad || NR != 4 }' stages.csv
gang 3 --data=digits:300 --batch=16 --micro-batches=4 --steps=12 --optimizer=adam --schedule=flush --stages=stages.csv plan.csv
is_err "micro-batches that are not those of the plan" <<E
gv-train: warning: plan.csv: planned for micro-batches of 6 samples, these have 4: its times and bytes are not those to be met
E
# the same passes, whatever the schedule and how many of them an update is of
{ echo id,op,out,act; for i in 1 2 3 4; do echo $i,linear,512,relu; done; echo 5,linear,,; echo 6,xent,,; } |
	plan "0 2" "1 1" >square.csv
# stage0 COLUMN: of the first stage
stage0() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR == 2 { print $c[name] }' stages.csv; }
# on a machine with other work one run's times say little: some run of five shows it
shown=0
for try in 1 2 3 4 5; do
	for form in "zb-h1 32 128" "flush 32 128" "flush 1 4"; do
		set -- $form
		gang 2 --data=digits:256 --batch=$3 --micro-batches=$2 --steps=8 --schedule=$1 --stages=stages.csv square.csv
		echo "$try $(stage0 forward_ms) $(stage0 backward_ms)"
	done >passes
	cat passes >>all_passes
	awk 'NR == 1 { split_ms = $3 } NR == 2 { if (split_ms <= .75 * $3) exit 1; many = $2 } NR == 3 { exit !($2 < 1.8 * many) }' passes && shown=1 && break
done
[ $shown = 1 ] || fail "passes for the weights are of backward_ms, packing them is of none" all_passes
plan "0 2" "2 1" <mlp.csv >plan.csv
gang 3 $common --steps=9 --schedule=2bw --stages=stages.csv plan.csv
ok "of a plan without times that is empty" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["planned_forward_ms"] != "" || $c["planned_bubble"] != "" || $c["micro_batches"] != (NR < 4 ? 18 : 36) { bad = 1 } END { exit bad || NR != 4 }' stages.csv

# what is planned, exactly: every stage takes 6 ms forward and 12 ms backward, each row keeps 1000 bytes
# timed HOW <plan: with these times; HOW: recompute
timed() {
	awk -F, -v OFS=, -v how="$1" 'NR == 1 { print $0, "recompute", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next }
		{ n[$5]++; line[NR] = $0; s[NR] = $5 } END { for (i = 2; i <= NR; i++) print line[i], how, 6 / n[s[i]], 12 / n[s[i]], 1000, 10 }'
}
# planned NAME OPTION...: stage, micro-batches, planned ms forward and backward, bubble and bytes
planned() {
	name=$1
	shift
	gang 2 -q --data=digits:48 --batch=24 --micro-batches=4 --steps=2 --stages=stages.csv "$@"
	silent "$name"
	awk -F, 'NR > 1 { printf "%d %d %.6g %.6g %.6f %.0f\n", $1, $3, $5, $7, $13, $15 }' stages.csv >got
	cat >want
	same_file want got "$name: what is planned"
}
plan "0 2" "1 1" <mlp.csv | timed none >plan.csv
planned "flush" --schedule=flush plan.csv <<'E'
0 8 6 12 0.200000 4040
1 8 6 12 0.200000 3060
E
planned "gpipe" --schedule=gpipe plan.csv <<'E'
0 8 6 12 0.200000 8040
1 8 6 12 0.200000 12060
E
planned "zb-h1" --schedule=zb-h1 plan.csv <<'E'
0 8 6 12 0.076923 4040
1 8 6 12 0.076923 6060
E
planned "2bw" --schedule=2bw plan.csv <<'E'
0 8 6 12 0.000000 4060
1 8 6 12 0.000000 3090
E
# the activations of one micro-batch, and what came into each: 6 samples of 24 numbers
plan "0 2" "1 1" <mlp.csv | timed full >plan.csv
planned "flush, all made again" --schedule=flush plan.csv <<'E'
0 8 6 18 0.200000 2040
1 8 6 18 0.200000 3636
E
planned "zb-h1, all made again" --schedule=zb-h1 plan.csv <<'E'
0 8 6 18 0.111111 2040
1 8 6 18 0.111111 4212
E
# 12 ms of the 108 that the slower stage takes, 36 for the other one
plan "0 2" "1 1" <mlp.csv | timed full | awk -F, -v OFS=, '$5 == 1 { $7 = "none" } { print }' >plan.csv
planned "flush, one stage's made again" --schedule=flush plan.csv <<'E'
0 8 6 18 0.111111 2040
1 8 6 12 0.333333 3060
E
plan "0 2" "1 1" <mlp.csv | timed none | awk -F, -v OFS=, '$5 == 1 { $8 = 0 } { print }' >plan.csv
planned "no times of a stage" --schedule=flush plan.csv <<'E'
0 8 6 12 0.000000 4040
1 8 0 12 0.000000 3060
E
plan "0 1 2 3" "1 1 1 1" <mlp.csv | timed none >plan.csv
planned "interleaved" --schedule=interleaved plan.csv <<'E'
0 8 6 12 0.111111 4020
1 8 6 12 0.111111 3020
2 8 6 12 0.111111 2020
3 8 6 12 0.111111 2040
E

# ---- every plan runs ----
# trained NAME: all workers are done, and the last loss is a number
trained() {
	if [ "$statuses" = "$(echo "$statuses" | sed 's/[1-9][0-9]*/0/g')" ] &&
		awk -F, 'END { exit !($3 > 0 && $3 < 2.5) }' out.0; then pass "$1"; else fail "$1: statuses$statuses" err out.0; fi
}
for schedule in flush gpipe 2bw zb-h1; do
	for replicas in "2 1" "1 3" "2 2"; do
		plan "0 2" "$replicas" <mlp.csv >plan.csv
		gang $(($(echo $replicas | tr ' ' +))) $common --lr=.1 --steps=9 --schedule=$schedule plan.csv
		trained "$schedule on replicas $replicas"
	done
done
for replicas in "1 1 1" "2 1 1" "2 3 1" "1 2 2"; do
	plan "0 2 3" "$replicas" <mlp.csv >plan.csv
	gang $(($(echo $replicas | tr ' ' +))) $data --batch=8 --lr=.05 --steps=36 --schedule=1f1b plan.csv
	trained "1f1b on replicas $replicas"
	gang $(($(echo $replicas | tr ' ' +))) $data --batch=8 --lr=.05 --steps=36 --schedule=1f1b --vertical-sync plan.csv
	trained "1f1b with vertical sync on replicas $replicas"
done

# a stage may sum beside passes of the next step while others have come to a test, or to the end
for schedule in 2bw 1f1b; do
	for replicas in "1 3 1" "2 3 1" "1 2 3"; do
		plan "0 2 3" "$replicas" <mlp.csv >plan.csv
		n=$(($(echo $replicas | tr ' ' +)))
		many=$([ $schedule = 1f1b ] || echo --micro-batches=6)
		gang $n --data=digits:300 --batch=12 --lr=.05 --log-every=1 --steps=36 $many --schedule=$schedule plan.csv
		cut -d, -f 1-3 out.0 >want
		rm -f out.* err.*
		gang $n --data=digits:300 --test=digits:70 --test-every=2 --batch=12 --lr=.05 --log-every=1 --steps=36 $many --schedule=$schedule plan.csv
		cut -d, -f 1-3 out.0 >got
		same_file want got "$schedule on replicas $replicas is tested between its steps"
	done
done
plan "0 2 3" "1 3 1" <mlp.csv >plan.csv
start 5 --data=digits:300 --test=digits:70 --batch=12 --micro-batches=6 --lr=.05 --log-every=1 --steps=100000 --schedule=2bw \
	--checkpoint=stopped plan.csv
true_within 60 grep -q '^9,' out.0
kill -TERM $pids
ended
if [ "$statuses" = " 143 143 143 143 143" ]; then pass "and is stopped between them"; else fail "stopped: statuses$statuses" err; fi

# sums of several buckets, the first done before the last has come
printf 'id,op,out,act\n1,linear,1100,relu\n2,linear,1000,relu\n3,linear,1000,relu\n4,linear,,\n5,xent,,\n' | plan 0 2 >wide.csv
gang 2 $data --batch=8 --lr=.05 --steps=24 --schedule=1f1b wide.csv
trained "1f1b on replicas whose gradients are summed bucket by bucket"
# each replica has one micro-batch: what is summed in parts is what one process adds up
run gv-train -q --data=digits:300 --log-every=1 --batch=24 --micro-batches=2 --lr=.05 --steps=6 wide.csv
mv out want
gang 2 --data=digits:300 --log-every=1 --batch=24 --micro-batches=2 --lr=.05 --steps=6 --schedule=flush wide.csv
same_file want out.0 "two replicas of one micro-batch each: the losses of one process"

plan "0 2" "2 2" <mlp.csv >plan.csv
gang 4 $data --batch=8 --lr=.05 --clip-norm=.5 --steps=36 --schedule=1f1b plan.csv
trained "1f1b clipped by the norm"
plan "0 2" "1 2" <mlp.csv >plan.csv
gang 3 $common --lr=.1 --clip-norm=.5 --steps=9 --schedule=2bw plan.csv
trained "2bw clipped by the norm"

# ---- whatever gv-partition prints ----
# costs <model >layers: random times and bytes for the planner
costs() {
	awk -F, -v OFS=, -v seed="$(draw)" '
	BEGIN { srand(seed) }
	NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next }
	{ t = rand() * rand(); print $0, $1, t, 2 * t, int(1e5 * rand()), int(1e6 * rand() * rand()) }'
}
workers() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 { r[$c["stage"]] = $c["replicas"] } END { for (i in r) n += r[i]; print n }' "$1"; }
for i in 1 2 3 4 5 6; do
	costs <mlp.csv >layers.csv
	case $i in 1 | 4) schedule=flush m=8 ;; 2 | 5) schedule=1f1b m=1 ;; *) schedule=2bw m=8 ;; esac
	gv-partition -q -l $((2 + i % 3))@1GB/s --schedule=$schedule \
		$([ $m = 1 ] || echo --micro-batches=$m) layers.csv >plan.csv 2>err || fail "plan $i" err layers.csv
	gang "$(workers plan.csv)" $data --batch=$((6 * m)) --micro-batches=$m --lr=.05 --steps=12 --log-every=12 --schedule=$schedule plan.csv
	trained "$schedule on plan $i of gv-partition: $(cut -d, -f10- plan.csv | tr '\n' ' ')"
	[ $schedule != 2bw ] || continue
	mv out.0 want
	gv-partition -l $((2 + i % 3))@1GB/s --evaluate --timeline --schedule=$schedule --micro-batches=$((m == 1 ? 48 : m)) plan.csv >schedule.csv
	gang "$(workers plan.csv)" $data --batch=$((6 * m)) --micro-batches=$m --lr=.05 --steps=$((m == 1 ? 48 : 12)) --log-every=12 \
		--schedule=schedule.csv plan.csv
	trained "and by its timeline"
	[ $schedule = 1f1b ] || same_file want out.0 "with the same losses"
done

# ---- backward passes with and without their gradients of the weights ----
plan "0 2 3" "1 1 1" <mlp.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next } { print $0, $1, 1, 2, 10, 10 }' >three.csv
gv-partition -q -l 3@1GB/s --evaluate --timeline --schedule=zb-h1 --micro-batches=4 three.csv >zb-h1.csv
run gv-train -q $common --lr=.1 --steps=9 three.csv
mv out want
for but in '^2,' '^[01],' ',W,3,' '^1,.*,W,' '^0,.*,W,[23],'; do
	awk -F, -v but="$but" '!/,W,/ || $0 !~ but' zb-h1.csv >schedule.csv
	gang 3 $common --lr=.1 --steps=9 --schedule=schedule.csv three.csv
	silent "zb-h1 whose rows W are not there where $but"
	ok "loses what one process does, but for the order of sums: $(tail -n 1 out.0)" near out.0
	case $but in *,W,*[23]*) ;; *) same_file want out.0 "and to the last bit where gradients are added in order" ;; esac
done
plan "0 2" "2 1" <mlp.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next } { print $0, $1, 1, 2, 10, 10 }' >three.csv
gv-partition -q -l 3@1GB/s --evaluate --timeline --schedule=zb-h1 --micro-batches=4 three.csv | awk '!/^[01],.*,W,/' >schedule.csv
gang 3 $common --lr=.1 --steps=9 --schedule=schedule.csv three.csv
trained "on replicas, which sum behind the last backward pass"
ok "as one process: $(tail -n 1 out.0)" near out.0

# a batch that the replicas do not divide, and sums beside what follows
plan "0 2" "3 2" <mlp.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next } { print $0, $1, 1, 2, 10, 1e6 }' >three.csv
gv-partition -q -l 5@1GB/s --evaluate --timeline --schedule=2bw --micro-batches=8 three.csv >schedule.csv
gang 5 $data --batch=24 --micro-batches=8 --lr=.1 --log-every=1 --steps=7 --schedule=2bw three.csv
mv out.0 want
gang 5 $data --batch=24 --micro-batches=8 --lr=.1 --log-every=1 --steps=7 --schedule=schedule.csv three.csv
silent "2bw by its table, 8 micro-batches on 3 and 2 replicas"
same_file want out.0 "with the losses of its name"

# ---- stopped and killed ----
# interrupted NAME WORLD ARGS...: some worker gets TERM or KILL, by turns, until the run is done
interrupted() {
	name=$1 size=$2
	shift 2
	rm -rf whole parts
	gang $size "$@" --checkpoint=whole plan.csv
	silent "$name: uninterrupted"
	turn=0 status=1
	while [ $status -ne 0 ] && [ $turn -lt 25 ]; do
		turn=$((turn + 1))
		case $((turn % 3)) in 0) signal=TERM ;; *) signal=KILL ;; esac
		rm -f out.* err.*
		start $size "$@" --checkpoint=parts plan.csv
		set -- "$@"
		victim=$(echo $pids | cut -d' ' -f$(($(draw) % size + 1)))
		sleep "$(awk -v t=$turn -v r="$(draw)" 'BEGIN { print 0.03 + (0.05 + t / 30) * r / 1000 }')"
		[ $turn -gt 20 ] || kill -$signal $victim 2>/dev/null
		ended
		# who is killed before it came is missed only when the time to meet is over
		if grep -q 'is silent' err && ! grep -q 'workers came within' err; then
			fail "$name: turn $turn hangs:$statuses" err && return
		fi
	done
	ok "$name: done after $turn turns:$statuses" test $status -eq 0
	same_file whole/losses.csv parts/losses.csv "$name: record"
	for file in whole/*.ckpt; do
		same_file $file parts/${file#whole/} "$name: ${file#whole/}"
	done
	ok "$name: nothing left behind" test "$(ls parts)" = "$(ls whole)"
}
plan "0 2" "1 1" <mlp.csv >plan.csv
interrupted "flush" 2 $common --lr=.1 --momentum=.9 --steps=400 --checkpoint-steps=10 --schedule=flush
plan "0 1 3" "1 1 1" <mlp.csv >plan.csv
interrupted "1f1b with stashing" 3 $data --batch=8 --lr=.05 --steps=800 --checkpoint-steps=20 --schedule=1f1b
plan "0 2" "2 1" <mlp.csv >plan.csv
interrupted "2bw with replicas" 3 $common --lr=.1 --steps=300 --checkpoint-steps=10 --schedule=2bw

# ---- a language model on two stages of two replicas, by gv-run ----
# preempted MODEL CUT STEPS STOP FALLS OPTIONS: stopped behind step STOP, it goes on as one run
# would have, and the last loss is below FALLS of the first; the stages are cut behind row CUT
preempted() {
	model=$1 cut=$2 steps=$3 stop=$4 falls=$5
	shift 5
	gv-train --shapes --data=sentences:50 --context=16 $model 2>err |
		awk -F'\t' -v OFS='\t' -v cut=$cut 'NR == 1 { print $0, "stage", "replicas"; next } { print $0, (NR > cut + 1), 2 }' >gpt.tsv
	cat >jobs.csv <<END
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share
gpt,4,$steps,exec gv-train --batch=16 --micro-batches=4 --log-every=10 --schedule=flush $* $PWD/gpt.tsv,cpu,100,1
END
	printf 'gpu_type,gpus\ncpu,4\n' >cluster.csv
	rm -rf whole.state parts.state
	run gv-run -q -c cluster.csv -s whole.state --round=60 jobs.csv
	silent "gv-run, $model on 2 x 2 workers"
	ran="gv-run, stopped in the middle" status=0
	gv-run -q -c cluster.csv -s parts.state --round=60 jobs.csv >out 2>err &
	pid=$!
	for turn in $(seq 1 6000); do
		! grep -qs "^$stop," parts.state/jobs/gpt/checkpoint/losses.csv || break
		sleep 0.05
	done
	kill -TERM $pid
	wait $pid || status=$?
	cp parts.state/jobs/gpt/checkpoint/losses.csv before 2>/dev/null || : >before
	ok "$model is saved when it is stopped" grep -q "^gvset 1" parts.state/jobs/gpt/checkpoint/gv-train.set
	run gv-run -q -c cluster.csv -s parts.state --round=60 jobs.csv
	silent "and goes on"
	same_file whole.state/jobs/gpt/checkpoint/losses.csv parts.state/jobs/gpt/checkpoint/losses.csv "with the losses of one run"
	ok "from the middle: $(wc -l <before) of $(wc -l <parts.state/jobs/gpt/checkpoint/losses.csv) rows" \
		test "$(wc -l <before)" -lt "$(wc -l <parts.state/jobs/gpt/checkpoint/losses.csv)"
	ok "which fall: $(sed -n '2p;$p' parts.state/jobs/gpt/checkpoint/losses.csv | tr '\n' ' ')" \
		awk -F, -v falls=$falls 'NR == 2 { first = $3 } END { exit !($3 < falls * first) }' parts.state/jobs/gpt/checkpoint/losses.csv
	for file in whole.state/jobs/gpt/checkpoint/*.ckpt; do
		same_file $file parts.state/jobs/gpt/checkpoint/${file##*/} "and the same ${file##*/}"
	done
}
preempted gpt-tiny 12 800 50 .8 --data=sentences:400 --context=16 --optimizer=adam --lr=.003
# 3.3 million parameters: most of a minute
[ -z "$GV_LONG" ] || preempted gpt-small 21 200 60 .5 --data=sentences:2000 --context=32 --optimizer=adamw --lr=.001 --lr-schedule=cosine --lr-warmup=20 --clip-norm=1

# ---- who dies is named ----
plan "0 2" "1 2" <mlp.csv >plan.csv
rm -f out.* err.*
start 3 $data --batch=8 --steps=100000000 --log-every=1 --schedule=1f1b plan.csv
true_within 60 grep -qs '^9,' out.0
kill -KILL $(echo $pids | cut -d' ' -f3)
ended
ok "a worker that dies takes the others with it:$statuses" test "$statuses" = " 2 2 137"
for r in 0 1; do
	cp err.$r err
	is_err "rank $r names it and its stage" <<'END'
gv-train: rank 2 of 127.0.0.1 is gone: it had stage 1, replica 1
END
done
plan "0 2" "1 1" <mlp.csv >plan.csv
rm -f out.* err.*
start 2 $data --batch=8 --steps=100000000 --log-every=1 --schedule=1f1b plan.csv
true_within 60 grep -qs '^9,' out.0
kill -KILL $(echo $pids | cut -d' ' -f1)
ended
cp err.1 err
is_err "without replicas the stage is enough" <<'END'
gv-train: rank 0 of 127.0.0.1 is gone: it had stage 0
END

# ---- what cannot be ----
# refused NAME WORLD ARGS... <<EOF: all workers leave with 2 and this message
refused() {
	name=$1 size=$2
	shift 2
	rm -f out.* err.*
	start $size --timeout=3 "$@"
	ended
	is_status 2 "$name: status"
	cp err.0 err
	is_err "$name"
}
few="$data --steps=4 --batch=8"
run gv-train $few --chunks=2 mlp.csv
err_has "--chunks, --stages and --vertical-sync need --schedule" "chunks without a schedule"
refused "no plan" 2 $few --schedule=flush mlp.csv <<'END'
gv-train: mlp.csv: no plan: --schedule needs the columns stage and replicas, as gv-partition writes them
END
refused "other workers" 3 $few --schedule=flush plan.csv <<'END'
gv-train: a plan on gpus=2; this gang has workers=3
END
refused "chunks of nothing" 2 $few --schedule=interleaved --chunks=3 plan.csv <<'END'
gv-train: a plan of stages=2 has no chunks=3 on each worker
END
refused "1f1b has no micro-batches" 2 $few --micro-batches=4 --schedule=1f1b plan.csv <<'END'
gv-train: --micro-batches: 1f1b updates the weights behind each micro-batch; got 4
END
plan "0 2" "2 1" <mlp.csv >plan3.csv
refused "1f1b ends in the middle" 3 $few --schedule=1f1b --steps=5 plan3.csv <<'END'
gv-train: 1f1b on this plan trains a multiple of 2 steps, got 5
END
refused "replicas without work" 3 $few --schedule=flush plan3.csv <<'END'
gv-train: stage 0 has replicas=2, which need as many micro-batches: --micro-batches
END
refused "2bw with few micro-batches" 3 $few --schedule=2bw --micro-batches=2 plan3.csv <<'END'
gv-train: 2bw needs as many micro-batches in a batch as the plan has GPUs, 3; got 2
END
sed 's/^2,.*/2,linear,24,relu,1,2/' plan3.csv >odd.csv
refused "stages out of order" 3 $few --schedule=flush odd.csv <<'END'
gv-train: odd.csv:4: stage: other rows of stage 1 have another replicas or recompute
END
sed 's/^2,.*/2,linear,24,relu,2,2/' plan3.csv >odd.csv
refused "a stage before those it reads" 3 $few --schedule=flush odd.csv <<'END'
gv-train: odd.csv:4: row 3 would stand before row 2, which it reads
END
sed 's/,1,1$/,2,1/' plan3.csv >odd.csv
refused "no row of a stage" 3 $few --schedule=flush odd.csv <<'END'
gv-train: odd.csv:4: stage: no row is of stage 1, this one is of stage 2
END
refused "clipped by the norm of what?" 3 $few --clip-norm=1 --schedule=1f1b plan3.csv <<'END'
gv-train: --clip-norm: under 1f1b stages of different replicas update at different times: no gradients are those of the whole model
END
run gv-train $few --trees=trees.csv --schedule=flush plan.csv
err_has "--trees are for workers that all have the whole model, not for --schedule" "trees"
printf 'steps\n4\n5\n6\n' >array.csv
refused "a model that ends in the middle" 3 $data --batch=8 --array=array.csv --schedule=1f1b plan3.csv <<'END'
gv-train: 1f1b on this plan trains a multiple of 2 steps, got 5
END

# ---- tables that are no schedule ----
plan "0 2" "1 1" <mlp.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next } { print $0, $1, 1, 2, 10, 10 }' >two.csv
gv-partition -q -l 2@1GB/s --evaluate --timeline --schedule=flush --micro-batches=2 two.csv >flush.csv
gv-partition -q -l 2@1GB/s --evaluate --timeline --schedule=2bw --micro-batches=2 two.csv >2bw.csv
two="$data --steps=4 --batch=8 --micro-batches=2"
refused "other micro-batches" 2 $data --steps=4 --batch=8 --micro-batches=4 --schedule=flush.csv two.csv <<'END'
gv-train: flush.csv: an update has 2 micro-batches there; --micro-batches says 4
END
refused "versions of a table" 2 $two --vertical-sync --schedule=flush.csv two.csv <<'END'
gv-train: --vertical-sync: a table has its versions already
END
refused "fewer than it has" 2 $data --steps=2 --batch=8 --micro-batches=2 --schedule=2bw.csv two.csv <<'END'
gv-train: 2bw.csv: it has 6 micro-batches, this run 4
END
gang 2 $two --schedule=2bw.csv two.csv
mv out.0 want
gang 2 $two --schedule=2bw two.csv
same_file want out.0 "a short table of 2bw goes on as 2bw does"
# one pass earlier, which no name has
awk -F, -v OFS=, 'NR > 1 { $4 *= 10 } $1 == 0 && $5 == "F" && $6 == 2 { $4 -= 15 } { print }' 2bw.csv >bad.csv
refused "too short to repeat" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: a schedule of 6 micro-batches, in which nothing repeats, cannot be that of 8
END
grep -v ',B,1,' flush.csv >bad.csv
refused "a step is missing" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv: micro-batch 1 does not go through stage 0
END
awk -F, '{ print } /^1,.*,B,0,/' flush.csv >bad.csv
refused "a step is there twice" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:9: B of micro-batch 0 on stage 1: it is there twice
END
awk -F, -v OFS=, 'NR > 1 && $5 == "F" && $1 == 0 { $4 = 99 } { print }' flush.csv >bad.csv
refused "a circle" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:7: F of micro-batch 0 on stage 1: what it needs comes later, or never
END
awk -F, -v OFS=, 'NR > 1 { $1 = 1 - $1 } { print }' flush.csv >bad.csv
refused "another GPU" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:2: F of micro-batch 0 on stage 0: it is another GPU's
END
awk -F, -v OFS=, 'NR > 1 && $2 == 1 { $2 = 2 } { print }' flush.csv >bad.csv
refused "another stage" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:7: F of micro-batch 0 on stage 2: the plan has no such stage
END
cut -d, -f1-6,8- flush.csv >bad.csv
refused "no versions" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:2: F of micro-batch 0 on stage 0: a version is missing, or numbers are out of range
END
for column in micro_batch version; do
	awk -F, -v OFS=, -v name=$column 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { $at = "2147483648" } { print }' flush.csv >bad.csv
	gang 2 --timeout=3 $two --schedule=bad.csv two.csv
	err_has 'a version is missing, or numbers are out of range' "a number of 2^31: $column"
done
grep -v '^1,.*,U,3,' 2bw.csv >bad.csv
refused "fewer updates on one GPU than on the other" 2 $data --steps=3 --batch=8 --micro-batches=2 --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:30: U of micro-batch 5 on stage 1: it does not make the version behind the newest
END
awk -F, -v OFS=, '$1 == 1 && $5 == "U" && $7 == 1 { $6 = 0 } { print }' 2bw.csv >bad.csv
refused "updates of different micro-batches" 2 $data --steps=3 --batch=8 --micro-batches=2 --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv: updates of as many micro-batches on all stages, or of one on each GPU, are expected
END
head -n 1 flush.csv >bad.csv
refused "nothing" 2 $two --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv: no steps
END
# versions are made one by one, each of all its micro-batches and by all replicas
once="$data --steps=1 --batch=8 --micro-batches=2"
awk -F, -v OFS=, '$2 == 1 && $5 == "F" { $7 = 5 } { print }' flush.csv >bad.csv
refused "a version of the future" 2 $once --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:7: F of micro-batch 0 on stage 1: its version is not made before
END
awk -F, -v OFS=, '$2 == 1 && $5 == "U" { $7 = 3 } { print }' flush.csv >bad.csv
refused "a version is left out" 2 $once --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:11: U of micro-batch 1 on stage 1: it does not make the version behind the newest
END
awk -F, -v OFS=, '$2 == 1 && $6 == 1 && $5 == "B" { $5 = "U"; $7 = 1; print; next }
	$2 == 1 && $5 == "U" { $5 = "B"; $7 = 0 } { print }' flush.csv >bad.csv
refused "an update by half" 2 $once --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:10: U of micro-batch 1 on stage 1: it is not behind the last of its micro-batches
END
grep -v '^1,.*,U,' flush.csv >bad.csv
refused "a stage without its update" 2 $once --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv: stage 1, replica 0: an update is missing
END
awk -F, -v OFS=, '$5 == "U" { print; $7++ } { print }' flush.csv >bad.csv
refused "updates of nothing" 2 $once --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:7: U of micro-batch 1 on stage 0: it is not behind the last of its micro-batches
END
plan "0" "2" <mlp.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next } { print $0, $1, 1, 2, 10, 10 }' >pair.csv
gv-partition -q -l 2@1GB/s --evaluate --timeline --schedule=zb-h1 --micro-batches=2 two.csv >zb-h1.csv
awk -F, -v OFS=, '$1 == 1 && $5 == "W" { $4 = 90 } { print }' zb-h1.csv >bad.csv
refused "gradients of the weights behind the update" 2 $once --schedule=bad.csv two.csv <<'END'
gv-train: bad.csv:13: W of micro-batch 0 on stage 1: its micro-batch is in an update already
END
plan "0 2" "3 1" <mlp.csv >plan4.csv
awk -F, -v OFS=, 'NR == 1 { print $0, "node_id", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes"; next } { print $0, $1, 1, 2, 10, 10 }' plan4.csv >four.csv
gv-partition -q -l 4@1GB/s --evaluate --timeline --schedule=flush --micro-batches=3 four.csv >three.csv
grep -v ',[BF],2,' three.csv | sed -e '/^2,/d' -e '/^3,/s/,U,2,/,U,1,/' >bad.csv
refused "a replica without work" 4 $once --schedule=bad.csv four.csv <<'END'
gv-train: bad.csv: stage 0, replica 2: no micro-batch of an update comes to it
END
# by hand, without most columns: what a schedule of one stage on two GPUs, 1f1b, does
printf 'gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms\n' >bad.csv
for i in 0 1 2 3 4; do
	printf '%s,0,0,0,F,%s,0,0,1\n%s,0,0,1,B,%s,0,1,2\n' $((i % 2)) $i $((i % 2)) $i
	[ $i = 4 ] || printf '%s,0,0,2,AR,%s,1,2,3\n%s,0,0,3,U,%s,1,3,4\n' $((i % 2)) $i $((i % 2)) $i
done | awk -F, -v OFS=, '{ $4 = n[$1]++; $7 = int($6 / 2) + ($5 == "AR" || $5 == "U"); print }' >>bad.csv
refused "1f1b ends in the middle of a table" 2 $data --steps=5 --batch=8 --schedule=bad.csv pair.csv <<'END'
gv-train: 1f1b on this plan trains a multiple of 2 steps, got 5
END
gv-partition -q -l 2@1GB/s --evaluate --timeline --schedule=flush --micro-batches=2 pair.csv | grep -v ',AR,' >bad.csv
refused "replicas that do not meet" 2 $once --schedule=bad.csv pair.csv <<'END'
gv-train: bad.csv:4: U of micro-batch 0 on stage 0: the replicas' gradients are not summed before
END

# ---- damaged, and of another run ----
rm -rf d
gang 2 $few --checkpoint=d --schedule=flush plan.csv
cp -r d good
printf 'gvset 1\nstep 4\n' >d/gv-train.set
refused "a set that is cut" 2 $few --checkpoint=d --schedule=flush plan.csv <<'END'
gv-train: d/gv-train.set: not a whole set of slices: it ends too early
END
sed 's/^step 4/step 5/' good/gv-train.set >d/gv-train.set
refused "a set that is changed" 2 $few --checkpoint=d --schedule=flush plan.csv <<'END'
gv-train: d/gv-train.set: not a whole set of slices: its checksum is wrong
END
cp good/gv-train.set d/gv-train.set
cp good/gv-train.4.0.ckpt d/gv-train.4.2.ckpt
refused "a slice of other rows" 2 $few --checkpoint=d --schedule=flush plan.csv <<'END'
gv-train: d/gv-train.4.2.ckpt: a slice of another run: its rows are others
END
rm -rf d && cp -r good d
refused "another learning rate" 2 $few --lr=.5 --checkpoint=d --schedule=flush plan.csv <<'END'
gv-train: d/gv-train.4.0.ckpt: of another run: model 0 was "seed=1 lr=0.01 momentum=0 weight_decay=0", is now "seed=1 lr=0.5 momentum=0 weight_decay=0"
END
rm -rf d
gang 2 $two --checkpoint=d --schedule=2bw.csv two.csv
refused "without its table" 2 $two --checkpoint=d --schedule=2bw two.csv <<'END'
gv-train: d/gv-train.4.0.ckpt: of another run: it has "schedule 2bw of a table", this run "schedule 2bw"
END
rm -rf d
gang 2 $two --checkpoint=d --schedule=2bw --vertical-sync two.csv
refused "without its vertical sync" 2 $two --checkpoint=d --schedule=2bw two.csv <<'END'
gv-train: d/gv-train.4.0.ckpt: of another run: it has "schedule 2bw vertical-sync", this run "schedule 2bw"
END
rm -rf d && cp -r good d && rm d/gv-train.set && mkfifo d/gv-train.set
refused "a set that is a FIFO" 2 $few --checkpoint=d --schedule=flush plan.csv <<'END'
gv-train: d/gv-train.set: not a whole set of slices: it is no regular file
END
printf 'id,op,out\n1,linear,2147483647\n2,linear,\n3,xent,\n' >wide.csv
run gv-train $few wide.csv
is_status 2 "a model that no memory holds: status"
err_has "parameters here, which take 4.59e+03 GB with their gradients; this machine has" "a model that no memory holds"
plan "0 1" "1 1" <wide.csv >huge.csv
start 2 $few --timeout=3 --schedule=flush huge.csv
ended
err_has "parameters here, which take" "a stage that no memory holds"
run gv-train --join=both.ckpt good/gv-train.4.0.ckpt ./good/gv-train.4.0.ckpt
err_is_join=$(cat err)
ok "a file is not joined with itself" test "$status $err_is_join" = "2 gv-train: --join: good/gv-train.4.0.ckpt and ./good/gv-train.4.0.ckpt are one file"
printf 'seed,steps\n1,4\n2,2\n' >array.csv
rm -rf d
run gv-train -q $few --array=array.csv --checkpoint=d plan.csv
printf 'seed,steps\n1,4\n2,4\n' >array.csv
refused "models that have gone differently far" 2 $few --array=array.csv --checkpoint=d --schedule=flush plan.csv <<'END'
gv-train: d/gv-train.ckpt: model 1 has done 2 steps, another one 4: a pipeline takes them on together
END
# behind step 7 of one process the replicas of a stage have not gone equally far
rm -rf d
gang 2 $data --batch=8 --steps=7 --checkpoint=d --schedule=1f1b plan.csv
refused "a step between two updates" 3 $data --batch=8 --steps=8 --checkpoint=d --schedule=1f1b plan3.csv <<'END'
gv-train: d/gv-train.7.0.ckpt: saved behind step 7, where the workers of this plan have not gone equally far: they have every 2
END

done_testing
