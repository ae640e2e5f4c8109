# The same training steps in PyTorch: nn.py MODEL HEIGHT WIDTH CHANNELS BATCH.
# Prints samples per second of one thread (of its own time), the best of several windows
# with its usual layout of images and with channels last.
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("PyTorch is not installed")
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_flush_denormal(True)  # as gv-train does
ACTS = {"relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "gelu": F.gelu, "silu": F.silu}


class Lstm(nn.Module):
    def __init__(self, channels, out, way):
        super().__init__()
        self.lstm = nn.LSTM(channels, out // (2 if way == "both" else 1), batch_first=True, bidirectional=way == "both")

    def forward(self, x):
        return self.lstm(x[:, :, :, 0].permute(0, 2, 1))[0].permute(0, 2, 1)[:, :, :, None]


class Linear(nn.Linear):
    def forward(self, x):
        return super().forward(x.flatten(1))[:, :, None, None]


class Net(nn.Module):
    def __init__(self, rows, height, width, channels, classes):
        super().__init__()
        self.rows, self.layers = rows[:-1], nn.ModuleDict()
        shapes, last = {"0": (channels, height, width)}, "0"
        for r in self.rows:
            r["sources"] = (r.get("from") or last).split(";")
            shapes[r["id"]] = self.add(r, [shapes[s] for s in r["sources"]], classes)
            last = r["id"]

    def add(self, r, inputs, classes):
        def n(column, otherwise):
            return int(r[column]) if r.get(column) else otherwise

        op, (c, h, w) = r["op"], inputs[0]
        out, k, g, bias = n("out", classes), n("k", 0), n("g", 1), r.get("bias") != "0"
        s, p = n("s", 1 if op in ("conv", "tconv") else k), n("p", 0)
        size = (h + 2 * p - k) // (s or 1) + 1, (w + 2 * p - k) // (s or 1) + 1
        layer, shape = None, (c, h, w)
        if op == "linear":
            layer, shape = Linear(c * h * w, out, bias), (out, 1, 1)
        elif op == "conv":
            layer, shape = nn.Conv2d(c, out, k, s, p, groups=g, bias=bias), (out, *size)
        elif op == "tconv":
            layer = nn.ConvTranspose2d(c, out, k, s, p, groups=g, bias=bias)
            shape = (out, (h - 1) * s + k - 2 * p, (w - 1) * s + k - 2 * p)
        elif op == "lstm":
            layer, shape = Lstm(c, out, r.get("dir")), (out, h, 1)
        elif op == "bn":
            layer = nn.BatchNorm2d(c)
        elif op == "dropout":
            layer = nn.Dropout(float(r["rate"]))
        elif op in ("maxpool", "avgpool"):
            kind = [nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d]
            layer = kind[(op == "avgpool") + 2 * (k == 0)](*((k, s, p) if k else (1,)))
            shape = (c, *size) if k else (c, 1, 1)
        elif op == "concat":
            shape = (sum(i[0] for i in inputs), h, w)
        if layer is not None:
            self.layers[r["id"]] = layer
        return shape

    def forward(self, x):
        made = {"0": x}
        for r in self.rows:
            inputs = [made[s] for s in r["sources"]]
            if r["op"] == "add":
                x = sum(inputs[1:], inputs[0])
            elif r["op"] == "concat":
                x = torch.cat(inputs, 1)
            else:
                x = self.layers[r["id"]](inputs[0])
            act = r.get("act") or ""
            if act.startswith("leaky"):
                x = F.leaky_relu(x, float(act[6:] or 0.2))
            elif act:
                x = ACTS[act](x)
            made[r["id"]] = x
        return x.flatten(1)


def best(step, batch):
    rates = [0]
    for _ in range(6):
        start, steps = time.process_time(), 0
        while time.process_time() - start < 0.15:
            step()
            steps += 1
        rates.append(steps * batch / (time.process_time() - start))
    return max(rates)


def measure(rows, shape, batch, layout):
    height, width, channels = shape
    model = Net(rows, height, width, channels, 10).to(memory_format=layout)
    optimiser = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    x = torch.randn(batch, channels, height, width).to(memory_format=layout)
    label = torch.randint(0, 10, (batch,))

    def step():
        optimiser.zero_grad()
        F.cross_entropy(model(x), label).backward()
        optimiser.step()

    return best(step, batch)


def main():
    *shape, batch = (int(a) for a in sys.argv[2:6])
    with open(sys.argv[1]) as f:
        names = f.readline().rstrip("\n").split("\t")
        rows = [dict(zip(names, line.rstrip("\n").split("\t"))) for line in f]
    print("%.0f" % max(measure(rows, shape, batch, layout) for layout in (torch.contiguous_format, torch.channels_last)))


main()
