#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "stream/stream_format.h"
#include "text/json.h"

enum { PACKED = 1 << 18 };

/* A column of the new stream; those of the reader come first and keep their index. */
struct column_slot {
	struct column column;
	bool passes, dropped;
};

struct writer {
	struct output *output;
	ZSTD_CCtx *zstd;
	char *packed; /* [PACKED] compressed bytes */
	int level;
	struct column_slot *slots;
	size_t count, capacity;
	struct tree *properties, *history;
	bool begun; /* the header is written */
	int64_t records, rows;
	struct record made;
	struct counts *counts; /* [count], of the record being written */
};

static size_t
append_slot(struct writer *writer, const struct column *column)
{
	writer->slots = mem_grow(
	    writer->slots, &writer->capacity, writer->count + 1, sizeof *writer->slots);
	struct column_slot *slot = &writer->slots[writer->count];
	*slot = (struct column_slot){ .column = *column };
	slot->column.name = mem_string(column->name);
	return writer->count++;
}

static void
add_history(struct writer *writer)
{
	struct tree *entry = tree_add(writer->history, tree_object());
	const char *command = cli_command();

	tree_set(entry, "program", tree_of_string(program_name));
	tree_set(entry, "version", tree_of_string(MOTES_VERSION));
	tree_set(entry, "command", tree_of_string(command ? command : program_name));
}

struct writer *
stream_create(const char *path, const struct reader *from)
{
	return stream_create_as(path, path, from);
}

struct writer *
stream_create_as(const char *path, const char *name, const struct reader *from)
{
	struct writer *writer = mem_zero(1, sizeof *writer);

	writer->output = output_open_as(path, name, true);
	writer->level = output_is_pipe(writer->output) ? STREAM_STORE : STREAM_LEVEL;
	writer->zstd = ZSTD_createCCtx();
	if (!writer->zstd)
		die("%s: out of memory for compression", name);
	writer->packed = mem_new(PACKED, 1);
	for (int i = 0; from && i < stream_columns(from); i++) {
		size_t slot = append_slot(writer, stream_column(from, i));
		writer->slots[slot].passes = true;
	}
	writer->properties = from ? tree_copy(stream_properties(from)) : tree_object();
	writer->history = from ? tree_copy(stream_history(from)) : tree_list();
	add_history(writer);
	return writer;
}

static void
before_records(const struct writer *writer)
{
	if (writer->begun)
		die("%s: the header cannot be changed after the first record",
		    output_name(writer->output));
}

void
stream_level(struct writer *writer, int level)
{
	before_records(writer);
	if (level >= 0)
		writer->level = level;
}

void
stream_earlier(struct writer *writer, const struct tree *history)
{
	struct tree *all = history ? tree_copy(history) : tree_list();

	before_records(writer);
	for (size_t i = 0; i < writer->history->count; i++)
		tree_add(all, tree_copy(writer->history->items[i]));
	tree_free(writer->history);
	writer->history = all;
}

void
stream_seed(struct writer *writer, uint64_t seed)
{
	before_records(writer);
	tree_set(writer->history->items[writer->history->count - 1], "seed",
	    tree_of_integer((int64_t)seed));
}

void
stream_property(struct writer *writer, const char *key, const char *value)
{
	before_records(writer);
	if (value)
		tree_set(writer->properties, key, tree_of_string(value));
	else
		tree_remove(writer->properties, key);
}

static struct column_slot *
find_slot(struct writer *writer, const char *name)
{
	for (size_t i = 0; i < writer->count; i++)
		if (!writer->slots[i].dropped &&
		    !strcmp(writer->slots[i].column.name, name))
			return &writer->slots[i];
	return NULL;
}

static struct column_slot *
need_slot(struct writer *writer, const char *name)
{
	struct column_slot *slot = find_slot(writer, name);

	before_records(writer);
	if (!slot)
		die("%s: there is no column '%s'", output_name(writer->output), name);
	return slot;
}

