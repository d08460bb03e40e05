#!/usr/bin/env python3
"""mteb_tasks - makes motes' registry of tasks, and their rows, from the mteb package; needs mteb 2.26 or later

    mteb_tasks.py registry > share/tasks.yaml   the text tasks and benchmarks of mteb, as the registry of 'make mteb'
    mteb_tasks.py rows DATA TASK...             the rows that mteb scores, as DATA/TYPE/TASK/SUBSET/SPLIT.jsonl.gz;
                                                loads them from the Hugging Face Hub or its cache

The registry has only facts: names, types, splits, subsets, languages, main scores, places and revisions on the Hub, and
sizes; and the sets of FinMTEB, which mteb lacks.
"""
import collections
import gzip
import inspect
import json
import pathlib
import re
import sys

import datasets
import mteb
from mteb.abstasks.clustering import AbsTaskClustering
from mteb.get_tasks import _SIMILAR_TASKS, _gather_tasks

STATISTICS = pathlib.Path(mteb.__file__).parent / "descriptive_stats"

# The main score of each type, as in HEAD; a task with another score has its own key.
MAIN = {
    "BitextMining": "f1",
    "Classification": "accuracy",
    "Clustering": "v_measure",
    "InstructionReranking": "p-MRR",
    "InstructionRetrieval": "ndcg_at_20",
    "MultilabelClassification": "accuracy",
    "PairClassification": "max_ap",
    "Regression": "kendalltau",
    "Reranking": "map_at_1000",
    "Retrieval": "ndcg_at_10",
    "STS": "cosine_spearman",
    "Summarization": "cosine_spearman",
}
# --groups for each score of groups of queries, by a word of the method that computes it
GROUPS = {"robustness_at_10": "robustness", "paired_accuracy": "pairs", "level_scores": "levels", "max_over_subqueries": "subqueries"}
# Tasks of clustering-fast whose rows are the Hub's sets of texts, concatenated
CONCATENATED = {"BiorxivClusteringP2P.v2", "MedrxivClusteringP2P.v2", "MedrxivClusteringS2S.v2", "TwentyNewsgroupsClustering.v2"}
# Short names of benchmarks
ALSO = {
    "MTEB(eng, v1)": ["mteb"],
    "MTEB(eng, v2)": ["mteb-v2"],
    "MTEB(Multilingual, v2)": ["mmteb"],
    "MTEB(Code, v1)": ["mteb-code"],
}
# Tasks of clustering-fast that draw from all texts, which only their loading code says
WHOLE = {"RedditClustering.v2", "StackExchangeClustering.v2"}
# Tasks that mteb scores by one protocol only
PROTOCOL = {"SummEval": "v1", "SummEvalSummarization.v2": "v2"}
MOST_SUBSETS = 1000  # Flores has 41,412, the pairs of languages

