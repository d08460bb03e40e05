#!/usr/bin/env python3
"""Make head/: what sentence-transformers makes of the tiny BERT's hidden states (bert/, model.py).

pool/KIND.txt      embeddings of bert/ids.txt by one pooling mode, and KIND.prompt.txt with two tokens
                   of a prompt left out (include_prompt false; not of the text of one token)
CASE/              a folder's modules as sentence-transformers saves them, without the transformer,
                   and embeddings.txt
dense/dim.txt      encode(texts.txt, truncate_dim=3), dim_unit.txt with normalize_embeddings too
both/expected.safetensors, every/expected.safetensors, int8/expected.safetensors
                   embeddings and the gradients of sum(emb * demb), in double precision
Needs torch, transformers, sentence-transformers:  python3 tests/golden/head.py
"""
import os
import shutil
import tempfile

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Dropout, LayerNorm, Module, Normalize, Pooling, Transformer

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = os.path.join(HERE, "head")
MODES = Pooling.POOLING_MODES
C, PROMPT = 8, 2
TEXTS = ["the red boat sails on the sea", "a bird flies over the river", "fish"]


def dense(inside, outside, dtype=torch.float32, **options):
    module = Dense(inside, outside, **options)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((0.7 * torch.randn(p.shape)).to(dtype))
    return module


class FlexibleQuantizer(Module):
    """pplx-embed's last module, written anew: 127 tanh(x) as an integer, with the gradient of tanh(x)."""

    def forward(self, features, **more):
        soft = torch.tanh(features["sentence_embedding"])
        features["sentence_embedding"] = torch.round(127 * soft).detach() + soft - soft.detach()
        return features

    def save(self, *arguments, **more):
        pass


FlexibleQuantizer.__module__ = "st_quantize"


def cases():
    identity = torch.nn.Identity()
    with torch.random.fork_rng():  # for EmbeddingGemma, without changing the draws of the others
        wider = [Pooling(C, "mean"), dense(C, 16, bias=False, activation_function=identity),
                 dense(16, C, bias=False, activation_function=identity), Normalize()]
        norm = LayerNorm(7)
        with torch.no_grad():
            for p in norm.parameters():
                p.copy_(torch.randn(p.shape))
        every = [Pooling(C, "mean"), dense(C, 9, activation_function=torch.nn.ReLU()),
                 dense(9, 7, activation_function=torch.nn.GELU()), Dropout(0.4), norm,
                 dense(7, 6, activation_function=torch.nn.Sigmoid()),
                 dense(6, 4, activation_function=torch.nn.SiLU())]
        int8 = [Pooling(C, "mean"), dense(C, 4, activation_function=identity), FlexibleQuantizer()]
    return {
        "dense": [Pooling(C, "mean"), dense(C, 6), Normalize()],
        "after": [Pooling(C, "max"), Normalize(), dense(C, 5, bias=False, activation_function=identity)],
        "both": [Pooling(C, ("cls", "mean")), dense(2 * C, 6), Normalize(),
                 dense(6, 4, activation_function=identity, bias=False)],
        "half": [Pooling(C, "lasttoken"), dense(C, 4, torch.float16)],
        "brain": [Pooling(C, "weightedmean"), dense(C, 4, torch.bfloat16)],
        "order": [Pooling(C, ("weightedmean", "cls", "cls")), Normalize()],
        "wider": wider,
        "every": every,
        "int8": int8,
    }


def batch():
    with open(os.path.join(HERE, "bert", "ids.txt")) as f:
        texts = [[int(i) for i in line.split()] for line in f]
    longest = max(map(len, texts))
    ids = torch.tensor([t + [0] * (longest - len(t)) for t in texts])
    mask = torch.tensor([[1] * len(t) + [0] * (longest - len(t)) for t in texts])
    return texts, {"input_ids": ids, "attention_mask": mask}


def write(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.writelines(" ".join(f"{v:.7f}" for v in row) + "\n" for row in rows.tolist())


def run(modules, features, **more):
    model = SentenceTransformer(modules=[Transformer(os.path.join(HERE, "bert")), *modules])
    model.eval()
    with torch.no_grad():
        return model, model({**features, **more})["sentence_embedding"]


def shrink(folder, dtype):
    path = os.path.join(folder, "2_Dense", "model.safetensors")
    save_file({k: v.to(dtype) for k, v in load_file(path).items()}, path, metadata={"format": "pt"})


def gradients(model, features, folder, texts):
    model = model.double()
    # torch gives the padding token no gradient; here id 0 is a token like others
    model[0].auto_model.embeddings.word_embeddings.padding_idx = None
    demb = torch.randn((len(texts), 4))
    emb = model(dict(features))["sentence_embedding"]
    (emb * demb).sum().backward()
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text))
    out = {"ids": torch.tensor(sum(texts, [])).int(), "starts": torch.tensor(starts).int(),
           "demb": demb, "folder.emb": emb}
    kinds = [type(module).__name__ for module in model]
    for name, p in model.named_parameters():
        index, rest = name.split(".", 1)
        place = int(index) - kinds[:int(index)].count("Dropout")  # which has no number here
        name = f"{place}_{kinds[int(index)]}." + rest if place else rest.split(".", 1)[1]
        if p.grad is not None and not name.startswith("pooler."):
            out["folder.grad." + name] = p.grad
    save_file({k: v if v.dtype == torch.int32 else v.detach().float().contiguous()
               for k, v in out.items()}, os.path.join(folder, "expected.safetensors"))


def make():
    texts, features = batch()
    shutil.rmtree(HEAD, ignore_errors=True)
    for mode in MODES:
        pool = os.path.join(HEAD, "pool", mode)
        write(pool + ".txt", run([Pooling(C, mode)], features)[1])
        rows = run([Pooling(C, mode, include_prompt=False)], features, prompt_length=PROMPT)[1]
        write(pool + ".prompt.txt", rows[[i for i, t in enumerate(texts) if len(t) > PROMPT]])
    torch.manual_seed(5)
    for name, modules in cases().items():
        model, emb = run(modules, features)
        folder = os.path.join(HEAD, name)
        write(os.path.join(folder, "embeddings.txt"), emb)
        with tempfile.TemporaryDirectory() as saved:
            model.save(saved, create_model_card=False)
            shutil.copy(os.path.join(saved, "modules.json"), folder)
            for sub in os.listdir(saved):
                if sub[0] in "1234567":
                    shutil.copytree(os.path.join(saved, sub), os.path.join(folder, sub))
        if name in ("half", "brain"):
            shrink(folder, {"half": torch.float16, "brain": torch.bfloat16}[name])
        if name == "dense":
            with open(os.path.join(folder, "texts.txt"), "w") as f:
                f.write("\n".join(TEXTS) + "\n")
            for file, unit in ("dim.txt", False), ("dim_unit.txt", True):
                write(os.path.join(folder, file), model.encode(
                    TEXTS, truncate_dim=3, normalize_embeddings=unit, convert_to_tensor=True))
        if name in ("both", "every", "int8"):
            gradients(model, features, folder, texts)


if __name__ == "__main__":
    os.umask(0o022)
    make()
