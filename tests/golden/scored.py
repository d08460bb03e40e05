#!/usr/bin/env python3
"""scored.py - training on scored pairs by torch, with the losses of sentence-transformers, for tests/scored.bats.

Writes scored/pairs.txt (batches as tests/support/pairs_stream reads them, two negatives a row), scored/scores.jsonl (a row's
scores: document.score, negatives.score; labels: 0 or 1 for contrastive and online), scored/guide.jsonl and
scored/teacher.jsonl and scored/wide.jsonl (query.emb, document.emb) and, for each loss, scored/LOSS.tsv: loss and
norm of the gradient of each step of torch.optim.AdamW from the tiny BERT of train/bert.  The losses of pairs see the documents
alone; cosent_three and angle_three the negatives as well, as pairs with their own scores; NAME_nested is MatryoshkaLoss;
mse_rates is mse with other learning rates of the embeddings and the first block.  project_guide and project_wide are
EmbedDistillLoss with a projection to the vectors of the guide and of wide.jsonl, which lib/model/model.c draws.
Needs torch, transformers, sentence-transformers.
"""
import json
import math
import os
import random

import torch
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.losses import gist_embed
from transformers import BertModel

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, ROWS, NEGATIVES, VOCABULARY, GUIDE, WIDTH, WIDE = 5, 8, 2, 48, 5, 16, 21
WORD = (1 << 64) - 1
TENSORS = 37  # of the tiny BERT: the number of the projection's stream of random numbers


def sequence(rng):
    return [2] + [rng.randrange(5, VOCABULARY) for _ in range(rng.randint(2, 10))] + [3]


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def normals(count, seed, stream):
    """The numbers of rng_normal (lib/base/rng.c)."""
    x, s = mix(seed + 0x9E3779B97F4A7C15) ^ mix(stream + 0x632BE59BD9B4E019), []
    rotate = lambda x, by: (x << by | x >> 64 - by) & WORD
    for _ in range(4):
        x = x + 0x9E3779B97F4A7C15 & WORD
        s.append(mix(x))

    def uniform():
        result, t = (rotate(s[0] + s[3] & WORD, 23) + s[0]) & WORD, s[1] << 17 & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return (result >> 11) * 2.0 ** -53

    return [math.sqrt(-2 * math.log(1 - uniform())) * math.cos(6.283185307179586 * uniform()) for _ in range(count)]


def projected(width, teacher):
    """EmbedDistillLoss with a projection as a parameter."""
    loss = losses.EmbedDistillLoss(None)
    loss.projection = torch.nn.Linear(WIDTH, width, bias=False)
    with torch.no_grad():
        drawn = torch.tensor(normals(WIDTH * width, 0, TENSORS), dtype=torch.float64)
        loss.projection.weight.copy_((drawn / (3 * WIDTH) ** 0.5).view(width, WIDTH))
    steps = iter(teacher)
    run = lambda x, t, y: loss.compute_loss_from_embeddings(x[:2], list(next(steps)))
    run.projection = loss.projection
    return run


def embed(model, sequences):
    rows = []
    for ids in sequences:
        hidden = model(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
        rows.append(hidden.last_hidden_state[0].mean(0))
    return torch.stack(rows)


def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a, b)


def pairs_of(x, t, three):
    """Pairs of embeddings with scores: the documents, and with `three` also the negatives, row by row."""
    if not three:
        return [x[0], x[1]], t[:, 0]
    left = torch.cat([x[0], x[0].repeat_interleave(NEGATIVES, 0)])
    right = torch.cat([x[1], torch.stack(x[2:], 1).flatten(0, 1)])
    return [left, right], torch.cat([t[:, 0], t[:, 1:].flatten()])


def nested(loss_of, widths):
    """MatryoshkaLoss: the sum of the losses of embeddings cut and normalised."""
    cut = lambda x, width: [torch.nn.functional.normalize(column[:, :width]) for column in x]
    return lambda x, t, y: sum(weight * loss_of(cut(x, width), t, y) for width, weight in widths)


def joint(*more):
    """InfoNCE with more similarities in the denominator."""
    loss = losses.MultipleNegativesRankingLoss(None, directions=("query_to_doc",) + more)
    return lambda x, t, y: loss.compute_loss_from_embeddings(x, None)


