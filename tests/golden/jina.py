#!/usr/bin/env python3
"""Make jina/: a tiny checkpoint with a LoRA for each task, as jina-embeddings-v3 has on the Hub, and its outputs.

config.json, model.safetensors, modules.json, 1_Pooling/   the folder; its tensors are of three types, as a checkpoint's may be
TASK.txt        for each task, and for none ("none"): of the texts of LENGTHS, a line a token: hidden states of all layers
TASK.emb.txt    their embeddings, mean and of length 1; then those of single texts of the lengths LONG, of long_ids()
ids.txt         the ids of the texts
families/jina_v3/  the same architecture without LoRAs, as families.py has its folders; config.5.json and native.header: as
                transformers saves its own
All by plain torch in double precision, from W + alpha / r B A, or W + alpha / r A B of embeddings; transformers, which has
the model without LoRAs, gives the same with these weights (its rotary angles are of single precision).
Needs torch, transformers 5.23, safetensors:  python3 tests/golden/jina.py
With a number of a seed, a folder and "large" a model of the real one's width is drawn there: see draw_large().
"""
import json
import os
import sys
import tempfile

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file, save_file

import families
from families import attend, long_ids

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jina")
LENGTHS = [1, 2, 6, 4, 7]
LONG = [1, 2, 127, 128, 129, 512]
BESIDE = ".parametrizations.weight."
CONFIG = {
    "architectures": ["XLMRobertaModel"], "model_type": "xlm-roberta",
    "auto_map": {"AutoModel": "jinaai/xlm-roberta-flash-implementation--modeling_lora.XLMRobertaLoRA"},
    "vocab_size": families.V, "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 24,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "layer_norm_eps": 1e-5,
    "max_position_embeddings": 514, "type_vocab_size": 2, "position_embedding_type": "rotary", "rotary_emb_base": 20000.0,
    "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "emb_pooler": "mean", "truncate_dim": None,
    "matryoshka_dimensions": [8, 16], "use_flash_attn": True, "load_trained_adapters": True,
    "lora_adaptations": ["retrieval.query", "separation", "text-matching"], "lora_rank": 3, "lora_alpha": 2,
    "lora_dropout_p": 0.0, "lora_main_params_trainable": False,
    "task_instructions": {"retrieval.query": "abc: ", "separation": "", "text-matching": ""}, "torch_dtype": "bfloat16"}
LARGE = {"vocab_size": 2000, "hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 4, "intermediate_size": 4096,
         "max_position_embeddings": 8194, "type_vocab_size": 1, "lora_rank": 4, "lora_alpha": 1}


def shapes(c):
    """Names and shapes of the weights."""
    H, I = c["hidden_size"], c["intermediate_size"]
    matrices = {"embeddings.word_embeddings": (c["vocab_size"], H), "embeddings.token_type_embeddings": (c["type_vocab_size"], H),
                "pooler.dense": (H, H)}
    norms = ["emb_ln"]
    for n in range(c["num_hidden_layers"]):
        p = f"encoder.layers.{n}."
        matrices |= {p + "mixer.Wqkv": (3 * H, H), p + "mixer.out_proj": (H, H), p + "mlp.fc1": (I, H), p + "mlp.fc2": (H, I)}
        norms += [p + "norm1", p + "norm2"]
    vectors = {name + "." + kind: (H,) for name in norms for kind in ("weight", "bias")}
    vectors |= {name + ".bias": shape[:1] for name, shape in matrices.items() if "embeddings" not in name}
    return matrices, vectors


def checkpoint(c, generator, deviation):
    """The tensors by their names in the file."""
    matrices, vectors = shapes(c)
    T, r = len(c["lora_adaptations"]), c["lora_rank"]
    draw = lambda *shape: deviation * torch.randn(shape, generator=generator)
    out = {name: families.draw(name, shape, generator) for name, shape in vectors.items()}
    for name, (rows, columns) in matrices.items():
        out[name + BESIDE + "original"] = families.draw(name, (rows, columns), generator)
        turned = "embeddings" in name
        out[name + BESIDE + "0.lora_A"] = draw(T, rows, r) if turned else draw(T, r, columns) / columns ** 0.5 * 4
        out[name + BESIDE + "0.lora_B"] = draw(T, r, columns) if turned else draw(T, rows, r)
    types = [torch.bfloat16, torch.float32, torch.float16]
    return {"roberta." + name: value.to(types[i % 3] if value.dim() > 1 else torch.float32)
            for i, (name, value) in enumerate(sorted(out.items()))}


