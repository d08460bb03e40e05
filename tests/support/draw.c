/*
 * draw - print what the generators and the statistics give, for tests/stats.bats to compare
 *
 * draw numpy|python|stats|undersample|student
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "score/measure/confusion.h"
#include "score/measure/correlation.h"
#include "score/measure/partition.h"
#include "score/measure/significance.h"
#include "score/measure/stats.h"
#include "base/mt19937.h"

static void
print(const int64_t *items, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		printf("%s%lld", i ? " " : "", (long long)items[i]);
	putchar('\n');
}

static void
numpy(void)
{
	struct mt19937 mt;
	int64_t items[10];

	mt19937_seed_numpy(&mt, 42);
	double first = mt19937_uniform(&mt);
	printf("%.16g %.16g\n", first, mt19937_uniform(&mt));
	mt19937_seed_numpy(&mt, 42);
	mt19937_integers(&mt, 100, items, 10);
	print(items, 10);
	for (int i = 0; i < 10; i++)
		items[i] = i;
	for (int i = 0; i < 3; i++) {
		mt19937_seed_numpy(&mt, 42);
		mt19937_shuffle(&mt, items, 10);
		print(items, 10);
	}
	mt19937_seed_numpy(&mt, 42);
	mt19937_choices(&mt, 1000, items, 10);
	print(items, 10);
}

/* Three experiments on twelve rows of three labels, two of each. */
static void
undersampling(void)
{
	int32_t label[12];

	for (int i = 0; i < 12; i++)
		label[i] = i % 3;
	struct mt19937_sample *samples = mt19937_undersample(label, 12, 3, 2, 3, 42);
	for (int i = 0; i < 3; i++) {
		print(samples[i].rows, samples[i].size);
		free(samples[i].rows);
	}
	free(samples);
}

static void
python(void)
{
	struct mt19937 mt;
	int64_t items[10];

	mt19937_seed_python(&mt, 42);
	double first = mt19937_uniform(&mt);
	printf("%.16g %.16g\n", first, mt19937_uniform(&mt));
	mt19937_seed_python(&mt, 42);
	mt19937_python_choices(&mt, 10, items, 8);
	print(items, 8);
	mt19937_seed_python(&mt, 42);
	mt19937_python_sample(&mt, 100, items, 10);
	print(items, 10);
	mt19937_seed_python(&mt, 42);
	mt19937_python_sample(&mt, 20, items, 10);
	print(items, 10);
}

static void
statistics(void)
{
	const double a[] = { 1, 2, 2, 3, 5, 5, 5, 9 }, b[] = { 2, 1, 4, 4, 3, 8, 8, 7 };
	const double constant[] = { 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1 };
	const int32_t truth[] = { 0, 0, 1, 1 }, some[] = { 0, 0, 1, 2 },
		      all[] = { 0, 1, 2, 3 };
	double ranks[8];

	stats_ranks(ranks, a, 8);
	for (int i = 0; i < 8; i++)
		printf("%g ", ranks[i]);
	putchar('\n');
	printf("pearson %.12f spearman %.12f constant %g\n", correlation_pearson(a, b, 8),
	    correlation_spearman(a, b, 8), correlation_pearson(a, constant, 8));
	printf("v %.12f %.12f\n", partition_v_measure(truth, 2, some, 3, 4),
	    partition_v_measure(truth, 2, all, 4, 4));
	const int32_t x[] = { 0, 0, 1, 1, 2, 2, 2, 0 }, y[] = { 0, 0, 1, 0, 1, 1, 1, 1 },
		      zero[8] = { 0 };
	printf("ami %.12f %.12f %.12f %.12f %.12f\n", partition_ami(x, 3, y, 2, 8),
	    partition_ami(truth, 2, some, 3, 4), partition_ami(x, 3, x, 3, 8),
	    partition_ami(x, 3, zero, 1, 8), partition_ami(zero, 1, zero, 1, 8));
	struct confusion found = confusion_measure(x, y, 8, 3);
	printf("confusion %.12f %.12f %.12f %.12f %.12f %.12f %.12f ap %.12f %.12f\n",
	    found.accuracy, found.f1, found.f1_weighted, found.precision,
	    found.precision_weighted, found.recall, found.recall_weighted,
	    confusion_average_precision(x, y, 8, 3, 1),
	    confusion_average_precision(x, y, 8, 3, 2));
	printf("beta %.12f %.12f %.12f\n", significance_beta(0.5, 0.5, 0.3, 0.7),
	    significance_beta(2, 7, 0.8, 0.2), significance_beta(30, 0.5, 0.97, 0.03));
	printf("t %.12f %.12f p %.12f\n", significance_t_below(-1.7, 9.4),
	    significance_t_below(2.5, 30), significance_correlation(0.43, 16));
	printf("round %.17g %.17g %.17g\n", stats_round(0.123455, 5), stats_round(0.5, 0),
	    stats_round(-2.675, 2));
}

/* Lines of t and degrees of freedom to P(T <= t). */
static void
student(void)
{
	double t, freedom;

	while (scanf("%lf %lf", &t, &freedom) == 2)
		printf("%.17g\n", significance_t_below(t, freedom));
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "numpy") == 0)
		numpy();
	else if (argc == 2 && strcmp(argv[1], "python") == 0)
		python();
	else if (argc == 2 && strcmp(argv[1], "undersample") == 0)
		undersampling();
	else if (argc == 2 && strcmp(argv[1], "stats") == 0)
		statistics();
	else if (argc == 2 && strcmp(argv[1], "student") == 0)
		student();
	else
		return 2;
	return 0;
}
