"""A callback by which gv-run may stop and start a Trainer of Lightning.

    trainer = Trainer(max_steps=total, callbacks=[gv_lightning.Callback()], **gv_lightning.gang())
    trainer.fit(model, loader, ckpt_path=gv_lightning.last("out"))

It reports optimizer's steps.  When gv-run asks for the GPU it saves at the end of a step, in
$GV_CHECKPOINT_DIR or the given directory, and leaves with 143: in a gang all ranks do at the same
step.  Lightning itself would have left with 0.  Within an epoch a loader goes on where it was if it
has state_dict and load_state_dict, as torchdata's StatefulDataLoader has; others begin anew.
"""
import os
import re
import shutil
import sys

try:
    if "pytorch_lightning" in sys.modules:  # the same Lightning by its older name
        raise ImportError
    from lightning.pytorch import Callback as Base
except ImportError:
    from pytorch_lightning import Callback as Base

import gv_progress as gv
import gv_torch


def gang():
    """What a Trainer is told of the gang that gv-run has started."""
    here = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    return {"devices": here, "num_nodes": int(os.environ.get("WORLD_SIZE", 1)) // here}


def _saved(where):
    names = os.listdir(where) if os.path.isdir(where) else []
    return sorted(int(n[3:-5]) for n in names if re.fullmatch("gv-[0-9]+[.]ckpt", n))


def last(directory="."):
    """The newest checkpoint; None: there is none."""
    where = gv.checkpoint_dir(directory)
    steps = _saved(where)
    return os.path.join(where, "gv-%d.ckpt" % steps[-1]) if steps else None


def _remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.remove(path)


def _begin_epoch(fit):
    """After a checkpoint made behind the last batch of an epoch a new epoch begins.

    Lightning takes it for one that goes on and does not count it: a run that is stopped there
    a second time would have one epoch's samples twice.
    """
    batches = fit.epoch_loop
    if (getattr(fit, "restarted_mid_epoch", False) and batches.restarted_on_train_batch_end
            and batches.batch_progress.is_last_batch):
        fit.reset_restart_stage()


class Callback(Base):
    def __init__(self, directory=".", every=0):
        """every: saves each so many steps as well, and the end is saved."""
        gv.catch()
        self.where, self.every = gv.checkpoint_dir(directory), every

    def on_train_start(self, trainer, module):
        gv.catch()  # Lightning's own handler would talk to other ranks in the middle of a step
        self.gang, self.reports = gv_torch.Gang(), gv_torch.Reports()
        self.seen = trainer.global_step
        _begin_epoch(trainer.fit_loop)
        if self.gang.any(gv.stopped()):
            sys.exit(gv.PREEMPTED)

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        n = trainer.global_step
        if n == self.seen:  # in the middle of a step that accumulates gradients
            return
        self.seen = n
        end = n == trainer.max_steps
        leaving = self.gang.any(gv.stopped()) and not end
        self.reports.step(n, end or leaving)
        if leaving or end or (self.every and n % self.every == 0):
            self._save(trainer, n)
        if leaving:
            sys.exit(gv.PREEMPTED)

    def _save(self, trainer, n):
        path = os.path.join(self.where, "gv-%d.ckpt" % n)
        trainer.save_checkpoint(path + ".new")
        self.gang.wait()
        if self.gang.rank == 0:
            os.replace(path + ".new", path)
            for old in _saved(self.where):
                if old != n:
                    _remove(os.path.join(self.where, "gv-%d.ckpt" % old))
            gv.checkpoint(n)
        self.gang.wait()
