#!/usr/bin/env python3
"""borda.py - scores of five models on seven data sets, some missing, some equal, and mteb's Borda ranks of the models:
borda.tsv, a line a model: its scores (empty: missing), then its rank.

	tests/golden/borda.py

Needs mteb 2.26.
"""
import os

import polars as pl
from mteb.benchmarks._create_table import _get_borda_rank

HERE = os.path.dirname(os.path.abspath(__file__))
SCORES = [[0.5, 0.25, 0.75, None, 0.1, 0.9, 0.3],
          [0.5, 0.5, 0.125, 0.2, 0.1, 0.8, 0.3],
          [0.25, 0.5, 0.75, 0.4, 0.1, None, 0.2],
          [0.75, 0.25, 0.75, None, None, 0.9, 0.4],
          [0.5, 0.125, 0.5, 0.4, 0.2, 0.7, 0.5]]
table = pl.DataFrame(SCORES, schema=["t%d" % t for t in range(7)], orient="row")
ranks = table.select(_get_borda_rank(table.columns).alias("rank"))["rank"].to_list()
with open(os.path.join(HERE, "borda.tsv"), "w") as out:
    for scores, rank in zip(SCORES, ranks):
        print(*["" if s is None else s for s in scores], rank, sep="\t", file=out)
