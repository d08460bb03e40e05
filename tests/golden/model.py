#!/usr/bin/env python3
"""Make the tiny checkpoints bert/ and nomic_bert/, and the reference outputs of each.

expected.safetensors holds, for a packed batch (ids, starts), computed by torch in double
precision from the stored single-precision weights:
  hidden                    hidden states of the last layer, [tokens, width]
  CASE.emb, CASE.grad.NAME  embeddings, and the gradients of sum(emb * demb)
  mlm.loss, mlm.grad.NAME   summed masked-language-model loss, positions -> targets
ids.txt and embeddings.txt hold the texts' ids and their mean, normalised embeddings as text.
The plain functions below are checked against transformers before anything is written.
Needs torch, transformers, safetensors:  python3 tests/golden/model.py
"""
import json
import math
import os
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

HERE = os.path.dirname(os.path.abspath(__file__))
V, C, H, I, L, P = 40, 8, 2, 12, 2, 24
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + (
    "the a red green blue boat ship sails on under over sea river sky bird fish swims flies "
    "and or not old new small great is of . , : ##s search query").split()
CASES = {"mean.normalize": ("mean", True), "cls.raw": ("cls", False)}


def layer_norm(x, w, name):
    return F.layer_norm(x, (C,), w[name + ".weight"], w[name + ".bias"], 1e-12)


