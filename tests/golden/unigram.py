#!/usr/bin/env python3
"""Golden token ids of Unigram and of BPE with byte fallback: small vocabularies that sentencepiece and `tokenizers` learn from sentences
written for this, in the pipelines that published files have, and what `tokenizers` makes of texts written or drawn for this.
Writes unigram/inputs.jsonl and unigram/NAME/{tokenizer.json,ids.txt,texts.jsonl}: the inputs' ids, a line each, and what those decode to,
without and with special tokens.

unigram.py --compare BUILD FOLDER FILE... learns larger vocabularies from FILEs (JSON Lines, plain or compressed) into FOLDER, the charsmaps
whole, one of 250,000 pieces among them, and has tests/bench/tokens.py compare every string of FILEs and 100,000 drawn from all planes; then
says how long opening takes.  Exits 1 on any difference.  Made with tokenizers 0.23.3, sentencepiece 0.2.2."""
import base64
import io
import json
import os
import random
import struct
import subprocess
import sys
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unigram")
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench")
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
BYTES = ["<0x%02X>" % byte for byte in range(256)]
CORPUS = """The keeper of the lighthouse lights the lanterns, and the lanterns light the sea.
He'll say that he's seen 1234 ships in 2026; they've passed, he'd counted 56.
Der Leuchtturmwärter zählt die Schiffe über dem Meer. Für Führer: größer, schöner.
Le gardien a été réveillé à l'été; où est-il? Смотритель маяка зажигает лампы на море.
the the the light light lights lighting and and of of sea sea keeper keeper""".split("\n") * 3
PIECES = """the|The| the|light|lighthouse| sea|keeper|'s|fi|für| Führer|été|e\u0301|e\u0301\u0301|\ufb01|\ufb01\u0301|\u00bd|\u00bd\u0301|\uff1cs\uff1e|\uff21|Смотр|
京都|한국|\u1112\u1161\u11ab|1|12|, |.|...|``|''|-|<s>|</s>|<unk>|<mask>| <mask>|<x>|<0x41>|\u2581|\u2581the|\u2028|\u0085|\u00a0|\u3000|\u200b|\u200d|\u00ad|\ufeff|\u007f|\u0001|
\u0600|\u094d|\u0915|\u0958|\u0301|\u0327|\u00a9|\u00b4|\uff9e|\U0001f642|\U0001f469\u200d\U0001f4bb|\U000e0041|a|b|E|\u0130|\uffff|\u0000""".replace("\n", "").split("|") + \
    [" ", "  ", "   ", "\n", "\r\n", "\r", "\t"]
TEXTS = ["", " ", "   ", "\n", "the", " the", "the ", "  the  sea ", "The keeper of the lighthouse lights the lanterns.", "\tthe\n\nsea\r\n", "<s>the<unk>sea</s>",
         "the <mask> sea", "x<mask>", "the<x>sea <x> x", "xyz", "qqq qqq", "日本the", "日本 語", "e\u0301te\u0301 E\u0301\u0301", "\ufb01re \ufb01\u0301 \u00bd\u0301 a\u0301 \u212b A\u030a",
         "a\uff1cs\uff1eb", "\u2581the\u2581sea", "\u007fthe sea", "\u0001 the", "\u00b4the", "``the'' light", "the\u00a0sea\u3000of\u200blight", "\u1112\u1161\u11ab 한국", "x" * 60, "the " * 44,
         "\u0915\u094d\u0958\u0301", "\u0600e\u0301", "\u00ade\u0301", "\r\u0301\n\u0301", "e\u0301\U0001f642e\u0301\u0301\u0301", "\u0301e", "a<0x41>b", "\U0001f642\u00e9\u0416"]


def charsmap(pairs):
    """A precompiled_charsmap of texts and their replacements: a double array by first fit."""
    text, place, trie = bytearray(), {}, {}
    for key, value in sorted(pairs.items()):
        if value not in place:
            place[value] = len(text)
            text += value.encode() + b"\0"
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = place[value]
    units, used, bases, todo = [0] * 256, {0}, set(), [(trie, 0, 0)]
    while todo:
        node, index, label = todo.pop(0)
        base = 1
        while base in bases or any(base ^ byte in used for byte in node):
            base += 1
        bases.add(base)
        while (base | 255) >= len(units):
            units += [0] * 256
        units[index] = (index ^ base) << 10 | (0 in node) << 8 | label
        for byte, child in node.items():
            used.add(base ^ byte)
            if byte:
                todo.append((child, base ^ byte, byte))
            else:
                units[base] = 1 << 31 | child
    return base64.b64encode(struct.pack("<I", 4 * len(units)) + struct.pack("<%dI" % len(units), *units) + bytes(text)).decode()


