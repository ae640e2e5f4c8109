"""gv-layers.py NAME...: profiles models by share/gv_layers.py, each into NAME.csv, and says what is wrong with it.

A NAME is a model of this file or of torchvision, NAME@SIZE with square images of that size."""
import gc
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import gv_layers

WIDE = 768


class Twice(nn.Module):
    """One activation for all of it, and joints in place, as in a residual network."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(32, 32) for _ in range(3))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.a(x))
        y = self.b(x)
        y += x
        return self.c(self.relu(y))


class Bare(nn.Module):
    """Parameters that no module without children has: in front of, between and behind calls."""

    def __init__(self):
        super().__init__()
        self.front, self.back = nn.Parameter(torch.ones(32)), nn.Parameter(torch.ones(32))
        self.a, self.b = nn.Linear(32, 32), nn.Linear(32, 32)
        self.only_weight, self.frozen = nn.Linear(32, 32), nn.Parameter(torch.ones(32), requires_grad=False)

    def forward(self, x):
        h = self.a(x + self.front)
        return self.b(functional.linear(h, self.only_weight.weight, self.only_weight.bias) * self.frozen) * self.back


class Attention(nn.Module):
    """Its modules are there to hold weights, and are never called."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, s, h = x.shape
        q, k, v = functional.linear(x, self.qkv.weight, self.qkv.bias).view(n, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return functional.linear(y.transpose(1, 2).reshape(n, s, h), self.proj.weight, self.proj.bias)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Attention(width, 4)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.0))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """Tied embeddings, learned positions; how: part of it is checkpointed."""

    def __init__(self, how=None, blocks=6, width=64):
        super().__init__()
        self.how = how
        self.wte, self.wpe = nn.Embedding(100, width), nn.Parameter(torch.zeros(16, width))
        self.h = nn.ModuleList([Block(width) for _ in range(blocks)])
        self.ln_f, self.head = nn.LayerNorm(width), nn.Linear(width, 100, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, x):
        x = self.wte(x) + self.wpe
        for block in self.h:
            x = block(x) if self.how is None else checkpoint(block, x, use_reentrant=self.how == "reentrant")
        return self.head(self.ln_f(x))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(100, 64), nn.LSTM(64, 64, num_layers=2, batch_first=True)
        self.head = nn.Linear(64, 100)

    def forward(self, x):
        h, (last, _) = self.rnn(self.embed(x))
        return self.head(h + last[-1].unsqueeze(1))


def same():
    """A heavy layer behind which two modules return what they take."""
    return nn.Sequential(nn.Linear(8, WIDE), nn.Linear(WIDE, WIDE), nn.Identity(), nn.Dropout(0.0), nn.Linear(WIDE, 8))


def weighed():
    return nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(32, 32)), nn.ReLU(), nn.Linear(32, 8))


def words():
    return torch.randint(100, (4, 16))


MODELS = {
    "twice": (Twice, lambda: torch.randn(4, 32)),
    "bare": (Bare, lambda: torch.randn(4, 32)),
    "same": (same, lambda: torch.randn(256, 8)),
    "weighed": (weighed, lambda: torch.randn(4, 32)),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 4),
                lambda: torch.randn(2, 16, 64)),
    "lstm": (Recurrent, words),
    "gpt": (GPT, words),
    "gpt-checkpoint": (lambda: GPT("graph", 3, 256), lambda: torch.randint(100, (32, 16))),
    "gpt-reentrant": (lambda: GPT("reentrant", 3, 256), lambda: torch.randint(100, (32, 16))),
}


def model_of(name):
    if name in MODELS:
        make, sample = MODELS[name]
        return make(), sample()
    import torchvision
    name, _, edge = name.partition("@")
    return torchvision.models.get_model(name), torch.randn(2, 3, int(edge), int(edge))


def wrong(name, model, result):
    rows = {r["node_id"]: r for r in result["rows"]}
    place = {n: k for k, n in enumerate(rows)}
    if len(rows) != len(result["rows"]):
        yield "two rows of one name"
    for r in rows.values():
        if float(r["forward_ms"]) < 0 or float(r["backward_ms"]) < 0:
            yield "%s takes %s and %s ms" % (r["node_id"], r["forward_ms"], r["backward_ms"])
    if any(place[a] >= place[b] for a, b in result["edges"]):
        yield "an edge backwards"
    fed = {b for _, b in result["edges"]}
    if len(rows) - len(fed) != 1 and not name.startswith("swin_v2"):  # whose positions are an input, too
        yield "rows that nothing feeds: %s" % ", ".join(n for n in rows if n not in fed)
    have = sum(r["parameter_bytes"] for r in rows.values() if not r["tied_with"])
    want = sum(w.numel() * w.element_size() for w in model.parameters())
    if have != want or result["unread"]:
        yield "%d bytes of parameters, not %d; nobody reads %s" % (have, want, result["unread"])


def nodes_kept():
    """Nodes of the autograd graph, which hold activations, that a profiler still has when it begins to measure."""
    profiler = gv_layers.Profiler(Twice(), [torch.randn(4, 32)], gv_layers.mean_square, set())
    gc.collect()
    return sum(hasattr(type(o), "next_functions") for o in gc.get_objects()) if profiler else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if nodes_kept() > 0:
        print("the profiler keeps a graph")
    for spec in sys.argv[1:]:
        torch.manual_seed(1)
        net, inputs = model_of(spec)
        few = spec in MODELS
        result = gv_layers.profile(net.train(), [inputs], repeats=5 if few else 1, warmup=1 if few else 0)
        with open(spec.partition("@")[0] + ".csv", "w") as out:
            gv_layers.write(result, out)
        for text in wrong(spec, net, result):
            print("%s: %s" % (spec, text))
        ratio = result["sum_ms"] / result["step_ms"]
        if few and not 0.3 < ratio < 3:
            print("%s: the rows are %.2f of a step" % (spec, ratio))
        print("%s: %d rows" % (spec, len(result["rows"])), file=sys.stderr)
