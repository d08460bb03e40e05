#!/usr/bin/env python3
"""Golden vectors of late interaction: a tiny random model of each layout of folders, and what PyLate or sentence-transformers makes of texts with it.

late/queries.jsonl and documents.jsonl are the texts.  late/FORM/ is the folder as the library saves it, expected.jsonl in it the ids and
the vectors of each query and document, scores.tsv the MaxSim of each query (row) with each document (column).
The forms "sentence..." are made with sentence-transformers 6.2.0 (transformers 5.24), the others with PyLate 1.6.0 (sentence-transformers 5.3.0,
transformers 5.3.0), which takes another version: run it in the environment of each.
    python3 tests/golden/late.py"""
import json
import os
import shutil
import string
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
import torch
import transformers
from safetensors.torch import load_file, save_file

try:
    from pylate import models, scores
except ImportError:
    models = None

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "late")
QUERIES = ["the keeper", "Light of the lighthouse?", "where is the sea, the red apple and the house of the keeper", "seaweed 1234", " "]
DOCUMENTS = ["The keeper lights the lanterns.", "the sea, the sea and the weed of the sea " * 3, "a red apple", "", "light!",
             "He'll say that he's seen 1234 ships.", "keeper keeper of house: [MASK]"]
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 64,
         "initializer_range": 0.4}
