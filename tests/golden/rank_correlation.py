#!/usr/bin/env python3
"""rank_correlation.py - similarities of 40 pairs by five made-up models, and scipy's Spearman correlations of each two:
rank_correlation.tsv (id, gold, and a column a model), rank_correlation_expected.tsv (the matrix).  Run in tests/golden."""
import numpy as np
from scipy.stats import spearmanr

rng = np.random.RandomState(3)
gold = rng.randint(0, 6, 40)
columns = [np.round(gold * 0.1 + rng.normal(0, spread, 40), 2) for spread in (0.1, 0.15, 0.4, 0.5, 0.45)]
with open("rank_correlation.tsv", "w") as out:
    out.write("id\tgold\th1\th2\tr1\tr2\tr3\n")
    for i, row in enumerate(zip(gold, *columns)):
        out.write(f"p{i}\t" + "\t".join(f"{v:g}" for v in row) + "\n")
rho = spearmanr(np.array(columns).T).statistic
with open("rank_correlation_expected.tsv", "w") as out:
    for row in rho:
        out.write("\t".join(f"{v:.15g}" for v in row) + "\n")
