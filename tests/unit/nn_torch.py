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

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


class ToRows(nn.Module):
    """[n][c][h][w] to vectors in gv's order, [h][w][c]."""

    def forward(self, x):
        return x.permute(0, 2, 3, 1).flatten(1)


def number(row, column, otherwise):
    return int(row[column]) if row[column] else otherwise


def build(rows, shape, classes):
    height, width, channels = shape
    layers, flat = [], False
    for r in rows:
        op, k = r["op"], number(r, "k", 0)
        s, p = number(r, "s", 1 if op == "conv" else k), number(r, "p", 0)
        g, bias = number(r, "g", 1), r["bias"] != "0"
        if op == "xent":
            break
        if op == "linear" and not flat:
            layers.append(ToRows())
            channels, height, width, flat = channels * height * width, 1, 1, True
        out = number(r, "out", classes if op == "linear" else channels)
        if op == "linear":
            layers.append(nn.Linear(channels, out, bias=bias))
        elif op == "conv":
            layers.append(nn.Conv2d(channels, out, k, s, p, groups=g, bias=bias))
        elif op == "maxpool":
            layers.append(nn.MaxPool2d(k, s, p))
        elif op == "avgpool" and k == 0:
            layers.append(nn.AdaptiveAvgPool2d(1))
            height = width = 1
        elif op == "avgpool":
            layers.append(nn.AvgPool2d(k, s, p, count_include_pad=False))
        elif op == "bn":
            layers.append(nn.BatchNorm1d(channels) if flat else nn.BatchNorm2d(channels))
        elif op == "relu":
            layers.append(nn.ReLU())
        elif op == "gelu":
            layers.append(nn.GELU())
        if r["act"] == "relu":
            layers.append(nn.ReLU())
        if k:
            height, width = (height + 2 * p - k) // s + 1, (width + 2 * p - k) // s + 1
        channels = out
    return nn.Sequential(*layers)


def as_ours(layer, v):
    """A weight as gv keeps it: [in][out], [g][k][k][in / g][out / g]."""
    if isinstance(layer, nn.Linear):
        return v.t()
    if isinstance(layer, nn.Conv2d):
        g = layer.groups
        return v.reshape(g, v.shape[0] // g, *v.shape[1:]).permute(0, 3, 4, 2, 1)
    return v


def weights(net):
    for layer in net:
        if getattr(layer, "weight", None) is not None:
            yield as_ours(layer, layer.weight)
            if layer.bias is not None:
                yield layer.bias


def train(path):
    with open(path) as f:
        case = json.load(f)
    net = build(case["rows"], case["shape"], case["classes"])
    at = 0
    with torch.no_grad():
        for w in weights(net):
            w.copy_(torch.tensor(case["params"][at : at + w.numel()]).reshape(w.shape))
            at += w.numel()
    assert at == len(case["params"])
    lr, decay = case["lr"], case["weight_decay"]
    if case["optimiser"] == "sgd":
        optimiser = torch.optim.SGD(net.parameters(), lr, case["momentum"], weight_decay=decay)
    else:
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["optimiser"]]
        betas = (case["beta1"], case["beta2"])
        optimiser = kind(net.parameters(), lr, betas, case["eps"], decay)
    height, width, channels = case["shape"]
    x = torch.tensor(case["x"]).reshape(case["steps"], case["batch"], height, width, channels)
    label = torch.tensor(case["label"]).reshape(case["steps"], case["batch"])
    for step in range(case["steps"]):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(x[step].permute(0, 3, 1, 2)), label[step])
        loss.backward()
        optimiser.step()
        print(repr(loss.item()))
    for w in weights(net):
        for v in w.detach().reshape(-1).tolist():
            print(repr(v))
    for layer in net:
        if hasattr(layer, "running_mean"):
            for v in layer.running_mean.tolist() + layer.running_var.tolist():
                print(repr(v))


for name in sys.argv[1:]:
    train(name)
