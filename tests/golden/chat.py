#!/usr/bin/env python3
"""Golden embeddings of models that read texts as messages of a chat (Qwen3-VL-Embedding and its kind): tiny random models, and what
sentence-transformers' SentenceTransformer makes of texts with them.

chat/reranker is Qwen3-VL-Reranker's kind: expected.tsv has its scores of rerank/pairs.jsonl, ids.jsonl the ids of the pairs.
chat/FORM/ is the folder without its tokenizer, which is answers/tokenizer; form qwen3_vl also has the post-processor that adds </s>.
ids.jsonl and expected.jsonl have ids and embeddings of TEXTS, prompted.* the same with the prompt PROMPT.  The models compute in double
precision; images are never encoded, and qwen3_vl's weights of them are left out.
Made with sentence-transformers 6.2.0, transformers 5.24.0, torchvision 0.30.0:
    python3 tests/golden/chat.py"""
import json
import os
import shutil
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder, SentenceTransformer

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.join(GOLDEN, "chat")
TOKENIZER = os.path.join(GOLDEN, "answers", "tokenizer")
PROMPT = "find the keeper"
TEXTS = ["the light of the sea", "", "  a keeper <|im_end|> and\n a house  ", "7 8 9", "naïve \u6d77", " ".join(["the house of the keeper"] * 20)]
# content is a text or a list of parts
PARTS = """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].content is string %}
        {{- messages[0].content }}
    {%- else %}
        {%- for part in messages[0].content %}
            {%- if 'text' in part %}{{ part.text }}{% endif %}
        {%- endfor %}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nembed it<|im_end|>\\n' }}
{%- endif %}
{%- set images = namespace(value=0) %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<|im_start|>' + message.role + '\\n' }}
        {%- for part in message.content %}
            {%- if part.type == 'image' or 'image' in part %}
                {%- set images.value = images.value + 1 %}
                {%- if numbered %}Image {{ images.value }}: {% endif -%}
                <|image|>
            {%- elif 'text' in part %}
                {{- part.text }}
            {%- endif %}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}"""
