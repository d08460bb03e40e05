#!/usr/bin/env python3
"""cells.py FOLDER CELLS - near in FOLDER/c.index and FAISS's IndexIVFFlat, for the queries q.mts and q.npy; prints lines of a table:
program, threads, cells, probe, recall@10, queries a second (median of five).

near is the whole program with its start, the output a run; FAISS is the search alone, in memory.  "same": FAISS with near's
centroids; "own": with those that it trains.  Recall is of the ids of FOLDER/exact.run.
"""
import collections
import statistics
import subprocess
import sys
import time

import faiss
import numpy as np

folder, cells = sys.argv[1], int(sys.argv[2])
documents, queries = (np.ascontiguousarray(np.load(f"{folder}/{side}.npy"), dtype="float32") for side in "cq")
for vectors in documents, queries:
    faiss.normalize_L2(vectors)
width = documents.shape[1]
names = [line.decode().rstrip("\n") for line in subprocess.run(
    ["mts", "to", "tsv", "-c", "_id", f"{folder}/c.mts"], stdout=subprocess.PIPE, check=True).stdout.splitlines(True)][1:]
asked = subprocess.run(["mts", "to", "tsv", "-c", "_id", f"{folder}/q.mts"], stdout=subprocess.PIPE, check=True,
                       text=True).stdout.splitlines()[1:]


def read(lines):
    hits = collections.defaultdict(set)
    for line in lines:
        query, _, document, *_ = line.split("\t")
        hits[query].add(document)
    return hits


with open(f"{folder}/exact.run") as run:
    exact = read(run)


def recall(hits):
    return sum(len(exact[query] & hits[query]) for query in exact) / sum(map(len, exact.values()))


def timed(search):
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        result = search()
        seconds.append(time.perf_counter() - start)
    return result, len(queries) / statistics.median(seconds)


def near(threads, probe):
    command = ["near", "-q", "-j", str(threads), "-k", "10", "--probe", str(probe), "--run", "-", f"{folder}/q.mts", f"{folder}/c.index"]
    out, rate = timed(lambda: subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    return recall(read(out.splitlines())), rate


def inverted(centroids):
    quantizer = faiss.IndexFlatIP(width)
    index = faiss.IndexIVFFlat(quantizer, width, cells, faiss.METRIC_INNER_PRODUCT)
    if centroids is not None:
        quantizer.add(centroids)
        index.is_trained = True
    else:
        index.train(documents)
    index.add(documents)
    return index


def peer(index, threads, probe):
    faiss.omp_set_num_threads(threads)
    index.nprobe = probe
    (_, found), rate = timed(lambda: index.search(queries, 10))
    return recall({query: {names[i] for i in row if i >= 0} for query, row in zip(asked, found)}), rate


same = inverted(np.fromfile(f"{folder}/c.index/cells.f32", dtype="float32").reshape(cells, width))
own = inverted(None)
for threads in 1, 2:
    for probe in 1, 2, 4, 8, 16, 32, 64:
        for what, result in (("near", near(threads, probe)), ("FAISS, same", peer(same, threads, probe)),
                             ("FAISS, own", peer(own, threads, probe))):
            print(what, threads, cells, probe, "%.4f" % result[0], "%.0f" % result[1], sep="\t", flush=True)
