"""columns.py classify TRAIN TEST | group FILE K THRESHOLD LEAST | pairs FILE THRESHOLD - what classify, group and near --self say of
real embeddings beside scikit-learn (in double) and sentence-transformers: how many rows or pairs differ, seconds of both.
X.npy: the vectors, X.labels: JSON Lines with label, X.mts: the stream; files by X.  For columns.sh."""
import json
import subprocess
import sys
import time
import warnings

import numpy as np

warnings.simplefilter("ignore")


def ours(*command):
    """Lines of JSON that a shell command prints, and its seconds."""
    start = time.time()
    out = subprocess.run(["bash", "-c", " ".join(command)], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()], time.time() - start


def theirs(what):
    start = time.time()
    return what(), time.time() - start


def tell(what, differ, rows, seconds, other):
    print(f"{what:<44} {differ:>5} of {rows:<6} differ   {seconds:6.1f} s {other:6.1f} s")


def labels(name):
    with open(name + ".labels", encoding="utf-8") as file:
        return np.array([json.loads(line)["label"] for line in file])


def classify(train, test):
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    x, y = np.load(train + ".npy").astype(np.float64), labels(train)
    new = np.load(test + ".npy").astype(np.float64)
    for method, model in [("logistic", LogisticRegression()), ("knn", KNeighborsClassifier(5))]:
        rows, seconds = ours(f"classify --method {method} --train {train}.mts {test}.mts | mts to jsonl -c prediction,probability")
        shares, other = theirs(lambda: model.fit(x, y).predict_proba(new))
        wrong = model.classes_[shares.argmax(1)] != np.array([row["prediction"] for row in rows])
        tell(f"classify --method {method}", wrong.sum(), len(rows), seconds, other)
        off = np.abs(shares.max(1) - [row["probability"] for row in rows])[~wrong].max()
        print(f"    greatest difference of a probability {off:.1e}")


def by_size(label):
    found, count = np.unique(label, return_counts=True)
    order = sorted(range(len(found)), key=lambda i: (-count[i], found[i]))
    return np.array([{found[i]: at for at, i in enumerate(order)}[value] for value in label])


def group(name, clusters, threshold, least):
    from sentence_transformers.util import community_detection
    from sklearn.cluster import KMeans
    x = np.load(name + ".npy")
    rows, seconds = ours(f"group -k {clusters} {name}.mts | mts to jsonl -c group")
    model, other = theirs(lambda: KMeans(int(clusters), random_state=42).fit(x.astype(np.float64)))
    tell(f"group -k {clusters}", (by_size(model.labels_) != [row["group"] for row in rows]).sum(), len(x), seconds, other)
    rows, seconds = ours(f"group --threshold {threshold} --min-size {least} {name}.mts | mts to jsonl -c group")
    found, other = theirs(lambda: community_detection(x, threshold=float(threshold), min_community_size=int(least)))
    label = np.full(len(x), -1)
    for number, community in enumerate(found):
        label[community] = number
    tell(f"group --threshold {threshold} --min-size {least}", (label != [row["group"] for row in rows]).sum(), len(x), seconds, other)


def pairs(name, threshold):
    import torch
    from sentence_transformers.util import paraphrase_mining_embeddings
    x = torch.tensor(np.load(name + ".npy"))
    rows, seconds = ours(f"mts cat -c text.emb {name}.mts > {name}.bare; near --self --json --threshold {threshold} {name}.bare")
    found, other = theirs(lambda: paraphrase_mining_embeddings(x))
    mine = {tuple(end["id"] - 1 for end in row["pair"]) for row in rows}
    wanted = {(one, two) for score, one, two in found if score >= float(threshold)}
    tell(f"near --self --threshold {threshold}", len(mine ^ wanted), len(wanted), seconds, other)


{"classify": classify, "group": group, "pairs": pairs}[sys.argv[1]](*sys.argv[2:])
