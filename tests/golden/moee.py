#!/usr/bin/env python3
"""moee.py - pairs with hidden states and routing weights, and what tests/moee-sim.bats expects of them.

moee_pairs.jsonl	40 pairs, random but with ties, and a gold score
moee_similarity.tsv	of each pair: the cosine of hidden states, of routing weights, of both joined, their sum
			(alpha 0.5); the sum and the joined after each dimension was standardised over
			batches of 16 texts of a side, and over the texts of both sides
moee_alpha.jsonl	pairs that have given similarities, in sets
moee_alpha.tsv		of each set: the (first) interval of alpha in which the mean of the two Spearman correlations is greatest, that
			mean, and the best of 0.1, 0.2, ... 1
moee_legacy.jsonl	texts with hidden states and routing weights, of two and of three classes, to train and test on
moee_legacy.tsv		what MoEE's released code makes of them: of two classifiers the mean of the predicted numbers cut to a
			whole one (the samples and the regression are those of score.py), of two k-means the mean of the
			numbers as clusters (scikit-learn's random stream since 1.9)
Expected values: numpy in double, scipy's spearmanr at every interval between two crossings.
"""
import json

import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, v_measure_score

rng = np.random.RandomState(12)


def cosines(a, b):
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


def single(x):
    return x.astype(np.float32).astype(np.float64)


def standard(x, mean, deviation):
    return single((x - mean) / (deviation + 1e-8))


def batches(x, size):
    parts = [x[i:i + size] for i in range(0, len(x), size)]
    return np.concatenate([standard(p, p.mean(0), p.std(0, ddof=1)) for p in parts])


def corpus(one, two):
    both = np.concatenate([one, two])
    return [standard(x, both.mean(0), both.std(0, ddof=1)) for x in (one, two)]


def total(hs, rw, alpha):
    return cosines(*hs) + alpha * cosines(*rw)


def joined(hs, rw):
    return cosines(*[np.concatenate(side, 1) for side in zip(hs, rw)])


# pairs
N = 40
hs = [np.round(rng.randn(N, 6) + 0.3, 3) for _ in range(2)]
rw = [np.round(rng.dirichlet(np.ones(5) * 2, N), 4) for _ in range(2)]
hs[1] = np.round(0.6 * hs[0] + 0.8 * hs[1], 3)
for part in (hs, rw):
    for side in part:
        side[30:34] = side[4:8]
    part[1][:2] = part[0][:2]
gold = np.round(np.clip(2.5 + 2 * cosines(*hs) + 6 * (cosines(*rw) - 0.8) + rng.randn(N), 0, 5) * 4) / 4
with open("moee_pairs.jsonl", "w") as out:
    for i in range(N):
        out.write(json.dumps({"sentence1.hs": list(hs[0][i]), "sentence1.rw": list(rw[0][i]),
                              "sentence2.hs": list(hs[1][i]), "sentence2.rw": list(rw[1][i]),
                              "score": float(gold[i])}) + "\n")
hs, rw = [single(x) for x in hs], [single(x) for x in rw]
columns = {"hs": cosines(*hs), "rw": cosines(*rw), "concat": joined(hs, rw), "sum": total(hs, rw, 0.5)}
for name, (h, r) in {"batch": ([batches(x, 16) for x in hs], [batches(x, 16) for x in rw]),
                     "corpus": (corpus(*hs), corpus(*rw))}.items():
    columns["sum_" + name] = total(h, r, 0.5)
    columns["concat_" + name] = joined(h, r)
with open("moee_similarity.tsv", "w") as out:
    out.write("\t".join(columns) + "\n")
    for row in zip(*columns.values()):
        out.write("\t".join(repr(float(x)) for x in row) + "\n")
    out.write("# spearman with the gold scores\n")
    out.write("\t".join(repr(float(spearmanr(x, gold)[0])) for x in columns.values()) + "\n")


# alpha
def objective(alpha, h, r):
    final = h + alpha * r
    return (spearmanr(final, h)[0] + spearmanr(final, r)[0]) / 2


def exhaustive(h, r):
    i, j = np.triu_indices(len(h), 1)
    dh, dr = h[j] - h[i], r[i] - r[j]
    cross = np.unique(dh[dh * dr > 0] / dr[dh * dr > 0])
    borders = [0.0]
    for c in cross:
        if c > borders[-1] * (1 + 1e-11) + 1e-13:
            borders.append(c)
    borders.append(borders[-1] * 2 + 1)
    values = [objective((a + b) / 2, h, r) for a, b in zip(borders, borders[1:])]
    best = next(i for i, v in enumerate(values) if v > max(values) - 1e-12)
    return float(borders[best]), float(borders[best + 1]), float(values[best])


