#!/usr/bin/env python3
"""Compare encode with transformers on models of real width, drawn at random, of a few layers.

For each family: the folder is written, encode and sentence-transformers (single precision; eager
attention and sdpa) embed the same ids, and the greatest difference of an element of unit
embeddings is printed.  gemma3 has EmbeddingGemma's modules: mean, Dense 768 -> 3072 -> 768,
Normalize.  The reference of bf16 weights is computed in single precision, but with the factor
of the embeddings rounded, as transformers rounds it in bf16.
Needs torch, transformers 5.23, sentence-transformers, a build with its helpers:
    python3 tests/golden/wide.py [BUILD [FAMILY...]]
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import torch.nn.functional as F
import transformers
from sentence_transformers.models import Dense

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LENGTHS = [1, 2, 127, 128, 129, 512, 700]
V = 512
COMMON = {"vocab_size": V, "max_position_embeddings": 2048, "hidden_act": "silu", "pad_token_id": 0}
BERT = {"vocab_size": V, "max_position_embeddings": 1024, "pad_token_id": 0}
LLAMA3 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192, "rope_theta": 500000.0}
GEMMA = {"head_dim": 256, "num_key_value_heads": 1, "query_pre_attn_scalar": 256, "sliding_window": 512,
         "num_hidden_layers": 7, "vocab_size": V, "max_position_embeddings": 2048}
CONFIG = {  # model type, pooling, stored type, configuration
    "gemma3": ("gemma3_text", "mean", torch.float32, GEMMA | {  # embeddinggemma-300m
        "hidden_size": 768, "intermediate_size": 1152, "num_attention_heads": 3,
        "use_bidirectional_attention": True}),
    "harrier": ("gemma3_text", "last", torch.bfloat16, GEMMA | {  # harrier-oss-v1-270m
        "hidden_size": 640, "intermediate_size": 2048, "num_attention_heads": 4}),
    "qwen2": ("qwen2", "last", torch.float32, COMMON | {  # gte-Qwen2-1.5B
        "hidden_size": 1536, "intermediate_size": 8960, "num_attention_heads": 12,
        "num_key_value_heads": 2, "num_hidden_layers": 2, "is_causal": False, "rope_theta": 1e6}),
    "llama": ("llama", "last", torch.float32, COMMON | {  # Llama 3.2 1B
        "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "head_dim": 64,
        "num_key_value_heads": 8, "num_hidden_layers": 2, "rope_parameters": LLAMA3}),
    "mistral": ("mistral", "last", torch.float32, COMMON | {
        "hidden_size": 2048, "intermediate_size": 7168, "num_attention_heads": 16, "head_dim": 128,
        "num_key_value_heads": 4, "num_hidden_layers": 2, "sliding_window": 256}),
    "eurobert": ("eurobert", "mean", torch.float32, COMMON | {  # EuroBERT-210m
        "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
        "num_hidden_layers": 4, "rope_theta": 250000.0}),
    "ultrabert": ("ultrabert", "mean", torch.float32, COMMON | {  # UltraBERT-150M
        "hidden_size": 768, "intermediate_size": 1152, "num_attention_heads": 12, "num_hidden_layers": 6}),
    "lfm2": ("lfm2", "mean", torch.float32, COMMON | {  # LFM2-ColBERT-350M
        "hidden_size": 1024, "intermediate_size": 6656, "num_attention_heads": 16, "num_key_value_heads": 8, "num_hidden_layers": 6,
        "layer_types": ["conv", "conv", "full_attention"] * 2}),
    "embedding_gemma2": ("embedding_gemma2_text", "mean", torch.float32, {  # embeddinggemma-2
        "vocab_size": V, "pad_token_id": 0, "num_hidden_layers": 7}),
    "albert": ("albert", "mean", torch.float32, BERT | {  # albert-base-v2
        "hidden_size": 768, "embedding_size": 128, "intermediate_size": 3072,
        "num_attention_heads": 12, "num_hidden_layers": 12}),
    "electra": ("electra", "mean", torch.float32, BERT | {  # electra-small-discriminator
        "hidden_size": 256, "embedding_size": 128, "intermediate_size": 1024,
        "num_attention_heads": 4, "num_hidden_layers": 4}),
    "ernie": ("ernie", "mean", torch.float32, BERT | {  # ernie-3.0-base-zh
        "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
        "num_hidden_layers": 4, "use_task_id": True, "type_vocab_size": 4}),
}


def draw(kind, config, dtype, folder):
    made = transformers.AutoConfig.for_model(kind, **config)
    model = transformers.AutoModel.from_config(made)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:  # Gemma stores weight - 1
                p.copy_(0.2 * torch.randn(p.shape) + ("norm" in name and kind != "gemma3_text"))
                p.mul_(0.1 if kind == "embedding_gemma2_text" and "q_norm" in name else 1)  # scores are not divided
            else:
                p.copy_(torch.randn(p.shape) / (1 if "embed" in name else p.shape[1] ** 0.5))
    model.to(dtype).save_pretrained(folder)


def modules(folder, kind, pool, width):
    """The modules after the transformer, in torch."""
    types, dense = ["Transformer", "Pooling"], []
    if kind == "gemma3":
        types += ["Dense", "Dense"]
        dense = [Dense(width, 4 * width, bias=False, activation_function=torch.nn.Identity()),
                 Dense(4 * width, width, bias=False, activation_function=torch.nn.Identity())]
    types.append("Normalize")
    os.makedirs(folder + "/1_Pooling")
    for i, module in enumerate(dense):
        os.makedirs(f"{folder}/{i + 2}_Dense")
        module.save(f"{folder}/{i + 2}_Dense")
    with open(folder + "/modules.json", "w") as f:
        json.dump([{"idx": i, "name": str(i), "path": f"{i}_{t}" if i else "",
                    "type": f"sentence_transformers.models.{t}"} for i, t in enumerate(types)], f)
    with open(folder + "/1_Pooling/config.json", "w") as f:
        json.dump({"word_embedding_dimension": width, "pooling_mode_mean_tokens": pool == "mean",
                   "pooling_mode_lasttoken": pool == "last"}, f)
    return dense


def reference(folder, dtype, pool, dense, texts, attention):
    model = transformers.AutoModel.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention).eval()
    if dtype == torch.bfloat16:
        model.embed_tokens.embed_scale.copy_(model.embed_tokens.embed_scale.bfloat16())
    out = []
    with torch.no_grad():
        for text in texts:
            x = model(input_ids=torch.tensor([text])).last_hidden_state[0]
            e = x.mean(0) if pool == "mean" else x[-1]
            for module in dense:
                e = module({"sentence_embedding": e[None]})["sentence_embedding"][0]
            out.append(F.normalize(e, dim=-1))
    return torch.stack(out)


def ours(build, folder, texts):
    lines = "".join(" ".join(map(str, t)) + "\n" for t in texts)
    helper = build + "/support/ids_stream"
    stream = subprocess.run([helper, "text.ids"], input=lines.encode(), stdout=-1, check=True).stdout
    coded = subprocess.run([build + "/bin/encode", "-q", "-j1", "--any-tokenizer", "-m", folder],
                           input=stream, stdout=-1, check=True).stdout
    rows = subprocess.run([helper, "--rows", "text.emb"], input=coded, stdout=-1, check=True).stdout
    return torch.tensor([[float(x) for x in row.split()] for row in rows.decode().splitlines()])


if __name__ == "__main__":
    torch.set_num_threads(1)
    build = sys.argv[1] if len(sys.argv) > 1 else ROOT + "/build/cpu"
    for name in sys.argv[2:] or CONFIG:
        kind, pool, dtype, config = CONFIG[name]
        torch.manual_seed(1)
        texts = [torch.randint(3, V, (n,)).tolist() for n in LENGTHS]
        folder = tempfile.mkdtemp()
        draw(kind, config, dtype, folder)
        dense = modules(folder, name, pool, config.get("hidden_size", 768))
        got = ours(build, folder, texts)
        for attention in "eager", "sdpa":
            want = reference(folder, dtype, pool, dense, texts, attention)
            print(f"{name} {attention}: greatest difference {(got - want).abs().max():.3g}, "
                  f"least cosine {F.cosine_similarity(got, want).min():.8f}", flush=True)
        shutil.rmtree(folder)