ROBERTA = {**SMALL, "max_position_embeddings": 70, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
MODERN = {**SMALL, "local_attention": 8, "global_attn_every_n_layers": 2, "pad_token_id": 0, "max_position_embeddings": 512}
FILES = ("config.json", "model.safetensors", "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json",
         "tokenizer.json", "tokenizer_config.json", "artifact.metadata")


def base(folder, kind, settings, tokenizer, more=()):
    """Saves a model and its tokenizer by transformers."""
    os.makedirs(folder)
    with tempfile.TemporaryDirectory() as temporary:
        shutil.copytree(os.path.join(GOLDEN, "settings", tokenizer), temporary, dirs_exist_ok=True)
        made = transformers.AutoTokenizer.from_pretrained(temporary)
        specials = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
        if tokenizer == "bert":
            made.add_special_tokens(specials)
        made.add_tokens(list(more))
        made.save_pretrained(folder)
    config = getattr(transformers, kind + "Config")(vocab_size=len(made), **settings)
    model = getattr(transformers, kind + "Model")(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2:
                weight.add_(torch.randn_like(weight) * 0.2)
    model.save_pretrained(folder)
    return model


def draw(model):
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2 or weight.std() < 0.05:
                weight.add_(torch.randn_like(weight) * 0.2)


def colbert(temporary, kind, settings, tokenizer, metadata):
    """colbert-ir: the projection beside the weights of "bert."."""
    base(temporary, kind, settings, tokenizer, ["[unused0]", "[unused1]"])
    weights = {"bert." + name: value for name, value in load_file(temporary + "/model.safetensors").items()}
    weights["linear.weight"] = 0.5 * torch.randn(6, settings["hidden_size"])
    save_file(weights, temporary + "/model.safetensors", {"format": "pt"})
    config = json.load(open(temporary + "/config.json"))
    config["architectures"] = ["HF_ColBERT"]
    json.dump(config, open(temporary + "/config.json", "w"), indent=1)
    if metadata is not None:
        json.dump(metadata, open(temporary + "/artifact.metadata", "w"), indent=1)
    return models.ColBERT(temporary, device="cpu")


def pylate(temporary, kind, settings, tokenizer, options, dense=()):
    base(temporary + "/base", kind, settings, tokenizer)
    model = models.ColBERT(temporary + "/base", device="cpu", embedding_size=6, **options)
    for inside, outside, more in dense:
        del model[len(model) - 1]
        for one in dense:
            model.append(models.Dense(one[0], one[1], **one[2]))
        break
    draw(model)
    model.save_pretrained(temporary)
    config = json.load(open(temporary + "/config_sentence_transformers.json"))
    config.pop("__version__", None)
    json.dump(config, open(temporary + "/config_sentence_transformers.json", "w"), indent=1)
    return models.ColBERT(temporary, device="cpu")


def sentence(temporary, kind, settings, tokenizer, transformer, mask, options):
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    base(temporary + "/base", kind, settings, tokenizer, ["[Q]", "[D]"])
    modules = [Transformer(temporary + "/base", **transformer),
               Dense(settings["hidden_size"], 5, bias=True, module_input_name="token_embeddings"), MultiVectorMask(**mask),
               Normalize(module_input_name="token_embeddings")]
    model = MultiVectorEncoder(modules=modules, device="cpu", **options)
    draw(model)
    model.save_pretrained(temporary)
    return MultiVectorEncoder(temporary, device="cpu")


class Colbert:
    """A folder of colbert-ir's layout, read as colbert-ir reads it, without its package: transformers has the model with rotary positions."""

    def __init__(self, folder, config, marked):
        self.metadata, self.prompts = marked, {}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.JinaEmbeddingsV3Model(config).eval()
        weights = load_file(folder + "/model.safetensors")
        self.linear = weights.pop("linear.weight")
        renamed = {}
        for name, value in weights.items():
            for hub, own in (("roberta.", ""), ("encoder.layers", "layers"), ("emb_ln", "embeddings.LayerNorm"), ("mixer.out_proj", "self_attn.o_proj"),
                             ("norm1", "post_attention_layernorm"), ("norm2", "post_mlp_layernorm")):
                name = name.replace(hub, own)
            parts = value.chunk(3) if "mixer.Wqkv" in name else [value]
            for part, letter in zip(parts, "qkv"):
                renamed[name.replace("mixer.Wqkv", f"self_attn.{letter}_proj")] = part
        missing = self.model.load_state_dict(renamed, strict=False)
        assert not missing.unexpected_keys and set(missing.missing_keys) <= {"pooler.dense.weight", "pooler.dense.bias"}, missing
        first = [self.tokenizer.encode(symbol, add_special_tokens=False)[0] for symbol in string.punctuation]
        self.skipped = set(first)

    def preprocess(self, texts, prompt, task):
        m, t = self.metadata, self.tokenizer
        most = m["query_maxlen" if task == "query" else "doc_maxlen"]
        ids = t(texts[0].strip(), truncation=True, max_length=most - 1)["input_ids"]
        ids.insert(1, t.convert_tokens_to_ids(m["query_token_id" if task == "query" else "doc_token_id"]))
        self.real = len(ids)
        if task == "query":
            ids += [t.mask_token_id] * (most - len(ids))
        return {"input_ids": torch.tensor([ids])}

    def encode(self, texts, task):
        ids = self.preprocess(texts, None, task)["input_ids"]
        mask = torch.ones_like(ids)
        if not self.metadata["attend_to_mask_tokens"]:
            mask[:, self.real:] = 0
        with torch.no_grad():
            vectors = torch.nn.functional.normalize(self.model(ids, attention_mask=mask).last_hidden_state @ self.linear.T, dim=-1)[0]
        if task == "document" and self.metadata["mask_punctuation"]:
            vectors = vectors[[i not in self.skipped for i in ids[0].tolist()]]
        return [vectors]

    def encode_query(self, texts):
        return self.encode(texts, "query")

    def encode_document(self, texts):
        return self.encode(texts, "document")

    def similarity(self, queries, documents):
        return torch.tensor([[(q @ d.T).amax(1).sum() for d in documents] for q in queries])

    def eval(self):
        pass


def colbert_rotary(temporary, kind, settings, tokenizer, metadata):
    """colbert-ir's layout around XLM-RoBERTa with rotary positions, as the Hub's files name it."""
    rotary = {"rope_type": "default", "rope_theta": 10000.0}
    model = base(temporary, kind, {**settings, "rope_parameters": rotary}, tokenizer, [metadata["query_token_id"], metadata["doc_token_id"]])
    weights = {"linear.weight": 0.5 * torch.randn(metadata["dim"], settings["hidden_size"])}
    state = model.state_dict()
    for name, value in state.items():
        if ".k_proj." in name or ".v_proj." in name or name.startswith("pooler") or "position_ids" in name:
            continue
        if ".q_proj." in name:
            value = torch.cat([state[name.replace("q_proj", letter + "_proj")] for letter in "qkv"])
        for own, hub in (("self_attn.q_proj", "mixer.Wqkv"), ("self_attn.o_proj", "mixer.out_proj"), ("post_attention_layernorm", "norm1"),
                         ("post_mlp_layernorm", "norm2"), ("embeddings.LayerNorm", "emb_ln")):
            name = name.replace(own, hub)
        weights["roberta." + ("encoder." if name.startswith("layers") else "") + name] = value.contiguous()
    save_file(weights, temporary + "/model.safetensors", {"format": "pt"})
    config = model.config
    json.dump({"architectures": ["HF_ColBERT"], "model_type": "xlm-roberta", "position_embedding_type": "rotary", "rotary_emb_base": rotary["rope_theta"],
               "lora_adaptations": None, "load_trained_adapters": False, "truncate_dim": None, "vocab_size": config.vocab_size,
               "layer_norm_eps": config.layer_norm_eps, "hidden_act": "gelu", "use_flash_attn": True, **settings},
              open(temporary + "/config.json", "w"), indent=1)
    json.dump(metadata, open(temporary + "/artifact.metadata", "w"), indent=1)
    return Colbert(temporary, config, metadata)


LFM2 = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 24,
        "block_multiple_of": 8, "max_position_embeddings": 64, "initializer_range": 0.4, "layer_types": ["conv", "full_attention", "conv"]}
FORMS = {
    "pylate_bert": (pylate, "Bert", SMALL, "bert", {"query_prefix": "[QUERY] ", "document_prefix": "[D]", "query_length": 11,
                    "document_length": 9, "attend_to_expansion_tokens": True, "skiplist_words": [",", ".", "sea"],
                    "prompts": {"query": "the ", "document": ""}}),
    "pylate_modernbert": (pylate, "ModernBert", MODERN, "bert", {}, [(16, 16, {"use_residual": True, "activation_function": torch.nn.GELU()}),
                          (16, 7, {"bias": False, "use_residual": True})]),
    "pylate_xlm": (pylate, "XLMRoberta", ROBERTA, "xlm-roberta", {"query_length": 20, "document_length": 40, "do_query_expansion": False}),
    "pylate_roberta": (pylate, "Roberta", ROBERTA, "roberta", {"query_prefix": "", "document_prefix": "", "query_length": 24}),
    "colbert": (colbert, "Bert", SMALL, "bert", {"query_maxlen": 14, "doc_maxlen": 10, "dim": 6, "query_token_id": "[unused0]",
                "doc_token_id": "[unused1]", "mask_punctuation": True, "attend_to_mask_tokens": False, "similarity": "cosine"}),
    "colbert_rotary": (colbert_rotary, "JinaEmbeddingsV3", {**SMALL, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
                       "xlm-roberta", {"query_maxlen": 16, "doc_maxlen": 30, "dim": 6, "query_token_id": "[QueryMarker]", "doc_token_id":
                       "[DocumentMarker]", "mask_punctuation": True, "attend_to_mask_tokens": True, "similarity": "cosine"}),
    "colbert_bare": (colbert, "Bert", SMALL, "bert", None),
    "sentence_modernbert": (sentence, "ModernBert", MODERN, "bert", {"query_length": 30, "document_length": 12,
                            "query_expansion": {"strategy": "min", "length": 9, "attend": False, "token": "[UNK]"}},
                            {"skiplist_words": [",", "the"], "skiplist_tasks": ["query", "document"]},
                            {"prompts": {"query": "[Q] ", "document": "[D] "}, "similarity_fn_name": "meanmaxsim"}),
    "sentence_lfm2": (sentence, "Lfm2", LFM2, "bert", {"query_expansion": {"strategy": "fixed", "length": 12, "attend": False}},
                      {}, {"prompts": {"query": "[Q] ", "document": "[D] "}}),
    "sentence_bert": (sentence, "Bert", SMALL, "bert", {"query_expansion": {"strategy": "fixed", "length": 12, "attend": False}},
                      {"skiplist_words": list(string.punctuation)}, {"prompts": {"query": "[Q] ", "document": ""}}),
}


def expected(model, texts, query):
    rows = []
    for text in texts:  # one at a time: no padding
        if models:
            features = model.tokenize([text if not query else model.prompts.get("query", "") + text], is_query=query)
            vectors = model.encode([text], is_query=query, prompt_name=("query" if query else "document") if model.prompts else None)[0]
        else:
            role = "query" if query else "document"
            features = model.preprocess([text], prompt=model.prompts.get(role), task=role)
            vectors = (model.encode_query if query else model.encode_document)([text])[0]
        rows.append({"role": "query" if query else "document", "text": text, "ids": features["input_ids"][0].tolist(),
                     "vectors": [[float("%.7g" % x) for x in row] for row in torch.as_tensor(vectors).tolist()]})
    return rows


def maxsim(query, document):
    return (torch.tensor(query["vectors"]) @ torch.tensor(document["vectors"]).T).amax(1).sum().item()


def make(form, how, *arguments):
    folder = os.path.join(HERE, form)
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        torch.manual_seed(sum(map(ord, form)))
        model = how(temporary + "/" + form, *arguments)
        model.eval()
        made = temporary + "/" + form
        os.makedirs(folder)
        for name in sorted(os.listdir(made)):
            inner = os.path.join(made, name)
            if name in FILES:
                shutil.copy(inner, folder)
            elif os.path.isdir(inner) and name[0].isdigit():
                shutil.copytree(inner, os.path.join(folder, name))
        queries, documents = expected(model, QUERIES, True), expected(model, DOCUMENTS, False)
        if models:
            table = [[scores.colbert_scores([torch.tensor(q["vectors"])], [torch.tensor(d["vectors"])]).item() for d in documents] for q in queries]
        else:
            table = model.similarity(*([torch.tensor(r["vectors"]) for r in rows] for rows in (queries, documents))).tolist()
    with open(folder + "/expected.jsonl", "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in queries + documents)
    with open(folder + "/scores.tsv", "w") as out:
        out.writelines("\t".join("%.7g" % x for x in row) + "\n" for row in table)


os.makedirs(HERE, exist_ok=True)
for name, rows in (("queries.jsonl", [{"_id": f"q{i}", "text": q} for i, q in enumerate(QUERIES)]),
                   ("documents.jsonl", [{"_id": f"d{i}", "text": d} for i, d in enumerate(DOCUMENTS)])):
    with open(os.path.join(HERE, name), "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
for name, arguments in FORMS.items():
    if (arguments[0] in (sentence, colbert_rotary)) != bool(models):
        make(name, *arguments)
