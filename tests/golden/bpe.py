#!/usr/bin/env python3
"""Golden token ids of every kind of tokenizer.json but BERT's: small tokenizers of our own, trained on
sentences written for this, and what the `tokenizers` package makes of texts written or drawn for this.
Writes bpe/NAME/tokenizer.json and cases.jsonl.  Made with tokenizers 0.23.3."""
import itertools
import json
import os
import random
import sys

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bpe")
CORPUS = """The keeper of the lighthouse lights the lanterns, and the lanterns light the sea.
He'll say that he's seen 1234 ships in 2026; they've passed, he'd counted 56.
Der Leuchtturmwärter zählt die Schiffe über dem Meer. Für Führer: größer, schöner.
Le gardien a été réveillé à l'été; où est-il? Смотритель маяка зажигает лампы на море.
the the the light light lights lighting and and of of sea sea keeper keeper""".split("\n") * 3
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CASED = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+|\d{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+")
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
WORDS = dict(BYTES, use_regex=True)
PIECES = """the|The| the|light|lighthouse| sea|keeper|'s|'S|'\u017f|'ll|'LL|'re|n't|f\u00fcr| F\u00fchrer|\u00e9t\u00e9|e\u0301|\u00f8|Смотр|京都|한국|\u1112\u1161\u11ab|1|1234|\u00bd|\u2167|\u0664|, |.|...|!?|\u3002|_|-|"|<x>|<xy>|[MASK]|\u2028|\u0085|\u00a0|\u3000|\u200b|\u00ad|\ufeff|🙂|\u0323|\u01c5|ﬁ|Å|\u00b2|A|B\u0130|\uffff""".split("|") + \
    [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t"]
TEXTS = ["", " ", "   ", "\n", " \n \n", "The keeper of the lighthouse lights the lanterns.", "  indented\n\ttext  ",
         "he'll HE'LL he'\u017f 'tis 'Tis '", "1 12 123 1234 12345 ١٢٣٤ Ⅷ½", "Führer für ø Überfluß", "a\u0301\u0323 \u1e69 \ufb01 \u212b \u1100\u1161\u11a8",
         "end of line  \n  next", "tabs\t\there", "<x><xy> <x>y <xy>  \n[MASK]", "lights, LIGHTS; lightly!?", "\u3000wide\u3000\u3002", "x" * 90,
         # the first and last of the ranges in "classes", and their neighbours
         "a\u4e00b\u4dffc\u9fa5d\u9fa6e\uac00f\uabffg\ud7a3h\ud7a4", "\u00b4a\u00b5 b\u00b6 \u00bf\u00c0\u00d6\u00d7\u00d8 \u00f6\u00f7\u00f8 \u024f\u0250"]


# constructs of Ruby's syntax, and empty matches; the first is BLOOM's
EXPRESSIONS = [r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\h+", r"\bl", r"\X", r"(.)\1", "(?m:e.)", "l(?i)I", "[a[bc]]", "[a-z&&[^e]]", "[a-c&&b-z]", "[[:alpha:]]+", r"[^\W]",
               r"[\w]", r"\w", r"\d{1,3}+", r"\d{,2}", r"\d{3}?", r"\pL", r"\p{^Lu}", r"\p{Cyrillic}+", r"\R", "x*", "(?=l)", "^|$", "(?<=l)i", "(?<name>l)i",
               r"\u00e9|\x{fc}"]


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def sequence(*items):
    return {"type": "Sequence", "pretokenizers": list(items)}


def added(vocab, *tokens):
    made, free = [], len(vocab)
    for content, flags in tokens:
        token = {"id": vocab.get(content, free), "content": content, "single_word": False, "lstrip": False,
                 "rstrip": False, "normalized": True, "special": False}
        token.update({flag: not token[flag] for flag in flags.split()})
        free += content not in vocab
        made.append(token)
    return made


def train(characters):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>" if characters else None))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace() if characters else pre_tokenizers.ByteLevel(False)
    alphabet = [] if characters else pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=130 if characters else 390, initial_alphabet=alphabet, show_progress=False,
        special_tokens=["<unk>"] + ["<0x%02X>" % i for i in (*range(0x80, 0xC0), 0xC3, 0xE2, 0xF0)] if characters else []))
    return json.loads(tokenizer.to_str())["model"]