def own_negatives(x, t, y):
    """InfoNCE of the row's own document and negatives, scale 20, by torch alone."""
    logits = 20 * torch.stack([cosine(x[0], column) for column in x[1:]], 1)
    return torch.nn.functional.cross_entropy(logits, torch.zeros(ROWS, dtype=torch.long))


def gist(guide, both, margin=0.0):
    """GISTEmbedLoss of queries and documents, temperature 0.05; guide: the vectors of another model, by step."""
    loss = losses.GISTEmbedLoss.__new__(losses.GISTEmbedLoss)
    torch.nn.Module.__init__(loss)
    loss.__dict__ |= dict(model="model", guide="guide", temperature=0.05, margin_strategy="absolute", margin=margin,
                          contrast_anchors=both, contrast_positives=both, must_retokenize=False,
                          gather_across_devices=False, similarity_fct=torch.nn.CosineSimilarity(dim=-1),
                          cross_entropy_loss=torch.nn.CrossEntropyLoss())
    gist_embed.embed_columns = lambda model, columns: [column[model] for column in columns]
    steps = iter(guide)
    return lambda x, t, y: loss([{"model": a, "guide": b} for a, b in zip(x[:2], next(steps))], None)


def infonce(x, t, y):
    return losses.MultipleNegativesRankingLoss(None).compute_loss_from_embeddings(x, None)


LOSSES = {
    "cosent": (lambda x, t, y: losses.CoSENTLoss(None).compute_loss_from_embeddings(*pairs_of(x, t, False))),
    "cosent_three": (lambda x, t, y: losses.CoSENTLoss(None).compute_loss_from_embeddings(*pairs_of(x, t, True))),
    "angle": (lambda x, t, y: losses.AnglELoss(None).compute_loss_from_embeddings(*pairs_of(x, t, False))),
    "angle_three": (lambda x, t, y: losses.AnglELoss(None).compute_loss_from_embeddings(*pairs_of(x, t, True))),
    "mse": (lambda x, t, y: losses.CosineSimilarityLoss(None).compute_loss_from_embeddings(x[:2], t[:, 0])),
    "mse_rates": (lambda x, t, y: losses.CosineSimilarityLoss(None).compute_loss_from_embeddings(x[:2], t[:, 0])),
    "contrastive": (lambda x, t, y: losses.ContrastiveLoss(None).compute_loss_from_embeddings(x[:2], y)),
    "online": (lambda x, t, y: losses.OnlineContrastiveLoss(None).compute_loss_from_embeddings(x[:2], y)),
    "margin-mse": (lambda x, t, y: losses.MarginMSELoss(None, cosine).compute_loss_from_embeddings(x, t)),
    "margin-mse_dot": (lambda x, t, y: losses.MarginMSELoss(None).compute_loss_from_embeddings(x, t)),
    "triplet": (lambda x, t, y: losses.TripletLoss(None, losses.TripletDistanceMetric.COSINE, 0.1).compute_loss_from_embeddings(
        [x[0].repeat(NEGATIVES, 1), x[1].repeat(NEGATIVES, 1), torch.cat(x[2:])], None)),
    "kl": (lambda x, t, y: losses.DistillKLDivLoss(None, cosine, 0.5).compute_loss_from_embeddings(x, t)),
    "infonce_gte": joint("query_to_query", "doc_to_query", "doc_to_doc"),
    "infonce_qq": joint("query_to_query"),
    "infonce_own": own_negatives,
    "infonce_nested": nested(infonce, [(16, 1), (12, 0.5), (4, 1)]),
    "cosent_nested": nested(lambda x, t, y: losses.CoSENTLoss(None).compute_loss_from_embeddings(*pairs_of(x, t, True)),
                            [(12, 1), (5, 2)]),
    "kl_dot": (lambda x, t, y: losses.DistillKLDivLoss(None).compute_loss_from_embeddings(x, t)),
}


