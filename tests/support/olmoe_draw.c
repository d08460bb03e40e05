/*
 * olmoe_draw DIR [LAYERS] - a folder with the shapes of OLMoE-1B-7B, 16 layers or fewer, and random weights in
 * bf16: 13.8 GB
 *
 * For measuring time and memory; its embeddings are meaningless.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "folder/safetensors.h"

enum { LAYERS = 16, EXPERTS = 64, WIDTH = 2048, INNER = 1024, VOCABULARY = 50304 };
enum { TABLE = 1 << 12, PIECE = 1 << 16 };

static const char config[] =
    "{\"model_type\": \"olmoe\", \"vocab_size\": 50304, \"hidden_size\": 2048, \"intermediate_size\": 1024,\n"
    "\"num_hidden_layers\": %d, \"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"num_experts\": 64,\n"
    "\"num_experts_per_tok\": 8, \"norm_topk_prob\": false, \"hidden_act\": \"silu\", \"max_position_embeddings\": 4096,\n"
    "\"rms_norm_eps\": 1e-05, \"rope_theta\": 10000.0, \"tie_word_embeddings\": false}\n";

static struct safetensor tensors[LAYERS * (EXPERTS * 3 + 9) + 3];
static int count;

/* columns 0: a norm */
static void
add(char *name, int64_t rows, int64_t columns)
{
	tensors[count++] = (struct safetensor){ .name = name,
		.dtype = DTYPE_BF16,
		.rank = columns ? 2 : 1,
		.shape = { rows, columns },
		.count = (size_t)(rows * (columns ? columns : 1)) };
}

static void
add_layer(int layer)
{
	static const char *const norms[] = { "input_layernorm",
		"post_attention_layernorm", "self_attn.q_norm", "self_attn.k_norm" };
	static const char *const mlps[] = { "gate", "up", "down" };

	for (int i = 0; i < 4; i++) {
		add(mem_format("model.layers.%d.%s.weight", layer, norms[i]), WIDTH, 0);
		add(mem_format(
			"model.layers.%d.self_attn.%c_proj.weight", layer, "qkvo"[i]),
		    WIDTH, WIDTH);
	}
	add(mem_format("model.layers.%d.mlp.gate.weight", layer), EXPERTS, WIDTH);
	for (int expert = 0; expert < EXPERTS; expert++)
		for (int i = 0; i < 3; i++)
			add(mem_format("model.layers.%d.mlp.experts.%d.%s_proj.weight",
				layer, expert, mlps[i]),
			    i == 2 ? WIDTH : INNER, i == 2 ? INNER : WIDTH);
}

/* The values of a tensor, a piece at a time. */
static void
put(struct safetensors_writer *writer, const struct safetensor *tensor, struct rng *rng,
    const uint16_t *normal)
{
	static union {
		uint16_t values[PIECE];
		uint64_t words[PIECE / 4];
	} piece;

	for (size_t at = 0, some; at < tensor->count; at += some) {
		some = tensor->count - at < PIECE ? tensor->count - at : PIECE;
		for (size_t i = 0; i < PIECE / 4; i++)
			piece.words[i] = rng_next(rng);
		for (size_t i = 0; i < PIECE; i++)
			piece.values[i] = tensor->rank == 2
					      ? normal[piece.values[i] % TABLE]
					      : bf16_narrow(1);
		safetensors_put(writer, piece.values, 2 * some);
	}
}

int
main(int argc, char **argv)
{
	static uint16_t normal[TABLE];
	struct rng rng = rng_seed(1, 0);

	program_name = "olmoe_draw";
	if (argc < 2)
		die_usage("olmoe_draw DIR [LAYERS]");
	int layers = argc > 2 ? atoi(argv[2]) : LAYERS;
	if (layers < 1 || layers > LAYERS)
		die_usage("1 to %d layers", LAYERS);
	add(mem_string("model.embed_tokens.weight"), VOCABULARY, WIDTH);
	for (int layer = 0; layer < layers; layer++)
		add_layer(layer);
	add(mem_string("model.norm.weight"), WIDTH, 0);
	add(mem_string("lm_head.weight"), VOCABULARY, WIDTH);
	for (int i = 0; i < TABLE; i++)
		normal[i] = bf16_narrow((float)(0.02 * rng_normal(&rng)));
	char *text = mem_format(config, layers);
	folder_write(argv[1], "config.json", text, strlen(text));
	char *path = mem_format("%s/model.safetensors", argv[1]);
	struct safetensors_writer *writer =
	    safetensors_create(path, tensors, count, NULL, NULL);
	for (int i = 0; i < count; i++)
		put(writer, &tensors[i], &rng, normal);
	safetensors_finish(writer);
	return 0;
}
