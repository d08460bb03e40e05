#!/usr/bin/env python3
"""score_mteb.py - classification and quick clustering by mteb 2.26's own functions.

Reads what score.py wrote, writes score_mteb_*.  The regression is scikit-learn's as mteb sets it
up, so it stops where the reference stops; embeddings as float64, in which scikit-learn's k-means
finds the clusters that ours finds.  Run in tests/golden: python3 -P score_mteb.py
"""
import json
import random
import warnings
from types import SimpleNamespace

import mteb
import numpy as np
import sklearn
from datasets import Dataset
from mteb.abstasks.classification import AbsTaskClassification
from mteb.abstasks.clustering import AbsTaskClustering, _evaluate_clustering_bootstrapped
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")
VERSIONS = f"mteb {mteb.__version__}, scikit-learn {sklearn.__version__}"


def rows_of(name):
    with open(f"score_{name}.jsonl") as lines:
        return [json.loads(line) for line in lines]


def write_expected(name, values):
    with open(f"score_mteb_{name}.tsv", "w") as out:
        out.write(f"# {VERSIONS}\n")
        for key, value in values.items():
            out.write(f"{key}\t{value!r}\n")


def vectors(rows, scale=1.0):
    return (np.array([row["text.emb"] for row in rows]) * scale).astype("f").astype("d")


def classify(name, source, scale):
    """AbsTaskClassification._evaluate_subset without its use of the model."""
    train, test = rows_of(f"{source}_train"), rows_of(f"{source}_test")
    task = SimpleNamespace(seed=42, samples_per_label=8, label_column_name="label")
    dataset = Dataset.from_dict({"label": [row["label"] for row in train]})
    truth = [row["label"] for row in test]
    x, y, order, scores = vectors(train, scale), vectors(test, scale), None, []
    for i in range(10):
        _, order, taken = AbsTaskClassification._undersample_data(task, dataset, i, order)
        model = LogisticRegression(max_iter=100, random_state=42)
        model.fit(x[taken], dataset.select(taken)["label"])
        scores.append(AbsTaskClassification._calculate_scores(task, truth, model.predict(y)))
        print(name, i, model.n_iter_)
    mean = AbsTaskClassification._calculate_avg_scores(
        SimpleNamespace(metadata=SimpleNamespace(name=name)), scores)
    write_expected(name, {key: mean[key] for key in AbsTaskClassification._calculate_scores(
        task, truth, model.predict(y)) if not np.isnan(mean[key])})


for scale in (0.01, 1, 5):
    classify(f"many_{scale}", "many", scale)
    classify(f"two_{scale}", "two", scale)

# quick clustering: three levels of labels; some texts lack the last
rng = np.random.RandomState(11)
first = rng.randint(0, 4, 600)
second = first * 3 + rng.randint(0, 3, 600)
third = second * 2 + rng.randint(0, 2, 600)
centres = rng.randn(4, 4) * 2
shift, turn = rng.randn(12, 4), rng.randn(24, 4) * 0.5
x = np.round(centres[first] + shift[second] + turn[third] + 0.5 * rng.randn(600, 4), 2)
depth = rng.choice([2, 3], 600, p=[0.3, 0.7])
for kind, show in (("text", lambda v: f"c{v}"), ("number", int)):
    rows = [{"text.emb": [float(f) for f in v], "labels": [show(l) for l in levels[:d]]}
            for v, levels, d in zip(x, zip(first, second, third), depth)]
    if kind == "text":
        with open("score_mteb_fast.jsonl", "w") as out:
            for row in rows:
                out.write(json.dumps(row) + "\n")
    state = random.Random(42)
    taken = state.sample(range(len(rows)), k=int(0.7 * len(rows)))
    scores, _ = _evaluate_clustering_bootstrapped(
        vectors([rows[i] for i in taken]), [rows[i]["labels"] for i in taken], n_clusters=4,
        cluster_size=1000, kmean_batch_size=AbsTaskClustering.k_mean_batch_size,
        max_depth=AbsTaskClustering.max_depth, rng_state=state, seed=42)
    expected = {}
    for metric, levels in scores.items():
        values = [v for level in levels.values() for v in level]
        expected[metric] = float(np.mean(values))
        expected[f"{metric}_std"] = float(np.std(values))
        for level, values in levels.items():
            name = {"v_measure": "v_measures", "ami": "ami_scores"}[metric]
            expected[f"{name}_{level.lower().replace(' ', '_')}_last"] = values[-1]
    write_expected(f"fast_{kind}", expected)
