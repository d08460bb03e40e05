#include "score/undersample.h"

#include <stdlib.h>

#include "base/mem.h"
#include "score/mt19937.h"

static struct sample
draw(const int32_t *label, int64_t *order, int64_t n, int32_t classes, int most,
    uint32_t seed)
{
	int *counts = mem_zero((size_t)classes, sizeof *counts);
	struct sample sample = { 0 };
	struct mt19937 mt;
	size_t capacity = 0;

	mt19937_seed_numpy(&mt, seed);
	mt19937_shuffle(&mt, order, n);
	for (int64_t i = 0; i < n; i++) {
		if (counts[label[order[i]]] == most)
			continue;
		counts[label[order[i]]]++;
		sample.rows = mem_grow(
		    sample.rows, &capacity, (size_t)sample.size + 1, sizeof *sample.rows);
		sample.rows[sample.size++] = order[i];
	}
	free(counts);
	return sample;
}

struct sample *
undersample(const int32_t *label, int64_t n, int32_t classes, int most, int experiments,
    uint32_t seed)
{
	struct sample *samples = mem_new((size_t)experiments, sizeof *samples);
	int64_t *order = mem_new((size_t)n, sizeof *order);

	for (int64_t i = 0; i < n; i++)
		order[i] = i;
	for (int i = 0; i < experiments; i++)
		samples[i] = draw(label, order, n, classes, most, seed);
	free(order);
	return samples;
}
