#include "mts/mts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"

static enum cast_kind
parse(const char *word, const char *ranges)
{
	static const char *const kinds[] = { "f32", "f16", "i8", "bit", NULL };
	enum cast_kind kind = (enum cast_kind)cli_word("cast", word, kinds);

	if (ranges && kind != CAST_I8)
		die_usage("cast: --ranges does not apply to %s", word);
	return kind;
}

static void
choose_columns(
    struct cast *cast, const struct reader *reader, const struct name_list *columns)
{
	int found = 0;

	for (int i = 0; i < columns->count; i++) {
		int index = stream_find(reader, columns->items[i]);
		if (index < 0)
			stream_lacks(reader, columns->items[i]);
		if (!cast_fits(cast, index, false))
			die("%s: column '%s' has no vectors of floats, nor codes of them",
			    stream_name(reader), columns->items[i]);
		cast_column(cast, index);
	}
	for (int i = 0; !columns->count && i < stream_columns(reader); i++) {
		if (!cast_fits(cast, i, true))
			continue;
		cast_column(cast, i);
		found++;
	}
	if (!columns->count && !found)
		die("%s: there is no column 'emb', '*.emb' or '*.tokens' of vectors of floats, nor of codes; -c names another",
		    stream_name(reader));
}

void
cast_stream(const char *word, const char *path, const struct name_list *columns,
    const struct cast_options *options)
{
	enum cast_kind kind = parse(word, options->ranges);
	struct reader *reader = stream_open(path);
	struct writer *writer = stream_create(options->output, reader);
	struct cast *cast = cast_new(reader, writer, kind, options->ranges);
	struct record record;

	stream_level(writer, options->level);
	cast_keep(cast, options->keep);
	choose_columns(cast, reader, columns);
	struct progress *progress = stream_progress(reader);
	while (stream_next(reader, &record))
		cast_put(cast, stream_make(writer, &record));
	cast_finish(cast);
	stream_finish(writer);
	progress_free(progress);
	stream_close(reader);
}
