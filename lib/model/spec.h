/*
 * spec - the specification of a transformer, which drives the one forward and the one backward pass.
 *
 * The model's family (family/family.h) fills it in from config.json, and names the tensor of the checkpoint for each
 * parameter; nothing else knows families.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

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
	int size;    /* D; 0: the model's head_size */
	double base; /* inverse[i] = base^(-2i/D) / divisor */
	double
	    divisor; /* 1; static NTK (GTE v1.5) folds its factor into base and divisor */
	/* Dynamic NTK: a sequence of T > trained tokens has the base
	 * base ((factor T / trained) - (factor - 1))^(D/(D-2)); factor 0: off.  T is the length of the sequence; the
	 * reference takes the batch's, and keeps it for later texts, so that an embedding depends on other texts. */
	double factor;
	int trained;
	/* llama3 and yarn: inverse[i] is divided by own[i] as well, and scores are multiplied by `attention`; 0: not. */
	double own[NN_MAX_HEAD / 2], attention;
};

/* Norms of q and k before the rotation (RMSNorm). */
enum spec_qk_norm {
	SPEC_QK_PLAIN,
	SPEC_QK_HEAD, /* each head by itself, one weight [D] for all (Qwen3) */
	SPEC_QK_ALL /* all heads together, weights [H D] and [K D], with norm_bias biases too (OLMoE) */
};

/* Token experts (mixture.h): a router sends every token to the `top` best of `count` MLPs. */
struct spec_mixture {
	int count, top, inner;
	bool renormalize; /* the weights of a token's experts sum to 1 */
	double balance;	  /* weight of the load-balancing loss (balance.h) by config.json:
			 * "router_aux_loss_coef", else "aux_loss_alpha", else 0.001 */
	bool
	    balance_apart; /* "aux_loss_alpha": the reference's loss is one a block, or one a text
			     * ("seq_aux"), unlike balance.h's (DeepSeekMoE) */
	const char *shared; /* replaces "mlp" in the tensor names of the shared experts */
	bool
	    shared_gate; /* the shared experts are weighed by sigmoid(gate . x) (Qwen2-MoE) */
	bool up_bias, down_bias; /* of each expert */
	bool bias;		 /* one, added to their sum (nomic-embed-text-v2-moe) */
	bool turned; /* down projections are stored [inner, C]; they have no bias */
	bool
	    upcycled; /* by upcycle(1): tensors are named as the dense MLP's (token_experts.h) */
};

/* The bias of attention scores by the distance of key and query (distance.h). */
struct spec_distance {
	/* Rows of a learned table [buckets, heads], half of them for keys after the query (T5, MPNet); 0: none.  Distances
	 * from `farthest` on have the last bucket of their half. */
	int buckets, farthest;
	bool each;   /* a table for each block instead of one for all (UMT5) */
	bool slopes; /* -slope |i - j|, a slope a head (ALiBi; Press et al. 2022) */
};

/* The table of relative positions of disentangled attention (relative.h; DeBERTa): half of its rows are for keys after the
 * query.  rows 0: none. */
struct spec_relative {
	int rows, farthest;
	bool buckets; /* far positions share rows */
	bool norm;    /* of the table's rows */
};

/* Latent attention, which follows the norm after the last block (latents.h; NV-Embed).  count 0: none. */
struct spec_latents {
	int count, heads, head_size;
};

/* Where a model in training may have dropout (dropout.h). */
enum spec_drop {
	SPEC_DROP_EMBEDDINGS, /* after their norm */
	SPEC_DROP_WEIGHTS,    /* of attention, after the softmax */
	SPEC_DROP_ATTENTION,  /* what attention adds to the residual */
	SPEC_DROP_INNER,      /* the input of the MLP's down projection */
	SPEC_DROP_MLP,	      /* what the MLP adds to the residual */
	SPEC_DROPS
};

struct spec_layer {
	int stored; /* index of its block in the checkpoint; layers may share one (ALBERT) */
	bool norm1; /* false: its first norm is the identity (ModernBERT's first block) */
	int window; /* local attention: |i - j| <= window, causal or not; 0: global */
	int rotary; /* index into spec.rotary */
	int kv_heads, head_size; /* 0: the model's (spec_kv_heads, spec_head_size) */
	/* the layer has a short convolution instead of attention (short_conv.h); BLOCK_Q is the product before it, BLOCK_OUT the one after */
	bool conv;
	int inner;    /* channels of the dense MLP, or of the shared experts; 0: none */
	bool mixture; /* has token experts; their sum and the dense MLP's are added */
	bool experts; /* has task experts */
};

struct tensor_names;