HEAD = """\
# tasks.yaml - the data sets and benchmarks that 'make mteb' knows, as motes(7) explains
#
# Made by share/python/mteb_tasks.py from mteb VERSION; change that script, not this file.  Each set is a line; keys
# that it lacks have its type's values.  For a set of your own, put such lines into DATA/tasks.yaml, which is read after this file:
#
#   tasks:
#     Recipes: { type: Retrieval, in: kitchen }
#
# type     one of the types below
# main     the metric that is the set's score (main_v2: by protocol v2)
# prompt   the name of the model's prompt for its texts, or { query: ..., document: ... };
#          prompts by mteb's names ("STS12", "STS", "query", ...) override it if the model has them,
#          as a prompt or as a task with an expert (upcycle --task STS=classification)
# instruction  mteb's sentence for models that take instructions, or { query: ..., document: ... }
# split    the split that is scored, or a list of them (test)
# subset   mteb's name of the rows that are scored, or a list of names, each scored separately (default)
# subsets  the same with languages: { en: eng-Latn, de: deu-Latn }.  The score of a set is the mean over all its
#          subsets and splits.
# path     the rows on the Hugging Face Hub, and their revision
# samples  Classification, MultilabelClassification: training rows of each label; Regression: training rows (2048); with fast: texts of an experiment (16384)
# experiments  how often samples are drawn (10)
# train    the split of the training rows (train)
# fast     Clustering: mteb scores it by clustering-fast; sets: the rows are the Hub's sets of texts, concatenated, or single
#          texts; rows: the rows are single texts, as mteb samples them from those sets or splits their labels
# documents  with fast: the texts that experiments draw from: a number, a share or all (0.04)
# folds    Classification: mteb scores it by cross-validation; motes refuses it
# protocol v1 or v2: the only protocol by which mteb scores it
# languages  as mteb's results name them; before types: those of all sets of this file
# ignore_identical_ids  Retrieval: a document with the query's id is not a hit
# groups   Retrieval, Reranking: another score, of groups of queries (mteb-score --groups)
# at       Retrieval, Reranking: the cut-offs of the measures (1, 3, 5, 10, 20, 100, 1000)
# size     rows that mteb scores (Retrieval: queries and documents; Clustering: texts); a set of
#          another size gets a warning
# sizes    of several subsets or splits: the sizes of all, split by split; null: unknown
# part_of  the set of which this one, which is scored separately, is a part
# family   one name for all sets of the same texts: a model trained on one of them has seen the others
# in       further benchmarks with the set, besides those below; TASKS=NAME selects all their sets
#
# A benchmark has a name, other names (also), and its sets, some with only a part of their subsets or splits.

languages: eng-Latn

types:
  BitextMining: { main: f1, prompt: classification }
  Classification: { main: accuracy, prompt: classification, samples: 8 }
  Clustering: { main: v_measure, prompt: clustering }
  InstructionReranking: { main: p-MRR, prompt: { query: search_query, document: search_document } }
  InstructionRetrieval: { main: ndcg_at_20, prompt: { query: search_query, document: search_document } }
  MultilabelClassification: { main: accuracy, prompt: classification, samples: 8 }
  PairClassification: { main: max_ap, prompt: classification }
  Regression: { main: kendalltau, prompt: classification }
  Reranking: { main: map, main_v2: map_at_1000, prompt: { query: search_query, document: search_document } }
  Retrieval: { main: ndcg_at_10, prompt: { query: search_query, document: search_document } }
  STS: { main: cosine_spearman, prompt: classification }
  Summarization: { main: cosine_spearman, prompt: classification }
"""

# The sets of FinMTEB that REZE reports: type, and main score if it is not the type's
FINMTEB = {
    "ESGClassification": {"type": "Classification"},
    "FinancialPhraseBankClassification": {"type": "Classification"},
    "FinSentClassification": {"type": "Classification"},
    "FLSClassification": {"type": "Classification"},
    "FOMCClassification": {"type": "Classification"},
    "HeadlineACPairClassification": {"type": "PairClassification", "main": "cosine_ap"},
    "FinFactReranking": {"type": "Reranking"},
    "FiQA2018Reranking": {"type": "Reranking"},
    "HC3Reranking": {"type": "Reranking"},
    "FinQARetrieval": {"type": "Retrieval"},
    "FiQA2018Retrieval": {"type": "Retrieval"},
    "HC3Retrieval": {"type": "Retrieval"},
    "TATQARetrieval": {"type": "Retrieval"},
    "TheGoldmanEnRetrieval": {"type": "Retrieval"},
    "TradeTheEventEncyclopediaRetrieval": {"type": "Retrieval"},
    "TradeTheEventNewsRetrieval": {"type": "Retrieval"},
    "USNewsRetrieval": {"type": "Retrieval"},
    "FINAL": {"type": "STS"},
}


def plain(word):
    """Whether YAML reads the word, within braces, as itself."""
    return (
        word[0].isalpha()
        and all(c.isalnum() or c in "_-./+" for c in word)
        and word.lower() not in ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
    )


def yaml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value and plain(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(yaml, value)) + "]"
    if isinstance(value, dict):
        inside = ", ".join(f"{yaml(key)}: {yaml(item)}" for key, item in value.items())
        return "{ " + inside + " }" if inside else "{}"
    return "null" if value is None else str(value)


def one(names):
    return names[0] if len(names) == 1 else list(names)


