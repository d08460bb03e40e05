#!/usr/bin/env python3
"""ONNX Runtime and OpenVINO with the cross-encoder of rerank.sh.

rerank_peer.py draw TOKENIZER FOLDER - a BertForSequenceClassification of all-MiniLM-L6-v2's shape, one label, drawn weights, with the
	tokenizer of that folder
rerank_peer.py export FOLDER OUT PAIRS.jsonl - OUT/onnx-f32.onnx; OUT/onnx-int8.onnx, by quantize_dynamic, a scale for each output;
	OUT/openvino-f32.xml; OUT/openvino-int8.xml, by NNCF: post-training quantisation for transformers, calibrated with 32 of the pairs
rerank_peer.py time PEER-PRECISION OUT THREADS PAIRS.jsonl - seconds of the runs, without start and reading, over pairs as tok --pair
	and mts to jsonl write them, in batches of 32 sorted by length and padded
rerank_peer.py scores PEER-PRECISION OUT THREADS PAIRS.jsonl - the logits, a line each
"""
import json, os, shutil, sys, time

import numpy as np


def draw(tokenizer, folder):
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(1)
    vocabulary = json.load(open(tokenizer + "/tokenizer.json"))["model"]["vocab"]
    BertForSequenceClassification(BertConfig(vocab_size=len(vocabulary), hidden_size=384, num_hidden_layers=6, intermediate_size=1536,
                                             num_attention_heads=12, num_labels=1)).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer + "/" + name, folder)


def batches(path):
    pairs = [json.loads(line) for line in open(path)]
    order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i]["pair.ids"]))
    for at in range(0, len(order), 32):
        some = order[at : at + 32]
        ids = np.zeros((len(some), len(pairs[some[0]]["pair.ids"])), np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, i in enumerate(some):
            count = len(pairs[i]["pair.ids"])
            ids[row, :count] = pairs[i]["pair.ids"]
            mask[row, :count] = 1
            types[row, pairs[i]["pair.second"] : count] = 1
        yield some, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def export(folder, out, pairs):
    import nncf
    import openvino
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import AutoModelForSequenceClassification

    class Scores(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits

    os.makedirs(out, exist_ok=True)
    ids = torch.ones(2, 8, dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(Scores(), (ids, ids, ids), out + "/onnx-f32.onnx", input_names=names, output_names=["logits"], opset_version=17,
                      dynamo=False, dynamic_axes={**{name: {0: "pairs", 1: "tokens"} for name in names}, "logits": {0: "pairs"}})
    quantize_dynamic(out + "/onnx-f32.onnx", out + "/onnx-int8.onnx", weight_type=QuantType.QInt8, per_channel=True)
    model = openvino.convert_model(out + "/onnx-f32.onnx")
    openvino.save_model(model, out + "/openvino-f32.xml", compress_to_fp16=False)
    _, some = next(batches(pairs))
    calibration = nncf.Dataset([{name: values[i : i + 1] for name, values in some.items()} for i in range(len(some["input_ids"]))])
    openvino.save_model(nncf.quantize(model, calibration, model_type=nncf.ModelType.TRANSFORMER), out + "/openvino-int8.xml")


def runner(which, out, threads):
    """A function of batches; gives the logits [pairs, 1] of each.  OpenVINO has a stream of one thread for each of `threads`, which is
    faster than all threads at one batch."""
    if which.startswith("onnx"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(threads)
        session = onnxruntime.InferenceSession(f"{out}/{which}.onnx", options, providers=["CPUExecutionProvider"])
        return lambda batches: [session.run(None, batch)[0] for batch in batches]
    import openvino

    model = openvino.Core().compile_model(f"{out}/{which}.xml", "CPU", {
        "INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": int(threads), "INFERENCE_PRECISION_HINT": "f32"})
    queue = openvino.AsyncInferQueue(model, int(threads))

    def run(batches):
        made = [None] * len(batches)

        def keep(request, i):
            made[i] = request.get_output_tensor(0).data.copy()

        queue.set_callback(keep)
        for i, batch in enumerate(batches):
            queue.start_async(batch, i)
        queue.wait_all()
        return made

    return run


def clock(which, out, threads, pairs):
    run = runner(which, out, threads)
    all = [batch for _, batch in batches(pairs)]
    run(all[-1:] * int(threads))
    start = time.perf_counter()
    run(all)
    print(time.perf_counter() - start)


def scores(which, out, threads, pairs):
    run = runner(which, out, threads)
    all = list(batches(pairs))
    found = {}
    for (some, _), logits in zip(all, run([batch for _, batch in all])):
        found.update(zip(some, logits[:, 0].tolist()))
    for i in sorted(found):
        print("%.9g" % found[i])


commands = {"draw": draw, "export": export, "time": clock, "scores": scores}
if len(sys.argv) < 4 or sys.argv[1] not in commands:
    sys.exit(__doc__)
commands[sys.argv[1]](*sys.argv[2:])
