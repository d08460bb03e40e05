"""Expected values of mteb-score's bitextmining, multilabelclassification, regression and instruction-following retrieval: mteb's own
tasks, evaluated on drawn vectors.

The vectors are f64, because mteb-score's arithmetic is.  Run in tests/golden; writes score_tasks_*.
"""
import json
import warnings

import datasets
import mteb
import numpy as np
import scipy
import sklearn

warnings.simplefilter("ignore")
datasets.disable_progress_bars()
VERSIONS = f"mteb {mteb.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
rng = np.random.RandomState(17)


class Vectors:
    """A model that knows the vector of each text."""

    mteb_model_meta = mteb.models.ModelMeta.create_empty()

    def __init__(self, similarity="cosine"):
        self.of, self.kind = {}, similarity

    def put(self, side, vectors):
        """Names of the vectors."""
        names = [f"{side}{i}" for i in range(len(vectors))]
        self.of.update(zip(names, vectors))
        return names

    def encode(self, inputs, **_):
        return np.array([self.of[text] for batch in inputs for text in batch["text"]])

    def similarity(self, a, b):
        if self.kind == "cosine":
            a, b = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (a, b))
        return a @ b.T

    def similarity_pairwise(self, a, b):
        return np.diag(self.similarity(a, b))


def plain(x):
    return [[float(v) for v in row] for row in x]


def write_rows(name, rows):
    with open(f"score_tasks_{name}.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")


def write_expected(name, values):
    """Writes the values; of a list by experiment, only the first and the last."""
    with open(f"score_tasks_{name}.tsv", "w") as out:
        out.write(f"# {VERSIONS}\n")
        for key, value in values.items():
            if key != "scores_per_experiment":
                out.write(f"{key}\t{float(value)!r}\n")
                continue
            for metric in value[0]:
                for which, at in (("first", 0), ("last", -1)):
                    out.write(f"{metric}_{which}\t{float(value[at][metric])!r}\n")


def evaluate(task, model, data):
    task.dataset, task.data_loaded = data, True
    task.hf_subsets = ["default"]
    return task.evaluate(model, "test", encode_kwargs={})["default"]


# bitext mining: 90 pairs, some translations far from their sentence, two sentences that are equal; and
# 60 sentences and the numbers of their translations among the 90; some translations are right for several sentences
a = np.round(rng.randn(90, 6), 2)
b = np.round(a + 0.7 * rng.randn(90, 6) * (0.5 + rng.rand(90, 1)), 2)
b[40] = b[20]
gold = rng.randint(0, 90, 60)
gold[:30] = np.arange(30)
write_rows("bitext", [{"sentence1.emb": x, "sentence2.emb": y} for x, y in zip(plain(a), plain(b))])
write_rows("bitext_gold", [{"sentence1.emb": plain(a[:60]), "sentence2.emb": plain(b), "gold": gold.tolist()}])


class Bitext(mteb.abstasks.AbsTaskBitextMining):
    metadata = mteb.get_task("Tatoeba").metadata


for kind in ("cosine", "dot"):
    model = Vectors(kind)
    one, two = model.put("a", a), model.put("b", b)
    write_expected(f"bitext_{kind}", evaluate(Bitext(), model, {
        "default": {"test": datasets.Dataset.from_dict({"sentence1": one, "sentence2": two})}}))
model = Vectors()
one, two = model.put("a", a[:60]), model.put("b", b)
write_expected("bitext_gold", evaluate(Bitext(), model, {"default": {"test": {
    "sentence1": one, "sentence2": two, "gold": [(i, int(g)) for i, g in enumerate(gold)]}}}))


# regression: 70 of 300 rows are sampled, and their numbers repeat; then fewer rows than dimensions, one of them twice,
# and all rows are used.  scikit-learn 1.9 drops singular values below 1e-6 of the greatest
class Regression(mteb.abstasks.AbsTaskRegression):
    metadata = mteb.get_task("RuSciBenchYearPublRegression").metadata


