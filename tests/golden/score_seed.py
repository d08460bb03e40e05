#!/usr/bin/env python3
"""score_seed.py - what the seed 7 gives in place of 42, by scikit-learn and mteb 2.26's own functions.

Reads what score.py and score_mteb.py wrote, writes score_seed_7.tsv.  Run in tests/golden:
python3 -P score_seed.py
"""
import json
import random
import warnings

import mteb
import numpy as np
import sklearn
from mteb.abstasks.clustering import AbsTaskClustering, _evaluate_clustering_bootstrapped
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import v_measure_score

warnings.filterwarnings("ignore")
SEED = 7


def rows_of(name):
    with open(f"score_{name}.jsonl") as lines:
        return [json.loads(line) for line in lines]


def vectors(rows):
    return np.array([row["text.emb"] for row in rows]).astype("f").astype("d")


def classification():
    train, test = rows_of("many_train"), rows_of("many_test")
    x, y = vectors(train), vectors(test)
    label, truth = (np.array([row["label"] for row in rows]) for rows in (train, test))
    order, accuracy = np.arange(len(label)), []
    for _ in range(10):
        np.random.seed(SEED)
        np.random.shuffle(order)
        counts, taken = {}, []
        for i in order:
            if counts.get(label[i], 0) < 8:
                taken.append(i)
                counts[label[i]] = counts.get(label[i], 0) + 1
        model = LogisticRegression(tol=1e-10, max_iter=100000).fit(x[taken], label[taken])
        accuracy.append(np.mean(model.predict(y) == truth))
    return float(np.mean(accuracy))


def clustering():
    v = []
    for row in rows_of("sets"):
        x = np.array(row["sentences.emb"]).astype("f").astype("d")
        fit = MiniBatchKMeans(n_clusters=len(set(row["labels"])), batch_size=500, n_init="auto",
                              random_state=SEED)
        v.append(v_measure_score(row["labels"], fit.fit_predict(x)))
    return float(np.mean(v))


def clustering_fast():
    rows, state = rows_of("mteb_fast"), random.Random(SEED)
    taken = state.sample(range(len(rows)), k=int(0.7 * len(rows)))
    scores, _ = _evaluate_clustering_bootstrapped(
        vectors([rows[i] for i in taken]), [rows[i]["labels"] for i in taken], n_clusters=4,
        cluster_size=1000, kmean_batch_size=AbsTaskClustering.k_mean_batch_size,
        max_depth=AbsTaskClustering.max_depth, rng_state=state, seed=SEED)
    return float(np.mean([v for level in scores["v_measure"].values() for v in level]))


with open(f"score_seed_{SEED}.tsv", "w") as out:
    out.write(f"# mteb {mteb.__version__}, scikit-learn {sklearn.__version__}\n")
    for name in ("classification", "clustering", "clustering_fast"):
        out.write(f"{name}\t{globals()[name]()!r}\n")
