#!/usr/bin/env python3
"""Golden token ids of folders whose other files contradict tokenizer.json: small vocabularies, and the ids of transformers' AutoTokenizer.
Writes settings/FORM/ (the files of a folder) and settings/cases.jsonl, a case a line: the form, the changes of its files
("files", members of objects; null: the file is not there), "most", texts, ids.

settings.py --check compares the ids of another version of transformers.  Made with transformers 5.24.0; 4.57.3 has the same ids, but for those of a
text with U+2581 in it and one of a Camembert's with a further token."""
import copy
import io
import json
import os
import shutil
import sys
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "settings")
CORPUS = """The keeper of the lighthouse lights the lanterns, and the lanterns light the sea.
He'll say that he's seen 1234 ships in 2026; they've passed, he'd counted 56.
Der Leuchtturmwärter zählt die Schiffe über dem Meer. Le gardien a été réveillé à l'été; où est-il?
the the the light light lights lighting and and of of sea sea keeper keeper""".split("\n") * 3
TEXTS = ["", "hello", "The Keeper of THE lighthouse", "Été NAÏVE Über", "京都 the 海", "[unused1] a red [NEW]apple [new]", "a <ent> b<ent2>c <ENT>",
         " the  sea ", "\tthe\nsea", "[MASK] <mask> [CLS] <s> the</s> <pad>[PAD]", "the [MASK]sea <mask>", "seaweed " * 9, "x" * 30, "ﬁre ½ Ⅷ a\u0301", "1234,56 light's",
         "the\u3000sea\u00a0light\u200bx\u2028y", "▁the ▁ sea", "   ", "\u2581", "<extra_id_0> <extra_id_99>the", "é\u0301\u00ad🙂"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def flags(content, **more):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True, **more}


def bert():
    letters = "abcdefghijklmnopqrstuvwxyzTKEHéü0123456789.,;:!?'\"()[]<>/-½京都海"
    words = SPECIALS + ["[unused1]"] + list(letters) + ["##" + c for c in letters] + """the The keep ##er of light ##house lights sea weed ##weed new NEW red apple ete Ete
naive NAI uber hell ##o""".split()
    vocab = {word: i for i, word in enumerate(dict.fromkeys(words))}
    whole = {"version": "1.0", "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}, "padding": None,
             "added_tokens": [{"id": i, **flags(s)} for i, s in enumerate(SPECIALS)],
             "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
             "pre_tokenizer": {"type": "BertPreTokenizer"},
             "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
             "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab}}
    config = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True, "model_max_length": 512}
    yield "bert", {"tokenizer.json": whole, "tokenizer_config.json": config, "config.json": {"model_type": "bert"}}
    yield "vocab", {"vocab.txt": "".join(word + "\n" for word in vocab), "tokenizer_config.json": config, "config.json": {"model_type": "bert"}}
    words[:5] = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
    yield "mpnet", {"vocab.txt": "".join(word + "\n" for word in dict.fromkeys(words)), "tokenizer_config.json": {"tokenizer_class": "MPNetTokenizer"},
                    "config.json": {"model_type": "mpnet"}}


def roberta():
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(False)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=330, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
                                                              special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    whole = json.loads(tokenizer.to_str())
    whole["decoder"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    vocab, merges = whole["model"]["vocab"], whole["model"]["merges"]
    whole["added_tokens"] = [{"id": i, **flags(s, lstrip=s == "<mask>")} for i, s in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])]
    config = {"tokenizer_class": "RobertaTokenizer", "mask_token": {"__type": "AddedToken", **flags("<mask>", lstrip=True)}}
    pair = {"vocab.json": vocab, "merges.txt": "#version: 0.2\n" + "".join(" ".join(m) + "\n" for m in merges)}
    yield "pair", {**pair, "tokenizer_config.json": config, "config.json": {"model_type": "roberta"}}
    whole["post_processor"] = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False}
    yield "roberta", {"tokenizer.json": copy.deepcopy(whole), "tokenizer_config.json": config, "config.json": {"model_type": "roberta"}}
    whole["post_processor"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    yield "plain", {"tokenizer.json": whole, "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>", "bos_token": "<s>"},
                    "config.json": {"model_type": "llama"}}


