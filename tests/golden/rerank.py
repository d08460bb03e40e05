#!/usr/bin/env python3
"""Golden scores of cross-encoders: a tiny random *ForSequenceClassification of each family, and what sentence-transformers' CrossEncoder
makes of pairs of texts with it.

rerank/queries.jsonl, documents.jsonl and pairs.jsonl are the texts, all queries with all documents.  rerank/FORM/ has config.json,
model.safetensors and, where the form has one, config_sentence_transformers.json; its tokenizer is that of settings/TOKENIZER, which
rerank/forms.tsv names, with "model_max_length" and the class there.  rerank/FORM/expected.tsv has the scores, a line a pair in the order of
pairs.jsonl, a column a label.  rerank/token_pairs.jsonl has ids and types of pairs by transformers' tokenizers in several modes of truncation.
Made with sentence-transformers 6.2.0, transformers 5.24.0:
    python3 tests/golden/rerank.py"""
import json
import os
import random
import shutil
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
import torch
import transformers
from sentence_transformers import CrossEncoder

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "rerank")
QUERIES = ["the keeper", "Light of the lighthouse", "where is the sea?", "seaweed 1234", " "]
DOCUMENTS = ["The keeper lights the lanterns.", "the sea, the sea and the weed of the sea " * 3, "a red apple", "", "light",
             "Le gardien a été réveillé à l'été; où est-il?", "He'll say that he's seen 1234 ships.", "keeper keeper of house"]
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 48,
         "initializer_range": 0.4, "num_labels": 1}
