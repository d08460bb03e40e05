#!/usr/bin/env python3
"""trace.py - ten steps of contrastive training by torch, for tests/train.bats.

Writes, beside itself, for each family a tiny random model (FAMILY/), the batches (pairs.txt, as
tests/support/pairs_stream reads them) and the trace (FAMILY.tsv): loss, rate and norm of the
gradient at each step of torch.optim.AdamW with decay groups, linear warm-up and decay, clipping.
lora/ is an adapter of the tiny BERT as PEFT makes it, lora.tsv the trace of training it alone,
lora_queries.tsv of training it for the queries alone, documents embedded by the base.
reze_targets.jsonl has a drawn target for each row, reze.tsv the trace of training with REZE's cosine term (equation
8) against them, times 30, and reze_lora.tsv that of the adapter.  bert_dot.tsv has dot products for cosines.
bert_ema.safetensors is the average of the tiny BERT's weights over the ten steps, with the decay 0.8.
FAMILY_frozen.tsv is the trace with the weights FROZEN left as they are, bert_frozen.safetensors the others after it.
Needs torch, transformers, peft, safetensors.  Arguments: only these (bert, dot, nomic_bert, lora, reze, frozen, ema).
"""
import fnmatch
import json
import os
import random
import sys

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from torch.optim import swa_utils
from transformers import BertConfig, BertModel, NomicBertConfig, NomicBertModel
from transformers import get_linear_schedule_with_warmup

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, ROWS, VOCABULARY, TEMPERATURE, DOT_TEMPERATURE, REZE = 10, 8, 48, 0.05, 1, 30
COMMON = dict(vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
              intermediate_size=32, max_position_embeddings=64, type_vocab_size=2,
              initializer_range=0.2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
# globs over torch's names; tests/train.bats has them over the names of the files
FROZEN = {"bert": ["embeddings.*", "*layer.0.attention.*", "*layer.1.output.dense.weight"],
          "nomic_bert": ["embeddings.*", "layers.0.*", "*post_mlp_layernorm.weight"]}


def sequence(rng):
    return [2] + [rng.randrange(5, VOCABULARY) for _ in range(rng.randint(2, 10))] + [3]


def batches():
    """Rows (query, document, [negatives]); no text is there twice."""
    rng = random.Random(5)
    return [[(sequence(rng), sequence(rng), [sequence(rng) for _ in range(rng.randint(0, 2) if step % 2 else 0)])
             for _ in range(ROWS)] for step in range(STEPS)]


def write_pairs(all_batches):
    text = lambda ids: " ".join(map(str, ids))
    with open(f"{HERE}/pairs.txt", "w") as out:
        for batch in all_batches:
            for query, document, negatives in batch:
                print("\t".join([text(query), text(document)] + [text(n) for n in negatives]), file=out)
            print(file=out)


def embed(model, sequences):
    """Mean of the last hidden states, one sequence at a time: no padding to get wrong; not of unit length."""
    rows = []
    for ids in sequences:
        hidden = model(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
        rows.append(hidden.last_hidden_state[0].mean(0))
    return torch.stack(rows)


def relation_targets():
    """A target of twice the width for each row of each batch."""
    torch.manual_seed(13)
    return torch.round(torch.randn(STEPS, ROWS, 2 * COMMON["hidden_size"]), decimals=2)


def trace(model, all_batches, path, frozen=None, targets=None, dot=False, average=None):
    decays = lambda p: p.squeeze().dim() >= 2
    parameters = [(n, p) for n, p in model.named_parameters() if "pooler" not in n and p.requires_grad]
    groups = [{"params": [p for _, p in parameters if decays(p)], "weight_decay": 0.1},
              {"params": [p for _, p in parameters if not decays(p)], "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=2e-3, betas=(0.9, 0.98), eps=1e-6)
    schedule = get_linear_schedule_with_warmup(optimiser, 3, 20)
    with open(path, "w") as out:
        print("loss\tlr\tgradient_norm" + ("\treze" if targets is not None else ""), file=out)
        for step, batch in enumerate(all_batches):
            optimiser.zero_grad(set_to_none=True)
            q = embed(model, [r[0] for r in batch])
            d = embed(frozen or model, [r[1] for r in batch] + [n for r in batch for n in r[2]])
            unit = (lambda x: x) if dot else torch.nn.functional.normalize
            logits = unit(q) @ unit(d).T / (DOT_TEMPERATURE if dot else TEMPERATURE)
            loss = torch.nn.functional.cross_entropy(logits, torch.arange(len(batch)))
            reze = torch.zeros(())
            if targets is not None:
                relation = torch.cat((q, d[:len(batch)]), 1)
                reze = (1 - torch.nn.functional.cosine_similarity(relation, targets[step])).mean()
            (loss + REZE * reze).backward()
            norm = torch.nn.utils.clip_grad_norm_([p for _, p in parameters], 2.0)
            told = [loss.item(), schedule.get_last_lr()[0], norm.item()] + [reze.item()] * (targets is not None)
            print("\t".join(f"{x:.7g}" for x in told), file=out)
            optimiser.step()
            if average:
                average.update_parameters(model)
            schedule.step()


def make(family, config, kind, all_batches):
    folder = f"{HERE}/{family}"
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(11)
    model = kind(config).float().eval()
    with torch.no_grad():  # biases and norms that are not where they start
        for name, p in model.named_parameters():
            if p.squeeze().dim() < 2:
                p.add_(0.1 * torch.randn_like(p))
    model.save_pretrained(folder)
    weights = load_file(f"{folder}/model.safetensors")
    save_file({k: v for k, v in weights.items() if "pooler" not in k}, f"{folder}/model.safetensors",
              metadata={"format": "pt"})
    keep = json.load(open(f"{folder}/config.json"))
    json.dump({k: v for k, v in keep.items() if k in {**COMMON, "model_type": 0, "layer_norm_eps": 0,
              "hidden_act": 0, "rope_parameters": 0, "rotary_emb_base": 0, "rotary_emb_fraction": 0,
              "activation_function": 0}}, open(f"{folder}/config.json", "w"), indent=1)
    with open(f"{folder}/vocab.txt", "w") as out:
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        words += list("abcdefghijklmnopqrstuvwxyz") + [f"##{c}" for c in "abcdefghijklmnopq"]
        out.write("".join(w + "\n" for w in words[:VOCABULARY]))
    trace(model, all_batches, f"{HERE}/{family}.tsv")


def make_dot(all_batches):
    base = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).float().eval()
    trace(base, all_batches, f"{HERE}/bert_dot.tsv", dot=True)


def make_lora(all_batches):
    base = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).float().eval()
    torch.manual_seed(12)
    model = get_peft_model(base, LoraConfig(r=4, lora_alpha=6, target_modules=["query", "output.dense"]))
    model.save_pretrained(f"{HERE}/lora")
    os.remove(f"{HERE}/lora/README.md")
    config = json.load(open(f"{HERE}/lora/adapter_config.json"))
    config["base_model_name_or_path"] = "bert"
    json.dump(config, open(f"{HERE}/lora/adapter_config.json", "w"), indent=1)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    trace(model, all_batches, f"{HERE}/lora.tsv")
    model.load_state_dict(start)
    base = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).float().eval().requires_grad_(False)
    trace(model, all_batches, f"{HERE}/lora_queries.tsv", base)


def make_reze(all_batches):
    targets = relation_targets()
    with open(f"{HERE}/reze_targets.jsonl", "w") as out:
        for row in targets.flatten(0, 1).tolist():
            out.write(json.dumps({"relation.emb": [round(x, 2) for x in row]}, separators=(",", ":")) + "\n")
    base = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).float().eval()
    trace(base, all_batches, f"{HERE}/reze.tsv", None, targets)
    base = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).float().eval()
    adapted = PeftModel.from_pretrained(base, f"{HERE}/lora", is_trainable=True)
    trace(adapted, all_batches, f"{HERE}/reze_lora.tsv", None, targets)


