#include "train/objective.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "ranks/ranks.h"

/* A checkpoint has the index: new objectives come last. */
const struct objective_type *const objectives[] = { &objective_infonce, &objective_mlm,
	&objective_clm, &objective_cosent, &objective_angle, &objective_mse,
	&objective_contrastive, &objective_online, &objective_margin_mse, &objective_kl,
	&objective_bce, &objective_listnet, &objective_distil, &objective_triplet, NULL };

const struct objective_type *
objective_called(const char *name)
{
	const char *names[sizeof objectives / sizeof *objectives] = { NULL };

	for (int i = 0; objectives[i]; i++)
		names[i] = objectives[i]->name;
	return objectives[cli_word("--objective", name, names)];
}

void
objective_choose_balance(
    struct objective_options *options, const struct model *model, bool adapter)
{
	const struct spec_mixture *mixture = &model_spec(model)->mixture;
	double known = options->type->balance, *balance = &options->balance;
	const char *dir = model_dir(model);

	if (*balance > 0 && !mixture->count)
		die("--balance: %s has no token experts", dir);
	if (*balance >= 0)
		return;
	*balance = 0;
	if (mixture->count && known < 0) {
		*balance = mixture->balance;
		if (mixture->balance_apart && *balance > 0)
			warn(
			    "%s: its 'aux_loss_alpha', %g, weighs a loss of each block and text; here it weighs one loss of all together: --balance sets another weight, or 0",
			    dir, *balance);
	} else if (mixture->count && !adapter)
		*balance = known;
}

struct objective *
objective_open(
    const char *path, struct model *model, const struct objective_options *options)
{
	struct objective *objective = mem_zero(1, options->type->size);

	objective->type = options->type;
	objective->options = *options;
	objective->model = model;
	objective->type->open(objective, path);
	if (options->balance > 0)
		objective->balance = balance_new(model_spec(model));
	model_balance(model, objective->balance);
	return objective;
}

void
objective_close(struct objective *objective)
{
	objective->type->close(objective);
	model_balance(objective->model, NULL);
	balance_free(objective->balance);
	tree_free(objective->about);
	free(objective);
}

void
objective_prepare(struct objective *objective)
{
	if (objective->contrast && nn_device())
		contrast_prepare(objective->contrast);
}

bool
objective_leave(struct objective *objective)
{
	return ranks_count() == 1 ||
	       (objective->contrast && contrast_leave(objective->contrast));
}

bool
objective_left(const struct objective *objective)
{
	return objective->contrast && contrast_left(objective->contrast);
}

double
objective_balance(struct objective *objective)
{
	size_t count;
	double *sums = balance_sums(objective->balance, &count);

	ranks_add(sums, count);
	return balance_end(objective->balance, objective->options.balance);
}

void
objective_sum_report(struct batch_report *report)
{
	double sums[] = { report->loss, report->reze, (double)report->examples,
		report->correct, (double)report->tokens };

	ranks_add(sums, sizeof sums / sizeof *sums);
	report->loss = sums[0];
	report->reze = sums[1];
	report->examples = (int64_t)sums[2];
	report->correct = sums[3];
	report->tokens = (int64_t)sums[4];
}

struct tree *
objective_hash(uint64_t hash)
{
	char text[20];

	snprintf(text, sizeof text, "%016" PRIx64, hash);
	return tree_of_string(text);
}

uint64_t
objective_hash_in(const struct tree *position, const char *key)
{
	return strtoull(tree_string(position, key, "0"), NULL, 16);
}
