#!/usr/bin/env python3
"""mteb_peer.py MODEL DATA CACHE [TYPE/SET...] - our scores beside mteb's own, set by set.

MODEL is a sentence-transformers folder, DATA has TYPE/SET/test.jsonl.zst (classification: and train),
for retrieval corpus, queries and qrels/test.tsv.  Theirs: sentence-transformers' embeddings, scored by mteb's tasks
(protocol v2), and by the formulas of mteb 1.x with scikit-learn and scipy (v1).  Ours: tok,
encode and mteb-score, found by PATH.  Both tools' embeddings are kept in CACHE.

Prints the main score of each set and protocol in points, and the greatest difference of all
metrics but nAUC (which jumps where two queries are about equally sure); exit status 1 when one is
above 0.01 points; classification, whose borders are learnt, 0.3; clustering, 4, the spread of the
reference's own seeds.  With BORROW set in the environment mteb scores our embeddings of retrieval
sets, which compares the scoring alone.
"""
import json
import os
import pickle
import subprocess
import sys

import numpy as np

SETS = """sts/stsbenchmark sts/sts12 sts/sts13 sts/sts14 sts/sts15 sts/sts16
pairclassification/mrpc pairclassification/mediqa_rqe reranking/wikiqa reranking/mediqa_qa
summarization/summeval retrieval/cranfield retrieval/cisi retrieval/nfcorpus_pp
retrieval/scifact classification/amazon_counterfactual_en classification/banking77
classification/emotion clustering/twentynewsgroups_subjects""".split()
TASKS = {"sts": "STSBenchmark", "pairclassification": "TwitterSemEval2015",
         "reranking": "AskUbuntuDupQuestions", "summarization": "SummEvalSummarization.v2",
         "retrieval": "SciFact", "clustering": "TwentyNewsgroupsClustering",
         "classification/amazon_counterfactual_en": "AmazonCounterfactualClassification",
         "classification/banking77": "Banking77Classification",
         "classification/emotion": "EmotionClassification"}
LIMITS = {"classification": 0.3, "clustering": 4}
FIELDS = {"sts": ["sentence1", "sentence2"], "pairclassification": ["sentence1", "sentence2"],
          "reranking": ["query", "positive", "negative"],
          "summarization": ["human_summaries", "machine_summaries"],
          "classification": ["text"], "clustering": ["text"]}
model_folder, data, cache = sys.argv[1:4]


def rows(path):
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    return [json.loads(line) for line in text.decode().splitlines()]


# theirs


class Vectors:
    """Each text is embedded once, and kept."""

    def __init__(self):
        self.path, self.model = f"{cache}/theirs.pickle", None
        self.known = pickle.load(open(self.path, "rb")) if os.path.exists(self.path) else {}

    def __call__(self, texts):
        new = sorted(set(texts) - self.known.keys())
        if new:
            from sentence_transformers import SentenceTransformer

            self.model = self.model or SentenceTransformer(model_folder, device="cpu")
            self.known.update(zip(new, self.model.encode(new, batch_size=32)))
            pickle.dump(self.known, open(self.path, "wb"))
        return np.stack([self.known[text] for text in texts])


vectors = Vectors()


def mteb_model():
    import torch
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
    from sentence_transformers import SentenceTransformer

    class Model(SentenceTransformerEncoderWrapper):
        def encode(self, inputs, **_):
            return vectors([text for batch in inputs for text in batch["text"]])

    return Model(SentenceTransformer(model_folder, device="cpu"))


def rerank_rows(examples):
    corpus, queries, qrels, candidates = [], [], {}, {}
    kept = [e for e in examples if e["positive"] and e["negative"]]
    for i, example in enumerate(kept):
        query = f"test_query{i}"
        queries.append({"id": query, "text": example["query"]})
        qrels[query], candidates[query] = {}, []
        for kind, name, grade in (("positive", "apositive", 1), ("negative", "negative", 0)):
            for j, text in enumerate(example[kind]):
                document = f"{name}_{query}_{j:05}"
                corpus.append({"id": document, "title": "", "text": text})
                qrels[query][document] = grade
                candidates[query].append(document)
    return corpus, queries, qrels, candidates


