#!/usr/bin/env python3
"""dropout.py - embeddings of tiny models in training mode by transformers, with the masks of nn_dropout (lib/nn/nn.h).

Writes dropout.safetensors: for each family of families/, the embeddings of the texts of its expected.safetensors, through the
folder's pooling, and as NAME.tokens the gradient of the token embeddings, of sum(emb * demb); at the rate 0.25 wherever the reference has dropout, with the seed 7 and the draw (i + 1) << 32 of text i.
transformers decides where numbers are dropped; only which ones is computed here.  Needs torch, transformers, safetensors:
    python3 tests/golden/dropout.py
"""
import os
import shutil
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import numpy
import torch
import transformers
from safetensors.torch import load_file, save_file

from families import pooled

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = "albert bert camembert distilbert electra ernie modernbert mpnet nomic_bert roberta xlm-roberta".split()
RATE, SEED, WORD = 0.25, 7, (1 << 64) - 1
EMBEDDINGS, WEIGHTS, ATTENTION, INNER, MLP = range(5)


def rng_hash(start, numbers):
    x = start ^ 0xCBF29CE484222325
    for byte in b"".join((n & WORD).to_bytes(8, "little") for n in numbers):
        x = (x ^ byte) * 0x100000001B3 & WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def finalise(x):
    x = (x ^ x >> 16) * numpy.uint32(0x85EBCA6B)
    x = (x ^ x >> 13) * numpy.uint32(0xC2B2AE35)
    return x ^ x >> 16


def mask(keys, salt, columns):
    rows = []
    for key in keys:
        word = (key ^ salt) * 0x9E3779B97F4A7C15 & WORD
        low, high = numpy.uint32(word & 0xFFFFFFFF), numpy.uint32(word >> 32)
        drawn = finalise(finalise(numpy.arange(columns, dtype=numpy.uint32) ^ low) ^ high)
        rows.append(drawn >= int(RATE * 4294967296))
    return torch.tensor(numpy.stack(rows)) / (1 - RATE)


class Masks:
    """Replaces torch's dropout; the layer is the number of earlier calls for the same place."""

    def begin(self, text, tokens):
        self.keys = [((text + 1) << 32) + t for t in range(tokens)]
        self.calls = {}
        self.place = None

    def dropout(self, x, p=0.5, training=True, inplace=False):
        assert p == RATE and training
        place = WEIGHTS if x.dim() == 4 else self.place
        layer = self.calls.get(place, 0)
        self.calls[place] = layer + 1
        salt = rng_hash(SEED, (place, -1 if place == EMBEDDINGS else layer))
        if place != WEIGHTS:
            return x * mask(self.keys, salt, x.shape[-1])
        heads = [mask(self.keys, salt + h, x.shape[-1]) for h in range(x.shape[1])]
        return x * torch.stack(heads)

    def watch(self, name, module):
        place = ATTENTION
        if "embeddings" in name:
            place = EMBEDDINGS
        elif name.endswith("mlp.drop"):
            place = INNER
        elif name.endswith(("post_mlp_dropout", "ffn.dropout")) or (
                name.endswith("output.dropout") and "attention" not in name):
            place = MLP
        module.register_forward_pre_hook(lambda *_: setattr(self, "place", place))


def open_model(family, folder):
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        shutil.copy(folder + "/config.5.json", copy + "/config.json")
        config = transformers.AutoConfig.from_pretrained(copy)
        for key in ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout",
                    "embedding_dropout", "mlp_dropout"):
            if hasattr(config, key):
                setattr(config, key, RATE)
        return transformers.AutoModel.from_pretrained(
            copy, config=config, attn_implementation="eager", dtype=torch.float64).train()


def main():
    out, masks = {}, Masks()
    torch.nn.functional.dropout = masks.dropout
    for family in FAMILIES:
        folder = f"{HERE}/families/{family}"
        model = open_model(family, folder)
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Dropout):
                masks.watch(name, module)
        values = load_file(folder + "/expected.safetensors")
        ids, starts = values["ids"].long(), values["starts"].tolist()
        rows = []
        for i, (first, past) in enumerate(zip(starts, starts[1:])):
            masks.begin(i, past - first)
            hidden = model(input_ids=ids[None, first:past]).last_hidden_state[0]
            rows.append(pooled(hidden, family))
        emb = torch.stack(rows)
        (emb * values["demb"]).sum().backward()
        out |= {family: emb.detach().float(),
                family + ".tokens": model.get_input_embeddings().weight.grad.float()}
    save_file(out, HERE + "/dropout.safetensors")


main()
