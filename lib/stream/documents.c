#include "stream/documents.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "stream/text_column.h"
#include "text/no_text.h"

const struct column documents_columns[DOCUMENTS_COLUMNS] = {
	{ .name = "path", .dtype = DTYPE_U8, .text = true, .depth = 1 },
	{ .name = "text", .dtype = DTYPE_U8, .text = true, .depth = 1 },
};

struct documents {
	const char *folder;  /* NULL: a single file, `input` */
	struct input *input; /* NULL after it is read */
	char **paths;	     /* of the folder's files, with the folder */
	double *bytes;	     /* cumulated sizes of the files */
	size_t count, capacity, bytes_capacity, next;
	size_t prefix;	       /* length of the folder's path */
	int64_t others, links; /* numbers of skipped entries */
	struct buffer raw;
	struct text_column columns[DOCUMENTS_COLUMNS];
	struct array arrays[DOCUMENTS_COLUMNS];
};

/* Finding. ------------------------------------------------------------------------- */

bool
documents_is_folder(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISDIR(about.st_mode);
}

static bool
is_document(const char *name)
{
	static const char *const endings[] = { ".txt", ".text", ".md", ".markdown",
		".rst" };

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (input_name_ends(name, strlen(name), endings[i]))
			return true;
	return false;
}

static void
add(struct documents *documents, const FTSENT *entry)
{
	size_t count = documents->count++;

	documents->paths = mem_grow(
	    documents->paths, &documents->capacity, count + 1, sizeof *documents->paths);
	documents->bytes = mem_grow(documents->bytes, &documents->bytes_capacity,
	    count + 1, sizeof *documents->bytes);
	documents->paths[count] = mem_string(entry->fts_path);
	documents->bytes[count] =
	    (double)entry->fts_statp->st_size + (count ? documents->bytes[count - 1] : 0);
}

static void
see(struct documents *documents, FTS *tree, FTSENT *entry)
{
	bool hidden = entry->fts_level > 0 && *entry->fts_name == '.';

	switch (entry->fts_info) {
	case FTS_D:
		if (hidden) {
			fts_set(tree, entry, FTS_SKIP);
			documents->others++;
		}
		break;
	case FTS_F:
		if (!hidden && is_document(entry->fts_name))
			add(documents, entry);
		else
			documents->others++;
		break;
	case FTS_SL:
	case FTS_SLNONE: documents->links++; break;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS: errno = entry->fts_errno; die("%s:", entry->fts_path);
	default: break;
	}
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct documents *
documents_open(const char *folder)
{
	struct documents *documents = mem_zero(1, sizeof *documents);
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);

	if (!tree)
		die("%s:", folder);
	documents->folder = folder;
	documents->prefix = strlen(folder);
	errno = 0;
	for (FTSENT *entry; (entry = fts_read(tree)); errno = 0)
		see(documents, tree, entry);
	if (errno)
		die("%s:", folder);
	fts_close(tree);
	inform(
	    "%s: %zu texts; %lld hidden or other files and folders and %lld symbolic links left out",
	    folder, documents->count, (long long)documents->others,
	    (long long)documents->links);
	if (!documents->count)
		die("%s: holds no text (.txt, .text, .md, .markdown, .rst); symbolic links and hidden files are left out",
		    folder);
	return documents;
}

struct documents *
documents_of(struct input *input)
{
	struct documents *documents = mem_zero(1, sizeof *documents);

	documents->input = input;
	return documents;
}

/* Reading. ------------------------------------------------------------------------- */

/* Drops carriage returns before line feeds; without any line feed turns carriage returns into them.  Returns the
 * length. */
static size_t
unify_lines(char *text, size_t length)
{
	bool feeds = memchr(text, '\n', length) != NULL;
	size_t kept = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (c == '\r' && feeds && i + 1 < length && text[i + 1] == '\n')
			continue;
		text[kept++] = c == '\r' && !feeds ? '\n' : c;
	}
	return kept;
}

