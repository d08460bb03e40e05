#!/usr/bin/env python3
"""fuse.py - a second run beside trec.run, drawn, and both fused by ranx: fuse.run, fuse.tsv

	tests/golden/fuse.py

Needs ranx.  A line of fuse.tsv is a method, a query, a document and its score; min-max has the weights 0.3 and 0.7.
Equal scores get their ranks by id, descending, before ranx sees them, as trec_eval orders them.
"""
import os, random

from ranx import Run, fuse

HERE = os.path.dirname(os.path.abspath(__file__))
draw = random.Random(5)


def read(path):
    run = {}
    for line in open(path):
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return run


def by_rank(run):
    return {q: {d: float(len(found) - i) for i, d in enumerate(sorted(found, key=lambda d: (found[d], d), reverse=True))}
            for q, found in run.items()}


first = read(os.path.join(HERE, "trec.run"))
with open(os.path.join(HERE, "fuse.run"), "w") as out:
    for q in range(6):  # the scores of q5 are all equal
        found = draw.sample(range(60), draw.randint(1, 30))
        for rank, d in enumerate(found):
            print("q%d" % q, "Q0", "d%d" % d, rank, 7 if q == 5 else draw.randint(-5, 20) / 8, "drawn", file=out)
second = read(os.path.join(HERE, "fuse.run"))
fused = {"rrf": fuse([Run(by_rank(first)), Run(by_rank(second))], norm=None, method="rrf", params={"k": 60}),
         "min-max": fuse([Run(first), Run(second)], norm="min-max", method="wsum", params={"weights": (0.3, 0.7)})}
with open(os.path.join(HERE, "fuse.tsv"), "w") as out:
    for method, run in fused.items():
        for q, found in sorted(run.to_dict().items()):
            for d, score in sorted(found.items()):
                print(method, q, d, "%.9g" % score, sep="\t", file=out)
