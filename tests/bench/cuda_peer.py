#!/usr/bin/env python3
"""cuda_peer.py rate | encode CONFIG LENGTHS TEXTS | train CONFIG PAIRS LENGTH STEPS [CHUNK] | near QUERIES DOCUMENTS WIDTH

The peer of tests/bench/cuda.sh in torch: bf16, packed sequences (varlen attention: flash), torch.compile,
random weights of the shapes of a config.json (bert, qwen3, olmoe).  DEVICE=cpu: the plumbing, without speed.

PEER_COMPILE    compilations to try, SCOPE:MODE; the fastest counts.  SCOPE: blocks, whole, or eager; MODE: torch.compile's.
                Default: blocks:default blocks:max-autotune-no-cudagraphs whole:default
PEER_SECONDS    no further compilation is tried after so many seconds; default 150

rate    TFLOP/s of large bf16 products
encode  tokens a second of mean-pooled embeddings of so many texts, whose lengths are the file's in turns, in batches of
        16,384 tokens: the best of two runs over all after a first, from ids in host memory to embeddings there
near    1e9 pairs a second: the 10 best documents of each query, products of floats, from vectors in host memory to the hits
        there, of a second run
train   seconds of a contrastive step of so many pairs of LENGTH tokens with a gradient cache, autocast: the median
"""
import inspect
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
CUDA = DEVICE == "cuda"
BATCH = int(os.environ.get("BATCH", 16384))
TYPE = torch.bfloat16


def wait():
    if CUDA:
        torch.cuda.synchronize()


if CUDA:
    from torch.nn.attention.varlen import varlen_attn

    # from 2.12 on heads of k and v may be fewer only if this is said
    FEWER = {"enable_gqa": True} if "enable_gqa" in inspect.signature(varlen_attn).parameters else {}


def attend(q, k, v, starts, longest, causal):
    """Attention of packed sequences; q, k, v [T, heads, D]."""
    if CUDA:
        return varlen_attn(q, k, v, starts, starts, longest, longest, window_size=(-1, 0) if causal else (-1, -1), **FEWER)
    made, ends = [], starts.tolist()
    for a, b in zip(ends, ends[1:]):
        q1, k1, v1 = (x[a:b].transpose(0, 1) for x in (q, k, v))
        made.append(F.scaled_dot_product_attention(q1, k1, v1, is_causal=causal, enable_gqa=True).transpose(0, 1))
    return torch.cat(made)


