#!/usr/bin/env python3
"""Make projection/: a tiny Qwen3 that sees both ways and projects each token before the mean, as voyage-4-nano does.

Its file of weights has "linear.weight" [num_labels, width], its modules.json the Transformer, the mean and Normalize.
embeddings.txt: a line a text of bert/ids.txt, by transformers' Qwen3 in double precision with a mask of zeros, then the
projection of each token, their mean, length 1.  Needs torch, transformers, safetensors:  python3 tests/golden/projection.py
"""
import json
import os
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from safetensors.torch import load_file, save_file
from transformers import Qwen3Model

HERE = os.path.dirname(os.path.abspath(__file__))
TO, LABELS = HERE + "/projection", 6


def write(name, content):
    os.makedirs(os.path.dirname(f"{TO}/{name}"), exist_ok=True)
    with open(f"{TO}/{name}", "w") as out:
        json.dump(content, out, indent=2)
        out.write("\n")


def main():
    shutil.rmtree(TO, ignore_errors=True)
    config = json.load(open(HERE + "/families/qwen3/config.json"))
    config |= {"num_labels": LABELS, "use_bidirectional_attention": True}
    write("config.json", config)
    kinds = "Transformer", "Pooling", "Normalize"
    write("modules.json", [{"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": "sentence_transformers.models." + kind}
                           for i, kind in enumerate(kinds)])
    write("1_Pooling/config.json", {"word_embedding_dimension": LABELS, "pooling_mode_mean_tokens": True})
    tensors = load_file(HERE + "/families/qwen3/model.safetensors")
    tensors.pop("lm_head.weight", None)
    if not any(name.startswith("model.") for name in tensors):
        tensors = {"model." + name: values for name, values in tensors.items()}
    width = config["hidden_size"]
    tensors["linear.weight"] = 0.5 * torch.randn((LABELS, width), generator=torch.Generator().manual_seed(1))
    save_file(tensors, TO + "/model.safetensors", metadata={"format": "pt"})
    model = Qwen3Model.from_pretrained(HERE + "/families/qwen3", dtype=torch.float64, attn_implementation="eager").eval()
    project = tensors["linear.weight"].double()
    with open(TO + "/embeddings.txt", "w") as out, torch.no_grad():
        for line in open(HERE + "/bert/ids.txt"):
            ids = torch.tensor([[int(i) for i in line.split()]])
            sees_all = torch.zeros((1, 1, ids.shape[1], ids.shape[1]), dtype=torch.float64)
            x = model(input_ids=ids, attention_mask={"full_attention": sees_all}).last_hidden_state[0]
            y = (x @ project.T).mean(0)
            print(*(f"{v:.9f}" for v in (y / y.norm()).tolist()), file=out)


main()
