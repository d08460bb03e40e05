#include "nn/nn.h"

#include "nn/cpu/elementary.h"

/* Sine and cosine of angles that may be many turns: the angle is reduced in double to within
 * 45 degrees, where short polynomials do; 1 ulp of 1 up to 2^20 radians. */
static void
sines(float *sine, float *cosine, const float *angle, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		double shifted =
		    (double)angle[i] * 0.63661977236758134 + 6755399441055744.0;
		double quarters = shifted - 6755399441055744.0;
		float r = (float)((double)angle[i] - quarters * 1.5707963267948966);
		int32_t quadrant = (int32_t)quarters;
		float s = r * r;
		float odd =
		    ((-0.00019517215f * s + 0.008332178f) * s - 0.16666655f) * s * r + r;
		float far = ((2.4438357e-05f * s - 0.0013887367f) * s + 0.041666646f) * s;
		float even = nn_fused(far, s, -0.5f * s) + 1.0f;
		float one = quadrant & 1 ? even : odd, other = quadrant & 1 ? odd : even;
		sine[i] = quadrant & 2 ? -one : one;
		cosine[i] = (quadrant + 1) & 2 ? -other : other;
	}
}

static void
rotate(float *x, const float *sine, const float *cosine, size_t half)
{
#pragma omp simd
	for (size_t i = 0; i < half; i++) {
		float a = x[i], b = x[half + i];
		x[i] = nn_fused(a, cosine[i], -(b * sine[i]));
		x[half + i] = nn_fused(b, cosine[i], a * sine[i]);
	}
}

void
nn_rotary(float *x, size_t ld, const float *inv, size_t step,
    const struct nn_sequences *sequences, size_t heads, size_t D, int direction)
{
	size_t T = sequences->T, half = D / 2;

#pragma omp parallel for schedule(static) if (nn_shared(T, heads * D))
	for (size_t t = 0; t < T; t++) {
		float angle[NN_MAX_HEAD / 2], sine[NN_MAX_HEAD / 2],
		    cosine[NN_MAX_HEAD / 2];
		size_t sequence = nn_sequence_of(sequences, t);
		const float *own = inv + sequence * step;
		float position =
		    (float)direction * (float)(t - (size_t)sequences->starts[sequence]);
		for (size_t i = 0; i < half; i++)
			angle[i] = position * own[i];
		sines(sine, cosine, angle, half);
		for (size_t h = 0; h < heads; h++)
			rotate(x + t * ld + h * D, sine, cosine, half);
	}
}
