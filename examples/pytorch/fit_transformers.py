#!/usr/bin/env python3
"""Hugging Face's Trainer under gv: the lines that end in "# gv" are all it needs."""
import os
import sys

try:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
except ImportError:
    sys.exit("fit_transformers.py: transformers is not installed: pip install 'transformers[torch]'")

import gv_progress  # gv
import gv_transformers  # gv

torch.manual_seed(1)
text = torch.randint(0, 64, (512, 16))
data = [{"input_ids": t, "labels": t} for t in text]
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=2))
args = TrainingArguments(
    output_dir=gv_progress.checkpoint_dir("out"),  # gv
    max_steps=int(os.environ.get("GV_TOTAL_STEPS") or 200),
    per_device_train_batch_size=8, save_steps=100, save_total_limit=2, report_to="none", disable_tqdm=True,
    logging_strategy="no", use_cpu=not torch.cuda.is_available())
trainer = Trainer(model, args, train_dataset=data, callbacks=[gv_transformers.Callback()])  # gv
trainer.train(resume_from_checkpoint=gv_transformers.last(args.output_dir))  # gv
if trainer.is_world_process_zero():
    print(f"{trainer.state.global_step} steps, weights {sum(p.double().sum().item() for p in model.parameters()):.9f}")
