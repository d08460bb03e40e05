#include "papers/reze/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "text/lines.h"

enum { NUMBERS = 5 };
static const char *const names[] = { "source", "pairs", "shrunk", "cosine", "least",
	"distance", NULL };

struct sums {
	int64_t pairs;
	double cosine, least, square;
};

struct effect {
	const struct statistics *statistics;
	struct sums *sources; /* [sources] */
};

struct effect *
effect_new(const struct statistics *statistics)
{
	struct effect *effect = mem_zero(1, sizeof *effect);

	effect->statistics = statistics;
	effect->sources =
	    mem_zero((size_t)strings_count(statistics->sources), sizeof *effect->sources);
	return effect;
}

static void
add_pair(struct sums *sums, const float *relation, const double *target, int width)
{
	double dot = 0, old = 0, new = 0, square = 0;

	for (int j = 0; j < width; j++) {
		double r = (double)relation[j], t = target[j];
		dot += r * t;
		old += r * r;
		new += t *t;
		square += (t - r) * (t - r);
	}
	double cosine = old > 0 && new > 0 ? dot / sqrt(old * new) : 0;
	sums->least = sums->pairs ? fmin(sums->least, cosine) : cosine;
	sums->cosine += cosine;
	sums->square += square;
	sums->pairs++;
}

void
effect_add(struct effect *effect, const float *relations, const double *targets,
    const int *sources, int64_t count)
{
	int64_t width = effect->statistics->width;

	for (int64_t i = 0; i < count; i++)
		add_pair(&effect->sources[sources[i]], relations + i * width,
		    targets + i * width, (int)width);
}

static double
share_shrunk(const struct statistics *statistics, int source)
{
	const struct shrinkage *shrinkage = statistics->shrinkage;
	int shrunk = 0;

	for (int j = 0; j < shrinkage->active; j++)
		shrunk +=
		    shrinkage->factors[(int64_t)j * shrinkage->sources + source] != 1;
	return (double)shrunk / shrinkage->active;
}

static void
print_line(const char *name, const struct sums *sums, double shrunk)
{
	static const char *const formats[] = { "%.0f", "%.4f", "%.6f", "%.6f", "%.6f" };
	const struct lines lines = { stdout, false, 1 };
	double pairs = (double)sums->pairs;

	lines_put(&lines, &name,
	    (const double[]){
		pairs, shrunk, sums->cosine / pairs, sums->least, sums->square / pairs },
	    formats, NUMBERS);
}

void
effect_print(const struct effect *effect)
{
	const struct lines lines = { stdout, false, 1 };
	const struct statistics *statistics = effect->statistics;
	struct sums all = { 0 };
	double shrunk = 0;
	int sources = 0;

	lines_head(&lines, names);
	for (int s = 0; s < strings_count(statistics->sources); s++) {
		const struct sums *own = &effect->sources[s];
		if (!own->pairs)
			continue;
		print_line(strings_get(statistics->sources, s), own,
		    share_shrunk(statistics, s));
		all.least = all.pairs ? fmin(all.least, own->least) : own->least;
		all.cosine += own->cosine;
		all.square += own->square;
		all.pairs += own->pairs;
		shrunk += share_shrunk(statistics, s);
		sources++;
	}
	if (sources)
		print_line("all", &all, shrunk / sources);
}

void
effect_free(struct effect *effect)
{
	free(effect->sources);
	free(effect);
}