def small_charsmap():
    """nmt_nfkc's entries for the characters of the texts above, and a few others."""
    pairs = {c: " " for c in "\t\n\r\u00a0\u3000\u200b\u2581\u2028\ufeff"}
    pairs.update({c: "" for c in "\u0001\u007f\u200d"})
    pairs.update({letter + mark: unicodedata.normalize("NFC", letter + mark) for letter in "aeiouAEIOU" for mark in "\u0300\u0301\u0308"})
    pairs.update({c: unicodedata.normalize("NFKC", c) for c in "\ufb01\u00bd\u212b\uff1c\uff1e\uff21\u00b4\uff9e\u0958"})
    return charsmap({**pairs, "A\u030a": "\u00c5", "\u00a9": "(c)", "\u0600": "\u0601", "lx": "l"})


def learn(texts, size, rule="identity", **more):
    """Pieces and charsmap of a model that sentencepiece learns."""
    to = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=to, vocab_size=size, normalization_rule_name=rule, pad_id=1, bos_id=0, eos_id=2,
                                             unk_id=3, hard_vocab_limit=False, minloglevel=2, num_threads=1, **more)
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(to.getvalue())
    return [[piece.piece, piece.score] for piece in model.pieces], base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()


def learn_here(texts, size):
    """The pieces that `tokenizers` learns."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=size, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False))
    return json.loads(tokenizer.to_str())["model"]["vocab"]


def unigram(vocab, **more):
    return {"type": "Unigram", "unk_id": 3, "vocab": vocab, "byte_fallback": False, **more}


def added(content, number, **more):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **more}


def sequence(kind, *items):
    return {"type": "Sequence", kind: list(items)}


def metaspace(scheme="always", split=True):
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}


def replace(pattern, content, kind="Regex"):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def template(before, after):
    def special(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}
    single = [special(name) for name in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [special(name) for name in after]
    return {"type": "TemplateProcessing", "single": single, "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [SPECIALS.index(name)], "tokens": [name]} for name in SPECIALS}}


ROBERTA = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True}
WORDS = {"type": "WhitespaceSplit"}
RIGHT = {"type": "Strip", "strip_left": False, "strip_right": True}
FALLBACK = sequence("decoders", replace("\u2581", " ", "String"), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0})
ALBERT = [replace("``", '"', "String"), replace("''", '"', "String"), {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]


def pipelines(pieces, more_bytes, here, map):
    """By name: model, normalizer, pre_tokenizer, post_processor, decoder, further added tokens."""
    precompiled = {"type": "Precompiled", "precompiled_charsmap": map}
    spaces = replace(" {2,}", "\u2581")
    yield "xlmr", unigram(pieces), precompiled, sequence("pretokenizers", WORDS, metaspace()), ROBERTA, metaspace(), []
    yield "m3", unigram(more_bytes, byte_fallback=True), sequence("normalizers", precompiled, replace(" {2,}", " ")), metaspace(), template(["<s>"], ["</s>"]), FALLBACK, []
    yield "t5", unigram(pieces), sequence("normalizers", precompiled, RIGHT, spaces), metaspace("first"), template([], ["</s>"]), metaspace("first"), []
    yield "albert", unigram(pieces), sequence("normalizers", *ALBERT, precompiled, replace(" {2,}", " ")), sequence("pretokenizers", WORDS, metaspace()), template(
        ["<s>"], ["</s>"]), metaspace(), []
    old = unigram(here)
    del old["type"], old["byte_fallback"]
    yield "old", old, {"type": "NFKC"}, {"type": "Metaspace", "replacement": "\u2581", "str_rep": "\u2581", "add_prefix_space": True}, None, {
        "type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True}, [("<x>", {"normalized": True, "special": False})]
    yield "never", unigram(here), None, metaspace("never", False), None, metaspace("never"), [("<x>", {"rstrip": True})]
    yield "words", unigram(pieces), sequence("normalizers", precompiled, replace("``", '"', "String"), {"type": "Strip", "strip_left": True, "strip_right": True}), sequence(
        "pretokenizers", WORDS, {"type": "Punctuation", "behavior": "Isolated"}, metaspace("first")), None, None, [("the", {"normalized": True, "single_word": True})]


def learn_bpe(texts, size):
    """Merges of characters, with a token for each byte, as Llama's and Gemma's files have them."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=SPECIALS + BYTES, show_progress=False))
    return json.loads(tokenizer.to_str())["model"]


def bpe_pipelines(model):
    model = {**model, "fuse_unk": True, "byte_fallback": True}
    blank = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    yield "llama", model, sequence("normalizers", {"type": "Prepend", "prepend": "\u2581"}, replace(" ", "\u2581", "String")), None, template(["<s>"], []), FALLBACK, []
    yield "mistral", model, None, metaspace("first", False), template(["<s>"], []), FALLBACK, []
    yield "gemma", {**model, "ignore_merges": True}, replace(" ", "\u2581", "String"), blank, template(["<s>"], ["</s>"]), sequence(
        "decoders", replace("\u2581", " ", "String"), {"type": "ByteFallback"}, {"type": "Fuse"}), []
    few = {**model, "vocab": {"" if piece == "<0xE6>" else piece: number for piece, number in model["vocab"].items()}}
    yield "unknown", few, sequence("normalizers", {"type": "Prepend", "prepend": "\u2581"}, replace(" ", "\u2581", "String")), None, None, FALLBACK, []


