#!/usr/bin/env python3
"""Pilots, routes and classifiers by numpy and scikit-learn: what tests/pilot-build.bats and tests/pilot-route.bats expect.

Writes, beside itself, routing_train.jsonl (queries of two data sets with their scores for three gates; 16 have one
best gate for each gate, the others are ties), routing_queries.jsonl, and routing_expected.tsv, lines of

	pilot TIES GATE DATASET SIZE VECTOR...
	route RULE SIMILARITY BEST SCORE...		a query each
	head GATE BIAS WEIGHTS...			softmax regression on the 48
	expert GATE BIAS WEIGHTS...			gates a and b against each other, on their 32
"""
import json
import os

import numpy as np
from sklearn.linear_model import LogisticRegression

HERE = os.path.dirname(os.path.abspath(__file__))
GATES = ["a", "b", "c"]
WIDTH = 5
random = np.random.default_rng(11)


def rounded(x):
    return np.round(x, 4).astype(np.float32)


def draw():
    kinds = ["a", "b", "c"] * 16 + ["ab"] * 5 + ["bc"] * 4 + ["abc"] * 3
    centres = random.normal(size=(3, WIDTH))
    for i in random.permutation(len(kinds)):
        best = np.array([g in kinds[i] for g in GATES])
        scores = np.where(best, 0.75, rounded(random.uniform(0, 0.7, 3)))
        if len(kinds[i]) == 3:
            scores[:] = 0
        vector = rounded(centres[best].mean(0) + 0.8 * random.normal(size=WIDTH))
        # gate c serves none of the second data set alone
        dataset = "one" if kinds[i] == "c" or i % 3 else "two"
        yield dataset, np.round(scores, 4), vector


def pilots(rows, ties):
    for dataset in dict.fromkeys(row[0] for row in rows):
        for g, gate in enumerate(GATES):
            weights, vectors = [], []
            for name, scores, vector in rows:
                best = scores == scores.max()
                if name != dataset:
                    continue
                if ties == "split":
                    weight = best[g] / best.sum()
                else:
                    weight = float(np.argmax(scores) == g and (ties == "first" or best.sum() == 1))
                weights.append(weight)
                vectors.append(vector.astype(float))
            if sum(weights):
                mean = np.average(vectors, axis=0, weights=weights)
                yield gate, dataset, sum(weights), mean.astype(np.float32)


def routes(library, queries, rule, similarity):
    gates = list(dict.fromkeys(gate for gate, *_ in library))
    for query in queries.astype(float):
        scores = []
        for gate in gates:
            own = np.array([vector for g, _, _, vector in library if g == gate], dtype=float)
            if similarity == "cosine":
                own = own / np.linalg.norm(own, axis=1, keepdims=True)
            dots = own @ query / (np.linalg.norm(query) if similarity == "cosine" else 1)
            scores.append(dots.mean() if rule == "mean" else dots.max())
        yield gates[int(np.argmax(scores))], scores


def fit(rows, gates):
    best = [int(np.argmax(scores)) for _, scores, _ in rows]
    x = np.array([vector for *_, vector in rows], dtype=float)
    model = LogisticRegression(C=1, tol=1e-10, max_iter=10000).fit(x, best)
    return model.intercept_, model.coef_, gates


def main():
    rows = list(draw())
    queries = rounded(random.normal(size=(12, WIDTH)))
    with open(f"{HERE}/routing_train.jsonl", "w") as out:
        for i, (dataset, scores, vector) in enumerate(rows):
            record = {"_id": f"t{i}", "dataset": dataset, "text.emb": [float(f"{x:.4f}") for x in vector]}
            record |= {f"score.{g}": float(f"{s:.4f}") for g, s in zip(GATES, scores)}
            out.write(json.dumps(record) + "\n")
    with open(f"{HERE}/routing_queries.jsonl", "w") as out:
        for i, vector in enumerate(queries):
            out.write(json.dumps({"_id": f"q{i}", "text.emb": [float(f"{x:.4f}") for x in vector]}) + "\n")
    single = [row for row in rows if (row[1] == row[1].max()).sum() == 1]
    with open(f"{HERE}/routing_expected.tsv", "w") as out:
        def put(*cells):
            out.write("\t".join(c if isinstance(c, str) else f"{c:.9g}" for c in cells) + "\n")

        for ties in ("first", "drop", "split"):
            for gate, dataset, size, vector in pilots(rows, ties):
                put("pilot", ties, gate, dataset, size, *vector)
        library = list(pilots(rows, "first"))
        for rule in ("mean", "max"):
            for similarity in ("dot", "cosine"):
                for best, scores in routes(library, queries, rule, similarity):
                    put("route", rule, similarity, best, *scores)
        biases, weights, _ = fit(single, GATES)
        for gate, bias, vector in zip(GATES, biases, weights):
            put("head", gate, bias, *vector)
        two = [(d, s[:2], v) for d, s, v in single if s.argmax() < 2]
        bias, weights, _ = fit(two, GATES[:2])
        put("expert", "a", -bias[0], *-weights[0])
        put("expert", "b", bias[0], *weights[0])


if __name__ == "__main__":
    main()
