#!/usr/bin/env python3
"""mteb_mocks.py - the small tasks with which mteb 2.26 tests itself, of every type of text

    mteb_mocks.py make MODEL DIR       their rows in DIR/data, lines of the registry in DIR/data/tasks.yaml, and mteb's own
                                       results with MODEL (sentence-transformers) in DIR/mteb
    mteb_mocks.py compare MTEB OURS    the fields of two folders of results that differ; exit status 1: there are some

Left out are mteb's version in each entry, NaN, which is null here, and thresholds of pairs, which only we have.  The nAUC of
precisions that are the same for all queries, 1 of 100 or of 1000, is undefined; mteb divides two rounding errors.  Scores
may differ by 2e-6: both are rounded to 6 decimals, and embeddings agree to about 1e-6.
"""
import importlib
import json
import math
import pathlib
import sys

TYPES = (
    "bitext_mining",
    "classification",
    "clustering",
    "pair_classification",
    "regression",
    "reranking",
    "retrieval",
    "sts",
    "summarization",
)
# turns of a dialogue, columns instead of subsets, and a task that has no rows of its own
LEFT_OUT = ("Dialog", "Parallel", "Aggregated")


def mocks():
    """The tasks by name, because modules import each other's."""
    found = {}
    for name in TYPES:
        for word, task in vars(importlib.import_module("mteb.mocks.mock_tasks." + name)).items():
            text = isinstance(task, type) and "Mock" in word and list(getattr(task, "metadata").modalities) == ["text"]
            if text and not any(part in word for part in LEFT_OUT):
                found[task.metadata.name] = task
    return list(found.values())


def make(model, folder):
    import mteb
    from sentence_transformers import SentenceTransformer

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "share/python"))
    import mteb_tasks

    tasks = mocks()
    lines = ["languages: eng-Latn", "tasks:"]
    instructions = mteb_tasks.instructions_of_types()
    for task in tasks:
        mteb_tasks.write_task(folder / "data", task())
        lines.append(f"  {task.metadata.name}: {mteb_tasks.yaml(mteb_tasks.entry(task, {}, instructions, {}))}")
    (folder / "data/tasks.yaml").write_text("\n".join(lines) + "\n")
    encoder = SentenceTransformer(model, device="cpu")
    for task in tasks:
        mteb.evaluate(encoder, [task()], cache=mteb.ResultCache(folder / "mteb"), show_progress_bar=False)


def fields(value, path=""):
    """The leaves of a score's entry, by path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from fields(item, f"{path}/{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from fields(item, f"{path}[{i}]")
    elif path != "/mteb_version" and not path.endswith("_threshold"):
        yield path, None if isinstance(value, float) and math.isnan(value) else value


def entries(path):
    scores = json.loads(path.read_text())["scores"]
    return {(split, entry["hf_subset"]): dict(fields(entry)) for split, list_ in scores.items() for entry in list_}


def same(one, other):
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    return one == other or (numbers and abs(one - other) < 2e-6)


def compare(theirs, ours):
    count, wrong = 0, []
    for path in sorted(theirs.glob("Mock*.json")) + sorted(theirs.glob("Legacy*.json")):
        if not (ours / path.name).exists():
            wrong.append(f"{path.stem}: missing")
            continue
        one, other = entries(path), entries(ours / path.name)
        if list(one) != list(other):
            wrong.append(f"{path.stem}: {list(one)} {list(other)}")
        for part in one:
            for field in sorted(set(one[part]) | set(other.get(part, {}))):
                count += 1
                pair = one[part].get(field, "absent"), other.get(part, {}).get(field, "absent")
                if not same(*pair) and not (field.startswith("/nauc_precision_at_100") and pair[1] is None):
                    wrong.append(f"{path.stem} {part} {field}: {pair[0]} {pair[1]}")
    print(*wrong, sep="\n")
    print(count, "fields")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], pathlib.Path(sys.argv[3]))
    else:
        sys.exit(compare(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])))