def pieces(**more):
    """A model whose charsmap is a part of sentencepiece's own, which has 240 kB (WHOLE=1: all of it)."""
    import sentencepiece
    made, pairs = io.BytesIO(), {c: " " for c in "\t\n\r\u00a0\u3000\u200b\u2028"}
    pairs.update({"a\u0301": "\u00e1", "e\u0301": "\u00e9", "\ufb01": "fi", "\u00bd": "1\u20442", "\u2167": "VIII", "\u00ad": ""})
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        for key, value in sorted(pairs.items()):
            rules.write("\t".join(" ".join("%X" % ord(c) for c in text) for text in (key, value)) + "\n")
        rules.flush()
        if not os.environ.get("WHOLE"):
            more["normalization_rule_tsv"] = rules.name
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=made, model_type="unigram", vocab_size=110,
                                                 hard_vocab_limit=False, minloglevel=2, **more)
    return made.getvalue()


def sentencepieces():
    yield "xlm-roberta", {"sentencepiece.bpe.model": pieces(), "config.json": {"model_type": "xlm-roberta"}, "tokenizer_config.json": {
        "tokenizer_class": "XLMRobertaTokenizer", "mask_token": {"__type": "AddedToken", **flags("<mask>", lstrip=True)}}}
    yield "camembert", {"sentencepiece.bpe.model": pieces(user_defined_symbols=["<ent>"]), "config.json": {"model_type": "camembert"},
                        "tokenizer_config.json": {"tokenizer_class": "CamembertTokenizer"}}
    yield "t5", {"spiece.model": pieces(pad_id=0, eos_id=1, unk_id=2, bos_id=-1), "config.json": {"model_type": "t5"}, "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer"}}


