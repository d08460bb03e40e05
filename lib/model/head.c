#include "model/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/late_interaction.h"
#include "folder/modules.h"
#include "model/pooling.h"
#include "model/token_head.h"
#include "text/json.h"

static const char *const kind_names[] = { "Dense", "LayerNorm", "Normalize",
	"FlexibleQuantizer" };

static const struct {
	const char *name;
	enum nn_act act;
} activations[] = { { "Tanh", NN_TANH }, { "ReLU", NN_RELU }, { "GELU", NN_GELU },
	{ "Sigmoid", NN_SIGMOID }, { "SiLU", NN_SILU } };
static const float NORM_EPSILON = 1e-5f; /* torch's default */
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

static struct head_module *
add(struct head *head, enum head_kind kind)
{
	struct head_module *module = &head->modules[head->count++];

	*module = (struct head_module){ .kind = kind };
	snprintf(module->name, sizeof module->name, "%d_%s", head->count + 1,
	    kind_names[kind]);
	return module;
}

/* Reading. ------------------------------------------------------------------------- */

bool
head_activation(
    enum nn_act *act, const char *name, const struct tree *config, const char *key)
{
	const char *last = strrchr(name, '.');
	int i = 0;

	last = last && !strncmp(name, "torch.", 6) ? last + 1 : "";
	while (i < ACTIVATIONS && strcmp(last, activations[i].name))
		i++;
	if (i < ACTIVATIONS)
		*act = activations[i].act;
	else if (strcmp(last, "Identity"))
		tree_die(tree_get(config, key) ? tree_get(config, key) : config,
		    "'%s' is '%s'; supported are Tanh, ReLU, GELU, Sigmoid, SiLU and Identity, of torch.nn",
		    key, name);
	return i < ACTIVATIONS;
}

/* Dies unless input and output of the module are the sentence embedding, or the tokens'.  True: the output is the scores of a
 * cross-encoder. */
static bool
check_names(const struct tree *config, const char *type, const struct head *head)
{
	const char *known = head->tokens ? "token_embeddings" : "sentence_embedding";
	const char *input = tree_string(config, "module_input_name", known);
	const char *output = tree_string(config, "module_output_name", input);
	bool scores = head->scores && !strcmp(output, "scores");

	if (strcmp(input, known) || (strcmp(output, input) && !scores))
		tree_die(config,
		    "makes '%s' of '%s'; a module %s of '%s' is supported only here",
		    output, input, type, known);
	return scores;
}

static void
read_normalize(const char *folder, const struct head *head)
{
	struct tree *config = json_find(folder, "config.json"); /* older ones have none */

	check_names(config, "Normalize", head);
	tree_free(config);
}

static void
read_dense(struct head *head, struct head_module *module, const char *folder)
{
	const char *key = "activation_function";
	struct tree *config = json_need(folder, "config.json");

	head->scored = check_names(config, "Dense", head);
	module->in = (int)tree_integer_in(config, "in_features", 1, 1 << 20);
	module->out = (int)tree_integer_in(config, "out_features", 1, 1 << 20);
	module->bias = tree_boolean(config, "bias", true);
	module->activated = head_activation(
	    &module->act, tree_string(config, key, "torch.nn.Tanh"), config, key);
	module->residual = tree_boolean(config, "use_residual", false);
	if (module->residual && !head->tokens)
		tree_die(config,
		    "'use_residual' is supported for late-interaction models only");
	tree_free(config);
}

static void
read_norm(struct head_module *module, const char *folder)
{
	struct tree *config = json_need(folder, "config.json");

	module->in = module->out = (int)tree_integer_in(config, "dimension", 1, 1 << 20);
	module->bias = true;
	module->epsilon = NORM_EPSILON;
	tree_free(config);
}

static void
read_splade(struct head *head, const struct module *module)
{
	struct tree *config = json_need(module->folder, "config.json");
	const char *pooling = tree_string(config, "pooling_strategy", "max");
	const char *act = tree_string(config, "activation_function", "relu");

	if (!head->assumed || head->count)
		tree_die(module->node,
		    "one module SpladePooling is supported, right after the Transformer");
	head->splade.is = true;
	head->splade.sum = !strcmp(pooling, "sum");
	head->splade.twice = !strcmp(act, "log1p_relu");
	if (!head->splade.sum && strcmp(pooling, "max"))
		tree_die(config, "'pooling_strategy' is '%s'; supported are max and sum",
		    pooling);
	if (!head->splade.twice && strcmp(act, "relu"))
		tree_die(config,
		    "'activation_function' is '%s'; supported are relu and log1p_relu",
		    act);
	head->assumed = false;
	tree_free(config);
}

