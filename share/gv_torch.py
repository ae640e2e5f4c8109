"""A training loop of PyTorch that gv-run may stop and start again.

    run = gv_torch.Run(model=model, optimizer=optimizer)  # goes on from what is saved
    for i in run.steps(total):                            # run.done .. total - 1
        ...                                               # step i

At the end of a step it reports, and when gv-run asks for the GPU it saves and leaves with 143.
It saves every so many steps (every=), too, and at the end.  In a gang make the Run behind
init_process_group(), on all ranks: they stop behind the same step, and rank 0 saves for all.

What is saved: everything given by name (state_dict, load_state_dict), and torch's random numbers
of each rank.  Those of Python and NumPy are the script's.  Data go on where they were with

    loader = run.loader(data, 64, total, num_workers=4)   # a DataLoader
    for i, batch in zip(run.steps(total), loader):        # in this order

or DataLoader(data, batch_sampler=run.batches(len(data), 64, total)).
"""
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

import gv_progress as gv


def outlive(worker):
    """For DataLoader(worker_init_fn=): a worker that leaves at SIGTERM only if its parent sends it.

    gv-run sends it to the script alone, but torchrun to all processes of a rank; a loader whose
    worker has died fails in the middle of the step behind which the script would save itself.
    """
    parent = os.getppid()

    def wait():
        while signal.sigwaitinfo({signal.SIGTERM}).si_pid != parent:
            pass
        os._exit(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # of the threads to come, too
    threading.Thread(target=wait, daemon=True).start()


class _Outlive:
    """The same, and what the script wants of a worker; goes through pickle."""

    def __init__(self, more):
        self.more = more

    def __call__(self, worker):
        outlive(worker)
        if self.more is not None:
            self.more(worker)


class Gang:
    """What the ranks agree on, on their CPUs: a step on the GPU is not waited for.  All make it."""

    def __init__(self):
        self.group = None
        self.rank, self.size = 0, 1
        if dist.is_available() and dist.is_initialized():
            self.rank, self.size = dist.get_rank(), dist.get_world_size()
        if self.size > 1:
            self.group = dist.new_group(backend="gloo")

    def any(self, flag):
        """Whether it is true on one of them."""
        if self.group is None:
            return bool(flag)
        told = torch.tensor([int(flag)])
        dist.all_reduce(told, dist.ReduceOp.MAX, group=self.group)
        return bool(told.item())

    def gather(self, value):
        """The values of all, in a list, on rank 0."""
        if self.group is None:
            return [value]
        values = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, values, dst=0, group=self.group)
        return values

    def wait(self):
        self.any(False)


class Reports:
    """Steps, told at most 20 times a second: on a shared file system a line takes a while."""

    def __init__(self):
        self.at = 0

    def step(self, n, last=False):
        now = time.monotonic()
        if last or now >= self.at:
            gv.step(n)
            self.at = now + 0.05


class Run:
    def __init__(self, name="run.pt", directory=".", every=0, **state):
        gv.catch()
        self.gang, self.reports = Gang(), Reports()
        self.path = os.path.join(gv.checkpoint_dir(directory), name)
        self.every, self.state, self.done, self.random = every, state, 0, None
        if os.path.exists(self.path):
            self._load()

    def _load(self):
        saved = torch.load(self.path, map_location="cpu")
        for name, part in self.state.items():
            part.load_state_dict(saved["state"][name])
        self.done = saved["done"]
        if self.gang.rank < len(saved["random"]):
            self.random = saved["random"][self.gang.rank]

    def _random(self):
        """As they were, once: behind what a loader draws when it begins."""
        if self.random is not None:
            cpu, gpu = self.random
            torch.set_rng_state(cpu)
            if gpu is not None and torch.cuda.is_available():
                torch.cuda.set_rng_state(gpu)
        self.random = None

    def save(self):
        """On all ranks, which leave it when the state is on disk."""
        gpu = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
        random = self.gang.gather((torch.get_rng_state(), gpu))
        if self.gang.rank == 0:
            state = {name: part.state_dict() for name, part in self.state.items()}
            with open(self.path + ".new", "wb") as f:
                torch.save({"done": self.done, "state": state, "random": random}, f)
                f.flush()
                os.fsync(f.fileno())
            os.replace(self.path + ".new", self.path)  # a reader finds the old one or the new one
            gv.checkpoint(self.done)
        self.gang.wait()

    def steps(self, total):
        self._random()
        while self.done < total:
            yield self.done
            self.done += 1
            end = self.done == total
            leaving = self.gang.any(gv.stopped()) and not end
            self.reports.step(self.done, end or leaving)
            if end or leaving or (self.every and self.done % self.every == 0):
                self.save()
            if leaving:
                sys.exit(gv.PREEMPTED)

    def loader(self, data, size, total, seed=0, worker_init_fn=None, **options):
        """A DataLoader of these batches, whose workers outlive a SIGTERM; options as it takes them."""
        from torch.utils.data import DataLoader
        return DataLoader(data, batch_sampler=self.batches(len(data), size, total, seed),
                          worker_init_fn=_Outlive(worker_init_fn), **options)

    def batches(self, n, size, total, seed=0):
        """The samples of this rank's batches, from the next step on: each epoch in an order of its own.

        Batches have size samples on each rank; those of an epoch that fill no step are left out.
        """
        per_epoch = n // (size * self.gang.size)
        if per_epoch == 0:
            raise ValueError("%d samples are less than a step" % n)
        for step in range(self.done, total):
            epoch, at = divmod(step, per_epoch)
            if at == 0 or step == self.done:
                order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
            first = (at * self.gang.size + self.gang.rank) * size
            yield order[first:first + size]