ROBERTA = {**SMALL, "max_position_embeddings": 50, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
DECODER = {**SMALL, "num_key_value_heads": 1, "head_dim": 8, "pad_token_id": 1}
SIGMOID, IDENTITY, TANH = ("torch.nn.modules." + name for name in ("activation.Sigmoid", "linear.Identity", "activation.Tanh"))
BERT, FAST = "BertTokenizer", "PreTrainedTokenizerFast"
# form: class of the model, its configuration, tokenizer, its class (None: as it is), longest pair; what is added to config.json
FORMS = {
    "bert": ("Bert", SMALL, "bert", BERT, 32, {}),
    "bert_labels": ("Bert", {**SMALL, "num_labels": 3}, "vocab", None, 512, {}),
    "bert_untyped": ("Bert", SMALL, "bert", FAST, 512, {"sentence_transformers": {"activation_fn": IDENTITY}}),
    "roberta": ("Roberta", ROBERTA, "roberta", None, 48, {"sentence_transformers": {"activation_fn": IDENTITY}}),
    "xlm-roberta": ("XLMRoberta", ROBERTA, "xlm-roberta", None, 20, {"sbert_ce_default_activation_function": SIGMOID}),
    "camembert": ("Camembert", {**ROBERTA, "num_labels": 2}, "camembert", None, 48, {"sbert_ce_default_activation_function": TANH}),
    "distilbert": ("DistilBert", {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 48,
                                  "initializer_range": 0.4, "num_labels": 1}, "bert", None, 512, {}),
    "electra": ("Electra", {**SMALL, "embedding_size": 8}, "bert", BERT, 512, {"sentence_transformers": {"activation_fn": TANH}}),
    "albert": ("Albert", {**SMALL, "embedding_size": 8, "num_labels": 2}, "bert", FAST, 512, {}),
    "ernie": ("Ernie", SMALL, "bert", BERT, 512, {}),
    "mpnet": ("MPNet", ROBERTA, "mpnet", None, 48, {}),
    "modernbert": ("ModernBert", {**SMALL, "local_attention": 8, "global_attn_every_n_layers": 2, "pad_token_id": 0}, "bert", FAST, 40, {}),
    "modernbert_mean": ("ModernBert", {**SMALL, "local_attention": 8, "classifier_pooling": "mean", "classifier_bias": True, "norm_bias": True,
                                       "classifier_activation": "silu", "norm_eps": 1e-3, "pad_token_id": 0}, "bert", FAST, 512, {}),
    "gte": ("Gte", {**SMALL, "type_vocab_size": 2, "pad_token_id": 0}, "bert", BERT, 512, {}),
    "nomic_bert": ("NomicBert", {**SMALL, "type_vocab_size": 2, "pad_token_id": 0, "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}},
                   "bert", BERT, 40, {}),
    "deberta-v2": ("DebertaV2", {**SMALL, "relative_attention": True, "share_att_key": True, "position_biased_input": False, "position_buckets": 6,
                              "norm_rel_ebd": "layer_norm", "pos_att_type": ["p2c", "c2p"]}, "bert", FAST, 512,
                {"sentence_transformers": {"activation_fn": IDENTITY}}),
    "llama": ("Llama", DECODER, "plain", None, 32, {}),
    "qwen3": ("Qwen3", DECODER, "plain", None, 512, {"sentence_transformers": {"activation_fn": IDENTITY}}),
}


def lines(name, rows):
    with open(os.path.join(HERE, name), "w") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def tokenizer_files(folder, tokenizer, kind, longest):
    for name in os.listdir(os.path.join(GOLDEN, "settings", tokenizer)):
        if name != "config.json":
            shutil.copy(os.path.join(GOLDEN, "settings", tokenizer, name), folder)
    path = os.path.join(folder, "tokenizer_config.json")
    config = json.load(open(path))
    config.update({"model_max_length": longest, **({"tokenizer_class": kind} if kind else {})})
    if kind == FAST:
        config.update({"pad_token": "[PAD]", "unk_token": "[UNK]"})
    if tokenizer == "plain":
        config.update({"pad_token": "<pad>"})
    json.dump(config, open(path, "w"))


def make(form, kind, settings, tokenizer, name, longest, more):
    folder = os.path.join(HERE, form)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with tempfile.TemporaryDirectory() as temporary:
        tokenizer_files(temporary, tokenizer, name, longest)
        json.dump({"model_type": {"Llama": "llama", "Qwen3": "qwen3"}.get(kind, form.split("_")[0])}, open(temporary + "/config.json", "w"))
        size = len(transformers.AutoTokenizer.from_pretrained(temporary))
        torch.manual_seed(sum(map(ord, form)))
        config = getattr(transformers, kind + "Config")(vocab_size=size, **settings)
        model = getattr(transformers, kind + "ForSequenceClassification")(config).eval()
        with torch.no_grad():
            for weight in model.parameters():
                if weight.ndim < 2:
                    weight.add_(torch.randn_like(weight) * 0.2)
        model.save_pretrained(temporary)
        config = json.load(open(temporary + "/config.json"))
        config.update(more)
        json.dump(config, open(temporary + "/config.json", "w"), indent=1)
        scores = CrossEncoder(temporary, device="cpu").predict([(q, d) for q in QUERIES for d in DOCUMENTS], batch_size=1)
        if form == "bert":  # as version 6 writes it: modules.json, and the activation beside it
            CrossEncoder(temporary, device="cpu").save_pretrained(temporary + "/6")
            for file in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
                shutil.copy(temporary + "/6/" + file, folder)
        for file in ("config.json", "model.safetensors"):
            shutil.copy(temporary + "/" + file, folder)
    with open(folder + "/expected.tsv", "w") as out:
        for row in torch.tensor(scores).reshape(len(scores), -1).tolist():
            out.write("\t".join("%.9g" % x for x in row) + "\n")
    return form, tokenizer, name or "-", longest


# form: class, configuration, pooling, activation of the inner Dense, labels, activation of the scores; the tokenizer is bert, FAST
MODULES = {
    "modernbert_modules": ("ModernBert", {**SMALL, "local_attention": 8, "pad_token_id": 0}, "cls", "GELU", 1, None),
    "bert_modules": ("Bert", SMALL, "mean", "Tanh", 2, IDENTITY),
}


def make_modules(form, kind, settings, pooling, act, labels, activation):
    """A cross-encoder whose head is of modules, as ettin-reranker's: Dense, LayerNorm, and a Dense that makes the scores."""
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
    folder = os.path.join(HERE, form)
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        base = temporary + "/base"
        os.makedirs(base)
        tokenizer_files(base, "bert", FAST, 40)
        json.dump({"model_type": form.split("_")[0]}, open(base + "/config.json", "w"))
        torch.manual_seed(sum(map(ord, form)))
        config = getattr(transformers, kind + "Config")(vocab_size=len(transformers.AutoTokenizer.from_pretrained(base)), **settings)
        getattr(transformers, kind + "Model")(config).save_pretrained(base)
        modules = [Transformer(base), Pooling(16, pooling_mode=pooling), Dense(16, 12, bias=False, activation_function=getattr(torch.nn, act)()),
                   LayerNorm(12), Dense(12, labels, activation_function=torch.nn.Identity(), module_output_name="scores")]
        model = CrossEncoder(modules=modules, device="cpu", activation_fn=torch.nn.Identity() if activation else None)
        with torch.no_grad():
            for weight in model.parameters():
                if weight.ndim < 2:
                    weight.add_(torch.randn_like(weight) * 0.2)
        model.save_pretrained(temporary + "/saved")
        scores = CrossEncoder(temporary + "/saved", device="cpu").predict([(q, d) for q in QUERIES for d in DOCUMENTS], batch_size=1)
        shutil.copytree(temporary + "/saved", folder, ignore=shutil.ignore_patterns("tokenizer*", "special*", "README.md", "vocab*", "train*"))
    with open(folder + "/expected.tsv", "w") as out:
        for row in torch.tensor(scores).reshape(len(scores), -1).tolist():
            out.write("\t".join("%.9g" % x for x in row) + "\n")
    return form, "bert", FAST, 40


NAMES = {"roberta.embeddings.LayerNorm.": "roberta.emb_ln.", ".encoder.layer.": ".encoder.layers.", ".attention.output.dense.": ".mixer.out_proj.",
         ".attention.output.LayerNorm.": ".norm1.", ".intermediate.dense.": ".mlp.fc1.", ".output.dense.": ".mlp.fc2.", ".output.LayerNorm.": ".norm2."}


def make_jina(form, like):
    """jina-reranker-v2's names of the tensors: q, k and v are one; config.json names the code that has them."""
    from safetensors.torch import load_file, save_file
    folder = os.path.join(HERE, form)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, like), folder)
    weights = load_file(folder + "/model.safetensors")
    for name in [name for name in weights if ".attention.self.query." in name]:
        parts = [weights.pop(name.replace("query", part)) for part in ("query", "key", "value")]
        weights[name.replace("attention.self.query", "mixer.Wqkv")] = torch.cat(parts)
    made = {}
    for name, value in weights.items():
        for old, new in NAMES.items():
            name = name.replace(old, new)
        made[name] = value.contiguous()
    save_file(made, folder + "/model.safetensors", {"format": "pt"})
    config = json.load(open(folder + "/config.json"))
    config["auto_map"] = {"AutoConfig": "configuration_xlm_roberta.XLMRobertaFlashConfig", "AutoModel": "modeling_xlm_roberta.XLMRobertaModel",
                          "AutoModelForSequenceClassification": "modeling_xlm_roberta.XLMRobertaForSequenceClassification"}
    config.update(position_embedding_type="absolute", use_flash_attn=True, emb_pooler=None)
    json.dump(config, open(folder + "/config.json", "w"), indent=1)
    return form, "xlm-roberta", "-", 20


