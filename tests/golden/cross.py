#!/usr/bin/env python3
"""cross.py - training of cross-encoders by torch, with the losses of sentence-transformers, for tests/cross.bats.

Writes cross/labelled.jsonl (query, text, label: batches of ROWS lines), cross/lists.jsonl (query, document, negatives and their scores:
batches of LISTS lines) and, for each model of rerank/ with one label and each loss, cross/LOSS_FORM.tsv: loss and norm of the gradient of
each step of torch.optim.AdamW, without dropout.  Needs torch, transformers 5.24, sentence-transformers 6.2:
    python3 tests/golden/cross.py"""
import json
import os
import random
import shutil
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder import losses

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "cross")
STEPS, ROWS, LISTS = 4, 8, 4
WORDS = "the keeper of a light house sees ships at sea 12 red weed , apple".split()
FAMILIES = "bert roberta distilbert electra mpnet modernbert modernbert_mean gte nomic_bert qwen3".split()


def text(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 9)))


def write(name, rows):
    with open(os.path.join(HERE, name), "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


def model_of(form, folder):
    """The model as rerank.bats assembles it: the weights of rerank/FORM, the tokenizer of settings/TOKENIZER."""
    _, tokenizer, kind, longest = next(line.rstrip("\n").split("\t") for line in open(f"{GOLDEN}/rerank/forms.tsv") if line.startswith(form + "\t"))
    shutil.copytree(f"{GOLDEN}/rerank/{form}", folder)
    for name in os.listdir(f"{GOLDEN}/settings/{tokenizer}"):
        if name != "config.json":
            shutil.copy(f"{GOLDEN}/settings/{tokenizer}/{name}", folder)
    config = json.load(open(f"{folder}/tokenizer_config.json"))
    config.update({"model_max_length": int(longest), **({} if kind == "-" else {"tokenizer_class": kind})})
    if tokenizer == "plain":
        config.update({"pad_token": "<pad>"})
    if kind == "PreTrainedTokenizerFast":
        config.update({"pad_token": "[PAD]", "unk_token": "[UNK]"})
    json.dump(config, open(f"{folder}/tokenizer_config.json", "w"))
    return CrossEncoder(folder, device="cpu").eval()


def trace(name, form, loss_of, batches):
    with tempfile.TemporaryDirectory() as temporary:
        model = model_of(form, f"{temporary}/model")
    loss_of = loss_of(model)
    parameters = list(model.parameters())
    decays = lambda p: p.squeeze().dim() >= 2
    optimiser = torch.optim.AdamW([{"params": [p for p in parameters if decays(p)], "weight_decay": 0.1},
                                   {"params": [p for p in parameters if not decays(p)], "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.98), eps=1e-6)
    with open(f"{HERE}/{name}_{form}.tsv", "w") as out:
        print("loss\tgradient_norm", file=out)
        for inputs, labels in batches:
            optimiser.zero_grad(set_to_none=True)
            loss = loss_of(inputs, labels)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(parameters, 1e9)
            print(f"{loss.item():.8g}\t{norm.item():.8g}", file=out)
            optimiser.step()


def labelled_batches(rows, soft=None):
    for i in range(0, len(rows), ROWS):
        batch = rows[i : i + ROWS]
        yield [[r["query"] for r in batch], [r["text"] for r in batch]], torch.tensor([r["label"] for r in batch])


def list_batches(rows, scored):
    for i in range(0, len(rows), LISTS):
        batch = rows[i : i + LISTS]
        yield ([[r["query"] for r in batch], [[r["document"], *r["negatives"]] for r in batch]],
               [torch.tensor([r["document.score"], *r["negatives.score"]]) if scored else torch.tensor([1.0] + [0.0] * len(r["negatives"]))
                for r in batch])


def flat_batches(rows):
    """For bce: documents with the label 1, then negatives with 0."""
    for i in range(0, len(rows), LISTS):
        batch = rows[i : i + LISTS]
        pairs = [(r["query"], r["document"]) for r in batch] + [(r["query"], n) for r in batch for n in r["negatives"]]
        yield [[q for q, _ in pairs], [d for _, d in pairs]], torch.tensor([1.0] * len(batch) + [0.0] * (len(pairs) - len(batch)))


rng = random.Random(40)
shutil.rmtree(HERE, ignore_errors=True)
os.makedirs(HERE)
labelled = [{"query": text(rng), "text": text(rng), "label": rng.choice([0, 1, 1, 0.25])} for _ in range(STEPS * ROWS)]
lists = [{"query": text(rng), "document": text(rng), "negatives": [text(rng) for _ in range(n)], "document.score": round(rng.random() * 3, 2),
          "negatives.score": [round(rng.random() * 2, 2) for _ in range(n)]} for n in (rng.randint(1, 4) for _ in range(STEPS * LISTS))]
write("labelled.jsonl", labelled)
write("lists.jsonl", lists)
for form in FAMILIES:
    trace("bce", form, losses.BinaryCrossEntropyLoss, labelled_batches(labelled))
trace("weighted", "bert", lambda model: losses.BinaryCrossEntropyLoss(model, pos_weight=torch.tensor(3.0)), labelled_batches(labelled))
trace("negatives", "bert", losses.BinaryCrossEntropyLoss, flat_batches(lists))
trace("listnet", "bert", losses.ListNetLoss, list_batches(lists, True))
trace("plain", "bert", losses.ListNetLoss, list_batches(lists, False))
