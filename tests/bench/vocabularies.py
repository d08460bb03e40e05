#!/usr/bin/env python3
"""vocabularies.py OUT MODELS REFERENCE [QWEN.tiktoken] - real byte-level vocabularies as tokenizer.json folders.

MODELS holds GGUF vocabularies (ggml-vocabs/) and a GPT-NeoX tokenizer (tok-gpt-neox-olmo-dolma/), REFERENCE the notes
models.md (the expressions of DeepSeek) and tokens.json; the tiktoken file of Qwen is in the wheel of the PyPI package dashscope.
Makes OUT/{gpt-2,gpt-neox,deepseek-llm,deepseek-coder,modernbert,qwen2}/tokenizer.json and OUT/NAME/cases.jsonl, the cases of
tokens.json for it; checks with the package `tokenizers` that the folders give the ids that the cases want."""
import base64
import json
import os
import re
import struct
import sys

from tokenizers import Tokenizer

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
         r"|\s+(?!\S)|\s+")
NORMAL, CONTROL, USER = 1, 3, 4  # kinds of token in GGUF


def gguf(path):
    """The metadata of a GGUF file, version 3."""
    data = open(path, "rb").read()
    plain = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
    at = 4

    def take(form):
        nonlocal at
        value = struct.unpack_from(form, data, at)[0]
        at += struct.calcsize(form)
        return value

    def value(kind):
        nonlocal at
        if kind in plain:
            return take(plain[kind])
        if kind == 8:
            length = take("<Q")
            at += length
            return data[at - length:at].decode()
        inner, count = take("<I"), take("<Q")
        return [value(inner) for _ in range(count)]

    version, _, pairs = take("<I"), take("<Q"), take("<Q")
    assert data[:4] == b"GGUF" and version in (2, 3), path
    return dict((value(8), value(take("<I"))) for _ in range(pairs))


def symbols():
    """The character that stands for each byte in byte-level vocabularies."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    return [chr(b) if b in printed else chr(next(rest)) for b in range(256)]


def added(token, number, special, **more):
    return {"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special, **more}


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def folder(out, name, vocabulary, merges, tokens, before, normalizer=None, after=None):
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": vocabulary, "merges": merges}
    whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": normalizer,
             "pre_tokenizer": before, "post_processor": after, "decoder": byte_level(True), "model": model}
    os.makedirs(f"{out}/{name}", exist_ok=True)
    with open(f"{out}/{name}/tokenizer.json", "w", encoding="utf-8") as file:
        json.dump(whole, file, ensure_ascii=False)


def from_gguf(out, name, path, before, normalizer=None):
    data = gguf(path)
    tokens, kinds = data["tokenizer.ggml.tokens"], data["tokenizer.ggml.token_type"]
    inside = {token: i for i, token in enumerate(tokens) if kinds[i] == NORMAL}
    # runs of blanks are found in normalised text, as in the original files
    outside = [added(token, i, kinds[i] == CONTROL, normalized=not token.strip())
               for i, token in enumerate(tokens) if kinds[i] in (CONTROL, USER)]
    folder(out, name, inside, data["tokenizer.ggml.merges"], outside, before, normalizer)


def deepseek(reference):
    """The pre-tokenizers of DeepSeek; the classes of letters are taken from the notes."""
    notes = open(f"{reference}/models.md", encoding="utf-8").read()
    notes = notes[notes.index("- DeepSeek-MoE (deepseek-llm tokenizer)"):]
    # the notes are in NFC, which took some ends of ranges for their equivalents
    for wrong, right in (("\u1f5f-\u03ce", "\u1f5f-\u1f7d"), ("\u1fd0-\u0390", "\u1fd0-\u1fd3"),
                         ("\u1fd6-\u038a", "\u1fd6-\u1fdb"), ("\u2128K-", "\u2128\u212a-"),
                         ("\u03a9\u2128", "\u2126\u2128"), ("\u1fbc\u03b9", "\u1fbc\u1fbe")):
        assert wrong in notes, wrong
        notes = notes.replace(wrong, right)
    steps = [re.search(rf"\b{i} `([^`]*)`", notes).group(1) for i in (2, 3, 4, 5)]
    return {"type": "Sequence", "pretokenizers": [split("[\r\n]"), *map(split, steps),
            {"type": "Digits", "individual_digits": True}, byte_level(False)]}


def modernbert(out, path):
    """GPT-NeoX's vocabulary with the special tokens and the template of BERT."""
    whole = json.load(open(path, encoding="utf-8"))
    whole["added_tokens"] = [token for token in whole["added_tokens"] if not token["content"].startswith("<|endof")]
    names = ["<|endoftext|>", "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    whole["added_tokens"] += [added(token, 50279 + i, True, lstrip=token == "[MASK]") for i, token in enumerate(names)]
    whole["added_tokens"] += [added(f"[unused{i}]", 50285 + i, False, normalized=True) for i in range(83)]
    whole["model"]["vocab"].pop("<|endoftext|>", None)
    special = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in
               (("[CLS]", 50281), ("[SEP]", 50282))}
    ends = [{"SpecialToken": {"id": name, "type_id": 0}} for name in special]
    text = [{"Sequence": {"id": i, "type_id": 0}} for i in "AB"]
    whole["post_processor"] = {"type": "TemplateProcessing", "single": [ends[0], text[0], ends[1]],
                               "pair": [ends[0], text[0], ends[1], text[1], ends[1]], "special_tokens": special}
    os.makedirs(f"{out}/modernbert", exist_ok=True)
    json.dump(whole, open(f"{out}/modernbert/tokenizer.json", "w", encoding="utf-8"), ensure_ascii=False)