def weights(stored, c, task):
    """The weights in double, under plain names; task None: without LoRA."""
    w = {name.removeprefix("roberta."): value.double() for name, value in stored.items()}
    for name in [name for name in w if name.endswith("original")]:
        stem = name.removesuffix(BESIDE + "original")
        w[stem + ".weight"] = w[name]
        if task is not None:
            a, b = (w[stem + BESIDE + "0.lora_" + half][task] for half in "AB")
            w[stem + ".weight"] = w[name] + (a @ b if "embeddings" in stem else b @ a) * (c["lora_alpha"] / c["lora_rank"])
    return {name: value for name, value in w.items() if BESIDE not in name}


def run(w, c, ids):
    """Hidden states of all layers."""
    d = c["hidden_size"] // c["num_attention_heads"]
    inverse = c["rotary_emb_base"] ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
    linear = lambda name, x: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda name, x: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], c["layer_norm_eps"])
    x = norm("emb_ln", w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0])
    hidden = [x]
    for n in range(c["num_hidden_layers"]):
        p = f"encoder.layers.{n}."
        q, k, v = linear(p + "mixer.Wqkv", x).chunk(3, -1)
        x = norm(p + "norm1", x + linear(p + "mixer.out_proj", attend(q, k, v, c["num_attention_heads"], inverse, False)))
        x = norm(p + "norm2", x + linear(p + "mlp.fc2", F.gelu(linear(p + "mlp.fc1", x))))
        hidden.append(x)
    return hidden


def native(c):
    """The configuration in the spelling of transformers."""
    keys = ("vocab_size", "hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "hidden_act",
            "layer_norm_eps", "max_position_embeddings", "type_vocab_size")
    return transformers.JinaEmbeddingsV3Config(**{key: c[key] for key in keys}, rope_parameters={
        "rope_type": "default", "rope_theta": c["rotary_emb_base"]})


def check(w, c, ids):
    """Checks that transformers' model gives the same with these weights."""
    with tempfile.TemporaryDirectory() as folder:
        native(c).save_pretrained(folder)
        save_file({k: v.contiguous() for k, v in w.items()}, folder + "/model.safetensors", metadata={"format": "pt"})
        model = transformers.JinaEmbeddingsV3Model.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    theirs = model(input_ids=ids[None], output_hidden_states=True).hidden_states
    worst = max((a - b[0]).abs().max().item() for a, b in zip(run(w, c, ids), theirs, strict=True))
    assert worst < 5e-5, f"transformers differs by {worst}"


