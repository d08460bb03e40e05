#!/usr/bin/env python3
"""tokens.py BUILD TOKENIZER FILE... - our token ids against those of the `tokenizers` package on every
string of JSON Lines files (plain, .gz or .zst) and of Unicode's NormalizationTest.txt, then the speed of both on the same lines, one thread
each, in processor time.  Needs the packages tokenizers and numpy, and the program zstd.  Exits 1 on any difference."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import Tokenizer  # noqa: E402


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def read(path):
    base, ending = os.path.splitext(path)
    program = {".zst": "zstdcat", ".gz": "zcat", ".bz2": "bzcat"}.get(ending, "cat")
    text = subprocess.run([program, path], check=True, stdout=subprocess.PIPE).stdout.decode()
    unicode = os.path.basename(base).startswith("NormalizationTest")
    for line in text.split("\n"):
        if unicode:  # columns of code points, then a comment
            for column in line.split("#")[0].split(";")[:5]:
                if column and not column.startswith("@"):
                    yield "a" + "".join(chr(int(code, 16)) for code in column.split()) + " b"
        elif line:
            yield from strings(json.loads(line))


def main():
    build, folder, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    reference = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    reference.no_truncation()
    reference.no_padding()
    texts = [text.replace("\n", " ").replace("\r", " ") for path in files for text in read(path)]
    size = sum(len(text.encode()) for text in texts) / 1e6

    start = time.process_time()
    wanted = []
    for i in range(0, len(texts), 1000):
        wanted += [encoding.ids for encoding in reference.encode_batch_fast(texts[i:i + 1000])]
    theirs = time.process_time() - start

    lines = "".join(json.dumps(text) + "\n" for text in texts).encode()
    found = subprocess.run([os.path.join(build, "support", "tokenize"), folder], input=lines, check=True,
                           stdout=subprocess.PIPE).stdout.decode().split("\n")
    wrong = [i for i, ids in enumerate(wanted) if " ".join(map(str, ids)) != found[i]]
    print(f"{len(texts)} texts, {size:.1f} MB, {sum(map(len, wanted))} ids, {len(wrong)} texts differ")
    for i in wrong[:5]:
        print(ascii(texts[i])[:200], "\n  wanted", wanted[i][:40], "\n  found ", found[i][:200])

    with tempfile.NamedTemporaryFile() as plain:
        plain.write("".join(text + "\n" for text in texts).encode())
        plain.flush()
        command = [os.path.join(build, "bin", "tok"), "-q", "-j1", "--format", "lines", "-m", folder,
                   "--max-length", "16000000", plain.name]
        times = []
        for _ in range(3):
            start = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
        ours = sorted(times)[1]
    print(f"tok -j1: {ours:.2f} s, {size / ours:.1f} MB/s (with start-up, reading and writing)")
    print(f"tokenizers, one thread: {theirs:.2f} s, {size / theirs:.1f} MB/s ({theirs / ours:.1f} times as long)")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
