#!/usr/bin/env python3
"""per_query.py - a run of made-up documents, judgements of more queries than it has, and what
pytrec_eval says of each query at other cut-offs than MTEB's: per_query_run.trec, per_query_qrels.tsv,
per_query_expected.tsv (a line a query, as mteb-score --per-query) and per_query_complete.tsv (means
over all judged queries, as trec_eval -c).  Run in tests/golden."""
import numpy as np
import pytrec_eval

CUTS = [1, 5, 10, 50]
MEASURES = [("ndcg", "ndcg_cut"), ("map", "map_cut"), ("recall", "recall"), ("precision", "P")]
rng = np.random.RandomState(23)

run, qrels = {}, {}
for q in range(12):
    documents = [f"d{i:03d}" for i in rng.permutation(200)[:rng.randint(3, 70)]]
    if q not in (4, 9):  # no documents are found for these
        scores = np.round(rng.rand(len(documents)), 1 + q % 3)  # many are equal
        run[f"q{q}"] = dict(zip(documents, map(float, scores)))
    judged = rng.permutation(documents)[:8].tolist() + ["elsewhere"]
    qrels[f"q{q}"] = {d: int(g) for d, g in zip(judged, rng.randint(0, 4, len(judged)))}
qrels["q7"] = {d: 0 for d in qrels["q7"]}
run["unjudged"] = {"d001": 1.0}

with open("per_query_run.trec", "w") as out:
    for q, documents in run.items():
        for rank, (d, score) in enumerate(sorted(documents.items(), key=lambda x: -x[1]), 1):
            out.write(f"{q} Q0 {d} {rank} {score} made\n")
with open("per_query_qrels.tsv", "w") as out:
    for q, documents in qrels.items():
        for d, grade in documents.items():
            out.write(f"{q}\t{d}\t{grade}\n")

wanted = {f"{theirs}." + ",".join(map(str, CUTS)) for _, theirs in MEASURES}
found = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
names = [(f"{ours}_at_{k}", f"{theirs}_{k}") for ours, theirs in MEASURES for k in CUTS]
with open("per_query_expected.tsv", "w") as out:
    out.write("\t".join(["id"] + [ours for ours, _ in names]) + "\n")
    for q in run:
        if q in qrels:
            out.write("\t".join([q] + [f"{found[q][theirs]:.12g}" for _, theirs in names]) + "\n")
with open("per_query_complete.tsv", "w") as out:
    for ours, theirs in names:
        total = sum(found[q][theirs] for q in qrels if q in found)
        out.write(f"{ours}\t{round(total / len(qrels), 5)!r}\n")