static void
read_module(struct head *head, const struct module *module)
{
	int kind = 0;

	if (head->splade.is)
		tree_die(module->node, "no module is supported after a SpladePooling");
	if (head->scored)
		tree_die(module->node,
		    "no module is supported after the Dense that makes 'scores'");
	if (!strcmp(module->type, "SpladePooling")) {
		read_splade(head, module);
		return;
	}
	if (head->tokens && (!strcmp(module->type, "Pooling") ||
				!strcmp(module->type, "MultiVectorMask")))
		return; /* tokens are not pooled; late_interaction.h reads the mask */
	if (!strcmp(module->type, "Pooling")) {
		if (!head->assumed || head->count)
			tree_die(module->node,
			    "one module Pooling is supported, right after the Transformer");
		pooling_read(head, module->folder);
		head->assumed = false;
		return;
	}
	if (!strcmp(module->type, "Dropout"))
		return;
	while (kind < HEAD_KINDS && strcmp(module->type, kind_names[kind]))
		kind++;
	if (kind == HEAD_KINDS)
		tree_die(module->node,
		    "the module '%s' is not supported; supported are Transformer, StaticEmbedding, Pooling, SpladePooling, Dense, LayerNorm, Normalize, Dropout and pplx-embed's FlexibleQuantizer",
		    module->type);
	if (kind == HEAD_INT8 && (head->tokens || head->scores))
		tree_die(module->node,
		    "the module '%s' is supported for embeddings of texts only",
		    module->type);
	if (head->count == HEAD_MODULES)
		tree_die(module->node, "more than %d modules", HEAD_MODULES);
	struct head_module *to = add(head, (enum head_kind)kind);
	snprintf(to->source, sizeof to->source, "%s", module->name);
	if (kind == HEAD_DENSE)
		read_dense(head, to, module->folder);
	else if (kind == HEAD_NORM)
		read_norm(to, module->folder);
	/* in the model's own folder config.json is another */
	else if (kind == HEAD_NORMALIZE && *module->name)
		read_normalize(module->folder, head);
}

void
head_of_table(struct head *head)
{
	head->table = true;
	head->assumed = false;
}

void
head_of_terms(struct head *head)
{
	head_of_table(head);
	head->splade.is = true;
}

/* Reads config_sentence_transformers.json; dies if the folder is of another kind of model (CrossEncoder). */
static void
read_settings(struct head *head, const char *dir)
{
	const char *plain = "SentenceTransformer", *sparse = "SparseEncoder";
	struct tree *config = json_find(dir, "config_sentence_transformers.json");
	const char *kind =
	    tree_string(config, "model_type", head->splade.is ? sparse : plain);

	if (!strcmp(kind, sparse) && !head->listed)
		head->splade.is = true;
	if (strcmp(kind, head->splade.is ? sparse : plain))
		tree_die(tree_get(config, "model_type"),
		    strcmp(kind, sparse)
			? "'model_type' is '%s'; only '%s' is supported"
			: "'model_type' is '%s', and modules.json has no SpladePooling",
		    kind, head->splade.is ? sparse : plain);
	if (tree_get(config, "truncate_dim"))
		head->truncate = (int)tree_integer_in(config, "truncate_dim", 1, 1 << 20);
	if (head->splade.is && tree_get(config, "max_active_dims"))
		head->splade.most =
		    (int)tree_integer_in(config, "max_active_dims", 1, 1 << 20);
	tree_free(config);
}

static const struct head unread = {
	.pools = 1, .pool = { NN_POOL_MEAN }, .include_prompt = true, .assumed = true
};

void
head_read_scores(struct head *head, const char *dir)
{
	struct modules *modules = modules_read(dir);

	*head = unread;
	head->listed = head->scores = true;
	for (size_t i = 1; i < modules->count; i++)
		read_module(head, &modules->at[i]);
	if (!head->scored)
		tree_die(modules->tree,
		    "the last module of a cross-encoder is a Dense that makes 'scores'; 'encode' embeds texts");
	modules_free(modules);
}

char *
head_read(struct head *head, const char *dir)
{
	struct modules *modules = modules_read(dir);
	struct late_interaction *late = late_interaction_read(dir);
	bool transformer = false;

	*head = unread;
	head->listed = modules;
	head->tokens = late;
	for (size_t i = 0; modules && i < modules->count; i++)
		if (module_is_transformer(&modules->at[i]) && !transformer)
			transformer = true;
		else if (i == 0 && module_is_table(&modules->at[i]))
			head_of_table(head);
		else if (i == 0 && module_is_terms(&modules->at[i]))
			head_of_terms(head);
		else
			read_module(head, &modules->at[i]);
	modules_free(modules);
	if (late) {
		token_head_add(head, late);
		head->assumed = false;
	} else {
		read_settings(head, dir);
	}
	late_interaction_free(late);
	return modules_transformer(dir);
}

