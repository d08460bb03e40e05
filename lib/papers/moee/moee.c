#include "papers/moee/moee.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "papers/moee/alpha.h"
#include "stream/replay.h"

static const char *const endings[PARTS] = { ".hs", ".rw" };

struct output_column {
	int column;
	float *vectors;
	size_t room;
	int64_t zero;
};

struct pair_similarities {
	double *at;
	size_t room;
};

struct moee {
	const struct moee_options *options;
	const char *path;
	struct replay *replay; /* NULL: read once */
	struct reader *reader;
	struct progress *progress;
	struct emitted *emitted;
	struct standardizer **standards; /* [fields, parts] or [parts]; NULL: none */
	int standard_count;
	double alpha;
	/* of all pairs; of a record's */
	struct pair_similarities similarity[PARTS];
	int64_t pairs;
	struct output_column *made; /* [fields, parts] */
};

/* Opens the stream at its first record. */
static void
begin(struct moee *moee)
{
	const struct moee_options *options = moee->options;
	enum combine combine = options->combine;

	moee->reader =
	    moee->replay ? replay_reader(moee->replay) : stream_open(moee->path);
	if (moee->emitted)
		moee->emitted->reader = moee->reader;
	else
		moee->emitted = emitted_open(
		    moee->reader, combine != COMBINE_RW, combine != COMBINE_HS);
	moee->progress = stream_progress(moee->reader);
}

static void
end(struct moee *moee)
{
	progress_free(moee->progress);
	stream_close(moee->reader);
}

static void
begin_again(struct moee *moee)
{
	end(moee);
	begin(moee);
	for (int i = 0; i < moee->standard_count; i++)
		standardizer_rewind(moee->standards[i]);
}

/* Standardising. ------------------------------------------------------------------- */

/* Dies unless the vectors of the other stream are of the same kind. */
static void
check_like(const struct emitted *ours, const struct emitted *theirs)
{
	const char *one = tree_string(stream_properties(ours->reader), "model", ""),
		   *two = tree_string(stream_properties(theirs->reader), "model", "");

	if (*one && *two && strcmp(one, two) != 0)
		die("%s: its vectors are of model %s, those of %s of model %s; encode both with one model",
		    stream_name(theirs->reader), two, stream_name(ours->reader), one);
	for (int kind = 0; kind < PARTS; kind++) {
		const char *own = emitted_made(ours, kind),
			   *other = emitted_made(theirs, kind);
		if (strcmp(own ? own : "", other ? other : "") != 0)
			die("%s: its %s are %s, those of %s are %s; encode both with the same --emit",
			    stream_name(theirs->reader), emitted_kind(kind),
			    other ? other : endings[kind] + 1, stream_name(ours->reader),
			    own ? own : endings[kind] + 1);
		if (ours->at[0].parts[kind].width != theirs->at[0].parts[kind].width)
			die("%s: its %s have width %d, those of %s %d; encode both with one model",
			    stream_name(theirs->reader), emitted_kind(kind),
			    theirs->at[0].parts[kind].width, stream_name(ours->reader),
			    ours->at[0].parts[kind].width);
	}
}

static struct standardizer *
standard_of(struct moee *moee, int field, int kind)
{
	bool each = moee->options->norm == NORM_BATCH;

	return moee->standards[(each ? field * PARTS : 0) + kind];
}

/* Adds the vectors of a stream to the standards; returns their number. */
static int64_t
learn(struct moee *moee, struct emitted *emitted, struct reader *reader)
{
	struct record record;
	int64_t count = 0;

	while (stream_next(reader, &record)) {
		emitted_load(emitted, &record);
		for (int i = 0; i < emitted->count; i++) {
			count += emitted->at[i].count;
			for (int kind = 0; kind < PARTS; kind++)
				if (emitted->at[i].parts[kind].width)
					standardizer_add(standard_of(moee, i, kind),
					    emitted->at[i].parts[kind].x,
					    emitted->at[i].count);
		}
	}
	return count;
}

static void
learn_like(struct moee *moee)
{
	struct reader *reader = stream_open(moee->options->like);
	const struct emitted_part *parts = moee->emitted->at[0].parts;
	struct emitted *like =
	    emitted_open(reader, parts[PART_HS].width, parts[PART_RW].width);

	check_like(moee->emitted, like);
	if (!learn(moee, like, reader))
		die("%s: there are no vectors in it to standardise by",
		    stream_name(reader));
	emitted_free(like);
	stream_close(reader);
}

static void
standardise(struct moee *moee)
{
	const struct moee_options *options = moee->options;
	struct emitted *emitted = moee->emitted;
	int fields = options->norm == NORM_BATCH ? emitted->count : 1;

	moee->standard_count = fields * PARTS;
	moee->standards =
	    mem_new((size_t)moee->standard_count, sizeof(struct standardizer *));
	for (int i = 0; i < moee->standard_count; i++)
		moee->standards[i] = standardizer_new(
		    emitted->at[0].parts[i % PARTS].width, options->batch);
	if (options->like)
		learn_like(moee);
	else
		learn(moee, emitted, moee->reader);
	for (int i = 0; i < moee->standard_count; i++)
		standardizer_finish(moee->standards[i]);
	for (int i = 0; i < emitted->count; i++)
		for (int kind = 0; kind < PARTS; kind++)
			if (emitted->at[i].parts[kind].width)
				emitted->at[i].parts[kind].standard =
				    standard_of(moee, i, kind);
}