def beir(folder):
    corpus = [{"id": r["_id"], "title": r.get("title", ""), "text": r["text"]}
              for r in rows(f"{folder}/corpus.jsonl.zst")]
    qrels = {}
    for line in open(f"{folder}/qrels/test.tsv").read().splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    queries = [{"id": r["_id"], "text": r["text"]} for r in rows(f"{folder}/queries.jsonl.zst")
               if r["_id"] in qrels]
    return corpus, queries, qrels, None


def task_of(kind, folder):
    import mteb

    name = "/".join(folder.split("/")[-2:])
    return mteb.get_task(TASKS.get(name) or TASKS[kind])


def by_mteb(kind, folder):
    from datasets import Dataset, DatasetDict

    task = task_of(kind, folder)
    subset = task.hf_subsets[0] if len(task.hf_subsets) == 1 else "en"
    if kind in ("retrieval", "reranking"):
        parts = beir(folder) if kind == "retrieval" else rerank_rows(
            rows(f"{folder}/test.jsonl.zst"))
        task.dataset = {"default": {"test": {
            "corpus": Dataset.from_list(parts[0]), "queries": Dataset.from_list(parts[1]),
            "relevant_docs": parts[2], "top_ranked": parts[3]}}}
    elif kind == "classification":
        task.dataset = {subset: DatasetDict({
            part: Dataset.from_list(rows(f"{folder}/{part}.jsonl.zst"))
            for part in ("train", "test")})}
    else:
        examples = rows(f"{folder}/test.jsonl.zst")
        if kind == "clustering":
            examples = [{"sentences": [e["text"] for e in examples],
                         "labels": [e["label"] for e in examples]}]
        if kind == "pairclassification":
            examples = [{"sentence1": e["sentence1"], "sentence2": e["sentence2"],
                         "labels": e["label"]} for e in examples]
        task.dataset = {"test": Dataset.from_list(examples)}
    task.data_loaded = True
    scores = task.evaluate(mteb_model(), "test", [subset],
                           encode_kwargs={"show_progress_bar": False})
    return scores[subset]


def pair_lists(examples):
    from sklearn.metrics.pairwise import (paired_cosine_distances, paired_euclidean_distances,
                                          paired_manhattan_distances)

    a = vectors([e["sentence1"] for e in examples])
    b = vectors([e["sentence2"] for e in examples])
    return {"cosine": 1 - paired_cosine_distances(a, b),
            "manhattan": -paired_manhattan_distances(a, b),
            "euclidean": -paired_euclidean_distances(a, b), "dot": np.sum(a * b, axis=1)}


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def by_v1(kind, folder):
    """The formulas of mteb 1.x where they are not those of 2.x."""
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import average_precision_score

    scores = {}
    if kind == "pairclassification":
        examples = rows(f"{folder}/test.jsonl.zst")
        label = np.array([e["label"] for e in examples])
        for name, score in pair_lists(examples).items():
            order = sorted(range(len(label)), key=lambda i: -score[i])
            right = np.cumsum(label[order])[:-1]
            taken = np.arange(1, len(label))
            f1 = 2 * right / (taken + label.sum())
            correct = right + (label == 0).sum() - (taken - right)
            scores[f"{name}_accuracy"] = correct.max() / len(label)
            scores[f"{name}_f1"] = f1.max()
            scores[f"{name}_ap"] = average_precision_score(label, score)
        for metric in ("accuracy", "f1", "ap"):
            scores[f"max_{metric}"] = max(v for k, v in scores.items() if k.endswith(metric))
        scores["main_score"] = scores["max_ap"]
    elif kind == "reranking":
        precision, reciprocal = [], []
        for e in rows(f"{folder}/test.jsonl.zst"):
            if not e["positive"] or not e["negative"]:
                continue
            found = unit(vectors(e["positive"] + e["negative"])) @ unit(vectors([e["query"]]))[0]
            relevant = [True] * len(e["positive"]) + [False] * len(e["negative"])
            precision.append(average_precision_score(relevant, found))
            first = [relevant[i] for i in np.argsort(-found, kind="stable")[:10]]
            reciprocal.append(1 / (first.index(True) + 1) if True in first else 0)
        scores = {"map": np.mean(precision), "mrr": np.mean(reciprocal)}
        scores["main_score"] = scores["map"]
    elif kind == "summarization":
        parts = {}
        for e in rows(f"{folder}/test.jsonl.zst"):
            human, machine = vectors(e["human_summaries"]), vectors(e["machine_summaries"])
            cosine = (unit(machine) @ unit(human).T).max(axis=1)
            dot = (machine @ human.T).max(axis=1)
            if 1 in (len(set(e["relevance"])), len(set(cosine)), len(set(dot))):
                continue
            for name, found in (("cosine", cosine), ("dot", dot)):
                parts.setdefault(f"{name}_spearman", []).append(spearmanr(e["relevance"], found))
                parts.setdefault(f"{name}_pearson", []).append(pearsonr(e["relevance"], found))
        scores = {name: np.mean([(v[0], v[1]) for v in values]) for name, values in parts.items()}
        scores["main_score"] = scores["cosine_spearman"]
    return {k: float(v) for k, v in scores.items()}


