#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/correlation.h"
#include "score/measure/significance.h"
#include "score/measure/stats.h"
#include "score/score.h"
#include "search/vectors.h"
#include "stream/values.h"

enum { OWN, COSINE, DOT, MEASURES }; /* OWN: the model's similarity */
static const char *const names[MEASURES] = { "", "cosine_", "dot_" };

struct summarization {
	struct reader *reader;
	enum similarity own;
	enum protocol protocol;
	struct vectors *human, *machine;
	int relevance;
	struct per_query *per_query;
	struct series spearman[MEASURES], pearson[MEASURES]; /* [texts] */
	int64_t texts, constant, few;
};

/* The maximum similarity of each machine summary over the human ones. */
static void
greatest(double *score, const struct summarization *state, struct vector_range machine,
    struct vector_range human, enum similarity similarity)
{
	for (int64_t m = 0; m < machine.count; m++) {
		score[m] = -INFINITY;
		for (int64_t h = 0; h < human.count; h++)
			score[m] = fmax(score[m],
			    vectors_similarity(similarity, state->machine,
				machine.first + m, state->human, human.first + h));
	}
}

static double
reported(const struct summarization *state, double correlation, int64_t n)
{
	if (state->protocol != PROTOCOL_V1)
		return correlation;
	return (correlation + significance_correlation(correlation, n)) / 2;
}

static void
correlate(struct summarization *state, const struct record *record, int64_t row,
    double *const score[MEASURES], const double *gold, int64_t n)
{
	for (int i = 0; i < MEASURES; i++) {
		series_add(&state->spearman[i],
		    reported(state, correlation_spearman(gold, score[i], n), n));
		series_add(&state->pearson[i],
		    reported(state, correlation_pearson(gold, score[i], n), n));
	}
	state->texts++;
	per_query_add_row(state->per_query, state->reader, record, row,
	    state->texts + state->constant + state->few);
}

static void
read_gold(const struct summarization *state, const struct record *record, int64_t row,
    double *gold, int64_t n)
{
	struct reader *reader = state->reader;
	const struct column *column = stream_column(reader, state->relevance);
	const struct array *array = &record->columns[state->relevance];
	int64_t first = values_start(column, array, row);
	int64_t count = values_start(column, array, row + 1) - first;

	if (count != n)
		die("%s: record %lld: row %lld has %lld machine summaries and %lld relevances",
		    stream_name(reader), (long long)stream_records(reader),
		    (long long)row + 1, (long long)n, (long long)count);
	for (int64_t i = 0; i < n; i++) {
		gold[i] = values_number(reader, state->relevance, array, first + i);
		if (!isfinite(gold[i]))
			die("%s: record %lld: %s: row %lld has %g, not a number to correlate",
			    stream_name(reader), (long long)stream_records(reader),
			    column->name, (long long)row + 1, gold[i]);
	}
}

/* v1 needs the p of a correlation, and that of two has none. */
static int
least_texts(const struct summarization *state)
{
	return state->protocol == PROTOCOL_V1 ? 3 : 2;
}

static void
judge(struct summarization *state, const struct record *record, int64_t row)
{
	struct vector_range human = vectors_row(state->human, row);
	struct vector_range machine = vectors_row(state->machine, row);
	int64_t n = machine.count;

	if (human.count == 0 || n < least_texts(state)) {
		state->few++;
		return;
	}
	double *all = mem_new((size_t)n, (MEASURES + 1) * sizeof *all);
	double *score[MEASURES] = { all, all + n, all + 2 * n }, *gold = all + 3 * n;
	read_gold(state, record, row, gold, n);
	greatest(score[OWN], state, machine, human, state->own);
	greatest(score[COSINE], state, machine, human, SIMILARITY_COSINE);
	greatest(score[DOT], state, machine, human, SIMILARITY_DOT);
	if (stats_constant(gold, n) || stats_constant(score[COSINE], n) ||
	    stats_constant(score[DOT], n))
		state->constant++;
	else
		correlate(state, record, row, score, gold, n);
	free(all);
}

static void
tell(const struct summarization *state)
{
	const char *stream = stream_name(state->reader);

	if (state->few)
		warn(
		    "%s: %lld texts have no human summary or fewer than %d machine summaries: they are left out",
		    stream, (long long)state->few, least_texts(state));
	if (state->constant)
		warn(
		    "%s: %lld texts have relevances or similarities that are all equal: they are left out, as in the reference",
		    stream, (long long)state->constant);
	if (state->texts == 0)
		die("%s: there is no text to score", stream);
}

static void
report_mean(const struct summarization *state, struct report *report,
    const double *values, int measure, const char *name)
{
	report_score(
	    report, stats_mean(values, state->texts), "%s%s", names[measure], name);
	per_query_column(state->per_query, values, "%s%s", names[measure], name);
}

static void
report_all(const struct summarization *state, struct report *report)
{
	report_set(report, "similarity", "%s", similarity_name(state->own));
	report_set(report, "value", "%s",
	    state->protocol == PROTOCOL_V1 ? "(correlation + p) / 2" : "correlation");
	report_set(report, "ties", "mean rank");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", "none");
	report_set(report, "texts", "%lld", (long long)state->texts);
	for (int i = 0; i < MEASURES; i++) {
		report_mean(state, report, state->spearman[i].at, i, "spearman");
		report_mean(state, report, state->pearson[i].at, i, "pearson");
	}
	report_main(report, "cosine_spearman", "there is no text");
}

void
score_summarization(struct report *report, const struct score_options *options)
{
	static const char *const relevances[] = { "relevance", NULL };
	struct reader *reader = stream_open(options->files[0]);
	int wanted = VECTORS_LISTS | VECTORS_UNITS;
	struct summarization state = { .reader = reader,
		.own = vectors_own_similarity(reader, options->similarity),
		.protocol = options->protocol,
		.per_query = options->per_query,
		.human = vectors_open(reader, "human_summaries", wanted),
		.machine = vectors_open(reader, "machine_summaries", wanted),
		.relevance = values_find(reader, relevances) };
	struct record record;

	vectors_agree(state.human, state.machine, false);
	if (state.relevance < 0)
		die("%s: there is no column 'relevance' with the judgements of the machine summaries",
		    stream_name(reader));
	values_single(reader, state.relevance, 1);
	while (stream_next(reader, &record)) {
		vectors_load(state.human, &record);
		vectors_load(state.machine, &record);
		for (int64_t row = 0; row < record.rows; row++)
			judge(&state, &record, row);
	}
	tell(&state);
	report_all(&state, report);
	vectors_warn_zero(state.human, "their cosines are 0");
	vectors_warn_zero(state.machine, "their cosines are 0");
	for (int i = 0; i < MEASURES; i++) {
		free(state.spearman[i].at);
		free(state.pearson[i].at);
	}
	vectors_close(state.human);
	vectors_close(state.machine);
	stream_close(reader);
}
