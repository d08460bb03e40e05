#!/usr/bin/env python3
"""Make small files of torch.save, and the same tensors as safetensors, in the same order.

torch_file/
  tensors.bin, .safetensors  of every dtype; shared storages, offsets, strides, none, one, no dimension
  zip64.bin                  the same with every size and place in the fields of zip64
  module.bin, .safetensors   a module's state_dict, with what torch notes of it; two names of one matrix
  parameters.bin             the same module's named_parameters(): torch.nn.Parameter, one of them with an attribute
  shards/                    the same tensors as tensors.bin in two files and their index
  bert/pytorch_model.bin     families/bert under names of older checkpoints: a prefix, LayerNorm.gamma,
                             buffers, a pooler, a head whose matrix is that of the tokens
  dense/pytorch_model.bin    of head/both/2_Dense
  old.bin                    as torch before 1.6 wrote
  packed.bin                 with compressed entries
  call.bin, list.bin, scalar.bin, v4.bin   pickles that are no table of weights
Needs torch, safetensors:
    python3 tests/golden/torch_file.py
"""
import json
import os
import shutil
import struct
import warnings
import zipfile
from collections import OrderedDict

import torch
from safetensors.torch import load_file, save_file

warnings.filterwarnings("ignore")
GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "torch_file")
os.umask(0o022)
shutil.rmtree(HERE, ignore_errors=True)
for name in "shards", "bert", "dense":
    os.makedirs(os.path.join(HERE, name))
os.chdir(HERE)


def order(name):
    """The sums of the tensors of a safetensors file."""
    with open(name, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    header.pop("__metadata__", None)
    return sorted(header, key=lambda k: (header[k]["data_offsets"], k))


def both(name, tensors):
    save_file({k: v.detach().contiguous().clone() for k, v in tensors.items()},
              name + ".safetensors", metadata={"format": "pt"})
    return {k: tensors[k] for k in order(name + ".safetensors")}


generator = torch.Generator().manual_seed(0)
a = torch.randn(5, 7, generator=generator)
cube = torch.randn(2, 3, 4, generator=generator)
half = torch.randn(4, 6, generator=generator).half()
tensors = {
    "a": a, "a.again": a, "a.turned": a.t(), "a.rows": a[1:4], "a.column": a[:, 2], "a.every": a[::2, 1::3],
    "a.one": a[3, 4], "a.two": a[::4, 3], "a.tail": a.view(-1)[30:], "a.row.turned": a[2:3].t(),
    "cube": cube, "cube.permuted": cube.permute(2, 0, 1), "cube.swapped": cube.transpose(0, 1),
    "half": half, "half.turned": half.t(), "bf16": a.bfloat16(), "bf16.turned": a.bfloat16().t(),
    "f64": a.double()[:2], "i64": torch.arange(6).expand(1, -1), "i32": torch.arange(-3, 3).int().view(2, 3).t(),
    "i8": torch.arange(-4, 4).to(torch.int8), "u8": torch.arange(9).to(torch.uint8).view(3, 3).t(),
    "bool": torch.tensor([True, False, True]), "none": torch.zeros(0), "none.rows": a[:0], "none.turned": a[:0].t(),
    "scalar": torch.tensor(2.5), "ones": torch.ones(1, 1, 1),
}
tensors = both("tensors", tensors)
torch.save(tensors, "tensors.bin")


def repack(source, to, **how):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(to, "w", **how) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry),
                         compress_type=how.get("compression", zipfile.ZIP_STORED))


limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 0, 1
repack("tensors.bin", "zip64.bin")
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits
repack("tensors.bin", "packed.bin", compression=zipfile.ZIP_DEFLATED)

torch.manual_seed(0)
module = torch.nn.Sequential(OrderedDict(tokens=torch.nn.Embedding(6, 4), norm=torch.nn.LayerNorm(4),
                                         output=torch.nn.Linear(4, 6)))
module.output.weight = module.tokens.weight
state = module.state_dict()
torch.save(state, "module.bin")
save_file({k: v.clone() for k, v in state.items()}, "module.safetensors", metadata={"format": "pt"})
parameters = dict(module.named_parameters(remove_duplicate=False))
parameters["norm.bias"].source = "drawn"
torch.save(parameters, "parameters.bin")
torch.save(state, "old.bin", _use_new_zipfile_serialization=False)

names, files = list(tensors), ["pytorch_model-%05d-of-00002.bin" % i for i in (1, 2)]
place = {k: files[i % 2] for i, k in enumerate(names)}
for file in files:
    torch.save({k: v for k, v in tensors.items() if place[k] == file}, "shards/" + file)
with open("shards/pytorch_model.bin.index.json", "w") as f:
    json.dump({"metadata": {"total_size": 0}, "weight_map": place}, f, indent=1)

weights = load_file(GOLDEN + "/families/bert/model.safetensors")
C = weights["embeddings.LayerNorm.weight"].shape[0]
legacy = OrderedDict()
for k, v in weights.items():
    if "LayerNorm" in k:
        k = k.replace(".weight", ".gamma").replace(".bias", ".beta")
    legacy["bert." + k] = v.t().contiguous().t() if "query.weight" in k else v
legacy["bert.embeddings.position_ids"] = torch.arange(130).expand(1, -1)
legacy["bert.pooler.dense.weight"] = torch.eye(C)
legacy["bert.pooler.dense.bias"] = torch.zeros(C)
legacy["cls.predictions.decoder.weight"] = legacy["bert.embeddings.word_embeddings.weight"]
torch.save(legacy, "bert/pytorch_model.bin")
torch.save(load_file(GOLDEN + "/head/both/2_Dense/model.safetensors"), "dense/pytorch_model.bin")


class Call:
    def __reduce__(self):
        return print, ("run",)


torch.save({"a": a[0], "b": Call()}, "call.bin")
torch.save([a[0]], "list.bin")
torch.save({"a": a[0], "step": 3}, "scalar.bin")
torch.save({"a": a[0]}, "v4.bin", pickle_protocol=4)
for path, _, found in os.walk("."):
    for name in found:
        os.chmod(os.path.join(path, name), 0o644)
