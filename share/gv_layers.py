#!/usr/bin/env python3
"""The time and the bytes of each layer of a PyTorch model, as gv-partition(1) reads them.

    gv_layers.py [option ...] FILE.py:NAME SHAPE... > layers.csv

NAME is a function of FILE.py that returns a torch.nn.Module, or such a module.  SHAPE is that of
one input, the minibatch first: 64x3x224x224, or 64x128:50257 for whole numbers below 50257.
In a script of your own: gv_layers.write(gv_layers.profile(model, inputs, loss), sys.stdout).

A row is a module without children, in the order in which they run, called by its name in the model.
The time from its beginning to the next one's is its own, forward and, by hooks on what it returns,
backward: so the functions between modules count for the one in front of them, and all rows add up to
a step.  What feeds what is read off the autograd graph; a function that joins two outputs is no row, so
both feed whatever reads it.  On a GPU times are those of events on its stream, without waiting in between.
"""
import argparse
import csv
import os
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("gv_layers.py: PyTorch is not installed: pip install torch")

COLUMNS = ["node_id", "layer", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes", "repeats",
           "forward_mad_ms", "backward_mad_ms"]


def tensors(value):
    """All tensors in what a module takes or returns."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from tensors(v)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors(v)


class Clock:
    """Moments, and the milliseconds between two of them when all is done."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"

    def now(self):
        if not self.cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def ms(self, a, b):
        return a.elapsed_time(b) if self.cuda else 1000 * (b - a)


class Step:
    """One step of training, with a moment for the beginning of each layer."""

    def __init__(self, profiler):
        self.p = profiler
        self.forward = []  # (row, moment)
        self.backward = []
        self.owner = {}  # what a row has returned: id of the tensor, grad_fn -> row
        self.kept = []  # so that ids stay theirs

    def feeders(self, value):
        """The rows whose outputs reach value, by way of functions."""
        found, seen, todo = [], set(), []
        for t in tensors(value):
            if id(t) in self.owner:
                found.append(self.owner[id(t)])
            elif t.grad_fn is not None:
                todo.append(t.grad_fn)
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if node in self.owner:
                found.append(self.owner[node])
            else:
                todo += [n for n, _ in node.next_functions]
        return found

    def before(self, module, args, kwargs):
        row = self.p.row(module)
        self.p.edges.update({(f, row): None for f in self.feeders([args, kwargs]) if f != row})
        self.forward.append((row, self.p.clock.now()))

    def after(self, module, args, kwargs, output):
        row = self.p.row(module)
        size = 0
        for t in tensors(output):
            size += t.numel() * t.element_size()
            self.kept.append(t)
            self.owner[id(t)] = row
            if t.grad_fn is not None:
                self.owner[t.grad_fn] = row
                t.register_hook(lambda grad: self.backward.append((row, self.p.clock.now())) and None)
        self.p.activation[row] = size

    def gaps(self, moments, rows, end):
        """Milliseconds of each row: each moment until the next one."""
        ms = [0.0] * rows
        for k, (row, begin) in enumerate(moments):
            ms[row] += self.p.clock.ms(begin, moments[k + 1][1] if k + 1 < len(moments) else end)
        return ms


class Profiler:
    def __init__(self, model, inputs, loss, leaves):
        self.model, self.inputs, self.loss = model, inputs, loss
        self.clock = Clock(next(model.parameters(), torch.empty(0)).device)
        self.names, self.rows = {}, []  # module -> name; modules in the order in which they run
        self.at = {}
        self.edges, self.activation = {}, {}
        inside = []
        for name, module in model.named_modules():
            if any(name.startswith(outer + ".") for outer in inside):
                continue
            kind = type(module).__name__
            if kind in leaves or isinstance(module, torch.nn.MultiheadAttention):
                inside.append(name)
            elif any(True for _ in module.children()):
                continue
            self.names[module] = name or kind

    def row(self, module):
        if module not in self.at:
            self.at[module] = len(self.rows)
            self.rows.append(module)
        return self.at[module]

    def run(self, step=None):
        """Forward and backward; the whole time in ms, or the (forward, backward) times of each row."""
        hooks = []
        for module in self.names if step else ():
            hooks.append(module.register_forward_pre_hook(step.before, with_kwargs=True))
            hooks.append(module.register_forward_hook(step.after, with_kwargs=True))
        self.model.zero_grad(set_to_none=True)
        self.clock.wait()
        begin = self.clock.now()
        loss = self.loss(self.model(*self.inputs))
        middle = self.clock.now()
        loss.backward()
        end = self.clock.now()
        self.clock.wait()
        for hook in hooks:
            hook.remove()
        if step is None:
            return self.clock.ms(begin, end)
        if step.backward:  # what is in front of the first row belongs to it: data, the loss's gradient
            step.backward[0] = (step.backward[0][0], middle)
        if step.forward:
            step.forward[0] = (step.forward[0][0], begin)
        return step.gaps(step.forward, len(self.rows), middle), step.gaps(step.backward, len(self.rows), end)


