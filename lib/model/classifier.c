#include "model/classifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/architecture.h"
#include "folder/modules.h"
#include "model/answers.h"
#include "model/family/family.h"
#include "text/json.h"
#include "token/pair_template.h"

enum { LABELS = 1 << 16 };

static const char class_end[] = "ForSequenceClassification";

/* Dies unless the pairs are read without a prompt. */
static void
check_settings(const char *dir)
{
	static const char expected[] = "CrossEncoder";
	struct tree *config = json_find(dir, "config_sentence_transformers.json");
	const char *kind = tree_string(config, "model_type", expected);

	if (strcmp(kind, expected))
		tree_die(tree_get(config, "model_type"),
		    "'model_type' is '%s'; rerank takes a '%s', and encode embeds", kind,
		    expected);
	if (tree_get(config, "default_prompt_name") && !pair_template_is(dir))
		tree_die(tree_get(config, "default_prompt_name"),
		    "'default_prompt_name' is not supported for a cross-encoder; it must be null");
	tree_free(config);
}

bool
classifier_of_modules(const char *dir)
{
	struct modules *modules = modules_read(dir);
	bool is = modules && modules->count > 1 &&
		  module_is_transformer(&modules->at[0]) &&
		  !strcmp(modules->at[1].type, "Pooling");

	modules_free(modules);
	return is;
}

char *
classifier_folder(const char *dir)
{
	struct modules *modules = modules_read(dir);

	check_settings(dir);
	bool listed = classifier_of_modules(dir);
	for (size_t i = 0; modules && !listed && i < modules->count; i++)
		if (strcmp(modules->at[i].type, i ? ANSWERS_MODULE : "Transformer") ||
		    i > 1)
			tree_die(modules->at[i].node,
			    "the module '%s' is not supported in a cross-encoder, which is a Transformer, or one and a LogitScore or a Pooling; 'encode' embeds texts",
			    modules->at[i].type);
	char *folder = modules_transformer(dir);
	struct tree *config = json_find(folder, "config.json");
	if (modules && modules->count > 1 && config && classifier_known(config))
		tree_die(modules->at[1].node, "a %s is of %s, and this is a classifier",
		    modules->at[1].type, listed ? "an encoder" : "a language model");
	tree_free(config);
	modules_free(modules);
	return folder;
}

bool
classifier_known(const struct tree *config)
{
	return architecture_ends(config, class_end);
}

static void
check_architecture(const struct tree *config)
{
	const struct tree *names = tree_get(config, "architectures");

	if (!classifier_known(config))
		tree_die(names ? names : config,
		    "'architectures' is '%s', and a cross-encoder is a model '...%s'",
		    architecture_name(config), class_end);
}

void
classifier_begin(struct tree *config, const char *dir)
{
	static const char *const ends[] = { "For", "LMHeadModel", "Model" };
	static const char *const label = "LABEL_0";
	const char *name = architecture_name(config), *end = NULL;

	for (size_t i = 0; i < sizeof ends / sizeof *ends && !end; i++)
		end = strstr(name, ends[i]);
	if (!end || end == name)
		die("%s/config.json: 'architectures' is '%s', which names no family of models; a classifier's name begins with it",
		    dir, name);
	char *class = mem_format("%.*s%s", (int)(end - name), name, class_end);
	tree_add(tree_set(config, "architectures", tree_list()), tree_of_string(class));
	tree_set(tree_set(config, "id2label", tree_object()), "0", tree_of_string(label));
	tree_set(tree_set(config, "label2id", tree_object()), label, tree_of_integer(0));
	tree_remove(config, "num_labels");
	free(class);
}

static int
labels_of(const struct tree *config)
{
	const struct tree *names = tree_get(config, "id2label");

	if (!names)
		return (int)tree_integer_or(config, "num_labels", 2, 1, LABELS);
	if (names->kind != TREE_OBJECT || !names->count || names->count > LABELS)
		tree_die(names, "'id2label' must have a name for each label");
	return (int)names->count;
}