# ours


def encode(fields, source, target):
    if os.path.exists(target):
        return
    options = " ".join(f"-f '{field}'" for field in fields)
    subprocess.run(["bash", "-c", f"set -o pipefail; tok -q -m '{model_folder}' {options} "
                    f"'{source}' | encode -q -m '{model_folder}' -o '{target}'"], check=True)


def ours(name, kind, folder, protocol):
    at = f"{cache}/" + name.replace("/", "_")
    if kind == "retrieval":
        encode(["text"], f"{folder}/queries.jsonl.zst", f"{at}_queries.mts")
        encode(["text=title+text"], f"{folder}/corpus.jsonl.zst", f"{at}_corpus.mts")
        files = ["--qrels", f"{folder}/qrels/test.tsv", f"{at}_queries.mts", f"{at}_corpus.mts"]
    else:
        encode(FIELDS[kind], f"{folder}/test.jsonl.zst", f"{at}.mts")
        files = [f"{at}.mts"]
    if kind == "classification":
        encode(FIELDS[kind], f"{folder}/train.jsonl.zst", f"{at}_train.mts")
        files += ["--train", f"{at}_train.mts", "--solver", "reference", "--samples",
                  str(task_of(kind, folder).samples_per_label)]
    elif kind == "clustering":
        files += ["--sklearn", "1.9"]
    command = ["mteb-score", kind, "-q", "--json", "--protocol", protocol] + files
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["scores"]


def borrow(name, folder):
    """Let mteb have our embeddings of a retrieval set."""
    for part, field in (("queries", "text"), ("corpus", "text=title+text")):
        stream = f"{cache}/" + name.replace("/", "_") + f"_{part}.mts"
        encode([field], f"{folder}/{part}.jsonl.zst", stream)
        lines = subprocess.run(["mts", "to", "jsonl", stream], capture_output=True,
                               check=True).stdout.decode().splitlines()
        texts = {r["_id"]: f"{r.get('title', '')} {r['text']}".strip()
                 for r in rows(f"{folder}/{part}.jsonl.zst")}
        for found in map(json.loads, lines):
            vectors.known[texts[found["_id"]]] = next(
                np.array(v, "f") for k, v in found.items() if k.endswith(".emb"))


def main():
    os.makedirs(cache, exist_ok=True)
    worst = 0
    print("| set | protocol | ours | theirs | greatest difference of all metrics |")
    print("|---|---|---:|---:|---|")
    for name in sys.argv[4:] or SETS:
        kind, folder = name.split("/")[0], f"{data}/{name}"
        if kind == "retrieval" and os.environ.get("BORROW"):
            borrow(name, folder)
        for protocol, judge in (("v1", by_v1), ("v2", by_mteb)):
            want = judge(kind, folder)
            if not want:
                continue
            have = ours(name, kind, folder, protocol)
            gaps = {k: 100 * abs(have[k] - v) for k, v in want.items()
                    if k in have and "nauc" not in k and isinstance(v, (int, float))}
            most = max(gaps, key=gaps.get)
            main_name = "main_score" if "main_score" in want else None
            if not main_name:  # mteb's tasks leave the copying to their caller
                want["main_score"] = want[task_of(kind, folder).metadata.main_score]
                gaps["main_score"] = 100 * abs(have["main_score"] - want["main_score"])
            worst = max(worst, max(gaps.values()) * 0.01 / LIMITS.get(kind, 0.01))
            print(f"| {name} | {protocol} | {100 * have['main_score']:.2f} | "
                  f"{100 * want['main_score']:.2f} | {gaps[most]:.4f} ({most}, "
                  f"{len(gaps)} metrics) |", flush=True)
    sys.exit(worst > 0.01)


main()