/* Renames the properties that belong to a column, or removes them; to: NULL. */
static void
move_properties(struct writer *writer, const char *name, const char *to)
{
	static const char *const endings[] = { STREAM_RANGES, STREAM_BITS };

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		char *key = mem_format("%s%s", name, endings[i]);
		const struct tree *value = tree_get(writer->properties, key);
		if (value && to) {
			char *other = mem_format("%s%s", to, endings[i]);
			tree_set(writer->properties, other, tree_copy(value));
			free(other);
		}
		if (value)
			tree_remove(writer->properties, key);
		free(key);
	}
}

void
stream_drop(struct writer *writer, const char *name)
{
	need_slot(writer, name)->dropped = true;
	move_properties(writer, name, NULL);
}

static void
check_column(const struct writer *writer, const struct column *column)
{
	const char *fault = column_fault(column);

	if (fault)
		die("%s: column '%s': %s", output_name(writer->output), column->name,
		    fault);
}

void
stream_rename(struct writer *writer, const char *name, const char *to)
{
	struct column_slot *slot = need_slot(writer, name);
	struct column renamed = slot->column;

	if (!strcmp(name, to))
		return;
	if (find_slot(writer, to))
		die("%s: there is a column '%s' already", output_name(writer->output),
		    to);
	renamed.name = to;
	check_column(writer, &renamed);
	move_properties(writer, name, to);
	char *copy = mem_string(to);
	free((char *)slot->column.name);
	slot->column.name = copy;
}

int
stream_add(struct writer *writer, const struct column *column)
{
	struct column_slot *old = find_slot(writer, column->name);

	before_records(writer);
	check_column(writer, column);
	if (old && !old->passes)
		die("%s: there is a column '%s' already", output_name(writer->output),
		    column->name);
	if (old) {
		old->dropped = true;
		move_properties(writer, column->name, NULL);
	}
	return (int)append_slot(writer, column);
}

int
stream_made_columns(const struct writer *writer)
{
	return (int)writer->count;
}

const struct column *
stream_made_column(const struct writer *writer, int index)
{
	const struct column_slot *slot = &writer->slots[index];

	return slot->dropped ? NULL : &slot->column;
}

void
stream_recast(struct writer *writer, int index, enum dtype dtype, int width)
{
	struct column *column = &writer->slots[index].column;

	before_records(writer);
	move_properties(writer, column->name, NULL);
	column->dtype = dtype;
	column->shape[0] = width;
}

/* Frames. -------------------------------------------------------------------------- */

static void
check(const struct writer *writer, size_t result)
{
	if (ZSTD_isError(result))
		die("%s: compression: %s", output_name(writer->output),
		    ZSTD_getErrorName(result));
}

static void
begin_frame(struct writer *writer, uint64_t size)
{
	int level = writer->level == STREAM_STORE ? ZSTD_minCLevel() : writer->level;

	check(writer, ZSTD_CCtx_reset(writer->zstd, ZSTD_reset_session_only));
	check(
	    writer, ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, level));
	check(writer, ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1));
	check(writer, ZSTD_CCtx_setPledgedSrcSize(writer->zstd, size));
}

static void
pack(struct writer *writer, const void *bytes, size_t count, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = { bytes, count, 0 };
	size_t left = 1;

	while (in.pos < in.size || (directive == ZSTD_e_end && left)) {
		ZSTD_outBuffer out = { writer->packed, PACKED, 0 };
		left = ZSTD_compressStream2(writer->zstd, &out, &in, directive);
		check(writer, left);
		output_write(writer->output, writer->packed, out.pos);
	}
}

static void
put_bytes(struct writer *writer, const void *bytes, size_t count)
{
	pack(writer, bytes, count, ZSTD_e_continue);
}

static void
end_frame(struct writer *writer)
{
	pack(writer, NULL, 0, ZSTD_e_end);
}

