"""A callback by which gv-run may stop and start Hugging Face's Trainer.

    args = TrainingArguments(gv_progress.checkpoint_dir("out"), max_steps=total, ...)
    trainer = Trainer(model, args, ..., callbacks=[gv_transformers.Callback()])
    trainer.train(resume_from_checkpoint=gv_transformers.last(args.output_dir))

It reports optimizer's steps.  When gv-run asks for the GPU the Trainer saves itself at the end of a
step, without evaluating before it, and leaves with 143: in a gang all ranks do at the same step.
"""
import json
import os
import re
import sys

from transformers import TrainerCallback

import gv_progress as gv
import gv_torch


def _whole(path):
    """The Trainer writes its own state last."""
    try:
        with open(os.path.join(path, "trainer_state.json")) as f:
            json.load(f)
        return True
    except (OSError, ValueError):
        return False


def last(where):
    """The newest checkpoint that is whole; None: there is none."""
    names = os.listdir(where) if os.path.isdir(where) else []
    steps = sorted(int(n[11:]) for n in names if re.fullmatch("checkpoint-[0-9]+", n))
    paths = [os.path.join(where, "checkpoint-%d" % n) for n in reversed(steps)]
    return next((p for p in paths if _whole(p)), None)


class Callback(TrainerCallback):
    def __init__(self):
        gv.catch()
        self.leaving = False

    def on_train_begin(self, args, state, control, **kwargs):
        gv.catch()
        self.gang, self.reports = gv_torch.Gang(), gv_torch.Reports()

    def on_step_end(self, args, state, control, **kwargs):
        end = state.global_step >= state.max_steps
        leaving = self.gang.any(gv.stopped()) and not end
        self.reports.step(state.global_step, end or leaving)
        if leaving:
            self.leaving = control.should_save = True
            control.should_evaluate = False
        return control

    def on_save(self, args, state, control, **kwargs):
        self.gang.wait()
        gv.checkpoint(state.global_step)
        if self.leaving:
            sys.exit(gv.PREEMPTED)
