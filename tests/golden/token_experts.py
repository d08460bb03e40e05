#!/usr/bin/env python3
"""Make tiny random encoders with token experts, and the reference outputs of each.

families/nomic_moe/ has the layout of nomic-embed-text-v2-moe, families/bert_tokens/ what upcycle
--token-experts writes of BERT; what lies in them is told in families.py.  plain.safetensors are the
values of bert_tokens where the weights of a token's experts do not sum to 1.  All is plain torch in
double precision.  balance.safetensors, for a batch of ROWS queries, their documents, and the rest of
the texts as negatives, has
  temperature, weight, infonce, balance  the settings and both losses
  grad.NAME                              gradients of infonce + weight * balance
  chosen                                 how many tokens each expert has, [sides, experts]
Needs torch, transformers, safetensors:  python3 tests/golden/token_experts.py [NAME...]
"""
import os
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

import families
from families import V, attend, write_values

ROWS, TEMPERATURE, WEIGHT = 4, 0.5, 0.3


def choose(logits, top, renormalize):
    """The weight of each expert for each token, [tokens, experts]."""
    score, chosen = logits.softmax(-1).topk(top, -1)
    if renormalize:
        score = score / score.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(1, chosen, score)


def encoder(w, c, ids, names, mixed, inverse):
    """Norms after the sums, plain MLPs, biases everywhere; mixed(prefix, layer, x) or None."""
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"],
                                        names["eps"])
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
    if "embeddings.position_embeddings.weight" in w:
        x = x + w["embeddings.position_embeddings.weight"][:len(ids)]
    x = norm(x, names["norm"])
    hidden, routers = [x], {}
    for n in range(names["layers"]):
        p = names["block"].format(n)
        linear = lambda name, y: F.linear(y, w[p + name + ".weight"], w[p + name + ".bias"])
        qkv = [linear(name, x) for name in names["qkv"]]
        q, k, v = qkv if len(qkv) == 3 else qkv[0].chunk(3, -1)
        a = attend(q, k, v, names["heads"], inverse, False)
        x = norm(x + linear(names["out"], a), p + names["norm1"])
        out = mixed(p, n, x)
        if out is None:
            y = linear(names["down"], F.gelu(linear(names["up"], x)))
        else:
            routers[n + 1], y = out
        x = norm(x + y, p + names["norm2"])
        hidden.append(x)
    return hidden, routers


def nomic_moe(w, c, ids):
    d = c["n_embd"] // c["n_head"]
    inverse = c["rotary_emb_base"] ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
    E, I = c["num_experts"], c["n_inner"]

    def mixed(p, n, x):
        if n % c["moe_every_n_layers"] != 1:
            return None
        logits = F.linear(x, w[p + "mlp.router.layer.weight"])
        weight = choose(logits, c["moe_top_k"], c["moe_normalize_expert_weights"])
        w1, w2 = (w[p + f"mlp.experts.mlp.{s}"].view(E, I, -1) for s in ("w1", "w2"))
        return logits, w[p + "mlp.experts.bias"] + sum(
            weight[:, e:e + 1] * (F.gelu(x @ w1[e].T) @ w2[e]) for e in range(E))

    return encoder(w, c, ids, {
        "eps": c["layer_norm_epsilon"], "layers": c["n_layer"], "heads": c["n_head"],
        "norm": "emb_ln", "block": "encoder.layers.{}.", "qkv": ["attn.Wqkv"],
        "out": "attn.out_proj", "norm1": "norm1", "up": "mlp.fc1", "down": "mlp.fc2",
        "norm2": "norm2"}, mixed, inverse)


