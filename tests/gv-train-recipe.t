#!/bin/sh
# gv-train: how parameters are updated.  Schedules, clipping, micro-batches; arrays of
# any size compute, to the last bit, what their models do alone.
# shellcheck disable=SC2086,SC2046
. "${0%/*}/lib.sh"

printf 'id\top\tout\tact\n1\tlinear\t16\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >mlp.tsv
cat >bn.csv <<'EOF'
id,op,out,k,p,act
1,conv,4,3,1,
2,bn,,,,relu
3,maxpool,,4,,
4,linear,,,,
5,xent,,,,
EOF
data='--data=digits:300 --batch=16'
rows() { tail -n +2 "$1"; }

# ---- what is asked ----
bad() {
	bad_name=$1 bad_text=$2
	shift 2
	run gv-train "$@"
	if [ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-train: $bad_text" ]; then
		pass "$bad_name"
	else
		echo "gv-train: $bad_text" >want
		fail "$bad_name" want err out
	fi
}
bad "schedule" '--lr-schedule: unknown "square"; known: constant, step, linear, polynomial, cosine, one-cycle' \
	--lr-schedule=square mlp.tsv
bad "step without steps" '--lr-schedule: the schedule "step" needs lr-step, its steps' \
	$data --steps=5 --lr-schedule=step mlp.tsv
bad "long warm-up" '--lr-schedule: a warm-up of 9 steps, the schedule has 5' \
	$data --steps=5 --lr-schedule=cosine --lr-warmup=9 mlp.tsv
bad "micro-batches" '--micro-batches: 3 are no equal parts of a batch of 16' $data --steps=5 --micro-batches=3 mlp.tsv
printf 'lr_schedule,lr_warmup\nsquare,\nlinear,9\n' >bad.csv
run gv-train $data --steps=5 --array=bad.csv mlp.tsv
is_status 2 "a bad array: status"
is_err "a bad array" <<'EOF'
gv-train: bad.csv:2: lr_schedule: expected constant, step, linear, polynomial, cosine or one-cycle, got "square"
gv-train: bad.csv:3: a warm-up of 9 steps, the schedule has 5
EOF

# ---- schedules: one sample, so that losses change as parameters do ----
losses() { run gv-train --data=digits:1 --batch=1 --lr=0.1 --log-every=1 "$@" mlp.tsv && rows out | cut -d, -f3; }
losses --steps=9 --lr-schedule=linear --lr-total=5 >linear
ok "linear: its rate becomes 0 after 5 steps" test "$(sort linear | uniq | wc -l)" -eq 6
losses --steps=9 --lr-schedule=cosine --lr-total=5 --lr-end=0.5 >cosine
ok "--lr-end: it goes on" test "$(sort cosine | uniq | wc -l)" -eq 9
losses --steps=3 --lr=0.05 >plain
losses --steps=3 --lr-schedule=polynomial --lr-power=0 --lr-end=0 --lr=0.05 >power
same_file plain power "--lr-power=0 is constant"
losses --steps=3 --lr-warmup=2 --lr-start=1 --lr=0.05 >warm
same_file plain warm "as is a warm-up from 1"
# --lr-warmup=2 begins with half the rate
losses --steps=2 --lr-warmup=2 --lr=0.1 >warm
head -n 2 plain >want
same_file want warm "a warm-up begins with one part of its steps"

# ---- clipping ----
losses --steps=3 --lr=0.05 --clip-norm=1e9 --clip-value=1e9 >clip
same_file plain clip "bounds that nothing reaches change nothing"
losses --steps=3 --lr=1e9 --clip-norm=1e-12 >clip
ok "--clip-norm: a step of .001 at any rate" awk -F, 'NR > 1 && ($1 > last || last - $1 > .01) { exit 1 } { last = $1 }' clip
losses --steps=3 --lr=1e9 --clip-value=1e-12 >clip
ok "--clip-value: each number is" awk -F, 'NR > 1 && ($1 > last || last - $1 > .5) { exit 1 } { last = $1 }' clip

# ---- micro-batches ----
run gv-train --data=digits:64 --batch=32 --steps=20 --log-every=1 --lr=0.1 mlp.tsv
cp out whole
run gv-train --data=digits:64 --batch=32 --steps=20 --log-every=1 --lr=0.1 --micro-batches=4 mlp.tsv
paste -d, whole out | awk -F, 'NR > 1 && ($3 - $8) ^ 2 > 1e-12 { exit 1 }'
ok "micro-batches add up to the batch" test $? -eq 0
rm -rf m
run gv-train --checkpoint=m $data --steps=5 --micro-batches=4 mlp.tsv
run gv-train --checkpoint=m $data --steps=9 --micro-batches=2 mlp.tsv
is_err "a checkpoint of other micro-batches" <<'EOF'
gv-train: m/gv-train.ckpt: of another run: it has "micro_batches 4", this run "micro_batches 2"
EOF

# ---- arrays are their models alone ----
# jobs N: N rows, no two alike, and the options that each stands for in ./options.B
jobs() {
	awk -v n="$1" 'BEGIN {
		k = split("constant step linear polynomial cosine one-cycle", name, " ")
		print "seed,order_seed,lr,momentum,weight_decay,steps,beta1,beta2,eps,clip_norm,clip_value," \
			"lr_schedule,lr_warmup,lr_end,lr_power,lr_step,lr_gamma"
		for (b = 0; b < n; b++) {
			row = b + 1 "," 1 + b % 5 % 2 "," .01 * (b + 1) "," b % 2 * .9 "," b % 3 * .001 "," 20 + 3 * (b % 4) "," \
				.8 + .01 * b "," .99 "," "1e-" 6 + b % 3 "," b % 4 * .3 "," b % 5 * .01 "," \
				name[b % k + 1] "," b % 3 * 4 "," .1 * (b % 2) ",2," 5 + b ",.5"
			print row
			m = split(row, v, ",")
			split("seed order-seed lr momentum weight-decay steps beta1 beta2 eps clip-norm clip-value " \
				"lr-schedule lr-warmup lr-end lr-power lr-step lr-gamma", o, " ")
			line = ""
			for (i = 1; i <= m; i++) line = line " --" o[i] "=" v[i]
			print line >("options." b)
		}
	}' >jobs.csv
}
# wide.csv is too large for a cache: its models go through a step one by one
printf 'id\top\tout\tact\n1\tlinear\t500\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >wide.tsv
for net in mlp.tsv bn.csv wide.tsv gpt-tiny; do
	optimizers='sgd adam adamw' samples=$data
	case $net in
	wide.tsv) optimizers=adam ;;
	gpt-tiny) optimizers=adamw samples='--data=sentences:50 --context=16 --batch=4' ;;
	esac
	for optimizer in $optimizers; do
		# the models alone, once for all sizes of arrays
		jobs 8
		for b in 0 1 2 3 4 5 6 7; do
			rm -rf alone$b
			gv-train $samples --optimizer=$optimizer --micro-batches=2 --log-every=5 --checkpoint=alone$b \
				$(cat options.$b) $net >alone$b.csv 2>err
		done
		for n in 1 2 3 8; do
			jobs $n
			rm -rf f split
			run gv-train $samples --optimizer=$optimizer --micro-batches=2 --log-every=5 --checkpoint=f \
				--array=jobs.csv $net
			silent "array of $n: $optimizer, $net"
			gv-train --split=split f/gv-train.ckpt
			b=0 different=
			while [ $b -lt $n ]; do
				sed -n "s/^\([0-9]*\),$b,/\1,0,/p" f/losses.csv >rows.b
				rows alone$b/losses.csv >rows.s
				if ! cmp -s split/$b.ckpt alone$b/gv-train.ckpt || ! cmp -s rows.b rows.s; then
					different="$different $b"
				fi
				b=$((b + 1))
			done
			ok "array of $n: models as alone, losses, too: $optimizer, $net$different" test -z "$different"
		done
	done