def statistics(metadata):
    """mteb's own counts of the task's rows, or {}."""
    found = list(STATISTICS.glob(f"*/{metadata.name}.json"))
    return json.loads(found[0].read_text()) if len(found) == 1 else {}


def texts(counts, key):
    """The number of texts, from their total and mean lengths."""
    lengths = counts.get(key) or {}
    return round(lengths["total_text_length"] / lengths["average_text_length"]) if lengths.get("average_text_length") else None


def count(counts):
    """A number of rows, or the numbers of queries and documents; None: unknown."""
    if counts.get("relevant_docs_statistics") or counts.get("num_documents"):
        both = [
            counts.get("num_queries") or texts(counts, "queries_text_statistics"),
            counts.get("num_documents") or texts(counts, "documents_text_statistics"),
        ]
        return both if all(both) else None
    return counts.get("num_samples")


def size(metadata):
    """The key size of a task, or sizes of a task with several parts, split by split; {}: unknown."""
    known, sizes = statistics(metadata), []
    if metadata.is_multilingual and len(metadata.eval_langs) > MOST_SUBSETS:
        return {}
    for split in metadata.eval_splits:
        counts = known.get(split) or {}
        by_subset = counts.get("hf_subset_descriptive_stats") or {}
        if not metadata.is_multilingual:
            sizes.append(count(counts))
        else:
            sizes += [count(by_subset.get(subset) or {}) for subset in metadata.eval_langs]
    if not any(sizes):
        return {}
    return {"size": sizes[0]} if len(sizes) == 1 else {"sizes": sizes}


def parts(metadata):
    """Splits, subsets and languages, unless they are the defaults."""
    line = {}
    langs = metadata.eval_langs
    if list(metadata.eval_splits) != ["test"]:
        line["split"] = one(metadata.eval_splits)
    if isinstance(langs, dict):
        if len(langs) > MOST_SUBSETS:
            return line
        subsets = {name: one(codes) for name, codes in langs.items()}
        if len(set(map(str, subsets.values()))) == 1:  # all subsets have the same languages
            line["subset"] = one(list(subsets))
            langs = list(langs.values())[0]
        else:
            line["subsets"] = subsets
            return line
    if list(langs) != ["eng-Latn"]:
        line["languages"] = one(langs)
    return line


def scoring(task, metadata):
    """The keys for how rows are scored, without the type's defaults."""
    line = {}
    if metadata.main_score != MAIN[metadata.type]:
        line["main_v2" if metadata.type == "Reranking" else "main"] = metadata.main_score
    samples = getattr(task, "samples_per_label", 8)
    if metadata.type in ("Classification", "MultilabelClassification"):
        if samples != 8:
            line["samples"] = samples
        if task.n_experiments != 10:
            line["experiments"] = task.n_experiments
        if task.train_split != "train":
            line["train"] = task.train_split
    if issubclass(task, AbsTaskClustering):
        line["fast"] = "sets" if metadata.name in CONCATENATED else "rows"
        number, share = task.max_document_to_embed, task.max_fraction_of_documents_to_embed
        if metadata.name in WHOLE or (number is None and share is None):
            line["documents"] = "all"
        elif number is not None:
            line["documents"] = number
        elif share != 0.04:
            line["documents"] = share if share < 1 else "all"
        if task.max_documents_per_cluster != 16384:
            line["samples"] = task.max_documents_per_cluster
        if task.n_clusters != 10:  # of k-means, not of texts
            line["experiments"] = task.n_clusters
    if getattr(task, "is_cross_validation", False):
        line["folds"] = task.n_splits
    if getattr(task, "ignore_identical_ids", False):
        line["ignore_identical_ids"] = True
    own = inspect.getsource(task.task_specific_scores) if hasattr(task, "task_specific_scores") else ""
    for word, groups in GROUPS.items():
        if word in own:
            line["groups"] = groups
    if metadata.name in PROTOCOL:
        line["protocol"] = PROTOCOL[metadata.name]
    cuts = getattr(task, "k_values", (1, 3, 5, 10, 20, 100, 1000))
    if list(cuts) != [1, 3, 5, 10, 20, 100, 1000]:
        line["at"] = list(cuts)
    return line


