/* mlm_check - what masking does to 100,000 tokens, counted. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "train/mlm.h"

enum { TOKENS = 100000, VOCABULARY = 1000, MASK = 4, SPECIALS = 5 };

static int32_t before[TOKENS], after[TOKENS], again[TOKENS];
static int32_t positions[TOKENS], targets[TOKENS];

/* Compares a count with its share of `of` draws, within five standard deviations. */
static void
expect(const char *what, int64_t count, double share, int64_t of)
{
	double mean = share * (double)of;

	if (fabs((double)count - mean) > 5 * sqrt(mean * (1 - share)))
		die("%s: %lld of %lld, %g are expected", what, (long long)count,
		    (long long)of, mean);
}

static void
check(double share)
{
	static const int32_t special[SPECIALS] = { MASK, 0, 1, 2, 3 };
	struct mlm_options options = { share, 7, VOCABULARY, MASK, special, SPECIALS };
	int64_t plain = 0, masked = 0, kept = 0, changed = 0, high = 0, c = 0;

	memcpy(after, before, sizeof after);
	memcpy(again, before, sizeof again);
	int64_t count = mlm_mask(after, TOKENS, positions, targets, &options, 3);
	for (int32_t t = 0; t < TOKENS; t++) {
		bool chosen = c < count && positions[c] == t;
		plain += before[t] >= SPECIALS;
		changed += after[t] != before[t];
		if (!chosen && after[t] != before[t])
			die("token %d changed and is not to be predicted", (int)t);
		if (!chosen)
			continue;
		if (before[t] < SPECIALS || targets[c] != before[t])
			die("token %d: predict %d, which was %d", (int)t, (int)targets[c],
			    (int)before[t]);
		masked += after[t] == MASK;
		kept += after[t] == before[t];
		high += after[t] != before[t] && after[t] >= VOCABULARY / 2;
		c++;
	}
	if (c != count)
		die("positions do not rise");
	expect("chosen", count, share, plain);
	expect("masked", masked, 0.8 + 0.1 / VOCABULARY, count);
	expect("kept", kept, 0.1 + 0.1 / VOCABULARY, count);
	expect("random", changed - masked, 0.1, count);
	expect("random, of the upper half", high, 0.5, changed - masked);
	/* the same batch has the same mask, the next one another */
	mlm_mask(again, TOKENS, positions, targets, &options, 3);
	if (memcmp(again, after, sizeof after) != 0)
		die("equal seeds and steps, other masks");
	memcpy(again, before, sizeof again);
	mlm_mask(again, TOKENS, positions, targets, &options, 4);
	if (!memcmp(again, after, sizeof after))
		die("another step, the same masks");
}

int
main(void)
{
	struct mlm_options one = { 1e-9, 1, VOCABULARY, MASK, (int32_t[]){ 0 }, 1 };

	program_name = "mlm_check";
	for (int t = 0; t < TOKENS; t++)
		before[t] = t % VOCABULARY;
	check(0.15);
	check(0.4);
	/* at least one token is predicted */
	if (mlm_mask(after, 20, positions, targets, &one, 0) != 1)
		die("none is to be predicted");
	return 0;
}