class Experts(nn.Module):
    """Token experts, gated, each token's `top`: one grouped product for all where there are such."""

    def __init__(self, c):
        super().__init__()
        E, C, I = c["num_experts"], c["hidden_size"], c["intermediate_size"]
        self.top = c["num_experts_per_tok"]
        self.router = nn.Linear(C, E, bias=False)
        self.up = nn.Parameter(torch.randn(E, C, 2 * I) * 0.02)
        self.down = nn.Parameter(torch.randn(E, I, C) * 0.02)

    def forward(self, x):
        weights, chosen = F.softmax(self.router(x).float(), dim=-1).topk(self.top)
        experts, order = chosen.flatten().sort(stable=True)
        rows = order // self.top
        # no counts that the host waits for
        ends = torch.searchsorted(experts, torch.arange(len(self.up), device=x.device), right=True).to(torch.int32)
        if CUDA:
            both = F.grouped_mm(x[rows], self.up, offs=ends)
            gate, up = both.chunk(2, -1)
            y = F.grouped_mm(F.silu(gate) * up, self.down, offs=ends)
        else:
            parts = []
            for e, part in enumerate(x[rows].tensor_split(ends.long())[: len(self.up)]):
                gate, up = (part @ self.up[e]).chunk(2, -1)
                parts.append((F.silu(gate) * up) @ self.down[e])
            y = torch.cat(parts)
        places = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=x.device))
        return (y[places].view(len(x), self.top, -1) * weights[..., None].to(y.dtype)).sum(1)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.bert = c["model_type"] == "bert"
        C, self.H = c["hidden_size"], c["num_attention_heads"]
        self.K = c.get("num_key_value_heads", self.H)
        self.D = c.get("head_dim") or C // self.H
        self.qkv = nn.Linear(C, (self.H + 2 * self.K) * self.D, bias=self.bert)
        self.out = nn.Linear(self.H * self.D, C, bias=self.bert)
        norm = nn.LayerNorm if self.bert else nn.RMSNorm
        self.norm1, self.norm2 = norm(C), norm(C)
        if not self.bert:
            whole = c["model_type"] == "olmoe"
            self.qnorm = nn.RMSNorm(self.H * self.D if whole else self.D)
            self.knorm = nn.RMSNorm(self.K * self.D if whole else self.D)
            self.whole = whole
        self.experts = Experts(c) if "num_experts" in c else None
        if not self.experts:
            I = c["intermediate_size"]
            self.up = nn.Linear(C, I if self.bert else 2 * I, bias=self.bert)
            self.down = nn.Linear(I, C, bias=self.bert)

    def mlp(self, x):
        if self.experts:
            return self.experts(x)
        if self.bert:
            return self.down(F.gelu(self.up(x)))
        gate, up = self.up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)

    def turn(self, x, angles):
        a, b = x.chunk(2, -1)
        cos, sin = angles
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def attention(self, x, starts, longest, angles):
        T = len(x)
        q, k, v = self.qkv(x).split([self.H * self.D, self.K * self.D, self.K * self.D], -1)
        if not self.bert and self.whole:
            q, k = self.qnorm(q), self.knorm(k)
        q, k, v = q.view(T, self.H, self.D), k.view(T, self.K, self.D), v.view(T, self.K, self.D)
        if not self.bert:
            if not self.whole:
                q, k = self.qnorm(q), self.knorm(k)
            q, k = self.turn(q, angles), self.turn(k, angles)
        # norms are of floats under autocast
        q, k = q.to(v.dtype), k.to(v.dtype)
        return self.out(attend(q, k, v, starts, longest, not self.bert).reshape(T, -1))

    def forward(self, x, starts, longest, angles):
        if self.bert:
            x = self.norm1(x + self.attention(x, starts, longest, angles))
            return self.norm2(x + self.mlp(x))
        x = x + self.attention(self.norm1(x), starts, longest, angles)
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, C = c, c["hidden_size"]
        self.bert = c["model_type"] == "bert"
        self.tokens = nn.Embedding(c["vocab_size"], C)
        if self.bert:
            self.places = nn.Embedding(c["max_position_embeddings"], C)
        self.norm = (nn.LayerNorm if self.bert else nn.RMSNorm)(C)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["num_hidden_layers"]))

    def forward(self, ids, places, starts, longest):
        x, angles = self.tokens(ids), None
        if self.bert:
            x = self.norm(x + self.places(places))
        else:
            D = self.blocks[0].D
            inverse = self.c.get("rope_theta", 1e4) ** (-torch.arange(0, D, 2, device=ids.device) / D)
            angle = (places[:, None] * inverse)[:, None]
            angles = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        for block in self.blocks:
            x = block(x, starts, longest, angles)
        x = x if self.bert else self.norm(x)
        lengths = starts.diff()
        which = torch.repeat_interleave(torch.arange(len(lengths), device=ids.device), lengths, output_size=len(ids))
        sums = torch.zeros(len(lengths), x.shape[1], device=x.device).index_add_(0, which, x.float())
        return F.normalize(sums / lengths[:, None], dim=1)


def built(config, compiled="blocks:default", **to):
    """compiled: one of PEER_COMPILE."""
    torch.manual_seed(0)
    torch.compiler.reset()
    with torch.device(DEVICE):
        model = Model(json.load(open(config))).to(**to)
    scope, _, mode = compiled.partition(":")
    if CUDA and scope != "eager":
        # more than that, and torch would go on uncompiled
        torch._dynamo.config.recompile_limit = 64
        for part in [model] if scope == "whole" else model.blocks:
            part.compile(dynamic=True, mode=mode)
    return model


def variants():
    """The compilations of PEER_COMPILE, while there is time."""
    end = time.perf_counter() + float(os.environ.get("PEER_SECONDS", 150))
    for compiled in os.environ.get("PEER_COMPILE", "blocks:default blocks:max-autotune-no-cudagraphs whole:default").split():
        if time.perf_counter() > end:
            break
        yield compiled
        if not CUDA:
            break


