#!/usr/bin/env python3
"""compare_queries.py - scores of two made-up systems on each query, and what scipy and numpy say of
their differences: compare_queries_{a,b}.tsv (as mteb-score --per-query writes) and
compare_queries_expected.tsv (as leaderboard compare --from-per-query).  Run in tests/golden."""
import numpy as np
import scipy.stats

SEED, RESAMPLES = 42, 10000
rng = np.random.RandomState(5)
QUERIES = [f"q {i}" for i in range(13)]
base = rng.rand(13)
metrics = {
    "plain": (base, base + rng.normal(0.1, 0.1, 13)),
    "rare": (np.round(base), np.where(rng.rand(13) < 0.4, 1 - np.round(base), np.round(base))),
    "steps": (np.round(base, 1), np.round(base + rng.choice([-0.2, 0.1, 0.2], 13), 1)),
    "sure": (base, base + 0.5 + rng.normal(0, 0.0005, 13)),
    "same": (base, base),
}


def write(name, which, order, more):
    with open(f"compare_queries_{name}.tsv", "w") as out:
        out.write("\t".join(["id", *metrics, f"only_{name}"]) + "\n")
        for i in order:
            out.write("\t".join([QUERIES[i]] + [repr(float(m[which][i])) for m in metrics.values()]
                                + ["1"]) + "\n")
        out.write("\t".join([more] + ["0.5"] * (len(metrics) + 1)) + "\n")


write("a", 0, range(13), "alone")
write("b", 1, rng.permutation(13), "lonely")
with open("compare_queries_expected.tsv", "w") as out:
    drawn = np.random.RandomState(SEED).randint(0, 13, (RESAMPLES, 13))
    for name, (a, b) in metrics.items():
        d = b - a
        t = scipy.stats.ttest_rel(b, a)
        exact = scipy.stats.permutation_test((d,), np.mean, permutation_type="samples",
                                             n_resamples=np.inf)
        low, high = np.percentile(d[drawn].mean(axis=1), [2.5, 97.5])
        cells = [a.mean(), b.mean(), d.mean(), t.statistic, t.pvalue, exact.pvalue, low, high,
                 scipy.stats.sem(d)]
        out.write("\t".join([name] + ["" if np.isnan(x) else f"{x:.12g}" for x in cells]) + "\n")
