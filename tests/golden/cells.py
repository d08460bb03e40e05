#!/usr/bin/env python3
"""cells.py - made-up comparisons of arms, and what numpy and scipy say of their cells: cells/BASE/ARM.tsv (as tables.mk
makes them) and cells/expected.tsv (as pipelines/cells.awk).  Run in tests/golden."""
import pathlib

import numpy as np
import scipy.stats

TYPES = {"Retrieval": {"r1": 300, "r2": 900}, "Clustering": {"c1": 4, "c2": 10}, "STS": {"s1": 1379}}
SEEDS = 3
# the gain of an arm, its deviation over seeds, the deviation of a query's difference, all x 100
ARMS = {"em/sure": (2, 0.2, 10), "em/seeds": (2, 1.5, 10), "em/queries": (1.2, 0.01, 20), "em/equal": (0, 0, 0), "ic/none": (0.2, 0.5, 10)}
HEAD = "base arm type sets difference standard_error seed_error error p holm_p claim".split()
rng = np.random.RandomState(3)


def cell(rows):
    """The cell of one type, or of all types, from rows of (seed, difference, error, queries)."""
    by_seed = [[r for r in rows if r[0] == seed] for seed in range(1, SEEDS + 1)]
    sets = len(by_seed[0])
    means = np.array([np.mean([r[1] for r in own]) for own in by_seed])
    of_queries = np.mean([np.sqrt(sum(r[2] ** 2 for r in own)) / sets for own in by_seed])
    of_seeds = scipy.stats.sem(means)
    error = np.hypot(of_queries, of_seeds)
    if not error:
        return [sets, means.mean(), of_queries, of_seeds, error, float(means.mean() == 0)]
    squares = np.array([r[2] ** 2 for r in rows])
    parts = [of_seeds ** 2, *(of_queries ** 2 * squares / squares.sum())]
    freedoms = [SEEDS - 1, *(r[3] - 1 for r in rows)]
    p = np.average(2 * scipy.stats.t.sf(abs(means.mean()) / error, freedoms), weights=parts)
    return [sets, means.mean(), of_queries, of_seeds, error, p]


def main(folder):
    cells = []
    for name, (gain, over_seeds, over_queries) in ARMS.items():
        rows = []
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with open(folder / (name + ".tsv"), "w") as out:
            for seed in range(1, SEEDS + 1):
                for kind, sets in TYPES.items():
                    for which, queries in sets.items():
                        error = over_queries / 100 / np.sqrt(queries) * rng.uniform(0.8, 1.2)
                        error = 0.002 * (over_queries > 0) if kind == "Clustering" else error
                        base, difference = rng.uniform(0.3, 0.6), rng.normal(gain, over_seeds) / 100
                        base, difference, error = round(base, 6), round(difference, 6), round(error, 6)
                        rows.append((kind, seed, difference, error, queries))
                        out.write(f"{seed}\t{kind}\t{which}\t{base:g}\t{base + difference:.6g}\t{difference:g}\t{error:g}\t{queries}\n")
        for kind in [*TYPES, "all sets"]:
            own = [r[1:] for r in rows if kind in (r[0], "all sets")]
            cells.append(name.split("/") + [kind] + cell([(s, 100 * d, 100 * e, q) for s, d, e, q in own]))
    order = sorted(range(len(cells)), key=lambda i: cells[i][-1])
    most = 0
    for place, i in enumerate(order):
        most = max(most, cells[i][-1] * (len(cells) - place))
        cells[i] += [min(1, most), "yes" if most < 0.05 else "no"]
    with open(folder / "expected.tsv", "w") as out:
        out.write("\t".join(HEAD) + "\n")
        for c in cells:
            out.write("\t".join(f"{x:.9g}" if isinstance(x, float) else str(x) for x in c) + "\n")


main(pathlib.Path("cells"))
