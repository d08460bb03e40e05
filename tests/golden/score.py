#!/usr/bin/env python3
"""score.py - make the small data sets that tests/mteb-score.bats scores, and the values expected.

Expected values come from scipy, scikit-learn and pytrec_eval; versions are noted in each file.
Data: random with a fixed seed, few decimals, with ties made on purpose (equal pairs, equal
documents, graded and zero judgements).  Run in tests/golden; writes score_*.
"""
import json

import numpy as np
import pytrec_eval
import scipy
import scipy.stats
import sklearn
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (accuracy_score, average_precision_score, f1_score,
                             v_measure_score)
from sklearn.metrics.pairwise import (paired_cosine_distances, paired_euclidean_distances,
                                      paired_manhattan_distances)

rng = np.random.RandomState(7)
VERSIONS = f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}, pytrec_eval"


def write_rows(name, rows):
    with open(f"score_{name}.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")


def write_expected(name, values):
    with open(f"score_{name}.tsv", "w") as out:
        out.write(f"# {VERSIONS}\n")
        for key, value in values.items():
            out.write(f"{key}\t{value!r}\n")


def vectors(n, width, decimals=3):
    return np.round(rng.randn(n, width), decimals)


def plain(values):
    return [float(v) for v in values]


# sts: 80 pairs; the first 6 have equal vectors, pairs 10..15 are repeated; scores are multiples of 1/4
a = vectors(80, 8, 5)
b = np.round(a * 0.6 + 0.8 * vectors(80, 8), 5)
b[:6] = a[:6]
a[10:16], b[10:16] = a[20:26], b[20:26]
cosine = 1 - paired_cosine_distances(a.astype("f"), b.astype("f"))
gold = np.round(np.clip(4 * cosine + rng.randn(80), 0, 5) * 4) / 4
write_rows("sts", [{"sentence1.emb": plain(x), "sentence2.emb": plain(y), "score": float(s)}
                   for x, y, s in zip(a, b, gold)])
x, y = a.astype("f"), b.astype("f")
expected = {}
for name, similarity in (("cosine", cosine), ("manhattan", -paired_manhattan_distances(x, y)),
                         ("euclidean", -paired_euclidean_distances(x, y))):
    expected[f"{name}_spearman"] = float(scipy.stats.spearmanr(similarity, gold)[0])
    expected[f"{name}_pearson"] = float(scipy.stats.pearsonr(similarity, gold)[0])
write_expected("sts", expected)

# retrieval: 15 queries, 120 documents, many of them equal; grades 0..3; query q3 equals document q3
queries, documents = vectors(15, 6, 1), vectors(120, 6, 1)
documents[60:100] = documents[20:60]
query_ids = [f"q{i}" for i in range(15)]
document_ids = [f"d{i}" for i in rng.permutation(120)]
document_ids[5] = "q3"
documents[5] = queries[3]


def unit(x):
    x = x.astype("f").astype("d")
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype("f").astype("d")


scores = (unit(queries) @ unit(documents).T).astype("f")
qrels = {}
for q, query in enumerate(query_ids[:13]):  # two queries have no judgements
    best = np.argsort(-scores[q], kind="stable")[:40]
    picks = rng.choice(best, 10, replace=False)
    qrels[query] = {document_ids[d]: int(g) for d, g in zip(picks, rng.randint(0, 4, 10))}
qrels["q3"]["q3"] = 2
qrels["q4"] = {d: 0 for d in qrels["q4"]}
qrels["q5"]["nowhere"] = 1
write_rows("queries", [{"_id": i, "text.emb": plain(v)} for i, v in zip(query_ids, queries)])
write_rows("corpus", [{"_id": i, "text.emb": plain(v)} for i, v in zip(document_ids, documents)])
with open("score_qrels.tsv", "w") as out:
    out.write("query-id\tcorpus-id\tscore\n")
    for query in qrels:
        for document, grade in qrels[query].items():
            out.write(f"{query}\t{document}\t{grade}\n")
CUTS = [1, 3, 5, 10, 20, 100, 1000]


