#!/usr/bin/env python3
"""ONNX Runtime with the models of onnx.sh.

onnx_peer.py draw SHAPE FOLDER - a model with the shapes of bert-base or qwen3-0.6b, drawn weights
onnx_peer.py export FOLDER OUT - the folder's encoder with the mean of its hidden states as OUT/f32.onnx, and OUT/int8.onnx:
	quantize_dynamic's, a scale for each output
onnx_peer.py time MODEL.onnx THREADS IDS.txt - seconds of the runs over lines of token ids, in batches of 32 sorted by length
onnx_peer.py embed MODEL.onnx THREADS IDS.txt - the embeddings, a line each
"""
import json, os, sys, time


def draw(shape, folder):
    import torch
    from transformers import BertConfig, BertModel, Qwen3Config, Qwen3Model

    torch.manual_seed(1)
    if shape == "bert-base":
        model = BertModel(BertConfig(), add_pooling_layer=False)
    elif shape == "qwen3-0.6b":
        model = Qwen3Model(Qwen3Config(vocab_size=151669, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
                                       num_attention_heads=16, num_key_value_heads=8, head_dim=128))
    else:
        sys.exit(__doc__)
    model.save_pretrained(folder)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    json.dump([{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
               for i, (path, kind) in enumerate(modules)], open(folder + "/modules.json", "w"))
    os.makedirs(folder + "/1_Pooling", exist_ok=True)
    json.dump({"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": True},
              open(folder + "/1_Pooling/config.json", "w"))


def export(folder, out):
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import AutoModel

    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()

        def forward(self, input_ids, attention_mask):
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            return (hidden * mask).sum(1) / mask.sum(1)

    os.makedirs(out, exist_ok=True)
    ids = torch.ones(2, 8, dtype=torch.int64)
    axes = {0: "texts", 1: "tokens"}
    torch.onnx.export(Mean(), (ids, ids), out + "/f32.onnx", input_names=["input_ids", "attention_mask"],
                      output_names=["embedding"], opset_version=17, dynamo=False,
                      dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "texts"}})
    quantize_dynamic(out + "/f32.onnx", out + "/int8.onnx", weight_type=QuantType.QInt8, per_channel=True)


def batches(path):
    import numpy as np

    texts = [list(map(int, line.split())) for line in open(path)]
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    for at in range(0, len(order), 32):
        some = order[at : at + 32]
        ids = np.zeros((len(some), len(texts[some[0]])), np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(some):
            ids[row, : len(texts[i])] = texts[i]
            mask[row, : len(texts[i])] = 1
        yield some, {"input_ids": ids, "attention_mask": mask}


def session(path, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def clock(path, threads, ids):
    model = session(path, threads)
    all = [batch for _, batch in batches(ids)]
    model.run(None, all[-1])
    start = time.perf_counter()
    for batch in all:
        model.run(None, batch)
    print(time.perf_counter() - start)


def embed(path, threads, ids):
    model = session(path, threads)
    found = {}
    for some, batch in batches(ids):
        found.update(zip(some, model.run(None, batch)[0]))
    for i in sorted(found):
        print(*("%.9g" % x for x in found[i]))


commands = {"draw": draw, "export": export, "time": clock, "embed": embed}
if len(sys.argv) < 4 or sys.argv[1] not in commands:
    sys.exit(__doc__)
commands[sys.argv[1]](*sys.argv[2:])