static void
put_padding(struct writer *writer, uint64_t size)
{
	static const char zeros[STREAM_ALIGNMENT];

	put_bytes(writer, zeros, (size_t)(stream_pad(size) - size));
}

static void
put_padded(struct writer *writer, const void *bytes, uint64_t size)
{
	put_bytes(writer, bytes, (size_t)size);
	put_padding(writer, size);
}

/* Header. -------------------------------------------------------------------------- */

/* Appends a list or object to the header text, one entry per line. */
static char *
header_part(char *text, const char *name, const struct tree *part, const char *after)
{
	bool object = part->kind == TREE_OBJECT;
	char *longer = mem_format("%s\"%s\":%s", text, name, object ? "{" : "[");

	for (size_t i = 0; i < part->count; i++) {
		char *value = json_text(part->items[i], 0), *key = NULL, *line;
		if (object) {
			struct tree *string = tree_of_string(part->items[i]->key);
			key = json_text(string, 0);
			tree_free(string);
		}
		line = mem_format("%s%s\n %s%s%s", longer, i ? "," : "", key ? key : "",
		    key ? ":" : "", value);
		free(longer);
		free(value);
		free(key);
		longer = line;
	}
	char *whole = mem_format(
	    "%s%s%s%s", longer, part->count ? "\n" : "", object ? "}" : "]", after);
	free(longer);
	free(text);
	return whole;
}

static void
put_header(struct writer *writer)
{
	struct tree *columns = tree_list();

	writer->begun = true;
	for (size_t i = 0; i < writer->count; i++)
		if (!writer->slots[i].dropped)
			tree_add(columns, column_tree(&writer->slots[i].column));
	if (columns->count > STREAM_COLUMNS)
		die("%s: a stream has at most %d columns", output_name(writer->output),
		    STREAM_COLUMNS);
	char *text = header_part(mem_string("mts 1\n{"), "columns", columns, ",\n");
	text = header_part(text, "properties", writer->properties, ",\n");
	text = header_part(text, "history", writer->history, "}\n");
	size_t length = strlen(text);
	if (length > STREAM_HEADER)
		die("%s: the header is longer than 16 MiB", output_name(writer->output));
	begin_frame(writer, length);
	put_bytes(writer, text, length);
	end_frame(writer);
	tree_free(columns);
	free(text);
}

/* Records. ------------------------------------------------------------------------- */

struct record *
stream_make(struct writer *writer, const struct record *from)
{
	struct record *made = &writer->made;

	tree_free(made->attributes);
	made->attributes =
	    from && from->attributes ? tree_copy(from->attributes) : tree_object();
	made->rows = from ? from->rows : 0;
	if (!made->columns)
		made->columns = mem_new(writer->count, sizeof *made->columns);
	if (!writer->begun) /* columns may have been added since */
		made->columns =
		    mem_resize(made->columns, writer->count, sizeof *made->columns);
	for (size_t i = 0; i < writer->count; i++)
		made->columns[i] = from && writer->slots[i].passes
				       ? from->columns[i]
				       : (struct array){ { NULL }, NULL };
	return made;
}

_Noreturn static void
fail_column(const struct writer *writer, const struct column *column, const char *what)
{
	die("%s: record %lld: column '%s': %s", output_name(writer->output),
	    (long long)writer->records + 1, column->name, what);
}

