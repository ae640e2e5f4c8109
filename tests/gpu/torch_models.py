#!/usr/bin/env python3
"""torch_models.py DEVICE MATH SECONDS WORKLOAD...: training steps of one model, eager and
compiled, as CSV rows program,workload,math,models,step_ms,samples_per_s.  WORKLOAD is mlp,
cnn or gpt:HIDDEN:LAYERS:TOKENS:BATCH:WORDS (heads of 128 channels).  bf16 is autocast over
float32 weights, with a fused AdamW for a GPT and SGD otherwise; of a CNN the better of
channels first and last."""
import contextlib
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional


PROGRAMS = ["torch-eager"] + ["torch-compile"] * (os.environ.get("GV_BENCH_COMPILE") != "0")

class Block(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.heads = max(1, hidden // 128)
        self.before, self.between = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (p.view(n, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.before(x)).split(c, 2))
        a = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(n, t, c))
        return x + self.down(functional.gelu(self.up(self.between(x))))


class Gpt(nn.Module):
    def __init__(self, hidden, layers, tokens, words):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, hidden), nn.Embedding(tokens, hidden)
        self.blocks = nn.Sequential(*(Block(hidden) for _ in range(layers)))
        self.last, self.head = nn.LayerNorm(hidden), nn.Linear(hidden, words)

    def forward(self, x):
        return self.head(self.last(self.blocks(self.tokens(x) + self.places.weight)))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(),
                         nn.Linear(2048, 10))


def cnn():
    layers, last = [], 3
    for width, stride in (64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1):
        layers += [nn.Conv2d(last, width, 3, stride, 1), nn.ReLU()]
        last = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, 10))


def workload(name, device):
    """The model, a batch, its labels, samples of it."""
    if name.startswith("gpt:"):
        hidden, layers, tokens, batch, words = (int(v) for v in name.split(":")[1:])
        x = torch.randint(0, words, (batch, tokens), device=device)
        return Gpt(hidden, layers, tokens, words).to(device), x, torch.randint(0, words, (batch, tokens), device=device), batch
    shape = (256, 1, 28, 28) if name == "mlp" else (128, 3, 32, 32)
    x = torch.randn(shape, device=device)
    return (mlp() if name == "mlp" else cnn()).to(device), x, torch.randint(0, 10, shape[:1], device=device), shape[0]


def stepper(name, math, device, compiled, layout):
    model, x, y, samples = workload(name, device)
    if x.dim() == 4:
        model, x = model.to(memory_format=layout), x.contiguous(memory_format=layout)
    run = torch.compile(model) if compiled else model
    on_gpu = device.startswith("cuda")
    if name.startswith("gpt:"):
        optimiser = torch.optim.AdamW(model.parameters(), 1e-4, fused=on_gpu or None)
    else:
        optimiser = torch.optim.SGD(model.parameters(), .01)
    half = torch.autocast("cuda" if on_gpu else "cpu", torch.bfloat16) if math == "bf16" else contextlib.nullcontext()

    def step():
        optimiser.zero_grad(set_to_none=True)
        with half:
            out = run(x)
            loss = functional.cross_entropy(out.flatten(0, -2), y.flatten())
        loss.backward()
        optimiser.step()

    return step, samples


def measure(step, device, seconds):
    """Median seconds of a step over five windows."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    for _ in range(3):
        step()
    wait()
    windows = []
    for _ in range(5):
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 5 or n == 0:
            step()
            n += 1
            if n % 8 == 0:
                wait()
        wait()
        windows.append((time.perf_counter() - start) / n)
    return sorted(windows)[2]


def main():
    device, math, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = math == "tf32"
    for name in sys.argv[4:]:
        for program in PROGRAMS:
            try:
                layouts = [torch.contiguous_format] + [torch.channels_last] * (name == "cnn")
                compiled, times = program == "torch-compile", []
                for layout in layouts:
                    step, samples = stepper(name, math, device, compiled, layout)
                    times.append(measure(step, device, seconds))
                s = min(times)
                print(f"{program},{name},{math},1,{1000 * s:.6g},{samples / s:.6g}", flush=True)
            except Exception as e:  # one that fails leaves its row out, and says why
                print(f"{program} {name}: {(str(e) or repr(e)).splitlines()[0]}", file=sys.stderr)


main()
