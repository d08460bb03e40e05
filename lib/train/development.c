#include "train/development.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/save.h"
#include "ranks/ranks.h"
#include "text/json.h"
#include "train/settings.h"

struct development {
	const struct trainer_options *options;
	const struct tree *settings;
	char *folder; /* OUT.best */
	int64_t every, steps;
	struct dev_report last, best;
	double start;		     /* dev_report.best before the first step */
	int64_t measured, best_step; /* steps; -1: none */
	int64_t worse;		     /* measurements since the best */
};

struct development *
development_new(const struct trainer_options *options, const struct tree *settings)
{
	if (!options->objective.dev)
		return NULL;

	struct development *d = mem_zero(1, sizeof *d);
	d->options = options;
	d->folder = file_beside(options->out, "best");
	d->every = options->dev_every ? options->dev_every : options->save_every;
	d->settings = settings;
	d->steps = tree_integer(settings, "steps", 0);
	d->start = NAN;
	d->measured = d->best_step = -1;
	if (!options->last_step)
		folder_check(d->folder);
	return d;
}

void
development_free(struct development *d)
{
	if (!d)
		return;
	free(d->folder);
	free(d);
}

/* A hash of the held-out files: a run that goes on compares its losses with earlier ones. */
static char *
contents_of(const struct objective_options *o)
{
	const char *const paths[] = { o->dev, o->dev_corpus };
	uint64_t hash = 0;
	struct file_view view;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		if (!paths[i] || !file_view(paths[i], &view))
			continue;
		hash = rng_hash(hash, view.text, view.length);
		file_view_close(&view);
	}
	return mem_format("%016" PRIx64, hash);
}

void
development_settings(const struct trainer_options *t, struct tree *settings)
{
	const struct objective_options *o = &t->objective;

	if (!o->dev)
		return;
	tree_set(settings, "dev", tree_of_string(o->dev));
	if (o->dev_corpus)
		tree_set(settings, "dev-corpus", tree_of_string(o->dev_corpus));
	char *contents = contents_of(o);
	tree_set(settings, "dev-contents", tree_of_string(contents));
	free(contents);
	tree_set(settings, "dev-every",
	    tree_of_integer(t->dev_every ? t->dev_every : t->save_every));
	if (t->patience)
		tree_set(settings, "patience", tree_of_integer(t->patience));
	tree_set(settings, "last-step", tree_of_boolean(t->last_step));
	/* OUT.best has it already */
	if (!t->last_step && t->dtype != DTYPE_F32)
		tree_set(settings, "dtype", tree_of_string(dtype_name(t->dtype)));
}

bool
development_due(const struct development *d, int64_t step)
{
	if (!d || !step)
		return d && d->best_step < 0;
	return (d->every && step % d->every == 0) || step == d->steps;
}

static bool
searches(const struct development *d)
{
	return d->options->objective.dev_corpus;
}

/* The name of the measure that dev_report.best has, a loss with its sign turned. */
static const char *
measure_of(const struct development *d)
{
	if (d->options->objective.type->dev_spearman)
		return "Spearman's correlation";
	return searches(d) || d->options->objective.type->dev_ranks ? "nDCG@10" : "loss";
}

/* A loss that is not a number is never the best. */
static bool
is_better(const struct development *d)
{
	const struct dev_report *now = &d->last, *best = &d->best;

	if (!isfinite(now->loss))
		return false;
	if (d->best_step < 0)
		return true;
	return now->best > best->best;
}

bool
development_measure(struct development *d, struct objective *objective, int64_t step)
{
	objective->type->dev(objective, &d->last);
	d->measured = step;
	if (!step)
		d->start = d->last.best;
	if (!is_better(d)) {
		d->worse++;
		return false;
	}
	d->best = d->last;
	d->best_step = step;
	d->worse = 0;
	return true;
}

bool
development_exhausted(const struct development *d)
{
	return d && d->options->patience && d->worse >= d->options->patience;
}

void
development_keep(
    const struct development *d, const struct model *model, const struct tree *origin)
{
	if (!d->options->last_step && !ranks_own())
		model_save(model, d->folder, d->options->dtype, origin);
}

