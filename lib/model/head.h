/*
 * head - what follows the transformer: hidden states to one embedding per sequence, as the
 * sentence-transformers files of a folder say: pooling (1_Pooling), then Dense, LayerNorm and Normalize
 * modules in any number, in the order of modules.json.  Dropout changes no embedding: it is passed over, and not
 * written.
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

enum head_kind { HEAD_DENSE, HEAD_NORM, HEAD_NORMALIZE };

struct head_module {
	enum head_kind kind;
	char name[32];	  /* of its folder when written: "2_Dense" */
	char source[256]; /* of the folder it was read from */
	/* Dense: y = x W^T + b, or an activation of it.  LayerNorm: in is out, and it has a bias. */
	int in, out;
	bool bias, activated;
	enum nn_act act;
	/* the model's, set when it is opened */
	struct nn_matrix weight;  /* [out,in]; of a LayerNorm [out] */
	const float *bias_values; /* [out] */
	float *dweight, *dbias;	  /* NULL without gradients */
};

struct head {
	int pools;
	enum nn_pool pool[HEAD_POOLS]; /* concatenated */
	/* false: sentence-transformers 6's way: cls is the first token after the prompt, weights
	 * count from the start of the text */
	bool include_prompt;
	bool table;   /* StaticEmbedding: the mean of rows of a table, and nothing else */
	bool assumed; /* the folder does not say how to pool: mean, not normalised; the
			 * last token of a decoder */
	bool listed;  /* the folder has modules.json */
	int count;
	struct head_module modules[HEAD_MODULES];
	int truncate; /* leading values that the folder would have kept (truncate_dim); 0: all */
};

/* Read a folder's files.  Returns the folder of the transformer itself, which the caller
 * frees.  Other modules are named and refused. */
char *head_read(struct head *head, const char *dir);

/* The head of static embeddings, where no modules.json says so. */
void head_of_table(struct head *head);

/* What the weight (0) and the bias (1) of a module are called in its file; NULL: it has none. */
const char *head_tensor_name(const struct head_module *module, int which);

/* Write modules.json and each module's config.json into an existing folder; the weights of the
 * modules are the caller's to write. */
void head_write(const struct head *head, const char *dir, int width);

/* The pieces of that: an entry of modules.json, which is `modules`, for the module "Dense" in the folder `path`;
 * and a Dense module's config.json. */
void head_add_module(struct tree *modules, const char *path, const char *type);
void head_write_dense(const struct head_module *module, const char *dir);

/* "cls", "mean", "max", "mean_sqrt", "weighted", "last", or several joined by '+'.  False
 * when there is none called so. */
bool head_pool(struct head *head, const char *text);

/* End with length 1, or without: drops the modules Normalize at the end. */
void head_normalize(struct head *head, bool normalize);

/* Values of an embedding, made from hidden states of C; dies, naming `dir`, where a module does
 * not take what is before it. */
int head_width(const struct head *head, int C, const char *dir);

/* The key in which two heads differ, for a message; NULL: they make the same embeddings, of the same weights. */
const char *head_difference(const struct head *a, const struct head *b);

/* Pieces of one batch of N sequences and T tokens. */
struct head_state {
	float *pooled;		     /* [N, pools x C] */
	float *out[HEAD_MODULES];    /* [N, width] of each module */
	float *before[HEAD_MODULES]; /* [N, out] of a Dense before its activation */
	float *lengths
	    [HEAD_MODULES]; /* [N] before a Normalize; [N,2] statistics of a LayerNorm */
	float *d, *other;   /* gradients, [N, the greatest width] */
	float *scratch;	    /* [T,C]; NULL with one pooling */
};

/* training: keeps what the backward needs. */
void head_layout(struct head_state *state, struct workspace *workspace,
    const struct head *head, size_t T, size_t N, size_t C, bool training);

/* Embeddings [N, head_width], in the state.  x[T,C]; skip as in nn_pool. */
float *head_forward(const struct head *head, const struct head_state *state,
    const float *x, const struct nn_sequences *sequences, const int32_t *skip, size_t C);

/* dx[T,C] overwritten, from d loss / d embeddings; adds to the gradients of Dense modules. */
void head_backward(const struct head *head, const struct head_state *state, float *dx,
    const float *demb, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, size_t C);

#endif
