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

#include "nn/nn.h"
#include "text/tree.h"

enum {
	SPEC_EXPERTS = 64,
	SPEC_LAYERS = 256,
	SPEC_ROTARIES = 2,
	SPEC_TOKEN_EXPERTS = 1024
};

/* Rotary positions: angle = position x inverse[i], i in 0..D/2-1. */
struct spec_rotary {
	double base; /* inverse[i] = base^(-2i/D) / divisor */
	double
	    divisor; /* 1; static NTK (GTE v1.5) folds its factor into base and divisor */
	/* Dynamic NTK: a sequence of T > trained tokens has the base
	 * base ((factor T / trained) - (factor - 1))^(D/(D-2)); factor 0: off.  A function of
	 * the sequence's own length: the reference takes the batch's, and remembers it. */
	double factor;
	int trained;
};

/* Norms of q and k before the rotation (RMSNorm). */
enum spec_qk_norm {
	SPEC_QK_PLAIN,
	SPEC_QK_HEAD, /* each head by itself, one weight [D] for all (Qwen3) */
	SPEC_QK_ALL   /* all heads together, weights [H D] and [K D] (OLMoE) */
};

/* Token experts (mixture.h): a router sends every token to the `top` best of `count` MLPs. */
struct spec_mixture {
	int count, top, inner;
	bool renormalize; /* the weights of the chosen ones sum to 1 */
	bool
	    shared_gate; /* the dense MLP beside them counts sigmoid(gate . x) (Qwen2-MoE) */
};

struct spec_layer {
	bool norm1; /* false: its first norm is the identity (ModernBERT's first block) */
	int window; /* local attention: |i - j| <= window; 0: global */
	int rotary; /* index into spec.rotary */
	int inner;  /* channels of the dense MLP, or of the shared experts; 0: none */
	bool mixture; /* has token experts; their sum and the dense MLP's are added */
	bool experts; /* has task experts */
};

struct spec {
	const char *family; /* model_type of config.json */
	int layers, width, heads, kv_heads, head_size, vocabulary, positions, types;
	bool position_table; /* learned absolute positions */
	int rotaries;	     /* 0: no rotary positions */
	struct spec_rotary rotary[SPEC_ROTARIES];
	bool causal;
	/* Where the norms stand.  Post: y = norm1(x + attention(x)), z = norm2(y + mlp(y)).
	 * Pre: y = x + attention(norm1(x)), z = y + mlp(norm2(y)), and a norm after the last
	 * block. */
	bool prenorm;
	bool embedding_norm; /* after the sum of the embeddings */
	enum nn_norm norm;
	bool norm_bias;
	float norm_eps;
	enum spec_qk_norm qk_norm;
	enum nn_act act;
	bool gated; /* down(up(x) * act(gate(x))); else down(act(up(x))) */
	bool
	    fused; /* the plan finds it: q, k and v are parts of one tensor, one product */
	bool qkv_bias, out_bias, up_bias, down_bias, mlm_bias;
	bool pool_last; /* decoders: pool the last token where the folder says nothing */
	double initializer_range;
	struct spec_mixture mixture;
	struct spec_layer layer[SPEC_LAYERS];
	/* Task experts (MoTE; config.json "task_experts"): each has its own MLP and, with
	 * expert_norms, its own two norms, in every block with layer[].experts set. */
	int experts;
	const char *expert_names[SPEC_EXPERTS]; /* borrowed from config */
	bool expert_norms;
};

/* The parameters of a block; every family maps its tensors to these. */
enum block_parameter {
	BLOCK_Q,
	BLOCK_Q_BIAS,
	BLOCK_K,
	BLOCK_K_BIAS,
	BLOCK_V,
	BLOCK_V_BIAS,
	BLOCK_Q_NORM,
	BLOCK_K_NORM,
	BLOCK_OUT,
	BLOCK_OUT_BIAS,
	BLOCK_ROUTER,	   /* [mixture.count, C] */
	BLOCK_SHARED_GATE, /* [1, C] */
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

/* The parameters of one token expert: gated, without biases. */
enum mixture_parameter {
	MIXTURE_UP,   /* [mixture.inner, C] */
	MIXTURE_GATE, /* the same */
	MIXTURE_DOWN, /* [C, mixture.inner] */
	MIXTURE_PARAMETERS
};

/* The parameters outside the blocks.  MLM_*: the masked-language-model head. */
enum stem_parameter {
	STEM_TOKENS,
	STEM_POSITIONS,
	STEM_TYPES,
	STEM_NORM,
	STEM_NORM_BIAS,
	STEM_FINAL_NORM, /* after the last block, with prenorm */
	STEM_FINAL_NORM_BIAS,
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
	int64_t stack; /* of so many matrices, [stack, rows / stack, C]; 0: one matrix */
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
	/* NULL: a family without token experts. */
	void (*mixture)(const struct spec *spec, int layer, int expert,
	    enum mixture_parameter which, struct place *place);
	/* Other names (prefixes, stem, block), for a file that has not the first block's queries
	 * under these; NULL: there are none. */
	const struct family *otherwise;
};

/* One line a family. */
extern const struct family family_bert, family_nomic_bert, family_modernbert, family_new,
    family_gte, family_qwen3, family_olmoe, family_qwen2_moe, family_deepseek;

/* Names only: those that transformers 5 has in memory for NomicBERT and GTE.  It saves the
 * Hub's, but not every program that writes its models does. */
extern const struct family family_native;

/* The checks and conveniences that families share. -------------------------------- */

/* What must hold for any model: heads divide the width, rotary heads are even, and so on.
 * Dies naming config's file. */
void spec_check(const struct spec *spec, const struct tree *config);

/* "activation" of a config as the kernels call it; dies naming the key. */
enum nn_act spec_activation(
    const struct tree *config, const char *key, const char *otherwise);

/* Vocabulary, width, layers, heads (as many for keys and values) and positions as most configs
 * spell them: vocab_size, hidden_size, ...; and initializer_range. */
void spec_sizes(struct spec *spec, const struct tree *config);

/* Die unless the boolean `key` is `expected`, which it is when absent. */
void spec_expect(const struct tree *config, const char *key, bool expected);

/* spec->head_size = width / heads; dies, naming the key of the heads, where one does not divide
 * the other. */
void spec_divide_heads(struct spec *spec, const struct tree *config, const char *key);

/*
 * The rotary table as transformers spells it: "rope_theta" beside "rope_scaling", or both in
 * "rope_parameters" (transformers 5).  base: where there is no theta.  Of scalings, "linear",
 * "dynamic" and "ntk" (GTE v1.5) are known, the others refused; with "dynamic", positions is what
 * was trained, and no longer a limit.  spec->head_size and positions are set before.
 */
void spec_rotary(struct spec *spec, const struct tree *config, double base);

/* place->name = format; the whole tensor. */
void place_at(struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Narrow a place to part `part` of `parts` equal ones of `rows` rows each. */
void place_part(struct place *place, int part, int parts, int rows);

/* Every block the same: its first norm, the dense MLP, rotary table 0, global attention. */
void spec_layers(struct spec *spec, int inner);

/* Shape of a parameter under a specification; false when the model has none such.
 * columns is 0 for a vector. */
bool spec_block_shape(const struct spec *spec, int layer, enum block_parameter which,
    int64_t *rows, int64_t *columns);
void spec_mixture_shape(const struct spec *spec, enum mixture_parameter which,
    int64_t *rows, int64_t *columns);
bool spec_stem_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns);

#endif
