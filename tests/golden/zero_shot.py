"""zero_shot.py - the share of MTEB(eng, v2) that mteb 2.26 calls zero-shot for models trained on some sets

writes zero_shot.tsv: the sets, joined by commas, and mteb's percentage.
"""
import pathlib

import mteb

tasks = [task.metadata.name for task in mteb.get_benchmark("MTEB(eng, v2)").tasks]
out = pathlib.Path(__file__).with_suffix(".tsv").open("w")
for sets in ("MSMARCO,NQ,HotpotQA,FEVER", "SciFact,NanoMSMARCORetrieval", "FEVER-NL,STS12,ArguAna-PL,unknown", "CQADupstackRetrieval,ImdbClassification.v2"):
    model = mteb.models.ModelMeta.create_empty()
    model.training_datasets = set(sets.split(","))
    print(sets, model.zero_shot_percentage(tasks), sep="\t", file=out)