/* Alpha. --------------------------------------------------------------------------- */

static void
add_pair(void *context, struct emitted_side one, struct emitted_side two)
{
	struct moee *moee = context;

	if (moee->options->search == ALPHA_EXACT && moee->pairs == ALPHA_PAIRS)
		die("%s: more than %d pairs are too many to compare with each other; say --alpha auto=grid",
		    stream_name(moee->reader), ALPHA_PAIRS);
	for (int kind = 0; kind < PARTS; kind++) {
		struct pair_similarities *numbers = &moee->similarity[kind];
		numbers->at = mem_grow(numbers->at, &numbers->room,
		    (size_t)moee->pairs + 1, sizeof *numbers->at);
		numbers->at[moee->pairs] = combine_cosine(kind, one, two);
	}
	moee->pairs++;
}

/* Are all equal up to rounding?  Alpha would then order pairs by rounding errors. */
static bool
all_equal(const double *x, int64_t n)
{
	static const double rounding = 1e-12;
	double least = x[0], most = x[0];

	for (int64_t i = 1; i < n; i++) {
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
	}
	return most - least <= rounding;
}

static void
search_alpha(struct moee *moee)
{
	const char *stream = stream_name(moee->reader);
	struct record record;

	if (emitted_layout(moee->emitted) == LAYOUT_OTHER)
		die_usage(
		    "--alpha auto needs pairs: two fields of a text a row, or one such and lists, which %s has not; give a VALUE",
		    stream);
	while (stream_next(moee->reader, &record)) {
		emitted_load(moee->emitted, &record);
		emitted_pairs(moee->emitted, record.rows, add_pair, moee);
	}
	const double *hs = moee->similarity[PART_HS].at,
		     *rw = moee->similarity[PART_RW].at;
	if (!moee->pairs)
		return;
	for (int kind = 0; kind < PARTS; kind++)
		if (all_equal(moee->similarity[kind].at, moee->pairs))
			die("%s: --alpha auto: all similarities of %s are equal, nothing correlates with them; give a VALUE",
			    stream, emitted_kind(kind));
	struct alpha alpha = moee->options->search == ALPHA_GRID
				 ? alpha_grid(hs, rw, moee->pairs)
				 : alpha_exact(hs, rw, moee->pairs);
	moee->alpha = alpha.value;
	char room[NUMBER_ROOM];
	inform(
	    "alpha %s: the sum correlates %.6f with hidden states, %.6f with routing weights, over %lld pairs",
	    number_write(room, alpha.value, false), alpha.rho_hs, alpha.rho_rw,
	    (long long)moee->pairs);
}

/* Writing. ------------------------------------------------------------------------- */

/* The property "emb": "moee-sim:sum:alpha=0.5:norm=batch=64:hs:layers=3". */
static char *
emb_property(const struct moee *moee)
{
	const struct moee_options *options = moee->options;
	char alpha[NUMBER_ROOM + 8] = "", norm[48] = "";
	uint64_t hash = 0;

	if (options->combine == COMBINE_SUM) {
		char room[NUMBER_ROOM];
		snprintf(alpha, sizeof alpha, ":alpha=%s",
		    number_write(room, moee->alpha, false));
	}
	for (int i = 0; i < moee->standard_count; i++)
		hash = standardizer_hash(moee->standards[i], hash);
	if (options->norm == NORM_BATCH)
		snprintf(
		    norm, sizeof norm, ":norm=batch=%lld", (long long)options->batch);
	if (options->norm == NORM_CORPUS)
		snprintf(norm, sizeof norm, ":norm=corpus=%016" PRIx64, hash);
	const char *hs = emitted_made(moee->emitted, PART_HS),
		   *rw = emitted_made(moee->emitted, PART_RW);
	return mem_format("moee-sim:%s%s%s%s%s%s%s", combine_names[options->combine],
	    alpha, norm, hs ? ":" : "", hs ? hs : "", rw ? ":" : "", rw ? rw : "");
}

/* Drops the input vectors and their properties. */
static void
drop(
    struct writer *writer, const struct reader *reader, const struct emitted_field *field)
{
	for (int kind = 0; kind < PARTS; kind++) {
		stream_property(writer, endings[kind] + 1, NULL);
		char *name = mem_format("%s%s", field->name, endings[kind]);
		if (stream_find(reader, name) >= 0)
			stream_drop(writer, name);
		free(name);
	}
}

static void
add_embedding(struct writer *writer, struct output_column *made,
    const struct emitted_field *field, const char *ending, int width)
{
	char *name = mem_format("%s%s.emb", field->name, ending);

	made->column = stream_add(writer, &(struct column){ .name = name,
					      .dtype = DTYPE_F32,
					      .depth = field->lists,
					      .rank = 1,
					      .shape = { width } });
	free(name);
}

