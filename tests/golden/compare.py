#!/usr/bin/env python3
"""compare.py DIR - scores of two made-up models on 40 made-up data sets, and what scipy and numpy say
of their difference: compare.tsv (type, task, A, B) and compare_expected.tsv (as leaderboard compare)."""
import pathlib
import sys

import numpy
import scipy.stats

SIZES = {"Clustering": 9, "Retrieval": 17, "STS": 13, "Summarization": 1}
SEED, RESAMPLES = 42, 10000


def tests(a, b):
    difference = b - a
    row = [a.mean(), b.mean(), difference.mean()]
    if len(a) < 2:
        return row + [numpy.nan] * 7
    welch = scipy.stats.ttest_ind(a, b, equal_var=False, alternative="less")
    paired = scipy.stats.ttest_rel(b, a)
    drawn = numpy.random.RandomState(SEED).randint(0, len(a), (RESAMPLES, len(a)))
    low, high = numpy.percentile(difference[drawn].mean(axis=1), [2.5, 97.5])
    return row + [welch.statistic, welch.df, welch.pvalue, paired.statistic, paired.pvalue, low, high]


def main(folder):
    random = numpy.random.RandomState(7)
    types, names, a, b = [], [], [], []
    for kind, size in SIZES.items():
        base = random.uniform(20, 90, size)
        types += [kind] * size
        names += [f"{kind}{i:02d}" for i in range(size)]
        a += list(base + random.normal(0, 1, size))
        b += list(base + random.normal(0.6, 1, size))
    a, b = numpy.round(a, 4), numpy.round(b, 4)
    with open(folder / "compare.tsv", "w") as out:
        for row in zip(types, names, a, b):
            out.write("%s\t%s\t%.4f\t%.4f\n" % row)
    formats = "%.2f %.2f %+.2f %.3f %.1f %.3g %.3f %.3g %+.2f %+.2f".split()
    with open(folder / "compare_expected.tsv", "w") as out:
        for kind in list(SIZES) + ["all"]:
            mine = numpy.array([kind in (t, "all") for t in types])
            numbers = tests(a[mine], b[mine])
            cells = ["" if numpy.isnan(x) else f % x for f, x in zip(formats, numbers)]
            out.write("\t".join([kind, str(mine.sum())] + cells) + "\n")


main(pathlib.Path(sys.argv[1]))
