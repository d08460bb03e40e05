#!/usr/bin/env python3
"""Golden weights of terms: a tiny random *ForMaskedLM of each family, and what sentence-transformers' SparseEncoder makes of texts with it.

sparse/texts.jsonl are the texts.  sparse/FORM/ has the files of the model, without those of its tokenizer, which is that of
settings/TOKENIZER; sparse/forms.tsv names it, with "model_max_length" and the class there.  sparse/FORM/expected.jsonl has a line a text:
ids of terms, ascending, and their weights.

sparse/bge_m3/ is a tiny model of BGE-M3's kind, with sparse_linear.pt and colbert_linear.pt; its three outputs are by the formulas of
FlagEmbedding's BGEM3FlagModel on XLMRobertaModel: expected.jsonl has "emb", "ids", "weights" and "tokens" of each text.
Made with sentence-transformers 6.2.0, transformers 5.24.0:
    python3 tests/golden/sparse.py"""
import json
import os
import shutil
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
import torch
import transformers
from rerank import BERT, FAST, ROBERTA, SMALL, tokenizer_files
from sentence_transformers import SparseEncoder
from sentence_transformers.sparse_encoder.modules import Router, SparseStaticEmbedding, SpladePooling, Transformer

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "sparse")
TEXTS = ["the keeper lights the lantern", "light", "", "Where is the sea of the sea-weed? 1234", "the sea, the sea and the weed of the sea " * 3,
         "He'll say that he's seen the keeper's house.", "Le gardien a été réveillé à l'été."]
DISTILBERT = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 48, "initializer_range": 0.4}
MODERN = {**SMALL, "local_attention": 8, "global_attn_every_n_layers": 2, "pad_token_id": 0}
# form: class of the model, its configuration, tokenizer, its class (None: as it is), longest text, SpladePooling's settings (None: the
# folder has no modules.json), SparseEncoder's settings
FORMS = {
    "bert": ("Bert", SMALL, "bert", BERT, 32, {"pooling_strategy": "max"}, {}),
    "bert_sum": ("Bert", {**SMALL, "hidden_act": "relu", "layer_norm_eps": 1e-2}, "vocab", None, 512, {"pooling_strategy": "sum"},
                 {"similarity_fn_name": "cosine"}),
    "bert_plain": ("Bert", SMALL, "bert", FAST, 512, None, {}),
    "bert_untied": ("Bert", {**SMALL, "tie_word_embeddings": False, "hidden_act": "gelu_new"}, "bert", BERT, 512,
                    {"activation_function": "log1p_relu"}, {"max_active_dims": 9}),
    "distilbert": ("DistilBert", DISTILBERT, "bert", None, 512, {"activation_function": "log1p_relu"}, {}),
    "distilbert_sum": ("DistilBert", {**DISTILBERT, "activation": "relu"}, "bert", BERT, 20,
                       {"pooling_strategy": "sum", "activation_function": "log1p_relu"}, {"max_active_dims": 5}),
    "roberta": ("Roberta", ROBERTA, "roberta", None, 48, {}, {}),
    "xlm-roberta": ("XLMRoberta", {**ROBERTA, "hidden_act": "silu"}, "xlm-roberta", None, 20, {}, {}),
    "camembert": ("Camembert", ROBERTA, "camembert", None, 48, None, {}),
    "mpnet": ("MPNet", ROBERTA, "mpnet", None, 48, {}, {}),
    "electra": ("Electra", {**SMALL, "embedding_size": 8}, "bert", BERT, 512, {}, {}),
    "albert": ("Albert", {**SMALL, "embedding_size": 8}, "bert", FAST, 512, {}, {}),
    "ernie": ("Ernie", SMALL, "bert", BERT, 512, {}, {}),
    "gte": ("Gte", {**SMALL, "type_vocab_size": 2, "pad_token_id": 0}, "bert", BERT, 512, {"activation_function": "log1p_relu"}, {}),
    "nomic_bert": ("NomicBert", {**SMALL, "pad_token_id": 0, "head_dim": 8}, "bert", BERT, 512, {}, {}),
    "eurobert": ("EuroBert", {**SMALL, "pad_token_id": 0, "num_key_value_heads": 1, "head_dim": 8}, "bert", FAST, 512, {}, {}),
    "modernbert": ("ModernBert", MODERN, "bert", FAST, 40, {}, {}),
    "modernbert_bias": ("ModernBert", {**MODERN, "classifier_bias": True, "norm_bias": True, "classifier_activation": "silu", "norm_eps": 1e-3,
                                       "decoder_bias": False}, "bert", FAST, 512, {"activation_function": "log1p_relu"}, {}),
}


