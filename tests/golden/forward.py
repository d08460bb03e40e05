#!/usr/bin/env python3
"""Make forward/: tiny random checkpoints of the families that are encoded with and not trained, and of EmbeddingGemma 2 and LFM2,
and embeddings by transformers in double precision.

forward/FORM/ has config.json and model.safetensors; ids.txt the ids of texts of 1 to 300 tokens, a line each; FORM.txt the mean
of each text's last hidden states, of nvembed its direction.  buckets: DeBERTa v3, its far distances in buckets; plain: DeBERTa v2, distances up to 12 by
themselves, token types, rows that are not normed; gemma2: windows of 7, scores that are capped; uncapped: the same model
without; nvembed: Mistral that sees both ways, without its window, then latent attention, which transformers lacks;
embedding_gemma2: windows of 7, larger heads in layers without, a tensor of the vision tower; lfm2: convolutions in three layers,
attention in two; lfm2_both: in both directions, as LFM2.5's encoders, which transformers lacks.
FORM.safetensors has gradients of these three, of sum(emb * demb), by the names in the file.
Needs torch, transformers 5.24:  python3 tests/golden/forward.py
"""
import json
import os
import random
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from transformers import (DebertaV2Config, DebertaV2Model, EmbeddingGemma2Config, EmbeddingGemma2Model, Gemma2Config, Gemma2Model,
                          Lfm2Config, Lfm2Model, MistralConfig, MistralModel)

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forward")
V, LENGTHS = 40, [1, 2, 5, 17, 40, 130, 300]
SMALL = {"vocab_size": V, "hidden_size": 12, "num_attention_heads": 2, "intermediate_size": 20, "initializer_range": 0.4}
DEBERTA = SMALL | {"num_hidden_layers": 2, "relative_attention": True, "share_att_key": True, "position_biased_input": False}
GEMMA = SMALL | {"num_hidden_layers": 3, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 512, "sliding_window": 7,
                 "query_pre_attn_scalar": 5, "attn_implementation": "eager"}
LARGER = {"head_dim": 10, "num_key_value_heads": 1}
GEMMA2 = SMALL | {"num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "max_position_embeddings": 512,
                  "sliding_window": 7, "layer_types": ["sliding_attention", "full_attention"] * 2, "per_layer_config": {1: LARGER, 3: LARGER},
                  "hidden_size_per_layer_input": 8, "embedding_dim": 14}
LFM2 = SMALL | {"num_hidden_layers": 5, "num_key_value_heads": 1, "max_position_embeddings": 512, "block_multiple_of": 6,
                "layer_types": ["conv", "conv", "full_attention", "conv", "full_attention"], "attn_implementation": "eager"}


