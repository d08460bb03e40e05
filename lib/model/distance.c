#include "model/distance.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/relative.h"

void
distance_layout(struct distance *distance, struct workspace *workspace,
    const struct spec *spec, size_t T, size_t longest, bool learns)
{
	size_t H = (size_t)spec->heads, n = 2 * longest;

	*distance = (struct distance){ 0 };
	if (spec->distance.buckets || spec->relative.rows)
		distance->buckets =
		    workspace_take(workspace, n, 1, sizeof *distance->buckets);
	if (spec->distance.buckets || spec->distance.slopes)
		distance->bias = workspace_floats(workspace, H, n);
	if (spec->distance.buckets && learns)
		distance->dbias = workspace_floats(workspace, 2 * T, H);
}

/* In single precision, as the references take the logarithm. */
static int32_t
bucket_of(const struct spec_distance *distance, size_t n)
{
	int32_t half = distance->buckets / 2, exact = half / 2;

	if (n < (size_t)exact)
		return (int32_t)n;
	float most = (float)log((double)distance->farthest / exact);
	float part = (float)log((double)((float)n / (float)exact)) / most;
	float past = part * (float)(half - exact);
	return past < (float)(half - exact) ? exact + (int32_t)past : half - 1;
}

static void
upload_buckets(int32_t *to, const struct spec *spec, size_t longest)
{
	const struct spec_distance *distance = &spec->distance;
	int32_t *host = mem_new(2 * longest, sizeof *host);

	if (spec->relative.rows)
		relative_rows(host, &spec->relative, longest);
	for (size_t n = 0; distance->buckets && n <= longest; n++) {
		int32_t bucket = bucket_of(distance, n);
		host[longest - n] = n ? distance->buckets / 2 + bucket : bucket;
		if (n < longest)
			host[longest + n] = bucket;
	}
	nn_upload(to, host, 2 * longest * sizeof *host);
	free(host);
}

static double
slope_of(int h, int heads)
{
	int power = 1;

	while (2 * power <= heads)
		power *= 2;
	return h < power ? exp2(-8.0 * (h + 1) / power)
			 : exp2(-4.0 * (2 * (h - power) + 1) / power);
}

static void
upload_slopes(float *to, int heads, size_t longest)
{
	size_t n = 2 * longest;
	float *host = mem_new(mem_multiply((size_t)heads, n, "slopes"), sizeof *host);

	for (int h = 0; h < heads; h++)
		for (size_t x = 0; x < n; x++)
			host[(size_t)h * n + x] =
			    (float)(-slope_of(h, heads) *
				    fabs((double)x - (double)longest));
	nn_upload(to, host, (size_t)heads * n * sizeof *host);
	free(host);
}

void
distance_upload(const struct distance *distance, const struct spec *spec, size_t longest)
{
	if (distance->buckets)
		upload_buckets(distance->buckets, spec, longest);
	else if (distance->bias)
		upload_slopes(distance->bias, spec->heads, longest);
}

void
distance_forward(const struct distance *distance, const struct spec *spec,
    struct nn_matrix table, const struct nn_sequences *sequences)
{
	if (distance->bias && distance->buckets)
		nn_position_bias(distance->bias, table, distance->buckets,
		    sequences->longest, (size_t)spec->heads);
}

void
distance_clear(const struct distance *distance, const struct spec *spec, size_t T)
{
	if (distance->dbias)
		nn_zero(distance->dbias, 2 * T * (size_t)spec->heads);
}

void
distance_backward(const struct distance *distance, const struct spec *spec, float *dtable,
    const struct nn_sequences *sequences)
{
	if (distance->dbias && dtable)
		nn_position_bias_back(dtable, distance->dbias, distance->buckets,
		    sequences, (size_t)spec->heads);
}
