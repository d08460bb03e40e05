#!/usr/bin/env python3
"""A golden byte-level vocabulary: sentences made up here from a few words, and what the trainer of the `tokenizers` package
learns from them.  Writes vocab/corpus.txt, vocab/tokens.txt (a token a line), vocab/merges.txt, and vocab/around.json: what else
than the model a tokenizer.json holds, of either kind.  Made with tokenizers 0.23.3."""
import json
import os
import random

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vocab")
WORDS = """lamp lamps lighthouse keeper keeper's storm stormy the of a was wasn't and under over sea seas rope ropes Café
naïve e\u0301clair Straße 東京 한국 12 1987 3.5 ... — (old) "new" <b> 🌊 rowing rowed rower slow slowest slower""".split()


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def around(normalizer, before, decoder):
    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(SPECIAL)}, "[UNK]"))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, before, decoder
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)])
    made = json.loads(tokenizer.to_str())
    del made["model"]
    return made


def main():
    chance = random.Random(5)
    lines = ["  ".join(" ".join(chance.choices(WORDS, weights=range(len(WORDS), 0, -1), k=chance.randrange(2, 7)))
                       for _ in range(chance.randrange(1, 3))) + chance.choice(["", ".", "!", " ?", "\t"]) for _ in range(120)]
    os.makedirs(HERE, exist_ok=True)
    with open(f"{HERE}/corpus.txt", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=400, min_frequency=2, show_progress=False,
                                  special_tokens=SPECIAL,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(lines, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    with open(f"{HERE}/tokens.txt", "w", encoding="utf-8") as file:
        file.writelines(token + "\n" for token, _ in sorted(model["vocab"].items(), key=lambda item: item[1]))
    with open(f"{HERE}/merges.txt", "w", encoding="utf-8") as file:
        file.writelines(" ".join(merge) + "\n" for merge in model["merges"])
    with open(f"{HERE}/around.json", "w", encoding="utf-8") as file:
        json.dump({"wordpiece": around(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()),
                   "cased": around(normalizers.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()),
                   "bpe": around(normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False),
                                 decoders.ByteLevel(add_prefix_space=False))}, file)


if __name__ == "__main__":
    main()
