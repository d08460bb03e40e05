"""The names of all scores that mteb 2's tasks report, by type: a list has [] behind its name, a member of an object a
dot before.  Run in tests/golden after score_tasks.py, whose model it takes; writes score_keys.tsv.
"""
import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))
from score_tasks import Bitext, Multilabel, Regression, Vectors, datasets, evaluate, measures, mteb, np  # noqa: E402

rng = np.random.RandomState(3)
tasks, model = mteb.abstasks, Vectors()
Dataset = datasets.Dataset.from_dict


def texts(side, n):
    return model.put(side, rng.randn(n, 5))


def paths(value, name=""):
    if isinstance(value, dict):
        for key, member in value.items():
            yield from paths(member, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for path in {p for member in value for p in paths(member, f"{name}[]")}:
            yield path
    else:
        yield name


def of(base, name):
    return type("Task", (base,), {"metadata": mteb.get_task(name).metadata})()


def both(label):
    return datasets.DatasetDict({part: Dataset({"text": texts(part, 40), **label}) for part in ("train", "test")})


found = {}
one, two = texts("a", 20), texts("b", 20)
pairs = {"sentence1": one, "sentence2": two}
found["sts"] = evaluate(of(tasks.AbsTaskSTS, "STSBenchmark"), model, {
    "default": {"test": Dataset({**pairs, "score": list(range(20))})}})
found["pairclassification"] = evaluate(of(tasks.AbsTaskPairClassification, "TwitterSemEval2015"), model, {
    "default": {"test": Dataset({**pairs, "labels": [0, 1] * 10})}})
found["bitextmining"] = evaluate(Bitext(), model, {"default": {"test": Dataset(pairs)}})
task = of(tasks.AbsTaskSummarization, "SummEvalSummarization.v2")
task.min_score, task.max_score = 0, 5
found["summarization"] = evaluate(task, model, {
    "default": {"test": Dataset({"text": ["x"], "human_summaries": [one[:3]], "machine_summaries": [two[:6]],
                                 "relevance": [[1, 2, 3, 4, 5, 2]]})}})
for name, classes in (("classification2", 2), ("classification3", 3)):
    found[name] = evaluate(of(tasks.AbsTaskClassification, "Banking77Classification"), model,
                           {"default": both({"label": [i % classes for i in range(40)]})})
found["multilabelclassification"] = evaluate(Multilabel(), model, {"default": both({"label": [[i % 3, i % 2] for i in range(40)]})})
found["regression"] = evaluate(Regression(), model, {"default": both({"value": [float(i) for i in range(40)]})})
found["clustering"] = evaluate(of(tasks.AbsTaskClusteringLegacy, "RedditClustering"), model, {
    "default": {"test": Dataset({"sentences": [one], "labels": [[i % 3 for i in range(20)]]})}})
task = of(tasks.AbsTaskClustering, "ArXivHierarchicalClusteringP2P")
task.max_fraction_of_documents_to_embed, task.max_documents_per_cluster, task.n_clusters = None, 30, 2
found["clustering-fast"] = evaluate(task, model, {"default": {"test": Dataset({
    "sentences": one, "labels": [[i % 3, i % 4] for i in range(20)]})}})
qrels = {f"q{i}": {f"d{j}": int(j % 5 == i) for j in range(10)} for i in range(5)}
retrieval = {"queries": Dataset({"id": list(qrels), "text": one[:5]}),
             "corpus": Dataset({"id": [f"d{j}" for j in range(10)], "text": two[:10]}),
             "relevant_docs": qrels, "top_ranked": None}
found["retrieval"] = evaluate(of(tasks.AbsTaskRetrieval, "NFCorpus"), model, {"default": {"test": retrieval}})
results = {f"{q}-{kind}": {f"d{j}": float(rng.rand()) for j in range(10)} for q in qrels for kind in ("og", "changed")}
found["instructions"] = {**found["retrieval"], **measures.evaluate_p_mrr_change(
    {q: qrels[q.split("-")[0]] for q in results}, results, {"q0": ["d0"]}, [1, 3, 5, 10, 20, 100, 1000])}
with open("score_keys.tsv", "w") as out:
    out.write(f"# mteb {mteb.__version__}\n")
    for name, scores in found.items():
        for path in sorted(set(paths(scores))):
            out.write(f"{name}\t{path}\n")