def make_frozen(all_batches):
    for family, kind in ("bert", BertModel), ("nomic_bert", NomicBertModel):
        model = kind.from_pretrained(f"{HERE}/{family}", add_pooling_layer=False).float().eval()
        for name, p in model.named_parameters():
            p.requires_grad_(not any(fnmatch.fnmatch(name, glob) for glob in FROZEN[family]))
        trace(model, all_batches, f"{HERE}/{family}_frozen.tsv")
        if family == "bert":
            save_file({n: p.detach() for n, p in model.named_parameters() if p.requires_grad},
                      f"{HERE}/bert_frozen.safetensors")


def make_ema(all_batches):
    model = BertModel.from_pretrained(f"{HERE}/bert", add_pooling_layer=False).float().eval()
    average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.8))
    average.update_parameters(model)  # the first call copies the weights
    trace(model, all_batches, os.devnull, average=average)
    save_file({n: p.detach() for n, p in average.module.named_parameters()}, f"{HERE}/bert_ema.safetensors")


if __name__ == "__main__":
    made = batches()
    wanted = sys.argv[1:] or ["bert", "dot", "nomic_bert", "lora", "reze", "frozen", "ema"]
    write_pairs(made)
    if "bert" in wanted:
        make("bert", BertConfig(**COMMON), BertModel, made)
    if "nomic_bert" in wanted:
        make("nomic_bert", NomicBertConfig(**COMMON), NomicBertModel, made)
    if "dot" in wanted:
        make_dot(made)
    if "lora" in wanted:
        make_lora(made)
    if "reze" in wanted:
        make_reze(made)
    if "frozen" in wanted:
        make_frozen(made)
    if "ema" in wanted:
        make_ema(made)
