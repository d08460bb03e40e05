#!/usr/bin/env python3
"""Make deberta/: tiny random DeBERTa v2 checkpoints, and embeddings by transformers in double precision.

deberta/FORM/ has config.json and model.safetensors; ids.txt the ids of texts of 1 to 300 tokens, a line each; FORM.txt the mean
of each text's last hidden states.  buckets: as DeBERTa v3, its far distances in buckets; plain: distances up to 12 by
themselves, token types, rows that are not normed.  Needs torch, transformers:  python3 tests/golden/deberta.py
"""
import os
import random
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from safetensors.torch import load_file, save_file
from transformers import DebertaV2Config, DebertaV2Model

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "deberta")
V, LENGTHS = 40, [1, 2, 5, 17, 40, 130, 300]
SMALL = {"vocab_size": V, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20,
         "initializer_range": 0.4, "relative_attention": True, "share_att_key": True, "position_biased_input": False}
FORMS = {
    "buckets": {"position_buckets": 8, "max_relative_positions": 100, "max_position_embeddings": 300, "type_vocab_size": 0,
                "norm_rel_ebd": "layer_norm", "pos_att_type": ["p2c", "c2p"]},
    "plain": {"max_relative_positions": 12, "max_position_embeddings": 300, "type_vocab_size": 2, "pos_att_type": "c2p|p2c"},
}


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    rng = random.Random(1)
    texts = [[rng.randrange(3, V) for _ in range(n)] for n in LENGTHS]
    with open(HERE + "/ids.txt", "w") as out:
        out.writelines(" ".join(map(str, ids)) + "\n" for ids in texts)
    for seed, (form, settings) in enumerate(FORMS.items()):
        torch.manual_seed(seed)
        model = DebertaV2Model(DebertaV2Config(**{**SMALL, **settings})).eval()
        for p in model.parameters():
            if p.dim() == 1:
                p.data += 0.2 * torch.randn_like(p)
        model.save_pretrained(f"{HERE}/{form}")
        if form == "buckets":  # as in older files; the reference ignores it
            file = f"{HERE}/{form}/model.safetensors"
            tensors = load_file(file) | {"embeddings.position_embeddings.weight": torch.ones(4, 12)}
            save_file(tensors, file, metadata={"format": "pt"})
        model = model.double()
        with open(f"{HERE}/{form}.txt", "w") as out, torch.no_grad():
            for ids in texts:
                x = model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0)
                print(*(f"{v:.9f}" for v in x.tolist()), file=out)


main()
