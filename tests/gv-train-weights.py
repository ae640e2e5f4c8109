# What gv-train-weights.t asks of Python.
#
#   plain FILE DATA       the mean loss of an mlp without a library: rows 1 (relu) and 2
#   torch MODEL DATA INIT END LOSSES KEY=VALUE ...
#                         trains the model in PyTorch from INIT, and says how far its
#                         losses and parameters are from gv-train's.  Status 3: no PyTorch.
import csv
import json
import math
import struct
import sys


def read(path):
    """A safetensors file: name -> (dtype, shape, bytes)."""
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    data = raw[8 + n:]
    head.pop("__metadata__", None)
    return {k: (v["dtype"], v["shape"], data[v["data_offsets"][0]:v["data_offsets"][1]])
            for k, v in head.items()}


def samples(path):
    rows = list(csv.reader(open(path)))[1:]
    return [[float(v) / 255 for v in r[1:]] for r in rows], [int(r[0]) for r in rows]


def plain(file, data):
    t = {}
    for name, (dtype, shape, raw) in read(file).items():
        v = struct.unpack("<%df" % (len(raw) // 4), raw)
        t[name] = [v[i:i + shape[1]] for i in range(0, len(v), shape[1])] if len(shape) == 2 else v
    x, y = samples(data)
    loss = 0
    for v, label in zip(x, y):
        for row in ("1", "2"):
            v = [sum(a * b for a, b in zip(w, v)) + c
                 for w, c in zip(t[row + ".weight"], t[row + ".bias"])]
            if row == "1":
                v = [max(a, 0) for a in v]
        loss += math.log(sum(math.exp(a) for a in v)) - v[label]
    print("%.6f" % (loss / len(y)))


def tensors(file):
    types = {"F32": torch.float32, "I64": torch.int64}
    return {k: torch.frombuffer(bytearray(raw), dtype=types[d]).reshape(shape)
            for k, (d, shape, raw) in read(file).items()}


def number(row, column, otherwise):
    return int(row[column]) if row.get(column) else otherwise


def build(path, classes):
    """The table as a module whose children have the ids of the rows."""
    rows = list(csv.DictReader(open(path)))

    class Net(torch.nn.Module):
        def forward(self, x):
            out, last = {"0": x}, "0"
            for r in rows[:-1]:
                v = out[r.get("from") or last]
                if r["op"] == "linear":
                    v = v.flatten(1)
                if hasattr(self, r["id"]):
                    v = getattr(self, r["id"])(v)
                if r.get("act") == "relu":
                    v = v.relu()
                last = r["id"]
                out[last] = v
            return v.flatten(1)

    net = Net()
    c, size = 1, 16
    for r in rows:
        k = number(r, "k", 0)
        out = number(r, "out", classes if r["op"] == "linear" else c)
        s, p = number(r, "s", 1 if "conv" in r["op"] else k), number(r, "p", 0)
        if r["op"] == "conv":
            m = torch.nn.Conv2d(c, out, k, s, p, groups=number(r, "g", 1), bias=r.get("bias") != "0")
        elif r["op"] == "tconv":
            m = torch.nn.ConvTranspose2d(c, out, k, s, p, groups=number(r, "g", 1))
            size, k = (size - 1) * s - 2 * p + k, 0
        elif r["op"] == "maxpool":
            m = torch.nn.MaxPool2d(k, s, p)
        elif r["op"] == "bn":
            m = torch.nn.BatchNorm2d(c) if size > 1 else torch.nn.BatchNorm1d(c)
        elif r["op"] == "linear":
            m = torch.nn.Linear(c * size * size, out, bias=r.get("bias") != "0")
            k, size = 0, 1
        else:
            continue
        net.add_module(r["id"], m)
        if k:
            size = (size + 2 * p - k) // s + 1
        c = out
    return net


def schedule(opt, a, total):
    s = torch.optim.lr_scheduler
    kind, lr, warm = a["lr-schedule"], float(a["lr"]), int(a.get("lr-warmup", 0))
    if kind == "one-cycle":
        return s.OneCycleLR(opt, lr, total, cycle_momentum=False)
    rest = total - warm
    behind = {"constant": lambda: s.LambdaLR(opt, lambda t: 1),
              "step": lambda: s.StepLR(opt, int(a.get("lr-step", 1)), 0.1),
              "linear": lambda: s.LinearLR(opt, 1, 0, rest),
              "polynomial": lambda: s.PolynomialLR(opt, rest, float(a.get("lr-power", 1))),
              "cosine": lambda: s.CosineAnnealingLR(opt, rest)}
    if not warm:
        return behind[kind]()
    return s.SequentialLR(opt, [s.LinearLR(opt, 1 / warm, 1, warm), behind[kind]()], [warm])


def optimizer(net, a):
    lr, decay = float(a["lr"]), float(a.get("weight-decay", 0))
    if a["optimizer"] == "sgd":
        return torch.optim.SGD(net.parameters(), lr, float(a.get("momentum", 0)), weight_decay=decay)
    make = torch.optim.Adam if a["optimizer"] == "adam" else torch.optim.AdamW
    return make(net.parameters(), lr, weight_decay=decay)


def train(model, data, init, end, losses, *args):
    a = dict(v.split("=", 1) for v in args)
    x, y = samples(data)
    x, y = torch.tensor(x).reshape(-1, 1, 16, 16), torch.tensor(y)
    torch.manual_seed(0)
    net = build(model, int(y.max()) + 1)
    net.load_state_dict(tensors(init), strict=True)
    opt, steps, parts = optimizer(net, a), int(a["steps"]), int(a.get("micro-batches", 1))
    sch = schedule(opt, a, steps)
    worst = 0
    for row in list(csv.DictReader(open(losses))):
        opt.zero_grad()
        total = 0
        for xs, ys in zip(x.chunk(parts), y.chunk(parts)):
            loss = torch.nn.functional.cross_entropy(net(xs), ys) / parts
            loss.backward()
            total += loss.item()
        if "clip-value" in a:
            torch.nn.utils.clip_grad_value_(net.parameters(), float(a["clip-value"]))
        if "clip-norm" in a:
            torch.nn.utils.clip_grad_norm_(net.parameters(), float(a["clip-norm"]))
        opt.step()
        sch.step()
        worst = max(worst, abs(total - float(row["loss"])))
    far = 0
    ours = tensors(end)
    theirs = net.state_dict()
    assert set(ours) == set(theirs), (sorted(ours), sorted(theirs))
    for name, v in theirs.items():
        assert ours[name].shape == v.shape and ours[name].dtype == v.dtype, name
        far = max(far, float((ours[name] - v).abs().max()))
    print("losses %.2g, parameters %.2g" % (worst, far))
    sys.exit(worst > 1e-5 or far > 1e-5)


if sys.argv[1] == "plain":
    plain(*sys.argv[2:])
else:
    try:
        import torch
    except ImportError:
        sys.exit(3)
    torch.set_num_threads(1)
    train(*sys.argv[2:])
