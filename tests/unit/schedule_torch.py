# What gv-train.schedule.c asks: for each line "kind lr warmup start total end power step
# gamma n" of a file the n rates that PyTorch's schedulers give, one a line.  Status 3
# when there is no PyTorch.
import sys
import warnings

try:
    import torch
except ImportError:
    sys.exit(3)
from torch.optim import lr_scheduler as s

warnings.simplefilter("ignore")


def behind(opt, kind, lr, total, end, power, step, gamma):
    if kind == "constant":
        return s.LambdaLR(opt, lambda t: 1)
    if kind == "step":
        return s.StepLR(opt, step, gamma)
    if kind == "linear":
        return s.LinearLR(opt, 1, end, total)
    if kind == "polynomial":
        return s.PolynomialLR(opt, total, power)
    return s.CosineAnnealingLR(opt, total, end * lr)


for line in open(sys.argv[1]):
    kind, lr, warmup, start, total, end, power, step, gamma, n = line.split()
    lr, start, end, power, gamma = map(float, (lr, start, end, power, gamma))
    warmup, total, step, n = map(int, (warmup, total, step, n))
    opt = torch.optim.SGD([torch.zeros(1, dtype=torch.float64)], lr=lr)
    if kind == "one-cycle":
        up = warmup / total if warmup else 0.3
        sch = s.OneCycleLR(opt, lr, total, pct_start=up, cycle_momentum=False,
                           div_factor=1 / start, final_div_factor=start / end)
    elif warmup:
        sch = s.SequentialLR(
            opt, [s.LinearLR(opt, start, 1, warmup),
                  behind(opt, kind, lr, total - warmup, end, power, step, gamma)], [warmup])
    else:
        sch = behind(opt, kind, lr, total, end, power, step, gamma)
    for i in range(n):
        print(repr(float(opt.param_groups[0]["lr"])))
        opt.step()
        if i + 1 < n:
            sch.step()
