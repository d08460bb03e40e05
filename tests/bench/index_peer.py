#!/usr/bin/env python3
"""index_peer.py flat|8bit|binary FOLDER QUERIES - FAISS on FOLDER/c.npy and QUERIES of FOLDER/q.npy; prints its seconds.

Seconds are of one search of the 10 best, in memory and after a first one: neither Python's start nor reading nor building.
binary: Hamming distances alone, 200 best, not rescored.
"""
import sys
import time

import faiss
import numpy as np

what, folder, queries = sys.argv[1], sys.argv[2], int(sys.argv[3])
documents = np.load(f"{folder}/c.npy").astype("float32")
query = np.load(f"{folder}/q.npy").astype("float32")[:queries]
width, best = documents.shape[1], 10
if what == "flat":
    index = faiss.IndexFlatIP(width)
elif what == "8bit":
    index = faiss.IndexScalarQuantizer(width, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
    index.train(documents)
else:
    index, best = faiss.IndexBinaryFlat(width), 200
    documents, query = (np.packbits(x > 0, axis=1) for x in (documents, query))
index.add(documents)
index.search(query, best)
start = time.perf_counter()
index.search(query, best)
print(time.perf_counter() - start)
