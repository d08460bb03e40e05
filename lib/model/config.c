#include "model/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/adapter_folder.h"
#include "folder/architecture.h"
#include "folder/folder.h"
#include "folder/modules.h"
#include "folder/sentence_config.h"
#include "folder/static_folder.h"
#include "model/answers.h"
#include "model/classifier.h"
#include "model/experts.h"
#include "model/family/family.h"
#include "model/head_tensors.h"
#include "model/latents.h"
#include "model/model_struct.h"
#include "model/neuron_experts.h"
#include "model/token_experts.h"
#include "model/token_head.h"
#include "text/json.h"

enum { POSITIONS = 1 << 24 }; /* at most */

static void
configure_balance(struct spec_mixture *mixture, const struct tree *config)
{
	const char *name = "router_aux_loss_coef";

	mixture->balance_apart =
	    !tree_get(config, name) && tree_get(config, "aux_loss_alpha");
	if (mixture->balance_apart)
		name = "aux_loss_alpha";
	mixture->balance = tree_real(config, name, 0.001);
	if (!(mixture->balance >= 0 && mixture->balance <= 1e6))
		tree_die(tree_get(config, name), "'%s' is %g; it must be in 0..1e6", name,
		    mixture->balance);
}

/* Positions that no table holds go on as far as the folder has texts. */
static void
configure_positions(struct model *model)
{
	struct spec *spec = &model->spec;
	struct tree *config = sentence_config_read(model->folder);
	double most = tree_real(config, "max_seq_length", 0);

	if (!spec->position_table && most > spec->positions)
		spec->positions = most < POSITIONS ? (int)most : POSITIONS;
	if (sentence_config_predicts(config) && !model->head.splade.is)
		tree_die(tree_get(config, "transformer_task"),
		    "'transformer_task' is 'fill-mask', and modules.json has no SpladePooling");
	if (sentence_config_asks(config) && !model->classifies)
		tree_die(tree_get(config, "transformer_task"),
		    "'transformer_task' is '%s': a model that answers; 'rerank' scores pairs with it",
		    tree_string(config, "transformer_task", ""));
	tree_free(config);
}

/* The folder of a cross-encoder's transformer.  A model that is trained may be one without a classifier, which gets a new one. */
static char *
transformer_of(struct model *model)
{
	if (model->mode == MODEL_TRAIN) {
		if (sentence_config_is(model->dir, "CrossEncoder") &&
		    classifier_of_modules(model->dir))
			die("%s: a cross-encoder whose head is of modules can score pairs, but not be trained",
			    model->dir);
		char *folder = modules_transformer(model->dir);
		struct tree *config = json_find(folder, "config.json");
		model->fresh = config && !classifier_known(config);
		tree_free(config);
		if (model->fresh)
			return folder;
		free(folder);
	}
	return classifier_folder(model->dir);
}

static void
configure_classifier(struct model *model)
{
	if (model->fresh && model->spec.causal)
		die("%s: is a decoder; a new classifier is trained on encoders only",
		    model->dir);
	if (model->fresh)
		classifier_begin(model->config, model->folder);
	if (architecture_answers(model->config) && !classifier_of_modules(model->dir))
		answers_read(&model->answers, model->dir, model->template);
	classifier_configure(&model->head, &model->spec, model->config, model->dir,
	    model->mode == MODEL_TRAIN, model->answers.is);
}

void
model_configure(struct model *model, const char *dir)
{
	model->dir = mem_string(dir);
	folder_demand(dir, "a model");
	if (access(dir, R_OK | X_OK))
		die("%s: model folder:", dir);
	adapter_folder_refuse(dir);
	model->folder =
	    model->classifies ? transformer_of(model) : head_read(&model->head, dir);
	enum static_kind kind = static_folder_kind(dir);
	model->config = kind ? static_folder_config(model->folder)
			     : json_need(model->folder, "config.json");
	if (kind == STATIC_TERMS && !model->head.table && !model->classifies)
		head_of_terms(&model->head);
	if (kind && !model->head.table && !model->classifies) { /* no modules.json */
		head_of_table(&model->head);
		head_normalize(
		    &model->head, tree_boolean(model->config, "normalize", false));
	}
	if (model->head.splade.is && model->mode != MODEL_ENCODE)
		die("%s: is a sparse encoder, which is read, not trained or written",
		    dir);
	family_configure(&model->spec, model->config);
	configure_positions(model);
	if (model->head.assumed && model->spec.latents.count)
		latents_pool(&model->head, model->config);
	for (int i = 0; i < model->head.count && model->head.tokens; i++)
		if (model->head.modules[i].module)
			model->spec.beside = TOKEN_HEAD_PROJECTION ".weight";
	if (model->classifies)
		configure_classifier(model);
	if (model->head.assumed && model->spec.causal &&
	    architecture_answers(model->config))
		model->head.pool[0] = NN_POOL_LAST;
	token_experts_configure(&model->spec, model->config);
	neuron_experts_configure(&model->spec, model->config);
	configure_balance(&model->spec.mixture, model->config);
	spec_check(&model->spec, model->config);
	experts_configure(&model->spec, model->config);
	if (model->spec.experts || model->spec.mixture.count)
		spec_refuse_shared(&model->spec, dir);
	model->expert_names = experts_list(&model->spec);
}

void
model_unconfigure(struct model *model)
{
	free(model->dir);
	free(model->folder);
	free(model->expert_names);
	tree_free(model->config);
}

void
model_demand_head(const struct model *model, const char *dir, const struct head *head)
{
	const char *what = head_difference(&model->head, head);

	if (what)
		die("%s: differs from %s in %s; make these alike", dir, model->dir, what);
}

void
model_demand_listed_head(const struct model *model, const char *dir)
{
	struct head head;

	free(head_read(&head, dir));
	head_tensors_keep_projection(model, &head);
	if (head.listed)
		model_demand_head(model, dir, &head);
}

void
model_take_head(struct model *model, const char *dir)
{
	struct head head;

	free(head_read(&head, dir));
	head_tensors_keep_projection(model, &head);
	if (!head.listed || !head_difference(&model->head, &head)) {
		model->head.assumed &= !head.listed;
		return;
	}
	for (int i = 0; i < head.count; i++)
		if (head.modules[i].kind < HEAD_NORMALIZE && !head.modules[i].module)
			die("%s: its %s has weights; only pooling and Normalize are supported beside an adapter",
			    dir, head.modules[i].name);
	model->head = head;
}

int
model_layers(const char *dir)
{
	struct model model = { 0 };

	model_configure(&model, dir);
	int layers = model.spec.layers;
	model_unconfigure(&model);
	return layers;
}
