#!/usr/bin/env python3
"""Make a tiny random checkpoint of every model family, and its reference outputs.

families/NAME/ is the folder as the Hub has it; config.5.json, where there is one, says the same
in the spelling of transformers 5.  Other layouts of the same weights: stacked.safetensors as
transformers has the experts in memory; native.header and unpacked.header, to be put before the
data of model.safetensors, NomicBERT's names there and GTE's with "pack_qkv": false.  expected.safetensors holds, computed by transformers (plain torch where it has
no such family) in double precision from the stored weights:
  ids, starts              ten texts of 1 to 19 tokens, packed
  states                   hidden states, [layers + 1, tokens, width], as output_hidden_states
  router                   the routers' logits, [token expert layers, tokens, experts]
  folder.emb, folder.grad.NAME  embeddings through the folder's pooling, and the gradients of
                           sum(emb * demb), by the names in the file
  bf16.emb                 embeddings with weights rounded to bfloat16
  long.lengths, long.last, long.mean  single texts of these lengths, with the ids of
                           long_ids(): last layer's hidden state of the last token, and the mean
  mlm.*                    of the masked-language-model head, where the file has one
Beside it, files of the same values for the same weights under other configurations (VARIANTS),
and padded.safetensors: of texts with padding tokens in them.
transformers rounds some things to single precision on the way whatever the weights (norms and
rotary angles of the decoders).  Needs torch, transformers 5.23, safetensors:
    python3 tests/golden/families.py [NAME...]
"""
import copy
import json
import os
import shutil
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file, save_file

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "families")
V, FIRST = 40, 3  # ids below FIRST are special: torch keeps the gradient of padding at zero
LENGTHS = [4, 1, 2, 8, 19, 3, 5, 2, 1, 6]
LONG = [1, 2, 127, 128, 129, 512, 2048]


