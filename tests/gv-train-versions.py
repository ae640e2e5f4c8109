# What gv-train-versions.t asks of Python: networks of a few linear rows, drawn with their cuts
# and replicas, trained by gv-train under 1f1b (also with vertical sync) and 2bw, and beside it,
# in double precision, by PyTorch as the papers say: which version of its weights a stage has for
# which micro-batch, and the mean of whose gradients an update is made of.  Written from the
# manual, not from gv-train's code.
#
#   GV-TRAIN FIRST LAST   seeds; a line for each that differs, and a summary.
#                         Status 1 where there is no PyTorch.
import json
import math
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    sys.exit("gv-train-versions.py: PyTorch is not installed: pip install torch")


def read(path):
    """A safetensors file of float32: name -> tensor of doubles."""
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    head.pop("__metadata__", None)
    return {k: torch.frombuffer(bytearray(raw[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]]),
                                dtype=torch.float32).reshape(v["shape"]).double()
            for k, v in head.items()}


def free_port():
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def train(world, args):
    """The losses of so many workers; they write into the present directory."""
    port = free_port()
    workers = [subprocess.Popen([gv_train, "--timeout=60"] + args, text=True, stdout=subprocess.PIPE,
                                env=dict(os.environ, RANK=str(r), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1",
                                         MASTER_PORT=str(port)))
               for r in range(world)]
    out = [w.communicate(timeout=300)[0] for w in workers]
    if any(w.returncode for w in workers):
        raise SystemExit("gv-train: status %s: %s" % ([w.returncode for w in workers], args))
    return [float(line.split(",")[2]) for line in out[0].split("\n")[1:-1]]


class Scene:
    """A network of linear rows, a table of samples, a plan and a schedule."""

    def __init__(self, seed):
        R = random.Random(seed)
        self.features, self.samples, self.classes = R.choice([2, 5]), R.choice([12, 31, 60]), R.choice([2, 4])
        self.head = R.choice(["xent", "mse"])
        n = R.randint(1, 5)
        self.out = [R.choice([4, 7]) for _ in range(n - 1)] + [self.classes if self.head == "xent" else 1]
        stages = R.randint(1, min(n, 4))
        self.cut = [0] + sorted(R.sample(range(1, n), stages - 1)) + [n]
        self.kind = R.choice(["1f1b", "1f1b", "vertical sync", "2bw"])
        self.replicas = [R.randint(1, 3) for _ in range(stages)]
        if self.kind == "vertical sync":
            self.replicas = self.replicas[:1] * stages
        self.batch = R.choice([1, 2, 4])
        self.micro_batches = sum(self.replicas) + R.randint(0, 2) if self.kind == "2bw" else 1
        self.steps = R.choice([4, 9]) if self.kind == "2bw" else math.lcm(*self.replicas) * R.choice([3, 8])
        self.momentum = R.choice([0, .9])
        self.lr, self.decay = (.05 if self.momentum else R.choice([.05, .2])), R.choice([0, .01])
        self.options = ["--data=csv:samples.csv", "--scale=none", "--log-every=1", "--seed=%d" % R.randint(1, 50),
                        "--order-seed=%d" % R.randint(1, 5)]
        self.x = [[round(R.gauss(0, 1), 4) for _ in range(self.features)] for _ in range(self.samples)]
        self.y = [i if self.head == "xent" and i < self.classes else R.randrange(self.classes)
                  if self.head == "xent" else round(R.gauss(0, 1), 4) for i in range(self.samples)]

    def name(self):
        return "%s, stages at %s on %s, %d of %d" % (
            self.kind, self.cut[:-1], self.replicas, self.micro_batches, self.batch)

    def write(self):
        with open("samples.csv", "w") as f:
            f.write("label,%s\n" % ",".join("x%d" % i for i in range(self.features)))
            for x, y in zip(self.x, self.y):
                f.write(",".join(map(str, [y] + x)) + "\n")
        with open("plan.csv", "w") as f:
            f.write("id,op,out,act,stage,replicas\n")
            for i, out in enumerate(self.out + [""]):
                last = i >= len(self.out)
                k = len(self.replicas) - 1 if last else sum(i >= c for c in self.cut[1:-1])
                f.write("%d,%s,%s,%s,%d,%d\n" % (i + 1, self.head if last else "linear", out,
                                                 "tanh" if i < len(self.out) - 1 else "", k, self.replicas[k]))
        self.X = torch.tensor(self.x, dtype=torch.double)
        self.Y = torch.tensor(self.y, dtype=torch.long if self.head == "xent" else torch.double)

    def loss(self, stages, index):
        """Of the samples, with so many weights and biases of each stage."""
        x, i = self.X[index], 0
        for stage in stages:
            for w, b in stage:
                x = x @ w.T + b
                i += 1
                x = torch.tanh(x) if i < len(self.out) else x
        if self.head == "xent":
            return torch.nn.functional.cross_entropy(x, self.Y[index])
        return ((x.squeeze(1) - self.Y[index]) ** 2).mean()

    def order(self, begin):
        """Which samples come one after the other, by their losses under weights that stay."""
        n = self.steps * self.micro_batches * self.batch
        own = [float(self.loss(begin, [i])) for i in range(self.samples)]
        seen = train(1, self.options + ["-q", "--batch=1", "--lr=1e-30", "--steps=%d" % n, "plan.csv"])
        return [min(range(self.samples), key=lambda i: abs(own[i] - v)) for v in seen]


