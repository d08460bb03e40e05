#!/usr/bin/env python3
"""compare_runs.py - results of two made-up models with the scores of each query, as 'make mteb PER_QUERY=1' leaves them:
compare_runs/{A,B}/results/MODEL/1/TASK.{json,tsv}, and what scipy, scikit-learn and numpy say of them: compare_runs/sets.tsv and
types.tsv (as leaderboard compare, query by query).  Run in tests/golden."""
import json
import pathlib

import numpy as np
import scipy.stats
from sklearn.metrics import average_precision_score

SEED, RESAMPLES = 42, 1000
rng = np.random.RandomState(11)
# type, set, queries, main metric
SETS = [("Clustering", "one", 1, "v_measure"), ("PairClassification", "same", 50, "max_ap"), ("Retrieval", "few", 8, "ndcg_at_10"),
        ("Retrieval", "many", 120, "ndcg_at_10"), ("STS", "gold", 60, "cosine_spearman"), ("STS", "more", 9, "cosine_spearman")]


def statistic(metric, values, target):
    if metric.endswith("ap"):
        return average_precision_score(target, values)
    return scipy.stats.spearmanr(values, target)[0] if metric.endswith("spearman") else np.mean(values)


def drawn(kind, metric, queries):
    """Scores of both models, their targets, and the columns of their tables: name to values."""
    quality = rng.rand(queries)
    if kind == "STS":
        target = np.round(5 * quality)
        both = [np.round(quality + rng.normal(0, noise, queries), 4) for noise in (0.4, 0.2)]
        return both, target, [{"gold": target, "cosine": x} for x in both]
    if kind == "PairClassification":  # the models differ in their best measure
        target = (quality > 0.6).astype(int)
        bad, good = (np.round(quality + rng.normal(0, noise, (2, queries)), 4) for noise in (0.9, 0.25))
        return [good[0], good[1]], target, [{"label": target, "cosine": good[0], "manhattan": bad[0]},
                                            {"label": target, "cosine": bad[1], "manhattan": good[1]}]
    both = [np.round(quality, 4), np.round(np.clip(quality + rng.normal(0.08, 0.15, queries), 0, 1), 4)]
    return both, None, [{"precision": 1 - x, metric: x} for x in both]


def write(folder, model, kind, name, metric, score, columns, order):
    here = folder / model / "results" / f"the {model}" / "1"
    here.mkdir(parents=True, exist_ok=True)
    (here / "model_meta.json").write_text(json.dumps({"name": f"model-{model}", "revision": "1"}) + "\n")
    (here / f"{name}.json").write_text(json.dumps({"task_name": name, "motes": {"task_type": kind, "main_score": metric},
                                                  "scores": {"test": [{"main_score": round(score, 6)}]}}) + "\n")
    with open(here / f"{name}.tsv", "w") as out:
        out.write("\t".join(["id", *columns]) + "\n")
        for i in order:
            out.write("\t".join([f"q{i}"] + [f"{x[i]:.10g}" for x in columns.values()]) + "\n")


def line(texts, numbers):
    return "\t".join(list(map(str, texts)) + ["" if np.isnan(x) else f"{x:.6g}" for x in numbers]) + "\n"


def p_of(difference, errors, freedoms):
    error = np.sqrt(np.sum(errors ** 2))
    return np.average(2 * scipy.stats.t.sf(abs(difference) / error, freedoms), weights=errors ** 2)


def main(folder):
    rows = []
    for place, (kind, name, queries, metric) in enumerate(SETS):
        both, target, columns = drawn(kind, metric, queries)
        a, b = (statistic(metric, x, target) for x in both)
        for model, score, own, order in zip("AB", (a, b), columns, (range(queries), rng.permutation(queries))):
            write(folder, model, kind, name, metric, score, own, order)
        draws = np.random.RandomState(SEED + place).randint(0, queries, (RESAMPLES, queries))
        differences = np.array([statistic(metric, both[1][d], None if target is None else target[d])
                                - statistic(metric, both[0][d], None if target is None else target[d]) for d in draws])
        error = np.std(differences, ddof=1) if target is not None else scipy.stats.sem(both[1] - both[0]) if queries > 1 else np.nan
        p = 2 * scipy.stats.t.sf(abs(b - a) / error, queries - 1) if queries > 1 else np.nan
        if queries == 1:
            differences[:] = b - a
        rows.append((kind, name, queries, a, b, error, p, differences))
    order, most = sorted((r[6], i) for i, r in enumerate(rows) if not np.isnan(r[6])), 0
    holm = [np.nan] * len(rows)
    for place, (p, i) in enumerate(order):
        most = max(most, p * (len(order) - place))
        holm[i] = min(most, 1)
    with open(folder / "sets.tsv", "w") as out:
        for (kind, name, queries, a, b, error, p, d), corrected in zip(rows, holm):
            low, high = np.percentile(d, [2.5, 97.5]) if queries > 1 else (np.nan, np.nan)
            out.write(line([kind, name, queries], [100 * a, 100 * b, 100 * (b - a), 100 * error, p, corrected, 100 * low, 100 * high]))
    with open(folder / "types.tsv", "w") as out:
        for kind in [*dict.fromkeys(r[0] for r in rows), "all"]:
            own = [r for r in rows if kind in (r[0], "all")]
            errors = np.array([r[5] for r in own if not np.isnan(r[5])]) / len(own)
            a, b = (np.mean([r[i] for r in own]) for i in (3, 4))
            error = np.sqrt(np.sum(errors ** 2)) if len(errors) else np.nan
            p = p_of(b - a, errors, [r[2] - 1 for r in own if r[2] > 1]) if len(errors) else np.nan
            low, high = np.percentile(np.mean([r[7] for r in own], axis=0), [2.5, 97.5]) if len(errors) else (np.nan, np.nan)
            out.write(line([kind, len(own), sum(r[2] for r in own)], [100 * a, 100 * b, 100 * (b - a), 100 * error, p, 100 * low, 100 * high]))


main(pathlib.Path("compare_runs"))
