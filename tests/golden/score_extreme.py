"""Runs whose scores exceed float32, as mteb 2.26 judges them once they are float32: score_extreme*.

A score of the lowest double is what masked documents get; as a float32 it is -infinity.
"""

import random
import re
from pathlib import Path

import numpy as np
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

HERE = Path(__file__).parent
LOWEST = -1.7976931348623157e308
CUTS = [1, 3, 5, 10, 20, 100, 1000]

draw = random.Random(5)
run, qrels = {}, {}
for q in range(12):
    documents = [f"d{i}" for i in draw.sample(range(40), 8)]
    scores = [round(draw.uniform(-1, 1), 3) for _ in documents]
    for masked in range(q % 4):
        scores[masked] = LOWEST
    if q == 5:
        scores[3] = 1e200
    run[f"q{q}"] = dict(zip(documents, scores))
    qrels[f"q{q}"] = {d: draw.randint(1, 2) for d in draw.sample(documents, 3)}
with open(HERE / "score_extreme.trec", "w") as file:
    for q, found in run.items():
        for rank, (d, score) in enumerate(sorted(found.items(), key=lambda hit: -hit[1])):
            file.write(f"{q} Q0 {d} {rank + 1} {score} x\n")
with open(HERE / "score_extreme_qrels.tsv", "w") as file:
    for q, judged in qrels.items():
        for d, grade in judged.items():
            file.write(f"{q}\t{d}\t{grade}\n")

with np.errstate(all="ignore"):
    narrow = {q: {d: float(np.float32(s)) for d, s in found.items()} for q, found in run.items()}
    found = calculate_retrieval_scores(narrow, qrels, CUTS)
with open(HERE / "score_extreme.tsv", "w") as file:
    file.write("# mteb 2.26 of score_extreme.trec in float32\n")
    for measure in (found.ndcg, found.map, found.recall, found.precision, found.mrr, found.naucs, found.naucs_mrr):
        for name, value in measure.items():
            # the nAUC of a precision that is equal for all queries is only rounding
            if name.startswith(("nAUC_P@100", "nAUC_P@1000")):
                continue
            name = re.sub(r"(^|_)p@", r"\1precision@", name.lower())
            file.write(f"{name.replace('@', '_at_')}\t{value:.17g}\n")
