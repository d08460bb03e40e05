#!/usr/bin/env python3
"""geom.py - made-up embeddings of 12 texts under three tasks by two models, and what numpy and scipy say of their
cosines: geom_mote.jsonl, geom_dense.jsonl (other order, f32 components), geom_similarity.tsv (as geom similarity
--against).  Run in tests/golden."""
import itertools
import json

import numpy as np
import scipy.stats

TASKS = ["classification", "clustering", "search_query"]
TEXTS, WIDTH = 12, 6
rng = np.random.RandomState(3)


def embed(apart, texts):
    """Embeddings [task, text, width], moved apart by task by so much."""
    return np.round(texts + apart * rng.normal(0, 1, (len(TASKS), TEXTS, WIDTH)), 3).astype(np.float32)


def write(name, model, tasks):
    with open(f"geom_{name}.jsonl", "w") as out:
        for task in tasks:
            for text in rng.permutation(TEXTS):
                row = {"_id": f"text {text}", "task": TASKS[task],
                       "text.emb": [round(float(x), 3) for x in model[task, text]]}
                out.write(json.dumps(row, separators=(",", ":")) + "\n")


def cosines(model):
    """The cosines of each pair of tasks, and their mean."""
    unit = model.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=2, keepdims=True)
    pairs = [(unit[a] * unit[b]).sum(1) for a, b in itertools.combinations(range(len(TASKS)), 2)]
    return pairs + [np.mean(pairs, axis=0)]


def spread(x):
    return [x.mean(), x.std(ddof=1), *np.quantile(x, [0, 0.25, 0.5, 0.75, 1])]


texts = rng.normal(0, 1, (TEXTS, WIDTH))
mote, dense = embed(0.6, texts), embed(0.4, texts)
dense[1] = np.round(dense[0] + np.float32(0.3) * (mote[1] - mote[0]), 3)
write("mote", mote, [0, 1, 2])
write("dense", dense, [2, 0, 1])
with open("geom_similarity.tsv", "w") as out:
    names = [f"{a}:{b}" for a, b in itertools.combinations(TASKS, 2)] + ["all"]
    for name, own, other in zip(names, cosines(mote), cosines(dense)):
        welch = scipy.stats.ttest_ind(own, other, equal_var=False, alternative="less")
        paired = scipy.stats.ttest_rel(own, other)
        numbers = [TEXTS, *spread(own), *spread(other), own.mean() - other.mean(), welch.statistic, welch.df,
                   welch.pvalue, paired.statistic, paired.df, paired.pvalue]
        out.write("\t".join([name] + [f"{x:.14g}" for x in numbers]) + "\n")
