#!/usr/bin/env python3
"""Make static/: tiny folders of static embeddings, and what their packages make of texts.jsonl.

tokenizer.json     WordPiece with special tokens around a text, which static embeddings leave out
bpe.json           BPE with an unk_token, whitespace between words
CASE/, CASE.txt    a folder of model2vec, without its tokenizer, and StaticModel.encode of it.  half and whole are
                   opened with the table widened: the package rounds sums to the table's type
st/, root/         folders of sentence-transformers, nested and as it saves them today; st.txt, root.txt, and prompt.txt
                   (st, prompt_name "query"), dim.txt (st, truncate_dim 2)
bert/              a BERT; distil.txt, distil.vocab: the rows and the tokens of what model2vec.distill makes of it
                   (pca_dims 6, in single precision); distil_bpe.*: with bpe.json as tokenizer
pairs.txt          token ids for pairs_stream; train.txt: loss and norm of the gradient of each of six steps on them from
                   plain/, by torch's AdamW; trained.txt: the table then
Needs model2vec 0.10 with skeletoken, sentence-transformers 6.2, torch:  python3 tests/golden/static.py
"""
import json
import os
import shutil
import tempfile
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.simplefilter("ignore")
import numpy as np
import torch
import transformers
import torch.nn.functional as F
from model2vec import StaticModel
from model2vec.distill import distill
from safetensors.numpy import save_file
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, StaticEmbedding
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """the a red boat sails on sea bird flies over river fish sing song water stone
    green hill bank of money to lend ##s ##ing ##ed ##er un re . , ! query : lighthouse evening""".split()
LONG = "lighthouse evening "
TEXTS = ["the red boat sails on the sea", "a bird flies over the river, singing!", "fish",
         "Resing unlended stones", "", "   ", "日本", "the 日本 sea [UNK] [MASK] boat", "[CLS] a [SEP]",
         "a . " * 300, LONG * 150, "日 sea " * 300, "zzz " * 600 + "fish", "fish " * 511 + "sea",
         "fish " * 512 + "sea", "query : fish"]
C = 4


def wordpiece():
    unused = [f"[unused{i}]" for i in range(3)]
    vocab = SPECIAL[:1] + unused + SPECIAL[1:] + WORDS
    t = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(s, vocab.index(s)) for s in ("[CLS]", "[SEP]")])
    t.add_special_tokens(SPECIAL)
    t.enable_padding(pad_id=0, pad_token="[PAD]")
    return t


