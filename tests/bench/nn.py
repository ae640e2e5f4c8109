# The same training steps in PyTorch: nn.py MODEL HEIGHT WIDTH CHANNELS BATCH.
# Prints samples per second of one thread (of its own time), the best of several windows.
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("PyTorch is not installed")
from torch import nn

torch.set_num_threads(1)


def net(rows, height, width, channels, classes):
    layers, c, h, w, flat = [], channels, height, width, False
    for r in rows:
        op, k = r["op"], int(r["k"] or 0)
        s, p = int(r["s"] or (1 if op == "conv" else k or 1)), int(r["p"] or 0)
        if op == "xent":
            break
        if op == "linear" and not flat:
            layers.append(nn.Flatten())
            c, h, w, flat = c * h * w, 1, 1, True
        out = int(r["out"] or (classes if op == "linear" else c))
        if op == "linear":
            layers.append(nn.Linear(c, out))
        elif op == "conv":
            layers.append(nn.Conv2d(c, out, k, s, p))
        elif op == "maxpool":
            layers.append(nn.MaxPool2d(k, s, p))
        elif op == "bn":
            layers.append(nn.BatchNorm2d(c))
        if r["act"] == "relu":
            layers.append(nn.ReLU())
        if k:
            h, w = (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1
        c = out
    return nn.Sequential(*layers)


def main():
    height, width, channels, batch = (int(a) for a in sys.argv[2:6])
    with open(sys.argv[1]) as f:
        names = f.readline().rstrip("\n").split("\t")
        rows = [dict(zip(names, line.rstrip("\n").split("\t"))) for line in f]
    model = net(rows, height, width, channels, 10)
    optimiser = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    x = torch.randn(batch, channels, height, width)
    label = torch.randint(0, 10, (batch,))

    def step():
        optimiser.zero_grad()
        loss_of(model(x), label).backward()
        optimiser.step()

    best = 0
    for _ in range(10):
        start, steps = time.process_time(), 0
        while time.process_time() - start < 0.15:
            step()
            steps += 1
        best = max(best, steps * batch / (time.process_time() - start))
    print("%.0f" % best)


main()