def regression(name, rows, tests, width, samples):
    x = np.round(rng.randn(rows + tests, width), 2)
    x[5], x[:, 3] = x[4], x[:, 2]
    y = np.round(x @ rng.randn(width) + rng.randn(rows + tests)) + 2000
    parts = {"train": slice(0, rows), "test": slice(rows, None)}
    task, model, data = Regression(), Vectors(), {}
    task.n_samples = samples
    for part, which in parts.items():
        write_rows(f"{name}_{part}", [{"x.emb": v, "value": float(t)} for v, t in zip(plain(x[which]), y[which])])
        data[part] = datasets.Dataset.from_dict({"text": model.put(part, x[which]), "value": y[which]})
    write_expected(name, evaluate(task, model, {"default": datasets.DatasetDict(data)}))


regression("regression", 300, 40, 6, 70)
regression("regression_all", 12, 30, 20, 2048)


# multilabel classification: each text has none to four of twelve labels, as text and as numbers; no test text has two of
# the labels; 80 test texts or about 30 of them; and the second subset of a task, which goes on drawing where the first left off
class Multilabel(mteb.abstasks.AbsTaskMultilabelClassification):
    metadata = mteb.get_task("BrazilianToxicTweetsClassification").metadata


centres = 2 * rng.randn(12, 7)
sets = {}
for subset, sizes in (("other", (90, 40)), ("default", (150, 80))):
    for part, size in zip(("train", "test"), sizes):
        labels = [sorted(rng.choice(12 if part == "train" else 10, size=rng.choice([0, 1, 1, 2, 2, 3, 4]),
                                    replace=False).tolist()) for _ in range(size)]
        labels[0] = [3]  # a list of the first row has its type
        x = np.array([centres[row].sum(axis=0) for row in labels]) + 1.5 * rng.randn(size, 7)
        sets[subset, part] = np.round(x, 2), labels
        if subset == "default":
            write_rows(f"multilabel_{part}", [{"x.emb": v, "label": row} for v, row in zip(plain(sets[subset, part][0]), labels)])


def multilabel(name, subsets, most, label):
    task, model, data = Multilabel(), Vectors(), {}
    task.max_eval_samples = most
    for (subset, part), (x, labels) in sets.items():
        data.setdefault(subset, datasets.DatasetDict())[part] = datasets.Dataset.from_dict(
            {"text": model.put(subset + part, x), "label": [[label(i) for i in row] for row in labels]})
    task.dataset, task.data_loaded, task.hf_subsets = data, True, subsets
    write_expected(name, task.evaluate(model, "test", encode_kwargs={})["default"])


multilabel("multilabel", ["default"], 3000, int)
multilabel("multilabel_number", ["default"], 30, int)
multilabel("multilabel_text", ["default"], 30, lambda i: str(i + 3))
multilabel("multilabel_second", ["other", "default"], 3000, int)


# retrieval with instructions: six topics with 30 candidates, each with an original and a changed instruction, which makes
# some candidates irrelevant. Two documents are equal.
from mteb._evaluators import retrieval_metrics as measures  # noqa: E402

CUTS = [1, 3, 5, 10, 20, 100, 1000]
documents = np.round(rng.randn(60, 5), 1)
documents[7] = documents[3]
names = [f"d{i}" for i in range(60)]
queries, qrels, changed, candidates = {}, {}, {}, {}
for topic in range(6):
    chosen = [names[i] for i in rng.choice(60, 30, replace=False)]
    relevant = chosen[:6]
    changed[f"t{topic}"] = relevant[:topic % 3 + 1] + (["d-absent"] if topic == 4 else [])
    for which in ("og", "changed"):
        query = f"t{topic}-{which}"
        queries[query] = np.round(documents[names.index(relevant[-1])] + 0.5 * rng.randn(5), 1)
        candidates[query] = chosen
        qrels[query] = {d: int(which == "og" or d not in changed[f"t{topic}"]) for d in relevant}
changed["t9"] = ["d1"]  # not asked