def bpe():
    letters = "abcdefghilnorst"
    vocab = {w: i for i, w in enumerate(["<unk>", *letters, "th", "the", "se", "sea"])}
    t = Tokenizer(models.BPE(vocab, [("t", "h"), ("th", "e"), ("s", "e"), ("se", "a")], unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return t


def write(name, rows):
    with open(os.path.join(HERE, name + ".txt"), "w") as f:
        for row in np.asarray(rows, dtype=np.float64):
            print(*(f"{x + 0:.9g}" for x in row), file=f)


def model2vec_case(name, tokenizer, tensors, widen=None, modules=True, **config):
    folder = os.path.join(HERE, name)
    os.makedirs(folder)
    save_file(tensors, folder + "/model.safetensors")
    with open(folder + "/config.json", "w") as f:
        json.dump({"model_type": "model2vec", **config}, f)
    if modules:
        kinds = ["StaticEmbedding"] + ["Normalize"] * config.get("normalize", False)
        with open(folder + "/modules.json", "w") as f:
            json.dump([{"idx": i, "name": str(i), "path": f"{i}_{k}" if i else ".",
                        "type": f"sentence_transformers.models.{k}"} for i, k in enumerate(kinds)], f)
    shutil.copy(os.path.join(HERE, tokenizer), folder + "/tokenizer.json")
    exact = StaticModel.from_pretrained(folder).encode(TEXTS)
    wide = StaticModel.from_pretrained(folder, quantize_to=widen).encode(TEXTS) if widen else exact
    assert np.abs(exact - wide).max() < 2e-3 * max(1, np.abs(wide).max()), name
    write(name, wide)
    os.remove(folder + "/tokenizer.json")


def model2vec_cases(size, bpe_size):
    rng = np.random.default_rng(5)
    table = lambda rows, kind="f4": rng.standard_normal((rows, C)).astype(kind)
    t = "tokenizer.json"
    few = np.arange(size) * 7 % 5
    model2vec_case("plain", t, {"embeddings": table(size)}, normalize=True)
    model2vec_case("raw", t, {"embeddings": table(size)}, normalize=False, max_length=6)
    model2vec_case("endless", t, {"embeddings": table(size)}, max_length=None)
    model2vec_case("bare", t, {"embeddings": table(size)}, modules=False, normalize=True)
    model2vec_case("half", t, {"embeddings": table(size, "f2")}, "float32", normalize=True)
    model2vec_case("double", t, {"embeddings": table(size, "f8")}, normalize=True)
    model2vec_case("whole", t, {"embeddings": rng.integers(-127, 128, (size, C)).astype("i1")}, "float32",
                   normalize=True)
    model2vec_case("shared", t, {"embeddings": table(5), "mapping": few.astype("i4"),
                                 "weights": rng.random(size)}, normalize=True)
    model2vec_case("mapped", t, {"embeddings": table(5), "mapping": few.astype("i8")})
    model2vec_case("weighted", t, {"embeddings": table(size), "weights": rng.random(size).astype("f4")})
    model2vec_case("bpe", "bpe.json", {"embeddings": table(bpe_size)}, normalize=True)


def sentence_cases(tokenizer):
    torch.manual_seed(3)
    t = Tokenizer.from_str(tokenizer.to_str())
    t.no_padding()
    model = SentenceTransformer(modules=[StaticEmbedding(t, embedding_dim=C), Normalize()], device="cpu",
                                prompts={"query": "query: "})
    model.save(os.path.join(HERE, "root"), create_model_card=False)
    write("root", model.encode(TEXTS))
    # as earlier versions saved it: with a tokenizer that truncates, and without Normalize
    t.enable_truncation(7)
    model = SentenceTransformer(modules=[StaticEmbedding(t, embedding_dim=C)], device="cpu")
    model.save(os.path.join(HERE, "st"), create_model_card=False)
    st = os.path.join(HERE, "st")
    os.makedirs(st + "/0_StaticEmbedding")
    for name in "model.safetensors", "tokenizer.json":
        os.rename(f"{st}/{name}", f"{st}/0_StaticEmbedding/{name}")
    with open(st + "/modules.json", "w") as f:
        json.dump([{"idx": 0, "name": "0", "path": "0_StaticEmbedding",
                    "type": "sentence_transformers.models.StaticEmbedding"}], f)
    with open(st + "/config_sentence_transformers.json", "w") as f:
        json.dump({"prompts": {"query": "query: "}, "default_prompt_name": None}, f)
    model = SentenceTransformer(st, device="cpu")
    write("st", model.encode(TEXTS))
    write("prompt", model.encode(TEXTS, prompt_name="query"))
    write("dim", model.encode(TEXTS, truncate_dim=2))
    for folder in HERE + "/root", st:
        print(folder, sorted(os.listdir(folder)))


def distilled(name, folder, **options):
    with warnings.catch_warnings():
        made = distill(folder, device="cpu", quantize_to="float32", **options)
    write(name, made.embedding)
    with open(os.path.join(HERE, name + ".vocab"), "w") as f:
        print(*made.tokens, sep="\n", file=f)


def distil_cases(tokenizer):
    bert = HERE + "/bert"
    torch.manual_seed(11)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=16, initializer_range=0.5, type_vocab_size=1)
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(bert)
    tokenizer.save(bert + "/tokenizer.json", pretty=False)
    with open(bert + "/tokenizer_config.json", "w") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}, f)
    distilled("distil", bert, pca_dims=6)
    with tempfile.TemporaryDirectory() as other:
        shutil.copytree(bert, other, dirs_exist_ok=True)
        shutil.copy(HERE + "/bpe.json", other + "/tokenizer.json")
        with open(other + "/tokenizer_config.json", "w") as f:
            json.dump({"tokenizer_class": "PreTrainedTokenizerFast"}, f)
        distilled("distil_bpe", other, pca_dims=6)


def train_case(size):
    rng = np.random.default_rng(9)
    text = lambda: rng.integers(0, size, rng.integers(1, 6))
    steps = [[(text(), text()) for _ in range(4)] for _ in range(6)]
    with open(HERE + "/pairs.txt", "w") as f:
        for step in steps:
            for pair in step:
                print(*(" ".join(map(str, ids)) for ids in pair), sep="\t", file=f)
            print(file=f)
    table = load_file(HERE + "/plain/model.safetensors")["embeddings"].double().requires_grad_()
    optimiser = torch.optim.AdamW([table], lr=0.05, weight_decay=0.1)
    log = []
    for step in steps:
        q, d = (F.normalize(torch.stack([table[torch.tensor(pair[side])].mean(0) for pair in step]))
                for side in (0, 1))
        loss = F.cross_entropy(q @ d.T / 0.2, torch.arange(len(step)))
        optimiser.zero_grad()
        loss.backward()
        log.append((loss.item(), table.grad.norm().item()))
        optimiser.step()
    write("train", log)
    write("trained", table.detach())


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    with open(HERE + "/texts.jsonl", "w") as f:
        for text in TEXTS:
            print(json.dumps({"text": text}, ensure_ascii=False), file=f)
    pieces, letters = wordpiece(), bpe()
    pieces.save(HERE + "/tokenizer.json", pretty=False)
    letters.save(HERE + "/bpe.json", pretty=False)
    model2vec_cases(pieces.get_vocab_size(), letters.get_vocab_size())
    sentence_cases(pieces)
    distil_cases(pieces)
    train_case(pieces.get_vocab_size())


main()
