#!/usr/bin/env python3
"""token_codes.py BUILD MODEL CORPUS QUERIES [QRELS] - late interaction over token vectors in fewer bits, beside floats: a BERT MODEL with a
drawn projection to 128 becomes a folder of PyLate's layout; each kind of mts cast gives the share of the 10 best documents that floats
find, the mean and greatest difference of a score of theirs, and nDCG@10.  Ranges of i8 are those of the first 10,000 vectors, and queries are
floats.  CORPUS and QUERIES: JSON Lines of _id and text, .zst too.  Needs numpy."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

WIDTH = 128


def folder(model, to):
    shutil.copytree(model, to, ignore=shutil.ignore_patterns("1_Pooling", "modules.json", "config_sentence_transformers.json"))
    os.makedirs(to + "/1_Dense")
    width = json.load(open(model + "/config.json"))["hidden_size"]
    weight = np.linalg.qr(np.random.default_rng(1).normal(size=(width, WIDTH)))[0].T.astype("<f4")
    header = json.dumps({"linear.weight": {"dtype": "F32", "shape": [WIDTH, width], "data_offsets": [0, weight.nbytes]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(to + "/1_Dense/model.safetensors", "wb") as out:
        out.write(struct.pack("<Q", len(header)) + header + np.ascontiguousarray(weight).tobytes())
    json.dump({"in_features": width, "out_features": WIDTH, "bias": False, "use_residual": False,
               "activation_function": "torch.nn.modules.linear.Identity"}, open(to + "/1_Dense/config.json", "w"))
    json.dump([{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(
        [("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense")])], open(to + "/modules.json", "w"))
    json.dump({"model_type": "ColBERT", "similarity_fn_name": "MaxSim", "query_prefix": "[unused0]", "document_prefix": "[unused1]",
               "query_length": 32, "document_length": 180, "do_query_expansion": True, "attend_to_expansion_tokens": False,
               "skiplist_words": list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")}, open(to + "/config_sentence_transformers.json", "w"))


def run(path):
    found = {}
    for line in open(path):
        query, _, document, _, score, *_ = line.split("\t") if "\t" in line else line.split()
        found.setdefault(query, {})[document] = float(score)
    return found


def shell(command):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True, stdout=subprocess.PIPE).stdout.decode()


def main():
    build, model, corpus, queries = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as work:
        os.environ.update(PATH=build + "/bin:" + os.environ["PATH"], W=work, CORPUS=corpus, QUERIES=queries)
        folder(model, work + "/late")
        for role, texts in ("document", "CORPUS"), ("query", "QUERIES"):
            shell(f"tok -q -m $W/late --task {role} -f text \"${texts}\" | encode -q -m $W/late -o $W/{role}.mts")
        exact = None
        for kind in "f32", "f16", "i8", "bit":
            shell(f"mts cast -q {kind} -o $W/c.mts $W/document.mts; near -q -k 1000 --run $W/run $W/query.mts $W/c.mts")
            found = run(work + "/run")
            best = {query: sorted(scores, key=lambda d: -scores[d])[:10] for query, scores in found.items()}
            exact = exact or (found, best)
            same = np.mean([len(set(best[q]) & set(exact[1][q])) / len(exact[1][q]) for q in exact[1]])
            differ = [abs(found[q][d] - exact[0][q][d]) for q in exact[1] for d in exact[1][q] if d in found[q]]
            size = os.path.getsize(work + "/c.mts") / 1e6
            line = f"{kind}: {size:.1f} MB, of the 10 best {100 * same:.2f} %, scores differ by {np.mean(differ):.6f}, at most {max(differ):.6f}"
            if len(sys.argv) > 5:
                report = shell(f"mteb-score retrieval -q --qrels {sys.argv[5]} --from-run $W/run")
                line += ", " + next(row for row in report.splitlines() if row.startswith("ndcg_at_10"))
            print(line)


if __name__ == "__main__":
    main()