def found(of):
    unit = lambda x: (lambda y: y / np.linalg.norm(y, axis=-1, keepdims=True))(np.asarray(x, "f").astype("d")).astype("f").astype("d")
    by = {d: unit(v) for d, v in zip(names, documents)}
    return {q: {d: float(np.float32(unit(v) @ by[d])) for d in of.get(q, names)} for q, v in queries.items()}


def flat(scores):
    out = {}
    for key, value in scores.items():
        if isinstance(value, dict):
            out.update({f"{key}_{k}": v for k, v in value.items()})
        else:
            out[key] = value
    return out


def write_judgements(name, rows):
    with open(f"score_tasks_{name}.tsv", "w") as out:
        out.write("query-id\tcorpus-id\tscore\n")
        for q, judged in rows.items():
            for d, grade in judged.items():
                out.write(f"{q}\t{d}\t{grade}\n")


write_rows("instruct_corpus", [{"_id": d, "x.emb": v} for d, v in zip(names, plain(documents))])
write_rows("instruct_queries", [{"_id": q, "x.emb": [float(x) for x in v]} for q, v in queries.items()])
write_rows("instruct_candidates", [{"query-id": q, "corpus-ids": ids} for q, ids in candidates.items()])
write_rows("instruct_changed", [{"query-id": q, "corpus-ids": ids} for q, ids in changed.items()])
write_judgements("instruct_qrels", qrels)
nauc = measures.nauc
# if a measure is equal for all queries, mteb divides rounding errors
measures.nauc = lambda confidence, metric: np.nan if np.ptp(metric) < 1e-12 else nauc(confidence, metric)
write_expected("instruct", flat(measures.evaluate_p_mrr_change(qrels, found(candidates), changed, CUTS)))

# subqueries: the same with four subqueries a query; some find only their candidates; the judgements of the last one count
new = {q: f"s_{i % 3}_{q}" for i, q in enumerate(queries)}
renamed = {new[q]: qrels[list(qrels)[i % 3 if i < 9 else i]] for i, q in enumerate(queries)}
results = {new[q]: r for q, r in found({q: c for q, c in candidates.items() if q[1] in "024"}).items()}
write_judgements("instruct_subqueries_qrels", renamed)
write_rows("instruct_subqueries", [{"_id": new[q], "x.emb": [float(x) for x in v]} for q, v in queries.items()])
listed = {new[q]: c if q[1] in "024" else names for q, c in candidates.items()}
write_rows("instruct_subqueries_candidates", [{"query-id": q, "corpus-ids": ids} for q, ids in listed.items()])
write_expected("instruct_subqueries", measures.max_over_subqueries(renamed, results, CUTS))

# groups of queries: the same, named as NevIR's pairs, of one relevant document, and as InstructIR's and IFIR's variants
for kind, name in (("pairs", "{}_q{}"), ("groups", "{}_v{}")):
    new = {q: name.format(q.split("-")[0], 1 + q.endswith("changed")) for q in queries}
    if kind == "groups":  # a third level
        new["t5-og"] = "t5_v3"
    renamed = {new[q]: {d: g for d, g in r.items() if kind == "groups" or d == list(r)[-1]} for q, r in qrels.items()}
    results = {new[q]: r for q, r in found({}).items()}
    by_query = measures.calculate_retrieval_scores(results, renamed, CUTS).all_scores
    write_judgements(f"instruct_{kind}_qrels", renamed)
    write_rows(f"instruct_{kind}", [{"_id": new[q], "x.emb": [float(x) for x in v]} for q, v in queries.items()])
    if kind == "pairs":
        expected = {"paired_accuracy": measures.paired_accuracy(renamed, results, by_query)}
    else:
        expected = {"robustness_at_10": measures.robustness_at_10(renamed, results, by_query)}
        levels = mteb.get_task("IFIRAila").task_specific_scores(by_query, renamed, results, "test", "default")
        expected.update(flat(levels))
    write_expected(f"instruct_{kind}", expected)
