#include "score/measure/partition.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/assignment.h"

/* The contingency table, mutual information and entropies of two partitions. */
struct contingency {
	int64_t *joint;			/* [labels, clusters] */
	int64_t *of_label, *of_cluster; /* [labels], [clusters] */
	int32_t labels, clusters;
	int64_t n;
	double information, label_entropy, cluster_entropy;
};

static double
entropy(const int64_t *counts, int32_t size, int64_t n)
{
	double sum = 0;

	for (int32_t i = 0; i < size; i++) {
		double share = (double)counts[i] / (double)n;
		if (counts[i] > 0)
			sum -= share * log(share);
	}
	return sum;
}

static struct contingency
tabulate(const int32_t *label, int32_t labels, const int32_t *cluster, int32_t clusters,
    int64_t n)
{
	struct contingency table = { .labels = labels, .clusters = clusters, .n = n };
	double size = (double)n;

	table.joint = mem_zero(mem_multiply((size_t)labels, (size_t)clusters, "clusters"),
	    sizeof *table.joint);
	table.of_label = mem_zero((size_t)labels, sizeof *table.of_label);
	table.of_cluster = mem_zero((size_t)clusters, sizeof *table.of_cluster);
	for (int64_t i = 0; i < n; i++) {
		table.joint[(int64_t)label[i] * clusters + cluster[i]]++;
		table.of_label[label[i]]++;
		table.of_cluster[cluster[i]]++;
	}
	for (int64_t i = 0; i < (int64_t)labels * clusters; i++) {
		if (table.joint[i] == 0)
			continue;
		double both = (double)table.joint[i];
		double apart = (double)table.of_label[i / clusters] *
			       (double)table.of_cluster[i % clusters];
		double term = both / size * log(size * both / apart);
		if (fabs(term) >= DBL_EPSILON)
			table.information += term;
	}
	table.information = fmax(table.information, 0);
	table.label_entropy = entropy(table.of_label, labels, n);
	table.cluster_entropy = entropy(table.of_cluster, clusters, n);
	return table;
}

static void
let_go(struct contingency *table)
{
	free(table->joint);
	free(table->of_label);
	free(table->of_cluster);
}

/* Rounding must not make it exceed 1. */
static double
part_of(double information, double entropy_of)
{
	return entropy_of > 0 ? fmin(information / entropy_of, 1) : 1;
}

static double
v_measure(const struct contingency *table)
{
	double homogeneity = part_of(table->information, table->label_entropy);
	double completeness = part_of(table->information, table->cluster_entropy);
	double sum = homogeneity + completeness;

	return sum > 0 ? 2 * homogeneity * completeness / sum : 0;
}

double
partition_v_measure(const int32_t *label, int32_t labels, const int32_t *cluster,
    int32_t clusters, int64_t n)
{
	struct contingency table = tabulate(label, labels, cluster, clusters, n);
	double score = v_measure(&table);

	let_go(&table);
	return score;
}

/*
 * The expected mutual information of a label with a points and a cluster with b: the sum, over all
 * intersections k, of k/n log(n k / a b) under the hypergeometric distribution.
 * factorials [n + 1]: log k!.
 */
static double
expected_of_pair(int64_t a, int64_t b, int64_t n, const double *factorials)
{
	int64_t first = a + b - n > 1 ? a + b - n : 1, last = a < b ? a : b;
	double size = (double)n, sum = 0;
	double fixed = factorials[a] + factorials[b] + factorials[n - a] +
		       factorials[n - b] - factorials[n];
	double ratio = log(size) - log((double)a) - log((double)b);

	for (int64_t k = first; k <= last; k++) {
		double chance = fixed - factorials[k] - factorials[a - k] -
				factorials[b - k] - factorials[n - a - b + k];
		sum += (double)k / size * (ratio + log((double)k)) * exp(chance);
	}
	return sum;
}

static int32_t
parts(const int64_t *counts, int32_t size)
{
	int32_t present = 0;

	for (int32_t i = 0; i < size; i++)
		present += counts[i] > 0;
	return present;
}

static double
expected(const struct contingency *table)
{
	double *factorials = mem_new((size_t)table->n + 1, sizeof *factorials), sum = 0;

	factorials[0] = 0;
	for (int64_t i = 1; i <= table->n; i++)
		factorials[i] = lgamma((double)i + 1);
	for (int32_t i = 0; i < table->labels; i++)
		for (int32_t j = 0; j < table->clusters; j++)
			if (table->of_label[i] > 0 && table->of_cluster[j] > 0)
				sum += expected_of_pair(table->of_label[i],
				    table->of_cluster[j], table->n, factorials);
	free(factorials);
	return sum;
}

/* At least epsilon in magnitude, so that a perfect match is not 0 / 0. */
static double
no_zero(double x)
{
	return x < 0 ? fmin(x, -DBL_EPSILON) : fmax(x, DBL_EPSILON);
}

static double
ami(const struct contingency *table)
{
	int32_t some = parts(table->of_label, table->labels),
		others = parts(table->of_cluster, table->clusters);

	if (some == 1 || others == 1)
		return some == others;
	double chance = expected(table);
	double most = (table->label_entropy + table->cluster_entropy) / 2;
	return fmin(no_zero(table->information - chance) / no_zero(most - chance), 1);
}

double
partition_ami(const int32_t *label, int32_t labels, const int32_t *cluster,
    int32_t clusters, int64_t n)
{
	struct contingency table = tabulate(label, labels, cluster, clusters, n);
	double score = ami(&table);

	let_go(&table);
	return score;
}

/* Two clusterings. -------------------------------------------------------------------- */

static int64_t
pairs(const int64_t *counts, int64_t size)
{
	int64_t sum = 0;

	for (int64_t i = 0; i < size; i++)
		sum += counts[i] * (counts[i] - 1) / 2;
	return sum;
}

static double
jaccard(const struct contingency *table)
{
	int64_t both = pairs(table->joint, (int64_t)table->labels * table->clusters);
	int64_t either = pairs(table->of_label, table->labels) +
			 pairs(table->of_cluster, table->clusters) - both;

	return either ? (double)both / (double)either : 1;
}

static double
identical(const struct contingency *table)
{
	int64_t points = 0;

	for (int64_t i = 0; i < (int64_t)table->labels * table->clusters; i++)
		if (table->joint[i] == table->of_label[i / table->clusters] &&
		    table->joint[i] == table->of_cluster[i % table->clusters])
			points += table->joint[i];
	return (double)points / (double)table->n;
}

struct partition_agreement
partition_agreement(const int32_t *label, int32_t labels, const int32_t *cluster,
    int32_t clusters, int64_t n)
{
	struct contingency table = tabulate(label, labels, cluster, clusters, n);
	struct partition_agreement found = { .ami = ami(&table),
		.nmi = v_measure(&table),
		.jaccard = jaccard(&table),
		.matched =
		    (double)assignment_max(table.joint, labels, clusters) / (double)n,
		.identical = identical(&table) };

	let_go(&table);
	return found;
}
