#!/usr/bin/env python3
"""search.py data|search FOLDER - exact search by numpy, blocks of 8192 documents, as people write it."""
import sys

import numpy as np

what, folder = sys.argv[1:]
if what == "data":
    generator = np.random.default_rng(0)
    for name, count in (("q", 1000), ("c", 100000)):
        np.save(f"{folder}/{name}.npy", generator.standard_normal((count, 384), dtype="f"))
else:
    queries, corpus = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in "qc")
    queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    scores, places = [], []
    for first in range(0, len(corpus), 8192):
        block = corpus[first : first + 8192]
        block = block / np.linalg.norm(block, axis=1, keepdims=True)
        found = queries @ block.T
        best = np.argpartition(-found, min(1000, found.shape[1] - 1), axis=1)[:, :1000]
        scores.append(np.take_along_axis(found, best, 1))
        places.append(best + first)
    scores, places = np.concatenate(scores, 1), np.concatenate(places, 1)
    best = np.argpartition(-scores, 1000, axis=1)[:, :1000]
    scores, places = (np.take_along_axis(x, best, 1) for x in (scores, places))
    print(np.take_along_axis(places, np.argsort(-scores, axis=1), 1).sum())