def main():
    rng = random.Random(17)
    batches = [[[sequence(rng) for _ in range(2 + NEGATIVES)] for _ in range(ROWS)] for _ in range(STEPS)]
    scores = [[[round(rng.choice([rng.random(), i / ROWS]), 2)] + [round(rng.random() * 0.6, 2) for _ in range(NEGATIVES)]
               for i in range(ROWS)] for _ in range(STEPS)]
    scores[0][1][0] = scores[0][0][0]  # a tie
    labels = [[rng.randrange(2) for _ in range(ROWS)] for _ in range(STEPS - 1)] + [[1] * ROWS]
    os.makedirs(f"{HERE}/scored", exist_ok=True)
    with open(f"{HERE}/scored/pairs.txt", "w") as out:
        for batch in batches:
            for row in batch:
                print("\t".join(" ".join(map(str, ids)) for ids in row), file=out)
            print(file=out)
    with open(f"{HERE}/scored/scores.jsonl", "w") as out:
        for step in range(STEPS):
            for t, y in zip(scores[step], labels[step]):
                print(json.dumps({"document.score": t[0], "negatives.score": t[1:], "label": y}), file=out)
    # a guide's vectors, of 5 components: a document's lie near its query's, so that some of the others are nearer
    guide = []
    for _ in range(STEPS):
        query = torch.tensor([[round(rng.gauss(0, 1), 2) for _ in range(GUIDE)] for _ in range(ROWS)])
        noise = torch.tensor([[round(rng.gauss(0, 1), 2) for _ in range(GUIDE)] for _ in range(ROWS)])
        guide.append((query, query + noise))
    with open(f"{HERE}/scored/guide.jsonl", "w") as out:
        for queries, documents in guide:
            for q, d in zip(queries.tolist(), documents.tolist()):
                print(json.dumps({"query.emb": [round(v, 2) for v in q], "document.emb": [round(v, 2) for v in d]}), file=out)
    teacher = [[[[round(rng.gauss(0, 1), 2) for _ in range(WIDTH)] for _ in range(ROWS)] for _ in range(2)] for _ in range(STEPS)]
    with open(f"{HERE}/scored/teacher.jsonl", "w") as out:
        for queries, documents in teacher:
            for q, d in zip(queries, documents):
                print(json.dumps({"query.emb": q, "document.emb": d}), file=out)
    wide = [[[[round(rng.gauss(0, 1), 2) for _ in range(WIDE)] for _ in range(ROWS)] for _ in range(2)] for _ in range(STEPS)]
    with open(f"{HERE}/scored/wide.jsonl", "w") as out:
        for queries, documents in wide:
            for q, d in zip(queries, documents):
                print(json.dumps({"query.emb": q, "document.emb": d}), file=out)
    LOSSES["project_guide"] = projected(GUIDE, guide)
    LOSSES["project_wide"] = projected(WIDE, torch.tensor(wide))
    steps = iter(teacher)
    LOSSES["distil"] = lambda x, t, y: losses.EmbedDistillLoss(None).compute_loss_from_embeddings(
        x[:2], list(torch.tensor(next(steps))))
    LOSSES["gist"] = gist(guide, True)
    LOSSES["gist_documents"] = gist(guide, False, 0.1)
    for name, loss_of in LOSSES.items():
        model = BertModel.from_pretrained(f"{HERE}/train/bert", add_pooling_layer=False).float().eval()
        if hasattr(loss_of, "projection"):
            model.projection = loss_of.projection
        parameters = list(model.parameters())
        decays = lambda p: p.squeeze().dim() >= 2
        rate = lambda n: (3e-3 if n.startswith("embeddings.") else 1e-4 if ".layer.0." in n else 1e-3) if name == "mse_rates" else 1e-3
        optimiser = torch.optim.AdamW([{"params": [p], "weight_decay": 0.1 if decays(p) else 0.0, "lr": rate(n)}
                                       for n, p in model.named_parameters()],
                                      lr=1e-3, betas=(0.9, 0.98), eps=1e-6)
        with open(f"{HERE}/scored/{name}.tsv", "w") as out:
            print("loss\tgradient_norm", file=out)
            for batch, t, y in zip(batches, scores, labels):
                optimiser.zero_grad(set_to_none=True)
                x = [embed(model, [row[c] for row in batch]) for c in range(2 + NEGATIVES)]
                loss = loss_of(x, torch.tensor(t), torch.tensor(y))
                loss.backward()
                norm = torch.nn.utils.clip_grad_norm_(parameters, 1e9)
                print(f"{loss.item():.8g}\t{norm.item():.8g}", file=out)
                optimiser.step()


if __name__ == "__main__":
    main()
