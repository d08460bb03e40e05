#!/usr/bin/env python3
"""Writes bm25.tsv: scores of pipelines/bm25.awk's texts by bm25s (pip install bm25s), method "lucene", k1 1.2, b 0.75."""
import json
import os
import re

import bm25s

HERE = os.path.dirname(os.path.abspath(__file__))
# Lucene's EnglishAnalyzer
STOP = set(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to "
    "was will with".split()
)


def rows(name):
    with open(os.path.join(HERE, name)) as file:
        return [json.loads(line) for line in file]


def terms(row):
    text = (row.get("title", "") + " " + row["text"]).lower()
    return [term for term in re.findall("[a-z0-9]+", text) if term not in STOP]


corpus, queries = rows("bm25-corpus.jsonl"), rows("bm25-queries.jsonl")
index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
index.index([terms(row) for row in corpus], show_progress=False)
with open(os.path.join(HERE, "bm25.tsv"), "w") as out:
    for query in queries:
        for document, score in zip(corpus, index.get_scores(terms(query))):
            if score > 0:
                print(query["_id"], document["_id"], f"{score:.5f}", sep="\t", file=out)