class Lfm2Both(Lfm2Model):
    """Lfm2Model with attention and convolutions in both directions."""

    def __init__(self, config):
        super().__init__(config)
        for layer in self.layers:
            if not layer.is_attention_layer:
                layer.conv.forward = lambda hidden_states, own=layer.conv, **_: self.convolve(own, hidden_states)

    def convolve(self, own, x):
        b, c, x = own.in_proj(x).transpose(1, 2).chunk(3, 1)
        y = F.conv1d(b * x, own.conv.weight, own.conv.bias, padding=own.conv_kernel_size // 2, groups=b.shape[1])[..., :b.shape[2]]
        return own.out_proj((c * y).transpose(1, 2))


FORMS = {
    "buckets": (DebertaV2Model, DebertaV2Config(**DEBERTA, position_buckets=8, max_relative_positions=100, max_position_embeddings=300,
                                                type_vocab_size=0, norm_rel_ebd="layer_norm", pos_att_type=["p2c", "c2p"])),
    "plain": (DebertaV2Model, DebertaV2Config(**DEBERTA, max_relative_positions=12, max_position_embeddings=300, type_vocab_size=2,
                                              pos_att_type="c2p|p2c")),
    "gemma2": (Gemma2Model, Gemma2Config(**GEMMA, attn_logit_softcapping=1.5)),
    "uncapped": (Gemma2Model, Gemma2Config(**GEMMA, attn_logit_softcapping=None)),
    "embedding_gemma2": (EmbeddingGemma2Model, EmbeddingGemma2Config(text_config=GEMMA2, vision_config=None, audio_config=None,
                                                                     attn_implementation="eager")),
    "lfm2": (Lfm2Model, Lfm2Config(**LFM2)),
    "lfm2_both": (Lfm2Both, Lfm2Config(**LFM2, conv_L_cache=4, conv_bias=True, is_causal=False)),
}
MISTRAL = SMALL | {"num_hidden_layers": 2, "num_key_value_heads": 1, "head_dim": 6, "max_position_embeddings": 512}
LATENTS, HEADS, SIZE = 5, 3, 4


def latent_shapes(C):
    block = "latent_attention_model.cross_attend_blocks."
    norms = {f"{block}{n}.{p}": (C,) for n in ("0.norm", "0.norm_context", "1.norm") for p in ("weight", "bias")}
    D = HEADS * SIZE
    return norms | {"latent_attention_model.latents": (LATENTS, C), block + "0.fn.to_q.weight": (D, C),
                    block + "0.fn.to_kv.weight": (2 * D, C), block + "0.fn.to_out.weight": (C, D),
                    block + "1.fn.net.0.weight": (8 * C, C), block + "1.fn.net.0.bias": (8 * C,),
                    block + "1.fn.net.2.weight": (C, 4 * C), block + "1.fn.net.2.bias": (C,)}


def latent_attention(w, x):
    """Hidden states [T,C] through NV-Embed's attention to latents and its MLP."""
    part = lambda name: w["latent_attention_model.cross_attend_blocks." + name]
    norm = lambda y, name: F.layer_norm(y, y.shape[-1:], part(name + ".weight"), part(name + ".bias"))
    split = lambda y: y.view(len(y), HEADS, SIZE).transpose(0, 1)
    q = split(norm(x, "0.norm") @ part("0.fn.to_q.weight").T)
    k, v = map(split, (norm(w["latent_attention_model.latents"], "0.norm_context") @ part("0.fn.to_kv.weight").T).chunk(2, -1))
    a = ((q @ k.transpose(1, 2) / SIZE ** 0.5).softmax(-1) @ v).transpose(0, 1).flatten(1)
    x = x + a @ part("0.fn.to_out.weight").T
    up, gate = F.linear(norm(x, "1.norm"), part("1.fn.net.0.weight"), part("1.fn.net.0.bias")).chunk(2, -1)
    return x + F.linear(up * F.gelu(gate), part("1.fn.net.2.weight"), part("1.fn.net.2.bias"))


def nvembed(texts):
    torch.manual_seed(7)
    text = MistralConfig(**MISTRAL, sliding_window=None, attn_implementation="eager")
    model = MistralModel(text).eval()
    for p in model.parameters():
        p.data = p.data.half().float()
    own = {name: torch.randn(shape) / (shape[-1] ** 0.5 if len(shape) > 1 else 3) for name, shape in latent_shapes(12).items()}
    own = {name: p.half() for name, p in own.items()}  # as published
    folder = HERE + "/nvembed"
    os.makedirs(folder)
    save_file({"embedding_model." + name: p.data.half() for name, p in model.named_parameters()} | own, folder + "/model.safetensors",
              metadata={"format": "pt"})
    with open(folder + "/config.json", "w") as out:
        json.dump({"model_type": "nvembed", "hidden_size": 12, "add_eos": True, "is_mask_instruction": True, "padding_side": "right",
                   "latent_attention_config": {"model_type": "latent_attention", "num_latents_value": LATENTS, "latent_dim": 12,
                                               "hidden_dim": 12, "num_cross_heads": HEADS, "cross_dim_head": SIZE,
                                               "output_normalize": True},
                   "text_config": MISTRAL | {"model_type": "bidir_mistral", "sliding_window": 7, "rms_norm_eps": 1e-6}}, out, indent=2)
        out.write("\n")
    model, own = model.double(), {name: p.double() for name, p in own.items()}
    with open(HERE + "/nvembed.txt", "w") as out, torch.no_grad():
        for ids in texts:
            both_ways = torch.zeros(1, 1, len(ids), len(ids), dtype=torch.float64)
            x = model(input_ids=torch.tensor([ids]), attention_mask=both_ways).last_hidden_state[0]
            x = F.normalize(latent_attention(own, x).mean(0), dim=-1)
            print(*(f"{v:.9f}" for v in x.tolist()), file=out)


def gradients(model, texts, path):
    """Embeddings of texts, and the gradients of sum(emb * demb)."""
    emb = torch.stack([model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0) for ids in texts])
    demb = torch.randn(emb.shape).double()
    (emb * demb).sum().backward()
    starts = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
    out = {"ids": torch.tensor(sum(texts, [])).int(), "starts": torch.tensor(starts).int(), "demb": demb, "folder.emb": emb}
    out |= {"folder.grad." + name: p.grad for name, p in model.named_parameters()}
    save_file({name: x.detach() if x.dtype == torch.int32 else x.detach().float() for name, x in out.items()}, path)


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    rng = random.Random(1)
    texts = [[rng.randrange(3, V) for _ in range(n)] for n in LENGTHS]
    with open(HERE + "/ids.txt", "w") as out:
        out.writelines(" ".join(map(str, ids)) + "\n" for ids in texts)
    for form, (kind, config) in FORMS.items():
        torch.manual_seed(len(form))
        model = kind(config).eval()
        for p in model.parameters():
            if p.dim() == 1:
                p.data += 0.2 * torch.randn_like(p)
        for name, factor in model.named_buffers():
            if name.endswith("layer_scalar"):
                factor.data.uniform_(0.5, 1.5)
        model.save_pretrained(f"{HERE}/{form}")
        # older files of DeBERTa have it, and the reference ignores it; images are not encoded
        ignored = {"buckets": "embeddings.position_embeddings.weight", "embedding_gemma2": "vision_tower.patch.weight"}.get(form)
        if ignored:
            file = f"{HERE}/{form}/model.safetensors"
            save_file(load_file(file) | {ignored: torch.ones(4, 12)}, file, metadata={"format": "pt"})
        if form == "lfm2_both":
            path = f"{HERE}/{form}/config.json"
            with open(path) as file:
                config = json.load(file) | {"architectures": ["Lfm2BidirectionalModel"]}
            del config["is_causal"]
            with open(path, "w") as file:
                json.dump(config, file, indent=2)
                file.write("\n")
        model = model.double()
        with open(f"{HERE}/{form}.txt", "w") as out, torch.no_grad():
            for ids in texts:
                x = model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0)
                print(*(f"{v:.9f}" for v in x.tolist()), file=out)
        if form in ("embedding_gemma2", "lfm2", "lfm2_both"):
            gradients(model, texts[1:5], f"{HERE}/{form}.safetensors")
    nvembed(texts)


main()