done

# ---- joined, and gone on ----
# three models that stopped at other steps go on together, as each would alone
printf 'seed,lr,momentum,steps\n1,.05,.9,60\n2,.1,0,45\n3,.02,.5,60\n' >long.csv
model() { # B STEPS DIR
	sed -n "$(($1 + 2))p" long.csv | { IFS=, read -r seed lr momentum _ &&
		gv-train $data --log-every=5 --seed="$seed" --lr="$lr" --momentum="$momentum" --steps="$2" \
			--checkpoint="$3" bn.csv >/dev/null; }
}
model 0 20 j0 && model 1 45 j1 && model 2 33 j2
mkdir j
run gv-train --join=j/gv-train.ckpt j0/gv-train.ckpt j1/gv-train.ckpt j2/gv-train.ckpt
silent "--join"
gv-train --split=parted j/gv-train.ckpt
for b in 0 1 2; do same_file parted/$b.ckpt j$b/gv-train.ckpt "what is joined is split: model $b"; done
{ cat j0/losses.csv && rows j1/losses.csv | sed 's/,0,/,1,/' && rows j2/losses.csv | sed 's/,0,/,2,/'; } >j/losses.csv
run gv-train $data --log-every=5 --checkpoint=one --array=long.csv bn.csv
silent "an array"
run gv-train $data --log-every=5 --checkpoint=j --array=long.csv bn.csv
silent "a joined array goes on"
same_file one/gv-train.ckpt j/gv-train.ckpt "to the same checkpoint"
grep -v '^33,2' j/losses.csv >rows.j
same_file one/losses.csv rows.j "and the same record, in order, but for the last row of a part"
# the same, stopped on the way by a shorter run of the second kind
rm -rf j
mkdir j
gv-train --join=j/gv-train.ckpt j0/gv-train.ckpt j1/gv-train.ckpt j2/gv-train.ckpt
{ cat j0/losses.csv && rows j1/losses.csv | sed 's/,0,/,1,/' && rows j2/losses.csv | sed 's/,0,/,2,/'; } >j/losses.csv
printf 'seed,lr,momentum,steps\n1,.05,.9,28\n2,.1,0,45\n3,.02,.5,38\n' >short.csv
run gv-train $data --log-every=5 --checkpoint=j --array=short.csv bn.csv
silent "a part of the way"
ok "which is in order, too" sort -c -t, -n -k1,1 -k2,2 j/losses.csv
run gv-train $data --log-every=5 --checkpoint=j --array=long.csv bn.csv
same_file one/gv-train.ckpt j/gv-train.ckpt "and on to the same checkpoint"
grep -v -e '^28,0' -e '^33,2' -e '^38,2' j/losses.csv >rows.j
same_file one/losses.csv rows.j "and record, but for the last rows of the parts"
run gv-train --join=x.ckpt
is_status 2 "--join of nothing: status"
err_has '--join: no checkpoints are named' "--join of nothing"
gv-train --data=digits:300 --batch=8 --steps=1 --checkpoint=b8 bn.csv >/dev/null
run gv-train --join=x.ckpt j0/gv-train.ckpt b8/gv-train.ckpt
is_err "--join of two runs" <<'EOF'
gv-train: b8/gv-train.ckpt: of another run than j0/gv-train.ckpt: it has "batch 8", that one "batch 16"
EOF
run gv-train --join=x.ckpt j0/gv-train.ckpt mlp.tsv
is_err "--join of no checkpoint" <<'EOF'
gv-train: mlp.tsv: not a whole checkpoint: it does not start with "gvckpt 1"
EOF
ok "nothing is written" test ! -e x.ckpt
done_testing
