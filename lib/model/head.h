/*
 * head - from hidden states to one embedding a sequence, as the sentence-transformers files of a folder say: pooling (1_Pooling),
 * then any number of Dense, LayerNorm, Normalize and FlexibleQuantizer modules in the order of modules.json.  Dropout modules are
 * skipped, and not written.
 *
 * The modules of a late-interaction model (folder/late_interaction.h) apply to each token (token_head.h), without a pooling.
 */
#ifndef MODEL_HEAD_H
#define MODEL_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workspace.h"
#include "nn/nn.h"
#include "text/tree.h"

enum { HEAD_POOLS = 6, HEAD_MODULES = 16 };

/* HEAD_NORMALIZE and the kinds after it have no weights and keep the width.  HEAD_INT8 applies NN_TANH_INT8 to each value. */
enum head_kind { HEAD_DENSE, HEAD_NORM, HEAD_NORMALIZE, HEAD_INT8, HEAD_KINDS };

struct head_module {
	enum head_kind kind;
	char name[32];	  /* of its folder when written: "2_Dense" */
	char source[256]; /* its folder when read */
	/* a classifier's (classifier.h): its name in the model's own file, "PREFIX.classifier"; inside: after the prefix of the
	 * transformer's names; NULL: the module has a file of its own */
	const char *module;
	bool inside;
	/* Dense: y = act(x W' + b), or without act.  LayerNorm: in = out, with bias. */
	int in, out;
	bool bias, activated;
	bool residual; /* Dense of tokens: y += x, or y += x R' where in and out differ */
	enum nn_act act;
	float epsilon; /* of a LayerNorm */
	/* set when the model is opened */
	struct nn_matrix weight;	  /* [out,in]; of a LayerNorm [out] */
	const float *bias_values;	  /* [out] */
	struct nn_matrix residual_weight; /* R [out,in] */
	float *dweight, *dbias;		  /* NULL without gradients */
};

/* A sparse encoder's SpladePooling (terms.h). */
struct head_splade {
	bool is;    /* the folder is one of a sparse encoder, and has no embeddings */
	bool sum;   /* of the tokens' weights; else their maximum */
	bool twice; /* log1p_relu: log(1 + log(1 + relu(x))); else log(1 + relu(x)) */
	int most;   /* terms of a text, by "max_active_dims"; 0: all */
};

struct head {
	int pools;
	enum nn_pool pool[HEAD_POOLS]; /* concatenated */
	bool other_pool;	       /* pooling_set has set others than the folder's */
	/* false: pooling leaves the prompt out; cls is then the first token after it (sentence-transformers 6) */
	bool include_prompt;
	bool tokens; /* the modules are of tokens: there is no embedding of a text */
	bool table;  /* StaticEmbedding: the mean of rows of a table */
	bool
	    assumed; /* the folder does not say how to pool: mean, of a decoder the last token; not
			 * normalised */
	bool listed; /* the folder has modules.json */
	/* of a cross-encoder whose head is of modules: the last Dense makes "scores", and `scored`, it is read */
	bool scores, scored;
	int count;
	struct head_module modules[HEAD_MODULES];
	struct head_splade splade;
	int truncate; /* leading values that the folder would have kept (truncate_dim); 0: all */
};

/* Reads modules.json and each module's config.json; dies naming a module that is not known.  Returns the folder of the
 * transformer, which the caller frees. */
char *head_read(struct head *head, const char *dir);

/* Reads the modules after the transformer of a cross-encoder (classifier.h); dies unless the last one makes "scores". */
void head_read_scores(struct head *head, const char *dir);

/* Sets the activation that a folder names: "torch.nn.modules.activation.Tanh".  False: it is the identity.  Dies, naming config
 * and key, if it is not known. */
bool head_activation(
    enum nn_act *act, const char *name, const struct tree *config, const char *key);

/* Makes it the head of static embeddings, for a folder without modules.json. */
void head_of_table(struct head *head);

/* The same with a weight for each token (SparseStaticEmbedding). */
void head_of_terms(struct head *head);

/* The name of a module's weight (which 0), bias (1) or residual weight (2) in its file; NULL: it has none. */
const char *head_tensor_name(const struct head_module *module, int which);

/* Whether the module is part of the transformer, which modules.json does not list (EmbeddingGemma 2's projection). */
bool head_module_inside(const struct head_module *module);

/* Writes modules.json and each module's config.json into an existing folder; the caller writes the weights. */
void head_write(const struct head *head, const char *dir, int width);

/* Adds an entry to modules.json, for a module of `type` in the folder `path`; writes a Dense module's config.json. */
void head_add_module(struct tree *modules, const char *path, const char *type);
void head_write_dense(const struct head_module *module, const char *dir);

/* Ends with a module Normalize, or without. */
void head_normalize(struct head *head, bool normalize);

/* The width of an embedding from hidden states [.,C]; dies, naming `dir`, if a module's input has another width than the output
 * before it. */
int head_width(const struct head *head, int C, const char *dir);

/* The key in which two heads differ, for a message; NULL: they make the same embeddings, of the same weights. */
const char *head_difference(const struct head *a, const struct head *b);

/* Arrays for N sequences and T tokens. */
struct head_state {
	float *pooled;		     /* [N, pools x C] */
	float *out[HEAD_MODULES];    /* [N, width] of each module */
	float *before[HEAD_MODULES]; /* [N, out] of a Dense before its activation */
	float *lengths
	    [HEAD_MODULES]; /* [N] before a Normalize; [N,2] statistics of a LayerNorm */
	float *d, *other;   /* gradients, [N, the greatest width] */
	float *scratch;	    /* [T,C]; NULL with one pooling */
};

/* training: with the arrays of the backward pass. */
void head_layout(struct head_state *state, struct workspace *workspace,
    const struct head *head, size_t T, size_t N, size_t C, bool training);

/* out[N, the module's width] of x[N,width]; returns that width.  before[N, out] of a Dense before its activation may be out;
 * lengths as in struct head_state, or NULL. */
size_t head_module_forward(const struct head_module *module, float *out, float *before,
    float *lengths, const float *x, size_t N, size_t width);

/* Embeddings [N, head_width], in the state.  x[T,C]; skip as in nn_pool. */
float *head_forward(const struct head *head, const struct head_state *state,
    const float *x, const struct nn_sequences *sequences, const int32_t *skip, size_t C);

/* dx[T,C] overwritten, from d loss / d embeddings; adds to the gradients of Dense modules. */
void head_backward(const struct head *head, const struct head_state *state, float *dx,
    const float *demb, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, size_t C);

#endif
