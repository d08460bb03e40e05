#!/usr/bin/env python3
"""mine.py - hard negatives by sentence-transformers' mine_hard_negatives on drawn vectors, for tests/mine.bats.

Writes mine/run.trec (each query's 60 nearest of 120 documents by cosine), mine/qrels.tsv (one to three relevant documents a query,
of three queries one that is not near), and for each of the SETTINGS mine/NAME.tsv: triples of ids, sorted.
Needs torch, sentence-transformers, datasets.
"""
import os
from types import SimpleNamespace

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers.util import mine_hard_negatives

HERE = os.path.dirname(os.path.abspath(__file__)) + "/mine"
QUERIES, DOCUMENTS, WIDTH, DEPTH = 25, 120, 6, 60
SETTINGS = {
    "default": {},
    "range": dict(range_min=4, range_max=20, num_negatives=5),
    "margin": dict(absolute_margin=0.1, num_negatives=4),
    "negative_margin": dict(absolute_margin=-0.05),
    "relative": dict(relative_margin=0.2, range_min=2),
    "scores": dict(max_score=0.6, min_score=0.3, num_negatives=6, range_max=30),
    "all": dict(relative_margin=0.05, absolute_margin=0.02, max_score=0.7, min_score=-0.1, range_min=1, range_max=40, num_negatives=2),
}


class Model:
    """Texts are ids; their vectors were drawn."""
    device = "cpu"
    model_card_data = SimpleNamespace(base_model="")

    def __init__(self, vectors):
        self.vectors = vectors

    def encode(self, texts, **options):
        return np.stack([self.vectors[text] for text in texts])

    encode_query = encode_document = encode

    def similarity(self, a, b):
        return torch.as_tensor(a) @ torch.as_tensor(b).T

    def similarity_pairwise(self, a, b):
        return (torch.as_tensor(a) * torch.as_tensor(b)).sum(-1)


def main():
    rng = np.random.default_rng(23)
    vectors = {}
    for i in range(QUERIES + DOCUMENTS):
        vector = rng.standard_normal(WIDTH).astype(np.float32)
        vectors[f"q{i}" if i < QUERIES else f"d{i - QUERIES}"] = vector / np.linalg.norm(vector)
    documents = [f"d{i}" for i in range(DOCUMENTS)]
    model = Model(vectors)
    pairs = []
    os.makedirs(HERE, exist_ok=True)
    with open(f"{HERE}/run.trec", "w") as run, open(f"{HERE}/qrels.tsv", "w") as qrels:
        print("query-id\tcorpus-id\tscore", file=qrels)
        for q in range(QUERIES):
            scores = model.similarity(model.encode([f"q{q}"]), model.encode(documents))[0].numpy()
            order = np.argsort(-scores)
            for rank, d in enumerate(order[:DEPTH]):
                print(f"q{q}\tQ0\td{d}\t{rank + 1}\t{scores[d]!s}\tdrawn", file=run)
            places = rng.choice(15, 1 + q % 3, replace=False)
            if q % 3 == 2:
                places[0] = 50 if q % 2 else 45
            for place in places:
                pairs.append((f"q{q}", f"d{order[place]}"))
                print(f"q{q}\td{order[place]}\t1", file=qrels)
            print(f"q{q}\td{order[20]}\t0", file=qrels)
    dataset = Dataset.from_dict({"query": [q for q, _ in pairs], "document": [d for _, d in pairs]})
    for name, settings in SETTINGS.items():
        mined = mine_hard_negatives(dataset, model, corpus=documents, verbose=False, **settings)
        with open(f"{HERE}/{name}.tsv", "w") as out:
            for row in sorted(f"{r['query']}\t{r['document']}\t{r['negative']}" for r in mined):
                print(row, file=out)


if __name__ == "__main__":
    main()
