# Training steps of a plan of two stages by torch.distributed.pipelining, two processes over
# gloo, one thread each: pipeline.py PLAN SCHEDULE HxWxC BATCH MICRO_BATCHES.  Prints seconds
# a step, the best of several windows.  PLAN: linear, conv and maxpool rows, cut by stage.
import csv
import os
import socket
import subprocess
import sys
import time

try:
    import torch
    import torch.distributed as dist
    from torch.distributed import pipelining
except ImportError:
    sys.exit("PyTorch is not installed")
from torch import nn

SCHEDULES = {"gpipe": pipelining.ScheduleGPipe, "flush": pipelining.Schedule1F1B}
CLASSES, WINDOWS, STEPS = 10, 4, 3


def stages(plan, shape):
    """The modules of each stage, and what one sample is as it enters it."""
    x = torch.zeros(1, shape[2], shape[0], shape[1])
    cut, entering = [[], []], [None, None]
    for row in csv.DictReader(open(plan)):
        mine = cut[int(row["stage"])]
        if entering[int(row["stage"])] is None:
            entering[int(row["stage"])] = x
        new = []
        if row["op"] == "linear":
            if x.dim() > 2:
                new.append(nn.Flatten())
            new.append(nn.Linear(x[0].numel(), int(row["out"] or CLASSES)))
        elif row["op"] == "conv":
            new.append(nn.Conv2d(x.shape[1], int(row["out"]), int(row["k"]), padding=int(row["p"])))
        elif row["op"] == "maxpool":
            new.append(nn.MaxPool2d(int(row["k"])))
        if row.get("act") == "relu":
            new.append(nn.ReLU())
        for m in new:
            x = m(x)
        mine.extend(new)
    return [nn.Sequential(*m) for m in cut], entering


def worker(rank, plan, schedule, shape, batch, micro_batches):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    parts, entering = stages(plan, shape)
    n = batch // micro_batches
    entry = entering[rank].detach().expand(n, *entering[rank].shape[1:]).clone()
    entry.requires_grad_(rank > 0)  # without it no gradient goes back
    stage = pipelining.PipelineStage(
        parts[rank], rank, 2, torch.device("cpu"), input_args=(entry,), output_args=(parts[rank](entry),)
    )
    pipe = SCHEDULES[schedule](stage, micro_batches, loss_fn=nn.functional.cross_entropy)
    optimiser = torch.optim.SGD(parts[rank].parameters(), 0.01)
    x = torch.randn(batch, shape[2], shape[0], shape[1])
    target = torch.randint(0, CLASSES, (batch,))

    def step():
        optimiser.zero_grad()
        if rank == 0:
            pipe.step(x)
        else:
            pipe.step(target=target, losses=[])
        optimiser.step()

    step()
    best = float("inf")
    for _ in range(WINDOWS):
        dist.barrier()
        began = time.perf_counter()
        for _ in range(STEPS):
            step()
        dist.barrier()
        best = min(best, (time.perf_counter() - began) / STEPS)
    if rank == 0:
        print(best)
    dist.destroy_process_group()


def main():
    plan, schedule = sys.argv[1:3]
    shape = [int(a) for a in sys.argv[3].split("x")]
    batch, micro_batches = int(sys.argv[4]), int(sys.argv[5])
    if "RANK" in os.environ:
        worker(int(os.environ["RANK"]), plan, schedule, shape, batch, micro_batches)
        return
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    both = [
        subprocess.Popen([sys.executable] + sys.argv, env={**os.environ, **where, "RANK": str(r)})
        for r in range(2)
    ]
    sys.exit(max(p.wait() for p in both))


main()