def vectors(similarity, width):
    """A pair of vectors of about that cosine, rounded to a few decimals, and its cosine after rounding."""
    one = np.zeros((len(similarity), width))
    one[:, 0] = 1
    two = np.zeros((len(similarity), width))
    two[:, 0], two[:, 1] = similarity, np.sqrt(1 - similarity ** 2)
    two = np.round(two, 7)
    return one, two, cosines(single(one), single(two))


def related(n, rho, spread, ties=None):
    x, y = rng.randn(n), rng.randn(n)
    h = np.tanh(0.5 * x)
    r = 0.6 + spread * np.tanh(rho * x + np.sqrt(1 - rho * rho) * y)
    return (np.round(h, ties), np.round(r, ties)) if ties else (h, r)


SETS = {"plain": related(60, 0.5, 0.3), "tied": related(60, 0.4, 0.3, 1),
        "against": related(40, -0.6, 0.2), "narrow": related(50, 0.3, 2e-4),
        "few": related(4, 0.2, 0.3)}
with open("moee_alpha.jsonl", "w") as rows, open("moee_alpha.tsv", "w") as out:
    out.write("set\tlow\thigh\tmean\tgrid\n")
    for name, (h, r) in SETS.items():
        h1, h2, h = vectors(h, 2)
        r1, r2, r = vectors(r, 3)
        for i in range(len(h)):
            rows.write(json.dumps({"set": name, "a.hs": list(h1[i]), "a.rw": list(r1[i]),
                                   "b.hs": list(h2[i]), "b.rw": list(r2[i])}) + "\n")
        grid = [objective(k / 10, h, r) for k in range(1, 11)]
        low, high, mean = exhaustive(h, r)
        out.write(f"{name}\t{low!r}\t{high!r}\t{mean!r}\t{(np.argmax(grid) + 1) / 10}\n")


# legacy sum
def samples(label, most=8, experiments=10):
    order = np.arange(len(label))
    for _ in range(experiments):
        np.random.seed(42)
        np.random.shuffle(order)
        counts, taken = {}, []
        for i in order:
            if counts.get(label[i], 0) < most:
                taken.append(i)
                counts[label[i]] = counts.get(label[i], 0) + 1
        yield taken


def averaged(one, two, weight):
    mean = (one + weight * two) / (1 + weight)
    return mean.astype(int)


with open("moee_legacy.jsonl", "w") as rows, open("moee_legacy.tsv", "w") as out:
    for name, classes, n, tests in (("two", 2, 60, 90), ("three", 3, 80, 100)):
        centres = {"hs": rng.randn(classes, 5), "rw": rng.randn(classes, 4)}
        label, truth = rng.randint(0, classes, n), rng.randint(0, classes, tests)
        data = {part: [np.round(centres[part][y] + 1.2 * rng.randn(len(y), centres[part].shape[1]), 2)
                       for y in (label, truth)] for part in centres}
        for split, y in enumerate((label, truth)):
            for i in range(len(y)):
                rows.write(json.dumps({"set": f"{name} {('train', 'test')[split]}", "label": int(y[i]),
                                       "t.hs": list(data["hs"][split][i]),
                                       "t.rw": list(data["rw"][split][i])}) + "\n")
        data = {part: [single(x) for x in sides] for part, sides in data.items()}
        for weight in (1, 0.5):
            scores = {"accuracy": [], "f1": [], "ap": []}
            for taken in samples(label):
                found = [LogisticRegression(tol=1e-10, max_iter=100000).fit(x[taken], label[taken]).predict(y)
                         for x, y in data.values()]
                found = averaged(*found, weight)
                scores["accuracy"].append(accuracy_score(truth, found))
                scores["f1"].append(f1_score(truth, found, average="macro"))
                if classes == 2:
                    scores["ap"].append(average_precision_score(truth, found))
            for metric, values in scores.items():
                if values:
                    out.write(f"{name} {weight} {metric}\t{float(np.mean(values))!r}\n")
            one, two = [MiniBatchKMeans(n_clusters=classes, batch_size=500, n_init="auto",
                                        random_state=np.random.RandomState(42)).fit_predict(y)
                        for _, y in data.values()]
            out.write(f"{name} {weight} v_measure\t{float(v_measure_score(truth, (one + weight * two) / (1 + weight)))!r}\n")