def mean_square(output):
    return sum(t.float().pow(2).mean() for t in tensors(output) if t.is_floating_point())


def profile(model, inputs, loss=mean_square, repeats=20, warmup=3, leaves=()):
    """Times model(*inputs), loss(output) and its backward pass.

    leaves: names of classes that are a row as a whole.  The result: "rows", dicts of COLUMNS; "edges", pairs
    of node_ids; "sum_ms" of the rows and "step_ms" of whole steps without hooks, both medians.
    """
    p = Profiler(model, inputs, loss, set(leaves))
    for _ in range(warmup):
        p.run()
        p.run(Step(p))
    timed, whole = [], []
    for _ in range(repeats):
        timed.append(p.run(Step(p)))
        whole.append(p.run())
    seen, rows = set(), []
    for k, module in enumerate(p.rows):
        f, b = [t[0][k] for t in timed], [t[1][k] for t in timed]
        own = [w for w in module.parameters() if w not in seen]  # shared ones count once
        seen.update(own)
        kind = type(module).__name__ if any(True for _ in module.children()) else " ".join(repr(module).split())
        middle = [statistics.median(f), statistics.median(b)]
        rows.append(dict(zip(COLUMNS, [
            p.names[module], kind, *["%.6g" % m for m in middle], p.activation[k],
            sum(w.numel() * w.element_size() for w in own), repeats,
            *["%.6g" % statistics.median(abs(x - m) for x in v) for v, m in zip((f, b), middle)]])))
    return {"rows": rows, "edges": [(p.names[p.rows[a]], p.names[p.rows[b]]) for a, b in p.edges],
            "sum_ms": statistics.median(sum(f) + sum(b) for f, b in timed), "step_ms": statistics.median(whole)}


def write(result, out):
    """The table of layers, an empty line, the table of edges."""
    w = csv.writer(out, lineterminator="\n")
    w.writerow(COLUMNS)
    w.writerows([r[c] for c in COLUMNS] for r in result["rows"])
    out.write("\n")
    w.writerow(["src", "dst"])
    w.writerows(result["edges"])


def load(spec):
    path, _, name = spec.rpartition(":")
    space = {"__name__": "gv_layers_model", "__file__": path}
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        with open(path) as f:
            text = f.read()
    except OSError as e:
        sys.exit("gv_layers.py: %s: cannot open: %s" % (path, e.strerror))
    exec(compile(text, path, "exec"), space)
    if name not in space:
        sys.exit("gv_layers.py: %s: there is no %s" % (path, name))
    model = space[name] if isinstance(space[name], torch.nn.Module) else space[name]()
    if not isinstance(model, torch.nn.Module):
        sys.exit("gv_layers.py: %s: %s makes no torch.nn.Module" % (path, name))
    return model


def sample(spec, device):
    shape, _, below = spec.partition(":")
    try:
        size = [int(n) for n in shape.split("x")]
        if min(size) < 1 or (below and int(below) < 1):
            raise ValueError
        return torch.randint(int(below), size, device=device) if below else torch.randn(size, device=device)
    except ValueError:
        sys.exit("gv_layers.py: expected a shape such as 64x3x224x224 or 64x128:50257, got %s" % spec)


def main():
    a = argparse.ArgumentParser(prog="gv_layers.py", description=__doc__.split("\n")[0])
    a.add_argument("model", metavar="FILE.py:NAME")
    a.add_argument("shape", nargs="+", help="of each input, the minibatch first")
    a.add_argument("--device", default="cpu")
    a.add_argument("--leaf", default="", help="names of classes that are one row each: NAME,NAME")
    a.add_argument("--repeats", type=int, default=20)
    a.add_argument("--warmup", type=int, default=3)
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("-v", "--verbose", action="store_true", help="compare the rows with whole steps")
    o = a.parse_args()
    if ":" not in o.model:
        a.error("expected FILE.py:NAME, got %s" % o.model)
    if o.threads < 1:
        a.error("expected --threads of 1 or more, got %d" % o.threads)
    torch.set_num_threads(o.threads)
    torch.manual_seed(1)
    model = load(o.model).to(o.device).train()
    result = profile(model, [sample(s, o.device) for s in o.shape], repeats=max(1, o.repeats), warmup=o.warmup,
                     leaves=o.leaf.split(","))
    if o.verbose:
        print("gv_layers.py: sum_ms=%.6g step_ms=%.6g sum_to_step=%.4g" % (
            result["sum_ms"], result["step_ms"], result["sum_ms"] / result["step_ms"]), file=sys.stderr)
    write(result, sys.stdout)


if __name__ == "__main__":
    main()
