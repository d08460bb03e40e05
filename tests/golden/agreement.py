#!/usr/bin/env python3
"""agreement.py - made-up texts by two models, with labels, and what scikit-learn says of how clusterings agree:
agreement.jsonl (x.emb and y.emb, vectors; fine and coarse, labels; odd, labels with many singletons),
agreement_labels.tsv (fine coarse, fine odd, coarse odd: AMI, NMI, Jaccard of pairs, share in clusters matched by
linear_sum_assignment, share in identical clusters), agreement_kmeans.tsv (the same of k-means of x.emb and y.emb, K 6, runs
from the seeds 7 8, 9 10, 11 12; their means, then standard deviations), agreement_large.tsv (random labels of 20000
rows in 100 and 37 clusters, as geom's test makes them).  Run in tests/golden."""
import json

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

rng = np.random.RandomState(31)
ROWS = 300


class Randint(np.random.RandomState):
    """The stream of scikit-learn 1.3 to 1.8: mini-batches by randint."""

    def choice(self, a, size=None, replace=True, p=None):
        if size is not None and p is not None and np.allclose(p, p[0]):
            return self.randint(0, a, size)
        return super().choice(a, size=size, replace=replace, p=p)


def agreement(a, b):
    table = contingency_matrix(a, b)
    apart = pair_confusion_matrix(a, b)
    either = apart[0, 1] + apart[1, 0] + apart[1, 1]
    rows, columns = linear_sum_assignment(table, maximize=True)
    same = (table == table.sum(1, keepdims=True)) & (table == table.sum(0, keepdims=True))
    return [adjusted_mutual_info_score(a, b), normalized_mutual_info_score(a, b), apart[1, 1] / either,
            table[rows, columns].sum() / len(a), table[same].sum() / len(a)]


def write(name, lines):
    with open(name, "w") as out:
        for line in lines:
            out.write("\t".join(f"{v:.15g}" for v in line) + "\n")


fine = rng.randint(0, 7, ROWS)
coarse = np.where(rng.uniform(size=ROWS) < 0.8, fine // 2, 9)
coarse[fine == 6] = 33
odd = np.where(fine == 6, 0, np.arange(ROWS))
x = np.round(rng.normal(0, 1, (7, 6))[fine] * 1.5 + rng.normal(0, 1, (ROWS, 6)), 2)
y = np.round(rng.normal(0, 1, (7, 4))[fine] * 2 + rng.normal(0, 1, (ROWS, 4)), 2)
with open("agreement.jsonl", "w") as out:
    for i in range(ROWS):
        row = {"_id": f"t{i}", "x.emb": x[i].tolist(), "y.emb": y[i].tolist(), "fine": "abcdefg"[fine[i]],
               "coarse": int(coarse[i]), "odd": int(odd[i])}
        out.write(json.dumps(row, separators=(",", ":")) + "\n")
write("agreement_labels.tsv", [agreement(fine, coarse), agreement(fine, odd), agreement(coarse, odd)])

runs = []
for run in range(3):
    found = []
    for i, points in enumerate((x, y)):
        fit = MiniBatchKMeans(n_clusters=6, batch_size=500, n_init="auto", random_state=Randint(7 + 2 * run + i))
        found.append(fit.fit_predict(points.astype(np.float32).astype(np.float64)))
    runs.append(agreement(*found))
write("agreement_kmeans.tsv", [list(np.mean(runs, 0)) + list(np.std(runs, 0, ddof=1))])

i = np.arange(20000)
a = i * 7919 % 10007 % 100
write("agreement_large.tsv", [agreement(a, np.where(i % 3 > 0, a * 37 // 100, i // 7 % 37))])
