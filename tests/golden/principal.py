#!/usr/bin/env python3
"""principal.py - made-up embeddings of 30 texts by three models, and what numpy says of them: principal_NAME.jsonl,
principal_pca.tsv (pc1, pc2 of the base's and the first model's rows in the basis of both; signs such that an
eigenvector's component of greatest magnitude is positive), principal_drift.tsv (as geom drift --components 3, without
names).  Run in tests/golden."""
import json

import numpy as np

rng = np.random.RandomState(9)
TEXTS, WIDTH = 30, 5


def write(name, x):
    x = np.round(x, 3).astype(np.float32)
    with open(f"principal_{name}.jsonl", "w") as out:
        for i, row in enumerate(x):
            row = {"_id": f"t{i}", "dataset": "ab"[i % 2], "x.emb": [round(float(v), 3) for v in row]}
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    return x.astype(np.float64)


def basis(x):
    values, vectors = np.linalg.eigh(np.cov(x.T))
    values, vectors = values[::-1], vectors.T[::-1]
    return values, np.array([v * np.sign(v[np.abs(v).argmax()]) for v in vectors])


base = write("base", rng.normal(0, [3, 2, 1, 0.5, 0.2], (TEXTS, WIDTH)) @ np.linalg.qr(rng.normal(0, 1, (5, 5)))[0] + 2)
moved = write("moved", base + rng.normal(0.3, 0.2, (TEXTS, WIDTH)))

both = np.vstack([base, moved])
_, vectors = basis(both)
with open("principal_pca.tsv", "w") as out:
    for row in (both - both.mean(0)) @ vectors[:2].T:
        out.write("\t".join(f"{v:.14g}" for v in row) + "\n")

values, vectors = basis(base)
along = (moved - base) @ vectors.T
squares, means = (along**2).mean(0), along.mean(0)
lines = [[values[i], values[i] / values.sum(), means[i], squares[i], squares[i] / squares.sum()] for i in range(3)]
lines.append([values[3:].sum(), values[3:].sum() / values.sum(), np.linalg.norm(means[3:]), squares[3:].sum(),
              squares[3:].sum() / squares.sum()])
lines.append([values.sum(), 1, np.linalg.norm(means), squares.sum(), 1])
with open("principal_drift.tsv", "w") as out:
    for line in lines:
        out.write("\t".join(f"{v:.14g}" for v in line) + "\n")
