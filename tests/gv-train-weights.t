#!/bin/sh
# gv-train: parameters out of files and into them, as PyTorch has them (safetensors).
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"
. "$src/tests/torch.sh"

printf 'id,op,out,act\n1,linear,16,relu\n2,linear,,\n3,xent,,\n' >mlp.csv
cat >bn.csv <<'EOF'
id,op,from,out,k,s,p,g,act,bias
1,conv,0,6,3,2,1,,,0
2,bn,1,,,,,,relu,
3,conv,2,8,3,,1,2,relu,
7,maxpool,3,,2,,,,,
9,linear,7,12,,,,,,0
10,bn,9,,,,,,relu,
11,linear,10,,,,,,,
12,xent,11,,,,,,,
EOF
cat >tconv.csv <<'EOF'
id,op,from,out,k,s,p,g,act
1,conv,0,6,3,2,1,,relu
2,tconv,1,4,4,2,1,2,relu
3,maxpool,2,,4,,,,
4,linear,3,,,,,,
5,xent,4,,,,,,
EOF
data='--data=digits:32 --batch=32 --scale=unit'
rows() { tail -n +2 "$1"; }

# ---- out and in ----
for net in tconv.csv mlp.csv bn.csv; do
	run gv-train $data --steps=0 --weights=w.safetensors $net
	silent "--weights: $net"
	run gv-train $data --steps=0 --seed=5 --init=w.safetensors --weights=again.safetensors $net
	silent "--init: $net"
	same_file w.safetensors again.safetensors "what was written is read: $net"
	gv-train $data --steps=12 --log-every=1 --weights=end.safetensors $net >plain
	run gv-train $data --steps=12 --log-every=1 --seed=5 --init=w.safetensors --weights=other.safetensors $net
	same_file plain out "training goes on from there: $net"
	same_file end.safetensors other.safetensors "and ends as well: $net"
done
ok "the header is padded to eight bytes" test $(($(od -An -tu8 -N8 end.safetensors) % 8)) -eq 0
printf 'seed,init\n1,\n2,w.safetensors\n3,\n4,end.safetensors\n5,end.safetensors\n' >init.csv
run gv-train $data --steps=0 --array=init.csv --weights=a.safetensors --checkpoint=init bn.csv
silent "an array, one file a model"
same_file w.safetensors a.1.safetensors "column init"
ok "end.safetensors, but for the counts of steps" test "$(cmp end.safetensors a.4.safetensors | wc -l)" -le 1
ok "and models without" test -s a.0.safetensors -a -s a.2.safetensors
gv-train $data --steps=0 --seed=3 --weights=three.safetensors bn.csv >/dev/null
same_file three.safetensors a.2.safetensors "which begin by their seeds"
run gv-train $data --steps=3 --checkpoint=c --init=w.safetensors bn.csv
run gv-train $data --steps=5 --checkpoint=c --init=end.safetensors bn.csv
is_status 2 "a run that began elsewhere is another: status"
ok "says so" grep -q 'c/gv-train.ckpt: of another run: model 0 was "seed=1 lr=0.01 .* init=[0-9a-f]*", is now ' err
sed 's/^id,/name,id,/; 2,$s/^/x.&/; s/^x\.1,/stem,1,/; s/^x\.\([0-9]*\),/body.\1,\1,/' bn.csv >named.csv
sed -n 2,3p named.csv >out
run gv-train $data --steps=0 --weights=n.safetensors named.csv
silent "column name"
ok "is what tensors are called" grep -aq '"stem.weight": {"dtype": "F32", "shape": \[6, 1, 3, 3\]' n.safetensors
sed '1!s/^[^,]*,/same,/' named.csv >twice.csv
run gv-train $data --steps=0 --weights=t.safetensors twice.csv
is_err "two rows of one name" <<'EOF'
gv-train: t.safetensors: two rows of the model have a tensor "same.num_batches_tracked"
EOF

# a language model: as nn.Embedding, nn.LayerNorm and nn.Linear have them
text='--data=sentences:50 --context=16 --batch=4'
run gv-train $text --steps=2 --weights=w.safetensors gpt-tiny
silent "--weights: gpt-tiny"
run gv-train $text --steps=0 --init=w.safetensors --weights=again.safetensors gpt-tiny
same_file w.safetensors again.safetensors "what was written is read: gpt-tiny"
for tensor in 1.weight:256,.32 1.bias:16,.32 2.weight:32 3.weight:96,.32 3.bias:96 23.weight:256,.32; do
	ok "gpt-tiny: $tensor" grep -aq "\"${tensor%:*}\": {\"dtype\": \"F32\", \"shape\": \[${tensor#*:}\]" w.safetensors
done

