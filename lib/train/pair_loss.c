#include "train/pair_loss.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct scored_pair {
	double t, s;
	size_t pair;
};

static int
by_score(const void *a, const void *b)
{
	const struct scored_pair *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

/* log(e^a + e^b), also of -INFINITY. */
static double
log_sum(double a, double b)
{
	double most = fmax(a, b);

	return most == -INFINITY ? most : most + log(exp(a - most) + exp(b - most));
}

/*
 * In logarithms.  With the pairs in the order of t, below[j] is the sum of e^s over the pairs with a smaller t than j's, above[i] the
 * sum of e^-s over those with a greater t; the sum over i, j is that over j of below[j] e^-s[j].
 */
static double
cosent(const struct pair_loss *p)
{
	size_t n = p->count;
	struct scored_pair *order = mem_new(n, sizeof *order);
	double *below = mem_new(n, sizeof *below), *above = mem_new(n, sizeof *above);
	double loss = 0, sum = -INFINITY; /* the 1 is e^0 */

	for (size_t i = 0; i < n; i++)
		order[i] = (struct scored_pair){ p->t[i], p->s[i] / p->temperature, i };
	qsort(order, n, sizeof *order, by_score);
	for (size_t first = 0, last; first < n; first = last) {
		for (last = first; last < n && order[last].t == order[first].t; last++)
			below[last] = sum;
		for (size_t i = first; i < last; i++)
			sum = log_sum(sum, order[i].s);
	}
	sum = -INFINITY;
	for (size_t last = n, first; last > 0; last = first) {
		for (first = last; first > 0 && order[first - 1].t == order[last - 1].t;
		     first--)
			above[first - 1] = sum;
		for (size_t i = last; i > first; i--)
			sum = log_sum(sum, -order[i - 1].s);
	}
	for (size_t i = 0; i < n; i++)
		loss = log_sum(loss, below[i] - order[i].s);
	for (size_t i = 0; i < n; i++)
		p->ds[order[i].pair] = (exp(above[i] + order[i].s - loss) -
					   exp(below[i] - order[i].s - loss)) /
				       p->temperature;
	free(order);
	free(below);
	free(above);
	return loss;
}

static double
mean_square(const struct pair_loss *p)
{
	double loss = 0, n = (double)p->count;

	for (size_t i = 0; i < p->count; i++) {
		double error = p->s[i] - p->t[i];
		loss += error * error / n;
		p->ds[i] = 2 * error / n;
	}
	return loss;
}

static double
contrastive(const struct pair_loss *p)
{
	double loss = 0, n = (double)p->count;

	for (size_t i = 0; i < p->count; i++) {
		double d = 1 - p->s[i], inside = fmax(0, p->margin - d), t = p->t[i];
		loss += 0.5 * (t * d * d + (1 - t) * inside * inside) / n;
		p->ds[i] = ((1 - t) * inside - t * d) / n;
	}
	return loss;
}

static double
online(const struct pair_loss *p)
{
	double loss = 0, sums[2] = { 0, 0 };
	double nearest = INFINITY, farthest = -INFINITY; /* of t = 0; of t = 1 */
	size_t counts[2] = { 0, 0 };

	for (size_t i = 0; i < p->count; i++) {
		double d = 1 - p->s[i];
		int label = p->t[i] == 1;
		if (p->t[i] != 0 && !label)
			continue;
		sums[label] += d;
		counts[label]++;
		if (label)
			farthest = fmax(farthest, d);
		else
			nearest = fmin(nearest, d);
	}
	if (!counts[1] && counts[0])
		farthest = sums[0] / (double)counts[0];
	if (!counts[0] && counts[1])
		nearest = sums[1] / (double)counts[1];
	for (size_t i = 0; i < p->count; i++) {
		double d = 1 - p->s[i], inside = fmax(0, p->margin - d);
		p->ds[i] = 0;
		if (p->t[i] == 1 && d > nearest) {
			loss += d * d;
			p->ds[i] = -2 * d;
		} else if (p->t[i] == 0 && d < farthest) {
			loss += inside * inside;
			p->ds[i] = 2 * inside;
		}
	}
	return loss;
}

static double
margin(const struct pair_loss *p)
{
	double loss = 0, n = (double)(p->count - p->rows);

	memset(p->ds, 0, p->count * sizeof *p->ds);
	for (size_t k = p->rows; k < p->count; k++) {
		size_t i = (size_t)p->row[k - p->rows];
		double error = p->s[i] - p->s[k] - (p->t[i] - p->t[k]);
		loss += error * error / n;
		p->ds[i] += 2 * error / n;
		p->ds[k] -= 2 * error / n;
	}
	return loss;
}

static double
triplet(const struct pair_loss *p)
{
	double loss = 0, n = (double)(p->count - p->rows);

	memset(p->ds, 0, p->count * sizeof *p->ds);
	for (size_t k = p->rows; k < p->count; k++) {
		size_t i = (size_t)p->row[k - p->rows];
		double inside = p->s[k] - p->s[i] + p->margin;
		if (inside <= 0)
			continue;
		loss += inside / n;
		p->ds[i] -= 1 / n;
		p->ds[k] += 1 / n;
	}
	return loss;
}

/* The logarithm of the softmax of x / e at the candidates of row i: those of its document and of negatives [first, last). */
struct pair_row {
	size_t document, first, last;
};

static double
log_total(const double *x, const struct pair_row *row, double e)
{
	double total = x[row->document] / e;

	for (size_t k = row->first; k < row->last; k++)
		total = log_sum(total, x[k] / e);
	return total;
}

/* KL of one candidate; sets its gradient. */
static double
divergence(const struct pair_loss *p, size_t at, double teacher, double student)
{
	double e = p->temperature, n = (double)p->rows;
	double log_t = p->t[at] / e - teacher, log_s = p->s[at] / e - student;

	p->ds[at] = e * (exp(log_s) - exp(log_t)) / n;
	return e * e * exp(log_t) * (log_t - log_s) / n;
}

/* The end of the row's negatives, which begin at row->first. */
static size_t
end_of_row(const struct pair_loss *p, const struct pair_row *row)
{
	size_t end = row->first;

	while (end < p->count && p->row[end - p->rows] == (int64_t)row->document)
		end++;
	return end;
}

static double
kl(const struct pair_loss *p)
{
	struct pair_row row = { 0, p->rows, p->rows };
	double loss = 0;

	for (; row.document < p->rows; row.document++) {
		row.first = row.last;
		row.last = end_of_row(p, &row);
		double teacher = log_total(p->t, &row, p->temperature);
		double student = log_total(p->s, &row, p->temperature);
		loss += divergence(p, row.document, teacher, student);
		for (size_t k = row.first; k < row.last; k++)
			loss += divergence(p, k, teacher, student);
	}
	return loss;
}

static double
listnet(const struct pair_loss *p)
{
	struct pair_row row = { 0, p->rows, p->rows };
	double loss = 0, n = (double)p->rows;

	for (; row.document < p->rows; row.document++) {
		row.first = row.last;
		row.last = end_of_row(p, &row);
		double wanted = log_total(p->t, &row, p->temperature);
		double made = log_total(p->s, &row, 1);
		for (size_t k = row.first; k <= row.last; k++) {
			size_t i = k < row.last ? k : row.document;
			double target = exp(p->t[i] / p->temperature - wanted);
			loss -= target * (p->s[i] - made) / n;
			p->ds[i] = (exp(p->s[i] - made) - target) / n;
		}
	}
	return loss;
}

static double
bce(const struct pair_loss *p)
{
	double loss = 0, n = (double)p->count;

	for (size_t i = 0; i < p->count; i++) {
		double s = p->s[i], t = p->t[i], both = 1 - t + p->positive * t;
		/* log(1 + e^-s) = log(1 + e^-|s|) - min(s, 0) */
		loss += ((1 - t) * s + both * (log1p(exp(-fabs(s))) - fmin(s, 0))) / n;
		p->ds[i] = (1 - t - both / (1 + exp(s))) / n;
	}
	return loss;
}

static double
count_correct(const struct pair_loss *p)
{
	double correct = 0;
	size_t k = p->rows;

	for (size_t i = 0; i < p->rows; i++) {
		bool beaten = false;
		double equal = 1;
		for (; k < p->count && p->row[k - p->rows] == (int64_t)i; k++) {
			beaten |= p->s[k] > p->s[i];
			equal += p->s[k] == p->s[i];
		}
		correct += beaten ? 0 : 1 / equal;
	}
	return correct;
}

double
pair_loss(const struct pair_loss *p, double *correct)
{
	static double (*const losses[])(const struct pair_loss *) = {
		[PAIR_COSENT] = cosent,
		[PAIR_MSE] = mean_square,
		[PAIR_CONTRASTIVE] = contrastive,
		[PAIR_ONLINE] = online,
		[PAIR_MARGIN] = margin,
		[PAIR_KL] = kl,
		[PAIR_BCE] = bce,
		[PAIR_LISTNET] = listnet,
		[PAIR_TRIPLET] = triplet,
	};

	*correct = count_correct(p);
	return losses[p->kind](p);
}
