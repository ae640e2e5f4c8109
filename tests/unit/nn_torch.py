# What nn_torch_f64.c asks: trains the net of each file in PyTorch, in double, and
# prints the loss of every step, then parameters and running statistics in gv's
# order, one number a line.  Status 3 when there is no PyTorch.
import json
import sys

try:
    import torch
except ImportError:
    sys.exit(3)
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

ACTS = {
    "relu": F.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


def number(row, column, otherwise):
    return int(row[column]) if row.get(column) else otherwise


def activate(name, x):
    if name.startswith("leaky"):
        return F.leaky_relu(x, float(name[6:] or 0.2))
    return ACTS[name](x) if name else x


class Net(nn.Module):
    """Rows over [n][c][h][w]; parameters lie as gv keeps them and are turned when they are read."""

    def __init__(self, rows, shape, classes, params):
        super().__init__()
        self.rows, self.at, self.flat = rows, 0, params
        self.weights, self.bns = nn.ParameterList(), nn.ModuleDict()
        self.places = {}
        self.shapes = {"0": (shape[2], shape[0], shape[1])}
        last = "0"
        for r in rows:
            sources = (r["from"] or last).split(";")
            self.add_row(r, [self.shapes[s] for s in sources], classes)
            if r.get("tied_with"):
                r["tied"] = self.places[r["tied_with"]]
            self.places[r["id"]] = r.get("weight")
            r["sources"], last = sources, r["id"]
        assert self.at == len(params)

    def take(self, *shape):
        n = torch.Size(shape).numel()
        self.weights.append(nn.Parameter(torch.tensor(self.flat[self.at : self.at + n]).reshape(shape)))
        self.at += n
        return len(self.weights) - 1

    def add_row(self, r, inputs, classes):
        op, (c, h, w) = r["op"], inputs[0]
        out, k, g = number(r, "out", classes), number(r, "k", 0), number(r, "g", 1)
        s, p = number(r, "s", 1 if op in ("conv", "tconv") else k), number(r, "p", 0)
        r.update(k=k, s=s, p=p, g=g, out=out)
        bias = out if r.get("bias") != "0" else 0
        shape = (c, h, w)
        if op == "linear" and k == 1:
            r["weight"], shape = self.take(c, out), (out, h, w)
        elif op == "linear":
            r["weight"], shape = self.take(c * h * w, out), (out, 1, 1)
        elif op == "ln":
            r["weight"], bias = self.take(c), c if bias else 0
        elif op == "embed":
            shape = (out, c * h * w, 1)
            r["weight"] = self.take(k or classes, out)
            bias = bias and out * shape[1]
        elif op in ("attention", "causal"):
            shape = (c // 3, h, w)
        elif op == "conv":
            r["weight"] = self.take(g, k, k, c // g, out // g)
            shape = (out, (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1)
        elif op == "tconv":
            r["weight"] = self.take(g, k, k, out // g, c // g)
            shape = (out, (h - 1) * s + k - 2 * p, (w - 1) * s + k - 2 * p)
        elif op == "lstm":
            ways = 2 if r["dir"] == "both" else 1
            r["weight"] = self.take(ways, c + out // ways, 4 * (out // ways))
            bias, shape = 4 * out if bias else 0, (out, h, 1)
        elif op == "bn":
            self.bns[r["id"]] = nn.BatchNorm2d(c, affine=False)
            r["weight"], bias = self.take(c), c
        elif op in ("maxpool", "avgpool"):
            shape = (c, (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1) if k else (c, 1, 1)
        elif op == "concat":
            shape = (sum(i[0] for i in inputs), h, w)
        if "weight" in r and bias:
            r["bias_at"] = self.take(bias)
        self.shapes[r["id"]] = shape

    def lstm(self, r, x):
        w, (c, h, _) = self.weights[r["weight"]], self.shapes[r["sources"][0]]
        state = w.shape[2] // 4
        module = nn.LSTM(c, state, batch_first=True, bidirectional=len(w) == 2)
        bias = self.weights[r["bias_at"]].reshape(len(w), -1) if "bias_at" in r else torch.zeros(len(w), 4 * state)
        named = {}
        for way, end in enumerate(["", "_reverse"][: len(w)]):
            named["weight_ih_l0" + end], named["weight_hh_l0" + end] = w[way, :c].t(), w[way, c:].t()
            named["bias_ih_l0" + end], named["bias_hh_l0" + end] = bias[way], torch.zeros(4 * state)
        x = x[:, :, :, 0].permute(0, 2, 1)
        x = x.flip(1) if r["dir"] == "back" else x
        y = torch.func.functional_call(module, named, (x,))[0]
        y = y.flip(1) if r["dir"] == "back" else y
        return y.permute(0, 2, 1)[:, :, :, None]

    def row(self, r, inputs):
        op, x = r["op"], inputs[0]
        k, s, p, g = r["k"], r["s"], r["p"], r["g"]
        w = self.weights[r["weight"]] if "weight" in r else None
        w = self.weights[r["tied"]].t() if "tied" in r else w
        bias = self.weights[r["bias_at"]] if "bias_at" in r else None
        if op == "linear" and k == 1:
            x = x.permute(0, 2, 3, 1) @ w
            return (x if bias is None else x + bias).permute(0, 3, 1, 2)
        if op == "ln":
            return F.layer_norm(x.permute(0, 2, 3, 1), w.shape, w, bias).permute(0, 3, 1, 2)
        if op == "embed":
            x = F.embedding(x.permute(0, 2, 3, 1).flatten(1).long(), w)
            x = x if bias is None else x + bias.reshape(x.shape[1:])
            return x.permute(0, 2, 1)[:, :, :, None]
        if op in ("attention", "causal"):
            n, c, height, width = x.shape
            parts = x.reshape(n, 3, g, c // 3 // g, -1).permute(1, 0, 2, 4, 3)
            y = F.scaled_dot_product_attention(*parts, is_causal=op == "causal")
            return y.permute(0, 1, 3, 2).reshape(n, c // 3, height, width)
        if op == "linear":
            x = x.permute(0, 2, 3, 1).flatten(1) @ w
            return (x if bias is None else x + bias)[:, :, None, None]
        if op == "conv":
            w = w.permute(0, 4, 3, 1, 2)
            return F.conv2d(x, w.reshape(-1, *w.shape[2:]).contiguous(), bias, s, p, groups=g)
        if op == "tconv":
            w = w.permute(0, 4, 3, 1, 2)
            return F.conv_transpose2d(x, w.reshape(-1, *w.shape[2:]).contiguous(), bias, s, p, groups=g)
        if op == "lstm":
            return self.lstm(r, x)
        if op == "bn":
            return self.bns[r["id"]](x) * w[:, None, None] + bias[:, None, None]
        if op == "maxpool":
            return F.max_pool2d(x, k, s, p) if k else x.amax((2, 3), keepdim=True)
        if op == "avgpool":
            return F.avg_pool2d(x, k, s, p, count_include_pad=False) if k else x.mean((2, 3), keepdim=True)
        if op == "add":
            return sum(inputs[1:], x)
        if op == "concat":
            return torch.cat(inputs, 1)
        return {"relu": F.relu, "gelu": F.gelu}[op](x)

    def forward(self, x):
        made = {"0": x}
        for r in self.rows[:-1]:
            made[r["id"]] = activate(r["act"], self.row(r, [made[s] for s in r["sources"]]))
        return made[self.rows[-1]["sources"][0]].permute(0, 2, 3, 1)


def loss_of(op, y, target):
    """The head's loss of [n][h][w][c]; a label below 0 counts for nothing, but in the mean."""
    if op == "mse":
        return F.mse_loss(y.reshape(target.shape), target)
    if op == "bce":
        return F.binary_cross_entropy_with_logits(y.reshape(target.shape), target)
    y, label = y.reshape(target.numel(), -1), target.flatten().long()
    return F.cross_entropy(y, label, reduction="sum", ignore_index=-100) / label.numel()


def train(path):
    with open(path) as f:
        case = json.load(f)
    net = Net(case["rows"], case["shape"], case["classes"], case["params"])
    lr, decay = case["lr"], case["weight_decay"]
    if case["optimiser"] == "sgd":
        optimiser = torch.optim.SGD(net.parameters(), lr, case["momentum"], weight_decay=decay)
    else:
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["optimiser"]]
        betas = (case["beta1"], case["beta2"])
        optimiser = kind(net.parameters(), lr, betas, case["eps"], decay)
    height, width, channels = case["shape"]
    x = torch.tensor(case["x"]).reshape(case["steps"], case["batch"], height, width, channels)
    target = torch.tensor(case["target"]).reshape(case["steps"], case["batch"], -1)
    for step in range(case["steps"]):
        optimiser.zero_grad()
        loss = loss_of(net.rows[-1]["op"], net(x[step].permute(0, 3, 1, 2)), target[step])
        loss.backward()
        optimiser.step()
        print(repr(loss.item()))
    with torch.no_grad():
        for r in net.rows:
            if "tied" in r:
                net.weights[r["weight"]].copy_(net.weights[r["tied"]].t())
    for w in net.weights:
        for v in w.detach().reshape(-1).tolist():
            print(repr(v))
    for bn in net.bns.values():
        for v in bn.running_mean.tolist() + bn.running_var.tolist():
            print(repr(v))


for name in sys.argv[1:]:
    train(name)
