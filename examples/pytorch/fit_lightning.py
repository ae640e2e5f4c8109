#!/usr/bin/env python3
"""Lightning's Trainer under gv: the lines that end in "# gv" are all it needs."""
import os
import sys

try:
    import torch
    from lightning.pytorch import LightningModule, Trainer, seed_everything
except ImportError:
    sys.exit("fit_lightning.py: Lightning is not installed: pip install lightning")

import gv_lightning  # gv


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def training_step(self, batch, i):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


seed_everything(1)
x = torch.randn(1024, 64)
data = torch.utils.data.TensorDataset(x, (x @ torch.randn(64, 10)).argmax(1))
loader = torch.utils.data.DataLoader(data, batch_size=1024)  # an epoch a step: nothing is seen twice
trainer = Trainer(
    max_steps=int(os.environ.get("GV_TOTAL_STEPS") or 200), max_epochs=-1, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1,
    callbacks=[gv_lightning.Callback("out")],  # gv
    **gv_lightning.gang())  # gv
model = Model()
trainer.fit(model, loader, ckpt_path=gv_lightning.last("out"))  # gv
if trainer.is_global_zero:
    print(f"{trainer.global_step} steps, weights {sum(p.double().sum().item() for p in model.parameters()):.9f}")