def write_folder(folder, c, stored):
    os.makedirs(folder + "/1_Pooling", exist_ok=True)
    families.write(folder, "config.json", c)
    save_file(stored, folder + "/model.safetensors", metadata={"format": "pt"})
    os.chmod(folder + "/model.safetensors", 0o644)
    families.write(folder, "modules.json", [
        {"idx": 0, "name": "transformer", "path": "", "type": "custom_st.Transformer", "kwargs": ["task"]},
        {"idx": 1, "name": "pooler", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "normalizer", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])
    families.write(folder, "1_Pooling/config.json", {
        "word_embedding_dimension": c["hidden_size"], "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})


def lines(path, rows):
    with open(path, "w") as f:
        f.writelines(" ".join(f"{v:.6f}" for v in row) + "\n" for row in rows.tolist())


def expected(folder, c, stored, texts, longs, states):
    for task in [None] + list(range(len(c["lora_adaptations"]))):
        name = "none" if task is None else c["lora_adaptations"][task]
        w = weights(stored, c, task)
        runs = [run(w, c, ids) for ids in texts]
        if states:
            lines(f"{folder}/{name}.txt", torch.cat([torch.cat(hidden, -1) for hidden in runs]))
            check(w, c, long_ids(129))
        lasts = [hidden[-1] for hidden in runs] + [run(w, c, ids)[-1] for ids in longs]
        lines(f"{folder}/{name}.emb.txt", F.normalize(torch.stack([x.mean(0) for x in lasts]), dim=-1))


def make():
    generator = torch.Generator().manual_seed(3)
    stored = checkpoint(CONFIG, generator, 0.3)
    texts = torch.randint(families.FIRST, families.V, (sum(LENGTHS),), generator=generator).split(LENGTHS)
    write_folder(OUT, CONFIG, stored)
    with open(OUT + "/ids.txt", "w") as f:
        f.writelines(" ".join(map(str, ids.tolist())) + "\n" for ids in texts)
    expected(OUT, CONFIG, stored, texts, [long_ids(n) for n in LONG], True)


def native_names(name):
    """transformers' names of the parts of a tensor in the Hub's layout."""
    for hub, own in (("roberta.", ""), ("encoder.layers", "layers"), ("emb_ln", "embeddings.LayerNorm"),
                     ("mixer.out_proj", "self_attn.o_proj"), ("norm1", "post_attention_layernorm"), ("norm2", "post_mlp_layernorm")):
        name = name.replace(hub, own)
    return [name.replace("mixer.Wqkv", f"self_attn.{s}_proj") for s in ("qkv" if "mixer.Wqkv" in name else "q")]


def make_plain():
    c = {key: value for key, value in CONFIG.items() if "lora" not in key and key != "task_instructions"}
    bare = lambda w: {name.removeprefix("roberta."): value for name, value in w.items()}
    folder, generator = os.path.join(families.HERE, "jina_v3"), torch.Generator().manual_seed(4)
    matrices, vectors = shapes(c)
    families.PLAIN = {"jina_v3": lambda w, c, ids: (run(bare(w), c, ids), {})}
    families.POOLING["jina_v3"] = "mean", True
    families.plain_shapes = lambda family, c: {"roberta." + name: shape for name, shape in (
        {name + ".weight": shape for name, shape in matrices.items()} | vectors).items() if "pooler" not in name}
    families.checkpoint("jina_v3", folder, c, generator)
    with torch.enable_grad():
        families.write_values(folder, "expected", families.expected("jina_v3", folder, c, generator))
    check({k: v.double() for k, v in bare(load_file(folder + "/model.safetensors")).items()}, c, long_ids(129))
    families.write(folder, "config.json", c)
    families.write(folder, "config.5.json", native(c).to_dict() | {"architectures": ["JinaEmbeddingsV3Model"]})
    families.other_header(folder, "native.header", native_names, None)
    for name in os.listdir(folder):
        if name.endswith((".safetensors", ".header")):
            os.chmod(os.path.join(folder, name), 0o644)


def draw_large(seed, folder):
    """A drawn model of the real one's width and rank in `folder`, ids.txt with eight texts of up to 300 tokens and the same files
    of embeddings; to be compared with what encode makes."""
    generator, c = torch.Generator().manual_seed(seed), CONFIG | LARGE
    stored = checkpoint(c, generator, 0.3)
    texts = [torch.randint(3, c["vocab_size"], (n,), generator=generator) for n in (1, 2, 30, 64, 100, 128, 200, 300)]
    os.makedirs(folder, exist_ok=True)
    write_folder(folder, c, stored)
    with open(folder + "/ids.txt", "w") as f:
        f.writelines(" ".join(map(str, ids.tolist())) + "\n" for ids in texts)
    expected(folder, c, stored, texts, [], False)


if __name__ == "__main__":
    os.umask(0o022)
    torch.set_num_threads(1)
    with torch.no_grad():
        if len(sys.argv) == 4 and sys.argv[3] == "large":
            draw_large(int(sys.argv[1]), sys.argv[2])
        else:
            make()
            make_plain()
