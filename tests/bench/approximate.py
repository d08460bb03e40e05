#!/usr/bin/env python3
"""approximate.py FOLDER CELLS - near in FOLDER/graph.index and FOLDER/cells.index, FAISS's HNSW and IVF and usearch, for the queries q.mts
and q.npy; prints lines of a table: program, threads, setting, recall@10, queries a second (median of five).

near is the whole program with its start, the output a run; the peers are the search alone, in memory.  Their graphs have 32 links a row
in the lowest layer and a beam of 128 when they are made; IVF has near's centroids.  Recall is of the ids of FOLDER/exact.run.
"""
import collections
import statistics
import subprocess
import sys
import time

import faiss
import numpy as np
import usearch.index

folder, cells = sys.argv[1], int(sys.argv[2])
documents, queries = (np.ascontiguousarray(np.load(f"{folder}/{side}.npy"), dtype="float32") for side in "cq")
for vectors in documents, queries:
    faiss.normalize_L2(vectors)
width = documents.shape[1]


def ids_of(side):
    text = subprocess.run(["mts", "to", "tsv", "-c", "_id", f"{folder}/{side}.mts"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return text.removesuffix("\n").split("\n")[1:]


names, asked = ids_of("c"), ids_of("q")


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


def near(index, option):
    def measure(threads, setting):
        command = ["near", "-q", "-j", str(threads), "-k", "10", option, str(setting), "--run", "-", f"{folder}/q.mts", f"{folder}/{index}"]
        out, rate = timed(lambda: subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        return recall(read(out.removesuffix("\n").split("\n"))), rate
    return measure


def named(found):
    return {query: {names[i] for i in row if i >= 0} for query, row in zip(asked, found)}


def inverted():
    quantizer = faiss.IndexFlatIP(width)
    index = faiss.IndexIVFFlat(quantizer, width, cells, faiss.METRIC_INNER_PRODUCT)
    quantizer.add(np.fromfile(f"{folder}/cells.index/cells.f32", dtype="float32").reshape(cells, width))
    index.is_trained = True
    index.add(documents)

    def measure(threads, setting):
        faiss.omp_set_num_threads(threads)
        index.nprobe = setting
        (_, found), rate = timed(lambda: index.search(queries, 10))
        return recall(named(found)), rate
    return measure


def layered():
    index = faiss.IndexHNSWFlat(width, 16, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 128
    start = time.perf_counter()
    index.add(documents)
    print(f"seconds of FAISS's HNSW: {time.perf_counter() - start:.1f}", file=sys.stderr)

    def measure(threads, setting):
        faiss.omp_set_num_threads(threads)
        index.hnsw.efSearch = setting
        (_, found), rate = timed(lambda: index.search(queries, 10))
        return recall(named(found)), rate
    return measure


def usearch_of(dtype):
    index = usearch.index.Index(ndim=width, metric="ip", dtype=dtype, connectivity=16, expansion_add=128)
    start = time.perf_counter()
    index.add(np.arange(len(documents)), documents)
    print(f"seconds of usearch, {dtype}: {time.perf_counter() - start:.1f}", file=sys.stderr)

    def measure(threads, setting):
        index.expansion_search = setting
        found, rate = timed(lambda: index.search(queries, 10, threads=threads).keys)
        return recall(named(found.tolist())), rate
    return measure


beams, probes = (10, 16, 32, 64, 128, 256), (1, 2, 4, 8, 16, 32, 64, 128)
for what, make, settings in (("near --beam", lambda: near("graph.index", "--beam"), beams), ("FAISS HNSW", layered, beams),
                             ("usearch", lambda: usearch_of("f32"), beams), ("usearch i8", lambda: usearch_of("i8"), beams),
                             ("near --probe", lambda: near("cells.index", "--probe"), probes), ("FAISS IVF", inverted, probes)):
    measure = make()
    for threads in 1, 2:
        for setting in settings:
            print(what, threads, setting, "%.4f\t%.0f" % measure(threads, setting), sep="\t", flush=True)
