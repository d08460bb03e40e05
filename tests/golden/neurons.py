#!/usr/bin/env python3
"""neurons.py - shares of groups of neurons in the activations of the tiny BERT by torch, for tests/neurons.bats.

Writes, beside itself, neurons.jsonl: for each text of ids the shares of 4 groups of neighbouring neurons in each block, of
the last token ("last") and of the sum over the tokens ("mean").  Needs torch and transformers.
"""
import json
import os

import torch
from transformers import BertModel

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = 4

model = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).double().eval()
seen = []
for layer in model.encoder.layer:
    layer.intermediate.register_forward_hook(lambda module, args, out: seen.append(out[0]))


def shares(rows):
    energy = rows.pow(2).sum(0).reshape(GROUPS, -1).sum(1)
    return (energy / energy.sum()).tolist()


with open(f"{HERE}/neurons.jsonl", "w") as out, torch.no_grad():
    for ids in [7], [1, 2, 3], [4, 5, 6, 8]:
        seen.clear()
        model(input_ids=torch.tensor([ids]))
        row = {"last": sum((shares(x[-1:]) for x in seen), []), "mean": sum((shares(x) for x in seen), [])}
        print(json.dumps({k: [round(x, 7) for x in v] for k, v in row.items()}), file=out)