PAIRS = """<|im_start|>system
Judge it.<|im_end|>
<|im_start|>user
{%- for message in messages %}
{{ message.role }}:
    {%- for part in message.content %}{% if part.type == 'text' %} {{ part.text }}{% else %}<|image|>{% endif %}{% endfor %}
{%- endfor %}<|im_end|>
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
FLAT = "{% for message in messages %}[{{ message.role }}] {{ message.content | trim }} yes\n{% endfor %}"
TEXT = {"num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 24,
        "max_position_embeddings": 512, "initializer_range": 0.4, "vocab_size": 340, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
HIDDEN = {"method": "forward", "method_output_name": "last_hidden_state"}


def config_of(form):
    if form == "qwen3":
        return transformers.Qwen3Config(**TEXT)
    text = {**TEXT, "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0, "mrope_section": [2, 1, 1], "mrope_interleaved": True}}
    vision = {"depth": 1, "hidden_size": 8, "num_heads": 1, "intermediate_size": 8, "out_hidden_size": 16, "num_position_embeddings": 16,
              "deepstack_visual_indexes": []}
    return transformers.Qwen3VLConfig(text_config=text, vision_config=vision, image_token_id=300, video_token_id=301, vision_start_token_id=302,
                                      vision_end_token_id=303)


# form: longest text, format of messages, template, variables, pooling
FORMS = {"qwen3_vl": (60, "structured", PARTS, {"add_generation_prompt": True}, "lasttoken"), "qwen3": (40, "flat", FLAT, {}, "mean")}


def write(folder, name, value):
    os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
    with open(os.path.join(folder, name), "w") as out:
        out.write(value if isinstance(value, str) else json.dumps(value, indent=1) + "\n")


def write_tokenizer(folder, form, longest):
    shutil.copytree(TOKENIZER, folder, dirs_exist_ok=True)
    config = json.load(open(os.path.join(folder, "tokenizer_config.json")))
    if form == "qwen3_vl":
        rules = json.load(open(os.path.join(folder, "tokenizer.json")))
        rules["post_processor"] = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}},
                                                                           {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                                   "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                                   "special_tokens": {"</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}}
        write(folder, "tokenizer.json", json.dumps(rules, separators=(",", ":"), ensure_ascii=False))
        config.update(image_token="<|image|>", video_token="<|video|>")
    write(folder, "tokenizer_config.json", {**config, "model_max_length": longest})


def write_processor(folder):
    sizes = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2}
    write(folder, "preprocessor_config.json", {"image_processor_type": "Qwen2VLImageProcessorFast", "processor_class": "Qwen3VLProcessor", **sizes})
    write(folder, "video_preprocessor_config.json", {"video_processor_type": "Qwen3VLVideoProcessor", "processor_class": "Qwen3VLProcessor", **sizes})


def clean(folder):
    """Takes away the weights of images and the files that ours does not read."""
    weights = load_file(os.path.join(folder, "model.safetensors"))
    save_file({name: value for name, value in weights.items() if "visual." not in name}, os.path.join(folder, "model.safetensors"), {"format": "pt"})
    for name in ("generation_config.json", "preprocessor_config.json", "video_preprocessor_config.json"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def make(form, longest, how, template, variables, pooling):
    folder, whole = os.path.join(HERE, form), tempfile.mkdtemp()
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(sum(map(ord, form)))
    config = config_of(form)
    model = (transformers.Qwen3VLModel if form == "qwen3_vl" else transformers.Qwen3Model)(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2:
                weight.add_(torch.randn_like(weight) * 0.2)
    model.save_pretrained(whole)
    kinds = {kind: HIDDEN for kind in (["text", "image"] if form == "qwen3_vl" else ["text"])}
    write(whole, "chat_template.jinja", template)
    write(whole, "sentence_bert_config.json", {
        "transformer_task": "feature-extraction", "modality_config": {**kinds, "message": {**HIDDEN, "format": how}},
        "module_output_name": "token_embeddings", **({"processing_kwargs": {"chat_template": variables}} if variables else {})})
    write(whole, "modules.json", [{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers." + kind} for i, (path, kind) in enumerate([
        ("", "base.modules.transformer.Transformer"), ("1_Pooling", "sentence_transformer.modules.pooling.Pooling"),
        ("2_Normalize", "sentence_transformer.modules.normalize.Normalize")])])
    write(whole, "1_Pooling/config.json", {"embedding_dimension": 16, "pooling_mode": pooling, "include_prompt": True})
    write(whole, "config_sentence_transformers.json", {"prompts": {"query": PROMPT}, "default_prompt_name": None, "similarity_fn_name": "cosine"})
    write_tokenizer(whole, form, longest)
    if form == "qwen3_vl":
        write_processor(whole)
    reference = SentenceTransformer(whole, device="cpu", model_kwargs={"dtype": torch.float64})
    shutil.copytree(whole, folder)
    for name, prompt in (("", None), ("prompted.", PROMPT)):
        ids = [reference.preprocess([text], prompt=prompt)["input_ids"][0].tolist() for text in TEXTS]
        made = reference.encode(TEXTS, batch_size=1, prompt=prompt)
        write(folder, name + "ids.jsonl", "".join(json.dumps(row) + "\n" for row in ids))
        write(folder, name + "expected.jsonl", "".join(json.dumps([float("%.9g" % x) for x in row]) + "\n" for row in made))
    clean(folder)
    if form != "qwen3_vl":
        os.remove(os.path.join(folder, "tokenizer.json"))
    shutil.rmtree(whole)


def make_reranker():
    folder, whole = os.path.join(HERE, "reranker"), tempfile.mkdtemp()
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(7)
    config = config_of("qwen3_vl")
    model = transformers.Qwen3VLForConditionalGeneration(config).eval()
    model.save_pretrained(whole)
    kinds = {kind: {"method": "forward", "method_output_name": "logits"} for kind in ("text", "image", "message")}
    kinds["message"] = {**kinds["message"], "format": "structured"}
    write(whole, "chat_template.jinja", PAIRS)
    write(whole, "sentence_bert_config.json", {"transformer_task": "any-to-any", "modality_config": kinds, "module_output_name": "causal_logits",
                                               "processing_kwargs": {"chat_template": {"add_generation_prompt": True}}})
    write(whole, "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"},
        {"idx": 1, "name": "1", "path": "1_LogitScore", "type": "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"}])
    write(whole, "1_LogitScore/config.json", {"true_token_id": 70, "false_token_id": 71, "module_input_name": "causal_logits"})
    write(whole, "config_sentence_transformers.json", {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None})
    write_tokenizer(whole, "qwen3_vl", 70)
    write_processor(whole)
    reference = CrossEncoder(whole, device="cpu", model_kwargs={"dtype": torch.float64})
    pairs = [json.loads(line) for line in open(os.path.join(GOLDEN, "rerank", "pairs.jsonl"))]
    pairs = [(pair["query"], pair["text"]) for pair in pairs]
    shutil.copytree(whole, folder)
    for name, prompt in (("expected.tsv", None), ("instructed.tsv", PROMPT)):
        write(folder, name, "".join("%.9g\n" % x for x in reference.predict(pairs, batch_size=1, prompt=prompt)))
    write(folder, "ids.jsonl", "".join(json.dumps(reference.preprocess([pair])["input_ids"][0].tolist()) + "\n" for pair in pairs))
    clean(folder)
    shutil.rmtree(whole)


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    write(HERE, "texts.jsonl", "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in TEXTS))
    for form, rest in FORMS.items():
        make(form, *rest)
    make_reranker()