/* Writing. ------------------------------------------------------------------------- */

void
head_add_module(struct tree *modules, const char *path, const char *type)
{
	struct tree *module = tree_add(modules, tree_object());
	bool own = strcmp(type, kind_names[HEAD_INT8]);
	char name[16];
	char *full = mem_format(
	    "%s.%s", own ? "sentence_transformers.models" : "st_quantize", type);

	snprintf(name, sizeof name, "%zu", modules->count - 1);
	tree_set(module, "idx", tree_of_integer((int64_t)modules->count - 1));
	tree_set(module, "name", tree_of_string(name));
	tree_set(module, "path", tree_of_string(path));
	tree_set(module, "type", tree_of_string(full));
	free(full);
}

const char *
head_tensor_name(const struct head_module *module, int which)
{
	static const char *const names[][3] = { { "linear.weight", "linear.bias",
						    "residual.weight" },
		{ "norm.weight", "norm.bias" }, { NULL, NULL }, { NULL, NULL } };
	bool has[] = { true, module->bias,
		module->residual && module->in != module->out };

	return has[which] ? names[module->kind][which] : NULL;
}

static void
write_norm(const struct head_module *module, const char *dir)
{
	struct tree *config = tree_object();
	char *name = mem_format("%s/config.json", module->name);

	tree_set(config, "dimension", tree_of_integer(module->in));
	folder_write_json(dir, name, config);
	tree_free(config);
	free(name);
}

void
head_write_dense(const struct head_module *module, const char *dir)
{
	const char *type = "linear.Identity";
	struct tree *config = tree_object();
	char *name = mem_format("%s/config.json", module->name);

	tree_set(config, "in_features", tree_of_integer(module->in));
	tree_set(config, "out_features", tree_of_integer(module->out));
	tree_set(config, "bias", tree_of_boolean(module->bias));
	char *own = NULL;
	for (int i = 0; module->activated && i < ACTIVATIONS; i++)
		if (activations[i].act == module->act)
			type = own = mem_format("activation.%s", activations[i].name);
	char *path = mem_format("torch.nn.modules.%s", type);
	tree_set(config, "activation_function", tree_of_string(path));
	folder_write_json(dir, name, config);
	tree_free(config);
	free(path);
	free(own);
	free(name);
}

bool
head_module_inside(const struct head_module *module)
{
	return module->module && module->inside;
}

void
head_write(const struct head *head, const char *dir, int width)
{
	struct tree *modules = tree_list();

	if (head->table) {
		head_add_module(modules, ".", "StaticEmbedding");
	} else {
		head_add_module(modules, "", "Transformer");
		head_add_module(modules, "1_Pooling", "Pooling");
		pooling_write(head, dir, width);
	}
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		if (head_module_inside(module))
			continue;
		head_add_module(modules, module->name, kind_names[module->kind]);
		if (module->kind == HEAD_DENSE)
			head_write_dense(module, dir);
		else if (module->kind == HEAD_NORM)
			write_norm(module, dir);
	}
	folder_write_json(dir, "modules.json", modules);
	tree_free(modules);
}

/* Options. ------------------------------------------------------------------------- */

void
head_normalize(struct head *head, bool normalize)
{
	while (head->count && head->modules[head->count - 1].kind == HEAD_NORMALIZE)
		head->count--;
	if (!normalize)
		return;
	if (head->count == HEAD_MODULES)
		die("more than %d modules after the pooling", HEAD_MODULES);
	add(head, HEAD_NORMALIZE);
}

int
head_width(const struct head *head, int C, const char *dir)
{
	int width = C * head->pools;

	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		if (module->kind >= HEAD_NORMALIZE)
			continue;
		if (module->in != width)
			die("%s: its %s takes vectors of %d values, and is given %d", dir,
			    module->name, module->in, width);
		width = module->out;
	}
	return width;
}

const char *
head_difference(const struct head *a, const struct head *b)
{
	if (a->tokens != b->tokens || a->table != b->table || a->pools != b->pools ||
	    memcmp(a->pool, b->pool, (size_t)a->pools * sizeof *a->pool))
		return "'pooling_mode'";
	if (a->include_prompt != b->include_prompt)
		return "'include_prompt'";
	if (a->truncate != b->truncate)
		return "'truncate_dim'";
	if (memcmp(&a->splade, &b->splade, sizeof a->splade))
		return "the module SpladePooling";
	if (a->count != b->count)
		return "the modules after the pooling";
	for (int i = 0; i < a->count; i++) {
		const struct head_module *x = &a->modules[i], *y = &b->modules[i];
		if (x->kind != y->kind || x->in != y->in || x->out != y->out ||
		    x->bias != y->bias || x->activated != y->activated ||
		    (x->activated && x->act != y->act))
			return "the modules after the pooling";
	}
	return NULL;
}

