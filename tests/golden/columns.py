#!/usr/bin/env python3
"""Drawn vectors, and what scikit-learn and sentence-transformers say of them: for classify(1), group(1) and near(1).

columns_train.jsonl, columns_test.jsonl     text.emb, label (text), number (two whole numbers)
columns_classify.tsv                        of each test row the prediction and its probability: logistic regression
                                            of label and of number, five and one nearest neighbours of label
columns_group.tsv                           of each training row, numbered by size: k-means with 7 clusters and seed 42,
                                            the distance; with 4 and seed 3; communities of 5 rows within 0.9, of 2
                                            within 0.97
columns_pairs.tsv, columns_pairs_2.tsv      pairs of training rows, from 1, and their cosine, by paraphrase_mining: of 100
                                            neighbours the pairs of 0.9 or more, of 2 all

scikit-learn 1.9.1 in double, sentence-transformers 6.2.0; run in this folder.
"""
import json
import warnings

import numpy as np
import torch
from sentence_transformers.util import community_detection, paraphrase_mining_embeddings
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

warnings.simplefilter("error")
rng = np.random.default_rng(5)
WIDTH, LABELS = 6, ["ship", "Ähre", "air", "soup"]
CENTRES = rng.normal(size=(len(LABELS), WIDTH))


def draw(rows):
    label = rng.integers(len(LABELS), size=rows)
    x = CENTRES[label] + 0.5 * rng.normal(size=(rows, WIDTH))
    x = np.round(x / np.linalg.norm(x, axis=1, keepdims=True), 4).astype(np.float32)
    return x, label, np.where(rng.random(rows) < 0.2, 1 - label % 2, label % 2) * 20 - 10


def write(name, x, label, number):
    with open(name, "w", encoding="utf-8") as file:
        for row, one, two in zip(x, label, number):
            vector = [float(f"{value:.4f}") for value in row]
            print(json.dumps({"label": LABELS[one], "number": int(two), "text.emb": vector}, ensure_ascii=False), file=file)


def table(name, heads, columns):
    with open(name, "w", encoding="utf-8") as file:
        print(*heads, sep="\t", file=file)
        for row in zip(*columns):
            print(*(f"{value:.15g}" if isinstance(value, float) else value for value in row), sep="\t", file=file)


def by_size(label):
    """Numbers the labels by size, the lower label first among equals; -1 stays."""
    found, count = np.unique(label[label >= 0], return_counts=True)
    order = sorted(range(len(found)), key=lambda i: (-count[i], found[i]))
    number = {found[i]: at for at, i in enumerate(order)} | {-1: -1}
    return [number[value] for value in label]


def communities(x, threshold, least):
    label = np.full(len(x), -1)
    for i, community in enumerate(community_detection(x, threshold=threshold, min_community_size=least)):
        label[community] = i
    return label.tolist()


train, test = draw(90), draw(50)
write("columns_train.jsonl", *train)
write("columns_test.jsonl", *test)
x, label, number = train[0].astype(np.float64), np.array(LABELS)[train[1]], train[2]
unseen = test[0].astype(np.float64)
heads, columns = [], []
for name, model, y in [("logistic", LogisticRegression(), label), ("two", LogisticRegression(), number),
                       ("knn5", KNeighborsClassifier(5), label), ("knn1", KNeighborsClassifier(1), label)]:
    model.fit(x, y)
    heads += [name, name + "_probability"]
    columns += [model.predict(unseen).tolist(), model.predict_proba(unseen).max(axis=1).tolist()]
table("columns_classify.tsv", heads, columns)

seven, four = KMeans(7, random_state=42).fit(x), KMeans(4, random_state=3).fit(x)
table("columns_group.tsv", ["seven", "distance", "four", "near", "nearest"],
      [by_size(seven.labels_), seven.transform(x).min(axis=1).tolist(), by_size(four.labels_),
       communities(train[0], 0.9, 5), communities(train[0], 0.97, 2)])

for name, top, least in [("columns_pairs.tsv", 100, 0.9), ("columns_pairs_2.tsv", 2, -2)]:
    pairs = [pair for pair in paraphrase_mining_embeddings(torch.tensor(train[0]), top_k=top) if pair[0] >= least]
    table(name, ["one", "other", "cosine"], list(zip(*[(one + 1, other + 1, score) for score, one, other in pairs])))
