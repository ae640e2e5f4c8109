#!/bin/sh
# share/gv_layers.py: layers of PyTorch models for gv-partition, and back into
# torch.distributed.pipelining by --export=torch.
. "${0%/*}/lib.sh"
. "$src/tests/torch.sh"

script=$src/share/gv_layers.py
has_torch "$script"

# ---- models of all kinds are profiled and planned ----
# profiled MODEL...: nothing is wrong with the tables of these, as gv-layers.py looks at them
profiled() {
	PYTHONPATH=$src/share run "$GV_PYTHON" "$src/tests/gv-layers.py" "$@"
	cp err said
	if [ "$status" -eq 0 ] && [ ! -s out ]; then pass "profiled: $*"; else fail "profiled: $*" out err; fi
	for model; do
		model=${model%@*}
		run gv-partition -q -v --all-gpus -l 2@100GB/s -o "$model.plan" "$model.csv"
		ok "$model is planned: $(sed -n "s/^$model@*[0-9]*: //p" said)" [ "$status" -eq 0 ]
	done
}
# of FILE ROW COLUMN: a number of a profile
of() {
	sed 's/"[^"]*"/-/; /^$/,$d' "$1" | awk -F, -v row="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
		$1 == row { print $at }'
}
profiled twice bare same weighed encoder lstm gpt gpt-checkpoint gpt-reentrant
sed '1,/^$/d' twice.csv >out
is_out "a module called twice, joints in place" <<'EOT'
src,dst
a,relu
relu,b
b,relu#2
relu#2,c
EOT
cut -d, -f1 bare.csv | sed '/^$/,$d' | paste -s -d ' ' - >out
is_out "functions belong to the call in front" <<'EOT'
node_id a b
EOT
echo "$(of bare.csv a parameter_bytes) $(of bare.csv b parameter_bytes)" >out
is_out "and so do their parameters" <<EOT
$((4 * (2 * (32 * 32 + 32) + 2 * 32))) $((4 * (32 * 32 + 32 + 32)))
EOT
ok "what returns its input takes no time backward" [ "$(of same.csv 2 backward_ms),$(of same.csv 3 backward_ms)" = 0,0 ]
ok "the layer in front of it does" awk "BEGIN { exit !($(of same.csv 1 backward_ms) > 3 * $(of same.csv 4 backward_ms)) }"
sed '1,/^$/d' gpt.csv | grep -e '^h.2' -e ',h.3' >out
is_out "residual sums are one tensor between blocks" <<'EOT'
h.2.ln_1,h.2.attn
h.2.attn,h.2.ln_2
h.2.attn,h.2.mlp.3
h.2.ln_2,h.2.mlp.0
h.2.mlp.0,h.2.mlp.1
h.2.mlp.1,h.2.mlp.2
h.2.mlp.2,h.2.mlp.3
h.2.mlp.3,h.3.ln_1
h.2.mlp.3,h.3.attn
h.3.ln_1,h.3.attn
h.3.attn,h.3.ln_2
h.3.attn,h.3.mlp.3
h.3.ln_2,h.3.mlp.0
h.3.mlp.0,h.3.mlp.1
h.3.mlp.1,h.3.mlp.2
h.3.mlp.2,h.3.mlp.3
EOT
echo "$(of gpt.csv wte parameter_bytes) $(of gpt.csv head parameter_bytes) $(of gpt.csv head tied_with)" >out
is_out "tied weights count on both layers, and the second says so" <<EOT
$((4 * (100 * 64 + 16 * 64))) $((4 * 100 * 64)) wte
EOT
for how in checkpoint reentrant; do
	ok "$how: what is computed again is in the backward time" awk -v f="$(of gpt-$how.csv h.0.mlp.0 forward_ms)" \
		-v b="$(of gpt-$how.csv h.0.mlp.0 backward_ms)" 'BEGIN { exit !(f > 0 && b > 1.5 * f) }'
	sed "1,/^\$/d" gpt-$how.csv >edges-$how
done
same_file edges-checkpoint edges-reentrant "both kinds of checkpoints: the same edges"
cat >unread.py <<'EOT'
import torch
class Unread(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.left = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.used(x)
EOT
run "$GV_PYTHON" "$script" --repeats=1 --warmup=0 unread.py:Unread 2x4
is_err "weights that nothing reads: message" <<'EOT'
gv_layers.py: warning: weights that no layer reads, and that do not count: left.weight, left.bias
EOT
if ! has_module torchvision; then
	skip "no torchvision"
elif [ -z "${GV_LONG:-}" ]; then
	profiled resnet18@64
else
	# shellcheck disable=SC2046
	profiled $("$GV_PYTHON" -c '
from torchvision import models
for name in models.list_models(module=models):
    print(name + "@" + ("224" if name.startswith(("vit", "maxvit")) else "299" if name == "inception_v3" else "64"))')
fi
if [ -z "${GV_LONG:-}" ]; then
	skip "long: more of PyTorch, and torch.distributed.pipelining"
	done_testing
	exit
fi

cat >model.py <<'EOT'
import torch
from torch import nn


class Block(nn.Module):
    """x + f(x), the joint by a function, the activation in place."""
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return torch.relu(x + self.act(self.bn(self.conv(x))))


class Words(nn.Module):
    """Whole numbers in, a recurrent layer, tied weights."""
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(6)])
        self.rnn = nn.LSTM(16, 16, batch_first=True)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h)
        return self.head(self.rnn(h)[0])