/* Running. ------------------------------------------------------------------------ */

void
head_layout(struct head_state *state, struct workspace *w, const struct head *head,
    size_t T, size_t N, size_t C, bool training)
{
	size_t width = (size_t)head->pools * C, widest = width;
	float *last = state->pooled = workspace_floats(w, N, width);

	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		bool dense = module->kind == HEAD_DENSE;
		if (dense)
			width = (size_t)module->out;
		widest = width > widest ? width : widest;
		/* inference overwrites the array */
		last = dense || training ? workspace_floats(w, N, width) : last;
		state->out[i] = last;
		state->before[i] = dense && module->activated && training
				       ? workspace_floats(w, N, width)
				       : last;
		state->lengths[i] = dense ? NULL : workspace_floats(w, N, 2);
	}
	if (!training)
		return;
	state->d = workspace_floats(w, N, widest);
	state->other = workspace_floats(w, N, widest);
	state->scratch = head->pools > 1 ? workspace_floats(w, T, C) : NULL;
}

static size_t
dense_forward(const struct head_module *module, float *out, float *before, const float *x,
    size_t N, size_t width)
{
	size_t to = (size_t)module->out;

	nn_linear(
	    before, to, x, width, module->weight, module->bias_values, N, width, to);
	if (module->activated)
		nn_activate(out, before, module->act, N * to);
	if (module->residual && width == to)
		nn_add(out, x, N * to);
	else if (module->residual)
		nn_linear_add(out, to, x, width, module->residual_weight, N, width, to);
	return to;
}

size_t
head_module_forward(const struct head_module *module, float *out, float *before,
    float *lengths, const float *x, size_t N, size_t width)
{
	switch (module->kind) {
	case HEAD_DENSE: return dense_forward(module, out, before, x, N, width);
	case HEAD_NORM:
		nn_norm(out, NULL, lengths, x, NULL, module->weight.at,
		    module->bias_values, module->epsilon, NN_LAYERNORM, N, width);
		break;
	case HEAD_INT8: nn_activate(out, x, NN_TANH_INT8, N * width); break;
	default: nn_normalize(out, lengths, x, N, width);
	}
	return width;
}

float *
head_forward(const struct head *head, const struct head_state *state, const float *x,
    const struct nn_sequences *sequences, const int32_t *skip, size_t C)
{
	size_t width = (size_t)head->pools * C, N = sequences->N;
	float *last = state->pooled;

	if (head->include_prompt)
		skip = NULL;
	for (int i = 0; i < head->pools; i++)
		nn_pool(
		    last + (size_t)i * C, width, x, sequences, skip, head->pool[i], C);
	for (int i = 0; i < head->count; i++) {
		width = head_module_forward(&head->modules[i], state->out[i],
		    state->before[i], state->lengths[i], last, N, width);
		last = state->out[i];
	}
	return last;
}

void
head_backward(const struct head *head, const struct head_state *state, float *dx,
    const float *demb, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, size_t C)
{
	size_t pooled = (size_t)head->pools * C, width = pooled, N = sequences->N;
	float *d = state->d, *other = state->other;

	if (head->include_prompt)
		skip = NULL;
	for (int i = 0; i < head->count; i++)
		if (head->modules[i].kind == HEAD_DENSE)
			width = (size_t)head->modules[i].out;
	nn_copy(d, demb, N * width);
	for (int i = head->count - 1; i >= 0; i--) {
		const struct head_module *module = &head->modules[i];
		const float *in = i ? state->out[i - 1] : state->pooled;
		if (module->kind == HEAD_NORMALIZE) {
			nn_normalize_back(
			    d, d, state->out[i], state->lengths[i], N, width);
			continue;
		}
		if (module->kind == HEAD_INT8) {
			nn_activate_back(d, d, in, NN_TANH_INT8, N * width);
			continue;
		}
		if (module->kind == HEAD_NORM) {
			nn_norm_back(d, module->dweight, module->dbias, d, in,
			    state->lengths[i], module->weight.at, NN_LAYERNORM, N, width);
			continue;
		}
		size_t from = (size_t)module->in;
		if (module->activated)
			nn_activate_back(d, d, state->before[i], module->act, N * width);
		nn_linear_back(other, false, module->dweight, module->dbias, d, width, in,
		    from, module->weight, N, from, width);
		float *swap = d;
		d = other;
		other = swap;
		width = from;
	}
	for (int i = 0; i < head->pools; i++) {
		float *to = i ? state->scratch : dx;
		nn_pool_back(
		    to, d + (size_t)i * C, pooled, x, sequences, skip, head->pool[i], C);
		if (i)
			nn_add(dx, to, sequences->T * C);
	}
}
