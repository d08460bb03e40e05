/*
 * part_reports - reports of mteb-score --json on the parts of a task.
 */
#ifndef MTEB_PART_REPORTS_H
#define MTEB_PART_REPORTS_H

#include <stddef.h>

#include "mteb/benchmark.h"
#include "mteb/registry.h"
#include "text/tree.h"

struct part_report {
	struct task_part part;
	struct tree *report;
};

struct part_reports {
	const struct registry_task *task;
	struct part_report *items;
	size_t count; /* at least 1 */
};

/*
 * Reads files named as SUBSET@SPLIT=FILE, of a task with one part as FILE; "-", or no file: standard input.  A task that
 * the registry lacks is added to it, as of `type`, or of the report's if that is NULL.  Dies on an empty file, on parts
 * that mteb does not have, and on two reports of one part.
 */
struct part_reports *part_reports_read(struct registry *registry, const char *task,
    const char *type, char **operands, int count);
void part_reports_free(struct part_reports *parts);

#endif
