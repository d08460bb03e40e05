#!/usr/bin/env python3
"""mined.py PAIRS.jsonl MODEL [OPTIONS] - triples by sentence-transformers' mine_hard_negatives, as lines of JSON, sorted.

A line of PAIRS.jsonl has a query and a document, as `motes tune` writes TO.pairs/train.jsonl; OPTIONS is a JSON object with
arguments of mine_hard_negatives.  OMP_NUM_THREADS: threads.
"""
import json
import os
import sys

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import mine_hard_negatives

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
rows = [json.loads(line) for line in open(sys.argv[1])]
pairs = Dataset.from_dict({"anchor": [row["query"] for row in rows], "positive": [row["document"] for row in rows]})
options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
triples = mine_hard_negatives(pairs, SentenceTransformer(sys.argv[2], device="cpu"), verbose=False, **options)
lines = (json.dumps([t["anchor"], t["positive"], t["negative"]], ensure_ascii=False, separators=(",", ":")) for t in triples)
print("\n".join(sorted(lines)))
