#!/usr/bin/env python3
"""Make forward/: tiny random checkpoints of the families that are encoded with and not trained, and embeddings by transformers in
double precision.

forward/FORM/ has config.json and model.safetensors; ids.txt the ids of texts of 1 to 300 tokens, a line each; FORM.txt the mean
of each text's last hidden states.  buckets: DeBERTa v3, its far distances in buckets; plain: DeBERTa v2, distances up to 12 by
themselves, token types, rows that are not normed; gemma2: windows of 7, scores that are capped; uncapped: the same model
without.  Needs torch, transformers:  python3 tests/golden/forward.py
"""
import os
import random
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from safetensors.torch import load_file, save_file
from transformers import DebertaV2Config, DebertaV2Model, Gemma2Config, Gemma2Model

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forward")
V, LENGTHS = 40, [1, 2, 5, 17, 40, 130, 300]
SMALL = {"vocab_size": V, "hidden_size": 12, "num_attention_heads": 2, "intermediate_size": 20, "initializer_range": 0.4}
DEBERTA = SMALL | {"num_hidden_layers": 2, "relative_attention": True, "share_att_key": True, "position_biased_input": False}
GEMMA = SMALL | {"num_hidden_layers": 3, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 512, "sliding_window": 7,
                 "query_pre_attn_scalar": 5, "attn_implementation": "eager"}
FORMS = {
    "buckets": (DebertaV2Model, DebertaV2Config(**DEBERTA, position_buckets=8, max_relative_positions=100, max_position_embeddings=300,
                                                type_vocab_size=0, norm_rel_ebd="layer_norm", pos_att_type=["p2c", "c2p"])),
    "plain": (DebertaV2Model, DebertaV2Config(**DEBERTA, max_relative_positions=12, max_position_embeddings=300, type_vocab_size=2,
                                              pos_att_type="c2p|p2c")),
    "gemma2": (Gemma2Model, Gemma2Config(**GEMMA, attn_logit_softcapping=1.5)),
    "uncapped": (Gemma2Model, Gemma2Config(**GEMMA, attn_logit_softcapping=None)),
}


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    rng = random.Random(1)
    texts = [[rng.randrange(3, V) for _ in range(n)] for n in LENGTHS]
    with open(HERE + "/ids.txt", "w") as out:
        out.writelines(" ".join(map(str, ids)) + "\n" for ids in texts)
    for form, (kind, config) in FORMS.items():
        torch.manual_seed(len(form))
        model = kind(config).eval()
        for p in model.parameters():
            if p.dim() == 1:
                p.data += 0.2 * torch.randn_like(p)
        model.save_pretrained(f"{HERE}/{form}")
        if form == "buckets":  # older files have it; the reference ignores it
            file = f"{HERE}/{form}/model.safetensors"
            tensors = load_file(file) | {"embeddings.position_embeddings.weight": torch.ones(4, 12)}
            save_file(tensors, file, metadata={"format": "pt"})
        model = model.double()
        with open(f"{HERE}/{form}.txt", "w") as out, torch.no_grad():
            for ids in texts:
                x = model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0)
                print(*(f"{v:.9f}" for v in x.tolist()), file=out)


main()