def write(folder, name, model, normalizer, before, after, decoder, more):
    """Writes the file; returns the reference tokenizer that reads it."""
    end = len(model["vocab"])
    tokens = [added(piece, i) for i, piece in enumerate(SPECIALS)] + [added("<mask>", end, lstrip=True)]
    for content, flags in more:
        known = [i for i, (piece, _) in enumerate(model["vocab"]) if piece == content]
        tokens.append(added(content, known[0] if known else end + 1, **flags))
    whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": normalizer, "pre_tokenizer": before, "post_processor": after,
             "decoder": decoder, "model": model}
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    path = os.path.join(folder, name, "tokenizer.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file, ensure_ascii=False, separators=(",", ":"))
    return Tokenizer.from_file(path)


def golden():
    pieces, _ = learn(CORPUS, 110)
    with_bytes, _ = learn(CORPUS, 110 + 256, byte_fallback=True)
    here = learn_here(CORPUS, 110)
    # a piece twice: the later counts; an unknown run that is a piece; scores that the reference's reader rounds twice
    pieces += [["\u2581the", -2.5], ["qqq", -99.0], ["ab", -15.275492379532281], ["xz", 0.1]]
    rng = random.Random(5)
    texts = TEXTS + ["".join(rng.choice(PIECES) for _ in range(rng.randint(1, 9))) for _ in range(30)]
    os.makedirs(HERE, exist_ok=True)
    with open(os.path.join(HERE, "inputs.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    for name, *parts in (*pipelines(pieces, with_bytes, here, small_charsmap()), *bpe_pipelines(learn_bpe(CORPUS, 300))):
        reference = write(HERE, name, *parts)
        with open(os.path.join(HERE, name, "ids.txt"), "w") as lines, open(os.path.join(HERE, name, "texts.jsonl"), "w", encoding="utf-8") as back:
            for text in texts:
                ids = reference.encode(text).ids
                lines.write(" ".join(map(str, ids)) + "\n")
                back.write(json.dumps([reference.decode(ids, skip_special_tokens=skip) for skip in (True, False)], ensure_ascii=False) + "\n")


def compare(build, folder, files):
    sys.path.insert(0, BENCH)
    import tokens
    texts = [text for path in files for text in tokens.read(path)]
    rng = random.Random(1)
    sample = [text[:300] for text in rng.sample(texts, min(len(texts), 4000)) if text.strip()]
    words = sorted({word for text in texts for word in text.split()})
    nmt, nmt_map = learn(sample, 6000, "nmt_nfkc")
    nfkc, nfkc_map = learn(sample, 6000, "nfkc", byte_fallback=True)
    identity, _ = learn(sample, 6000)
    fold, fold_map = learn(sample, 6000, "nmt_nfkc_cf")
    here = learn_here(sample, 6000)
    large, known = list(nmt), {piece for piece, _ in nmt}
    while len(large) < 250000:
        word = "\u2581" + rng.choice(words)
        start = rng.choice((0, 0, 1, 2))
        piece = word[start:start + rng.randint(2, 14)]
        if piece not in known:
            known.add(piece)
            large.append([piece, -rng.uniform(9, 16)])
    for name, *parts in (*pipelines(nmt, nfkc, here, nmt_map), *((f"nfkc_{name}", *parts) for name, *parts in pipelines(nfkc, nfkc, here, nfkc_map)),
                         *((f"fold_{name}", *parts) for name, *parts in pipelines(fold, nfkc, here, fold_map) if name in ("xlmr", "words")),
                         ("identity", unigram(identity), None, metaspace("always", False), None, None, []),
                         ("large", unigram(large), {"type": "Precompiled", "precompiled_charsmap": nmt_map}, sequence("pretokenizers", WORDS, metaspace()), ROBERTA, None, []),
                         *bpe_pipelines(learn_bpe(sample, 6000))):
        write(folder, name, *parts)
    marks = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c))[0] == "M" or unicodedata.category(chr(c)) in ("Cf", "Cc")]
    planes = [lambda: chr(rng.choice((rng.randrange(0x110000), rng.randrange(0x3000), rng.randrange(0x800), rng.randrange(0x80)))), lambda: rng.choice(marks),
              lambda: rng.choice(PIECES), lambda: rng.choice(words)[:12] + " "]
    with open(os.path.join(folder, "drawn.jsonl"), "w") as file:
        for _ in range(100000):
            drawn = "".join(rng.choice(planes)() for _ in range(rng.randint(1, 12)))
            file.write(json.dumps("".join(c for c in drawn if not 0xD800 <= ord(c) < 0xE000)) + "\n")
    wrong = 0
    for name in sorted(os.listdir(folder)):
        if os.path.isdir(os.path.join(folder, name)):
            print(f"== {name}", flush=True)
            wrong += subprocess.run([sys.executable, os.path.join(BENCH, "tokens.py"), build, os.path.join(folder, name), *files, os.path.join(folder, "drawn.jsonl")]).returncode
    return wrong > 0


if __name__ == "__main__":
    sys.exit(compare(sys.argv[2], sys.argv[3], sys.argv[4:]) if sys.argv[1:2] == ["--compare"] else golden())
