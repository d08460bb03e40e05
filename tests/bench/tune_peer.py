"""tune_peer PAIRS MODEL OUT SEED - sentence-transformers' trainer at its defaults (batch 8, 3 epochs, rate 5e-5 falling linearly), on the
training rows that `motes tune` has put into the folder PAIRS, with the loss that its documentation names for their kind.
PRECISION=bf16: with torch's automatic mixed precision.  OMP_NUM_THREADS: threads."""
import json
import os
import re
import sys

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments, losses
from sentence_transformers.training_args import BatchSamplers

pairs, model, out, seed = sys.argv[1:]
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
kind = re.search(r"^tasks: \{(\w+):", open(pairs + "/train.yaml").read(), re.M).group(1)
rows = [json.loads(line) for line in open(pairs + "/train.jsonl")]
student = SentenceTransformer(model, device="cpu")
columns = {"pairs": ["query", "document"], "scores": ["sentence1", "sentence2", "score"],
           "matches": ["sentence1", "sentence2", "label"], "labels": ["text", "label"]}[kind]
data = {name: [row[name] for row in rows] for name in columns}
if kind == "labels":
    names = sorted(set(data["label"]))
    data["label"] = [names.index(label) for label in data["label"]]
loss, sampler = {"pairs": (losses.MultipleNegativesRankingLoss, BatchSamplers.NO_DUPLICATES),
                 "scores": (losses.CoSENTLoss, BatchSamplers.BATCH_SAMPLER),
                 "matches": (losses.OnlineContrastiveLoss, BatchSamplers.BATCH_SAMPLER),
                 "labels": (losses.BatchAllTripletLoss, BatchSamplers.GROUP_BY_LABEL)}[kind]
arguments = SentenceTransformerTrainingArguments(
    output_dir=out + ".work", seed=int(seed), use_cpu=True, bf16=os.environ.get("PRECISION") == "bf16", save_strategy="no",
    report_to=[], batch_sampler=sampler, disable_tqdm=True)
SentenceTransformerTrainer(model=student, args=arguments, train_dataset=Dataset.from_dict(data), loss=loss(student)).train()
student.save(out)