/* The step whose model a folder holds, if this run wrote it; -1: it is none. */
static int64_t
step_of(const struct development *d, const char *folder)
{
	struct tree *origin = json_find(folder, FOLDER_TRAIN);
	const struct tree *settings = tree_get(origin, "settings");
	int64_t step = -1;

	if (settings && !settings_refuse(d->settings, settings))
		step = tree_integer(origin, "steps", -1);
	tree_free(origin);
	return step;
}

bool
development_take_best(const struct development *d)
{
	if (!d || d->options->last_step || d->best_step < 0)
		return false;
	if (step_of(d, d->folder) == d->best_step)
		folder_commit(mem_string(d->folder), d->options->out);
	else if (step_of(d, d->options->out) != d->best_step)
		die("%s: is not the model of step %lld, which was the best; begin anew with --restart",
		    d->folder, (long long)d->best_step);
	return true;
}

void
development_say(const struct development *d)
{
	if (!d || d->best_step < 0)
		return;
	if (d->best_step == 0)
		warn(
		    "no step was better on the held-out data than the model before training%s",
		    d->options->last_step ? "" : ", which is written");
	else if (isfinite(d->start))
		inform(
		    "step %lld was the best on the held-out data: %s %.4f, before training %.4f",
		    (long long)d->best_step, measure_of(d), fabs(d->best.best),
		    fabs(d->start));
}

/* The measures in the order of the log, whose columns are "dev_" and the name. */
enum measure { LOSS, ACCURACY, NDCG, RECALL, PRECISION, SPEARMAN, MEASURES };
static const char *const names[MEASURES] = { "loss", "accuracy", "ndcg_at_10",
	"recall_at_1", "ap", "spearman" };

static double *
value_of(struct dev_report *report, enum measure measure)
{
	double *const values[MEASURES] = { &report->loss, &report->accuracy,
		&report->ndcg, &report->recall, &report->precision, &report->spearman };

	return values[measure];
}

/* Does the run have this measure? */
static bool
has(const struct development *d, enum measure measure)
{
	const struct objective_type *type = d->options->objective.type;
	const bool there[MEASURES] = { true, type->dev_accuracy,
		searches(d) || type->dev_ranks, searches(d), type->dev_ranks,
		type->dev_spearman };

	return there[measure];
}

void
development_print_names(const struct development *d, FILE *log)
{
	for (enum measure i = 0; d && i < MEASURES; i++)
		if (has(d, i))
			fprintf(log, "\tdev_%s", names[i]);
}

void
development_print(const struct development *d, int64_t step, FILE *log)
{
	for (enum measure i = 0; d && i < MEASURES; i++) {
		struct dev_report last = d->last;
		double value = *value_of(&last, i);
		if (!has(d, i))
			continue;
		putc('\t', log);
		if (d->measured == step && !isnan(value))
			fprintf(log, "%.8g", value);
	}
}

struct tree *
development_state(const struct development *d)
{
	struct tree *state = tree_object();
	struct dev_report best = d->best;

	tree_set(state, "step", tree_of_integer(d->best_step));
	for (enum measure i = 0; i < MEASURES; i++)
		if (has(d, i) && !isnan(*value_of(&best, i)))
			tree_set(state, names[i], tree_of_real(*value_of(&best, i)));
	tree_set(state, "best", tree_of_real(best.best));
	if (isfinite(d->start))
		tree_set(state, "start", tree_of_real(d->start));
	tree_set(state, "worse", tree_of_integer(d->worse));
	return state;
}

void
development_resume(struct development *d, const struct tree *state)
{
	if (!d)
		return;
	d->best_step = tree_integer_in(state, "step", -1, INT64_MAX);
	d->start = tree_real(state, "start", NAN);
	d->worse = tree_integer_in(state, "worse", 0, INT64_MAX);
	for (enum measure i = 0; i < MEASURES; i++)
		*value_of(&d->best, i) = tree_real(state, names[i], 0);
	d->best.best = tree_real(state, "best", 0);
	/* OUT has it if the run was killed after OUT.best had become OUT */
	if (!d->options->last_step && !ranks_own() &&
	    step_of(d, d->folder) < d->best_step &&
	    step_of(d, d->options->out) < d->best_step)
		die("%s: the model of step %lld, the best so far, is not there; put it back, or begin anew with --restart",
		    d->folder, (long long)d->best_step);
}
