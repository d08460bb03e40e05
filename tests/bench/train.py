#!/usr/bin/env python3
"""train.py MODEL PAIRS [bf16] - seconds of each contrastive step by torch, bf16: under autocast, for train.sh."""
import os
import sys
import time

import torch
from transformers import AutoModel

torch.set_num_threads(len(os.sched_getaffinity(0)))
model = AutoModel.from_pretrained(sys.argv[1], torch_dtype=torch.float32).train()
for module in model.modules():
    if isinstance(module, torch.nn.Dropout):
        module.p = 0.0
optimiser = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
batches = [[row.split("\t") for row in b.splitlines()] for b in open(sys.argv[2]).read().strip().split("\n\n")]
for batch in batches:
    ids = torch.tensor([[int(t) for t in row[side].split()] for side in (0, 1) for row in batch])
    start = time.perf_counter()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled="bf16" in sys.argv):
        hidden = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    hidden = hidden.float().mean(1)
    vectors = torch.nn.functional.normalize(hidden, dim=1)
    rows = len(batch)
    loss = torch.nn.functional.cross_entropy(vectors[:rows] @ vectors[rows:].T / 0.03, torch.arange(rows))
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    print(f"{time.perf_counter() - start:.4f}", flush=True)
