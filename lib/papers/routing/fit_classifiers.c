#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "papers/routing/fit.h"
#include "papers/routing/gate_scores.h"
#include "score/logistic_regression.h"

/* The queries without ties, in random order. */
struct labelled_queries {
	const struct training_queries *queries;
	int64_t *rows;
	int32_t *gate;	       /* the best of each row */
	int64_t count, *sizes; /* sizes: [gates] */
};

struct training_set {
	float *x;
	int32_t *label;
	int64_t count, room, width;
};

static struct labelled_queries
label(const struct training_queries *queries, uint64_t seed)
{
	size_t room = (size_t)queries->count;
	struct labelled_queries labelled = { queries,
		mem_new(room, sizeof *labelled.rows),
		mem_new(room, sizeof *labelled.gate), 0,
		mem_zero((size_t)queries->gate_count, sizeof *labelled.sizes) };
	struct rng rng = rng_seed(seed, 0);
	uint64_t key = rng_next(&rng);

	for (uint64_t i = 0; i < room; i++) {
		int64_t row = (int64_t)rng_permute(key, i, room);
		int ties;
		int best = gate_scores_best(queries->scores + row * queries->gate_count,
		    queries->gate_count, &ties);
		if (ties > 1)
			continue;
		labelled.rows[labelled.count] = row;
		labelled.gate[labelled.count++] = best;
		labelled.sizes[best]++;
	}
	return labelled;
}

static void
labelled_free(struct labelled_queries *labelled)
{
	free(labelled->rows);
	free(labelled->gate);
	free(labelled->sizes);
}

static struct training_set
training_set_new(int64_t room, int width)
{
	size_t numbers = mem_multiply((size_t)room, (size_t)width, "queries");

	return (struct training_set){ mem_new(numbers, sizeof(float)),
		mem_new((size_t)room, sizeof(int32_t)), 0, room, width };
}

static void
training_set_add(struct training_set *set, const struct training_queries *queries,
    int64_t row, int32_t class)
{
	memcpy(set->x + set->count * set->width, queries->vectors + row * set->width,
	    (size_t)set->width * sizeof(float));
	set->label[set->count++] = class;
}

/* Fits a classifier, and frees the set. */
static struct logistic_regression *
learn(struct training_set *set, int classes)
{
	struct logistic_regression *model = logistic_regression_fit(set->x, set->label,
	    set->count, (int)set->width, classes, &logistic_regression_optimum);
	if (logistic_regression_stuck(model))
		warn(
		    "a regression finds no step from zero (gradient %.1e), so that it tells no gates apart; scale the vectors",
		    model->gradient);

	free(set->x);
	free(set->label);
	return model;
}

/* Adds `scale` times one of the model's weight vectors as the gate's classifier. */
static void
add_classifier(struct pilot_library *library, const struct training_queries *queries,
    int gate, double size, const struct logistic_regression *model, int vector,
    double scale)
{
	float *weights = mem_new((size_t)model->width, sizeof *weights);

	for (int j = 0; j < model->width; j++)
		weights[j] =
		    (float)(scale * model->weights[(size_t)vector * (size_t)model->width +
						   (size_t)j]);
	pilot_library_add(library, strings_get(queries->gates, gate), "", size,
	    scale * model->intercepts[vector], weights);
	free(weights);
}

/* Fits the gate's queries against as many others, the first of the random order. */
static void
fit_expert(
    struct pilot_library *library, const struct labelled_queries *labelled, int gate)
{
	int64_t own = labelled->sizes[gate], others = labelled->count - own;
	int64_t each = own < others ? own : others, left[2] = { each, each };
	struct training_set set = training_set_new(2 * each, labelled->queries->width);

	for (int64_t i = 0; i < labelled->count; i++) {
		int class = labelled->gate[i] == gate;
		if (left[class]-- > 0)
			training_set_add(
			    &set, labelled->queries, labelled->rows[i], class);
	}
	struct logistic_regression *model = learn(&set, 2);
	add_classifier(library, labelled->queries, gate, (double)each, model, 0, 1);
	logistic_regression_free(model);
}

/* Fits all gates, on as many queries of each as the rarest has. */
static void
fit_head(struct pilot_library *library, const struct labelled_queries *labelled)
{
	int gates = labelled->queries->gate_count, classes = 0;
	int64_t least = labelled->count, *left = mem_new((size_t)gates, sizeof *left);
	int32_t *class = mem_new((size_t)gates, sizeof *class);

	for (int g = 0; g < gates; g++)
		if (labelled->sizes[g]) {
			class[g] = classes++;
			least = labelled->sizes[g] < least ? labelled->sizes[g] : least;
		}
	for (int g = 0; g < gates; g++)
		left[g] = least;
	struct training_set set =
	    training_set_new(least * classes, labelled->queries->width);
	for (int64_t i = 0; i < labelled->count; i++)
		if (left[labelled->gate[i]]-- > 0)
			training_set_add(&set, labelled->queries, labelled->rows[i],
			    class[labelled->gate[i]]);
	struct logistic_regression *model = learn(&set, classes);
	/* two classes have one vector: the softmax of -z/2 and z/2 is the logistic function of z */
	for (int g = 0; g < gates; g++)
		if (labelled->sizes[g])
			add_classifier(library, labelled->queries, g, (double)least,
			    model, classes > 2 ? class[g] : 0,
			    classes > 2 ? 1
			    : class[g]	? 0.5
					: -0.5);
	logistic_regression_free(model);
	free(left);
	free(class);
}

void
fit_classifiers(struct pilot_library *library, const struct training_queries *queries,
    const struct fit_options *options)
{
	struct labelled_queries labelled = label(queries, options->seed);

	for (int g = 0; g < queries->gate_count; g++)
		if (labelled.sizes[g] == labelled.count)
			die("%s: of %lld queries %lld have one best gate, and there are no two gates to tell apart",
			    stream_name(queries->first), (long long)queries->count,
			    (long long)labelled.count);
	if (options->router == ROUTER_HEAD)
		fit_head(library, &labelled);
	for (int g = 0; options->router == ROUTER_EXPERTS && g < queries->gate_count; g++)
		if (labelled.sizes[g])
			fit_expert(library, &labelled, g);
	labelled_free(&labelled);
}
