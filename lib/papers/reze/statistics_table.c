#include "papers/reze/statistics_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "papers/reze/shrinkage_settings.h"
#include "text/json.h"
#include "text/lines.h"

enum { SOURCE_NUMBERS = 6, COMPONENT_NUMBERS = 9 };

static const char *const source_names[] = { "source", "pairs", "shrunk", "least", "mean",
	"before", "after", NULL };
static const char *const component_names[] = { "component", "eigenvalue", "share",
	"active", "varies", "centre", "dispersion", "band", "shrunk", "least", NULL };

/* The factors that are not 1. */
struct factors {
	int count;
	double least, sum;
};

static void
count_factor(struct factors *factors, double factor)
{
	if (factor == 1)
		return;
	factors->least = factors->count++ ? fmin(factors->least, factor) : factor;
	factors->sum += factor;
}

/* The numbers of sources first .. last-1 together, with the mean of their distances. */
static void
measure_sources(const struct statistics *statistics, int first, int last,
    double numbers[SOURCE_NUMBERS])
{
	const struct shrinkage *shrinkage = statistics->shrinkage;
	struct factors factors = { .least = (double)NAN };
	double before = 0, after = 0;
	int64_t pairs = 0;

	for (int s = first; s < last; s++) {
		double own = 0, moved = 0;
		for (int j = 0; j < shrinkage->active; j++) {
			int64_t at = (int64_t)j * shrinkage->sources + s;
			double mean = statistics->means[at],
			       factor = shrinkage->factors[at], m = shrinkage->centre[j];
			own += (mean - m) * (mean - m);
			moved += (factor * mean - m) * (factor * mean - m);
			count_factor(&factors, factor);
		}
		before += sqrt(own) / (last - first);
		after += sqrt(moved) / (last - first);
		pairs += statistics->by_source[s].pairs;
	}
	numbers[0] = (double)pairs;
	numbers[1] = factors.count;
	numbers[2] = factors.least;
	numbers[3] = factors.count ? factors.sum / factors.count : (double)NAN;
	numbers[4] = before;
	numbers[5] = after;
}

static void
measure_component(const struct statistics *statistics, int j, double share,
    double numbers[COMPONENT_NUMBERS])
{
	const struct shrinkage *shrinkage = statistics->shrinkage;
	struct factors factors = { .least = (double)NAN };

	for (int s = 0; s < shrinkage->sources; s++)
		count_factor(
		    &factors, shrinkage->factors[(int64_t)j * shrinkage->sources + s]);
	numbers[0] = statistics->eigen->values[j];
	numbers[1] = share;
	numbers[2] = j < shrinkage->active;
	numbers[3] = shrinkage_varies(shrinkage, j);
	numbers[4] = shrinkage->centre[j];
	numbers[5] = shrinkage->dispersion[j];
	numbers[6] = shrinkage->bands[j];
	numbers[7] = factors.count;
	numbers[8] = factors.least;
}

/* [rank] cumulative shares of the variance. */
static double *
shares_of(const struct statistics *statistics)
{
	const struct covariance *sums = statistics->sums;
	const struct eigen *eigen = statistics->eigen;
	double *shares = mem_new((size_t)eigen->rank, sizeof *shares);
	double total = 0, sum = 0;

	for (int64_t j = 0; j < sums->width; j++)
		total += sums->scatter[j * sums->width + j] / (double)sums->count;
	for (int j = 0; j < eigen->rank; j++) {
		sum += eigen->values[j];
		shares[j] = sum / total;
	}
	return shares;
}

static void
print_sources(const struct statistics *statistics)
{
	const struct lines lines = { stdout, false, 1 };
	int count = statistics->shrinkage->sources;
	double numbers[SOURCE_NUMBERS];

	lines_head(&lines, source_names);
	for (int s = 0; s <= count; s++) {
		bool all = s == count;
		const char *name = all ? "all" : strings_get(statistics->sources, s);
		measure_sources(statistics, all ? 0 : s, all ? count : s + 1, numbers);
		lines_put(&lines, &name, numbers, NULL, SOURCE_NUMBERS);
	}
}

static void
print_components(const struct statistics *statistics)
{
	const struct lines lines = { stdout, false, 1 };
	double *shares = shares_of(statistics), numbers[COMPONENT_NUMBERS];

	lines_head(&lines, component_names);
	for (int j = 0; j < statistics->eigen->rank; j++) {
		char number[16];
		const char *name = number;
		snprintf(number, sizeof number, "%d", j + 1);
		measure_component(statistics, j, shares[j], numbers);
		lines_put(&lines, &name, numbers, NULL, COMPONENT_NUMBERS);
	}
	free(shares);
}

static void
set_numbers(struct tree *to, const char *const *names, const double *numbers, int count)
{
	for (int i = 0; i < count; i++)
		tree_set(to, names[i], tree_of_number(numbers[i]));
}

static struct tree *
sources_tree(const struct statistics *statistics)
{
	struct tree *list = tree_list();
	double numbers[SOURCE_NUMBERS];

	for (int s = 0; s < statistics->shrinkage->sources; s++) {
		struct tree *source = tree_add(list, tree_object());
		measure_sources(statistics, s, s + 1, numbers);
		tree_set(source, "source",
		    tree_of_string(strings_get(statistics->sources, s)));
		set_numbers(source, source_names + 1, numbers, SOURCE_NUMBERS);
	}
	return list;
}

static struct tree *
components_tree(const struct statistics *statistics)
{
	struct tree *list = tree_list();
	double *shares = shares_of(statistics), numbers[COMPONENT_NUMBERS];

	for (int j = 0; j < statistics->eigen->rank; j++) {
		measure_component(statistics, j, shares[j], numbers);
		set_numbers(tree_add(list, tree_object()), component_names + 1, numbers,
		    COMPONENT_NUMBERS);
	}
	free(shares);
	return list;
}

static void
print_json(const struct statistics *statistics)
{
	struct tree *root = tree_object();

	tree_set(root, "relations", tree_of_integer(statistics->sums->count));
	tree_set(root, "width", tree_of_integer(statistics->width));
	tree_set(root, "active", tree_of_integer(statistics->shrinkage->active));
	tree_set(root, "threshold", tree_of_real(statistics->shrinkage->threshold));
	tree_set(root, "settings", shrinkage_tree(&statistics->settings));
	tree_set(root, "sources", sources_tree(statistics));
	tree_set(root, "components", components_tree(statistics));
	json_print(root);
	tree_free(root);
}

void
statistics_print(const struct statistics *statistics, enum statistics_view view)
{
	switch (view) {
	case VIEW_SOURCES: print_sources(statistics); break;
	case VIEW_COMPONENTS: print_components(statistics); break;
	case VIEW_JSON: print_json(statistics); break;
	}
}