def text(chance):
    letters = chance.choice(["the sea keeper light ", "abcdefgh  ", "éü京都 ,.!?'", "ABCdef 012-<s>[SEP]"])
    return "".join(chance.choice(letters) for _ in range(chance.choice([0, 1, 4, 9, 20, 50])))


def token_pairs():
    chance = random.Random(5)
    for form in ("bert", "vocab", "roberta", "pair", "xlm-roberta", "mpnet", "t5", "plain"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(os.path.join(GOLDEN, "settings", form))
        for mode, most, side in (("longest_first", 9, "right"), ("longest_first", 16, "left"), ("only_second", 24, "right"),
                                 ("only_second", 15, "left"), ("longest_first", 1000, "right")):
            tokenizer.truncation_side = side
            case = {"form": form, "mode": mode, "most": most, "side": side, "pairs": [], "ids": [], "second": []}
            while len(case["pairs"]) < 12:
                pair = (text(chance), text(chance))
                try:
                    made = tokenizer([pair], truncation=mode, max_length=most)
                except BaseException:  # the first text alone exceeds the length
                    continue
                types = made["token_type_ids"][0] if "token_type_ids" in made else [0]
                case["pairs"].append(pair)
                case["ids"].append(made["input_ids"][0])
                case["second"].append(types.index(1) if 1 in types else 0)
            yield case


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    lines("queries.jsonl", ({"_id": f"q{i}", "text": q} for i, q in enumerate(QUERIES)))
    lines("documents.jsonl", ({"_id": f"d{i}", "text": d} for i, d in enumerate(DOCUMENTS)))
    lines("pairs.jsonl", ({"query": q, "text": d} for q in QUERIES for d in DOCUMENTS))
    lines("token_pairs.jsonl", token_pairs())
    with open(os.path.join(HERE, "forms.tsv"), "w") as table:
        for name, form in FORMS.items():
            table.write("\t".join(map(str, make(name, *form))) + "\n")
        for name, form in MODULES.items():
            table.write("\t".join(map(str, make_modules(name, *form))) + "\n")
        table.write("\t".join(map(str, make_jina("xlm-roberta_jina", "xlm-roberta"))) + "\n")
