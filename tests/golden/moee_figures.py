#!/usr/bin/env python3
"""moee_figures.py - 60 made-up pairs, ranked by two models, and what numpy and scipy say of them: moee_figures.tsv (id, length,
gold, hs, rw), moee_complementarity.tsv (thresholds 0.1 and 0.25: as complementarity.awk, without the name of the set),
moee_lengths.tsv (as lengths.awk with step 10 and threshold 0.15, of bins, all and correlation; NaN is -1).  Run in tests/golden."""
import numpy as np
from scipy.stats import rankdata, spearmanr

rng = np.random.RandomState(12)
PAIRS = 60
length = rng.choice([3, 7.5, 12, 18, 19.5, 33], PAIRS)
gold = np.round(rng.uniform(0, 5, PAIRS) * 2) / 2
hs = np.round(gold / 5 + rng.normal(0, 0.15, PAIRS), 2)
rw = np.round(gold / 5 + rng.normal(0, 0.30, PAIRS), 2)
with open("moee_figures.tsv", "w") as out:
    out.write("id\tlength\tgold\ths\trw\n")
    for i in range(PAIRS):
        out.write(f"p{i}\t{length[i]:g}\t{gold[i]:g}\t{hs[i]:g}\t{rw[i]:g}\n")

off = [np.abs(rankdata(x) - rankdata(gold)) / PAIRS for x in (hs, rw)]
with open("moee_complementarity.tsv", "w") as out:
    for threshold in (0.1, 0.25):
        a, b = (x > threshold for x in off)
        failed = (a | b).sum()
        p, q = a.mean(), b.mean()
        numbers = [threshold, PAIRS, failed, (a & ~b).sum() / failed, (b & ~a).sum() / failed, (a & b).sum() / failed,
                   (p * (1 - q) + q * (1 - p)) / (1 - (1 - p) * (1 - q))]
        out.write("\t".join(f"{v:.6f}" for v in numbers) + "\n")

with open("moee_lengths.tsv", "w") as out:
    right = [x <= 0.15 for x in off]
    for where in [(length >= 10 * bin) & (length < 10 * bin + 10) for bin in range(4)] + [length > 0]:
        line = [where.sum()]
        for x in right:
            line += [x[where].mean(), x[where].std() / np.sqrt(where.sum())] if where.any() else []
        out.write("\t".join(f"{v:.6f}" for v in line) + "\n")
    out.write("\t".join(f"{v:.6f}" for v in [PAIRS] + [spearmanr(length, x).statistic for x in off]) + "\n")
