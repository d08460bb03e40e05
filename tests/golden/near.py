#!/usr/bin/env python3
"""near.py - the five nearest documents of each query of score_queries.jsonl in score_corpus.jsonl.

By numpy in float64; scores narrowed to float32, equal ones by id, descending.  Run in tests/golden;
writes near_cosine.tsv and near_dot.tsv: query, document, score.
"""
import json

import numpy as np


def read(name):
    rows = [json.loads(line) for line in open(name)]
    return [row["_id"] for row in rows], np.array([row["text.emb"] for row in rows])


query_ids, queries = read("score_queries.jsonl")
ids, corpus = read("score_corpus.jsonl")
for kind in "cosine", "dot":
    if kind == "cosine":
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        corpus = corpus / np.linalg.norm(corpus, axis=1, keepdims=True)
    else:
        queries, corpus = read("score_queries.jsonl")[1], read("score_corpus.jsonl")[1]
    scores = (queries @ corpus.T).round(12).astype(np.float32)
    with open(f"near_{kind}.tsv", "w") as out:
        for query, row in zip(query_ids, scores):
            order = sorted(range(len(ids)), key=lambda i: ids[i].encode(), reverse=True)
            order.sort(key=lambda i: -row[i])
            for i in order[:5]:
                out.write(f"{query}\t{ids[i]}\t{row[i]:.7g}\n")