# ---- what does not fit ----
gv-train $data --steps=0 --weights=w.safetensors mlp.csv >/dev/null
sed 's/,16,/,17,/' mlp.csv >wide.csv
run gv-train $data --steps=0 --init=w.safetensors wide.csv
is_status 2 "another shape: status"
is_err "another shape" <<'EOF'
gv-train: w.safetensors: tensor "1.weight" is 16 x 256; row 1, linear, needs 17 x 256
gv-train: w.safetensors: tensor "1.bias" is 16; row 1, linear, needs 17
gv-train: w.safetensors: tensor "2.weight" is 10 x 16; row 2, linear, needs 10 x 17
EOF
printf 'id,op,out,act\n1,linear,16,relu\n4,linear,,\n5,xent,,\n' >other.csv
run gv-train $data --steps=0 --init=w.safetensors other.csv
is_status 2 "tensors that are missing: status"
is_err "tensors that are missing" <<'EOF'
gv-train: w.safetensors: no tensor "4.weight"; row 4, linear, needs 10 x 16
gv-train: w.safetensors: no tensor "4.bias"; row 4, linear, needs 10
EOF
run gv-train $data --steps=0 --init=w.safetensors --init-partial other.csv
is_status 0 "--init-partial: status"
is_err "--init-partial: tells what is missing, and what nobody asked for" <<'EOF'
gv-train: warning: w.safetensors: no tensor "4.weight"; row 4, linear, begins without
gv-train: warning: w.safetensors: no tensor "4.bias"; row 4, linear, begins without
gv-train: warning: w.safetensors: tensor "2.weight" is of no row of the model
gv-train: warning: w.safetensors: tensor "2.bias" is of no row of the model
EOF
run gv-train -q $data --steps=0 --init=w.safetensors --init-partial other.csv
silent "--quiet: does not"
sed 's/"F32", "shape": \[16\]/"I32", "shape": [16]/' w.safetensors >int.safetensors
run gv-train $data --steps=0 --init=int.safetensors mlp.csv
is_err "whole numbers are no parameters" <<'EOF'
gv-train: int.safetensors: tensor "1.bias" is of type I32; row 1, linear, needs F32, F64, F16 or BF16
EOF
head -c 1000 w.safetensors >cut.safetensors
run gv-train $data --steps=0 --init=cut.safetensors mlp.csv
is_status 2 "a file cut short: status"
err_has 'cut.safetensors: not a safetensors file: tensor "' "a file cut short"
run gv-train $data --steps=0 --init=none.safetensors mlp.csv
is_err "no such file" <<'EOF'
gv-train: none.safetensors: cannot open: No such file or directory
EOF
run gv-train $data --steps=0 --weights=no/w.safetensors mlp.csv
is_status 2 "a file that cannot be written"

# ---- what Python makes of them ----
python=${GV_PYTHON:-python3}
# subnormal samples are 0, however large the weights: momentum that decays into such numbers is not
# what a step waits for
if [ -n "$GV_PYTHON" ]; then
	printf 'id,op,out\n1,linear,2\n2,xent,\n' >line.csv
	"$GV_PYTHON" -c '
import json, struct
head = json.dumps({"1.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                   "1.bias": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]}}).encode()
head += b" " * (-len(head) % 8)
open("huge.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<4f", 3e38, -3e38, 0, 0))'
	for x in 0 1e-40 1e-37; do
		printf 'x,label\n%s,0\n%s,1\n' $x $x >samples.csv
		run gv-train --data=csv:samples.csv --shape=1x1x1 --scale=none --batch=2 --steps=1 --lr=0 --init=huge.safetensors line.csv
		silent "samples of $x"
		sed -n 2p out >loss.$x
	done
	same_file loss.0 loss.1e-40 "subnormal samples are 0"
	ok "normal ones are not" sh -c '! cmp -s loss.0 loss.1e-37'
fi

if ! have "$python"; then
	skip "no python3"
	done_testing
	exit
fi
gv-train --export=digits.csv --data=digits:32
run gv-train $data --steps=1 --log-every=1 mlp.csv
awk -F, 'NR == 2 { printf "%.6f\n", $3 }' out >want
run "$python" "$src/tests/gv-train-weights.py" plain w.safetensors digits.csv
same_file want out "Python computes the loss of the first step from the file"

if [ -z "$GV_PYTHON" ] || ! has_module torch; then
	skip "no torch"
	done_testing
	exit
fi
# as_torch NET OPTION=VALUE...: both train from the same file for 12 steps
as_torch() {
	net=$1 options=
	shift
	for o; do options="$options --$o"; done
	gv-train $data --steps=0 --weights=begin.safetensors $net >/dev/null
	gv-train $data $options --steps=12 --log-every=1 --init=begin.safetensors --weights=end.safetensors $net >losses.csv
	run "$python" "$src/tests/gv-train-weights.py" torch $net digits.csv begin.safetensors end.safetensors losses.csv \
		steps=12 "$@"
	is_status 0 "as PyTorch: $net $* ($(cat out))"
}
as_torch mlp.csv optimizer=sgd lr=0.2 momentum=0.9 weight-decay=0.01 lr-schedule=cosine lr-warmup=4 clip-norm=0.3
as_torch mlp.csv optimizer=adam lr=0.01 weight-decay=0.1 lr-schedule=linear micro-batches=4
as_torch bn.csv optimizer=sgd lr=0.1 weight-decay=0.1 lr-schedule=polynomial lr-power=2 clip-value=0.01 clip-norm=0.1
as_torch bn.csv optimizer=adamw lr=0.003 weight-decay=0.2 lr-schedule=constant clip-norm=1
as_torch mlp.csv optimizer=adamw lr=0.01 weight-decay=0.5 lr-schedule=one-cycle
as_torch tconv.csv optimizer=sgd lr=0.1 momentum=0.5 lr-schedule=constant
as_torch mlp.csv optimizer=sgd lr=0.2 momentum=0.9 lr-schedule=step lr-step=5 clip-value=0.001

done_testing
