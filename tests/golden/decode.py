#!/usr/bin/env python3
"""Golden texts of token ids: small tokenizers of our own with every kind of decoder, ids drawn at random (some of no
token), and what the `tokenizers` package makes of them.  Writes decode/NAME/{tokenizer.json,ids.txt,texts.jsonl}, a line
of texts for each line of ids: without the special tokens, and with them.  Made with tokenizers 0.23.3."""
import json
import os
import random

from tokenizers import Tokenizer

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decode")
SPECIALS = ["[UNK]", "[CLS]", "[SEP]"]
WORDS = "lamp ##s ##ed sea . , ? ! ' do not n't 've 're 'm ## #s ##'".split(" ") + ["do not", " .", "ñ", "##é"]
BYTES = ["Ġ", "Ċ", "Ã", "©", "ã", "ģ", "Ĥ", "a", "b", "Ġthe", "lamp", "ÃŁ", "ð", "Ł", "Į", "Ģ", "Ŀ"]
FALLBACK = ["▁", "▁lamp", "s", "<0xE2>", "<0x98>", "<0x83>", "<0xFF>", "<0x41>", "<0xe2>", "é", "▁▁"]


def added(content, number, special=True):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special}


def write(name, decoder, model, tokens):
    vocabulary = {token: i for i, token in enumerate(SPECIALS + tokens)}
    extra = [added("<old>", len(vocabulary), False), added("日é", len(vocabulary) + 1, False)]
    whole = {"version": "1.0", "truncation": None, "padding": None, "normalizer": None, "pre_tokenizer": None,
             "added_tokens": [added(token, i) for i, token in enumerate(SPECIALS)] + extra,
             "post_processor": None, "decoder": decoder, "model": {**model, "unk_token": "[UNK]", "vocab": vocabulary}}
    os.makedirs(f"{HERE}/{name}", exist_ok=True)
    with open(f"{HERE}/{name}/tokenizer.json", "w", encoding="utf-8") as file:
        json.dump(whole, file, ensure_ascii=False)
    tokenizer = Tokenizer.from_file(f"{HERE}/{name}/tokenizer.json")
    chance = random.Random(3)
    with open(f"{HERE}/{name}/ids.txt", "w") as ids, open(f"{HERE}/{name}/texts.jsonl", "w") as texts:
        for i in range(40):
            drawn = [chance.randrange(len(vocabulary) + 4) for _ in range(chance.randrange(1, 9))]
            ids.write(" ".join(map(str, drawn)) + "\n")
            texts.write(json.dumps([tokenizer.decode(drawn, skip_special_tokens=skip) for skip in (True, False)]) + "\n")


def main():
    wordpiece = {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    bpe = {"type": "BPE", "merges": []}
    write("none", None, wordpiece, WORDS)
    write("wordpiece", {"type": "WordPiece", "prefix": "##", "cleanup": True}, wordpiece, WORDS)
    write("wordpiece_raw", {"type": "WordPiece", "prefix": "##", "cleanup": False}, wordpiece, WORDS)
    write("bytes", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, bpe, BYTES)
    write("fallback", {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}, {**bpe, "byte_fallback": True}, FALLBACK)
    for scheme in "always", "never":
        write(f"metaspace_{scheme}", {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}, bpe,
              ["▁", "▁lamp", "s", "▁▁sea▁", "é▁", "a b", " "])
    write("strip", {"type": "Strip", "content": "s", "start": 1, "stop": 2}, bpe,
          ["sea", "ssass", "seas", "seass", "seasss", "as", "sassafras", "ß", "é"])


if __name__ == "__main__":
    main()
