#!/usr/bin/env python3
"""sentence-transformers' embeddings of minilm/texts.txt with all-MiniLM-L6-v2.

Writes minilm/ids.txt (token ids, a text per line) and minilm/embeddings.txt.
Needs sentence-transformers:  python3 tests/golden/minilm.py FOLDER
"""
import os
import sys

from sentence_transformers import SentenceTransformer

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "minilm")
model = SentenceTransformer(sys.argv[1], device="cpu")
with open(os.path.join(folder, "texts.txt")) as f:
    texts = f.read().splitlines()
with open(os.path.join(folder, "ids.txt"), "w") as f:
    for text in texts:
        ids = model.tokenizer(text, truncation=True, max_length=model.max_seq_length)["input_ids"]
        f.write(" ".join(map(str, ids)) + "\n")
with open(os.path.join(folder, "embeddings.txt"), "w") as f:
    for text in texts:  # one at a time: no padding
        f.write(" ".join(f"{v:.6f}" for v in model.encode(text).tolist()) + "\n")
