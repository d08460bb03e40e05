/*
 * family - the families of models (BERT, Llama, ...): the keys of their config.json and the names of their tensors.
 *
 * A family is a row of a table: bert.c has those of BERT's kind, decoder.c those of Llama's; embedding_gemma2.c, gte.c,
 * jina_v3.c, lfm2.c, modernbert.c, nomic_bert.c and t5.c one kind each.  A row has a function only for the arithmetic that its columns cannot say.
 */
#ifndef MODEL_FAMILY_FAMILY_H
#define MODEL_FAMILY_FAMILY_H

#include "model/spec.h"

/* A layer of the head of a *ForSequenceClassification, in the order of the arithmetic: the last one gives the labels. */
struct classifier_layer {
	const char *module; /* NULL: no more layers */
	bool inside;	    /* its name has the prefix of the transformer's */
	bool bare;	    /* no bias */
	bool activated;
	enum nn_act act;
	/* the dense layer, or the norm, of the head that predicts tokens: bias and activation are that one's */
	bool predicts, norm;
};

/*
 * The names of a family's tensors in a checkpoint: modules, to which ".weight" is added, and ".bias" for the parameter
 * that follows a weight.  Parameters of one name are rows of one tensor, one below the other, in the order of
 * enum block_parameter.
 */
struct tensor_names {
	/* A checkpoint may have one of these before each name; the first is written.  NULL at the end, as of `heads`. */
	const char *prefixes[6];
	const char
	    *init_prefix; /* written for a model drawn at random; NULL: the first */
	const char *stem[STEM_PARAMETERS]; /* NULL: the family has no such parameter */
	const char *layers; /* before the number of a block: "encoder.layer." */
	const char *inner;  /* after the number and a dot; NULL: nothing */
	const char *block[BLOCK_PARAMETERS]; /* after that */
	/* the products around a short convolution, in layers that have one; NULL: the family has none */
	const char *conv_in, *conv_out;
	bool gate_first;   /* the gate stands above the up projection */
	const char *plain; /* up projection of an MLP without a gate; NULL: as with one */
	/* Token experts, a tensor each: after "LAYERS N." `expert`, the expert's number, a dot and one of `mixture`. */
	const char *expert;
	const char *mixture[MLP_PARAMETERS];
	/* Or all experts of a block in one tensor: full names after "LAYERS N."; without a gate, up has the gate's. */
	const char *stacked[MLP_PARAMETERS];
	const char *mixture_bias; /* of the sum of the experts */
	/* NULL first: no classifier of this family is known.  It reads the first token, or the last of a causal model,
	 * unless "classifier_pooling" of config.json says otherwise. */
	struct classifier_layer classifier[4];
	/* a projection of each token before the pooling (head_tensors.h), which the file may have beside the transformer's tensors,
	 * or, with spec.projection, must have among them; NULL: none */
	const char *projection;
	/* First parts of names of tensors that are no parameters: heads for other tasks, weights of a table's rows. */
	const char *heads[8];
	/* These names do not apply to a file that has this tensor with other values than the tokens' embeddings; NULL: to all. */
	const char *unless;
	const struct tensor_names
	    *otherwise; /* tried where a file has none of these names; NULL: none */
};

#define ACTIVATED(kind) .activated = true, .act = (kind)

/* BERT's classifier, which reads the output of the pooler. */
#define POOLED_CLASSIFIER                                                                \
	.classifier = { { "pooler.dense", .inside = true, ACTIVATED(NN_TANH) },          \
		{ .module = "classifier" } }

/* Modules that several families call alike. */
#define EMBEDDINGS(norm)                                                                 \
	[STEM_TOKENS] = "embeddings.word_embeddings",                                    \
	[STEM_POSITIONS] = "embeddings.position_embeddings",                             \
	[STEM_TYPES] = "embeddings.token_type_embeddings", [STEM_NORM] = (norm)
#define PREDICTION(dense, norm, output)                                                  \
	[STEM_MLM_DENSE] = (dense), [STEM_MLM_NORM] = (norm), [STEM_OUTPUT] = (output)
#define CLS_PREDICTIONS                                                                  \
	PREDICTION("cls.predictions.transform.dense",                                    \
	    "cls.predictions.transform.LayerNorm", "cls.predictions.decoder")
#define QKV(q, k, v, out)                                                                \
	[BLOCK_Q] = (q), [BLOCK_K] = (k), [BLOCK_V] = (v), [BLOCK_OUT] = (out)
#define SELF_ATTN                                                                        \
	QKV("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",                  \
	    "self_attn.o_proj")
#define MLP(up, gate, down)                                                              \
	[BLOCK_UP] = (up), [BLOCK_GATE] = (gate), [BLOCK_DOWN] = (down)
#define GATED_MLP MLP("mlp.up_proj", "mlp.gate_proj", "mlp.down_proj")
#define NORMS(first, second) [BLOCK_NORM1] = (first), [BLOCK_NORM2] = (second)