def packed(lists):
    """A batch on the device."""
    lengths = torch.tensor([len(one) for one in lists])
    starts = F.pad(lengths.cumsum(0), (1, 0))
    ids = torch.cat(lists)
    places = torch.arange(len(ids)) - starts[:-1].repeat_interleave(lengths)
    starts = starts.to(torch.int32)
    if CUDA:
        ids, places, starts = (x.pin_memory().to(DEVICE, non_blocking=True) for x in (ids, places, starts))
    return ids, places, starts, int(lengths.max())


def batches(lists):
    group, tokens = [], 0
    for one in lists:
        if group and tokens + len(one) > BATCH:
            yield group
            group, tokens = [], 0
        group.append(one)
        tokens += len(one)
    yield group


def rate():
    n = 8192 if CUDA else 512
    a, b = (torch.randn(n, n, device=DEVICE, dtype=TYPE) for _ in range(2))
    for runs in (10, 50):
        wait()
        start = time.perf_counter()
        for _ in range(runs):
            a @ b
        wait()
        seconds = time.perf_counter() - start
    print(f"{2 * n**3 * runs / seconds / 1e12:.4g}")


def encode(config, path, texts):
    lengths = [int(line) for line in open(path)]
    most = min(json.load(open(config))["vocab_size"], 30000)
    lists = [torch.randint(3, most, (lengths[i % len(lengths)],)) for i in range(int(texts))]
    tokens, rates = sum(map(len, lists)), []
    for compiled in variants():
        model = built(config, compiled, dtype=TYPE).eval()
        times = []
        with torch.inference_mode():
            for _ in range(3):  # the first compiles
                wait()
                start = time.perf_counter()
                made = [model(*packed(group)) for group in batches(lists)]
                torch.cat(made).cpu()
                times.append(time.perf_counter() - start)
        rates.append(tokens / min(times[1:]))
        print(f"{compiled}: {rates[-1]:.0f} tokens/s, first {times[0]:.1f} s", file=sys.stderr, flush=True)
    print(f"{max(rates):.0f}")


def step(model, optimiser, lists, chunk):
    per = max(1, chunk // len(lists[0]))
    groups = [lists[i : i + per] for i in range(0, len(lists), per)]
    with torch.autocast(DEVICE, TYPE):
        with torch.no_grad():
            vectors = torch.cat([model(*packed(group)) for group in groups])
    vectors.requires_grad_()
    rows = len(lists) // 2
    logits = vectors[:rows] @ vectors[rows:].T / 0.03
    F.cross_entropy(logits, torch.arange(rows, device=DEVICE)).backward()
    at = 0
    for group in groups:
        with torch.autocast(DEVICE, TYPE):
            made = model(*packed(group))
        made.backward(vectors.grad[at : at + len(group)])
        at += len(group)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()


def train(config, pairs, length, steps, chunk=32768):
    model = built(config).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    times = []
    for _ in range(int(steps) + 1):
        lists = list(torch.randint(3, min(model.c["vocab_size"], 5000), (2 * int(pairs), int(length))))
        wait()
        start = time.perf_counter()
        step(model, optimiser, lists, int(chunk))
        wait()
        times.append(time.perf_counter() - start)
    print(f"{sorted(times[1:])[len(times[1:]) // 2]:.4f}")


def near(queries, documents, width, block=65536, depth=10):
    some, all = (F.normalize(torch.randn(int(n), int(width)), dim=1) for n in (queries, documents))
    for _ in range(2):
        wait()
        start = time.perf_counter()
        asked, best, which = some.to(DEVICE), None, None
        for at in range(0, len(all), block):
            scores, found = (asked @ all[at : at + block].to(DEVICE, non_blocking=True).T).topk(min(depth, len(all) - at))
            found += at
            if best is not None:
                scores, order = torch.cat((best, scores), 1).topk(depth)
                found = torch.cat((which, found), 1).gather(1, order)
            best, which = scores, found
        best.cpu(), which.cpu()
        wait()
        seconds = time.perf_counter() - start
    print(f"{int(queries) * int(documents) / seconds / 1e9:.4g}")


COMMANDS = {"rate": rate, "encode": encode, "near": near, "train": train}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