static enum nn_pool
pooling_of(const struct spec *spec, const struct tree *config)
{
	const char *key = "classifier_pooling";
	const char *kind = tree_string(config, key, spec->causal ? "last" : "cls");

	if (!strcmp(kind, "mean"))
		return NN_POOL_MEAN;
	if (strcmp(kind, spec->causal ? "last" : "cls"))
		tree_die(tree_get(config, key),
		    "'%s' is '%s'; supported are cls and mean", key, kind);
	return spec->causal ? NN_POOL_LAST : NN_POOL_CLS;
}

static void
add_layer(struct head *head, const struct spec *spec, const struct classifier_layer *from,
    int out)
{
	struct head_module *module = &head->modules[head->count++];

	*module = (struct head_module){ .kind = from->norm ? HEAD_NORM : HEAD_DENSE,
		.module = from->module,
		.inside = from->inside,
		.in = spec->width,
		.out = out,
		.bias = !from->bare,
		.activated = from->activated,
		.act = from->act };
	snprintf(module->name, sizeof module->name, "%s", from->module);
	if (!from->predicts)
		return;
	module->bias = from->norm ? spec->norm_bias : spec->mlm_bias;
	module->activated = !from->norm;
	module->act = spec->head_act;
	module->epsilon = spec->norm_eps;
}

/* The name of the activation, as the folder has it; to be freed.  "": it has none. */
static char *
activation_name(const struct tree *config, const char *dir)
{
	struct tree *own = json_find(dir, "config_sentence_transformers.json");
	const char *name =
	    tree_string(config, "sbert_ce_default_activation_function", "");

	name =
	    tree_string(tree_get(config, "sentence_transformers"), "activation_fn", name);
	char *copy = mem_string(tree_string(own, "activation_fn", name));
	tree_free(own);
	return copy;
}

/* The layers of a classifier of the family, after the pooling. */
static void
add_layers(struct head *head, const struct spec *spec, const struct tree *config)
{
	const struct classifier_layer *layer = spec->names->classifier;
	int labels = labels_of(config);

	check_architecture(config);
	if (!layer->module || (layer->bare && !spec->causal))
		tree_die(tree_get(config, "model_type"),
		    "a classifier of a '%s' is not supported, only its embeddings",
		    tree_string(config, "model_type", ""));
	for (; layer->module; layer++)
		add_layer(head, spec, layer, layer[1].module ? spec->width : labels);
}

/* The activation of the scores. */
static void
activate(
    struct head_module *last, const struct tree *config, const char *dir, bool logits)
{
	char *name = activation_name(config, dir);
	enum nn_act act = NN_SIGMOID;
	bool activated = last->out == 1;

	if (*name)
		activated = head_activation(&act, name, config, "activation_fn");
	if (last->activated && activated)
		tree_die(config,
		    "the Dense that makes 'scores' has an activation, and 'activation_fn' is another; one is supported");
	if (!last->activated)
		last->act = act;
	last->activated |= activated && !logits;
	free(name);
}

void
classifier_configure(struct head *head, const struct spec *spec,
    const struct tree *config, const char *dir, bool logits, bool answers)
{
	static const struct classifier_layer difference = { "answers", .bare = true };

	if (answers && !spec->causal)
		tree_die(config, "the model is not causal; one that answers is");
	if (classifier_of_modules(dir) && !classifier_known(config)) {
		head_read_scores(head, dir);
	} else {
		*head = (struct head){ .pools = 1,
			.pool = { answers ? NN_POOL_LAST : pooling_of(spec, config) },
			.include_prompt = true };
		if (answers)
			add_layer(head, spec, &difference, 1);
		else
			add_layers(head, spec, config);
	}
	activate(&head->modules[head->count - 1], config, dir, logits);
}
