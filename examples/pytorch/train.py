#!/usr/bin/env python3
"""An ordinary PyTorch training loop that gv can profile, preempt and resume.

The lines that gv needs end in "# gv"; without gv the script runs as before.
"""
import argparse
import os
import sys

try:
    import torch
except ImportError:
    sys.exit("train.py: PyTorch is not installed: pip install torch")

# gv_progress.py: beside this script, or where gv keeps its files
sys.path.append(os.environ.get("GV_DATA", "/usr/local/share/gv-toolkit"))  # gv
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share"))
import gv_progress as gv  # noqa: E402  # gv

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=int(os.environ.get("GV_TOTAL_STEPS", 1000)))
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--checkpoint", default=".", help="directory")
args = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    torch.set_num_threads(int(os.environ.get("GV_THREADS", torch.get_num_threads())))
torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(64, args.width), torch.nn.ReLU(), torch.nn.Linear(args.width, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
teacher = torch.randn(64, 10)

path = os.path.join(gv.checkpoint_dir(args.checkpoint), "train.pt")  # gv
done = 0
if os.path.exists(path):
    state = torch.load(path, map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    done = state["done"]


def save():
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": done}
    torch.save(state, path + ".new")
    os.replace(path + ".new", path)  # a reader finds the old one or the new one
    gv.checkpoint(done)  # gv


while done < args.steps:
    generator = torch.Generator().manual_seed(done)  # data by step: resuming repeats nothing
    x = torch.randn(args.batch, 64, generator=generator)
    y = (x @ teacher).argmax(1)
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    done += 1
    if done % 10 == 0 or done == args.steps:
        gv.step(done)  # gv
    if gv.stopped():  # gv
        save()  # gv
        sys.exit(gv.PREEMPTED)  # gv
    if done == args.steps:
        print(f"{done} steps, loss {loss.item():.6f}")
    if done % 500 == 0 or done == args.steps:
        save()