/* Returns the column of similarities, or -1. */
static int
add_columns(struct moee *moee, struct writer *writer)
{
	const struct moee_options *options = moee->options;
	const struct emitted *emitted = moee->emitted;
	bool apart = options->combine == COMBINE_APART;

	moee->made = mem_zero((size_t)emitted->count * PARTS, sizeof *moee->made);
	for (int i = 0; i < emitted->count; i++) {
		const struct emitted_field *field = &emitted->at[i];
		struct output_column *made = &moee->made[i * PARTS];
		if (!apart)
			add_embedding(writer, made, field, "", combine_width(field));
		for (int kind = 0; kind < PARTS && apart; kind++)
			add_embedding(writer, made + kind, field, endings[kind],
			    field->parts[kind].width);
		if (!options->keep)
			drop(writer, moee->reader, field);
	}
	if (apart || emitted_layout(emitted) != LAYOUT_PAIRS)
		return -1;
	return stream_add(
	    writer, &(struct column){ .name = "similarity", .dtype = DTYPE_F64 });
}

static void
pass_parts(struct moee *moee, struct record *made)
{
	for (int i = 0; i < moee->emitted->count; i++) {
		const struct emitted_field *field = &moee->emitted->at[i];
		for (int kind = 0; kind < PARTS; kind++)
			made->columns[moee->made[i * PARTS + kind].column] =
			    (struct array){ { field->offsets }, field->parts[kind].x };
	}
}

static void
make_vectors(struct moee *moee, struct record *made)
{
	for (int i = 0; i < moee->emitted->count; i++) {
		const struct emitted_field *field = &moee->emitted->at[i];
		struct output_column *to = &moee->made[i * PARTS];
		int width = combine_width(field);
		to->vectors = mem_grow(to->vectors, &to->room, (size_t)field->count,
		    (size_t)width * sizeof *to->vectors);
		for (int64_t at = 0; at < field->count; at++)
			to->zero += combine_vector(moee->options->combine, moee->alpha,
			    to->vectors + at * width, field, at);
		made->columns[to->column] =
		    (struct array){ { field->offsets }, to->vectors };
	}
}

static void
compare(void *context, struct emitted_side one, struct emitted_side two)
{
	struct moee *moee = context;

	moee->similarity[0].at[one.at] =
	    combine_similarity(moee->options->combine, moee->alpha, one, two);
}

static void
write_stream(struct moee *moee)
{
	struct writer *writer = stream_create(moee->options->output, moee->reader);
	struct pair_similarities *similarity = &moee->similarity[0];
	struct record record;

	stream_level(writer, moee->options->level);
	char *emb = emb_property(moee);
	stream_property(writer, "emb", emb);
	free(emb);
	int column = add_columns(moee, writer);
	while (stream_next(moee->reader, &record)) {
		struct record *made = stream_make(writer, &record);
		emitted_load(moee->emitted, &record);
		if (moee->options->combine == COMBINE_APART)
			pass_parts(moee, made);
		else
			make_vectors(moee, made);
		if (column >= 0) {
			similarity->at = mem_grow(similarity->at, &similarity->room,
			    (size_t)record.rows, sizeof *similarity->at);
			emitted_pairs(moee->emitted, record.rows, compare, moee);
			made->columns[column] = (struct array){ .data = similarity->at };
		}
		stream_put(writer, made);
	}
	stream_finish(writer);
}

static void
tell_zeros(const struct moee *moee)
{
	bool sum = moee->options->combine == COMBINE_SUM;

	for (int i = 0; i < moee->emitted->count; i++)
		if (moee->made[i * PARTS].zero)
			warn("%s: %lld %s of %s are zero: their cosine counts as 0",
			    stream_name(moee->reader),
			    (long long)moee->made[i * PARTS].zero,
			    sum ? "hidden states or routing weights" : "vectors",
			    moee->emitted->at[i].name);
}

static void
close_all(struct moee *moee)
{
	for (int i = 0; i < moee->emitted->count; i++)
		free(moee->made[i * PARTS].vectors);
	free(moee->made);
	for (int i = 0; i < moee->standard_count; i++)
		standardizer_free(moee->standards[i]);
	free(moee->standards);
	for (int kind = 0; kind < PARTS; kind++)
		free(moee->similarity[kind].at);
	emitted_free(moee->emitted);
	if (moee->replay)
		replay_close(moee->replay);
}

void
moee_stream(const char *path, const struct moee_options *options)
{
	struct moee moee = { .options = options, .path = path, .alpha = options->alpha };
	bool search = options->search != ALPHA_VALUE, norm = options->norm != NORM_NONE;

	if (search || (norm && !options->like))
		moee.replay = replay_open(path);
	begin(&moee);
	if (norm)
		standardise(&moee);
	if (norm && !options->like)
		begin_again(&moee);
	if (search) {
		search_alpha(&moee);
		begin_again(&moee);
	}
	write_stream(&moee);
	tell_zeros(&moee);
	end(&moee);
	close_all(&moee);
}