class Script:
    """The same training by the papers."""

    def __init__(self, s, begin):
        self.s = s
        self.version = [[stage] for stage in begin]
        self.velocity = [[[torch.zeros_like(p) for p in row] for row in stage] for stage in begin]

    def gradients(self, index, which):
        stages = [[[p.clone().requires_grad_() for p in row] for row in self.version[k][v]]
                  for k, v in enumerate(which)]
        loss = self.s.loss(stages, index)
        loss.backward()
        return float(loss.detach()), [[[p.grad for p in row] for row in stage] for stage in stages]

    def update(self, k, gradients):
        """By the mean of gradients, of as many micro-batches."""
        new = []
        for i, row in enumerate(self.version[k][-1]):
            new.append([])
            for j, p in enumerate(row):
                g = sum(x[i][j] for x in gradients) / len(gradients) + self.s.decay * p
                self.velocity[k][i][j].mul_(self.s.momentum).add_(g)
                new[-1].append(p - self.s.lr * self.velocity[k][i][j])
        self.version[k].append(new)

    def run(self, order):
        s, losses, b = self.s, [], self.s.batch
        stages = range(len(s.replicas))
        waiting = [[] for _ in stages]
        warm = [math.ceil(sum(s.replicas[k:]) / s.replicas[k]) for k in stages]
        together = [s.micro_batches if s.kind == "2bw" else r for r in s.replicas]
        for i in range(s.steps * s.micro_batches):
            if s.kind == "2bw":
                which = [max(i // s.micro_batches - 1, 0) for _ in stages]
            else:
                which = [max(0, i // s.replicas[k] - warm[k] + 1) for k in stages]
            if s.kind == "vertical sync":
                which = which[:1] * len(stages)
            loss, gradients = self.gradients(order[i * b:(i + 1) * b], which)
            losses.append(loss)
            for k in stages:
                waiting[k].append(gradients[k])
                if len(waiting[k]) == together[k]:
                    self.update(k, waiting[k])
                    waiting[k] = []
        m = s.micro_batches
        return [sum(losses[i:i + m]) / m for i in range(0, len(losses), m)]


def differs(seed):
    s = Scene(seed)
    s.write()
    train(1, s.options + ["-q", "--batch=1", "--lr=1e-30", "--steps=1", "--weights=begin.safetensors", "plan.csv"])
    t = read("begin.safetensors")
    rows = [[t["%d.weight" % (i + 1)], t["%d.bias" % (i + 1)]] for i in range(len(s.out))]
    begin = [rows[a:b] for a, b in zip(s.cut, s.cut[1:])]
    script = Script(s, begin)
    want = script.run(s.order(begin))
    got = train(sum(s.replicas), s.options + [
        "--batch=%d" % (s.batch * s.micro_batches), "--micro-batches=%d" % s.micro_batches, "--steps=%d" % s.steps,
        "--lr=%g" % s.lr, "--momentum=%g" % s.momentum, "--weight-decay=%g" % s.decay,
        "--schedule=%s" % ("2bw" if s.kind == "2bw" else "1f1b")] +
        (["--vertical-sync"] if s.kind == "vertical sync" else []) + ["--weights=end.safetensors", "plan.csv"])
    far = max(abs(g - w) / max(.01, abs(w)) for g, w in zip(got, want)) if len(got) == len(want) else math.inf
    t, i = read("end.safetensors"), 0
    for stage in script.version:
        for row in stage[-1]:
            i += 1
            for name, p in zip(("weight", "bias"), row):
                far = max(far, float((t["%d.%s" % (i, name)] - p).abs().max() / max(.01, p.abs().max())))
    return far, s.name()


torch.set_num_threads(1)
gv_train, worst, n = sys.argv[1], 0, 0
for seed in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        far, name = differs(seed)
        os.chdir("/")
    n, worst = n + 1, max(worst, far)
    if far > 2e-4:
        print("seed %d: %s: %g away" % (seed, name, far))
print("%d scenes, the worst %.1e away" % (n, worst), file=sys.stderr)
