#!/usr/bin/env python3
"""compare_pairs.py - similarities of two made-up systems for the same pairs of texts, with gold scores and with
labels, and what scipy, scikit-learn and numpy say of their metrics' difference:
compare_{gold,label}_{a,b}.tsv (as mteb-score --per-query writes) and compare_{gold,label}_expected.tsv
(metric, both values, the difference, the ends of the bootstrap's interval, its standard error).  Run in tests/golden."""
import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score

SEED, RESAMPLES, PAIRS = 42, 1000, 60
rng = np.random.RandomState(7)
quality = rng.rand(PAIRS)
gold = np.round(5 * quality) / 2  # with ties
label = (quality > 0.6).astype(int)
systems = {name: {"cosine": np.round(quality + rng.normal(0, noise, PAIRS), 2),  # also with ties
                  "manhattan": -np.exp(2 * (1 - quality + rng.normal(0, noise, PAIRS)))}
           for name, noise in (("a", 0.3), ("b", 0.2))}
drawn = np.random.RandomState(SEED).randint(0, PAIRS, (RESAMPLES, PAIRS))

for kind, target, metrics in (
        ("gold", gold, {"spearman": lambda x, y: spearmanr(x, y)[0], "pearson": lambda x, y: pearsonr(x, y)[0]}),
        ("label", label, {"ap": lambda x, y: average_precision_score(y, x)})):
    for name, system in systems.items():
        with open(f"compare_{kind}_{name}.tsv", "w") as out:
            out.write("\t".join(["id", kind, *system]) + "\n")
            for i in range(PAIRS) if name == "a" else reversed(range(PAIRS)):
                out.write("\t".join([f"p{i}", repr(float(target[i]))] +
                                    [repr(float(values[i])) for values in system.values()]) + "\n")
    with open(f"compare_{kind}_expected.tsv", "w") as out:
        for measure in systems["a"]:
            x, y = systems["a"][measure], systems["b"][measure]
            for metric, value in metrics.items():
                differences = [value(y[d], target[d]) - value(x[d], target[d]) for d in drawn]
                low, high = np.percentile(differences, [2.5, 97.5])
                a, b = value(x, target), value(y, target)
                cells = [a, b, b - a, low, high, np.std(differences, ddof=1)]
                out.write("\t".join([f"{measure}_{metric}"] + [f"{n:.12g}" for n in cells]) + "\n")
