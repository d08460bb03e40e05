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
	struct buffer raw, columns[DOCUMENTS_COLUMNS];
	struct numbers offsets[DOCUMENTS_COLUMNS];
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
		if (hidden)
			fts_set(tree, entry, FTS_SKIP);
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
	    "%s: %zu texts; %lld other or hidden files and %lld symbolic links left out",
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

static void
put(struct documents *documents, int column, size_t used)
{
	documents->columns[column].used += used;
	numbers_add(
	    &documents->offsets[column], (int64_t)documents->columns[column].used);
}

/* Appends a file as a row; returns false if it is not text. */
static bool
put_file(struct documents *documents, struct input *input, const char *path)
{
	struct buffer *raw = &documents->raw;
	char *why = read_raw(raw, input);
	int64_t repaired = 0;

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
	char *to = buffer_room(
	    &documents->columns[DOCUMENTS_TEXT], mem_multiply(length, 3, "a text"));
	put(documents, DOCUMENTS_TEXT, utf8_repair(to, from, length, &repaired));
	if (repaired)
		warn("%s: %lld invalid parts of UTF-8 were replaced by U+FFFD",
		    input_name(input), (long long)repaired);
	length = strlen(path);
	to = buffer_room(
	    &documents->columns[DOCUMENTS_PATH], mem_multiply(length, 3, "a path"));
	put(documents, DOCUMENTS_PATH, utf8_repair(to, path, length, &repaired));
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

	for (int c = 0; c < DOCUMENTS_COLUMNS; c++) {
		documents->columns[c].used = documents->offsets[c].count = 0;
		numbers_add(&documents->offsets[c], 0);
	}
	while (count < rows && (int64_t)documents->columns[DOCUMENTS_TEXT].used < bytes &&
	       (documents->input || documents->next < documents->count))
		count += next_file(documents);
	for (int c = 0; c < DOCUMENTS_COLUMNS; c++)
		documents->arrays[c] = (struct array){ { documents->offsets[c].data },
			documents->columns[c].data };
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
	for (int c = 0; c < DOCUMENTS_COLUMNS; c++) {
		free(documents->columns[c].data);
		free(documents->offsets[c].data);
	}
	if (documents->input)
		input_close(documents->input);
	free(documents->raw.data);
	free(documents->paths);
	free(documents->bytes);
	free(documents);
}