struct spec {
	const struct tensor_names *names; /* of the family (family/family.h) */
	const char
	    *beside; /* a tensor of the head in the file of the weights; NULL: none */
	/* layers 0: static embeddings, the mean of the tokens' rows; a text of no tokens is zeros */
	int layers, width, heads, kv_heads, head_size, vocabulary, positions, types;
	/* Channels of embeddings, their norm and the output matrix, where a linear layer leads from them to the blocks
	 * (ALBERT, ELECTRA).  0: `width`. */
	int embedding_width;
	int tasks_of_text; /* rows of a table of task types; the first is added to each token (ERNIE); 0: none */
	bool
	    token_weights; /* static embeddings: a vector with a number for each token, not a table */
	bool position_table; /* learned absolute positions */
	/* The row of the first token's position; the table has position_first + positions rows.  Above 0, the token id
	 * position_first - 1 is padding: it has the row of that number, and is not counted. */
	int position_first;
	int rotaries; /* 0: no rotary positions */
	struct spec_rotary rotary[SPEC_ROTARIES];
	struct spec_distance distance;
	struct spec_relative relative;
	struct spec_latents latents;
	float attention_scale; /* of scores; 0: 1 / sqrt(head_size) */
	float softcap;	       /* scores become softcap tanh(score / softcap); 0: not */
	bool
	    output_capped; /* so do the logits of tokens that are predicted, which is not supported */
	bool causal; /* a token attends to itself and earlier tokens only */
	/* The place of the norms.  Post: y = norm1(x + attention(x)), z = norm2(y + mlp(y)).
	 * Pre: y = x + attention(norm1(x)), z = y + mlp(norm2(y)), and a norm after the last
	 * block. */
	bool prenorm;
	bool
	    branch_norms; /* the outputs of attention and MLP are normed before they are added */
	/* y = norm1(x + out_norm(x + attention(x))) where norms are after the sums (jina-embeddings-v2-base-code) */
	bool residual_twice;
	bool embedding_norm; /* after the sum of the embeddings */
	/* Factor of the embeddings; 0: 1.  To encode, it is rounded to the type of the stored matrix, as in a reference that
	 * computes in that type. */
	float embedding_scale;
	enum nn_norm norm;
	bool norm_bias;
	float norm_eps;
	enum spec_qk_norm qk_norm;
	int conv_taps; /* of layer[].conv */
	bool conv_bias, conv_centred;
	bool
	    v_norm; /* each head of v is normed, too, without a weight (EmbeddingGemma 2) */
	/* Per-layer embeddings (EmbeddingGemma 2), of so many channels, 0: none; and a factor of each block's output.  After the MLP,
	 * with the embeddings e that enter the first block:
	 *	x = factor (x + norm(out(act(gate(x)) u)))	u = norm(in(e) / sqrt(C)) */
	int layer_embedding;
	/* Width of a projection of each token after the last norm, "embedding_projection" (EmbeddingGemma 2); 0: none. */
	int projection;
	enum nn_act act;
	enum nn_act head_act; /* of the dense layer in the head that predicts tokens */
	bool gated;	      /* down(up(x) * act(gate(x))); else down(act(up(x))) */
	bool fused; /* the checkpoint has q, k and v in one tensor: one product */
	bool qkv_bias, out_bias, up_bias, down_bias;
	bool mlm_bias, output_bias; /* of that dense layer and of the output matrix */
	/* The output matrix is not the embeddings' (not "tie_word_embeddings"). */
	bool untied;
	double initializer_range;
	/* dropout: rates of config.json; below 0: the reference has no dropout there.  dropping: rates that training applies */
	double dropout[SPEC_DROPS], dropping[SPEC_DROPS];
	struct spec_mixture mixture;
	int neuron_experts; /* groups of neighbouring channels of each MLP (neuron_experts.h); 0: none */
	struct spec_layer layer[SPEC_LAYERS];
	/* Task experts (MoTE; config.json "task_experts"): each has its own MLP and, with
	 * expert_norms, its own two norms, in every block with layer[].experts set. */
	int experts;
	const char *expert_names[SPEC_EXPERTS]; /* borrowed from config */
	const struct tree *tasks; /* the expert's name of each; NULL: none; borrowed */
	bool expert_norms;
	/* LoRAs in the checkpoint, of as many tasks, called expert_names: of all matrices, of one rank, each
	 * times lora_scale (model_loras.c).  A model with these has no task experts. */
	int loras, lora_rank;
	double lora_scale;
};

/* The parameters of a block; every family maps its tensors to these. */
enum block_parameter {
	BLOCK_DISTANCE, /* with distance.each: [distance.buckets, heads] */
	BLOCK_Q,
	BLOCK_Q_BIAS,
	BLOCK_K,
	BLOCK_K_BIAS,
	BLOCK_V,
	BLOCK_V_BIAS,
	BLOCK_CONV, /* [C, conv_taps], f32 */
	BLOCK_CONV_BIAS,
	BLOCK_Q_NORM,
	BLOCK_Q_NORM_BIAS,
	BLOCK_K_NORM,
	BLOCK_K_NORM_BIAS,
	BLOCK_OUT_NORM, /* with branch_norms: of what attention gives; with residual_twice: of its sum with x */
	BLOCK_OUT_NORM_BIAS,
	BLOCK_OUT,
	BLOCK_OUT_BIAS,
	BLOCK_ROUTER,	    /* [mixture.count, C] */
	BLOCK_SHARED_GATE,  /* [1, C] */
	BLOCK_MIXTURE_BIAS, /* [C] */
	/* with layer_embedding P: rows of STEM_LAYERS, and STEM_LAYERS_NORM; then the block's own */
	BLOCK_LAYER_IN,	     /* [P, C] */
	BLOCK_LAYER_IN_NORM, /* [P] */
	BLOCK_LAYER_GATE,    /* [P, C] */
	BLOCK_LAYER_OUT,     /* [C, P] */
	BLOCK_LAYER_NORM,    /* [C] */
	BLOCK_FACTOR,	     /* [1] */
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
	BLOCK_DOWN_NORM, /* with branch_norms: of what the MLP gives */
	BLOCK_PARAMETERS
};

