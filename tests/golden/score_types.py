#!/usr/bin/env python3
"""score_types.py - expected values for the task types of mteb-score that score.py leaves out.

v2 is what the functions of mteb (2.26) itself return; v1 are the formulas of mteb 1.x, with
scikit-learn, scipy and pytrec_eval.  Similarities are computed in double and narrowed to float32,
so that equal vectors tie exactly (in float32 throughout, as the reference has it, they tie or
not by where they stand in a matrix product).  Data: random with a fixed seed, with ties made on
purpose; retrieval takes score.py's.  Run in tests/golden; writes score_*.
"""
import json
import warnings

import mteb
import numpy as np
import pytrec_eval
import scipy
import sklearn
from mteb._evaluators import retrieval_metrics
from mteb._evaluators.text.summarization_evaluator import (DeprecatedSummarizationEvaluator,
                                                           SummarizationEvaluator)
from mteb.abstasks import AbsTaskPairClassification
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import auc, average_precision_score
from sklearn.metrics.pairwise import (paired_cosine_distances, paired_euclidean_distances,
                                      paired_manhattan_distances)

warnings.simplefilter("ignore")
rng = np.random.RandomState(11)
CUTS = [1, 3, 5, 10, 20, 100, 1000]
VERSIONS = (f"mteb {mteb.__version__}, scipy {scipy.__version__}, "
            f"scikit-learn {sklearn.__version__}, pytrec_eval")


def write_rows(name, rows):
    with open(f"score_{name}.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")


def write_expected(name, values):
    with open(f"score_{name}.tsv", "w") as out:
        out.write(f"# {VERSIONS}\n")
        for key, value in values.items():
            out.write(f"{key}\t{float(value)!r}\n")


def vectors(n, width, decimals=3):
    return np.round(rng.randn(n, width), decimals)


def plain(x):
    return [[float(v) for v in row] for row in x]


def unit(x):
    x = np.asarray(x, "f").astype("d")
    return (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)).astype("f").astype("d")


def cosines(a, b):
    return (unit(a) @ unit(b).T).astype("f")


# nAUC: mteb's, and that of 1.x, which sorts stably and knows no groups; where a metric is the same
# for all queries they divide what rounding has left: no value
group_nauc = retrieval_metrics.nauc
RATES = np.linspace(0, 1, 11)[:-1]


def curve_v1(confidence, metric):
    order = np.argsort(confidence, kind="stable")
    return np.array([metric[order[min(round(r * len(order)), len(order) - 1):]].mean()
                     for r in RATES])


def nauc_v1(confidence, metric):
    own, best = (auc(RATES, curve_v1(c, metric)) for c in (confidence, metric))
    flat = metric.mean() * RATES[-1]
    return (own - flat) / (best - flat)


def defined(nauc):
    return lambda confidence, metric: (np.nan if np.ptp(metric) < 1e-12
                                       else nauc(confidence, metric))


def retrieval(results, qrels, version):
    retrieval_metrics.nauc = defined(group_nauc if version == 2 else nauc_v1)
    (_, ndcg, mean_ap, recall, precision, naucs, mrr, naucs_mrr,
     hit_rate) = retrieval_metrics.calculate_retrieval_scores(results, qrels, CUTS)
    scores = retrieval_metrics.make_score_dict(
        ndcg=ndcg, _map=mean_ap, recall=recall, precision=precision, mrr=mrr, naucs=naucs,
        naucs_mrr=naucs_mrr, hit_rate=hit_rate, task_scores={})
    return {k: v for k, v in scores.items()
            if version == 2 or not k.startswith(("hit_rate", "accuracy"))}


# pair classification: 70 pairs, ten of them repeated with other labels, one vector of zeros
a, b = vectors(70, 8), vectors(70, 8)
b = np.round(0.5 * a + b, 3)
label = (rng.rand(70) < 0.4).astype(int)
label[::3] = paired_cosine_distances(a, b)[::3] < 0.5
a[10:20], b[10:20], label[10:20] = a[30:40], b[30:40], 1 - label[30:40]
a[5] = 0
write_rows("pairs", [{"sentence1.emb": x, "sentence2.emb": y, "label": int(z)}
                     for x, y, z in zip(plain(a), plain(b), label)])
x, y = a.astype("f"), b.astype("f")
lists = {"similarity_scores": np.sum(unit(a) * unit(b), axis=1).astype("f").tolist(),
         "cosine_scores": (1 - paired_cosine_distances(x.astype("d"), y.astype("d"))
                           ).astype("f").tolist(),
         "manhattan_distances": paired_manhattan_distances(x, y).tolist(),
         "euclidean_distances": paired_euclidean_distances(x, y).tolist(),
         "dot_scores": np.sum(x.astype("d") * y, axis=1).astype("f").tolist()}


class Pairs(AbsTaskPairClassification):
    """The metrics of pairs by mteb, and by 1.x, which also cuts between equal scores."""

    metadata = mteb.get_task("TwitterSemEval2015").metadata
    split_ties = False

    def _find_best_acc_and_threshold(self, scores, labels, high_score_more_similar):
        return super()._find_best_acc_and_threshold(
            self.apart(scores, high_score_more_similar), labels, high_score_more_similar)

    def _find_best_f1_and_threshold(self, scores, labels, high_score_more_similar):
        return super()._find_best_f1_and_threshold(
            self.apart(scores, high_score_more_similar), labels, high_score_more_similar)

    def apart(self, scores, falling):
        if not self.split_ties:
            return scores
        # equal scores, made slightly different in the order of the rows
        return [s + (-i if falling else i) * 1e-12 for i, s in enumerate(scores)]


