#!/usr/bin/env python3
"""topics.py - made-up texts of three topics, and class-based TF-IDF by scikit-learn's CountVectorizer and numpy: the words are
runs of two letters or more.  topics.jsonl (text, topic, text.emb), topics_expected.tsv and
topics_stopped.tsv (--top 4 --min-length 4 --max-df 0.3 with topics_stop.txt).  Run in tests/golden."""
import json

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

rng = np.random.RandomState(5)
TOPICS = {"sea": "ship harbour Wave wave tide sailor Über Übermut storm ship's x2y".split(),
          "food": "bread soup Σαλάτα salt salt_shaker pepper oven don't café Soup storm".split(),
          "sky": "star star's moon cloud storm Wind wind-swept comet 42nd sun".split()}
COMMON = "the of and in a With".split()

rows = []
for i in range(60):
    topic = list(TOPICS)[rng.choice(3, p=[0.5, 0.3, 0.2])]
    words = [str(rng.choice(COMMON if rng.uniform() < 0.5 else TOPICS[topic])) for _ in range(rng.randint(3, 12))]
    vector = rng.normal(0, 0.3, 3) + 3 * np.eye(3)[list(TOPICS).index(topic)]
    rows.append({"text": " ".join(words) + rng.choice(["", ".", "!"]), "topic": topic, "text.emb": vector.round(3).tolist()})
with open("topics.jsonl", "w") as out:
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")

texts, topic = [row["text"] for row in rows], np.array([row["topic"] for row in rows])
size = {name: int((topic == name).sum()) for name in TOPICS}


def write(name, top, **options):
    vectorizer = CountVectorizer(**options)
    matrix = vectorizer.fit_transform(texts).toarray()
    words = vectorizer.get_feature_names_out()
    order = sorted(size, key=lambda name: (-size[name], list(topic).index(name)))
    counts = np.array([matrix[topic == name].sum(0) for name in order])
    weight = counts * np.log(1 + counts.sum(1).mean() / counts.sum(0))
    with open(name, "w") as out:
        out.write("cluster\tsize\tword\tcount\tweight\n")
        for row, cluster in enumerate(order):
            best = sorted(np.flatnonzero(counts[row]), key=lambda i: (-weight[row, i], words[i].encode()))[:top]
            for i in best:
                out.write(f"{cluster}\t{size[cluster]}\t{words[i]}\t{counts[row, i]}\t{weight[row, i]:.15g}\n")


write("topics_expected.tsv", 5, token_pattern=r"[^\W\d_]{2,}")
with open("topics_stop.txt", "w") as out:
    out.write("Ship\nsoup, not there\n")
write("topics_stopped.tsv", 4, token_pattern=r"[^\W\d_]{4,}", max_df=0.3, stop_words=["ship", "soup"])
