#!/usr/bin/env python3
"""A loop of gv_torch: on one GPU, or on each of a gang with DistributedDataParallel.

It is stopped at the end of a step, saved, and goes on with the samples it had not seen.
"""
import os
import sys

try:
    import torch
except ImportError:
    sys.exit("loop.py: PyTorch is not installed: pip install torch")
import torch.distributed as dist
from torch.utils.data import TensorDataset

import gv_torch  # gv-run and gv-profile say where; else: pip install PREFIX/share/gv-toolkit

total = int(os.environ.get("GV_TOTAL_STEPS") or 1000)
gpu = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if gpu else torch.device("cpu")
if gpu:
    torch.cuda.set_device(device)
else:
    torch.set_num_threads(int(os.environ.get("GV_THREADS", 1)))
gang = int(os.environ.get("WORLD_SIZE", 1)) > 1
if gang:
    dist.init_process_group("nccl" if gpu else "gloo")

torch.manual_seed(1)
x = torch.randn(4096, 64)
data = TensorDataset(x, (x @ torch.randn(64, 10)).argmax(1))
model = torch.nn.Sequential(
    torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(256, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total)

run = gv_torch.Run(every=500, model=model, optimizer=optimizer, schedule=schedule)
ddp = torch.nn.parallel.DistributedDataParallel(model) if gang else model
loader = run.loader(data, 32, total, num_workers=1)
for i, (x, y) in zip(run.steps(total), loader):
    loss = torch.nn.functional.cross_entropy(ddp(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
if run.gang.rank == 0:
    print(f"{run.done} steps, weights {sum(p.double().sum().item() for p in model.parameters()):.9f}")
if gang:
    dist.destroy_process_group()