def cases(form, files):
    def case(most=0, without=(), **changed):
        return {"form": form, "most": most, "files": {**{name.replace("__", "."): members for name, members in changed.items()}, **dict.fromkeys(without)}}
    yield case()
    if form in ("bert", "vocab"):
        size = len(files["tokenizer.json"]["model"]["vocab"]) if form == "bert" else files["vocab.txt"].count("\n")
        for key, value in (("do_lower_case", False), ("tokenize_chinese_chars", False), ("strip_accents", False), ("strip_accents", True)):
            yield case(tokenizer_config__json={key: value})
        yield case(tokenizer_config__json={"do_lower_case": False, "strip_accents": True})
        yield case(most=6, tokenizer_config__json={"truncation_side": "left"})
        yield case(tokenizer_config__json={"additional_special_tokens": ["[unused1]"]})
        yield case(tokenizer_config__json={"additional_special_tokens": ["[NEW]", "<ent>"]})
        yield case(tokenizer_config__json={"added_tokens_decoder": {str(size): flags("<ent>", special=False, normalized=True), str(size + 1): flags("<ent2>", rstrip=True)}})
        yield case(added_tokens__json={"<ent>": size, "<ent2>": size + 1})
        yield case(special_tokens_map__json={"mask_token": flags("[NEW]", lstrip=True)})
        yield case(tokenizer_config__json={"split_special_tokens": True})
        yield case(tokenizer_config__json={"added_tokens_decoder": {"4": flags("[MASK]", lstrip=True, rstrip=True)}})
        yield case(sentence_bert_config__json={"max_seq_length": 9, "do_lower_case": False})
    if form == "bert":
        for key, value in (("lowercase", False), ("handle_chinese_chars", False), ("strip_accents", False)):
            yield case(tokenizer__json={"normalizer": {**files["tokenizer.json"]["normalizer"], key: value}})
        yield case(without=["tokenizer_config.json"], tokenizer__json={"normalizer": {**files["tokenizer.json"]["normalizer"], "lowercase": False}})
        yield case(tokenizer__json={"normalizer": {**files["tokenizer.json"]["normalizer"], "lowercase": False}},
                   tokenizer_config__json={"tokenizer_class": "PreTrainedTokenizerFast"})
        yield case(most=6, tokenizer__json={"truncation": {**files["tokenizer.json"]["truncation"], "direction": "Left"}})
        yield case(most=6, tokenizer__json={"truncation": {**files["tokenizer.json"]["truncation"], "direction": "Left"}}, tokenizer_config__json={"truncation_side": "right"})
    if form in ("pair", "roberta"):
        yield case(tokenizer_config__json={"add_prefix_space": True})
        yield case(most=7, tokenizer_config__json={"truncation_side": "left"})
        yield case(without=["tokenizer_config.json"], special_tokens_map__json={"mask_token": flags("<mask>", lstrip=True)})
    if form == "roberta":
        yield case(tokenizer__json={"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}})
    if form == "plain":
        yield case(tokenizer_config__json={"additional_special_tokens": ["the"], "eos_token": "</s>"})
    if form in ("xlm-roberta", "camembert", "t5"):
        yield case(most=5, tokenizer_config__json={"truncation_side": "left"})
        if form == "xlm-roberta":  # version 5 then loses the other special tokens
            yield case(tokenizer_config__json={"additional_special_tokens": ["<ent2>"]})
        yield case(without=["tokenizer_config.json"])


def write(folder, files, changed):
    for name, content in files.items():
        content = copy.deepcopy(content)
        if isinstance(content, dict) and changed.get(name):
            content.update(changed[name])
        if name in changed and changed[name] is None:
            continue
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else json.dumps(content, ensure_ascii=False).encode())


def ids_of(case, files):
    from transformers import AutoTokenizer
    files = {**{name: {} for name in case["files"]}, **files}
    with tempfile.TemporaryDirectory() as folder:
        write(folder, files, case["files"])
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokenizer.model_max_length = case["most"] or 10**6
        return [tokenizer(text, truncation=True)["input_ids"] for text in TEXTS]


def main():
    forms = dict((*bert(), *roberta(), *sentencepieces()))
    if sys.argv[1:] == ["--check"]:
        with open(os.path.join(HERE, "cases.jsonl")) as file:
            wrong = 0
            for line in file:
                case = json.loads(line)
                files = {}
                for name in os.listdir(os.path.join(HERE, case["form"])):
                    with open(os.path.join(HERE, case["form"], name), "rb") as part:
                        files[name] = part.read()
                        if name.endswith(".json"):
                            files[name] = json.loads(files[name])
                try:
                    found = ids_of(case, files)
                except Exception as error:
                    found = [str(error)] * len(TEXTS)
                for text, a, b in zip(TEXTS, case["ids"], found):
                    if a != b:
                        wrong += 1
                        print(case["form"], json.dumps(case["files"], ensure_ascii=False)[:150], repr(text), a, b)
            print(wrong, "differ")
            return
    shutil.rmtree(HERE, ignore_errors=True)
    for form, files in forms.items():
        os.makedirs(os.path.join(HERE, form))
        write(os.path.join(HERE, form), files, {})
    with open(os.path.join(HERE, "texts.jsonl"), "w") as file:
        file.writelines(json.dumps(text) + "\n" for text in TEXTS)
    with open(os.path.join(HERE, "cases.jsonl"), "w") as file:
        for form, files in forms.items():
            for case in cases(form, files):
                try:
                    file.write(json.dumps({**case, "ids": ids_of(case, files)}, ensure_ascii=False, separators=(",", ":")) + "\n")
                except Exception as error:
                    print("cannot:", form, case["files"], type(error), str(error)[:300])


if __name__ == "__main__":
    main()