def attention(q, k, v):
    return (t.view(-1, H, C // H).transpose(0, 1) for t in (q, k, v))


def softmax_mix(q, k, v):
    p = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(C // H), -1)
    return (p @ v).transpose(0, 1).reshape(-1, C)


def rotate(x):
    d = C // H
    angle = torch.arange(x.shape[1], dtype=x.dtype)[:, None] * 1000.0 ** (
        -torch.arange(0, d, 2, dtype=x.dtype) / d)
    a, b = x[..., : d // 2], x[..., d // 2:]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def bert(w, ids):
    e = "embeddings."
    x = (w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][: len(ids)]
         + w[e + "token_type_embeddings.weight"][0])
    x = layer_norm(x, w, e + "LayerNorm")
    for n in range(L):
        p = f"encoder.layer.{n}."
        lin = lambda name, y: F.linear(y, w[p + name + ".weight"], w[p + name + ".bias"])
        a = softmax_mix(*attention(*(lin("attention.self." + s, x) for s in ("query", "key", "value"))))
        x = layer_norm(x + lin("attention.output.dense", a), w, p + "attention.output.LayerNorm")
        x = layer_norm(x + lin("output.dense", F.gelu(lin("intermediate.dense", x))), w,
                       p + "output.LayerNorm")
    return x


def nomic_bert(w, ids):
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, w, "emb_ln")
    for n in range(L):
        p = f"encoder.layers.{n}."
        lin = lambda name, y: F.linear(y, w[p + name + ".weight"])
        q, k, v = attention(*lin("attn.Wqkv", x).split(C, -1))
        x = layer_norm(x + lin("attn.out_proj", softmax_mix(rotate(q), rotate(k), v)), w, p + "norm1")
        x = layer_norm(x + lin("mlp.fc2", lin("mlp.fc11", x) * F.silu(lin("mlp.fc12", x))), w,
                       p + "norm2")
    return x


def weights(family, generator):
    e = "embeddings."
    shapes = {e + "word_embeddings.weight": (V, C), e + "token_type_embeddings.weight": (2, C)}
    norms = ["cls.predictions.transform." + ("LayerNorm" if family == "bert" else "layer_norm")]
    shapes["cls.predictions.transform.dense.weight"] = (C, C)
    if family == "bert":
        shapes[e + "position_embeddings.weight"] = (P, C)
        shapes["cls.predictions.transform.dense.bias"] = (C,)
        shapes["cls.predictions.bias"] = (V,)
        norms.append(e + "LayerNorm")
        for n in range(L):
            p = f"encoder.layer.{n}."
            for name, rows, columns in (
                    ("attention.self.query", C, C), ("attention.self.key", C, C),
                    ("attention.self.value", C, C), ("attention.output.dense", C, C),
                    ("intermediate.dense", I, C), ("output.dense", C, I)):
                shapes[p + name + ".weight"] = (rows, columns)
                shapes[p + name + ".bias"] = (rows,)
            norms += [p + "attention.output.LayerNorm", p + "output.LayerNorm"]
    else:
        norms.append("emb_ln")
        for n in range(L):
            p = f"encoder.layers.{n}."
            for name, rows, columns in (("attn.Wqkv", 3 * C, C), ("attn.out_proj", C, C),
                                        ("mlp.fc11", I, C), ("mlp.fc12", I, C), ("mlp.fc2", C, I)):
                shapes[p + name + ".weight"] = (rows, columns)
            norms += [p + "norm1", p + "norm2"]
    for name in norms:
        shapes[name + ".weight"] = shapes[name + ".bias"] = (C,)
    w = {}
    for name, shape in shapes.items():
        w[name] = 0.5 * torch.randn(shape, generator=generator)
        if any(name == n + ".weight" for n in norms):
            w[name] += 1
    return w


CONFIG = {
    "bert": {
        "architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": V, "hidden_size": C,
        "num_hidden_layers": L, "num_attention_heads": H, "intermediate_size": I,
        "max_position_embeddings": P, "type_vocab_size": 2, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "torch_dtype": "float32"},
    "nomic_bert": {
        "architectures": ["NomicBertForPreTraining"], "model_type": "nomic_bert", "vocab_size": V,
        "n_embd": C, "n_layer": L, "n_head": H, "n_inner": I, "n_positions": P, "type_vocab_size": 2,
        "activation_function": "swiglu", "layer_norm_epsilon": 1e-12, "prenorm": False,
        "parallel_block": False, "causal": False, "qkv_proj_bias": False, "mlp_fc1_bias": False,
        "mlp_fc2_bias": False, "use_rms_norm": False, "rotary_emb_fraction": 1.0,
        "rotary_emb_base": 1000, "rotary_emb_interleaved": False, "torch_dtype": "float32"},
}
FORWARD = {"bert": bert, "nomic_bert": nomic_bert}


def transformers_hidden(family, folder, ids):
    import transformers
    kind = {"bert": transformers.BertModel, "nomic_bert": transformers.NomicBertModel}[family]
    extra = {"add_pooling_layer": False} if family == "bert" else {}
    config = transformers.AutoConfig.from_pretrained(folder)
    if family == "nomic_bert":  # the library's own spelling
        config = transformers.NomicBertConfig(
            vocab_size=V, hidden_size=C, num_hidden_layers=L, num_attention_heads=H,
            intermediate_size=I, max_position_embeddings=P,
            rope_parameters={"rope_type": "default", "rope_theta": 1000.0})
    model = kind.from_pretrained(folder, config=config, attn_implementation="eager", **extra)
    model = model.double().eval()
    with torch.no_grad():
        return model(input_ids=ids[None]).last_hidden_state[0]


def mlm_logits(family, w, x):
    p = "cls.predictions."
    norm = p + "transform." + ("LayerNorm" if family == "bert" else "layer_norm")
    x = F.linear(x, w[p + "transform.dense.weight"], w.get(p + "transform.dense.bias"))
    x = layer_norm((F.gelu if family == "bert" else F.silu)(x), w, norm)
    return F.linear(x, w["embeddings.word_embeddings.weight"], w.get(p + "bias"))


def pooled(x, pool, normalize):
    e = x[0] if pool == "cls" else x.mean(0)
    return F.normalize(e, dim=-1) if normalize else e


def make(family):
    generator = torch.Generator().manual_seed({"bert": 1, "nomic_bert": 2}[family])
    folder = os.path.join(HERE, family)
    os.makedirs(os.path.join(folder, "1_Pooling"), exist_ok=True)
    stored = weights(family, generator)
    save_file(stored, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})

    def write(name, content):
        with open(os.path.join(folder, name), "w") as f:
            f.write(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")

    write("config.json", CONFIG[family])
    write("vocab.txt", "\n".join(WORDS + [f"[unused{i}]" for i in range(V - len(WORDS))]) + "\n")
    write("tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": P})
    types = ["Transformer", "Pooling", "Normalize"]
    write("modules.json", [
        {"idx": i, "name": str(i), "path": f"{i}_{t}" if i else "",
         "type": f"sentence_transformers.models.{t}"} for i, t in enumerate(types)])
    write("1_Pooling/config.json", {"word_embedding_dimension": C, "pooling_mode_cls_token": False,
                                    "pooling_mode_mean_tokens": True})

    w = {k: v.double().requires_grad_() for k, v in stored.items()}
    lengths = [5, 1, 9, 24, 3]
    ids = torch.randint(0, V, (sum(lengths),), generator=generator)
    starts = [0]
    for n in lengths:
        starts.append(starts[-1] + n)
    spans = list(zip(starts, starts[1:]))
    forward = FORWARD[family]
    for a, b in spans:
        mine, theirs = forward(w, ids[a:b]), transformers_hidden(family, folder, ids[a:b])
        worst = (mine - theirs).abs().max().item()
        assert worst < 2e-6, f"{family}: transformers differs by {worst}"
    hidden = [forward(w, ids[a:b]) for a, b in spans]
    demb = torch.randn((len(lengths), C), generator=generator).double()
    out = {"ids": ids.int(), "starts": torch.tensor(starts).int(), "demb": demb,
           "hidden": torch.cat(hidden)}
    for case, (pool, normalize) in CASES.items():
        emb = torch.stack([pooled(x, pool, normalize) for x in hidden])
        grads = torch.autograd.grad((emb * demb).sum(), list(w.values()), retain_graph=True,
                                    allow_unused=True)
        out[case + ".emb"] = emb
        for name, g in zip(w, grads):
            if g is not None:
                out[f"{case}.grad.{name}"] = g
    positions = torch.tensor([1, 3, 7, 15, 16, 40])
    targets = torch.randint(0, V, (len(positions),), generator=generator)
    logits = mlm_logits(family, w, torch.cat(hidden)[positions])
    loss = F.cross_entropy(logits, targets, reduction="sum")
    out |= {"mlm.positions": positions.int(), "mlm.targets": targets.int(), "mlm.loss": loss[None]}
    for name, g in zip(w, torch.autograd.grad(loss, list(w.values()))):
        out["mlm.grad." + name] = g
    write("ids.txt", "".join(" ".join(str(i) for i in ids[a:b].tolist()) + "\n" for a, b in spans))
    write("embeddings.txt", "".join(" ".join(f"{v:.7f}" for v in e.tolist()) + "\n"
                                    for e in out["mean.normalize.emb"]))
    out = {k: (v if v.dtype == torch.int32 else v.detach().float()).contiguous()
           for k, v in out.items()}
    save_file(out, os.path.join(folder, "expected.safetensors"))


if __name__ == "__main__":
    os.umask(0o022)
    assert len(WORDS) <= V, len(WORDS)
    for family in sys.argv[1:] or CONFIG:
        make(family)
