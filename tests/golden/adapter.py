#!/usr/bin/env python3
"""Make adapter/: LoRA adapters as PEFT saves them, and what the tiny models give with them.

CASE/adapter_config.json, adapter_model.safetensors   as saved by PEFT
CASE/embeddings.txt   mean, normalised embeddings of bert/ids.txt (or nomic_bert's), the adapter not merged
CASE/gradients.safetensors   where all pairs have one rank: ids, starts, what d loss / d embeddings is (demb), and the
                      gradient of each A and B (grad.NAME), in double throughout (Double); printed is how far
                      PEFT's own in float32 are from it
Cases: plain   BERT, rank 4 of query and value
       mixed   BERT, rsLoRA, other ranks and alphas for some modules, one layer of the MLPs
       fused   the layout of NomicBERT: one module Wqkv; the last layer only
       qwen3   every projection, on Qwen3ForCausalLM, whose names have a prefix that the file lacks
       modern  ModernBERT's Wqkv, Wi and Wo; here the file has the prefix
       pooled  all-linear, which includes BERT's unused pooler; patterns that are regular
               expressions.  pooler.txt: what its weight, the identity, becomes when all is merged; adapter_model.bin: the
               tensors as torch.save writes them
       native_nomic, native_gte   the modules that transformers 5 has, which are others than the checkpoints'
All from qwen3 on adapt most linear layers and are drawn of deviation 0.2, a little above that with which PEFT starts A. At
0.5, pairs outweigh the matrices that they are added to, and float32 can be farther than 1e-5 from double, PEFT's as ours
(tests/bench/adapters.py).
Needs torch, transformers, peft, safetensors:  python3 tests/golden/adapter.py
"""
import importlib.util
import os
import shutil
import sys
import tempfile

import torch
import torch.nn.functional as F
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from torch.overrides import TorchFunctionMode
from transformers import AutoModel, AutoModelForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "adapter")
spec = importlib.util.spec_from_file_location("tiny", os.path.join(HERE, "model.py"))
tiny = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tiny)

CASES = {
    "plain": ("bert", dict(r=4, lora_alpha=6, target_modules=["query", "value"])),
    "mixed": ("bert", dict(
        r=3, lora_alpha=5, use_rslora=True, target_modules=["query", "attention.output.dense", "key"],
        rank_pattern={"1.attention.self.query": 2, "key": 1},
        alpha_pattern={"^encoder.layer.0.attention.self.key": 7})),
    "fused": ("nomic_bert", dict(r=2, lora_alpha=4, target_modules=["Wqkv", "fc2"],
                                 layers_to_transform=[1], layers_pattern="layers")),
    "qwen3": ("families/qwen3", dict(
        r=3, lora_alpha=4, task_type="CAUSAL_LM",
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])),
    "modern": ("families/modernbert", dict(r=2, lora_alpha=3, target_modules=["Wqkv", "Wi", "Wo"])),
    "pooled": ("families/bert", dict(
        r=2, lora_alpha=3, target_modules="all-linear",
        rank_pattern={r"encoder\.layer\.\d+\.output\.dense": 3, r"^pooler\.d.*": 1},
        alpha_pattern={r"(query|key)": 5, r"layer.0.attention.*": 7})),
    "native_nomic": ("families/nomic_bert", dict(
        r=2, lora_alpha=3, target_modules=["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"],
        rank_pattern={"v_proj": 3}, alpha_pattern={"q_proj": 5})),
    "native_gte": ("families/gte", dict(
        r=2, lora_alpha=3, target_modules="all-linear", rank_pattern={r"layers\.1\..*gate_proj": 1})),
}
DEVIATION = {"qwen3": 0.2, "modern": 0.2, "pooled": 0.2, "native_nomic": 0.2, "native_gte": 0.2}  # standard deviation of drawn weights; default 0.5


class Double(TorchFunctionMode):
    """transformers takes norms, softmax and rotary angles to float32, whatever the weights are; in here, to double."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        wide = lambda value: torch.float64 if value is torch.float32 else value
        if function is torch.Tensor.float:
            function = torch.Tensor.double
        result = function(*map(wide, arguments), **{key: wide(value) for key, value in (named or {}).items()})
        assert not (isinstance(result, torch.Tensor) and result.dtype == torch.float32), function
        return result


class Named(torch.nn.Module):
    """A module for each dotted name."""

    def get(self, name):
        first, _, rest = name.partition(".")
        if first not in self._modules:
            self.add_module(first, Named())
        child = self._modules[first]
        return child.get(rest) if rest else child

    def put(self, name, module):
        parent, _, last = name.rpartition(".")
        (self.get(parent) if parent else self).add_module(last, module)


class Nomic(Named):
    """model.py's nomic_bert, its linear layers as modules under their names."""

    def __init__(self, folder):
        super().__init__()
        self.w = load_file(os.path.join(folder, "model.safetensors"))
        for name, value in self.w.items():
            if ".attn." in name or ".mlp." in name:
                linear = torch.nn.Linear(value.shape[1], value.shape[0], bias=False)
                linear.weight.data = value
                self.put(name[: -len(".weight")], linear)

    def forward(self, ids):
        w, norm = self.w, tiny.layer_norm
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = norm(x, w, "emb_ln")
        for n in range(tiny.L):
            p = f"encoder.layers.{n}."
            lin = lambda name, y: self.get(p + name)(y)
            q, k, v = tiny.attention(*lin("attn.Wqkv", x).split(tiny.C, -1))
            mixed = tiny.softmax_mix(tiny.rotate(q), tiny.rotate(k), v)
            x = norm(x + lin("attn.out_proj", mixed), w, p + "norm1")
            x = norm(x + lin("mlp.fc2", lin("mlp.fc11", x) * F.silu(lin("mlp.fc12", x))), w, p + "norm2")
        return x