/* The keys of dropout rates in config.json, and a second spelling; NULL: the reference has no dropout there. */
struct family_dropout {
	const char *keys[SPEC_DROPS], *others[SPEC_DROPS];
	double usual; /* where config.json has neither */
};

struct family {
	/* "model_type" of config.json; "bert/alibi": with that "position_embedding_type", tried before "bert" */
	const char *model_type;
	const struct tensor_names *names;
	/* Fills the spec from config.json; dies naming file, key and what was expected. */
	void (*configure)(
	    struct spec *spec, const struct tree *config, const struct family *family);
	/* Called after it: what only this family has; NULL: nothing. */
	void (*adjust)(struct spec *spec, const struct tree *config);
	/* Keys of sizes that have another name in config.json than the common one (hidden_size, num_hidden_layers,
	 * num_attention_heads, intermediate_size, max_position_embeddings); NULL: none. */
	const char *width_key, *layers_key, *heads_key, *inner_key, *positions_key;
	bool unlimited; /* positions have no limit, and no key */
	/* Values for keys that config.json lacks. */
	double norm_eps, rotary_base;
	const char *act;
	int head_size;			      /* of decoders; 0: width / heads */
	const struct family_dropout *dropout; /* NULL: not known of this family */
	/* More of decoders. */
	enum { BIAS_AS_CONFIGURED, BIAS_NONE, BIAS_QKV } bias;
	enum { WINDOWS_REFUSED, WINDOWS_ALL, WINDOWS_QWEN, WINDOWS_ADJUSTED } windows;
	bool own_rotary; /* adjust sets the rotary tables */
	enum spec_qk_norm qk_norm;
};

/* Rows, the last one without a model_type. */
extern const struct family bert_families[], deberta_families[], decoder_families[],
    embedding_gemma2_families[], gte_families[], lfm2_families[], jina_v3_families[],
    modernbert_families[], nomic_bert_families[], t5_families[];

/* The names of jina's implementation of XLM-RoBERTa (jina_v3.c). */
extern const struct tensor_names family_jina_names;

/* Fill a cleared spec by the family that config.json names; dies naming the key. */
void family_configure(struct spec *spec, const struct tree *config);

/* For configure functions; all die naming the key. ------------------------------- */

/* Sets vocabulary, width, layers, heads (as many for keys and values), positions and initializer_range; each layer has its
 * own weights, a first norm and a dense MLP, whose channels are returned. */
int family_sizes(
    struct spec *spec, const struct tree *config, const struct family *family);

/* spec->head_size = width / heads. */
void family_divide_heads(
    struct spec *spec, const struct tree *config, const struct family *family);

/* A required number in 1..most under either of two keys; they must agree where both are there. */
int family_number(
    const struct tree *config, const char *first, const char *second, int most);

/* Die unless the boolean `key` is absent or `expected`. */
void family_expect(const struct tree *config, const char *key, bool expected);

/* Die unless `key` is absent or null. */
void family_refuse(const struct tree *config, const char *key);

/* The activation of that key, of transformers' name `otherwise` where it is absent. */
enum nn_act family_activation(
    const struct tree *config, const char *key, const char *otherwise);

/* Biases of attention and MLP, by "attention_bias" and "mlp_bias". */
void family_biases(struct spec *spec, const struct tree *config);

/* Learned positions begin at row `first` of the table, whose rows are spec->positions before. */
void family_positions_from(struct spec *spec, const struct tree *config, int first);

/*
 * The rotary table as transformers spells it: "rope_theta" beside "rope_scaling", or both in "rope_parameters"
 * (transformers 5), which "rope_scaling" replaces where both are there.  base: where there is no theta.  Known scalings
 * are "linear", "dynamic", "ntk" (GTE v1.5), "llama3" and "yarn"; with "dynamic", positions is the trained length and no
 * longer a limit.  spec->head_size and positions are set before.  (rope.c)
 */
void family_rotary(struct spec *spec, const struct tree *config, double base);
/* One of several tables, with scaling and theta in `parameters` (NULL: none). */
void family_rotary_table(struct spec *spec, int which, const struct tree *config,
    const struct tree *parameters, double base);

/* Two tables, of "full_attention" and "sliding_attention" in "rope_parameters", without scaling; bases: where it names none. */
enum { FAMILY_FULL, FAMILY_SLIDING };
void family_rotary_kinds(
    struct spec *spec, const struct tree *config, const double bases[2]);

/* The index in `types` of a layer's type by "layer_types" (transformers 5); `otherwise` if there is none. */
int family_layer_type(const struct spec *spec, const struct tree *config, int layer,
    const char *const types[2], int otherwise);

/* Whether a layer's attention is local, by "layer_types", else `otherwise`. */
bool family_slides(
    const struct spec *spec, const struct tree *config, int layer, bool otherwise);

#endif