/* Reads a file.  Returns NULL if it is text, else the reason why not, freed by the caller. */
static char *
read_raw(struct buffer *raw, struct input *input)
{
	enum { BLOCK = 1 << 18 };
	size_t got;

	raw->used = 0;
	do {
		got = input_read(input, buffer_room(raw, BLOCK), BLOCK);
		raw->used += got;
	} while (got == BLOCK);
	char *why =
	    no_text(raw->data, raw->used < BLOCK ? raw->used : BLOCK, input_name(input));
	if (!why && raw->used && memchr(raw->data, 0, raw->used))
		why = mem_string("a byte 0: this is not text (or it is UTF-16)");
	return why;
}

/* Adds a text, with invalid UTF-8 replaced; returns the number of replacements. */
static int64_t
put(struct text_column *column, const char *text, size_t length)
{
	char *to = buffer_room(&column->bytes, mem_multiply(length, 3, "a text"));
	int64_t repaired = 0;

	column->bytes.used += utf8_repair(to, text, length, &repaired);
	text_column_end(column);
	return repaired;
}

/* Appends a file as a row; returns false if it is not text. */
static bool
put_file(struct documents *documents, struct input *input, const char *path)
{
	struct buffer *raw = &documents->raw;
	char *why = read_raw(raw, input);

	if (why && !documents->folder)
		die("%s: %s", input_name(input), why);
	if (why)
		warn("%s: left out: %s", input_name(input), why);
	free(why);
	if (why)
		return false;
	bool mark = raw->used >= 3 && !memcmp(raw->data, "\xEF\xBB\xBF", 3);
	char *from = raw->data + (mark ? 3 : 0);
	size_t length = unify_lines(from, raw->used - (mark ? 3 : 0));
	int64_t repaired = put(&documents->columns[DOCUMENTS_TEXT], from, length);
	if (repaired)
		warn("%s: %lld invalid parts of UTF-8 were replaced by U+FFFD",
		    input_name(input), (long long)repaired);
	put(&documents->columns[DOCUMENTS_PATH], path, strlen(path));
	return true;
}

static bool
next_file(struct documents *documents)
{
	const char *path, *name;
	struct input *input = documents->input;

	if (!documents->folder) {
		documents->input = NULL;
		name = input_name(input);
	} else {
		path = documents->paths[documents->next++];
		input = input_open(path);
		name = path + documents->prefix;
		name += strspn(name, "/");
	}
	bool text = put_file(documents, input, name);
	input_close(input);
	return text;
}

bool
documents_next(
    struct documents *documents, int64_t rows, int64_t bytes, struct record *record)
{
	int64_t count = 0;

	for (int c = 0; c < DOCUMENTS_COLUMNS; c++)
		text_column_clear(&documents->columns[c]);
	while (count < rows &&
	       (int64_t)documents->columns[DOCUMENTS_TEXT].bytes.used < bytes &&
	       (documents->input || documents->next < documents->count))
		count += next_file(documents);
	for (int c = 0; c < DOCUMENTS_COLUMNS; c++)
		documents->arrays[c] = text_column_array(&documents->columns[c]);
	*record = (struct record){ .rows = count, .columns = documents->arrays };
	return count > 0;
}

double
documents_share(const struct documents *documents)
{
	if (!documents->folder || !documents->bytes[documents->count - 1])
		return -1;
	return documents->next ? documents->bytes[documents->next - 1] /
				     documents->bytes[documents->count - 1]
			       : 0;
}

void
documents_close(struct documents *documents)
{
	for (size_t i = 0; i < documents->count; i++)
		free(documents->paths[i]);
	for (int c = 0; c < DOCUMENTS_COLUMNS; c++)
		text_column_free(&documents->columns[c]);
	if (documents->input)
		input_close(documents->input);
	free(documents->raw.data);
	free(documents->paths);
	free(documents->bytes);
	free(documents);
}
