#include "train/matryoshka.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"

enum { MOST = 16 };

/* Vectors are cut by moving rows of `unit` components, which divides all widths. */
struct matryoshka {
	size_t count, widths[MOST], unit, whole;
	double weights[MOST];
	size_t rows; /* vectors that are cut */
	int32_t *host, *places;
	float *vectors, *gradient;
	size_t host_room, places_size, vectors_size, gradient_size;
};

static size_t
common_divisor(size_t a, size_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

struct matryoshka *
matryoshka_new(const char *text, size_t width)
{
	struct matryoshka *m = mem_zero(1, sizeof *m);
	const char *at = text;

	m->whole = m->unit = width;
	for (char *end; !m->count || *at++ == ','; at = end) {
		unsigned long one =
		    isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
		double weight = 1;
		if (one && *end == ':')
			weight = strtod(end + 1, &end);
		if (!one || (*end && *end != ',') || !(weight > 0 && weight <= 1e6) ||
		    m->count == MOST)
			die_usage(
			    "--matryoshka: '%s' is not a list of at most %d widths such as 384,256:0.5,128, each with a weight above 0 or none",
			    text, MOST);
		if (one > width)
			die("--matryoshka: the embeddings have %zu components, fewer than %lu",
			    width, one);
		m->widths[m->count] = one;
		m->weights[m->count++] = weight;
		m->unit = common_divisor(m->unit, one);
	}
	return m;
}

void
matryoshka_free(struct matryoshka *m)
{
	if (!m)
		return;
	nn_free(m->places, m->places_size);
	nn_free(m->vectors, m->vectors_size);
	nn_free(m->gradient, m->gradient_size);
	free(m->host);
	free(m);
}

size_t
matryoshka_width(const struct matryoshka *m, size_t index, double *weight)
{
	if (index == m->count)
		return 0;
	*weight = m->weights[index];
	return m->widths[index];
}

float *
matryoshka_cut(struct matryoshka *m, size_t index, const float *vectors, size_t count,
    float **gradient)
{
	size_t width = m->widths[index], units = width / m->unit;
	size_t all = m->whole / m->unit, moved = count * units;

	m->rows = count;
	m->host = mem_grow(m->host, &m->host_room, moved, sizeof *m->host);
	for (size_t i = 0; i < moved; i++)
		m->host[i] = (int32_t)(i / units * all + i % units);
	m->places = nn_reserve(m->places, &m->places_size, moved, sizeof *m->places);
	nn_upload(m->places, m->host, moved * sizeof *m->places);
	m->vectors =
	    nn_reserve(m->vectors, &m->vectors_size, count, width * sizeof *m->vectors);
	m->gradient = nn_reserve(
	    m->gradient, &m->gradient_size, count, width * sizeof *m->gradient);
	nn_gather(m->vectors, vectors, m->places, moved, m->unit);
	*gradient = m->gradient;
	return m->vectors;
}

void
matryoshka_add(struct matryoshka *m, size_t index, float *gradient)
{
	size_t width = m->widths[index];

	nn_scale(m->gradient, (float)m->weights[index], m->rows * width);
	nn_scatter_add(
	    gradient, m->gradient, m->places, m->rows * width / m->unit, m->unit);
}
