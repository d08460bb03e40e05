/*
 * spec - what a transformer is: the specification that drives the one forward and the one
 * backward pass.  A family (bert.c, nomic_bert.c, ...) fills it in from config.json and says
 * which tensor of the checkpoint is which parameter; nothing else knows families.
 */
#ifndef SPEC_H
#define SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn.h"
#include "tree.h"

enum { SPEC_EXPERTS = 64, SPEC_LAYERS = 256 };

struct spec {
	const char *family; /* model_type of config.json */
	int layers, width, heads, kv_heads, head_size, inner, vocabulary, positions,
	    types;
	bool position_table; /* learned absolute positions */
	bool rotary;
	double rotary_base;
	bool causal;
	int window;	   /* local attention: |i - j| <= window; 0: global */
	enum nn_norm norm; /* after each residual sum: norm(x + f(x)) */
	float norm_eps;
	enum nn_act act;
	bool gated; /* down(up(x) * act(gate(x))); else down(act(up(x))) */
	bool fused; /* q, k and v are rows of one tensor, in this order: one product */
	bool qkv_bias, out_bias, up_bias, down_bias, mlm_bias;
	double initializer_range;
	/* Task experts (MoTE; config.json "task_experts"): each has its own MLP and, with
	 * expert_norms, its own two norms, in every block with expert_layer set. */
	int experts;
	const char *expert_names[SPEC_EXPERTS]; /* borrowed from config */
	bool expert_norms;
	bool expert_layer[SPEC_LAYERS];
};

/* The parameters of a block; every family maps its tensors to these. */
enum block_parameter {
	BLOCK_Q,
	BLOCK_Q_BIAS,
	BLOCK_K,
	BLOCK_K_BIAS,
	BLOCK_V,
	BLOCK_V_BIAS,
	BLOCK_OUT,
	BLOCK_OUT_BIAS,
	/* the expert part */
	BLOCK_NORM1,
	BLOCK_NORM1_BIAS,
	BLOCK_UP,
	BLOCK_UP_BIAS,
	BLOCK_GATE,
	BLOCK_GATE_BIAS,
	BLOCK_DOWN,
	BLOCK_DOWN_BIAS,
	BLOCK_NORM2,
	BLOCK_NORM2_BIAS,
	BLOCK_PARAMETERS
};

/* The parameters outside the blocks.  MLM_*: the masked-language-model head. */
enum stem_parameter {
	STEM_TOKENS,
	STEM_POSITIONS,
	STEM_TYPES,
	STEM_NORM,
	STEM_NORM_BIAS,
	STEM_MLM_DENSE,
	STEM_MLM_DENSE_BIAS,
	STEM_MLM_NORM,
	STEM_MLM_NORM_BIAS,
	STEM_MLM_BIAS,
	STEM_PARAMETERS
};

/* Where a parameter lies in a checkpoint: rows first..first+rows-1 of a tensor. */
struct place {
	char name[160];
	int64_t first_row; /* into the named tensor, e.g. the k part of a fused Wqkv */
	int64_t
	    tensor_rows; /* rows of the whole tensor, 0: as many as the parameter has */
};

struct family {
	const char *model_type;
	/* Fill the spec (which is cleared before); die naming file, key and expected value. */
	void (*configure)(struct spec *spec, const struct tree *config);
	/* Prefixes that checkpoints put before the names ("", "bert.", "model."). */
	const char *const *prefixes;
	/* Names, without prefix; an empty name: this family has no such parameter. */
	void (*stem)(
	    const struct spec *spec, enum stem_parameter which, struct place *place);
	void (*block)(const struct spec *spec, int layer, enum block_parameter which,
	    struct place *place);
};

/* One line a family. */
extern const struct family family_bert, family_nomic_bert;

/* The checks and conveniences that families share. -------------------------------- */

/* What must hold for any model: heads divide the width, rotary heads are even, and so on.
 * Dies naming config's file. */
void spec_check(const struct spec *spec, const struct tree *config);

/* "activation" of a config as the kernels call it; dies naming the key. */
enum nn_act spec_activation(
    const struct tree *config, const char *key, const char *otherwise);

/* place->name = format; the whole tensor. */
void place_at(struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Shape of a parameter under a specification; false when the model has none such.
 * columns is 0 for a vector. */
bool spec_block_shape(
    const struct spec *spec, enum block_parameter which, int64_t *rows, int64_t *columns);
bool spec_stem_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns);

#endif
