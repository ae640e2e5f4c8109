#!/usr/bin/env python3
"""The time and the bytes of each layer of a PyTorch model, as gv-partition(1) reads them.

    gv_layers.py [option ...] FILE.py:NAME SHAPE... > layers.csv

NAME is a function of FILE.py that returns a torch.nn.Module, or such a module.  SHAPE is that of
one input, the minibatch first: 64x3x224x224, or 64x128:50257 for whole numbers below 50257.
In a script of your own: gv_layers.write(gv_layers.profile(model, inputs, loss), sys.stdout).

A row is a call of a module without children, or of one that calls none, together with the functions behind
it until the next call: their time, what they read and make, and their parameters.  Rows stand in the order in which
they run, named as the module is in the model; the second call of a module is NAME#2.  All rows add up to a
step.  What feeds what is read off the autograd graph.  What a checkpointed part of the model computes again
is in the backward time of the rows that do it.  On a GPU times are those of events on its stream, without
waiting in between.

Weights that several rows read (tied embeddings, a module called twice) count on each of them, as each of
their stages has to hold them; tied_with names the first row that has them.
"""
import argparse
import bisect
import csv
import os
import statistics
import sys
import time
from unittest import mock

try:
    import torch
    import torch.utils.checkpoint
    from torch.nn.utils import parametrize
except ImportError:
    sys.exit("gv_layers.py: PyTorch is not installed: pip install torch")

if not hasattr(torch.autograd, "_get_sequence_nr"):
    sys.exit("gv_layers.py: PyTorch %s is too old" % torch.__version__)

COLUMNS = ["node_id", "layer", "forward_ms", "backward_ms", "activation_bytes", "parameter_bytes", "repeats",
           "forward_mad_ms", "backward_mad_ms", "tied_with"]


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


def size(values):
    return sum(t.numel() * t.element_size() for t in values)


def reads(roots):
    """The autograd graph below these nodes: (node, one that it reads, which output of that)."""
    seen, todo = set(), [n for n in roots if n is not None]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for child, output in node.next_functions:
            if child is not None:
                yield node, child, output
                todo.append(child)


class Order:
    """Which row was running when a node of the autograd graph was made."""

    def __init__(self):
        self.begins, self.rows = [], []

    def begin(self, row):
        self.begins.append(torch.autograd._get_sequence_nr())
        self.rows.append(row)

    def row(self, node):
        """Functions in front of the first row are its own."""
        return self.rows[max(0, bisect.bisect_right(self.begins, node._sequence_nr()) - 1)]


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


class Row:
    def __init__(self, name, module):
        self.name, self.parameters = name, list(module.parameters())
        self.kind = type(module).__name__ if any(True for _ in module.children()) else " ".join(repr(module).split())
        self.activation = 0  # bytes: of what other rows read, or of what it returns where none does


class Direct:
    """In place of a checkpointed part of the model that has no graph."""

    @staticmethod
    def apply(function, _preserve, *args):
        return function(*args)