def entry(task, whole, instructions, family):
    metadata = task.metadata
    line = {"type": metadata.type, "path": metadata.dataset["path"], "revision": metadata.dataset["revision"]}
    line.update(scoring(task, metadata))
    if metadata.prompt:
        line["instruction"] = dict(metadata.prompt) if isinstance(metadata.prompt, dict) else metadata.prompt
    elif task.abstask_prompt != instructions[metadata.type]:
        line["instruction"] = task.abstask_prompt
    line.update(parts(metadata))
    line.update(size(metadata))
    if metadata.name in whole:
        line["part_of"] = whole[metadata.name]
    if metadata.name in family:
        line["family"] = family[metadata.name]
    return line


def families(listed):
    """The family of each task that has one: the name of one of the tasks that mteb calls similar, directly or indirectly.

    A name that the registry does not list is preferred, since a model's training sets may have it."""
    near = collections.defaultdict(set)
    for name, others in _SIMILAR_TASKS.items():
        for other in others:
            near[name].add(other)
            near[other].add(name)
    found = {}
    for name in near:
        members, left = set(), [name]
        while left:
            member = left.pop()
            if member not in members:
                members.add(member)
                left += near[member]
        found[name] = min(members, key=lambda member: (member in listed, member))
    return found


def instructions_of_types():
    """The most frequent instruction of each type."""
    found = {kind: collections.Counter() for kind in MAIN}
    for task in _gather_tasks():
        if is_text(task) and not hasattr(task.metadata, "tasks"):
            found[task.metadata.type][task.abstask_prompt] += 1
    return {kind: count.most_common(1)[0][0] for kind, count in found.items()}


def benchmark(name, bench):
    tasks = []
    for task in bench.tasks:
        only, metadata = {}, task.metadata
        if not getattr(task, "is_aggregate", False):
            if set(task.hf_subsets) != set(metadata.hf_subsets):
                only["subsets"] = one(sorted(task.hf_subsets))
            if list(task.eval_splits) != list(metadata.eval_splits):
                only["splits"] = one(task.eval_splits)
        tasks.append({metadata.name: only} if only else metadata.name)
    also = list(bench.aliases or []) + ALSO.get(name, [])
    line = {"also": one(also)} if also else {}
    line["tasks"] = tasks
    return line


def is_text(task):
    return list(task.metadata.modalities) == ["text"] and task.metadata.type in MAIN


def registry():
    instructions = instructions_of_types()
    head = HEAD.replace("VERSION", mteb.__version__)
    for kind, text in instructions.items():
        head = head.replace(f"\n  {kind}: {{ ", f"\n  {kind}: {{ instruction: {yaml(text)}, ")
    print(head, end="")
    known = sorted((task for task in _gather_tasks() if is_text(task)), key=lambda task: task.metadata.name)
    whole = {}
    for task in known:
        for part in getattr(task.metadata, "tasks", []):
            whole[part.metadata.name] = task.metadata.name
    texts = {task.metadata.name for task in known}
    family = families({task.metadata.name for task in known if not hasattr(task.metadata, "tasks")})
    print("\nbenchmarks:")
    for bench in mteb.get_benchmarks():
        if all(task.metadata.name in texts for task in bench.tasks):
            print(f"  {yaml(bench.name)}: {yaml(benchmark(bench.name, bench))}")
    print(f"  FinMTEB: {yaml({'tasks': list(FINMTEB)})}")
    print("\ntasks:")
    print("  # FinMTEB, the sets of REZE's tables; before mteb's, whose names differ in case alone")
    for name, line in FINMTEB.items():
        if name not in texts:
            print(f"  {name}: {yaml(line)}")
    print("  # mteb")
    for task in known:
        if not hasattr(task.metadata, "tasks"):
            print(f"  {yaml(task.metadata.name)}: {yaml(entry(task, whole, instructions, family))}")



