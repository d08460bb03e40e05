#!/usr/bin/env python3
"""benchmark.py - MTEB(eng, v2) of five models by mteb 2.26's own aggregation

    benchmark.py DIR    DIR/MODEL/REVISION/TASK.json and model_meta.json, as 'draw' of tests/results.bats writes them, in

writes benchmark.tsv: model, key of mteb's Benchmark.get_score, value times 100 (Rank: as it is); and benchmark_frame.tsv,
mteb's table of the scores of all sets, each the mean of the subsets in its file.
"""
import pathlib
import sys

import mteb

cache = mteb.ResultCache(sys.argv[1])
bench = mteb.get_benchmark("MTEB(eng, v2)")
results = cache.load_results(tasks=bench, only_main_score=True, include_remote=False)
out = pathlib.Path(__file__).with_suffix(".tsv").open("w")
for model, scores in sorted(bench.get_score(results).items()):
    for key, value in scores.items():
        number = value if key == "Rank" or value is None else 100 * value
        print(model, key, "" if number is None else number, sep="\t", file=out)
frame = results.to_dataframe()
frame.to_csv(pathlib.Path(__file__).parent / "benchmark_frame.tsv", sep="\t", index=False)