def thresholds(task):
    values = {}
    for name, scores, high in (("similarity", "similarity_scores", True),
                               ("cosine", "cosine_scores", True), ("dot", "dot_scores", True),
                               ("manhattan", "manhattan_distances", False),
                               ("euclidean", "euclidean_distances", False)):
        values[f"{name}_accuracy_threshold"] = task._find_best_acc_and_threshold(
            lists[scores], label, high)[1]
        values[f"{name}_f1_threshold"] = task._find_best_f1_and_threshold(
            lists[scores], label, high)[3]
    return values


for version in (1, 2):
    task = Pairs()
    task.split_ties = version == 1
    write_expected(f"pairs_v{version}", {**task._compute_metrics(lists, label.tolist()),
                                         **thresholds(task)})


# reranking: rows of one query or of several; a positive that is a negative, equal negatives
def reranking(name, several):
    rows, by_row, map_v1, mrr_v1 = [], {}, [], []
    results, qrels = {}, {}
    for row in range(14):
        queries = vectors(1 + row % 3 if several else 1, 5, 1)
        positive, negative = vectors(1 + row % 3, 5, 1), vectors(2 + row % 5, 5, 1)
        positive = np.round(positive + 0.3 * queries[0], 1)
        if row % 4 == 0:
            negative[0] = positive[0]
        if row % 3 == 0:
            negative[-1] = negative[0]
        rows.append({"query.emb": plain(queries) if several else plain(queries)[0],
                     "positive.emb": plain(positive), "negative.emb": plain(negative)})
        scores = cosines(queries, np.concatenate([positive, negative]))
        best = scores.max(axis=0)
        relevant = [True] * len(positive) + [False] * len(negative)
        map_v1.append(average_precision_score(relevant, best))
        first = [relevant[i] for i in np.argsort(-best, kind="stable")[:10]]
        mrr_v1.append(1 / (first.index(True) + 1) if True in first else 0)
        by_row[f"r{row}"] = {str(i): float(s) for i, s in enumerate(best)}
        documents = ([f"apositive_{row}_{i:05}" for i in range(len(positive))] +
                     [f"negative_{row}_{i:05}" for i in range(len(negative))])
        for q, of_query in enumerate(scores):
            key = f"query{row}_{q}"
            results[key] = dict(zip(documents, map(float, of_query)))
            qrels[key] = {d: int(r) for d, r in zip(documents, relevant)}
    write_rows(name, rows)
    retrieval_metrics.nauc = defined(nauc_v1)
    write_expected(f"{name}_v1", {
        "map": np.mean(map_v1), "mrr": np.mean(mrr_v1),
        **retrieval_metrics.evaluate_abstention(by_row, {"map": map_v1, "mrr": mrr_v1})})
    expected = retrieval(results, qrels, 2)
    if several:
        expected.update(retrieval_metrics.max_over_subqueries(qrels, results, CUTS))
    write_expected(f"{name}_v2", expected)


reranking("rerank", False)
reranking("rerank_several", True)

# summarization: repeated summaries, relevances in thirds; a text of equal relevances, one of equal
# summaries: left out
rows, distances = [], {k: [] for k in ("cosine_scores", "dot_scores", "similarity_scores",
                                       "human_scores")}
for text in range(8):
    human, machine = vectors(3, 6), vectors(9, 6)
    relevance = np.round(rng.randint(3, 16, 9) / 3, 4)
    machine[4] = machine[2]
    if text == 3:
        relevance[:] = 2
    if text == 5:
        machine[:] = machine[0]
    rows.append({"human_summaries.emb": plain(human), "machine_summaries.emb": plain(machine),
                 "relevance": [float(r) for r in relevance]})
    if text in (3, 5):
        continue
    cosine = cosines(machine, human).max(axis=1)
    dot = (machine.astype("f").astype("d") @ human.astype("f").T).astype("f").max(axis=1)
    euclidean = -np.linalg.norm(machine.astype("f").astype("d")[:, None] - human.astype("f"),
                                axis=2).min(axis=1).astype("f")
    for key, value in (("cosine_scores", cosine), ("dot_scores", dot),
                       ("similarity_scores", euclidean), ("human_scores", relevance)):
        distances[key].append(value.tolist())
write_rows("summaries", rows)
for version, evaluator in ((1, DeprecatedSummarizationEvaluator), (2, SummarizationEvaluator)):
    write_expected(f"summaries_v{version}", evaluator._calculate_metrics(None, distances))

# sts: the model's own similarity, of the pairs above, against relevances in quarters
gold = np.round(np.clip(np.array(lists["cosine_scores"]) * 3 + rng.randn(70), 0, 5) * 4) / 4
write_rows("own", [{"sentence1.emb": p, "sentence2.emb": q, "score": float(s)}
                   for p, q, s in zip(plain(a), plain(b), gold)])
for name in ("similarity_scores", "dot_scores"):
    write_expected("own_" + ("cosine" if name[0] == "s" else "dot"), {
        "pearson": pearsonr(gold, lists[name])[0], "spearman": spearmanr(gold, lists[name])[0]})


# retrieval: score.py's, all that mteb reports
def read(name):
    return [json.loads(line) for line in open(f"score_{name}.jsonl")]


queries, corpus, qrels = read("queries"), read("corpus"), {}
for line in open("score_qrels.tsv").read().splitlines()[1:]:
    query, document, grade = line.split("\t")
    qrels.setdefault(query, {})[document] = int(grade)
scores = cosines([q["text.emb"] for q in queries], [c["text.emb"] for c in corpus])
results = {q["_id"]: {c["_id"]: float(s) for c, s in zip(corpus, of_query)}
           for q, of_query in zip(queries, scores) if q["_id"] in qrels}
for version in (1, 2):
    write_expected(f"retrieval_v{version}", retrieval(results, qrels, version))
assert pytrec_eval
