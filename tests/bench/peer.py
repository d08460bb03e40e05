#!/usr/bin/env python3
"""peer.py WHAT MODEL FILE - what our programs do, by the libraries that people use for it.

tokenise  ids of each line (tokenizers, in batches of 1,000)
encode    embeddings of each line (sentence-transformers, batch 32, sorted by length)
"""
import sys

what, model, path = sys.argv[1:]
lines = (sys.stdin if path == "-" else open(path, encoding="utf-8")).read().splitlines()
if what == "tokenise":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(model + "/tokenizer.json")
    for at in range(0, len(lines), 1000):
        for encoding in tokenizer.encode_batch(lines[at : at + 1000]):
            encoding.ids
elif what == "encode":
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(model, device="cpu").encode(lines, batch_size=32)
else:
    sys.exit(__doc__)