def long_ids(length):
    return torch.tensor([FIRST + (7 * t * t + t // 5) % (V - FIRST) for t in range(length)])


# --- families that transformers lacks: hidden states and router logits of one text ------------


def rotate(x, inverse):
    angle = torch.arange(x.shape[1], dtype=x.dtype)[:, None] * inverse
    a, b = x.chunk(2, -1)
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


def attend(q, k, v, heads, inverse, causal):
    q, k, v = (x.view(len(x), heads, -1).transpose(0, 1) for x in (q, k, v))
    scores = rotate(q, inverse) @ rotate(k, inverse).transpose(1, 2) / q.shape[-1] ** 0.5
    if causal:
        scores += torch.full(scores.shape[1:], float("-inf"), dtype=q.dtype).triu(1)
    return (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)


def rms(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def gte(w, c, ids):
    """GTE v1.5 (new-impl): BERT with static NTK rotary positions and a gated MLP."""
    d, f = c["hidden_size"] // c["num_attention_heads"], c["rope_scaling"]["factor"]
    exponent = torch.arange(0, d, 2, dtype=torch.float64) / d
    inverse = (c["rope_theta"] * f) ** -exponent / f ** (2 / d)
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"],
                                        c["layer_norm_eps"])
    e = "embeddings."
    x = norm(w[e + "word_embeddings.weight"][ids] + w[e + "token_type_embeddings.weight"][0],
             e + "LayerNorm")
    hidden = [x]
    for n in range(c["num_hidden_layers"]):
        p = f"encoder.layer.{n}."
        linear = lambda name, y: F.linear(y, w[p + name + ".weight"], w.get(p + name + ".bias"))
        q, k, v = linear("attention.qkv_proj", x).chunk(3, -1)
        a = attend(q, k, v, c["num_attention_heads"], inverse, False)
        x = norm(x + linear("attention.o_proj", a), p + "attn_ln")
        up, gate = linear("mlp.up_gate_proj", x).chunk(2, -1)
        x = norm(x + linear("mlp.down_proj", F.gelu(gate) * up), p + "mlp_ln")
        hidden.append(x)
    return hidden, {}


def deepseek(w, c, ids):
    """DeepSeekMoE: Llama with token experts, and shared ones, after the first layers."""
    d = c["hidden_size"] // c["num_attention_heads"]
    inverse = c["rope_theta"] ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
    norm = lambda x, name: rms(x, w[name + ".weight"], c["rms_norm_eps"])
    x = w["model.embed_tokens.weight"][ids]
    hidden, routers = [x], {}
    for n in range(c["num_hidden_layers"]):
        p = f"model.layers.{n}."
        linear = lambda name, y: F.linear(y, w[p + name + ".weight"])
        mlp = lambda name, y: linear(name + ".down_proj", F.silu(linear(name + ".gate_proj", y))
                                     * linear(name + ".up_proj", y))
        h = norm(x, p + "input_layernorm")
        q, k, v = (linear(f"self_attn.{s}_proj", h) for s in "qkv")
        x = x + linear("self_attn.o_proj", attend(q, k, v, c["num_attention_heads"], inverse, True))
        h = norm(x, p + "post_attention_layernorm")
        if n < c["first_k_dense_replace"]:
            x = x + mlp("mlp", h)
        else:
            routers[n + 1] = linear("mlp.gate", h)
            score, chosen = routers[n + 1].softmax(-1).topk(c["num_experts_per_tok"], -1)
            weight = torch.zeros_like(routers[n + 1]).scatter(1, chosen, score)
            out = mlp("mlp.shared_experts", h)
            for e in range(c["n_routed_experts"]):
                out = out + weight[:, e:e + 1] * mlp(f"mlp.experts.{e}", h)
            x = x + out
        hidden.append(x)
    return hidden[:-1] + [norm(x, "model.norm")], routers


def slopes(n):
    """ALiBi's slopes, for a power of two and for other numbers of heads."""
    power = 2 ** (n.bit_length() - 1)
    own = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return own if n == power else own + slopes(2 * power)[::2][:n - power]


def jina_bert(w, c, ids):
    """JinaBERT: BERT with slopes for positions and a gated MLP; for code with norms of queries and keys, and the residual twice."""
    code = "qk-post-norm" in c["auto_map"]["AutoModel"]
    heads, place = c["num_attention_heads"], torch.arange(len(ids))
    bias = -torch.tensor(slopes(heads)).double()[:, None, None] * (place[:, None] - place).abs()
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"],
                                        c["layer_norm_eps"])
    act = {"geglu": F.gelu, "reglu": F.relu}[c["feed_forward_type"]]
    e = "embeddings."
    x = norm(w[e + "word_embeddings.weight"][ids] + w[e + "token_type_embeddings.weight"][0],
             e + "LayerNorm")
    hidden = [x]
    for n in range(c["num_hidden_layers"]):
        p = f"encoder.layer.{n}."
        linear = lambda name, y: F.linear(y, w[p + name + ".weight"], w.get(p + name + ".bias"))
        q, k, v = (linear("attention.self." + s, x) for s in ("query", "key", "value"))
        if code:
            q, k = norm(q, p + "attention.self.layer_norm_q"), norm(k, p + "attention.self.layer_norm_k")
        q, k, v = (y.view(len(ids), heads, -1).transpose(0, 1) for y in (q, k, v))
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + bias
        a = (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)
        y = norm(x + linear("attention.output.dense", a), p + "attention.output.LayerNorm")
        x = norm(x + y, p + "layer_norm_1") if code else y
        if code:
            up, gate = linear("mlp.up_gated_layer", x).chunk(2, -1)
            x = norm(x + linear("mlp.down_layer", act(gate) * up), p + "layer_norm_2")
        else:
            gate, up = linear("mlp.gated_layers", x).chunk(2, -1)
            x = norm(x + linear("mlp.wo", act(gate) * up), p + "mlp.layernorm")
        hidden.append(x)
    return hidden, {}


def native_gte(config):
    """transformers' model with the same weights: its linear scaling is the static NTK."""
    d, f = config["hidden_size"] // config["num_attention_heads"], config["rope_scaling"]["factor"]
    return {k: v for k, v in config.items() if not k.startswith("rope_") and k in (
        "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
        "intermediate_size", "max_position_embeddings", "type_vocab_size", "layer_norm_eps",
        "hidden_act")} | {"model_type": "gte", "architectures": ["GteModel"], "pad_token_id": 0,
                          "rope_parameters": {"rope_type": "linear", "factor": f ** (2 / d),
                                              "rope_theta": config["rope_theta"] * f}}


def check_deepseek(stored, config, ids):
    """Checks our module with Qwen2-MoE, whose shared gate of zero halves the shared experts."""
    c = transformers.Qwen2MoeConfig(
        **{k: config[k] for k in ("vocab_size", "hidden_size", "num_hidden_layers", "rms_norm_eps",
                                  "num_attention_heads", "num_key_value_heads", "norm_topk_prob",
                                  "intermediate_size", "moe_intermediate_size",
                                  "num_experts_per_tok", "max_position_embeddings")},
        num_experts=config["n_routed_experts"], mlp_only_layers=[0], qkv_bias=False,
        shared_expert_intermediate_size=2 * config["moe_intermediate_size"],
        rope_parameters={"rope_type": "default", "rope_theta": config["rope_theta"]})
    with tempfile.TemporaryDirectory() as folder:
        c.save_pretrained(folder)
        twin = {k.replace("shared_experts", "shared_expert"):
                2 * v if "shared_experts.down" in k else v for k, v in stored.items()}
        for n in range(1, config["num_hidden_layers"]):
            twin[f"model.layers.{n}.mlp.shared_expert_gate.weight"] = torch.zeros(
                1, config["hidden_size"])
        save_file(twin, folder + "/model.safetensors", metadata={"format": "pt"})
        model = transformers.Qwen2MoeModel.from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager",
            experts_implementation="eager")
        theirs = model(input_ids=ids[None], output_hidden_states=True).hidden_states
    ours, _ = deepseek({k: v.double() for k, v in stored.items()}, config, ids)
    worst = max((a - b[0]).abs().max().item() for a, b in zip(ours, theirs, strict=True))
    assert worst < 5e-5, f"deepseek: transformers differs by {worst}"


# --- the checkpoints ---------------------------------------------------------------------------

SIZES = {"vocab_size": V, "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
         "max_position_embeddings": 2048, "torch_dtype": "float32"}
JINA_BERT = SIZES | {
    "architectures": ["JinaBertForMaskedLM"], "model_type": "bert", "hidden_size": 12,
    "num_attention_heads": 6, "intermediate_size": 10, "hidden_act": "gelu",
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
    "position_embedding_type": "alibi", "feed_forward_type": "geglu", "emb_pooler": "mean",
    "attn_implementation": "torch",
    "auto_map": {"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"}}
CONFIG = {
    "bert": SIZES | {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": 8, "hidden_act": "gelu",
        "intermediate_size": 12, "max_position_embeddings": 130, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12, "pad_token_id": 0, "position_embedding_type": "absolute"},
    # the head's activation is GELU, whatever the blocks have; texts begin at position 3
    "roberta": SIZES | {
        "architectures": ["RobertaForMaskedLM"], "model_type": "roberta", "hidden_size": 8,
        "hidden_act": "gelu_new", "intermediate_size": 12, "max_position_embeddings": 515,
        "type_vocab_size": 1, "layer_norm_eps": 1e-5, "bos_token_id": 0, "eos_token_id": 1,
        "pad_token_id": 2, "position_embedding_type": "absolute"},
    "xlm-roberta": SIZES | {
        "architectures": ["XLMRobertaModel"], "model_type": "xlm-roberta", "hidden_size": 8,
        "hidden_act": "gelu", "intermediate_size": 12, "max_position_embeddings": 514,
        "type_vocab_size": 2, "layer_norm_eps": 1e-5, "bos_token_id": 0, "eos_token_id": 2,
        "pad_token_id": 1, "position_embedding_type": "absolute"},
    "camembert": SIZES | {
        "architectures": ["CamembertForMaskedLM"], "model_type": "camembert", "hidden_size": 8,
        "hidden_act": "gelu", "intermediate_size": 12, "max_position_embeddings": 514,
        "type_vocab_size": 1, "layer_norm_eps": 1e-5, "bos_token_id": 5, "eos_token_id": 6,
        "pad_token_id": 1},
    "distilbert": {
        "architectures": ["DistilBertForMaskedLM"], "model_type": "distilbert", "vocab_size": V,
        "dim": 8, "n_layers": 3, "n_heads": 4, "hidden_dim": 20, "activation": "relu",
        "max_position_embeddings": 512, "sinusoidal_pos_embds": False,
        "pad_token_id": 0, "torch_dtype": "float32"},
    # long texts stretch the rotary base: only those beyond 16 tokens, each by its own length
    "nomic_bert": {
        "architectures": ["NomicBertModel"], "model_type": "nomic_bert", "vocab_size": V,
        "n_embd": 16, "n_layer": 2, "n_head": 2, "n_inner": 12, "n_positions": 2048,
        "type_vocab_size": 2, "activation_function": "swiglu", "layer_norm_epsilon": 1e-12,
        "prenorm": False, "parallel_block": False, "causal": False, "qkv_proj_bias": False,
        "mlp_fc1_bias": False, "mlp_fc2_bias": False, "use_rms_norm": False,
        "rotary_emb_fraction": 1.0, "rotary_emb_base": 1000, "rotary_emb_interleaved": False,
        "rotary_emb_scale_base": None, "rotary_scaling_factor": 2, "max_trained_positions": 16,
        "torch_dtype": "float32"},
    # a masked-language-model head with an untied matrix
    "bert_mlm": SIZES | {
        "architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 8,
        "hidden_act": "gelu", "intermediate_size": 12, "max_position_embeddings": 130,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "tie_word_embeddings": False},
    "modernbert": SIZES | {
        "architectures": ["ModernBertForMaskedLM"], "model_type": "modernbert",
        "num_hidden_layers": 4, "intermediate_size": 12, "hidden_activation": "gelu",
        "norm_eps": 1e-5, "norm_bias": False, "attention_bias": False, "mlp_bias": False,
        "global_attn_every_n_layers": 3, "local_attention": 8, "global_rope_theta": 160000.0,
        "local_rope_theta": 10000.0, "decoder_bias": True, "classifier_pooling": "mean",
        "layer_norm_eps": 1e-5, "position_embedding_type": "absolute", "pad_token_id": 0,
        "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2, "sep_token_id": 2},
    "gte": SIZES | {
        "architectures": ["NewModel"], "model_type": "new", "hidden_act": "gelu",
        "intermediate_size": 12, "type_vocab_size": 2, "layer_norm_type": "layer_norm",
        "layer_norm_eps": 1e-12, "position_embedding_type": "rope", "rope_theta": 160000,
        "rope_scaling": {"type": "ntk", "factor": 2.0}, "pack_qkv": True, "unpad_inputs": False,
        "use_memory_efficient_attention": False, "logn_attention_scale": False,
        "logn_attention_clip1": False},
    "qwen3": SIZES | {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "intermediate_size": 20,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12, "hidden_act": "silu",
        "rms_norm_eps": 1e-6, "rope_theta": 1000000, "rope_scaling": None, "attention_bias": False,
        "use_sliding_window": False, "sliding_window": None, "max_window_layers": 2,
        "tie_word_embeddings": True},
    "olmoe": SIZES | {
        "architectures": ["OlmoeForCausalLM"], "model_type": "olmoe", "num_key_value_heads": 1,
        "intermediate_size": 8, "num_experts": 6, "num_experts_per_tok": 2,
        "norm_topk_prob": False, "hidden_act": "silu", "rope_theta": 10000.0, "rope_scaling": None,
        "clip_qkv": None, "attention_bias": False, "tie_word_embeddings": False,
        "pad_token_id": 1, "eos_token_id": 2},
    "qwen2_moe": SIZES | {
        "architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe",
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 14, "moe_intermediate_size": 6, "num_experts": 5,
        "shared_expert_intermediate_size": 10, "num_experts_per_tok": 2, "norm_topk_prob": True,
        "decoder_sparse_step": 2, "mlp_only_layers": [], "hidden_act": "silu",
        "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "use_sliding_window": False,
        "sliding_window": 32768, "max_window_layers": 21, "tie_word_embeddings": False},
    "deepseek": SIZES | {
        "architectures": ["DeepseekForCausalLM"], "model_type": "deepseek",
        "num_hidden_layers": 2, "num_key_value_heads": 2, "intermediate_size": 14,
        "moe_intermediate_size": 6, "n_routed_experts": 6, "n_shared_experts": 2,
        "num_experts_per_tok": 3, "first_k_dense_replace": 1, "moe_layer_freq": 1,
        "norm_topk_prob": False, "scoring_func": "softmax", "hidden_act": "silu",
        "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "rope_scaling": None, "pretraining_tp": 1,
        "attention_bias": False, "tie_word_embeddings": False},
    # positions begin after padding's: texts of up to 512 tokens
    "mpnet": SIZES | {
        "architectures": ["MPNetForMaskedLM"], "model_type": "mpnet", "hidden_size": 9,
        "num_attention_heads": 3, "intermediate_size": 10, "max_position_embeddings": 514,
        "hidden_act": "gelu", "layer_norm_eps": 1e-5, "relative_attention_num_buckets": 32,
        "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
    # heads x d_kv is not d_model; few buckets, and odd numbers of them
    "t5": {
        "architectures": ["T5EncoderModel"], "model_type": "t5", "vocab_size": V, "d_model": 16,
        "num_layers": 2, "num_heads": 3, "d_kv": 6, "d_ff": 10, "feed_forward_proj": "gated-gelu",
        "dense_act_fn": "gelu_new", "is_gated_act": True, "relative_attention_num_buckets": 14,
        "relative_attention_max_distance": 40, "layer_norm_epsilon": 1e-6, "dropout_rate": 0.1,
        "initializer_factor": 1.0, "is_encoder_decoder": True, "pad_token_id": 0,
        "eos_token_id": 1, "torch_dtype": "float32"},
    # with a decoder, which no program reads
    "t5_whole": {
        "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "vocab_size": V,
        "d_model": 8, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 2, "d_kv": 4,
        "d_ff": 12, "relative_attention_num_buckets": 32, "layer_norm_epsilon": 1e-5,
        "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
        "torch_dtype": "float32"},
    # embeddings of the encoder beside the decoder's, which differ
    "t5_own": {
        "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "vocab_size": V,
        "d_model": 8, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2, "d_kv": 4,
        "d_ff": 12, "relative_attention_num_buckets": 32, "layer_norm_epsilon": 1e-5,
        "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
        "torch_dtype": "float32"},
    "umt5": {
        "architectures": ["UMT5EncoderModel"], "model_type": "umt5", "vocab_size": V, "d_model": 12,
        "num_layers": 3, "num_heads": 3, "d_kv": 6, "d_ff": 10, "feed_forward_proj": "gated-gelu",
        "relative_attention_num_buckets": 14, "relative_attention_max_distance": 40,
        "layer_norm_epsilon": 1e-6, "pad_token_id": 0, "eos_token_id": 1, "torch_dtype": "float32"},
    # embeddings narrower than the blocks; the head's activation is GELU, whatever the blocks have
    "electra": SIZES | {
        "architectures": ["ElectraForMaskedLM"], "model_type": "electra", "hidden_size": 10,
        "embedding_size": 6, "hidden_act": "relu", "intermediate_size": 12,
        "max_position_embeddings": 130, "type_vocab_size": 2, "layer_norm_eps": 1e-5,
        "pad_token_id": 0},
    "ernie": SIZES | {
        "architectures": ["ErnieForMaskedLM"], "model_type": "ernie", "hidden_size": 8,
        "hidden_act": "silu", "intermediate_size": 12, "max_position_embeddings": 130,
        "type_vocab_size": 4, "task_type_vocab_size": 3, "use_task_id": True,
        "layer_norm_eps": 1e-5, "pad_token_id": 0},
    # five blocks of the weights of two; embeddings wider than the blocks
    "albert": SIZES | {
        "architectures": ["AlbertForMaskedLM"], "model_type": "albert", "hidden_size": 8,
        "embedding_size": 10, "num_hidden_layers": 5, "num_hidden_groups": 2, "inner_group_num": 1,
        "hidden_act": "gelu_new", "intermediate_size": 12, "max_position_embeddings": 130,
        "type_vocab_size": 2, "layer_norm_eps": 1e-5, "pad_token_id": 0},
    "jina_bert": JINA_BERT,
    "jina_bert_code": JINA_BERT | {
        "num_attention_heads": 3, "layer_norm_eps": 1e-3,
        "auto_map": {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"}},
    # the second layer sees a window
    "qwen2": SIZES | {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 12,
        "intermediate_size": 10, "num_attention_heads": 3, "num_key_value_heads": 1,
        "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
        "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1,
        "tie_word_embeddings": False},
    "mistral": SIZES | {
        "architectures": ["MistralModel"], "model_type": "mistral", "hidden_size": 12,
        "intermediate_size": 10, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "sliding_window": 4,
        "tie_word_embeddings": False},
    "llama": SIZES | {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 12,
        "intermediate_size": 10, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 500.0, "rope_scaling": {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 128},
        "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False},
    "eurobert": SIZES | {
        "architectures": ["EuroBertForMaskedLM"], "model_type": "eurobert", "hidden_size": 12,
        "intermediate_size": 10, "num_attention_heads": 2, "num_key_value_heads": 1,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 250000.0, "attention_bias": False,
        "mlp_bias": True, "tie_word_embeddings": False, "pad_token_id": 0},
    # every third layer sees the whole text
    "ultrabert": SIZES | {
        "architectures": ["UltrabertModel"], "model_type": "ultrabert", "hidden_size": 12, "num_hidden_layers": 3,
        "intermediate_size": 10, "num_attention_heads": 2, "num_key_value_heads": 1, "hidden_act": "silu", "rms_norm_eps": 1e-6,
        "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False, "pad_token_id": 0,
        "attention_windows": [4, 4, None], "rope_theta": [100.0, 100.0, 5000.0]},
    "ministral3": SIZES | {
        "architectures": ["Ministral3Model"], "model_type": "ministral3", "hidden_size": 12, "intermediate_size": 10,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "hidden_act": "silu", "rms_norm_eps": 1e-5,
        "max_position_embeddings": 8192, "tie_word_embeddings": False, "pad_token_id": 0, "is_causal": False, "rope_parameters": {
            "type": "yarn", "rope_type": "yarn", "rope_theta": 1000000.0, "factor": 4.0, "original_max_position_embeddings": 2048,
            "beta_fast": 32.0, "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1}},
    "gemma": SIZES | {
        "architectures": ["GemmaModel"], "model_type": "gemma", "hidden_size": 12, "intermediate_size": 10,
        "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 8, "hidden_act": "gelu", "rms_norm_eps": 1e-6,
        "rope_theta": 500.0, "attention_bias": True, "pad_token_id": 0},  # gelu: what the releases call gelu_pytorch_tanh
    # every third layer sees the whole text, with twice as slow angles; roots that bf16 rounds
    "gemma3_text": SIZES | {
        "architectures": ["Gemma3TextModel"], "model_type": "gemma3_text", "hidden_size": 12,
        "num_hidden_layers": 3, "intermediate_size": 10, "num_attention_heads": 3,
        "num_key_value_heads": 1, "head_dim": 8, "hidden_activation": "gelu_pytorch_tanh",
        "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 2.0}, "query_pre_attn_scalar": 10,
        "sliding_window": 6, "sliding_window_pattern": 3, "attention_bias": False,
        "attn_logit_softcapping": None, "final_logit_softcapping": None,
        "use_bidirectional_attention": True, "pad_token_id": 0},
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
# The same weights under another configuration; NAME.safetensors has the outputs.
VARIANTS = {
    "jina_bert": {"reglu": {"feed_forward_type": "reglu"}},
    "qwen3": {"bidirectional": {"is_causal": False}},
    "qwen2": {"bidirectional": {"is_causal": False}},
    "mistral": {"global": {"sliding_window": None},
                "layers": {"layer_types": ["full_attention", "sliding_attention"]}},
    "modernbert": {"head": {"classifier_activation": "silu"},
                   "no_bias": {"decoder_bias": False}},
    "t5": {"silu": {"feed_forward_proj": "gated-silu", "dense_act_fn": "silu"}},
    "ministral3": {"causal": {"is_causal": True}, "window": {"sliding_window": 3}},
    "llama": {"bidirectional": {"is_causal": False},
              "yarn": {"rope_scaling": YARN},
              "yarn_set": {"rope_scaling": YARN | {"beta_fast": 9.0, "beta_slow": 1.7, "mscale": 1.3,
                                                   "mscale_all_dim": 0.6, "truncate": False}}},
    "gemma3_text": {"causal": {"use_bidirectional_attention": False},
                    "wide": {"is_causal": False, "use_bidirectional_attention": False}},
}
POOLING = {"roberta": ("mean", True), "xlm-roberta": ("cls", True), "camembert": ("mean", False),
           "distilbert": ("mean", True), "gte": ("cls", False), "bert": ("mean", True), "bert_mlm": ("mean", True), "nomic_bert": ("mean", True),
           "modernbert": ("mean", True), "mpnet": ("mean", True), "t5": ("mean", True),
           "t5_whole": ("mean", True), "t5_own": ("mean", True),
           "umt5": ("mean", True), "electra": ("mean", True), "ernie": ("cls", True),
           "albert": ("mean", True), "jina_bert": ("mean", False), "jina_bert_code": ("mean", False), "eurobert": ("mean", True),
           "ultrabert": ("mean", True), "ministral3": ("mean", True),
           "gemma3_text": ("mean", True)}  # decoders: the last token, normalised
PLAIN = {"gte": gte, "deepseek": deepseek, "jina_bert": jina_bert, "jina_bert_code": jina_bert}
CLASS = {"roberta": "RobertaForMaskedLM", "xlm-roberta": "XLMRobertaModel",
         "camembert": "CamembertForMaskedLM", "distilbert": "DistilBertForMaskedLM",
         "bert": "BertModel", "bert_mlm": "BertForMaskedLM", "nomic_bert": "NomicBertModel", "modernbert": "ModernBertForMaskedLM",
         "qwen3": "Qwen3Model", "olmoe": "OlmoeForCausalLM", "qwen2_moe": "Qwen2MoeForCausalLM", "mpnet": "MPNetForMaskedLM",
         "t5": "T5EncoderModel", "t5_whole": "T5EncoderModel", "t5_own": "T5EncoderModel",
         "umt5": "UMT5EncoderModel", "electra": "ElectraForMaskedLM", "ernie": "ErnieForMaskedLM",
         "albert": "AlbertForMaskedLM",
         "qwen2": "Qwen2Model", "mistral": "AutoModel", "llama": "LlamaModel",
         "ultrabert": "UltrabertModel", "ministral3": "Ministral3Model",
         "eurobert": "EuroBertForMaskedLM", "gemma": "GemmaModel", "gemma3_text": "Gemma3TextModel"}
# where it is another
STORED = {"t5_whole": "T5ForConditionalGeneration", "t5_own": "T5ForConditionalGeneration",
          "mistral": "MistralModel"}
POOLERS = ("bert", "xlm-roberta")  # classes with a layer that no embedding depends on
PREDICTS = ("modernbert", "bert_mlm", "roberta", "camembert", "distilbert", "mpnet", "eurobert",
            "electra", "ernie", "albert")
PADDED = ("roberta", "xlm-roberta", "mpnet")


def plain_shapes(family, c):
    """Names and shapes of the tensors of a family that transformers lacks."""
    C, I, shapes = c["hidden_size"], c["intermediate_size"], {}
    if family == "gte":
        e = "embeddings."
        shapes |= {e + "word_embeddings.weight": (V, C), e + "token_type_embeddings.weight": (2, C),
                   e + "LayerNorm.weight": (C,), e + "LayerNorm.bias": (C,)}
        for n in range(c["num_hidden_layers"]):
            for name, rows, columns in (("attention.qkv_proj", 3 * C, C), ("attention.o_proj", C, C),
                                        ("mlp.up_gate_proj", 2 * I, C), ("mlp.down_proj", C, I)):
                shapes[f"encoder.layer.{n}.{name}.weight"] = (rows, columns)
                if name != "mlp.up_gate_proj":
                    shapes[f"encoder.layer.{n}.{name}.bias"] = (rows,)
            for name in "attn_ln", "mlp_ln":
                shapes[f"encoder.layer.{n}.{name}.weight"] = (C,)
                shapes[f"encoder.layer.{n}.{name}.bias"] = (C,)
        return shapes
    if family.startswith("jina_bert"):
        code = family == "jina_bert_code"
        vectors, biased = {"embeddings.LayerNorm": C}, {}
        shapes = {"embeddings.word_embeddings.weight": (V, C),
                  "embeddings.token_type_embeddings.weight": (2, C)}
        for n in range(c["num_hidden_layers"]):
            p = f"encoder.layer.{n}."
            shapes[p + ("mlp.up_gated_layer.weight" if code else "mlp.gated_layers.weight")] = (2 * I, C)
            biased |= {p + "attention.self." + s: (C, C) for s in ("query", "key", "value")}
            biased |= {p + "attention.output.dense": (C, C), p + ("mlp.down_layer" if code else "mlp.wo"): (C, I)}
            vectors |= {p + "attention.output.LayerNorm": C}
            vectors |= {p + name: C for name in (("layer_norm_1", "layer_norm_2", "attention.self.layer_norm_q", "attention.self.layer_norm_k")
                                                 if code else ("mlp.layernorm",))}
        for name, shape in biased.items():
            shapes |= {name + ".weight": shape, name + ".bias": shape[:1]}
        for name, size in vectors.items():
            shapes |= {name + ".weight": (size,), name + ".bias": (size,)}
        return shapes
    E, J = c["n_routed_experts"], c["moe_intermediate_size"]
    shapes |= {"model.embed_tokens.weight": (V, C), "model.norm.weight": (C,),
               "lm_head.weight": (V, C)}
    for n in range(c["num_hidden_layers"]):
        p = f"model.layers.{n}."
        shapes |= {p + f"self_attn.{s}_proj.weight": (C, C) for s in "qkvo"}
        shapes |= {p + "input_layernorm.weight": (C,), p + "post_attention_layernorm.weight": (C,)}
        sparse = n >= c["first_k_dense_replace"]
        mlps = {"mlp": I} if not sparse else {"mlp.shared_experts": 2 * J} | {
            f"mlp.experts.{e}": J for e in range(E)}
        if sparse:
            shapes[p + "mlp.gate.weight"] = (E, C)
        for name, inner in mlps.items():
            shapes |= {p + name + f".{s}_proj.weight": (C, inner) if s == "down" else (inner, C)
                       for s in ("gate", "up", "down")}
    return shapes


def draw(name, shape, generator):
    """Random weights, scaled so that attention, windows and routers matter."""
    x = torch.randn(shape, generator=generator)
    if len(shape) == 1:
        return 0.3 * x + (1 if name.endswith("weight") else 0)
    if "embed" in name:
        return x
    if name.endswith(("mlp.gate.weight", "router.weight", "router.layer.weight")):
        return 3 * x / shape[1] ** 0.5
    return (1.6 if "q_" in name or "k_" in name or "qkv" in name.lower() else 1.0) * x / shape[-1] ** 0.5


def write(folder, name, content):
    with open(os.path.join(folder, name), "w") as f:
        f.write(json.dumps(content, indent=2) + "\n")


def nomic_5(c):
    return {"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "vocab_size": V,
            "hidden_size": c["n_embd"], "num_hidden_layers": c["n_layer"],
            "num_attention_heads": c["n_head"], "intermediate_size": c["n_inner"],
            "max_position_embeddings": c["max_trained_positions"], "type_vocab_size": 2,
            "hidden_act": "silu", "layer_norm_eps": 1e-12, "dtype": "float32", "rope_parameters": {
                "rope_type": "dynamic", "factor": float(c["rotary_scaling_factor"]),
                "rope_theta": float(c["rotary_emb_base"])}}


def nomic_native(name):
    """transformers' names of the parts of a tensor in the Hub's layout."""
    for hub, own in (("encoder.layers", "layers"), ("emb_ln", "embeddings.LayerNorm"),
                     ("attn.out_proj", "self_attn.o_proj"), ("fc11", "up_proj"), ("fc12", "gate_proj"),
                     ("fc2", "down_proj"), ("norm1", "post_attention_layernorm"),
                     ("norm2", "post_mlp_layernorm")):
        name = name.replace(hub, own)
    parts = "qkv" if "attn.Wqkv" in name else ("",)
    return [name.replace("attn.Wqkv", f"self_attn.{part}_proj") for part in parts]


def other_header(folder, name, names, wanted):
    """A header for the same data in which a tensor's rows may be several tensors."""
    with open(folder + "/model.safetensors", "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        stored, data = json.loads(f.read(size)), f.read()
    header = {"__metadata__": stored.pop("__metadata__")}
    for old, tensor in sorted(stored.items(), key=lambda item: item[1]["data_offsets"]):
        parts, (first, past) = names(old), tensor["data_offsets"]
        step = (past - first) // len(parts)
        for i, part in enumerate(parts):
            header[part] = {"dtype": "F32",
                            "shape": [tensor["shape"][0] // len(parts)] + tensor["shape"][1:],
                            "data_offsets": [first + i * step, first + (i + 1) * step]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
    with tempfile.NamedTemporaryFile() as f:
        f.write(len(text).to_bytes(8, "little") + text + data)
        f.flush()
        loaded = load_file(f.name)
    assert wanted is None or all(torch.equal(v, wanted[k]) for k, v in loaded.items())


def load(family, folder):
    kind = getattr(transformers, CLASS[family])
    extra = {"add_pooling_layer": False} if family in POOLERS else {}
    if "moe" in family:
        extra["experts_implementation"] = "eager"  # the other implementations lack double precision
    return kind.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager",
                                **extra).eval()


class Reference:
    """The model by its weights, under their names in the file: hidden states and router logits of one text."""

    def __init__(self, family, folder, config):
        self.family, self.config = family, config
        if family in PLAIN:
            w = load_file(folder + "/model.safetensors")
            self.w = {k: v.double().requires_grad_() for k, v in w.items()}
        else:
            self.model = load(family, folder)

    def run(self, ids):
        if self.family in PLAIN:
            return PLAIN[self.family](self.w, self.config, ids)
        routed = {"output_router_logits": True} if "moe" in self.family else {}
        out = self.model(input_ids=ids[None], output_hidden_states=True, **routed)
        hidden = [h[0] for h in out.hidden_states]
        moe = [i + 1 for i in range(len(hidden) - 1)
               if (i + 1) % self.config.get("decoder_sparse_step", 1) == 0]
        self.logits = getattr(out, "logits", None)
        return hidden, dict(zip(moe, getattr(out, "router_logits", None) or ()))

    def round(self):
        with torch.no_grad():
            for p in self.w.values() if self.family in PLAIN else self.model.parameters():
                p.copy_(p.to(torch.bfloat16).double())
            for module in () if self.family in PLAIN else self.model.modules():
                if hasattr(module, "embed_scale"):  # multiplies in the type of the weights
                    module.embed_scale.copy_(module.embed_scale.to(torch.bfloat16).double())

    def gradients(self, loss):
        """The gradients by the names that transformers saves."""
        if self.family in PLAIN:
            g = torch.autograd.grad(loss, list(self.w.values()), allow_unused=True)
            return {k: v for k, v in zip(self.w, g) if v is not None}
        self.model.zero_grad()
        loss.backward(retain_graph=True)
        used = copy.deepcopy(self.model)
        for to, p in zip(used.parameters(), self.model.parameters()):
            to.data = torch.full_like(p, float("nan")) if p.grad is None else p.grad.clone()
        with tempfile.TemporaryDirectory() as folder:
            used.save_pretrained(folder)
            saved = load_file(folder + "/model.safetensors")
        return {k: v for k, v in saved.items() if not v.isnan().any()}


def margin(routers, top):
    """The least distance between the last chosen expert and the first that is not."""
    least = float("inf")
    for logits in routers.values():
        s = logits.sort(-1, descending=True).values
        least = min(least, (s[:, top - 1] - s[:, top]).min().item())
    return least


def experts_of_a_token(config):
    return config.get("num_experts_per_tok", config.get(
        "moe_top_k", config.get("token_experts", {}).get("top", 0)))


def pooled(x, family):
    pool, normalize = POOLING.get(family, ("last", True))
    e = {"cls": x[0], "mean": x.mean(0), "last": x[-1]}[pool]
    return F.normalize(e, dim=-1) if normalize else e


def checkpoint(family, folder, config, generator):
    """Writes random weights to the folder, in the Hub's layout."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder + "/1_Pooling")
    if family in PLAIN:
        weights = {name: draw(name, shape, generator)
                   for name, shape in plain_shapes(family, config).items()}
        save_file(weights, folder + "/model.safetensors", metadata={"format": "pt"})
    else:
        spelled = nomic_5(config) if family == "nomic_bert" else config
        model = getattr(transformers, STORED.get(family, CLASS[family]))(
            transformers.AutoConfig.for_model(**spelled))
        if family in POOLERS:
            model.pooler = None
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(draw(name, p.shape, generator))
                if family.startswith("gemma") and p.dim() == 1:
                    p -= 1  # stored minus one
        model.save_pretrained(folder)
        os.rename(folder + "/config.json", folder + "/config.5.json")
        if family == "nomic_bert":
            other_header(folder, "native.header", nomic_native, model.state_dict())
        if family == "t5_own":
            weights = load_file(folder + "/model.safetensors")
            own = "encoder.embed_tokens.weight"
            weights[own] = draw(own, weights["shared.weight"].shape, generator)
            save_file(weights, folder + "/model.safetensors", metadata={"format": "pt"})
        if family == "olmoe":
            save_file(model.state_dict(), folder + "/stacked.safetensors", metadata={"format": "pt"})
    if family == "gte":
        write(folder, "config.5.json", native_gte(config))
        other_header(folder, "unpacked.header", lambda name: [
            name.replace("qkv", s) for s in ("qkv" if "qkv" in name else ("qkv",))], None)
    if os.path.exists(folder + "/generation_config.json"):
        os.remove(folder + "/generation_config.json")
    pool, normalize = POOLING.get(family, ("last", True))
    types = ["Transformer", "Pooling"] + ["Normalize"] * normalize
    write(folder, "modules.json", [
        {"idx": i, "name": str(i), "path": f"{i}_{t}" if i else "",
         "type": f"sentence_transformers.models.{t}"} for i, t in enumerate(types)])
    write(folder, "1_Pooling/config.json", {
        "word_embedding_dimension": config.get(
            "hidden_size", config.get("n_embd", config.get("d_model", config.get("dim")))),
        "pooling_mode_cls_token": pool == "cls", "pooling_mode_mean_tokens": pool == "mean",
        "pooling_mode_lasttoken": pool == "last"})


def expected(family, folder, config, generator):
    """The expected values, or None if a token's choice of experts is too close to be compared."""
    # transformers reads its own version's spelling; the folder keeps the Hub's
    if family not in PLAIN and family == "nomic_bert":
        shutil.copy(folder + "/config.5.json", folder + "/config.json")
    else:
        write(folder, "config.json", config)
    reference = Reference(family, folder, config)
    ids = torch.randint(FIRST, V, (sum(LENGTHS),), generator=generator)
    texts = ids.split(LENGTHS)
    runs = [reference.run(text) for text in texts]
    top = experts_of_a_token(config)
    if top and margin({i: torch.cat([r[i] for _, r in runs]) for i in runs[0][1]}, top) < 0.03:
        return None
    starts = [0]
    for n in LENGTHS:
        starts.append(starts[-1] + n)
    out = {"ids": ids.int(), "starts": torch.tensor(starts).int()}
    out["states"] = torch.cat([torch.stack(hidden) for hidden, _ in runs], 1)
    if top:
        out["router"] = torch.cat([torch.stack(list(routers.values())) for _, routers in runs], 1)
    emb = torch.stack([pooled(hidden[-1], family) for hidden, _ in runs])
    demb = torch.randn(emb.shape, generator=generator).double()
    out |= {"demb": demb, "folder.emb": emb}
    for name, g in reference.gradients((emb * demb).sum()).items():
        out["folder.grad." + name] = g
    if family in PREDICTS:
        masked_language_model(reference, texts, out, generator)
    limit = config.get("max_position_embeddings", config.get("n_positions", LONG[-1]))
    if family in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        limit -= config["pad_token_id"] + 1
    lengths = [n for n in LONG if n <= limit]
    with torch.no_grad():
        longs = [reference.run(long_ids(n)) for n in lengths]
        if top and min(margin(r, top) for _, r in longs) < 2e-4:
            return None
        last = [hidden[-1] for hidden, _ in longs]
        out |= {"long.lengths": torch.tensor(lengths).int(),
                "long.last": torch.stack([x[-1] for x in last]),
                "long.mean": torch.stack([x.mean(0) for x in last])}
        reference.round()
        runs = [reference.run(text) for text in texts]
        if top and min(margin(r, top) for _, r in runs) < 1e-3:
            return None
        out["bf16.emb"] = torch.stack([pooled(hidden[-1], family) for hidden, _ in runs])
    return out


def masked_language_model(reference, texts, out, generator):
    text = len(texts) // 2 - 1  # the longest
    positions, first = torch.tensor([1, 4, 11]), sum(LENGTHS[:text])
    targets = torch.randint(FIRST, V, (3,), generator=generator)
    reference.run(texts[text])
    loss = F.cross_entropy(reference.logits[0, positions], targets, reduction="sum")
    out |= {"mlm.positions": (positions + first).int(), "mlm.targets": targets.int(),
            "mlm.loss": loss[None]}
    for name, g in reference.gradients(loss).items():
        if name.startswith(("head.", "decoder.", "cls.", "lm_head.", "vocab_", "generator_",
                                             "predictions.")) or "embed" in name:
            out["mlm.grad." + name] = g


def write_values(folder, name, out):
    save_file({k: (v if v.dtype == torch.int32 else v.detach().float()).contiguous()
               for k, v in out.items()}, os.path.join(folder, name + ".safetensors"))


def padded(family):
    """Texts that have padding tokens in them; of tables, torch keeps the gradient of their row at zero."""
    folder, config = os.path.join(HERE, family), CONFIG[family]
    out = load_file(folder + "/expected.safetensors")
    reference, pad = Reference(family, folder, config), config["pad_token_id"]
    starts = out["starts"].tolist()
    ids = out["ids"].long()
    for text, at in ((0, 1), (0, 2), (3, 0), (4, 18), (4, 5), (7, 0)):
        ids[starts[text] + at] = pad
    runs = [reference.run(text)[0] for text in ids.split(LENGTHS)]
    emb = torch.stack([pooled(hidden[-1], family) for hidden in runs])
    gradients = reference.gradients((emb * out["demb"]).sum())
    write_values(folder, "padded", {
        "ids": ids.int(), "starts": out["starts"], "demb": out["demb"], "folder.emb": emb,
        "states": torch.cat([torch.stack(hidden) for hidden in runs], 1)} | {
        "folder.grad." + name: g for name, g in gradients.items()
        if "word_embeddings" not in name and "position_embeddings" not in name})


def variants(family):
    folder = os.path.join(HERE, family)
    if family in PADDED:
        padded(family)
    for name, change in VARIANTS.get(family, {}).items():
        out = expected(family, folder, CONFIG[family] | change, torch.Generator().manual_seed(0))
        write_values(folder, name, out)


def make(family):
    folder, config = os.path.join(HERE, family), CONFIG[family]
    for seed in range(1000):
        generator = torch.Generator().manual_seed(seed)
        checkpoint(family, folder, config, generator)
        out = expected(family, folder, config, generator)
        if out:
            break
    if family == "gte":
        with tempfile.TemporaryDirectory() as twin:
            shutil.copy(folder + "/config.5.json", twin + "/config.json")
            shutil.copy(folder + "/model.safetensors", twin)
            model = transformers.GteModel.from_pretrained(
                twin, dtype=torch.float64, attn_implementation="eager")
            ours, _ = gte({k: v.double() for k, v in load_file(
                folder + "/model.safetensors").items()}, config, long_ids(129))
            theirs = model(input_ids=long_ids(129)[None], output_hidden_states=True).hidden_states
            worst = max((a - b[0]).abs().max().item() for a, b in zip(ours, theirs, strict=True))
            assert worst < 5e-5, f"gte: transformers differs by {worst}"  # its angles are float32
    if family == "deepseek":
        check_deepseek(load_file(folder + "/model.safetensors"), config, long_ids(40))
    write_values(folder, "expected", out)
    variants(family)
    write(folder, "config.json", config)
    sizes = 0
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            os.chmod(path, 0o644)
            sizes += os.path.getsize(path)
    print(f"{family}: seed {seed}, {sizes} bytes")


if __name__ == "__main__":
    os.umask(0o022)
    torch.set_num_threads(1)
    for family in sys.argv[1:] or CONFIG:
        make(family)