def kinds():
    byte, character = train(False), train(True)
    vocab, merges = byte["vocab"], byte["merges"]
    for token in ("\u0120indented", "wid"):  # whole under ignore_merges only: no merges make them
        assert token not in vocab
        vocab[token] = len(vocab)
    text = [" ".join(pair) for pair in merges]
    end = len(vocab)
    word = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 12,
            "vocab": {w: i for i, w in enumerate(["[UNK]", *"abcdefghijklmnopqrstuvwxyzA0123456789.,'!?_-²", "light", "##house", "the",
                                                   *["##" + c for c in "abcdefghijklmnopqrstuvwxyz0123456789"]])}}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    special = {"Z": {"id": "Z", "ids": [end], "tokens": ["Z"]}}
    single = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "Z", "type_id": 0}}]
    ends = {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special}
    roberta = {"type": "RobertaProcessing", "sep": ["e", 5], "cls": ["s", 4], "trim_offsets": True, "add_prefix_space": True}
    bpe = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": None,
           "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": text}
    never = "\u00f8\u00f6\u00fa\u00ff\u00f5\u00f7\u00fb\u00fd\u00c0\u00f9\u00c1\u00fe\u00fc"  # these stand for bytes that UTF-8 never has
    fewer = {token: i for i, token in enumerate(t for t in vocab if t not in never)}
    runs = [(" " * n, "") for n in range(5, 1, -1)]
    yield "neox", {"type": "NFC"}, WORDS, WORDS, bpe, added(vocab, ("<x>", "normalized special"), *runs, ("<xy>", ""), ("[MASK]", "lstrip special normalized"))
    yield "qwen", {"type": "NFC"}, sequence(split(CL100K.replace("DIGITS", "")), BYTES), {"type": "Sequence", "processors": [
        BYTES, ends]}, dict(bpe, ignore_merges=True, merges=merges), added(vocab, ("<xy>", "normalized special"), ("<x>", "normalized special"))
    yield "cl100k", None, sequence(split(CL100K.replace("DIGITS", "{1,3}"), "Removed", True), BYTES), None, dict(bpe, merges=merges), []
    yield "classes", {"type": "Sequence", "normalizers": []}, sequence(
        split("[\r\n]"), split("\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+"), split("\\s?[!-/:-~\u3000-\u3002]+"),
        split("\\s+$"), split("[\u4e00-\u9fa5\uac00-\ud7a3]+"), {"type": "Digits", "individual_digits": True}, BYTES), \
        BYTES, dict(bpe, vocab=fewer), added(fewer, ("<x>", "normalized special"), *((c, "") for c in never))
    yield "expression", {"type": "NFKC"}, sequence({"type": "Punctuation", "behavior": "Contiguous"}, split(CASED, "Isolated"), split(
        r"\w+|[^\w\s]+", "MergedWithNext"), split("l", "MergedWithPrevious", kind="String"), WORDS), None, bpe, added(vocab, ("<x>", "single_word rstrip"), ("\n\n", ""))
    yield "marks", None, sequence({"type": "Punctuation"}, BYTES), None, bpe, []
    old = dict(bpe)
    del old["type"]
    yield "old", {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": True, "strip_right": False}]}, \
        dict(WORDS, add_prefix_space=True), roberta, old, added(vocab, ("<x>", "lstrip rstrip"))
    twice = added(vocab, ("<x>", "special normalized"), ("<xy>", "special normalized"))
    twice += [dict(twice[0], lstrip=True), dict(twice[1], lstrip=True, rstrip=True)]
    yield "falcon", None, sequence({"type": "WhitespaceSplit"}, WORDS, {"type": "Digits", "individual_digits": False}, split("[0-9][0-9]"), split(
        "^a|e$", "Contiguous")), None, dict(bpe, ignore_merges=True), twice
    letters = dict(bpe, vocab=character["vocab"], merges=character["merges"], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    yield "letters", {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, {
        "type": "Replace", "pattern": {"Regex": r"\s+|\p{S}"}, "content": "_"}, {"type": "Prepend", "prepend": "_"}]}, None, {
        "type": "BertProcessing", "sep": ["e", 5], "cls": ["s", 4]}, letters, added(character["vocab"], ("The", "single_word"), ("ET", ""))
    yield "unknown", {"type": "NFD"}, {"type": "Whitespace"}, None, dict(letters, fuse_unk=False, byte_fallback=False), []
    yield "silent", {"type": "Replace", "pattern": {"String": " "}, "content": "e"}, split("e", "Removed", kind="String"), None, \
        dict(letters, byte_fallback=False, unk_token=None), []
    yield "pieces", {"type": "Sequence", "normalizers": [bert, {"type": "Replace", "pattern": {"String": "th"}, "content": "Th"}, {
        "type": "Lowercase"}]}, sequence({"type": "BertPreTokenizer"}, {"type": "Digits", "individual_digits": True}), None, word, \
        added(word["vocab"], ("[MASK]", "special"), ("Light", ""))
    marks = {name: {"id": name, "ids": [word["vocab"][name], word["vocab"]["_"]], "tokens": [name, "_"]} for name in ("the", "light")}
    single = [{"SpecialToken": {"id": name, "type_id": 0}} if name else {"Sequence": {"id": "A", "type_id": 0}} for name in ("light", "the", None, "the")]
    yield "whole", {"type": "NFKD"}, {"type": "Whitespace"}, {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": marks}, \
        dict(word, max_input_chars_per_word=100), []


def runs(rng):
    """All words of a's and b's up to five letters, merged in all ways: more merges than tokens, and often equal neighbours."""
    tokens = ["".join(letters) for length in range(1, 6) for letters in itertools.product("ab", repeat=length)]
    merges = [(token[:i], token[i:]) for token in tokens for i in range(1, len(token))]
    rng.shuffle(merges)
    texts = ["a" * n for n in (3, 5, 64, 65, 66, 67, 131)] + ["".join(rng.choice("aab") for _ in range(n)) for n in (*range(3, 50), *range(60, 200, 7))]
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
            "byte_fallback": False, "vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges}, texts


def levels():
    """Whole words: letters, digits and marks split apart; and split and normalized as by BERT, in one pass."""
    words = ["[UNK]", "the", "light", "lighthouse", "keeper", "sea", "The", "F\u00fchrer", "fuhrer", "f\u00fcr", "\u00e9t\u00e9", "ete", "A", "'", "'s", "ll", "!?", ".", ",", "...",
             "1", "12", "1234", "Смотр", "京都", "京", "\u1100\u1161\u11a8", "x", "_", "l", "lights", "sealight", "über"]
    model = {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "[UNK]"}
    yield "level", {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]}, {"type": "Whitespace"}, None, model, added(model["vocab"], ("[MASK]", "special"))
    yield "level_bert", {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}, {
        "type": "BertPreTokenizer"}, None, model, []


def main():
    rng = random.Random(5)
    texts = TEXTS + ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 9))) for _ in range(60)]
    model, those = runs(random.Random(7))
    for name, normalizer, before, after, model, tokens in (*kinds(), ("runs", None, None, None, model, []), *levels()):
        folder = os.path.join(HERE, name)
        os.makedirs(folder, exist_ok=True)
        whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": normalizer,
                 "pre_tokenizer": before, "post_processor": after, "decoder": None, "model": model}
        with open(os.path.join(folder, "tokenizer.json"), "w") as file:
            json.dump(whole, file, ensure_ascii=name == "old", separators=(",", ":"))
        reference = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        with open(os.path.join(folder, "cases.jsonl"), "w") as file:
            for text in those if name == "runs" else texts:
                reference.no_truncation()
                try:
                    ids = reference.encode(text).ids
                except BaseException:  # the reference's alignments fail on some texts
                    continue
                file.write(json.dumps({"text": text, "ids": ids}, ensure_ascii=False) + "\n")
                if len(ids) > 9 and rng.random() < 0.2:
                    reference.enable_truncation(7)
                    file.write(json.dumps({"text": text, "most": 7, "ids": reference.encode(text).ids}, ensure_ascii=False) + "\n")
    plain = Tokenizer.from_file(os.path.join(HERE, "cl100k", "tokenizer.json"))
    with open(os.path.join(HERE, "expressions.jsonl"), "w") as file:
        for pattern in EXPRESSIONS:
            # in two steps: where a replacement adds characters, the reference's alignments are too few for its ByteLevel
            replace = normalizers.Replace(Regex(pattern), "#")
            cases = [{"text": text, "ids": plain.encode(replace.normalize_str(text)).ids} for text in TEXTS]
            file.write(json.dumps({"expression": pattern, "cases": cases}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
