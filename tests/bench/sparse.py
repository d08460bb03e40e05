#!/usr/bin/env python3
"""The search by terms beside scipy's sparse product: CPU seconds of 1,000 queries of 35 terms in 30,000 documents of 110, the best 10.

    python3 tests/bench/sparse.py build/cpu/bin"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse

VOCABULARY = 30522


def draw(rng, chance, rows, terms):
    counts = np.maximum(1, rng.normal(terms, terms / 4, rows)).astype(int)
    ids = [np.unique(rng.choice(VOCABULARY, count, p=chance)) for count in counts]
    return ids, [np.round(rng.gamma(1.5, 0.5, len(row)), 5) for row in ids]


def write(program, path, ids, weights):
    rows = ("%s\n" % json.dumps({"_id": f"r{i}", "t.sparse": a.tolist(), "t.sparse.weights": w.tolist()}) for i, (a, w) in enumerate(zip(ids, weights)))
    subprocess.run([program + "/mts", "from", "jsonl", "-o", path], input="".join(rows), text=True, check=True)


def matrix(ids, weights):
    starts = np.concatenate([[0], np.cumsum([len(row) for row in ids])])
    return scipy.sparse.csr_matrix((np.concatenate(weights).astype(np.float32), np.concatenate(ids), starts), shape=(len(ids), VOCABULARY))


def main(program):
    rng = np.random.default_rng(5)
    chance = rng.permutation(1 / np.arange(1, VOCABULARY + 1) ** 0.7)
    chance /= chance.sum()
    queries, documents = draw(rng, chance, 1000, 35), draw(rng, chance, 30000, 120)
    with tempfile.TemporaryDirectory() as folder:
        write(program, folder + "/q.mts", *queries)
        write(program, folder + "/c.mts", *documents)
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program + "/near", "-q", "-k", "10", "--run", os.devnull, folder + "/q.mts", folder + "/c.mts"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            print("near, the whole program %.2f" % (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
    left, right = matrix(*queries), matrix(*documents).T.tocsr()
    for _ in range(3):
        start = time.process_time()
        scores = left @ right
        product = time.process_time() - start
        np.argpartition(-scores.toarray(), 10, axis=1)
        print("scipy, product %.2f, with the best ten %.2f" % (product, time.process_time() - start))


main(sys.argv[1])
