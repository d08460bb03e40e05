#!/usr/bin/env python3
"""Golden traits and mappings of all code points, as the `tokenizers` package has them, one a line in unicode.tsv: name, number
of code points or bytes, CRC-32 of their UTF-8.  Made with tokenizers 0.23.3."""
import base64
import os
import zlib

from tokenizers import Regex
from tokenizers.normalizers import NFC, NFD, NFKC, NFKD, BertNormalizer, Lowercase, Precompiled, StripAccents
from tokenizers.pre_tokenizers import Digits, Punctuation, Split, Whitespace, WhitespaceSplit

from unigram import charsmap

HERE = os.path.dirname(os.path.abspath(__file__))
CODES = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# characters that decompose, compose or are marks lie in these ranges
NORMAL = [c for c in CODES if ord(c) < 0x3400 or 0xA000 <= ord(c) < 0xAD00 or 0xD700 <= ord(c) < 0x20000 or
          0x2F800 <= ord(c) < 0x2FA20 or 0xE0000 <= ord(c) < 0xE0200]
AFTER = "\u0301\u0323", "\u1161\u11a8", "\u11a8"


def without(pretokenizer):
    """Characters that no piece contains."""
    kept = set()
    for _, (start, end) in pretokenizer.pre_tokenize_str("".join(CODES)):
        kept.update(range(start, end))
    return [c for i, c in enumerate(CODES) if i not in kept]


def digits():
    """Characters that form a piece between two others."""
    pieces = Digits(individual_digits=True).pre_tokenize_str("".join(c + "\0" for c in CODES))
    return [piece for piece, (start, end) in pieces if end == start + 1 and start % 2 == 0]


def stripped(normalizer, codes=CODES):
    return [c for c in codes if not normalizer.normalize_str(c)]


def word():
    """Characters that join the piece of the letter before them."""
    pieces = Whitespace().pre_tokenize_str("".join("a" + c for c in CODES))
    return [CODES[i // 2] for _, (start, end) in pieces for i in range(start + 1 + start % 2, end, 2)]


def plain(**more):
    settings = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return BertNormalizer(**{**settings, **more})


def clusters():
    """Characters that extend a cluster; that join two consonants; that a linked consonant joins. A charsmap replaces a cluster of less
    than six bytes as a whole, with the mark at its end."""
    a, ka, kha = (Precompiled(base64.b64decode(charsmap({key: "x"}))) for key in ("a", "\u0915", "\u0916"))
    codes = [c for c in CODES[1:] if c != "a"]
    yield "extends", [c for c in codes if a.normalize_str("a" + c) == "x"]
    yield "joins", [c for c in codes if ka.normalize_str("\u0915" + c + "\u0915\u0301").endswith("\u0301")]
    yield "linked", [c for c in codes if kha.normalize_str(c + "\u094d\u0916\u0301").endswith("\u0301")]


def main():
    lines = []

    def add(name, texts):
        whole = "".join(texts).encode()
        lines.append(f"{name}\t{len(texts) if isinstance(texts, list) else len(whole)}\t{zlib.crc32(whole)}\n")

    same = [c for c in CODES if NFD().normalize_str(c) == c]
    removed = set(stripped(plain(clean_text=True))) - {"\ufffd"} | set("\t\n\r")
    add("space", without(WhitespaceSplit()))
    add("punct", without(Punctuation("removed")))
    add("mark", stripped(plain(strip_accents=True), same))
    add("control", sorted(removed))
    add("letter", without(Split(Regex(r"\p{L}"), "removed")))
    add("number", without(Split(Regex(r"\p{N}"), "removed")))
    add("word", word())
    add("numeric", digits())
    add("combining", stripped(StripAccents()))
    add("lower", Lowercase().normalize_str("".join(CODES)))
    one = "".join(c + "\n" for c in NORMAL)
    more = "".join("".join(c + after for after in AFTER) + "\n" for c in NORMAL)
    for form in NFC, NFD, NFKC, NFKD:
        add(form.__name__, form().normalize_str(one + more))
        add(form.__name__ + " of NFD", form().normalize_str(NFD().normalize_str(one)))
    for name, codes in clusters():
        add(name, codes)
    with open(os.path.join(HERE, "unicode.tsv"), "w", encoding="utf-8") as file:
        file.writelines(lines)


main()