def cnn():  # share/models/cnn.tsv
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 128),
        nn.ReLU(), nn.Linear(128, 10))


def res():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), Block(), nn.Flatten(), nn.Linear(8 * 28 * 28, 10))


words = Words()
EOT
# layers ARGS...: a short profile
layers() { run "$GV_PYTHON" "$script" -v --repeats=5 --warmup=1 "$@"; }
# near NAME: the rows add up to a whole step, as far as a busy machine lets them
near() { ok "$1: the rows are about a step: $(cat err)" awk -F= '{ exit !($NF > 0.4 && $NF < 2.5) }' err; }

layers model.py:cnn 64x1x28x28
is_status 0 "a model"
near "a model"
cp out cnn.csv
sed 's/"[^"]*"/-/' cnn.csv | awk -F, -v OFS=, 'NF > 2 { print $1, $5, $6, $7; next } 1' >out
is_out "its rows, bytes and edges" <<'EOT'
node_id,activation_bytes,parameter_bytes,repeats
0,6422528,1280,5
1,6422528,0,5
2,1605632,0,5
3,3211264,73984,5
4,3211264,0,5
5,3211264,147712,5
6,3211264,0,5
7,802816,0,5
8,802816,0,5
9,32768,1606144,5
10,32768,0,5
11,2560,5160,5

src,dst
0,1
1,2
2,3
3,4
4,5
5,6
6,7
7,8
8,9
9,10
10,11
EOT
ok "the largest convolution takes longer than the last layer" awk -F'"' 'NF > 1 && /^5,/ { split($3, a, ","); f = a[2] + a[3] }
	NF > 1 && /^11,/ { split($3, a, ","); l = a[2] + a[3] } END { exit !(f > 3 * l && l > 0) }' cnn.csv
run gv-partition -l 2@10GB/s cnn.csv
silent "gv-partition reads it"

layers model.py:res 8x1x28x28
near "branches"
sed '1,/^$/d' out >got && mv got out
is_out "edges of branches, through functions" <<'EOT'
src,dst
0,1.conv
0,1.act
1.conv,1.bn
1.bn,1.act
1.act,2
2,3
EOT
layers --leaf=TransformerEncoderLayer model.py:words 4x12:50
is_status 0 "whole numbers, layers as a whole, a module instead of a function"
near "words"
cut -d, -f1 out | sed '/^$/,$d' >got
cp out words.csv
cp got out
is_out "a row for each layer" <<'EOT'
node_id
embed
layers.0
layers.1
layers.2
layers.3
layers.4
layers.5
rnn
head
EOT
ok "weights that are shared count on both" grep -q '^head,.*,9600,3200,5,.*,embed$' words.csv
ok "of a tuple what is read counts" grep -q '^rnn,"LSTM(16, 16, batch_first=True)",.*,3072,' words.csv

# into torch and back: the stages hold the weights that the plan gives them
cat >split.py <<'EOT'
import csv, io, json, sys
import torch
from torch.distributed.pipelining import SplitPoint, pipeline
space = {}
exec(open("model.py").read(), space)
plan = json.load(open("plan.json"))
model = space["cnn"]()
pipe = pipeline(model, (torch.randn(4, 1, 28, 28),), split_spec={n: SplitPoint.BEGINNING for n in plan["split_points"]})
sizes = {n: sum(w.numel() for w in m.parameters()) for n, m in model.named_modules() if not list(m.children())}
for stage, names in enumerate(plan["module_fqns_per_model_part"]):
    have = sum(w.numel() for w in pipe.get_stage_module(stage).parameters())
    want = sum(sizes[n] for n in names)
    print(stage, "same" if have == want else "differs: %d, not %d" % (have, want))
print(pipe.num_stages, "stages of", len(plan["module_fqns_per_model_part"]))
EOT
gv-partition -l 3@100GB/s --all-gpus --straight --export=torch -o plan.json cnn.csv
run "$GV_PYTHON" split.py
is_out "torch.distributed.pipelining splits the model so" <<'EOT'
0 same
1 same
2 same
3 stages of 3
EOT

run "$GV_PYTHON" "$script" model.py:none 1x1
is_status 1 "no such function"
is_err "no such function: message" <<'EOT'
gv_layers.py: model.py: there is no none
EOT
run "$GV_PYTHON" "$script" model.py:cnn 1xtwo
is_status 1 "a shape that is none"
is_err "a shape that is none: message" <<'EOT'
gv_layers.py: expected a shape such as 64x3x224x224 or 64x128:50257, got 1xtwo
EOT
run "$GV_PYTHON" "$script" model.py:cnn 0x1
err_has "got 0x1" "a minibatch of none"
run "$GV_PYTHON" "$script" missing.py:cnn 1x1
is_status 1 "no such file"
is_err "no such file: message" <<'EOT'
gv_layers.py: missing.py: cannot open: No such file or directory
EOT
echo 'three = lambda: 3' >number.py
run "$GV_PYTHON" "$script" number.py:three 1x1
is_err "no model: message" <<'EOT'
gv_layers.py: number.py: three makes no torch.nn.Module
EOT
run "$GV_PYTHON" "$script" --threads=0 model.py:cnn 1x1
err_has "expected --threads of 1 or more, got 0" "no threads: message"
run "$GV_PYTHON" "$script" model.py 1x1
is_status 2 "no name"
err_has "expected FILE.py:NAME, got model.py" "no name: message"
done_testing
