#!/usr/bin/env python3
"""isotropy.py - made-up embeddings, and what the package IsoScore 1.0 says of them (pip install IsoScore==1.0
scikit-learn; 2.0 computes partly in float32): isotropy_NAME.jsonl, isotropy.tsv (name, IsoScore).  Run in
tests/golden."""
import json

import numpy as np
from IsoScore import IsoScore

rng = np.random.RandomState(5)


def write(name, x):
    x = np.round(x, 3).astype(np.float32)
    with open(f"isotropy_{name}.jsonl", "w") as out:
        for row in x:
            out.write(json.dumps({"x.emb": [round(float(v), 3) for v in row]}, separators=(",", ":")) + "\n")
    return IsoScore.IsoScore(x.T.astype(np.float64))


with open("isotropy.tsv", "w") as table:
    mixed = rng.normal(0, 1, (7, 7))
    for name, x in [("round", rng.normal(0, 1, (60, 6))), ("narrow", rng.normal(3, [5, 1, 0.1, 0.1, 0.02], (40, 5))),
                    ("mixed", rng.normal(0, 1, (50, 7)) @ mixed + 100)]:
        table.write(f"{name}\t{write(name, x):.14g}\n")