# The columns of a task's rows, under motes' names.
def columns(task):
    kind = task.metadata.type
    if kind in ("Classification", "MultilabelClassification", "Regression"):
        return {task.input_column_name: "text", task.label_column_name: "value" if kind == "Regression" else "label"}
    if kind == "Clustering":
        names = getattr(task, "input_column_name", "sentences"), getattr(task, "label_column_name", "labels")
        return {names[0]: "sentences", names[1]: "labels"}
    if kind == "STS":
        return {task.column_names[0]: "sentence1", task.column_names[1]: "sentence2", "score": "score"}
    if kind == "PairClassification":
        names = task.input1_column_name, task.input2_column_name, task.label_column_name
        return dict(zip(names, ("sentence1", "sentence2", "labels")))
    if kind == "BitextMining":
        return {"sentence1": "sentence1", "sentence2": "sentence2"}
    if kind == "Summarization":
        names = (
            task.text_column_name,
            task.human_summaries_column_name,
            task.machine_summaries_column_name,
            task.relevancy_column_name,
        )
        return dict(zip(names, ("text", "human_summaries", "machine_summaries", "relevance")))
    raise SystemExit(f"{task.metadata.name}: rows of {kind} are not written")


def write(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_retrieval(folder, split, data):
    """Documents, queries with instructions, judgements and, for reranking, the candidates of each query."""
    documents = data["corpus"]
    write(
        folder / "corpus" / f"{split}.jsonl.gz",
        ({"_id": row["id"], "title": row.get("title") or "", "text": row["text"]} for row in documents),
    )
    more = [name for name in ("instruction",) if name in data["queries"].column_names]
    write(
        folder / "queries" / f"{split}.jsonl.gz",
        ({"_id": row["id"], "text": row["text"], **{name: row[name] for name in more}} for row in data["queries"]),
    )
    write(
        folder / "qrels" / f"{split}.jsonl.gz",
        (
            {"query-id": query, "corpus-id": document, "score": grade}
            for query, grades in data["relevant_docs"].items()
            for document, grade in grades.items()
        ),
    )
    if data.get("top_ranked"):
        write(
            folder / "top_ranked" / f"{split}.jsonl.gz",
            ({"query-id": query, "corpus-ids": list(ids)} for query, ids in data["top_ranked"].items()),
        )


def changed(metadata, subset):
    """The documents of p-MRR, which mteb loads while it scores."""
    name = "qrel_diff" if len(metadata.hf_subsets) == 1 else "qrel_diff-" + subset.removeprefix("eng-")
    where = metadata.dataset
    return datasets.load_dataset(where["path"], name, split="qrel_diff", revision=where["revision"])


def write_task(data, task):
    """Writes the rows of each subset and split; a single subset has no folder of its own."""
    metadata = task.metadata
    task.load_data()
    retrieval = hasattr(task, "convert_v1_dataset_format_to_v2")
    if retrieval:
        task.convert_v1_dataset_format_to_v2(None)
    splits = list(task.eval_splits)
    if hasattr(task, "train_split"):
        splits.append(task.train_split)
    for subset in task.hf_subsets:
        folder = data / metadata.type.lower() / metadata.name
        if len(metadata.hf_subsets) > 1:
            folder /= re.sub(r"[^0-9A-Za-z._+@\x80-\U0010ffff-]", "_", subset)  # as make mteb reads it
        own = task.dataset[subset] if subset in task.dataset else task.dataset
        if metadata.main_score == "p-MRR":
            write(folder / "qrel_diff.jsonl.gz", changed(metadata, subset))
        for split in splits:
            if retrieval:
                write_retrieval(folder, split, own[split])
                continue
            names = columns(task)
            chosen = own[split].select_columns(list(names)).rename_columns(
                {name: ours for name, ours in names.items() if name != ours}
            )
            write(folder / f"{split}.jsonl.gz", chosen)


def rows(data, names):
    for task in mteb.get_tasks(tasks=names):
        print(task.metadata.name, file=sys.stderr)
        write_task(pathlib.Path(data), task)


if __name__ == "__main__":
    if sys.argv[1:] == ["registry"]:
        registry()
    elif len(sys.argv) > 3 and sys.argv[1] == "rows":
        rows(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
