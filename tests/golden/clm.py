#!/usr/bin/env python3
"""Reference losses and gradients of causal language modelling with the tiny decoders, into clm/.

texts.txt          ten texts, a line of token ids each; one has nothing to predict, and takes no part below
qwen3/             a checkpoint whose output matrix is its own; the others are those of families/,
                   of some another configuration (CHANGED)
NAME.safetensors   loss and balance on the texts, and the gradient of loss + weight balance (grad.NAME)
NAME.tsv           loss, balance and norm of that gradient in five steps of torch.optim.AdamW on all texts
The loss is that of transformers' model for labels on a padded batch, balance its load_balancing_loss_func; of DeepSeekMoE,
which it lacks, that of the module of families.py.  In double throughout (adapter.py).
Needs torch, transformers 5.23, peft, safetensors:  python3 tests/golden/clm.py
"""
import json
import os
import shutil
import tempfile

import families
import torch
import torch.nn.functional as F
import transformers
from adapter import Double
from safetensors.torch import load_file, save_file
from transformers.models.olmoe.modeling_olmoe import load_balancing_loss_func

OUT = os.path.join(families.HERE, "..", "clm")
WEIGHT, STEPS, LENGTHS = 0.3, 5, [4, 1, 2, 8, 19, 3, 5, 12, 7, 6]
CASES = {"qwen3": "clm/qwen3", "qwen3_tied": "families/qwen3", "olmoe": "families/olmoe",
         "qwen2_moe": "families/qwen2_moe", "deepseek": "families/deepseek",
         "gemma3_text": "families/gemma3_text", "llama": "families/llama"}
CHANGED = {"gemma3_text": {"use_bidirectional_attention": False}, "llama": {"tie_word_embeddings": True}}
CLASS = {"qwen3": "Qwen3ForCausalLM", "olmoe": "OlmoeForCausalLM", "qwen2_moe": "Qwen2MoeForCausalLM",
         "gemma3_text": "Gemma3ForCausalLM", "llama": "LlamaForCausalLM"}


def make_untied(folder):
    """Qwen3 with an output matrix of its own; the rest as in families/."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(families.HERE, "qwen3", "config.json")) as f:
        config = json.load(f) | {"tie_word_embeddings": False}
    families.write(folder, "config.json", config)
    weights = {"model." + k: v for k, v in load_file(os.path.join(families.HERE, "qwen3", "model.safetensors")).items()}
    weights["lm_head.weight"] = torch.randn(families.V, config["hidden_size"],
                                            generator=torch.Generator().manual_seed(1)) / 4
    save_file(weights, folder + "/model.safetensors", metadata={"format": "pt"})
    os.chmod(folder + "/model.safetensors", 0o644)


class Plain(families.Reference):
    """DeepSeekMoE, computed text by text."""

    def __init__(self, family, folder, config):
        super().__init__(family, folder, config)
        self.parameters = dict(self.w)

    def losses(self, texts):
        runs = [self.run(text) for text in texts]
        logits = torch.cat([F.linear(hidden[-1][:-1], self.w["lm_head.weight"]) for hidden, _ in runs])
        routers = tuple(torch.cat([r[n] for _, r in runs]) for n in runs[0][1])
        balance = load_balancing_loss_func(
            routers, self.config["n_routed_experts"], self.config["num_experts_per_tok"])
        return F.cross_entropy(logits, torch.cat([text[1:] for text in texts])), balance, routers


class Padded(families.Reference):
    """All texts at once, as transformers trains."""

    def __init__(self, family, folder, config):
        self.family, self.config = family, config
        extra = {"experts_implementation": "eager"} if "moe" in family else {}
        self.model = getattr(transformers, CLASS[family]).from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager", **extra).eval()
        self.model.router_aux_loss_coef = WEIGHT
        self.parameters = dict(self.model.named_parameters())

    def losses(self, texts):
        pad = lambda value: torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=value)
        mask = (pad(-1) >= 0).long()
        extra = {"output_router_logits": True} if "moe" in self.family else {}
        out = self.model(input_ids=pad(families.FIRST), attention_mask=mask, labels=pad(-100), **extra)
        balance = getattr(out, "aux_loss", None)
        routers = [r.view(len(mask.flatten()), -1)[mask.flatten() > 0] for r in getattr(out, "router_logits", ())]
        return (out.loss, 0 * out.loss, []) if balance is None else (out.loss - WEIGHT * balance, balance, routers)


def trace(reference, texts, path):
    """Five steps on the same batch."""
    decays = lambda p: p.squeeze().dim() >= 2
    groups = [{"params": [p for p in reference.parameters.values() if decays(p)], "weight_decay": 0.1},
              {"params": [p for p in reference.parameters.values() if not decays(p)], "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=5e-3, betas=(0.9, 0.98), eps=1e-6)
    with open(path, "w") as out:
        print("loss\tgradient_norm\tbalance", file=out)
        for _ in range(STEPS):
            optimiser.zero_grad()
            with Double():
                loss, balance, _ = reference.losses(texts)
                (loss + WEIGHT * balance).backward()
            norm = torch.nn.utils.clip_grad_norm_(reference.parameters.values(), 0.5)
            print(f"{loss.item():.9g}\t{norm.item():.9g}\t{balance.item():.9g}", file=out)
            optimiser.step()


def make(name, texts):
    """Returns False if a token's choice of experts is too close to be compared."""
    folder = os.path.join(families.HERE, "..", CASES[name])
    with open(folder + "/config.json") as f:
        config = json.load(f)
    family = config["model_type"]
    if name in CHANGED:
        config |= CHANGED[name]
        folder = shutil.copytree(folder, tempfile.mkdtemp(), dirs_exist_ok=True)
        families.write(folder, "config.json", config)
    reference = (Plain if family in families.PLAIN else Padded)(family, folder, config)
    with Double():
        loss, balance, routers = reference.losses(texts)
    if len(routers) and families.margin(dict(enumerate(routers)), families.experts_of_a_token(config)) < 0.02:
        return False
    stored = load_file(folder + "/model.safetensors")
    out = {"loss": loss[None], "balance": balance[None]}
    for key, g in reference.gradients(loss + WEIGHT * balance).items():
        out["grad." + (key if key in stored else key.removeprefix("model."))] = g
    assert {"grad." + k for k in stored} == set(out) - {"loss", "balance"}, set(out)
    families.write_values(OUT, name, out)
    os.chmod(os.path.join(OUT, name + ".safetensors"), 0o644)
    trace(reference, texts, os.path.join(OUT, name + ".tsv"))
    print(name, float(loss.detach()), float(balance.detach()))
    return True


if __name__ == "__main__":
    os.umask(0o022)
    torch.set_num_threads(1)
    make_untied(os.path.join(OUT, "qwen3"))
    for seed in range(1000):
        generator = torch.Generator().manual_seed(seed)
        ids = torch.randint(families.FIRST, families.V, (sum(LENGTHS),), generator=generator).split(LENGTHS)
        if all(make(name, [text for text in ids if len(text) > 1]) for name in CASES):
            break
    with open(os.path.join(OUT, "texts.txt"), "w") as f:
        f.writelines(" ".join(map(str, text.tolist())) + "\n" for text in ids)
    print("seed", seed)
