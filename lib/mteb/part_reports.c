#include "mteb/part_reports.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "text/json.h"

enum { CHUNK = 1 << 16 };

static struct tree *
read_report(const char *path)
{
	struct input *input = input_open(path);
	const char *name = strcmp(path, "-") != 0 ? path : "<stdin>";
	struct buffer text = { 0 };
	size_t got;

	do {
		got = input_read(input, buffer_room(&text, CHUNK), CHUNK);
		text.used += got;
	} while (got);
	if (!text.used)
		die("%s: empty, not a report; did the program before it fail?", name);
	struct tree *report = json_parse(text.data, text.used, name, 0);
	input_close(input);
	free(text.data);
	return report;
}

/* Splits SUBSET@SPLIT=FILE; returns the file, and the part's name, freed by the caller, NULL: a file alone. */
static const char *
part_and_file(char **part, const char *operand)
{
	const char *equals = strchr(operand, '='), *slash = strchr(operand, '/'),
		   *at = strchr(operand, '@');
	bool named = equals && at && at < equals && (!slash || equals < slash);

	*part = named ? mem_format("%.*s", (int)(equals - operand), operand) : NULL;
	return named ? equals + 1 : operand;
}

/* The part called SUBSET@SPLIT, by its own name or as a file's; NULL: the only one. */
static struct task_part
find_part(const struct registry_task *task, const struct task_parts *parts,
    const char *name, const char *path)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct task_part *part = &parts->items[i];
		char *own = mem_format("%s@%s", part->subset, part->split),
		     *file = task_part_name(part);
		bool same =
		    name ? !strcmp(own, name) || !strcmp(file, name) : parts->count == 1;
		free(file);
		free(own);
		if (same)
			return *part;
	}
	if (name)
		die("%s: mteb has no subset and split '%s', of which %s is; leave it out, or remove it",
		    task->name, name, path);
	die("%s: it has %zu parts: say which the report is of, %s@%s=FILE", task->name,
	    parts->count, parts->items[0].subset, parts->items[0].split);
}

/* Dies if an earlier report is of the same part. */
static void
check_new(const struct part_reports *parts, size_t i)
{
	const struct task_part *part = &parts->items[i].part;

	for (size_t before = 0; before < i; before++)
		if (!strcmp(parts->items[before].part.subset, part->subset) &&
		    !strcmp(parts->items[before].part.split, part->split))
			die("%s: there are two reports of %s@%s", parts->task->name,
			    part->subset, part->split);
}

struct part_reports *
part_reports_read(struct registry *registry, const char *task, const char *type,
    char **operands, int count)
{
	struct part_reports *parts = mem_zero(1, sizeof *parts);

	parts->count = count ? (size_t)count : 1;
	parts->items = mem_zero(parts->count, sizeof *parts->items);
	parts->task = registry_find(registry, task);
	for (size_t i = 0; i < parts->count; i++) {
		char *name;
		const char *path = part_and_file(&name, count ? operands[i] : "-");
		struct tree *report = read_report(path);
		if (!parts->task)
			parts->task = registry_add(registry, task,
			    type ? type : tree_string(report, "task_type", ""));
		struct task_parts all = task_parts(parts->task);
		parts->items[i] =
		    (struct part_report){ find_part(parts->task, &all, name, path),
			    report };
		check_new(parts, i);
		free(all.items);
		free(name);
	}
	return parts;
}

void
part_reports_free(struct part_reports *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		tree_free(parts->items[i].report);
	free(parts->items);
	free(parts);
}
