#!/usr/bin/env python3
"""trec.py - a run and judgements, drawn, with trec_eval's measures of them: trec.run, trec.qrels, trec.tsv

	tests/golden/trec.py [SEED [FOLDER]]

Needs pytrec_eval, which is trec_eval 9.0.8's code.  Scores have ties; grades are -1 (beyond the judged sample, for infAP) to 3;
some documents are not judged; query q0 has no relevant document, and q1 finds none.  A line of trec.tsv is a query, a measure,
the options of mteb-score and the value.
"""
import os, random, sys

import pytrec_eval

HERE = os.path.dirname(os.path.abspath(__file__))
draw = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
here = sys.argv[2] if len(sys.argv) > 2 else HERE
run, qrels = {}, {}
for q in range(6):
    name = "q%d" % q
    documents = ["d%d" % d for d in range(60)]
    qrels[name] = {d: draw.choice([-1, 0, 0, 0, 0, 1, 1, 2, 3]) for d in draw.sample(documents, draw.randint(4, 40))}
    if q == 0:
        qrels[name] = {d: min(g, 0) for d, g in qrels[name].items()}
    found = draw.sample(documents, draw.randint(1, 60))
    if q == 1:
        found = [d for d in found if qrels[name].get(d, 0) <= 0]
    run[name] = {d: draw.randint(0, 9) / 4 for d in found}
with open(os.path.join(here, "trec.run"), "w") as out:
    for q in run:
        for rank, d in enumerate(sorted(run[q], key=lambda d: (-run[q][d], d))):
            print(q, "Q0", d, rank, run[q][d], "drawn", file=out)
with open(os.path.join(here, "trec.qrels"), "w") as out:
    for q in qrels:
        for d, grade in qrels[q].items():
            print(q, 0, d, grade, file=out)
MEASURES = {"num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank", "infAP", "ndcg", "11pt_avg",
            "iprec_at_recall", "set_P", "set_recall", "set_F", "set_map", "P", "recall", "map_cut", "ndcg_cut", "success"}
CASES = {"": {}, "--relevant 2": {"relevance_level": 2}, "--judged-only": {"judged_docs_only_flag": True}}
with open(os.path.join(here, "trec.tsv"), "w") as out:
    for options, settings in CASES.items():
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, **settings)
        for q, values in sorted(evaluator.evaluate(run).items()):
            for measure, value in sorted(values.items()):
                print(q, measure, options, "%.12g" % value, sep="\t", file=out)
