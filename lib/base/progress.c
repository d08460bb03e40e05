#include "base/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/status_line.h"

#define BETWEEN_DRAWINGS 0.1
#define BETWEEN_LINES 5.0

struct progress {
	const char *unit;
	int64_t total, done, before; /* units; before: done by an earlier run */
	double start, drawn;	     /* times */
	double *ends; /* [files] share of the work done at the end of each file */
	int files, file;
	bool unknown;	    /* the size of a file is unknown */
	double from, until; /* shares at the start and end of the current span */
	int64_t span, spanned, spans; /* units of the span, units done; number of spans */
	char note[64];
	bool shown, terminal;
};

static bool forced; /* --progress */

void
progress_force(void)
{
	forced = true;
}

struct progress *
progress_new(const char *unit, int64_t total)
{
	struct progress *progress = mem_zero(1, sizeof *progress);

	progress->unit = unit;
	progress->total = total;
	progress->start = progress->drawn = clock_now();
	progress->terminal = status_line_there();
	progress->shown = verbosity >= 0 && (forced || progress->terminal);
	if (progress->shown && progress->terminal && total)
		status_line_mine(true);
	return progress;
}

/* Size of a regular file, at least 1; 0: not a regular file. */
static double
file_bytes(const char *path)
{
	struct stat status;
	bool there =
	    !(strcmp(path, "-") ? stat(path, &status) : fstat(STDIN_FILENO, &status));

	return there && S_ISREG(status.st_mode) ? (double)status.st_size + 1 : 0;
}

struct progress *
progress_files(const char *unit, char *const *paths, int count)
{
	struct progress *progress = progress_new(unit, 0);
	double bytes = 0;

	if (count < 2)
		return progress;
	progress->ends = mem_new((size_t)count, sizeof *progress->ends);
	progress->files = count;
	progress->file = -1;
	for (int i = 0; i < count; i++) {
		double more = file_bytes(paths[i]);
		progress->unknown |= !more;
		progress->ends[i] = bytes += more;
	}
	for (int i = 0; i < count; i++)
		progress->ends[i] /= bytes;
	return progress;
}

void
progress_file(struct progress *progress)
{
	progress->file += progress->file + 1 < progress->files;
}

void
progress_span(struct progress *progress, double share, int64_t count)
{
	double from = 0, to = 1;

	if (progress->files) {
		from = progress->file ? progress->ends[progress->file - 1] : 0;
		to = progress->ends[progress->file];
	}
	progress->from = progress->spans++ ? progress->until : 0;
	progress->until =
	    share < 0 || progress->unknown ? -1 : from + (to - from) * share;
	progress->span = count;
	progress->spanned = 0;
}

/* The share done of the whole work; below 0: unknown. */
static double
share_done(const struct progress *progress)
{
	double in_span = 1;

	if (progress->total)
		return (double)progress->done / (double)progress->total;
	if (!progress->spans || progress->until < 0 || progress->from < 0)
		return -1;
	if (progress->spanned < progress->span)
		in_span = (double)progress->spanned / (double)progress->span;
	return progress->from + (progress->until - progress->from) * in_span;
}

/* "1:02:03" or "2:03". */
static void
write_time(char *room, size_t size, double seconds)
{
	long whole = (long)(seconds + 0.5);

	if (whole >= 3600)
		snprintf(room, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
		    whole % 60);
	else
		snprintf(room, size, "%ld:%02ld", whole / 60, whole % 60);
}

static void
draw(struct progress *progress, double time)
{
	double seconds = time - progress->start + 1e-9, share = share_done(progress);
	double before =
	    progress->before ? (double)progress->before / (double)progress->total : 0;
	bool known = share >= 0, timed = known && share > before;
	char line[256], done[NUMBER_ROOM], rate[NUMBER_ROOM], clock[32], part[48] = "";

	progress->drawn = time;
	if (progress->terminal && !status_line_mine(known))
		return;
	if (progress->total)
		snprintf(done, sizeof done, "%lld/%lld", (long long)progress->done,
		    (long long)progress->total);
	else
		number_for_people(done, (double)progress->done);
	number_for_people(rate, (double)(progress->done - progress->before) / seconds);
	write_time(clock, sizeof clock,
	    timed ? seconds * (1 - share) / (share - before) : seconds);
	if (known)
		snprintf(part, sizeof part, "  %3.0f%%", 100 * share);
	snprintf(line, sizeof line, "%s: %s %s%s  %s %s/s  %s%s%s%s", program_name, done,
	    progress->unit, part, rate, progress->unit, clock, timed ? " left" : "",
	    progress->note[0] ? "  " : "", progress->note);
	if (progress->terminal)
		status_line_draw(line);
	else
		fprintf(stderr, "%s\n", line);
}

void
progress_resume(struct progress *progress, int64_t count)
{
	progress->done = progress->before = count;
}

void
progress_add(struct progress *progress, int64_t count)
{
	progress->done += count;
	progress->spanned += count;
	if (!progress->shown)
		return;
	double time = clock_now();
	if (time - progress->drawn >
	    (progress->terminal ? BETWEEN_DRAWINGS : BETWEEN_LINES))
		draw(progress, time);
}

void
progress_note(struct progress *progress, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(progress->note, sizeof progress->note, format, arguments);
	va_end(arguments);
}

void
progress_hide(struct progress *progress)
{
	if (progress->shown && progress->terminal)
		status_line_leave();
}

void
progress_free(struct progress *progress)
{
	if (!progress)
		return;
	progress_hide(progress);
	if (progress->shown && !progress->terminal)
		draw(progress, clock_now());
	inform("%lld %s, %.2f s", (long long)(progress->done - progress->before),
	    progress->unit, clock_now() - progress->start);
	free(progress->ends);
	free(progress);
}
