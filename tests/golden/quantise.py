#!/usr/bin/env python3
"""quantise.py - made-up vectors, and what sentence-transformers' quantize_embeddings makes of them: quantise.jsonl.
Run in tests/golden."""
import json

import numpy as np
from sentence_transformers.util.quantization import quantize_embeddings

COUNT, CALIBRATION, WIDTH = 12, 8, 11
rng = np.random.RandomState(5)
# few digits, so that the text is short and exact; a component of one value alone; 0, which is no bit
x = (rng.randn(COUNT, WIDTH) * rng.uniform(0.1, 3, WIDTH)).round(2).astype(np.float32)
x[:, 4] = 0.25
x[:3, 0] = 0
some = {name: quantize_embeddings(x, name, calibration_embeddings=x[:CALIBRATION]) for name in ("int8", "ubinary")}
every = quantize_embeddings(x, "int8")
with open("quantise.jsonl", "w") as out:
    for i in range(COUNT):
        row = {"x.emb": [float(str(v)) for v in x[i]], "every": every[i].tolist(), "some": some["int8"][i].tolist(),
               "bits": some["ubinary"][i].tolist()}
        print(json.dumps(row), file=out)
