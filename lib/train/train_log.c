#include "train/train_log.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "ranks/ranks.h"

struct train_log {
	const struct trainer_options *options;
	const struct development *development;
	char *path;
	FILE *file;
	bool timing, sends;	      /* there are columns of times; of messages */
	struct ranks_traffic traffic; /* at the end of the step before */
};

static void
failed(const struct train_log *log)
{
	die("%s:", log->path);
}

static void
end_line(struct train_log *log)
{
	putc('\n', log->file);
	if (fflush(log->file) || ferror(log->file))
		failed(log);
}

static void
warn_lost(const struct train_log *log)
{
	warn("%s: has lost lines since the checkpoint was written", log->path);
}

static void
resume(struct train_log *log, int64_t bytes)
{
	char *line = NULL;
	size_t room = 0;

	log->file = fopen(log->path, "r+");
	if (!log->file || getline(&line, &room, log->file) < 0 ||
	    fseek(log->file, 0, SEEK_END))
		failed(log);
	log->timing = strstr(line, "\tseconds\t");
	log->sends = strstr(line, "\tbytes\t");
	free(line);
	if (log->options->timing && (!log->timing || log->sends != (ranks_count() > 1)))
		warn("%s: began without columns that --timing would have; it stays so",
		    log->path);
	if (ftell(log->file) < bytes)
		warn_lost(log);
	else if (ftruncate(fileno(log->file), bytes) || fseek(log->file, 0, SEEK_END))
		failed(log);
}

static void
begin(struct train_log *log)
{
	const struct objective_options *o = &log->options->objective;

	log->timing = log->options->timing;
	log->sends = log->timing && ranks_count() > 1;
	log->file = fopen(log->path, "w");
	if (!log->file)
		failed(log);
	fprintf(log->file,
	    "step\tepoch\ttask\tdataset\tloss\taccuracy\tlr\tgradient_norm\texamples\ttokens%s%s",
	    o->balance > 0 ? "\tbalance" : "", o->reze > 0 ? "\treze" : "");
	development_print_names(log->development, log->file);
	fprintf(log->file, "%s%s\n", log->timing ? "\tseconds\ttokens_per_second" : "",
	    log->sends ? "\tbytes\tmessages\tcommunicating\twaiting" : "");
}

struct train_log *
train_log_open(const struct trainer_options *options,
    const struct development *development, int64_t bytes)
{
	struct train_log *log = mem_zero(1, sizeof *log);

	log->options = options;
	log->development = development;
	log->path =
	    ranks_own() ? mem_string("/dev/null") : file_beside(options->out, "log.tsv");
	log->traffic = ranks_traffic();
	struct stat about;
	bool goes_on = bytes > 0 && !ranks_own();
	if (goes_on && !stat(log->path, &about) && about.st_size > 0) {
		resume(log, bytes);
	} else {
		begin(log);
		if (goes_on)
			warn_lost(log);
	}
	return log;
}

void
train_log_dev(struct train_log *log, int64_t step)
{
	const struct objective_options *o = &log->options->objective;

	fprintf(log->file, "%lld\t\t\t\t\t\t\t\t\t%s%s", (long long)step,
	    o->balance > 0 ? "\t" : "", o->reze > 0 ? "\t" : "");
	development_print(log->development, step, log->file);
	fprintf(
	    log->file, "%s%s", log->timing ? "\t\t" : "", log->sends ? "\t\t\t\t" : "");
	end_line(log);
	log->traffic =
	    ranks_traffic(); /* the first step's do not include the measurement's */
}

/* This rank's messages in the step. */
static void
print_traffic(struct train_log *log)
{
	struct ranks_traffic now = ranks_traffic(), *before = &log->traffic;

	fprintf(log->file, "\t%lld\t%lld\t%.4f\t%.4f",
	    (long long)(now.bytes - before->bytes),
	    (long long)(now.messages - before->messages), now.busy - before->busy,
	    now.waited - before->waited);
	*before = now;
}

void
train_log_step(
    struct train_log *log, int64_t step, const struct step_report *r, double seconds)
{
	const struct objective_options *o = &log->options->objective;
	double accuracy = r->examples ? r->correct / (double)r->examples : 0;
	char text[NUMBER_ROOM] = "";

	if (!isnan(accuracy))
		snprintf(text, sizeof text, "%.6g", accuracy);
	fprintf(log->file, "%lld\t%lld\t%s\t%s\t%.8g\t%s\t%.8g\t%.8g\t%lld\t%lld",
	    (long long)step, (long long)r->epoch, r->task, r->dataset, r->loss, text,
	    r->rate, r->norm, (long long)r->examples, (long long)r->tokens);
	if (o->balance > 0)
		fprintf(log->file, "\t%.8g", r->balance);
	if (o->reze > 0)
		fprintf(log->file, "\t%.8g", r->reze);
	development_print(log->development, step, log->file);
	if (log->timing)
		fprintf(log->file, "\t%.3f\t%.0f", seconds, (double)r->tokens / seconds);
	if (log->sends)
		print_traffic(log);
	end_line(log);
}

int64_t
train_log_bytes(const struct train_log *log)
{
	return ftell(log->file);
}

void
train_log_close(struct train_log *log)
{
	if (fsync(fileno(log->file)) && errno != EINVAL && errno != EROFS)
		failed(log);
	if (fclose(log->file))
		failed(log);
	free(log->path);
	free(log);
}
