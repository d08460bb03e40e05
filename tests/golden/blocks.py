#!/usr/bin/env python3
"""Make blocks/FAMILY.txt: embeddings by transformers of a model that has other blocks of a tiny checkpoint.

A line a text of bert/ids.txt: the mean of the last hidden states, with length 1.  ORDERS names the blocks, from 0; transformers
opens a folder whose tensors have the new numbers.  Needs torch, transformers, safetensors:  python3 tests/golden/blocks.py
"""
import json
import os
import re
import shutil
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

HERE = os.path.dirname(os.path.abspath(__file__))
ORDERS = {"bert": [1, 0], "qwen3": [1], "gemma3_text": [2, 0], "mpnet": [1, 0]}


def rearranged(folder, to, order):
    """A folder with these blocks, each once."""
    shutil.copytree(folder, to)
    listed = folder + "/config.5.json"  # of transformers 5, which lists the layers' types
    config = json.load(open(listed if os.path.exists(listed) else folder + "/config.json"))
    config["num_hidden_layers"] = len(order)
    if "layer_types" in config:
        config["layer_types"] = [config["layer_types"][old] for old in order]
    json.dump(config, open(to + "/config.json", "w"))
    tensors = {}
    for name, values in load_file(folder + "/model.safetensors").items():
        number = re.search(r"(?<=\.)\d+(?=\.)", name)
        if number and int(number[0]) not in order:
            continue
        if number:
            name = name[: number.start()] + str(order.index(int(number[0]))) + name[number.end():]
        tensors[name] = values
    save_file(tensors, to + "/model.safetensors", metadata={"format": "pt"})


def main():
    os.makedirs(HERE + "/blocks", exist_ok=True)
    texts = [[int(i) for i in line.split()] for line in open(HERE + "/bert/ids.txt")]
    for family, order in ORDERS.items():
        with tempfile.TemporaryDirectory() as work:
            rearranged(f"{HERE}/families/{family}", work + "/model", order)
            model = AutoModel.from_pretrained(work + "/model", dtype=torch.float64, attn_implementation="eager").eval()
        with open(f"{HERE}/blocks/{family}.txt", "w") as out, torch.no_grad():
            for ids in texts:
                x = model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0)
                print(*(f"{v:.9f}" for v in (x / x.norm()).tolist()), file=out)


main()
