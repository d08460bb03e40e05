#!/usr/bin/env python3
"""Golden ids of templated texts, whole and cut, with prompts and prepared, by the `tokenizers` package on
the small tokenizers of bpe/ and token/.  The template's tail is told by the offsets that the package
gives, behind a word of the tokenizers' texts.  Writes template.jsonl: a line a command.  Made with tokenizers 0.23.3."""
import json
import os

from tokenizers import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["", "The keeper of the lighthouse lights the lanterns.", "light", "\"The_sea\" said 'I'", " the sea\t and 1234 ships  ",
         "the light of the sea " * 3, "Führer für été! " * 2, "What? Light!", "lights, LIGHTS; lightly_?" * 2, "the sea\u00a0", "_"]
PROMPTEOL = 'This sentence : "{text}" means in one word:"'
TEMPLATES = {"prompteol": PROMPTEOL, "one-word": "This sentence: {text} means in one word:",
             "style": "In one word, describe the style of the following sentence - {text}:",
             "quoted": '"{text}"', "the light {text}": None, "{text} of the sea": None, " _{text}s_the sea_ ": None, "{text}": None}
MODELS = ["bpe/qwen", "bpe/neox", "bpe/old", "token/plain", "bpe/letters", "token/added"]


def insert(template, prompt, text):
    return template.replace("{text}", prompt + text)


def moee(template, prompt, text):
    """The prompt of a text in MoEE's program."""
    text = " ".join((prompt + text).split(" "))
    if not text:
        text = "."
    if text[-1] not in ".?!\"'":
        text += "."
    return template.replace("{text}", text.replace('"', "'")).replace("_", " ").strip()


def tail_of(tokenizer, after):
    light = tokenizer.encode("light")
    text = [i for i, special in enumerate(light.special_tokens_mask) if not special]
    end = light.ids[text[-1] + 1:]
    if after[:1].isalnum():
        return tokenizer.encode(after, add_special_tokens=False).ids + end
    made = tokenizer.encode("light" + after, add_special_tokens=False)
    return [i for i, (start, stop) in zip(made.ids, made.offsets) if stop > len("light")] + end


def ids_of(tokenizer, make, template, prompt, text, most):
    whole = tokenizer.encode(make(template, prompt, text)).ids
    if not most or len(whole) <= most:
        return whole
    after = template.split("{text}")[1]
    if make is moee:
        after = after.replace("_", " ").rstrip()
    tail = tail_of(tokenizer, after)
    return whole[:most - len(tail)] + tail


def main():
    lines = []
    for model in MODELS:
        tokenizer = Tokenizer.from_file(os.path.join(HERE, model, "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        for number, (name, template) in enumerate(TEMPLATES.items()):
            template = template or name
            for make, prompt, room in ((insert, "", 0), (insert, "", 9), (insert, "the sea: ", 30), (moee, "", 5), (moee, '"of" ', 0)):
                if (number + len(prompt)) % 3 and not (name == "prompteol" and room):
                    continue  # a third of the cases suffices
                bare = len(tokenizer.encode(make(template, prompt, "a")).ids)
                most = bare + room if room else 0
                command = ["--template", name] + ["--prompt", prompt] * bool(prompt) + \
                    ["--prepare", "moee"] * (make is moee) + ["--max-length", str(most)] * bool(most)
                lines.append({"model": model, "options": command,
                              "ids": [ids_of(tokenizer, make, template, prompt, text, most) for text in TEXTS]})
    with open(os.path.join(HERE, "template.jsonl"), "w") as out:
        out.write(json.dumps({"texts": TEXTS}) + "\n")
        for line in lines:
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


main()