class Trace:
    """One forward pass: the rows, and what feeds what."""

    def __init__(self, model, names, containers):
        self.model, self.names, self.containers = model, names, containers
        self.parameters = {w: name for name, w in model.named_parameters()}
        self.rows, self.edges = [], {}
        self.calls = {}  # module -> its rows
        self.order = Order()
        self.open = []  # containers that run: rows before them
        self.empty = []  # containers that called no module
        self.plain = {}  # id of a tensor without a graph -> its row
        self.taken = ()  # (node, output) of what the running module took
        self.passed = {}  # (node, output) -> [(when, row that returned it as it was)]
        self.kept = []  # so that ids stay theirs

    def before(self, module, args, kwargs):
        if module in self.containers:
            self.open.append(len(self.rows))
            return
        calls = self.calls.setdefault(module, [])
        name = self.names[module]
        row = len(self.rows)
        calls.append(row)
        self.rows.append(Row(name if len(calls) == 1 else "%s#%d" % (name, len(calls)), module))
        self.order.begin(row)
        self.taken = {(t.grad_fn, t.output_nr) for t in tensors([args, kwargs])}
        for t in tensors([args, kwargs]):
            if t.grad_fn is None and id(t) in self.plain:
                self.edges[self.plain[id(t)], row] = None
            if t in self.parameters:
                self.rows[row].parameters.append(t)

    def after(self, module, args, kwargs, output):
        if module in self.containers:
            if self.open.pop() == len(self.rows) and any(True for _ in module.parameters()):
                self.empty.append(module)
            return
        row, values = self.calls[module][-1], list(tensors(output))
        self.rows[row].activation = size(values)
        for t in values:
            self.kept.append(t)
            if t.grad_fn is None:
                self.plain[id(t)] = row
            elif (t.grad_fn, t.output_nr) in self.taken:  # not when it was changed in place
                self.passed.setdefault((t.grad_fn, t.output_nr), []).append((self.order.begins[row], row))

    def source(self, node, output, when):
        """The row that has this output at that time: the one that made it, or one that passed it on."""
        rows = [row for begin, row in self.passed.get((node, output), ()) if begin <= when]
        return rows[-1] if rows else self.order.row(node)

    def connect(self, roots):
        read = [{} for _ in self.rows]  # (node, output) that another row reads -> bytes
        for node, child, output in reads(roots):
            row = self.order.row(node)
            if hasattr(child, "variable"):
                if child.variable in self.parameters:
                    self.rows[row].parameters.append(child.variable)
                continue
            source = self.source(child, output, node._sequence_nr())
            if source != row:
                self.edges[source, row] = None
                shape = getattr(child, "_input_metadata", ())
                if output < len(shape):
                    n = shape[output].dtype.itemsize
                    for k in shape[output].shape:
                        n *= k
                    read[source][child, output] = n
        for (node, output), passes in self.passed.items():
            rows = [self.order.row(node), *[row for _, row in passes]]
            self.edges.update({edge: None for edge in zip(rows, rows[1:])})
        for row, sizes in zip(self.rows, read):
            row.activation = sum(sizes.values()) or row.activation

    def run(self, inputs):
        hooks = []
        for module in [*self.names, *self.containers]:
            hooks.append(module.register_forward_pre_hook(self.before, with_kwargs=True))
            hooks.append(module.register_forward_hook(self.after, with_kwargs=True))
        frozen = [w for w in self.parameters if not w.requires_grad and w.is_floating_point()]
        try:
            for w in frozen:
                w.requires_grad_(True)
            with torch.enable_grad(), mock.patch.object(torch.utils.checkpoint, "CheckpointFunction", Direct):
                self.connect([t.grad_fn for t in tensors(self.model(*inputs))])
        finally:
            for hook in hooks:
                hook.remove()
            for w in frozen:
                w.requires_grad_(False)
        self.taken, self.plain, self.passed, self.kept = (), {}, {}, []  # lets the graph go


def trace(model, inputs, leaves):
    """The rows of a model: modules without children, those that are to be one, and those that call none."""
    whole = set()
    while True:
        names, containers, inside = {}, set(), []
        for name, module in model.named_modules():
            if any(name.startswith(outer) for outer in inside):
                continue
            kind = type(module).__name__
            if (kind in leaves or module in whole or isinstance(module, torch.nn.MultiheadAttention)
                    or parametrize.is_parametrized(module)):
                inside.append(name + "." if name else "")
            elif any(True for _ in module.children()):
                containers.add(module)
                continue
            names[module] = name or kind
        found = Trace(model, names, containers)
        found.run(inputs)
        if not found.empty:
            return found
        whole.update(found.empty)


class Step:
    """One step of training, with a moment for the beginning of each row's work."""

    def __init__(self, found, clock):
        self.calls, self.n_rows, self.clock = found.calls, len(found.rows), clock
        self.order = Order()
        self.forward, self.backward = [], []  # (row, moment)
        self.called = {}  # module -> calls until now
        self.middle = None  # when the backward pass began
        self.again, self.taken = None, ()  # the row that is computed again, and what made its input
        self.interrupted = None  # the row whose backward pass waits for that
        self.resumed = False  # the last moment is where that one goes on

    def began(self, row):
        def hook(_):
            self.backward.append((row, self.clock.now()))
            self.resumed = False
        return hook

    def recompute(self, calls):
        """A module runs in the backward pass: which of its calls is this?"""
        if self.resumed:
            self.backward.pop()
            late = [c for c in calls if c > self.again]
            self.again = late[0] if late else calls[-1]
        else:
            self.interrupted = self.backward[-1][0]
            early = [c for c in calls if c <= self.interrupted]
            self.again = early[-1] if early else calls[0]
        self.resumed = False
        self.backward.append((self.again, self.clock.now()))

    def before(self, module, args, kwargs):
        calls = self.calls[module]
        if self.middle is not None:
            self.recompute(calls)
            self.taken = {t.grad_fn for t in tensors([args, kwargs])}
            return
        n = self.called[module] = self.called.get(module, -1) + 1
        row = calls[min(n, len(calls) - 1)]
        self.order.begin(row)
        self.forward.append((row, self.clock.now()))

    def after(self, module, args, kwargs, output):
        if self.middle is None:
            return
        for t in tensors(output):
            if t.grad_fn is not None and t.grad_fn not in self.taken:
                t.register_hook(self.began(self.again))
        self.backward.append((self.interrupted, self.clock.now()))
        self.resumed = True

    def watch(self, loss):
        """Nodes of the graph that begin a row's backward pass say so."""
        hooked = set()
        for node, child, _ in reads([loss.grad_fn]):
            row = self.order.row(child)
            if row != self.order.row(node) and child not in hooked and not hasattr(child, "variable"):
                hooked.add(child)
                child.register_prehook(self.began(row))

    def gaps(self, moments, end):
        """Milliseconds of each row: each moment until the next one."""
        ms = [0.0] * self.n_rows
        for k, (row, begin) in enumerate(moments):
            ms[row] += self.clock.ms(begin, moments[k + 1][1] if k + 1 < len(moments) else end)
        return ms