/* Checks a column and sets its counts; returns its bytes in the record. */
static uint64_t
measure(struct writer *writer, size_t index, const struct record *record)
{
	const struct column *column = &writer->slots[index].column;
	const struct array *array = &record->columns[index];
	struct counts *counts = &writer->counts[index];
	uint64_t sizes[STREAM_DEPTH + 1];

	if ((column->depth > 0 && !array->offsets[0]) ||
	    (column->depth > 1 && !array->offsets[1]))
		fail_column(writer, column, "its offsets were not set");
	counts->lists =
	    column->depth == 2 ? (uint64_t)column_lists(column, array, record->rows) : 0;
	counts->elements = (uint64_t)column_elements(column, array, record->rows);
	if (!array->data && counts->elements)
		fail_column(writer, column, "its data were not set");
	if (!stream_sizes(column, (uint64_t)record->rows, *counts, sizes))
		fail_column(writer, column, "it is larger than a record may be, 16 GiB");
	const char *fault = stream_fault(column, array, record->rows, *counts);
	if (fault)
		fail_column(writer, column, fault);
	return stream_pad(sizes[0]) + stream_pad(sizes[1]) + stream_pad(sizes[2]);
}

static void
put_column(struct writer *writer, size_t index, const struct record *record)
{
	const struct array *array = &record->columns[index];
	uint64_t sizes[STREAM_DEPTH + 1];

	stream_sizes(&writer->slots[index].column, (uint64_t)record->rows,
	    writer->counts[index], sizes);
	for (int i = 0; i < STREAM_DEPTH; i++)
		put_padded(writer, array->offsets[i], sizes[i]);
	put_padded(writer, array->data, sizes[STREAM_DEPTH]);
}

void
stream_put(struct writer *writer, const struct record *record)
{
	uint64_t columns = 0, bytes = 0;
	char *attributes = json_text(record->attributes, 0);
	size_t length = strlen(attributes);

	if (!writer->begun) {
		put_header(writer);
		writer->counts = mem_zero(writer->count, sizeof *writer->counts);
	}
	if (length > STREAM_ATTRIBUTES)
		die("%s: record %lld: its attributes are longer than 1 MiB",
		    output_name(writer->output), (long long)writer->records + 1);
	for (size_t i = 0; i < writer->count; i++)
		if (!writer->slots[i].dropped) {
			bytes += measure(writer, i, record);
			columns++;
		}
	uint64_t head = STREAM_HEAD + 16 * columns + length;
	bytes += stream_pad(head);
	if (bytes > (uint64_t)STREAM_RECORD || (record->rows && !columns))
		die("%s: record %lld: %s", output_name(writer->output),
		    (long long)writer->records + 1,
		    columns ? "it is larger than 16 GiB" : "it has rows but no columns");
	uint64_t numbers[3] = { (uint64_t)record->rows, length, columns };
	begin_frame(writer, bytes);
	put_bytes(writer, "record\0", STREAM_TAG);
	put_bytes(writer, numbers, sizeof numbers);
	for (size_t i = 0; i < writer->count; i++)
		if (!writer->slots[i].dropped)
			put_bytes(writer, &writer->counts[i], sizeof writer->counts[i]);
	put_bytes(writer, attributes, length);
	put_padding(writer, head);
	for (size_t i = 0; i < writer->count; i++)
		if (!writer->slots[i].dropped)
			put_column(writer, i, record);
	end_frame(writer);
	output_flush(writer->output); /* readers get each record at once */
	writer->records++;
	writer->rows += record->rows;
	free(attributes);
}

void
stream_finish(struct writer *writer)
{
	if (!writer->begun)
		put_header(writer);
	uint64_t numbers[2] = { (uint64_t)writer->records, (uint64_t)writer->rows };
	begin_frame(writer, STREAM_END);
	put_bytes(writer, "end\0\0\0\0", STREAM_TAG);
	put_bytes(writer, numbers, sizeof numbers);
	end_frame(writer);
	output_finish(writer->output);
	ZSTD_freeCCtx(writer->zstd);
	for (size_t i = 0; i < writer->count; i++)
		free((char *)writer->slots[i].column.name);
	free(writer->slots);
	free(writer->counts);
	free(writer->packed);
	free(writer->made.columns);
	tree_free(writer->made.attributes);
	tree_free(writer->properties);
	tree_free(writer->history);
	free(writer);
}
