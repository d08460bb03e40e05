#!/usr/bin/env python3
"""Golden scores of language models that answer a question about a pair (Qwen3-Reranker and its kind): tiny random *ForCausalLM, what
sentence-transformers' CrossEncoder makes of pairs with them, and what the README's programs of the models without such a folder make.

answers/tokenizer/ has the tokenizer of all forms, byte-level BPE.  answers/FORM/ is the folder without it; expected.tsv has the scores of
rerank/pairs.jsonl in their order, instructed.tsv the same with the instruction INSTRUCTION; ids.jsonl the ids.  The models compute in
double precision.  answers/jinja.jsonl has templates, variables and the texts that transformers renders; null: an error.
Made with sentence-transformers 6.2.0, transformers 5.24.0:
    python3 tests/golden/answers.py"""
import json
import os
import shutil
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
import torch
import transformers
from sentence_transformers import CrossEncoder
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers.utils.chat_template_utils import _compile_jinja_template

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "answers")
PAIRS = [json.loads(line) for line in open(os.path.join(GOLDEN, "rerank", "pairs.jsonl"))]
PAIRS = [(p["query"], p["text"]) for p in PAIRS]
INSTRUCTION = "find the keeper"
SPECIAL = ["<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "yes", "no", "Yes", "<unk>"]
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 24,
         "max_position_embeddings": 512, "initializer_range": 0.4, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
ROLES = """<|im_start|>system
Judge the "document".<|im_end|>
<|im_start|>user
<I>: {{ messages | selectattr("role", "eq", "system") | map(attribute="content") | first | default("find what answers") }}
<Q>: {{ messages | selectattr("role", "eq", "query") | map(attribute="content") | first }}
<D>: {{ messages | selectattr("role", "eq", "document") | map(attribute="content") | first }}<|im_end|>
<|im_start|>assistant
<t>

</t>


"""
LOOP = """{# as chats are #}
{{- bos_token -}}
{% for message in messages %}
    {%- if message['role'] == 'query' %}
        {{- '<|im_start|>system\\n' + message['content'].strip() + '<|im_end|>\\n' }}
    {%- elif message.role == 'document' -%}
        {{ '<|im_start|>user\\n' ~ message.content ~ '<|im_end|>\\n' }}
    {%- else %}
note: {{ message.content }}
    {% endif %}
{%- endfor %}
{%- if add_generation_prompt and not tools %}
    {{- '<|im_start|>assistant\\n' + (style if style is defined else '') }}
{%- endif %}"""
PARTS = """{%- set query = (messages | selectattr("role", "eq", "query") | first).content[0].text -%}
{%- set document = (messages | selectattr("role", "eq", "document") | first).content[0]["text"] -%}
{% set asks = messages | selectattr("role", "eq", "system") | list | length %}
D: {{ document }} | Q: {{ query }}{{ " (" ~ messages[0].content[0].text ~ ")" if asks else "" }}
answer:"""
MESSAGE = {"text": {"method": "forward", "method_output_name": "logits"},
           "message": {"method": "forward", "method_output_name": "logits", "format": "flat"}}


def sentence(task="text-generation", modalities=MESSAGE, **more):
    name = "causal_logits" if task == "text-generation" else "scores"
    return {"transformer_task": task, "modality_config": modalities, "module_output_name": name, **more}


# form: class, its configuration, longest pair, tokens of LogitScore (None: no modules.json), template, where it is, sentence_bert_config,
# config_sentence_transformers
FORMS = {
    "qwen3": ("Qwen3ForCausalLM", {"tie_word_embeddings": True}, 110, (70, 71), ROLES, "file", sentence(), {}),
    "qwen3_one": ("Qwen3ForCausalLM", {"tie_word_embeddings": False}, 500, (9, None), LOOP, "config",
                  sentence(processing_kwargs={"chat_template": {"add_generation_prompt": True, "style": "x "}}),
                  {"activation_fn": "torch.nn.modules.linear.Identity", "prompts": {"note": "what is asked"}, "default_prompt_name": "note"}),
    "qwen2": ("Qwen2ForCausalLM", {"tie_word_embeddings": False}, 90, None, ROLES, "config", None, None),
    "llama_parts": ("LlamaForCausalLM", {"tie_word_embeddings": True}, 60, (300, 11), PARTS, "file",
                    sentence(modalities={**MESSAGE, "message": {**MESSAGE["message"], "format": "structured"}}), {}),
    "llama_list": ("LlamaForCausalLM", {"tie_word_embeddings": False}, 60, None, PARTS, "list", None, None),
    "qwen3_cut": ("Qwen3ForCausalLM", {}, 110, (12, 5), ROLES, "file",
                  sentence(processing_kwargs={"chat_template": {"restore_suffix": False}}), {}),
    "llama_text": ("LlamaForCausalLM", {"tie_word_embeddings": True}, 20, (40, 41), ROLES, "file",
                   sentence(modalities={"text": MESSAGE["text"]}), {}),
    "seq": ("Qwen3ForSequenceClassification", {"num_labels": 1}, 110, "none", ROLES, "file", sentence("sequence-classification"), {}),
}


def make_tokenizer():
    folder = os.path.join(HERE, "tokenizer")
    os.makedirs(folder, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(__import__("tokenizers").Regex(r"\p{L}+| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    texts = [text for pair in PAIRS for text in pair] + ["the light of the sea", "a keeper and a house", "Query: Document:"] * 3
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL, show_progress=False,
                                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    path = os.path.join(folder, "tokenizer.json")
    rules = json.load(open(path))
    json.dump(rules, open(path, "w"), separators=(",", ":"), ensure_ascii=False)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    json.dump(config, open(os.path.join(folder, "tokenizer_config.json"), "w"))


def write(folder, name, value):
    os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
    with open(os.path.join(folder, name), "w") as out:
        out.write(value if isinstance(value, str) else json.dumps(value, indent=1) + "\n")


def draw(folder, kind, settings, size):
    torch.manual_seed(sum(map(ord, folder)))
    config = getattr(transformers, kind.split("For")[0] + "Config")(vocab_size=size, **{**SMALL, **settings})
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2:
                weight.add_(torch.randn_like(weight) * 0.2)
    model.save_pretrained(os.path.join(HERE, folder))
    if os.path.exists(os.path.join(HERE, folder, "generation_config.json")):
        os.remove(os.path.join(HERE, folder, "generation_config.json"))
    return model


def copied(form):
    """A temporary copy of the folder, with the tokenizer."""
    folder = tempfile.mkdtemp()
    shutil.copytree(os.path.join(HERE, "tokenizer"), folder, dirs_exist_ok=True)
    shutil.copytree(os.path.join(HERE, form), folder, dirs_exist_ok=True)
    return folder


def scores(form, name, values):
    write(os.path.join(HERE, form), name, "".join("%.9g\n" % x for x in values))


def make(form, kind, settings, longest, answers, template, where, sentence_config, own):
    folder = os.path.join(HERE, form)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    config = json.load(open(os.path.join(HERE, "tokenizer", "tokenizer_config.json")))
    config["model_max_length"] = longest
    draw(form, kind, settings, 340)
    if where == "file":
        write(folder, "chat_template.jinja", template)
    else:
        config["chat_template"] = template if where == "config" else [{"name": "tool_use", "template": "{{ tools }}"},
                                                                      {"name": "default", "template": template}]
    write(folder, "tokenizer_config.json", config)
    if answers:
        parts = [("0", "", "base.modules.transformer.Transformer")]
        if answers != "none":
            parts.append(("1", "1_LogitScore", "cross_encoder.modules.logit_score.LogitScore"))
            write(folder, "1_LogitScore/config.json", {"true_token_id": answers[0], "false_token_id": answers[1], "module_input_name": "causal_logits"})
        write(folder, "modules.json", [{"idx": int(i), "name": i, "path": path, "type": "sentence_transformers." + module} for i, path, module in parts])
        write(folder, "sentence_bert_config.json", sentence_config)
        write(folder, "config_sentence_transformers.json", {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None, **own})
    whole = copied(form)
    model = CrossEncoder(whole, device="cpu", model_kwargs={"dtype": torch.float64})
    scores(form, "expected.tsv", model.predict(PAIRS, batch_size=1))
    ids = [model.preprocess([pair], prompt=own and own.get("prompts", {}).get(own.get("default_prompt_name")))["input_ids"][0].tolist() for pair in PAIRS]
    write(folder, "ids.jsonl", "".join(json.dumps(row) + "\n" for row in ids))
    if form != "llama_text":
        scores(form, "instructed.tsv", model.predict(PAIRS, batch_size=1, prompt=INSTRUCTION))
    shutil.rmtree(whole)


def yes_no(model, tokenizer, ids, positive, negative):
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, -1]
    against = logits[tokenizer.convert_tokens_to_ids(negative)].item() if negative else 0
    return logits[tokenizer.convert_tokens_to_ids(positive)].item() - against


# The prompts that the READMEs of models without a template of pairs give, as one text; scores of sentence-transformers have a sigmoid.
def qwen3(query, document, instruction):
    instruction = instruction or "Given a web search query, retrieve relevant passages that answer the query"
    return ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the "
            "answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n" + f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}"
            "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")


def mxbai(query, document, instruction):
    return ("<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
            + (f"instruction: {instruction}\n" if instruction else "") + f"query: {query}\ndocument: {document}\n"
            "You are a search relevance expert who evaluates how well documents match search queries. For each query-document pair, carefully "
            "analyze the semantic relationship between them, then provide your binary relevance judgment (0 for not relevant, 1 for relevant).\n"
            "Relevance:<|im_end|>\n<|im_start|>assistant\n")


def gemma(query, document, instruction):
    question = ("Given a query A and a passage B, determine whether the passage contains an answer to the query by providing a prediction of either "
                "'Yes' or 'No'.")
    return f"<s>A: {query}\nB: {document}\n{instruction or question}"


NAMED = {"qwen3-reranker": ("Qwen3ForCausalLM", {"tie_word_embeddings": True}, qwen3, "yes", "no"),
         "mxbai-rerank-v2": ("Qwen2ForCausalLM", {"tie_word_embeddings": True}, mxbai, "1", "0"),
         "bge-reranker-v2-gemma": ("GemmaForCausalLM", {}, gemma, "Yes", None)}


def make_named(name, kind, settings, text, positive, negative):
    shutil.rmtree(os.path.join(HERE, name), ignore_errors=True)
    model = draw(name, kind, {**settings, "max_position_embeddings": 2048}, 340).double()
    tokenizer = transformers.AutoTokenizer.from_pretrained(os.path.join(HERE, "tokenizer"))
    for file, instruction in (("expected.tsv", None), ("instructed.tsv", INSTRUCTION)):
        made = [yes_no(model, tokenizer, tokenizer(text(q, d, instruction), add_special_tokens=False)["input_ids"], positive, negative) for q, d in PAIRS]
        scores(name, file, torch.tensor(made).sigmoid().tolist())


def jinja():
    variables = {"messages": [{"role": "query", "content": "the sea\n {x} "}, {"role": "document", "content": " keeper "}], "bos_token": "<s>", "n": 3,
                 "flag": True, "nil": None, "tools": None}
    cases = [ROLES, LOOP, "a\n  {% if flag %}\n  b\n  {% endif %}\nc\n", "a {%- if flag %} b {% endif -%} c", "x{# y #}\n z {#- w -#} v",
             "{%+ if flag %}\n 1{% else %}2{% endif +%}\n3\n\n", "{{ 'a\\n' + \"b\" ~ n ~ nil ~ flag }}\r\n{{ absent }}|{{ absent | default('d') }}",
             "{{ absent.x if false else 'y' }}{{ (absent is defined and absent.x) or 'z' }}{{ 'u' if absent }}",
             "{% set a = 'k' %}{% for m in messages %}{{ loop.index }}{{ loop.first }}{{ a }}{% set a = m.role %}{{ a }}{{ m['content'] | trim }};{% endfor %}{{ a }}",
             "{{ messages | map(attribute='role') | join(', ') }} {{ messages | length }} {{ messages[-1].content.strip() }}|{{ messages[0].content.rstrip() }}",
             "{{ 'query' in messages[0].role }} {{ 'q' not in ['q', 'r'] }} {{ not flag }} {{ n == 3 and nil is none }} {{ n is string }} {{ messages[0].get('name') }}",
             "{{ messages | rejectattr('role', 'equalto', 'query') | map(attribute='content') | first }}{{ messages[0].name }}{{ '' | default('e', true) }}",
             "{% if tools %}{{ tools | tojson }}{% elif nil %}{% for x in y %}{{ x | tojson }}{% endfor %}{% else %}ok{% endif %}",
             "{{ absent.x }}", "{{ raise_exception('no') }}", "{% if nil %}{{ raise_exception('no') }}{% endif %}fine", "{{ '{% if %}' }}{{ \"it's\" }}", "{{ ('a' }}",
             "{% if flag %}", "{% endif %}", "{{ absent + 'a' }}", "{% for x in absent %}{{ x }}{% endfor %}none", " \n{%- if flag -%}\n x \n{%- endif %}\n",
             # a test binds as a filter does; a condition after a list chooses its items; a loop may have an else
             "{{ 'a' + n is string }}", "{{ 'a' ~ n is string }} {{ flag == nil is none }} {{ not n is string }} {{ n is string or flag }}",
             "{% set m = messages[0] %}{% for m in messages if m.role == 'document' %}{{ loop.index }}{{ loop.last }}{{ m.role }}{% endfor %}",
             "{% for m in messages if loop %}a{% else %}none{% endfor %}{% for m in [] if m.role.x %}a{%- else -%} b {% endfor %}{% for m in messages %}{% else %}c{% endfor %}",
             "{% if nil %}{% for x in y %}{% else %}{{ x | tojson }}{% endfor %}{% endif %}{% for m in messages %}{{ loop.revindex }}{{ loop.revindex0 }} {% endfor %}",
             # quotes in a comment; white space at the start of each turn of a loop; many conditions one after the other
             "{# it's #}a{# \"b #}c{#- don't -#} d", "{% for m in messages %}\n  {% if flag %}x{% endif %}y\n  {% endfor %}\n  {% if n %}z{% endif %}",
             "{{ 1 if n else 2 }}{{ (n if flag else nil) }}" * 50,
             # namespaces, which keep what a loop sets; numbers; slices
             "{% set ns = namespace(found=false, n=1) %}{% for m in messages %}{% set ns.n = ns.n + 2 if false else ns.n + n %}{% set ns.found = true %}"
             "{% set ns.new = m.role %}{% endfor %}{{ ns.n }}{{ ns.found }}{{ ns.new }}{{ ns.absent is defined }}",
             "{% set a = namespace() %}{% set b = a %}{% set b.x = 'one' %}{% set c = a.x %}{% set a.x = c ~ 2 %}{{ a.x }}{{ b.x }}{{ c }}",
             "{% set m = messages[0] %}{% set m.role = 'x' %}", "{% set absent.x = 1 %}", "{{ namespace(a=1, ).a }}",
             "{{ n + 2 - 1 }} {{ 7 % n }} {{ n - 5 < 0 }} {{ n > 2 }} {{ n >= 3 }} {{ n < 3 }} {{ n <= 2 }} {{ 'a' ~ n + 1 if false else 1 }} {{ 1 ~ 2 }}", "{{ n + 'a' }}",
             "{{ 1 - 'a' }}", "{{ -n + 5 }} {{ 2 - -n }} {{ --n }} {{ messages[-n + 2].role }}", "{{ -'a' }}", "{{ messages < n }}", "{{ absent > 1 }}", "{{- n -}} x {{+ n }} {%- if n - 1 %}y{%- endif -%} z", "{{ n % 2 == 1 and (messages | length) % 2 == 0 }}",
             "{% for m in messages[1:] %}{{ m.role }}{% endfor %}{% for m in messages[:1] %}{{ m.role }}{% endfor %}{% for m in messages[::-1] %}{{ m.role }}{% endfor %}"
             "{{ messages[-n + 2:][0].role }}{{ messages[-1:][0].role }}{{ messages[:-1] | length }}{{ messages[5:] | length }}{{ messages[n - 2:n] | length }}{{ messages[:] | length }}{{ messages[::] | length }}",
             "{{ messages[0].content.startswith('the') }}{{ messages[0].content.endswith('} ') }}{{ 'a'.startswith('ab') }}{{ ''.endswith('') }}", "{{ n.startswith('a') }}",
             "{{ messages is iterable }}{{ n is iterable }}{{ messages[0] is sequence }}{{ 'a' is iterable }}{{ absent is iterable }}{{ n is number }}{{ flag is number }}"
             "{{ flag is integer }}{{ n is integer }}{{ flag is boolean }}{{ nil is iterable }}"]
    for template in cases:
        try:
            text = _compile_jinja_template(template).render(**variables)
        except Exception:
            text = None
        yield {"template": template, "variables": variables, "text": text}
    # parts that transformers knows, and the reader of templates refuses
    for template in ["{{ messages[0::-1] | length }}", "{% for m in messages %}{{ loop.previtem }}{% endfor %}", "{{ 'a' if messages[0].items else 'b' }}",
                     "{{ messages | selectattr('content.0', 'eq', 't') | list | length }}", "{{ messages | rejectattr('0') | list | length }}"]:
        yield {"template": template, "variables": variables, "text": None}


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    make_tokenizer()
    write(HERE, "jinja.jsonl", "".join(json.dumps(case) + "\n" for case in jinja()))
    for form, rest in FORMS.items():
        make(form, *rest)
    for form, rest in NAMED.items():
        make_named(form, *rest)