class Profiler:
    def __init__(self, model, inputs, loss, leaves):
        self.model, self.inputs, self.loss = model, inputs, loss
        self.clock = Clock(next(model.parameters(), torch.empty(0)).device)
        self.found = trace(model, inputs, leaves)

    def step(self):
        """Milliseconds of forward and backward of each row in a step of training."""
        step, hooks = Step(self.found, self.clock), []
        for module in self.found.calls:
            hooks.append(module.register_forward_pre_hook(step.before, with_kwargs=True))
            hooks.append(module.register_forward_hook(step.after, with_kwargs=True, always_call=True))
        self.model.zero_grad(set_to_none=True)
        self.clock.wait()
        begin = self.clock.now()
        try:
            loss = self.loss(self.model(*self.inputs))
            middle = self.clock.now()
            step.forward[0] = (step.forward[0][0], begin)  # what is in front of the first row belongs to it
            step.watch(loss)
            self.clock.wait()
            step.middle = self.clock.now()
            step.backward.append((step.order.row(loss.grad_fn), step.middle))
            loss.backward()
            end = self.clock.now()
            self.clock.wait()
        finally:
            for hook in hooks:
                hook.remove()
        return step.gaps(step.forward, middle), step.gaps(step.backward, end)

    def whole(self):
        """Milliseconds of a step without hooks."""
        self.model.zero_grad(set_to_none=True)
        self.clock.wait()
        begin = self.clock.now()
        self.loss(self.model(*self.inputs)).backward()
        end = self.clock.now()
        self.clock.wait()
        return self.clock.ms(begin, end)


def tied(found):
    """For each row the first one that has one of its weights, or None; and the weights of no row."""
    first, with_ = {}, []
    for k, row in enumerate(found.rows):
        row.parameters = list(dict.fromkeys(row.parameters))
        with_.append(min((first[w] for w in row.parameters if w in first), default=None))
        for w in row.parameters:
            first.setdefault(w, k)
    return with_, [name for w, name in found.parameters.items() if w not in first]


def mean_square(output):
    return sum(t.float().pow(2).mean() for t in tensors(output) if t.is_floating_point())


def profile(model, inputs, loss=mean_square, repeats=20, warmup=3, leaves=()):
    """Times model(*inputs), loss(output) and its backward pass.

    leaves: names of classes that are a row as a whole.  The result: "rows", dicts of COLUMNS; "edges", pairs
    of node_ids; "sum_ms" of the rows and "step_ms" of whole steps without hooks, both medians; "unread", names of
    the parameters that no row has.
    """
    p = Profiler(model, inputs, loss, set(leaves))
    for _ in range(warmup):
        p.whole()
        p.step()
    timed, whole = [], []
    for _ in range(repeats):
        timed.append(p.step())
        whole.append(p.whole())
    names = [row.name for row in p.found.rows]
    with_, unread = tied(p.found)
    rows = []
    for k, row in enumerate(p.found.rows):
        f, b = [t[0][k] for t in timed], [t[1][k] for t in timed]
        middle = [statistics.median(f), statistics.median(b)]
        rows.append(dict(zip(COLUMNS, [
            row.name, row.kind, *["%.6g" % m for m in middle], row.activation,
            size(row.parameters), repeats,
            *["%.6g" % statistics.median(abs(x - m) for x in v) for v, m in zip((f, b), middle)],
            "" if with_[k] is None else names[with_[k]]])))
    return {"rows": rows, "edges": [(names[a], names[b]) for a, b in sorted(p.found.edges)],
            "sum_ms": statistics.median(sum(f) + sum(b) for f, b in timed), "step_ms": statistics.median(whole),
            "unread": unread}


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
    if result["unread"]:
        print("gv_layers.py: warning: weights that no layer reads, and that do not count: %s" % ", ".join(
            result["unread"]), file=sys.stderr)
    write(result, sys.stdout)


if __name__ == "__main__":
    main()