def load(family, folder):
    if family == "nomic_bert":
        return Nomic(folder)
    if family == "families/bert":
        model = AutoModel.from_pretrained(folder, attn_implementation="eager")
        model.pooler.dense.weight.data = torch.eye(model.config.hidden_size)
        return model
    if os.path.exists(os.path.join(folder, "config.5.json")):
        with tempfile.TemporaryDirectory() as copy:
            shutil.copy(os.path.join(folder, "model.safetensors"), copy)
            shutil.copy(os.path.join(folder, "config.5.json"), os.path.join(copy, "config.json"))
            return AutoModel.from_pretrained(copy, attn_implementation="eager")
    kind = AutoModelForCausalLM if family.endswith("qwen3") else AutoModel
    extra = {"add_pooling_layer": False} if family == "bert" else {}
    return kind.from_pretrained(folder, attn_implementation="eager", **extra)


def hidden(family, model, ids):
    if family == "nomic_bert":
        return model(ids)
    return model(input_ids=ids[None], output_hidden_states=True).hidden_states[-1][0]


def embeddings(family, model, texts):
    return torch.stack([F.normalize(hidden(family, model, ids).mean(0), dim=-1) for ids in texts])


def gradients(family, model, texts, demb):
    """The embeddings, and the gradients of sum(emb * demb) with respect to every A and B, by the names in the file."""
    model.zero_grad()
    emb = embeddings(family, model, texts)
    (emb * demb).sum().backward()
    return emb.detach(), {name.replace(".default.", "."): p.grad.clone() for name, p in model.named_parameters()
                          if p.grad is not None and "lora_" in name}


def gradients_in_double(family, model, texts, demb):
    """gradients() in double precision; the model stays in double."""
    model.double()
    if family == "nomic_bert":
        model.base_model.model.w = {name: value.double() for name, value in model.base_model.model.w.items()}
    with Double():
        return gradients(family, model, texts, demb.double())


def distance(got, wanted):
    """The greatest difference relative to the greatest value, as in tests/support/golden_check.h."""
    return ((got.double() - wanted).abs().max() / wanted.abs().max().clamp(min=5e-2)).item()


def draw(name, deviation, seed):
    """The case's model with random A and B, and its texts."""
    family, settings = CASES[name]
    torch.manual_seed(seed)
    model = get_peft_model(load(family, os.path.join(HERE, family)), LoraConfig(**settings)).eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "lora_" in key:
                p.copy_(deviation * torch.randn(p.shape))
    return model, [torch.tensor([int(i) for i in line.split()]) for line in open(
        os.path.join(HERE, family if family == "nomic_bert" else "bert", "ids.txt"))]


def save(family, model, out):
    with tempfile.TemporaryDirectory() as saved:
        model.peft_config["default"].base_model_name_or_path = family
        model.save_pretrained(saved)
        for file in "adapter_config.json", "adapter_model.safetensors":
            shutil.copy(os.path.join(saved, file), out)
            os.chmod(os.path.join(out, file), 0o644)


def save_gradients(family, model, texts, demb, out):
    """Saves the gradients; returns the greatest distance of PEFT's own in float32. The model stays in double."""
    _, single = gradients(family, model, texts, demb)
    emb, exact = gradients_in_double(family, model, texts, demb)
    starts = torch.tensor([0] + [len(ids) for ids in texts]).cumsum(0)
    save_file({"ids": torch.cat(texts).int(), "starts": starts.int(), "demb": demb, "emb": emb.float(),
               **{"grad." + name: value.float() for name, value in exact.items()}},
              os.path.join(out, "gradients.safetensors"))
    return max(distance(single[name], exact[name]) for name in exact)


def make(name):
    family, settings = CASES[name]
    out = os.path.join(OUT, name)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    model, texts = draw(name, DEVIATION.get(name, 0.5), len(name) + sum(map(ord, name)))
    save(family, model, out)
    with torch.no_grad():
        emb = embeddings(family, model, texts)
    with open(os.path.join(out, "embeddings.txt"), "w") as f:
        f.writelines(" ".join(f"{v:.7f}" for v in row) + "\n" for row in emb.tolist())
    if name == "pooled":
        torch.save(load_file(os.path.join(out, "adapter_model.safetensors")), os.path.join(out, "adapter_model.bin"))
        merged = model.merge_and_unload().pooler.dense.weight
        with open(os.path.join(out, "pooler.txt"), "w") as f:
            f.writelines(" ".join(f"{v:.7f}" for v in row) + "\n" for row in merged.tolist())
    elif "rank_pattern" not in settings:
        demb = torch.randn(emb.shape, generator=torch.Generator().manual_seed(1))
        error = save_gradients(family, model, texts, demb, out)
        print(f"{name}: PEFT's own gradients in float32 differ by {error:.1e}")


if __name__ == "__main__":
    os.umask(0o022)
    for name in sys.argv[1:] or CASES:
        make(name)
