# Training steps of share/models/gpt-small in PyTorch: gpt.py CONTEXT BATCH CLASSES.
# Prints samples per second of one thread (of its own time), the best of several windows.
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("PyTorch is not installed")
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
LAYERS, WIDTH, HEADS = 4, 256, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (
            p.view(n, t, HEADS, c // HEADS).transpose(1, 2)
            for p in self.qkv(self.before(x)).split(c, 2)
        )
        a = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(n, t, c))
        return x + self.narrow(functional.gelu(self.wide(self.between(x))))


class Gpt(nn.Module):
    def __init__(self, context, classes):
        super().__init__()
        self.tokens, self.places = nn.Embedding(classes, WIDTH), nn.Embedding(context, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.last, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, classes, bias=False)

    def forward(self, x):
        x = self.tokens(x) + self.places.weight[: x.shape[1]]
        return self.head(self.last(self.blocks(x)))


def main():
    context, batch, classes = (int(a) for a in sys.argv[1:4])
    model = Gpt(context, classes)
    optimiser = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    x = torch.randint(0, classes, (batch, context))
    label = torch.randint(0, classes, (batch * context,))

    def step():
        optimiser.zero_grad()
        functional.cross_entropy(model(x).view(-1, classes), label).backward()
        optimiser.step()

    best = 0
    for _ in range(10):
        start, steps = time.process_time(), 0
        while time.process_time() - start < 0.15:
            step()
            steps += 1
        best = max(best, steps * batch / (time.process_time() - start))
    print("%.2f" % best)


main()