def trec(ignore):
    run = {query: {d: float(scores[q][i]) for i, d in enumerate(document_ids)
                   if not (ignore and d == query)} for q, query in enumerate(query_ids)}
    wanted = {f"{m}." + ",".join(map(str, CUTS)) for m in ("ndcg_cut", "map_cut", "recall", "P")}
    result = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(
        {q: run[q] for q in qrels})
    values = {}
    for ours, theirs in (("ndcg", "ndcg_cut"), ("map", "map_cut"), ("recall", "recall"),
                         ("precision", "P")):
        for k in CUTS:
            mean = sum(result[q][f"{theirs}_{k}"] for q in qrels) / len(qrels)
            values[f"{ours}_at_{k}"] = round(mean, 5)
    for k in CUTS:
        total = 0
        for q in qrels:
            order = sorted(run[q], key=lambda d: (run[q][d], d), reverse=True)[:k]
            total += next((1 / (r + 1) for r, d in enumerate(order) if qrels[q].get(d, 0) > 0), 0)
        values[f"mrr_at_{k}"] = total / len(qrels)
    return values


write_expected("retrieval", trec(False))
write_expected("retrieval_ignored", trec(True))


# classification: undersampling as mteb 1.x does it, the regression solved to the end
def classify(name, classes, n, tests, width, samples, as_text):
    centres = vectors(classes, width, 2)
    label, truth = rng.randint(0, classes, n), rng.randint(0, classes, tests)
    train = np.round(centres[label] + 1.5 * rng.randn(n, width), 2)
    test = np.round(centres[truth] + 1.5 * rng.randn(tests, width), 2)
    show = (lambda v: f"class {9 - v}") if as_text else int
    write_rows(f"{name}_train", [{"text.emb": plain(v), "label": show(y)}
                                 for v, y in zip(train, label)])
    write_rows(f"{name}_test", [{"text.emb": plain(v), "label": show(y)}
                                for v, y in zip(test, truth)])
    label, truth = (np.array([9 - v if as_text else v for v in y]) for y in (label, truth))
    per = {"accuracy": [], "f1": [], "f1_weighted": []}
    right = np.zeros(tests)
    if classes == 2:
        per["ap"] = []
    order = np.arange(n)
    for _ in range(10):
        np.random.seed(42)
        np.random.shuffle(order)
        counts, taken = {}, []
        for i in order:
            if counts.get(label[i], 0) < samples:
                taken.append(i)
                counts[label[i]] = counts.get(label[i], 0) + 1
        model = LogisticRegression(tol=1e-10, max_iter=100000)
        model.fit(train[taken].astype("f").astype("d"), label[taken])
        found = model.predict(test.astype("f").astype("d"))
        right += found == truth
        per["accuracy"].append(accuracy_score(truth, found))
        per["f1"].append(f1_score(truth, found, average="macro"))
        per["f1_weighted"].append(f1_score(truth, found, average="weighted"))
        if classes == 2:
            per["ap"].append(average_precision_score(truth, found, pos_label=max(label)))
    write_expected(name, {k: float(np.mean(v)) for k, v in per.items()})
    with open(f"score_{name}_rows.tsv", "w") as out:
        out.write("id\taccuracy\n" + "".join(f"{i + 1}\t{k / 10:g}\n" for i, k in enumerate(right)))


classify("many", 5, 90, 120, 6, 8, True)
classify("two", 2, 60, 100, 4, 8, False)


# clustering: two sets in MTEB's layout; one above the batch of 500, one with more clusters
class Randint(np.random.RandomState):
    """The stream of scikit-learn 1.3 to 1.8: mini-batches by randint."""

    def choice(self, a, size=None, replace=True, p=None):
        if size is not None and replace and p is not None:
            return self.randint(0, a, size)
        return super().choice(a, size=size, replace=replace, p=p)


sets = []
for n, k, spread in ((760, 7, 0.8), (300, 23, 0.5)):
    centres = vectors(k, 3, 2)
    label = rng.randint(0, k, n)
    sets.append((np.round(centres[label] + spread * rng.randn(n, 3), 2), label))
write_rows("sets", [{"sentences.emb": [plain(v) for v in x], "labels": [f"c{y}" for y in label]}
                    for x, label in sets])
for version, generator in (("1.8", Randint), ("1.9", np.random.RandomState)):
    v = []
    for x, label in sets:
        fit = MiniBatchKMeans(n_clusters=len(set(label)), batch_size=500, n_init="auto",
                              random_state=generator(42))
        v.append(v_measure_score(label, fit.fit_predict(x.astype("f").astype("d"))))
    write_expected(f"sets_{version}", {"v_measure": float(np.mean(v)),
                                       "v_measure_std": float(np.std(v)),
                                       "v_1": float(v[0]), "v_2": float(v[1])})
