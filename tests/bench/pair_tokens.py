#!/usr/bin/env python3
"""pair_tokens.py [-n PAIRS] BUILD FOLDER FILE... - ids and second segments of pairs of texts by tok --pair against those of
transformers: 500 pairs of strings of the FILEs (JSON Lines, plain or compressed), a third of them of the first words of a string, in
each mode of truncation, to lengths from 8 to 512.
A FOLDER whose pairs have no special tokens is compared again with those of XLM-RoBERTa and RoBERTa around them.
Needs the package transformers.  Exits 1 on any difference."""
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="true")
import transformers

from tokens import read

MODES = [("longest_first", "right"), ("longest_first", "left"), ("only_second", "right"), ("only_second", "left"), ("none", "right")]
LENGTHS = [8, 16, 33, 64, 128, 512]


def folders(folder, work):
    """(name, folder): the tokenizer, and if its pairs have no special tokens, also with <s> first </s></s> second </s>."""
    whole = json.load(open(folder + "/tokenizer.json"))
    name = os.path.basename(folder)
    if os.path.exists(folder + "/tokenizer_config.json"):
        yield name, folder
    else:
        yield name, copy(work + "/bare", whole)
    if "SpecialToken" in json.dumps(whole["post_processor"]):
        return
    vocabulary = whole["model"]["vocab"]
    ids = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
    next_id = max(*ids, *(token["id"] for token in whole["added_tokens"])) + 1
    parts = {"A": {"Sequence": {"id": "A", "type_id": 0}}, "B": {"Sequence": {"id": "B", "type_id": 0}}}
    specials = {}
    for i, (letter, text) in enumerate((("<", "<s>"), ("/", "</s>"))):
        whole["added_tokens"].append({"id": next_id + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                                      "normalized": False, "special": True})
        specials[text] = {"id": text, "ids": [next_id + i], "tokens": [text]}
        parts[letter] = {"SpecialToken": {"id": text, "type_id": 0}}
    whole["post_processor"] = {"type": "TemplateProcessing", "special_tokens": specials,
                               "single": [parts[c] for c in "<A/"], "pair": [parts[c] for c in "<A//B/"]}
    yield name + " with </s>", copy(work + "/around", whole)


def copy(folder, whole):
    os.mkdir(folder)
    json.dump(whole, open(folder + "/tokenizer.json", "w"))
    json.dump({"tokenizer_class": "PreTrainedTokenizerFast"}, open(folder + "/tokenizer_config.json", "w"))
    return folder


def draw(texts, count):
    """Pairs; a first text is often short, as a query is, and sometimes empty."""
    chance = random.Random(7)
    for _ in range(count):
        first, second = chance.choice(texts), chance.choice(texts)
        if chance.random() < 1 / 3:
            first = " ".join(first.split(" ")[: chance.randrange(12)])
        yield first, second


def wanted(tokenizer, mode, side, most, pairs):
    """(pairs that fit the mode, their ids and second segments)"""
    tokenizer.truncation_side = side
    if mode == "only_second":  # the first alone must leave a token's room
        special = tokenizer.num_special_tokens_to_add(pair=True)
        lengths = [len(ids) for ids in tokenizer([a for a, _ in pairs], add_special_tokens=False)["input_ids"]] if pairs else []
        both = [len(ids) for ids in tokenizer(pairs)["input_ids"]] if pairs else []
        pairs = [pair for pair, first, whole in zip(pairs, lengths, both) if first + special < most or whole <= most]
    if not pairs:
        return [], []
    limit = {} if mode == "none" else {"truncation": mode, "max_length": most}
    made = tokenizer(pairs, **limit)
    kinds = made.get("token_type_ids") or [[]] * len(pairs)
    return pairs, [{"ids": ids, "second": types.index(1) if 1 in types else 0} for ids, types in zip(made["input_ids"], kinds)]


def found(build, folder, mode, side, most, pairs):
    lines = "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in pairs).encode()
    limit = ["--max-length", "16000000"] if mode == "none" else ["--max-length", str(most), "--truncation", mode]
    command = [build + "/bin/tok", "-q", "-m", folder, "--pair", "-f", "a", "-f", "b", "--format", "jsonl", "--truncation-side", side, *limit]
    stream = subprocess.run(command, input=lines, check=True, stdout=subprocess.PIPE).stdout
    rows = subprocess.run([build + "/bin/mts", "to", "jsonl"], input=stream, check=True, stdout=subprocess.PIPE).stdout
    return [{"ids": row["pair.ids"], "second": row["pair.second"]} for row in map(json.loads, rows.splitlines())]


def compare(build, folder, name, pairs):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    wrong = 0
    for mode, side in MODES:
        differ = cut = compared = 0
        for at, most in enumerate(LENGTHS):
            some, want = wanted(tokenizer, mode, side, most, pairs[at :: len(LENGTHS)])
            have = found(build, folder, mode, side, most, some) if some else []
            assert len(have) == len(want)
            for pair, w, h in zip(some, want, have):
                if w != h and differ < 3:
                    print(ascii(pair)[:300], most, "\n  wanted", w, "\n  found ", h)
                differ += w != h
            compared += len(some)
            cut += sum(len(w["ids"]) == most for w in want) if mode != "none" else 0
        print(f"{name}: {mode}, {side}: {compared} pairs, {cut} as long as the limit, {differ} differ")
        wrong += differ
    return wrong


def main():
    arguments, count = sys.argv[1:], 500
    if arguments[:1] == ["-n"]:
        count, arguments = int(arguments[1]), arguments[2:]
    if len(arguments) < 3:
        sys.exit(__doc__)
    build, folder, files = arguments[0], arguments[1], arguments[2:]
    pairs = list(draw([text for path in files for text in read(path)], count))
    with tempfile.TemporaryDirectory() as work:
        return any([compare(build, place, name, pairs) for name, place in folders(folder, work)])


if __name__ == "__main__":
    sys.exit(main())