def bert_tokens(w, c, ids):
    own = c["token_experts"]

    def mixed(p, n, x):
        if n not in own["layers"]:
            return None
        logits = F.linear(x, w[p + "router.weight"])
        weight = choose(logits, own["top"], own["renormalize"])
        linear = lambda name, e, y: F.linear(y, w[p + f"{name}.dense.experts.{e}.weight"],
                                             w[p + f"{name}.dense.experts.{e}.bias"])
        return logits, sum(weight[:, e:e + 1] * linear(
            "output", e, F.gelu(linear("intermediate", e, x))) for e in range(own["count"]))

    return encoder(w, c, ids, {
        "eps": c["layer_norm_eps"], "layers": c["num_hidden_layers"],
        "heads": c["num_attention_heads"], "norm": "embeddings.LayerNorm",
        "block": "encoder.layer.{}.",
        "qkv": ["attention.self." + s for s in ("query", "key", "value")],
        "out": "attention.output.dense", "norm1": "attention.output.LayerNorm",
        "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm",
    }, mixed, torch.zeros(c["hidden_size"] // c["num_attention_heads"] // 2))


def shapes(family, c):
    """The shapes of all tensors."""
    nomic = family == "nomic_moe"
    C, I, L = ((c["n_embd"], c["n_inner"], c["n_layer"]) if nomic else
               (c["hidden_size"], c["intermediate_size"], c["num_hidden_layers"]))
    e, all_shapes, norms = "embeddings.", {}, ["emb_ln" if nomic else "embeddings.LayerNorm"]
    all_shapes[e + "word_embeddings.weight"] = (V, C)
    all_shapes[e + "token_type_embeddings.weight"] = (c["type_vocab_size"], C)
    if not nomic:
        all_shapes[e + "position_embeddings.weight"] = (c["max_position_embeddings"], C)
    for n in range(L):
        p = f"encoder.layers.{n}." if nomic else f"encoder.layer.{n}."
        if nomic:
            linears = {"attn.Wqkv": (3 * C, C), "attn.out_proj": (C, C)}
            norms += [p + "norm1", p + "norm2"]
            if n % c["moe_every_n_layers"] == 1:
                E = c["num_experts"]
                all_shapes |= {p + "mlp.router.layer.weight": (E, C), p + "mlp.experts.bias": (C,),
                               p + "mlp.experts.mlp.w1": (E * I, C),
                               p + "mlp.experts.mlp.w2": (E * I, C)}
            else:
                linears |= {"mlp.fc1": (I, C), "mlp.fc2": (C, I)}
        else:
            linears = {"attention.self." + s: (C, C) for s in ("query", "key", "value")}
            linears["attention.output.dense"] = (C, C)
            norms += [p + "attention.output.LayerNorm", p + "output.LayerNorm"]
            all_shapes[p + "router.weight"] = (c["token_experts"]["count"], C)
            for x in range(c["token_experts"]["count"]):
                linears |= {f"intermediate.dense.experts.{x}": (I, C),
                            f"output.dense.experts.{x}": (C, I)}
        for name, shape in linears.items():
            all_shapes[p + name + ".weight"] = shape
            all_shapes[p + name + ".bias"] = shape[:1]
    for name in norms:
        all_shapes[name + ".weight"] = all_shapes[name + ".bias"] = (C,)
    return all_shapes


CONFIG = {
    "nomic_moe": {
        "architectures": ["NomicBertModel"], "model_type": "nomic_bert", "vocab_size": V,
        "n_embd": 16, "n_layer": 4, "n_head": 2, "n_inner": 12, "n_positions": 2048,
        "type_vocab_size": 1, "activation_function": "gelu", "layer_norm_epsilon": 1e-5,
        "prenorm": False, "parallel_block": False, "causal": False, "qkv_proj_bias": True,
        "mlp_fc1_bias": True, "mlp_fc2_bias": True, "use_rms_norm": False,
        "rotary_emb_fraction": 1.0, "rotary_emb_base": 10000, "rotary_emb_interleaved": False,
        "rotary_emb_scale_base": None, "rotary_scaling_factor": None,
        "max_trained_positions": 2048, "num_experts": 5, "num_shared_experts": 0, "moe_top_k": 2,
        "moe_every_n_layers": 2, "moe_normalize_expert_weights": False,
        "expert_choice_router": False, "ffn_div": 1, "moe_impl": "megablocks",
        "router_aux_loss_coef": 0.1, "torch_dtype": "float32"},
    "bert_tokens": families.CONFIG["bert"] | {"token_experts": {
        "count": 4, "top": 2, "renormalize": True, "layers": [0, 1]}},
}


def balance(family, folder, config, texts):
    """Both losses and their gradients on one batch."""
    w = {k: v.double().requires_grad_()
         for k, v in load_file(folder + "/model.safetensors").items()}
    runs = [FORWARD[family](w, config, ids) for ids in texts]
    emb = F.normalize(torch.stack([hidden[-1].mean(0) for hidden, _ in runs]), dim=-1)
    infonce = F.cross_entropy(emb[:ROWS] @ emb[ROWS:].T / TEMPERATURE, torch.arange(ROWS))
    value, chosen, top = 0, [], families.experts_of_a_token(config)
    for side in (runs[:ROWS], runs[ROWS:]):
        logits = torch.cat([layer for _, routers in side for layer in routers.values()])
        p, E = logits.softmax(-1), logits.shape[1]
        count = torch.zeros(E).index_add(
            0, p.topk(top, -1).indices.flatten(), torch.ones(len(p) * top))
        value = value + E * (count / len(p) * p.mean(0)).sum()
        chosen.append(count)
    g = torch.autograd.grad(infonce + WEIGHT * value, list(w.values()), allow_unused=True)
    one = lambda x: torch.tensor([float(torch.as_tensor(x).detach())])
    return {"temperature": one(TEMPERATURE), "weight": one(WEIGHT), "infonce": one(infonce),
            "balance": one(value), "chosen": torch.stack(chosen).int()} | {
        "grad." + name: v for name, v in zip(w, g) if v is not None}


FORWARD = {"nomic_moe": nomic_moe, "bert_tokens": bert_tokens}


def make(family):
    folder, config = os.path.join(families.HERE, family), CONFIG[family]
    plain = None
    for seed in range(1000):
        generator = torch.Generator().manual_seed(seed)
        families.checkpoint(family, folder, config, generator)
        state = generator.get_state()
        out = families.expected(family, folder, config, generator)
        if out and family == "bert_tokens":
            own = config["token_experts"] | {"renormalize": False}
            generator.set_state(state)
            plain = families.expected(family, folder, config | {"token_experts": own}, generator)
        if out and (plain or family != "bert_tokens"):
            break
    write_values(folder, "expected", out)
    if plain:
        write_values(folder, "plain", plain)
    texts = out["ids"].long().split(out["starts"].diff().tolist())
    write_values(folder, "balance", balance(family, folder, config, texts))
    families.write(folder, "config.json", config)
    for name in os.listdir(folder):
        if name.endswith(".safetensors"):
            os.chmod(os.path.join(folder, name), 0o644)
    print(f"{family}: seed {seed}")


if __name__ == "__main__":
    os.umask(0o022)
    torch.set_num_threads(1)
    families.PLAIN = FORWARD
    families.POOLING |= {name: ("mean", True) for name in CONFIG}
    families.plain_shapes = shapes
    for family in sys.argv[1:] or CONFIG:
        make(family)