def parts_of(token, ranks, below):
    """A token as the two that were merged into it: what merging with the ranks below its own leaves."""
    parts = [bytes([byte]) for byte in token]
    while True:
        best = min(((ranks.get(a + b, below), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))), default=(below, 0))
        if best[0] >= below:
            return parts
        parts[best[1]:best[1] + 2] = [parts[best[1]] + parts[best[1] + 1]]


def qwen2(out, path):
    ranks = {}
    for line in open(path, "rb"):
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    symbol = symbols()

    def spell(token):
        return "".join(symbol[byte] for byte in token)

    merges = [[spell(part) for part in parts_of(token, ranks, rank)]
              for token, rank in sorted(ranks.items(), key=lambda item: item[1]) if len(token) > 1]
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [added(token, len(ranks) + i, True) for i, token in enumerate(specials)]
    folder(out, "qwen2", {spell(token): rank for token, rank in ranks.items()}, merges, tokens,
           {"type": "Sequence", "pretokenizers": [split(QWEN2), byte_level(False)]}, {"type": "NFC"})


def check(out, name, cases):
    tokenizer = Tokenizer.from_file(f"{out}/{name}/tokenizer.json")
    specials = name == "modernbert"
    with open(f"{out}/{name}/cases.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(case) + "\n" for case in cases)
    wrong = [case for case in cases if tokenizer.encode(case["text"], add_special_tokens=specials).ids != case["ids"]]
    print(f"{name}: {len(cases)} cases, {len(wrong)} that `tokenizers` answers otherwise")
    for case in wrong[:3]:
        print(" ", ascii(case["text"])[:100], case["ids"][:20],
              tokenizer.encode(case["text"], add_special_tokens=specials).ids[:20])


def main():
    out, models, reference = sys.argv[1:4]
    vocabularies = f"{models}/ggml-vocabs/ggml-vocab-"
    blanks = {"type": "NFC"}
    from_gguf(out, "gpt-2", f"{vocabularies}gpt-2.gguf", byte_level(True))
    from_gguf(out, "gpt-neox", f"{vocabularies}gpt-neox.gguf", byte_level(True), blanks)
    for name in "deepseek-llm", "deepseek-coder":
        from_gguf(out, name, f"{vocabularies}{name}.gguf", deepseek(reference))
    modernbert(out, f"{models}/tok-gpt-neox-olmo-dolma/tokenizer.json")
    if len(sys.argv) > 4:
        qwen2(out, sys.argv[4])
    cases = json.load(open(f"{reference}/tokens.json", encoding="utf-8"))
    for name, key in (("deepseek-llm", "deepseek-llm"), ("qwen2", "qwen2"), ("gpt-neox", "gpt-neox"),
                      ("modernbert", "ModernBERT")):
        if os.path.exists(f"{out}/{name}"):
            check(out, name, next(value for other, value in cases.items() if other.startswith(key)))


if __name__ == "__main__":
    main()
