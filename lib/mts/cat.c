#include "mts/mts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/stream.h"

static void
names_add(struct name_list *names, const char *name)
{
	names->items =
	    mem_resize(names->items, (size_t)names->count + 1, sizeof *names->items);
	names->items[names->count++] = mem_string(name);
}

void
names_add_list(struct name_list *names, const char *list)
{
	char *copy = mem_string(list),
	     *rest = NULL; /* nn_start may run the command line again */

	for (char *name = strtok_r(copy, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest))
		names_add(names, name);
	free(copy);
}

void
names_free(struct name_list *names)
{
	for (int i = 0; i < names->count; i++)
		free((char *)names->items[i]);
	free(names->items);
}

void
names_add_rename(struct name_list *renames, const char *rename)
{
	if (!strchr(rename, '='))
		die_usage("--rename: '%s' is not OLD=NEW", rename);
	names_add(renames, rename);
}

static void
select_columns(
    struct writer *writer, const struct reader *reader, const struct selection *selection)
{
	bool *kept = mem_zero((size_t)stream_columns(reader), sizeof *kept);

	for (int i = 0; i < selection->kept.count; i++) {
		int index = stream_find(reader, selection->kept.items[i]);
		if (index < 0)
			stream_lacks(reader, selection->kept.items[i]);
		kept[index] = true;
	}
	for (int i = 0; selection->kept.count && i < stream_columns(reader); i++)
		if (!kept[i])
			stream_drop(writer, stream_column(reader, i)->name);
	for (int i = 0; i < selection->renames.count; i++) {
		char *name = mem_string(selection->renames.items[i]),
		     *to = strchr(name, '=');
		*to++ = 0;
		stream_rename(writer, name, to);
		free(name);
	}
	free(kept);
}

/* X of X.ids, X.emb and so on, to be freed; NULL: the name has no ending. */
static char *
field_of(const char *name, size_t length)
{
	size_t field = length;

	while (field && name[field - 1] != '.')
		field--;
	return field > 1 ? mem_format("%.*s", (int)(field - 1), name) : NULL;
}

/* Members of attributes by a column's name, such as prompts: X's, whose column X.KIND was renamed, are the new name's, too. */
static void
rename_attributes(struct tree *attributes, const struct name_list *renames)
{
	for (int i = 0; i < renames->count; i++) {
		const char *name = renames->items[i], *to = strchr(name, '=');
		char *old = field_of(name, (size_t)(to - name)),
		     *new = field_of(to + 1, strlen(to + 1));
		for (size_t k = 0; old && new &&k < attributes->count; k++) {
			struct tree *object = attributes->items[k];
			bool is = object->kind == TREE_OBJECT;
			const struct tree *value = is ? tree_get(object, old) : NULL;
			if (value)
				tree_set(object, new, tree_copy(value));
		}
		free(old);
		free(new);
	}
}

void
cat_streams(
    char **paths, int count, const struct selection *selection, const char *to, int level)
{
	struct reader *first = stream_open(paths[0]);
	struct writer *writer = stream_create(to, first);
	struct record record;

	stream_level(writer, level);
	select_columns(writer, first, selection);
	struct progress *progress = progress_files("rows", paths, count);
	for (int i = 0; i < count; i++) {
		struct reader *reader = i ? stream_open(paths[i]) : first;
		stream_agree(first, reader);
		progress_file(progress);
		stream_watch(reader, progress);
		while (stream_next(reader, &record)) {
			struct record *made = stream_make(writer, &record);
			rename_attributes(made->attributes, &selection->renames);
			stream_put(writer, made);
		}
		if (i)
			stream_close(reader);
	}
	stream_finish(writer);
	progress_free(progress);
	stream_close(first);
}
