#!/usr/bin/env python3
"""gates.py MODEL IDS GATES - seconds of PEFT for the texts of IDS in batches of 32, medians of five: without an adapter,
with one, and with 50 by turns, which it changes between batches of one adapter's texts; for gates.sh."""
import statistics
import sys
import time

import torch
from peft import PeftModel
from transformers import AutoModel

BATCH, RUNS, GATES = 32, 5, 50
model = AutoModel.from_pretrained(sys.argv[1], torch_dtype=torch.float32).eval()
texts = [[int(i) for i in line.split()] for line in open(sys.argv[2])]


def encode(rows):
    with torch.no_grad():
        for first in range(0, len(rows), BATCH):
            ids = torch.tensor(rows[first:first + BATCH])
            model(input_ids=ids).last_hidden_state.mean(1)


def seconds(work):
    times = []
    for _ in range(RUNS):
        began = time.time()
        work()
        times.append(time.time() - began)
    return statistics.median(times)


def by_turns():
    for gate in range(GATES):
        model.set_adapter(f"g{gate + 1}")
        encode(texts[gate::GATES])


base = seconds(lambda: encode(texts))
model = PeftModel.from_pretrained(model, f"{sys.argv[3]}/g1", adapter_name="g1").eval()
one = seconds(lambda: encode(texts))
for number in range(2, GATES + 1):
    model.load_adapter(f"{sys.argv[3]}/g{number}", adapter_name=f"g{number}")
many = seconds(by_turns)
print(f"PEFT: one gate; beside: none\t{one:.4f}\t{base:.4f}")
print(f"PEFT: 50 gates, swapped; beside: none\t{many:.4f}\t{base:.4f}")