/* The parameters of one MLP, in the order that they have in a block from BLOCK_UP on; of a token
 * expert, I is mixture.inner. */
enum mlp_parameter {
	MLP_UP, /* [I, C] */
	MLP_UP_BIAS,
	MLP_GATE, /* the same */
	MLP_GATE_BIAS,
	MLP_DOWN, /* [C, I] */
	MLP_DOWN_BIAS,
	MLP_PARAMETERS
};

/* The parameters outside the blocks.  From STEM_MLM_DENSE on the head that predicts tokens: a masked language model's, or a
 * decoder's output matrix alone. */
enum stem_parameter {
	STEM_TOKENS,
	STEM_POSITIONS,
	STEM_TYPES,
	STEM_TASKS,
	STEM_DISTANCE, /* [distance.buckets, heads] */
	STEM_RELATIVE, /* [relative.rows, C] */
	STEM_RELATIVE_NORM,
	STEM_RELATIVE_NORM_BIAS,
	STEM_NORM,
	STEM_NORM_BIAS,
	STEM_PROJECT, /* with embedding_width E: [C, E] */
	STEM_PROJECT_BIAS,
	STEM_LAYERS,	  /* [layers x layer_embedding, C] */
	STEM_LAYERS_NORM, /* [layer_embedding] */
	STEM_FINAL_NORM,  /* after the last block, with prenorm */
	STEM_FINAL_NORM_BIAS,
	STEM_PROJECTION,   /* [projection, C], a module of the head (head_tensors.h) */
	STEM_LATENTS,	   /* [latents.count, C] */
	STEM_LATENTS_NORM, /* of the latents; all these norms are LayerNorms */
	STEM_LATENTS_NORM_BIAS,
	STEM_LATENTS_Q_NORM, /* of the hidden states */
	STEM_LATENTS_Q_NORM_BIAS,
	STEM_LATENTS_Q,	  /* [heads x head_size, C], of latents */
	STEM_LATENTS_KV,  /* [2 x heads x head_size, C]: keys above values */
	STEM_LATENTS_OUT, /* [C, heads x head_size] */
	STEM_LATENTS_MLP_NORM,
	STEM_LATENTS_MLP_NORM_BIAS,
	STEM_LATENTS_UP, /* [8 C, C]: up above gate */
	STEM_LATENTS_UP_BIAS,
	STEM_LATENTS_DOWN, /* [C, 4 C] */
	STEM_LATENTS_DOWN_BIAS,
	STEM_MLM_DENSE,
	STEM_MLM_DENSE_BIAS,
	STEM_MLM_NORM,
	STEM_MLM_NORM_BIAS,
	STEM_OUTPUT, /* untied: as STEM_TOKENS */
	STEM_OUTPUT_BIAS,
	STEM_PARAMETERS
};

/* Dies, naming config's file, where sizes do not fit together: heads, rotary positions, experts. */
void spec_check(const struct spec *spec, const struct tree *config);

/* Dies, naming `dir`, where blocks share weights: what changes one block would change several. */
void spec_refuse_shared(const struct spec *spec, const char *dir);

/* The heads of keys and values in a layer's attention, and the channels of a head. */
int spec_kv_heads(const struct spec *spec, int layer);
int spec_head_size(const struct spec *spec, int layer);
/* Channels of a head that a rotary table is for. */
int spec_rotary_size(const struct spec *spec, int which);

/* Channels of the embeddings: embedding_width, or width. */
int spec_embedding_width(const struct spec *spec);

/* The member "layers" of task_experts or token_experts: a list of blocks, counted from 0, one at least.
 * Dies, naming the object, on anything else. */
const struct tree *spec_blocks(const struct spec *spec, const struct tree *own);

/* Whether both compute the same from the same tensors; fields that only training reads are not compared.  Each new field
 * above needs a comparison there. */
bool spec_same(const struct spec *a, const struct spec *b);

/* The same of two layers, whatever blocks they are stored in. */
bool spec_same_layer(const struct spec_layer *a, const struct spec_layer *b);

/* Shape of a parameter under a specification; false when the model has none such.
 * columns is 0 for a vector. */
bool spec_block_shape(const struct spec *spec, int layer, enum block_parameter which,
    int64_t *rows, int64_t *columns);
bool spec_mixture_shape(
    const struct spec *spec, enum mlp_parameter which, int64_t *rows, int64_t *columns);
bool spec_stem_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns);

#endif
