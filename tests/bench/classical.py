#!/usr/bin/env python3
"""classical.py WHAT FOLDER - what mteb has scikit-learn and torch do, on FOLDER's arrays; prints its seconds.

Seconds are of the computation alone: neither Python's start nor the imports nor reading files.

classification  ten logistic regressions on mteb's samples, and their predictions
clustering      one MiniBatchKMeans as the legacy protocol has it
clustering-fast mteb's own function for the quick protocol
search          mteb's own exact search, top 1000, blocks of 50,000
semantic        sentence-transformers' util.semantic_search, top 1000
numpy           what people write: products by blocks of 50,000, argpartition, sort; top 1000

seeds           no seconds, but V-measures of the legacy protocol, in float32 and in float64:
                mteb-score clustering --sklearn 1.9 --seed N should say the latter
"""
import json
import random
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")
what, folder = sys.argv[1:]


def load(name):
    x = np.load(f"{folder}/{name}.npy", mmap_mode="r" if "search" in what else None)
    with open(f"{folder}/{name}.labels") as lines:
        return x, np.array([json.loads(line)["label"] for line in lines])


def classification():
    from sklearn.linear_model import LogisticRegression

    (x, y), (t, _) = load("train"), load("test")
    order = list(range(len(y)))
    start = time.perf_counter()
    for _ in range(10):
        np.random.RandomState(42).shuffle(order)
        counts, taken = {}, []
        for i in order:
            if counts.get(y[i], 0) < 8:
                counts[y[i]] = counts.get(y[i], 0) + 1
                taken.append(i)
        model = LogisticRegression(max_iter=100, random_state=42).fit(x[taken], y[taken])
        model.predict(t)
    return time.perf_counter() - start


def clustering():
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import v_measure_score

    x, y = load("texts")
    start = time.perf_counter()
    model = MiniBatchKMeans(len(set(y)), batch_size=500, n_init="auto", random_state=42).fit(x)
    v_measure_score(y, model.labels_)
    return time.perf_counter() - start


def seeds():
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import v_measure_score

    x, y = load("texts")
    values = {}
    for seed in [*range(10), 42]:
        values[seed] = [v_measure_score(y, MiniBatchKMeans(
            len(set(y)), batch_size=500, n_init="auto", random_state=seed).fit(
                x.astype(kind)).labels_) for kind in "fd"]
        print(f"seed {seed}: float32 {values[seed][0]:.6f}, float64 {values[seed][1]:.6f}")
    low, high = (f([v[0] for v in values.values()]) for f in (min, max))
    return f"float32: {low:.6f} to {high:.6f}"


def clustering_fast():
    from mteb.abstasks.clustering import _evaluate_clustering_bootstrapped

    x, y = load("texts")
    start = time.perf_counter()
    _evaluate_clustering_bootstrapped(
        x, [[label] for label in y], n_clusters=10, cluster_size=16384, kmean_batch_size=512,
        max_depth=None, rng_state=random.Random(42), seed=42)
    return time.perf_counter() - start


def arrays():
    import torch

    return [torch.from_numpy(np.load(f"{folder}/{name}.npy")) for name in "qc"]


def search():
    import torch
    from datasets import Dataset
    from mteb.models import search_wrappers

    queries, corpus = arrays()
    search_wrappers.create_dataloader = lambda rows, **_: rows

    def encode(rows, **_):
        return corpus[rows["row"][0] : rows["row"][-1] + 1]

    def cosine(a, b):
        return torch.nn.functional.normalize(a) @ torch.nn.functional.normalize(b).T

    table = Dataset.from_dict({"id": [f"d{i}" for i in range(len(corpus))],
                               "row": list(range(len(corpus)))})
    start = time.perf_counter()
    search_wrappers.chunked_full_corpus_search(
        task_corpus=table, corpus_chunk_size=50_000,
        query_idx_to_id={i: f"q{i}" for i in range(len(queries))}, query_embeddings=queries,
        task_metadata=None, hf_subset="", hf_split="", top_k=1000,
        encode_kwargs={"show_progress_bar": False}, encode_fn=encode, similarity_fn=cosine,
        search_k_offset=1)
    return time.perf_counter() - start


def semantic():
    from sentence_transformers import util

    queries, corpus = arrays()
    start = time.perf_counter()
    util.semantic_search(queries, corpus, top_k=1000)
    return time.perf_counter() - start


def numpy():
    queries, corpus = (np.load(f"{folder}/{name}.npy") for name in "qc")
    start = time.perf_counter()
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    best = np.full((len(queries), 0), 0, np.float32)
    found = np.full((len(queries), 0), 0)
    for first in range(0, len(corpus), 50_000):
        block = corpus[first : first + 50_000]
        scores = queries @ (block / np.linalg.norm(block, axis=1, keepdims=True)).T
        numbers = np.broadcast_to(np.arange(first, first + len(block)), scores.shape)
        best, found = np.hstack([best, scores]), np.hstack([found, numbers])
        if best.shape[1] > 1000:
            top = np.argpartition(-best, 999, axis=1)[:, :1000]
            best, found = (np.take_along_axis(x, top, axis=1) for x in (best, found))
    order = np.argsort(-best, axis=1)
    found = np.take_along_axis(found, order, axis=1)
    return time.perf_counter() - start


print(globals()[what.replace("-", "_")]())
