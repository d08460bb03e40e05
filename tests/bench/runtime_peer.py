#!/usr/bin/env python3
"""ONNX Runtime and OpenVINO with the models of encode.sh and rerank.sh.

runtime_peer.py draw SHAPE FOLDER [TOKENIZER] - drawn weights with the shape of bert-base, qwen3-0.6b or minilm-reranker, which is a
	BertForSequenceClassification of all-MiniLM-L6-v2's shape with one label; the tokenizer of that folder
runtime_peer.py export FOLDER OUT TEXTS.jsonl - the model with its logits, or with the mean of its hidden states: OUT/onnx-f32.onnx;
	OUT/onnx-int8.onnx, by quantize_dynamic, a scale for each output; OUT/openvino-f32.xml; OUT/openvino-int8.xml, by NNCF:
	post-training quantisation for transformers, calibrated with up to 300 of the texts
runtime_peer.py time PEER-PRECISION OUT THREADS TEXTS.jsonl - seconds of the runs, without start and reading, in batches of 32 sorted by
	length and padded; PEER is onnx or openvino, PRECISION f32, int8 or, for openvino, bf16
runtime_peer.py values PEER-PRECISION OUT THREADS TEXTS.jsonl - the embeddings or logits, a line a text

TEXTS.jsonl: ids, and for pairs where the second text begins, as mts to jsonl writes them.
OpenVINO's f32 and bf16 are by its precision hint; its int8 has none, so that the rest of the model is in bf16 where the processor has it.
ONEDNN_MAX_CPU_ISA=AVX2_VNNI: an older processor's int8, as MOTES_ISA=avxvnni is ours; its f32 does not heed it.
"""
import json, os, shutil, sys, time

import numpy as np


def draw(shape, folder, tokenizer=None):
    import torch
    import transformers

    torch.manual_seed(1)
    if shape == "bert-base":
        model = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False)
    elif shape == "qwen3-0.6b":
        model = transformers.Qwen3Model(transformers.Qwen3Config(
            vocab_size=151669, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
            num_key_value_heads=8, head_dim=128))
    elif shape == "minilm-reranker":
        vocabulary = json.load(open(tokenizer + "/tokenizer.json"))["model"]["vocab"]
        model = transformers.BertForSequenceClassification(transformers.BertConfig(
            vocab_size=len(vocabulary), hidden_size=384, num_hidden_layers=6, intermediate_size=1536, num_attention_heads=12,
            num_labels=1))
    else:
        sys.exit(__doc__)
    model.save_pretrained(folder)
    if tokenizer:
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(tokenizer + "/" + name, folder)
        return
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    json.dump([{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
               for i, (path, kind) in enumerate(modules)], open(folder + "/modules.json", "w"))
    os.makedirs(folder + "/1_Pooling", exist_ok=True)
    json.dump({"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": True},
              open(folder + "/1_Pooling/config.json", "w"))


def column(line, end):
    return next((line[name] for name in line if name.endswith(end)), None)


def batches(path):
    """Batches of 32 texts: the numbers of the texts, and the model's input arrays."""
    lines = [json.loads(line) for line in open(path)]
    texts = [(column(line, ".ids"), column(line, ".second")) for line in lines]
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i][0]))
    for at in range(0, len(order), 32):
        some = order[at : at + 32]
        ids = np.zeros((len(some), len(texts[some[0]][0])), np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, i in enumerate(some):
            tokens, second = texts[i]
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
            types[row, len(tokens) if second is None else second : len(tokens)] = 1
        arrays = {"input_ids": ids, "attention_mask": mask}
        yield some, arrays if texts[0][1] is None else {**arrays, "token_type_ids": types}


def module(folder):
    """The function to export: it takes the arrays by name, and holds the weights."""
    import torch
    import transformers

    heads = json.load(open(folder + "/config.json")).get("architectures") or []
    classifies = any(name.endswith("ForSequenceClassification") for name in heads)
    kind = transformers.AutoModelForSequenceClassification if classifies else transformers.AutoModel

    class Exported(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = kind.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()

        def forward(self, input_ids, attention_mask, token_type_ids=None):
            if classifies:
                return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            return (hidden * mask).sum(1) / mask.sum(1)

    return Exported()


def export(folder, out, texts):
    import nncf
    import openvino
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    all = [arrays for _, arrays in batches(texts)]
    names = list(all[0])
    ids = torch.ones(2, 8, dtype=torch.int64)
    os.makedirs(out, exist_ok=True)
    torch.onnx.export(module(folder), (ids,) * len(names), out + "/onnx-f32.onnx", input_names=names, output_names=["values"],
                      opset_version=17, dynamo=False,
                      dynamic_axes={"values": {0: "texts"}, **{name: {0: "texts", 1: "tokens"} for name in names}})
    quantize_dynamic(out + "/onnx-f32.onnx", out + "/onnx-int8.onnx", weight_type=QuantType.QInt8, per_channel=True)
    model = openvino.convert_model(out + "/onnx-f32.onnx")
    openvino.save_model(model, out + "/openvino-f32.xml", compress_to_fp16=False)
    rows = [{name: values[i : i + 1] for name, values in arrays.items()} for arrays in all for i in range(len(arrays["input_ids"]))]
    calibration = nncf.Dataset(rows[:: max(1, len(rows) // 300)])
    openvino.save_model(nncf.quantize(model, calibration, model_type=nncf.ModelType.TRANSFORMER), out + "/openvino-int8.xml")


def runner(which, out, threads, streams):
    """A function of arrays; gives the values of each."""
    peer, precision = which.split("-")
    if peer == "onnx":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(f"{out}/{which}.onnx", options, providers=["CPUExecutionProvider"])
        return lambda all: [session.run(None, arrays)[0] for arrays in all]
    import openvino

    # where oneDNN may not use all instructions, OpenVINO still chooses bf16 for the rest of an int8 model, and dies
    rest = "f32" if os.environ.get("ONEDNN_MAX_CPU_ISA") else None
    hint = rest if precision == "int8" else precision
    hint = {"INFERENCE_PRECISION_HINT": hint} if hint else {}
    stored = "int8" if precision == "int8" else "f32"
    model = openvino.Core().compile_model(f"{out}/openvino-{stored}.xml", "CPU",
                                          {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": streams, **hint})
    queue = openvino.AsyncInferQueue(model, streams)

    def run(all):
        made = [None] * len(all)

        def keep(request, i):
            made[i] = request.get_output_tensor(0).data.copy()

        queue.set_callback(keep)
        for i, arrays in enumerate(all):
            queue.start_async(arrays, i)
        queue.wait_all()
        return made

    return run


def clock(which, out, threads, texts):
    """OpenVINO is tried with all threads at one batch, and with a batch for each; the quicker counts."""
    threads = int(threads)
    all = [arrays for _, arrays in batches(texts)]
    best = float("inf")
    for streams in {1, threads} if which.startswith("openvino") else {1}:
        run = runner(which, out, threads, streams)
        run(all[-1:] * threads)
        start = time.perf_counter()
        run(all)
        best = min(best, time.perf_counter() - start)
    print(best)


def values(which, out, threads, texts):
    all = list(batches(texts))
    found = {}
    for (some, _), made in zip(all, runner(which, out, int(threads), 1)([arrays for _, arrays in all])):
        found.update(zip(some, made))
    for i in sorted(found):
        print(*("%.9g" % x for x in found[i]))


commands = {"draw": draw, "export": export, "time": clock, "values": values}
if len(sys.argv) < 4 or sys.argv[1] not in commands:
    sys.exit(__doc__)
commands[sys.argv[1]](*sys.argv[2:])
