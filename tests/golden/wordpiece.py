#!/usr/bin/env python3
"""Golden token ids: small tokenizers of our own, and what the `tokenizers` package makes of texts
that were written or drawn for this purpose.  Writes token/NAME/tokenizer.json and cases.jsonl.
Made with tokenizers 0.23.3."""
import json
import os
import random
import sys

from tokenizers import Tokenizer

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "token")
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = """the keep ##er of light ##house lights lantern lamp ##s ##ing ##ed ##ly un ##light storm sea
su ##ul stra ##ß ##e cafe resume naive Uber uber Ωmega ωmega 東 京 タ ##ワ 한 ##국 ᄒ ##ᅡ ##ᆫ ##ᄀ ##ᅮ ##ᆨ""".split()
SENTENCES = """The keeper of the lighthouse lights the lanterns.|Unlighted lamps; stormy seas!
Café, RÉSUMÉ, naïve Über Straße — Ωmega|東京タワー 한국 x|[CLS] the [MASK] [SEP]ed|[mask] [ MASK ]
keeper's don't can't U.S.A. 3.14 $5 ^_^ ~|a\u200bb\u00a0c\td\u000be|\ufeffthe\u00adkeeper|e\u0301\u0323
\u1e0b\u0323 \u0344 \u1f71|İstanbul I\u0307 ıIİ|ǅ ǈ ẞ ß ΑΣ ς|\U0001d400\U0001d7d8 \U0001f300|ﬁ ﬂ Å Å
\u0000keeper\ufffd|\ue000 \U000f0000|\u2028the\u2029of\u0085sea|«the» “of” ‘sea’ … ‐ – —|१२३ ٣ Ⅷ ½""".replace("\n", "|").split("|")


def words():
    return list(dict.fromkeys(SPECIALS + [c for c in "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()[]-—$^_~"] + [
        "##" + c for c in "abcdefghijklmnopqrstuvwxyz0123456789"] + PIECES))


def special(content, i, **flags):
    token = {"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
    token.update(flags)
    return token


def tokenizer(vocab, lowercase, added, post):
    return {"version": "1.0", "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
            "padding": None, "added_tokens": [special(s, i) for i, s in enumerate(SPECIALS)] + added,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": None, "lowercase": lowercase},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": post, "decoder": None,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 20, "vocab": {w: i for i, w in enumerate(vocab)}}}


def template(single):
    pieces = [{"Sequence": {"id": "A", "type_id": 0}} if s == "A" else {"SpecialToken": {"id": s, "type_id": 0}}
              for s in single]
    return {"type": "TemplateProcessing", "single": pieces,
            "pair": pieces + [{"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {s: {"id": s, "ids": [SPECIALS.index(s)], "tokens": [s]} for s in single if s != "A"}}


def texts(rng):
    yield ""
    yield " "
    yield from SENTENCES
    yield "keep" * 5
    yield "keep" * 5 + "s"
    marks = "\u0301\u0323\u0344\u0345\u302e\u302f\u16ff\u0591\u05b0\U0001d165\U00016ff0\u08d3\u08d4\u1abf"
    for _ in range(60):
        yield "".join(rng.choice("aKé京한 " + marks) for _ in range(rng.randint(1, 9)))
    for _ in range(120):
        yield "".join(rng.choice(["the", "Keeper", " ", "[MASK]", "<a>", "<ab>", "Sea", ".", "é", "\t", "x", "unlight"])
                      for _ in range(rng.randint(1, 12)))
    for _ in range(60):
        codes = [rng.choice([rng.randrange(1, 0x250), rng.randrange(1, 0x3100), rng.randrange(0xE000, 0x20000)])
                 for _ in range(rng.randint(1, 8))]
        yield "".join("a" + chr(c) for c in codes if not 0xD800 <= c < 0xE000)


def main():
    rng = random.Random(11)
    vocab = words()
    n = len(vocab)
    added = [special("<a>", n, single_word=True, special=False), special("<ab>", n + 1, lstrip=True, rstrip=True),
             special("Sea", n + 2, normalized=True, special=False), special("unlight", n + 3, single_word=True),
             special("the", vocab.index("the"), rstrip=True, special=False, normalized=True)]
    kinds = {"plain": tokenizer(vocab, True, [], template(["[CLS]", "A", "[SEP]"])),
             "cased": tokenizer(vocab, False, [], {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}),
             "added": tokenizer(vocab, True, added, template(["A", "[SEP]", "[SEP]"])),
             "bare": tokenizer(vocab, True, [], None)}
    cases = list(texts(rng))
    for name, kind in kinds.items():
        folder = os.path.join(HERE, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "tokenizer.json"), "w") as file:
            json.dump(kind, file, ensure_ascii=name != "cased")
        reference = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        reference.no_padding()
        with open(os.path.join(folder, "cases.jsonl"), "w") as file:
            for text in cases:
                reference.no_truncation()
                ids = reference.encode(text).ids
                file.write(json.dumps({"text": text, "ids": ids}) + "\n")
                if len(ids) > 5:
                    reference.enable_truncation(5)
                    file.write(json.dumps({"text": text, "most": 5, "ids": reference.encode(text).ids}) + "\n")
    with open(os.path.join(HERE, "plain", "vocab.txt"), "w") as file:
        file.write("".join(w + "\n" for w in vocab))


if __name__ == "__main__":
    sys.exit(main())