def draw(form, kind, settings, folder):
    size = len(transformers.AutoTokenizer.from_pretrained(folder))
    torch.manual_seed(sum(map(ord, form)))
    config = getattr(transformers, kind + "Config")(vocab_size=size, **settings)
    model = getattr(transformers, kind + "ForMaskedLM")(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2:
                weight.add_(torch.randn_like(weight) * 0.2)
    model.save_pretrained(folder)


def write(folder, model, task=None):
    with open(folder + "/expected.jsonl", "w") as out:
        for row in model.encode(TEXTS, batch_size=1, convert_to_sparse_tensor=False, task=task):
            ids = row.nonzero().flatten()
            weights = ["%.9g" % x for x in row[ids].tolist()]
            out.write('{"ids":%s,"weights":[%s]}\n' % (json.dumps(ids.tolist(), separators=(",", ":")), ",".join(weights)))


def make(form, kind, settings, tokenizer, name, longest, pooling, more):
    folder = os.path.join(HERE, form)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with tempfile.TemporaryDirectory() as temporary:
        tokenizer_files(temporary, tokenizer, name, longest)
        json.dump({"model_type": form.split("_")[0]}, open(temporary + "/config.json", "w"))
        draw(form, kind, settings, temporary)
        if pooling is None:
            model = SparseEncoder(temporary, device="cpu")
            files = ["config.json", "model.safetensors"]
        else:
            model = SparseEncoder(modules=[Transformer(temporary, transformer_task="fill-mask"), SpladePooling(**pooling)], device="cpu", **more)
            temporary += "/saved"
            model.save_pretrained(temporary)
            files = ["config.json", "model.safetensors", "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
                     "1_SpladePooling/config.json"]
            os.makedirs(folder + "/1_SpladePooling")
        if form == "distilbert":  # as transformers 5 writes it
            modules = json.load(open(temporary + "/modules.json"))
            modules[0]["type"] = "sentence_transformers.sparse_encoder.models.MLMTransformer"
            modules[1]["type"] = "sentence_transformers.sparse_encoder.models.SpladePooling"
            json.dump(modules, open(temporary + "/modules.json", "w"), indent=2)
            json.dump({"max_seq_length": 48, "do_lower_case": False}, open(temporary + "/sentence_bert_config.json", "w"))
        for file in files:
            shutil.copy(f"{temporary}/{file}", f"{folder}/{file}")
        write(folder, model)
    return form, tokenizer, name or "-", longest


def make_router():
    """An inference-free encoder: documents through a transformer, queries through a table of weights."""
    folder = os.path.join(HERE, "router")
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        tokenizer_files(temporary, "bert", BERT, 12)
        json.dump({"model_type": "distilbert"}, open(temporary + "/config.json", "w"))
        draw("router", "DistilBert", DISTILBERT, temporary)
        document = Transformer(temporary, transformer_task="fill-mask")
        weights = torch.rand(len(document.tokenizer)) * 8
        weights[::5] = 0
        weights[7::10] *= -1
        query = SparseStaticEmbedding(tokenizer=document.tokenizer, weight=weights, frozen=True)
        router = Router.for_query_document(query_modules=[query], document_modules=[document, SpladePooling(activation_function="log1p_relu")])
        model = SparseEncoder(modules=[router], device="cpu")
        model.save_pretrained(folder)
        write(folder, model, "document")
        write(folder + "/query_0_SparseStaticEmbedding", model, "query")
    os.remove(folder + "/README.md")


def make_bge_m3():
    """As FlagEmbedding 1.4.2: dense: the first token, normalised; sparse: relu of a linear layer, the greatest of equal tokens, without
    the special ones; vectors of tokens: a linear layer of all tokens but the first, normalised."""
    folder, width = os.path.join(HERE, "bge_m3"), 6
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder + "/1_Pooling")
    with tempfile.TemporaryDirectory() as temporary:
        tokenizer_files(temporary, "xlm-roberta", None, 40)
        json.dump({"model_type": "xlm-roberta"}, open(temporary + "/config.json", "w"))
        tokenizer = transformers.AutoTokenizer.from_pretrained(temporary)
        torch.manual_seed(3)
        model = transformers.XLMRobertaModel(transformers.XLMRobertaConfig(vocab_size=len(tokenizer), **ROBERTA), add_pooling_layer=False).eval()
        sparse, vectors = torch.nn.Linear(16, 1), torch.nn.Linear(16, width)
        torch.nn.init.normal_(sparse.weight, std=0.4)
        torch.nn.init.normal_(vectors.weight, std=0.4)
        torch.nn.init.constant_(sparse.bias, 0.5)
        sparse, vectors = sparse.half().float(), vectors.half().float()  # as the files are stored
        model.save_pretrained(temporary)
        for file in ("config.json", "model.safetensors"):
            shutil.copy(f"{temporary}/{file}", f"{folder}/{file}")
    for name, layer in (("sparse", sparse), ("colbert", vectors)):
        torch.save({key: value.half() for key, value in layer.state_dict().items()}, f"{folder}/{name}_linear.pt")
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    json.dump([{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind} for i, (kind, path) in enumerate(kinds)],
              open(folder + "/modules.json", "w"), indent=1)
    json.dump({"word_embedding_dimension": 16, "pooling_mode_cls_token": True}, open(folder + "/1_Pooling/config.json", "w"))
    unused = {tokenizer.cls_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
    with open(folder + "/expected.jsonl", "w") as out, torch.no_grad():
        for text in TEXTS:
            tokens = tokenizer(text, truncation=True, max_length=40, return_tensors="pt")
            hidden = model(**tokens).last_hidden_state[0]
            lexical = {}
            for weight, token in zip(torch.relu(sparse(hidden)).flatten().tolist(), tokens["input_ids"][0].tolist()):
                if token not in unused and weight > lexical.get(token, 0):
                    lexical[token] = weight
            ids = sorted(lexical)
            row = {"emb": torch.nn.functional.normalize(hidden[0], dim=-1).tolist(), "ids": ids, "weights": [lexical[i] for i in ids],
                   "tokens": torch.nn.functional.normalize(vectors(hidden[1:]), dim=-1).tolist()}
            out.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    with open(os.path.join(HERE, "texts.jsonl"), "w") as out:
        out.writelines(json.dumps({"_id": f"t{i}", "text": text}, ensure_ascii=False) + "\n" for i, text in enumerate(TEXTS))
    with open(os.path.join(HERE, "forms.tsv"), "w") as table:
        for name, form in FORMS.items():
            table.write("\t".join(map(str, make(name, *form))) + "\n")
    make_bge_m3()
    make_router()
