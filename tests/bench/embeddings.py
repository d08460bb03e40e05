#!/usr/bin/env python3
"""embeddings.py BUILD MODEL COUNT FILE... - our embeddings (tok, encode) of the first COUNT texts of
JSON Lines files (plain, .gz or .zst) against sentence-transformers' of the same texts in float32:
the smallest and the median cosine, the greatest difference of a component, and seconds.  Texts are
taken in turn from all files, without repeats.  Exits 1 when a cosine is below 0.99999.
Needs sentence-transformers and numpy, and the program zstd."""
import itertools
import json
import os
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import numpy as np  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402
from tokens import read  # noqa: E402

LEAST = 0.99999


def main():
    build, folder, count, files = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*map(read, files)))
    texts = list(itertools.islice(dict.fromkeys(text for text in turns if text), count))

    start = time.time()
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    program = lambda name: os.path.join(build, "bin", name)
    tokens = subprocess.run([program("tok"), "-q", "-m", folder, "-f", "text"], input=lines,
                            check=True, stdout=subprocess.PIPE).stdout
    stream = subprocess.run([program("encode"), "-q", "-m", folder], input=tokens, check=True,
                            stdout=subprocess.PIPE).stdout
    seconds = time.time() - start
    rows = subprocess.run([os.path.join(build, "support", "ids_stream"), "--rows", "text.emb"],
                          input=stream, check=True, stdout=subprocess.PIPE).stdout
    ours = np.loadtxt(rows.decode().splitlines(), dtype=np.float64)

    start = time.time()
    theirs = SentenceTransformer(folder, device="cpu").encode(texts, batch_size=32).astype(np.float64)
    theirs_seconds = time.time() - start
    cosine = (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    worst = int(np.argmin(cosine))
    print(f"{len(texts)} texts: cosines below 1 by {1 - cosine[worst]:.1e} at most, "
          f"{1 - np.median(cosine):.1e} in the median; components within {np.abs(ours - theirs).max():.2e}; ours {seconds:.1f} s, "
          f"theirs {theirs_seconds:.1f} s")
    print("worst:", ascii(texts[worst])[:120])
    return not (len(texts) == len(ours) and cosine[worst] >= LEAST)


if __name__ == "__main__":
    sys.exit(main())
