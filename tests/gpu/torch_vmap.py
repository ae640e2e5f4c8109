#!/usr/bin/env python3
"""torch_vmap.py DEVICE MOST MATH SECONDS WORKLOAD...: steps of arrays of B models by
torch.func's vmap over stacked modules, eager and compiled, as CSV rows
program,workload,math,models,step_ms,samples_per_s."""
import os
import sys
import time

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap


PROGRAMS = ["torch-eager"] + ["torch-compile"] * (os.environ.get("GV_BENCH_COMPILE") != "0")

class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers, last = [], 3
        for width in 32, 64, 128:
            layers += [nn.Conv1d(last, width, 1), nn.BatchNorm1d(width, track_running_stats=False), nn.ReLU()]
            last = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.head(self.body(x).amax(2))


class Transformer(nn.Module):
    def __init__(self, d=128, heads=2, depth=2, tokens=32, words=256):
        super().__init__()
        self.token, self.place = nn.Embedding(words, d), nn.Parameter(torch.zeros(tokens, d))
        self.layer = nn.ModuleList(
            nn.ModuleDict({"n1": nn.LayerNorm(d), "qkv": nn.Linear(d, 3 * d), "out": nn.Linear(d, d),
                           "n2": nn.LayerNorm(d), "up": nn.Linear(d, 4 * d), "down": nn.Linear(4 * d, d)})
            for _ in range(depth))
        self.norm, self.head, self.heads = nn.LayerNorm(d), nn.Linear(d, 10), heads

    def forward(self, x):
        h = self.token(x) + self.place
        for l in self.layer:
            n, t, d = h.shape
            q, k, v = l["qkv"](l["n1"](h)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            a = (q @ k.transpose(-1, -2) / (d // self.heads) ** .5).softmax(-1) @ v
            h = h + l["out"](a.transpose(1, 2).reshape(n, t, d))
            h = h + l["down"](nn.functional.gelu(l["up"](l["n2"](h))))
        return self.head(self.norm(h).mean(1))


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def cnn():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10))


WORKLOADS = {  # how to make one, the shape of a batch
    "W1": (lambda: mlp(64, 64, 10), (32, 64)),
    "W2": (lambda: mlp(784, 128, 10), (64, 784)),
    "W3": (PointNet, (16, 3, 128)),
    "W4": (cnn, (16, 1, 16, 16)),
    "W5": (Transformer, (32, 32)),
}


def steps(make, shape, models, device, compiled):
    """A function that does one step of SGD of an array, all models on the same batch.
    Compiled are the gradients, as a CUDA graph on a GPU, whose outputs are read before it is
    launched again; the weights stay where they are."""
    tokens = len(shape) == 2 and shape == WORKLOADS["W5"][1]
    nets = [make().to(device) for _ in range(models)]
    params, buffers = stack_module_state(nets)
    base = make().to(device)
    x = torch.randint(0, 256, shape, device=device) if tokens else torch.randn(shape, device=device)
    y = torch.randint(0, 10, shape[:1], device=device)

    def loss(p, b):
        return nn.functional.cross_entropy(functional_call(base, (p, b), (x,)), y)

    each = vmap(grad(loss), in_dims=(0, 0 if buffers else None))
    params = {k: v.detach().clone() for k, v in params.items()}
    weights = list(params.values())

    def gradient():
        g = each(params, buffers)
        return [g[k] for k in params]

    if compiled:
        gradient = torch.compile(gradient, mode="reduce-overhead" if device.startswith("cuda") else None)

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        with torch.no_grad():
            torch._foreach_add_(weights, gradient(), alpha=-.01)

    return step


def measure(step, device, seconds):
    """Median seconds of a step over five windows."""
    def wait():
        if device.startswith("cuda"):
            torch.cuda.synchronize()

    for _ in range(3):
        step()
    wait()
    windows = []
    for _ in range(5):
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 5 or n == 0:
            for _ in range(5):
                step()
            wait()
            n += 5
        windows.append((time.perf_counter() - start) / n)
    return sorted(windows)[2]


def main():
    device, most, maths, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = maths == "tf32"
    for name in sys.argv[5:]:
        make, shape = WORKLOADS[name]
        models = 1
        while models <= most:
            for program in PROGRAMS:
                try:
                    s = measure(steps(make, shape, models, device, program == "torch-compile"), device, seconds)
                    print(f"{program},{name},{maths},{models},{1000 * s:.6g},{models * shape[0] / s:.6g}", flush=True)
                except Exception as e:  # one that fails leaves its row out, and says why
                    print(f"{program} {name} {models}: {str(e).splitlines()[0]}", file=sys.stderr)
            models *= 2


main()
