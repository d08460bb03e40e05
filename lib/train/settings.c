#include "train/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "ranks/ranks.h"
#include "text/json.h"
#include "train/development.h"

static struct tree *
patterns_of(const char *const *patterns)
{
	struct tree *list = tree_list();

	for (; *patterns; patterns++)
		tree_add(list, tree_of_string(*patterns));
	return list;
}

struct tree *
settings_of(const struct trainer_options *t, const struct model *model, int64_t steps)
{
	const struct objective_options *b = &t->objective;
	const struct optim_options *o = &t->optim;
	struct tree *s = tree_object();

	tree_set(s, "version", tree_of_string(MOTES_VERSION));
	tree_set(s, "model", tree_of_string(model_fingerprint(model)));
	int64_t index = 0;
	while (objectives[index] != b->type)
		index++;
	tree_set(s, "objective", tree_of_integer(index));
	tree_set(s, "seed", tree_of_integer((int64_t)b->seed));
	tree_set(s, "steps", tree_of_integer(steps));
	tree_set(s, "epochs", tree_of_integer(b->contrast.epochs));
	tree_set(s, "accumulate", tree_of_integer(t->accumulate));
	tree_set(s, "tokens", tree_of_integer(b->tokens));
	if (t->precision != DTYPE_F32)
		tree_set(s, "precision", tree_of_string(dtype_name(t->precision)));
	tree_set(s, "lora", tree_of_string(t->lora ? t->lora : ""));
	if (t->ema > 0)
		tree_set(s, "ema", tree_of_real(t->ema));
	if (t->dropout < 0)
		tree_set(s, "dropout", tree_of_string("config"));
	else if (t->dropout > 0)
		tree_set(s, "dropout", tree_of_real(t->dropout));
	if (t->freeze)
		tree_set(s, "freeze", patterns_of(t->freeze));
	tree_set(s, "freeze-documents", tree_of_boolean(b->contrast.freeze_documents));
	tree_set(s, "documents",
	    tree_of_string(b->contrast.documents ? b->contrast.documents : ""));
	tree_set(
	    s, "expert", tree_of_string(b->contrast.expert ? b->contrast.expert : ""));
	b->type->settings(b, s);
	development_settings(t, s);
	tree_set(s, "lr", tree_of_real(o->rate));
	if (o->rates)
		tree_set(s, "lr-of", patterns_of(o->rates));
	tree_set(s, "beta1", tree_of_real(o->beta1));
	tree_set(s, "beta2", tree_of_real(o->beta2));
	tree_set(s, "epsilon", tree_of_real(o->epsilon));
	tree_set(s, "decay", tree_of_real(o->decay));
	tree_set(s, "clip", tree_of_real(o->clip));
	tree_set(s, "schedule", tree_of_string(optim_schedule_name(o->schedule)));
	double warmup = optim_warmup(o);
	tree_set(s, "warmup",
	    warmup == floor(warmup) ? tree_of_integer((int64_t)warmup)
				    : tree_of_real(warmup));
	tree_set(s, "update-unused", tree_of_boolean(o->update_unused));
	return s;
}

char *
settings_text(const struct tree *value)
{
	return value ? json_text(value, 0) : mem_string("nothing");
}

/* The first setting that differs, or that only one side has, and that `others` does not list; NULL: none. */
static const char *
differ_but(const struct tree *own, const struct tree *other, const char *others)
{
	const struct tree *both[] = { own, other };

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < both[side]->count; i++) {
			const char *key = both[side]->items[i]->key;
			const struct tree *a = tree_get(own, key),
					  *b = tree_get(other, key);
			if ((!a || !b || !tree_equal(a, b)) && !cli_listed(others, key))
				return key;
		}
	return NULL;
}

const char *
settings_refuse(const struct tree *own, const struct tree *saved)
{
	bool constant = !strcmp(
	    tree_string(own, "schedule", ""), optim_schedule_name(SCHEDULE_CONSTANT));
	/* the masks of held-out texts depend on the tokens per pass */
	bool masked = tree_get(own, "dev") && tree_get(own, "mask-share");
	char *others = mem_format(
	    "%s%s", masked ? "" : " tokens ", constant ? " steps epochs " : "");
	const char *key = differ_but(own, saved, others);

	free(others);
	return key;
}

void
settings_agree(const struct tree *settings, const char *name)
{
	size_t ranks = (size_t)ranks_count(), *lengths = mem_new(ranks, sizeof *lengths);
	char *text = json_text(settings, 0);
	size_t own = strlen(text) + 1, most = 0;

	ranks_gather(lengths, &own, sizeof own);
	for (size_t r = 0; r < ranks; r++)
		most = lengths[r] > most ? lengths[r] : most;
	char *all = mem_zero(ranks, most), *mine = mem_zero(1, most);
	memcpy(mine, text, own);
	ranks_gather(all, mine, most);
	struct tree *first = json_parse(all, strlen(all), "settings", 0);
	const char *key = differ_but(settings, first, "");
	if (key)
		die("%s: has %s %s, the first rank has %s: all must be given the same",
		    name, key, settings_text(tree_get(settings, key)),
		    settings_text(tree_get(first, key)));
	tree_free(first);
	free(lengths);
	free(text);
	free(all);
	free(mine);
}
