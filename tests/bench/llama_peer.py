#!/usr/bin/env python3
"""llama.cpp with the BERT models of encode.sh, by llama-cpp-python, compiled on this machine (pip install --no-binary :all:), and gguf.

llama_peer.py export FOLDER OUT - OUT/llama-f32.gguf, llama-bf16.gguf and llama-int8.gguf; in the last the matrices of blocks are Q8_0
llama_peer.py time llama-PRECISION OUT THREADS TEXTS.jsonl - seconds of the runs, without start and reading
llama_peer.py values llama-PRECISION OUT THREADS TEXTS.jsonl - the embeddings, a line a text

TEXTS.jsonl: ids, as mts to jsonl writes them.  Texts are sorted by length and fill batches of at most 512, 1,024 or 2,048 tokens, without padding;
the quickest of the three counts.
"""
import json, sys, time

import numpy as np

NAMES = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def renamed(name):
    name = name.removeprefix("bert.")
    if name in NAMES:
        return NAMES[name]
    stem, kind = name.rsplit(".", 1)
    if stem in NAMES:
        return f"{NAMES[stem]}.{kind}"
    if not name.startswith("encoder.layer."):
        return None
    _, _, layer, part = stem.split(".", 3)
    return f"blk.{layer}.{NAMES[part]}.{kind}"


def export(folder, out, *_):
    import gguf
    from safetensors.torch import load_file

    config = json.load(open(folder + "/config.json"))
    if config["model_type"] != "bert" or "Classification" in str(config.get("architectures")):
        sys.exit("llama_peer.py: only a BERT without a classifier is written as GGUF")
    words = [f"[{n}]" for n in range(config["vocab_size"])]  # texts come as ids
    kinds = {"f32": gguf.GGMLQuantizationType.F32, "bf16": gguf.GGMLQuantizationType.BF16, "int8": gguf.GGMLQuantizationType.Q8_0}
    for precision, kind in kinds.items():
        writer = gguf.GGUFWriter(f"{out}/llama-{precision}.gguf", "bert")
        writer.add_context_length(config["max_position_embeddings"])
        writer.add_embedding_length(config["hidden_size"])
        writer.add_feed_forward_length(config["intermediate_size"])
        writer.add_block_count(config["num_hidden_layers"])
        writer.add_head_count(config["num_attention_heads"])
        writer.add_layer_norm_eps(config["layer_norm_eps"])
        writer.add_causal_attention(False)
        writer.add_pooling_type(gguf.PoolingType.MEAN)
        writer.add_tokenizer_model("bert")
        writer.add_token_type_count(config["type_vocab_size"])
        writer.add_token_list(words)
        writer.add_token_types([gguf.TokenType.NORMAL] * len(words))
        for name, tensor in load_file(folder + "/model.safetensors").items():
            to = renamed(name)
            if to is None:
                continue
            values = tensor.float().numpy()
            matrix = values.ndim == 2 and to.startswith("blk.")
            stored = kind if matrix else kinds["f32"]
            writer.add_tensor(to, gguf.quants.quantize(values, stored), raw_dtype=stored)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def texts(path):
    lines = [json.loads(line) for line in open(path)]
    return [next(line[name] for name in line if name.endswith(".ids")) for line in lines]


def batches(all, tokens):
    """Numbers of texts, sorted by length, that together have at most so many tokens, and at most 256 texts."""
    some, size = [], 0
    for i in sorted(range(len(all)), key=lambda i: -len(all[i])):
        if some and (size + len(all[i]) > tokens or len(some) == 256):
            yield some
            some, size = [], 0
        some.append(i)
        size += len(all[i])
    yield some


class Runner:
    def __init__(self, which, out, threads, tokens):
        import llama_cpp

        self.c = c = llama_cpp
        c.llama_backend_init()
        options = c.llama_model_default_params()
        options.n_gpu_layers = 0
        # llama-cpp-python 0.3.36 crashes with Q8_0 in the buffers that are packed for AMX
        options.use_extra_bufts = not which.endswith("int8")
        self.model = c.llama_model_load_from_file(f"{out}/{which}.gguf".encode(), options)
        options = c.llama_context_default_params()
        options.n_ctx = options.n_batch = options.n_ubatch = tokens
        options.n_seq_max = 256
        options.n_threads = options.n_threads_batch = threads
        options.embeddings = True
        options.kv_unified = True
        self.context = c.llama_init_from_model(self.model, options)
        if not self.context:
            sys.exit("llama_peer.py: llama.cpp gives no context")
        self.width = c.llama_model_n_embd(self.model)
        self.batch = c.llama_batch_init(tokens, 0, 1)

    def run(self, all, some):
        batch, at = self.batch, 0
        for sequence, i in enumerate(some):
            for position, token in enumerate(all[i]):
                batch.token[at] = token
                batch.pos[at] = position
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = sequence
                batch.logits[at] = True
                at += 1
        batch.n_tokens = at
        if self.c.llama_encode(self.context, batch):
            sys.exit("llama_peer.py: llama.cpp could not encode a batch")
        return [np.ctypeslib.as_array(self.c.llama_get_embeddings_seq(self.context, sequence), (self.width,)).copy()
                for sequence in range(len(some))]


def clock(which, out, threads, path):
    all = texts(path)
    best = float("inf")
    for tokens in (512, 1024, 2048):
        runner = Runner(which, out, int(threads), tokens)
        work = list(batches(all, tokens))
        runner.run(all, work[-1])
        start = time.perf_counter()
        for some in work:
            runner.run(all, some)
        best = min(best, time.perf_counter() - start)
    print(best)


def values(which, out, threads, path):
    all = texts(path)
    runner = Runner(which, out, int(threads), 2048)
    found = {}
    for some in batches(all, 2048):
        found.update(zip(some, runner.run(all, some)))
    for i in sorted(found):
        print(*("%.9g" % x for x in found[i]))


commands = {"export": export, "time": clock, "values": values}
if len(sys.argv) < 4 or sys.argv[1] not in commands:
    sys.exit(__doc__)
commands[sys.argv[1]](*sys.argv[2:])
