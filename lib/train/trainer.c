#include "train/trainer.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/progress.h"
#include "folder/folder.h"
#include "model/save.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "text/json.h"
#include "train/checkpoint.h"
#include "train/development.h"
#include "train/gradient_cache.h"
#include "train/settings.h"
#include "train/train_log.h"
#include "train/weight_average.h"

struct trainer {
	const struct trainer_options *options;
	struct model *model;
	struct objective *objective;
	struct optim *optim;
	struct weight_average *average;	 /* NULL: none */
	struct development *development; /* NULL: no held-out data */
	struct tree *settings;		 /* settings.h */
	char *checkpoint_path;
	struct checkpoint_arrays arrays; /* model, optim and average */
	struct train_log *log;
	struct progress *progress;
	int64_t step, batches; /* done */
	int64_t steps;	       /* in all; 0: until the data end */
	double started;
	struct tree *state; /* of a checkpoint, after the last complete step */
	bool whole;	    /* parameters and log are those of `state` */
	struct lock *lock;  /* of the folder; NULL except in the first rank */
};

/* The signal that asks to stop; static, for the signal handler. */
static volatile sig_atomic_t stopped;

static void
compare_settings(const struct trainer *trainer, const struct tree *saved)
{
	const struct tree *own = trainer->settings;
	const char *key = settings_refuse(own, saved);

	if (key)
		die("%s: is of a run with %s %s, this one has %s; give the same options, or --restart to begin anew",
		    trainer->checkpoint_path, key, settings_text(tree_get(saved, key)),
		    settings_text(tree_get(own, key)));
}

/* Checkpoints. --------------------------------------------------------------------- */

/* Records the state after a step. */
static void
note_state(struct trainer *trainer)
{
	struct tree *state = tree_object();

	tree_set(state, "settings", tree_copy(trainer->settings));
	tree_set(state, "step", tree_of_integer(trainer->step));
	tree_set(state, "batches", tree_of_integer(trainer->batches));
	tree_set(state, "log", tree_of_integer(train_log_bytes(trainer->log)));
	if (trainer->development)
		tree_set(state, "dev", development_state(trainer->development));
	tree_set(state, "place", trainer->objective->type->position(trainer->objective));
	tree_free(trainer->state);
	trainer->state = state;
	trainer->whole = true;
}

/* A signal within a second is the same one: timeout(1) and job queues send it to the program and to its group. */
static void
stop(int number)
{
	static volatile double since;

	if (!stopped) {
		since = clock_now();
		stopped = number;
		ranks_hurry();
	} else if (clock_now() - since > 1) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

_Noreturn static void
leave(struct trainer *trainer)
{
	trainer->whole = false; /* if this fails, before_dying does not try again */
	checkpoint_write(trainer->checkpoint_path, &trainer->arrays, trainer->state);
	if (verbosity >= 0)
		fprintf(stderr,
		    "%s: %s: stopped by signal %d after step %lld; the same command goes on from there\n",
		    program_name, trainer->checkpoint_path, (int)stopped,
		    (long long)trainer->step);
	ranks_finish();
	lock_end(trainer->lock);
	_exit(128 + stopped);
}

/*
 * A run that was asked to stop writes a checkpoint even if its input breaks off: the programs before it in the pipe got the same
 * signal.
 */
static void
before_dying(void *context)
{
	struct trainer *trainer = context;

	if (stopped && trainer->whole && objective_leave(trainer->objective))
		leave(trainer);
	ranks_abort(exit_failed);
}

/* Was any rank asked to stop? */
static bool
asked_to_stop(void)
{
	size_t ranks = (size_t)ranks_count();
	int own = (int)stopped, *all = mem_new(ranks, sizeof *all);

	ranks_gather(all, &own, sizeof own);
	for (size_t r = 0; r < ranks; r++)
		own |= all[r];
	stopped = stopped ? stopped : own;
	free(all);
	return own;
}

/* A later second signal ends the program at once.  A signal that the caller ignores stays ignored. */
static void
heed_signals(struct trainer *trainer)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction ask = { .sa_handler = stop, .sa_flags = SA_RESTART };
	struct sigaction old;

	for (int i = 0; i < 2; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &ask, NULL);
	before_death(before_dying, trainer);
}

/* Dies unless all ranks see the checkpoint of the same step; -1: no checkpoint. */
static void
agree_on_step(const struct trainer *trainer, int64_t step)
{
	int64_t *all = mem_new((size_t)ranks_count(), sizeof *all);

	ranks_gather(all, &step, sizeof step);
	if (step != all[0])
		die("%s: %s; it must be on a file system that all ranks share",
		    trainer->checkpoint_path,
		    step < 0 ? "is there for the first rank alone"
			     : "is not what the first rank has");
	free(all);
}

static void
begin(struct trainer *trainer)
{
	struct tree *state = NULL;
	int64_t log_bytes = 0;

	if (!trainer->options->restart)
		state = checkpoint_state(trainer->checkpoint_path);
	agree_on_step(trainer, state ? tree_integer_in(state, "step", 0, INT64_MAX) : -1);
	if (state) {
		compare_settings(trainer, tree_get(state, "settings"));
		trainer->step = tree_integer_in(state, "step", 0, INT64_MAX);
		if (trainer->steps && trainer->step > trainer->steps)
			die("%s: has %lld steps done, and this run is to have %lld; give --steps %lld or more, or --restart",
			    trainer->checkpoint_path, (long long)trainer->step,
			    (long long)trainer->steps, (long long)trainer->step);
		trainer->objective->type->resume(
		    trainer->objective, tree_need(state, "place"));
		checkpoint_restore(trainer->checkpoint_path, &trainer->arrays);
		trainer->batches = tree_integer_in(state, "batches", 0, INT64_MAX);
		log_bytes = tree_integer(state, "log", 0);
		development_resume(trainer->development, tree_get(state, "dev"));
		if (verbosity >= 0)
			fprintf(stderr, "%s: %s: goes on after step %lld\n", program_name,
			    trainer->checkpoint_path, (long long)trainer->step);
		tree_free(state);
	}
	trainer->log = train_log_open(trainer->options, trainer->development, log_bytes);
}

/* Steps. --------------------------------------------------------------------------- */

static void
note(char **label, const char *name, bool first)
{
	bool same = first || !strcmp(*label, name);

	free(*label);
	*label = mem_string(same ? name : "mixed");
}

_Noreturn static void
diverged(const struct trainer *trainer, const struct step_report *r, const char *what,
    double value)
{
	char *record = r->record ? mem_format("record %lld: ", (long long)r->record)
				 : mem_string("");
	char *kept = access(trainer->checkpoint_path, F_OK) == 0
			 ? mem_format("%s is as it was", trainer->checkpoint_path)
			 : mem_string("nothing was saved");

	die("%s: %sthe %s of step %lld%s%s is %f; lower --lr, or look at the data; %s",
	    trainer->objective->stream, record, what, (long long)trainer->step + 1,
	    *r->task ? ", task " : "", r->task, value, kept);
}

/* Overlaps the sum over ranks of a block's gradients with the backward pass of the blocks before it. */
static void
begin_sum(void *context, int layer)
{
	optim_begin(context, layer);
}

/* Sums the gradients of a step's batches; false at the end of the data. */
static bool
gather_gradients(struct trainer *trainer, struct step_report *r)
{
	struct model_whole whole = { begin_sum, trainer->optim };
	struct objective *objective = trainer->objective;

	while (r->batches < trainer->options->accumulate) {
		struct batch_report batch;
		bool last = r->batches + 1 == trainer->options->accumulate;
		if (!objective->type->learn(objective, trainer->batches, &batch,
			last && ranks_count() > 1 ? &whole : NULL))
			break;
		note(&r->task, batch.task, !r->batches);
		note(&r->dataset, batch.dataset, !r->batches);
		trainer->batches++;
		r->batches++;
		r->loss += batch.loss;
		r->balance += batch.balance;
		r->reze += batch.reze;
		r->examples += batch.examples;
		r->correct += batch.correct;
		r->tokens += batch.tokens;
		r->epoch = batch.epoch;
		r->record = batch.record;
		if (!isfinite(batch.loss + batch.reze))
			diverged(trainer, r, "loss", batch.loss + batch.reze);
	}
	return r->batches > 0 && !objective_left(objective);
}

/* The content of train.json: what made the weights. */
static struct tree *
origin_of(const struct trainer *trainer)
{
	struct tree *origin = tree_object();

	tree_set(origin, "command", tree_of_string(cli_command()));
	tree_set(origin, "start", tree_of_string(model_dir(trainer->model)));
	tree_set(origin, "objective", tree_of_string(trainer->objective->type->name));
	tree_set(origin, "settings", tree_copy(trainer->settings));
	tree_set(origin, "ranks", tree_of_integer(ranks_count()));
	tree_set(origin, "steps", tree_of_integer(trainer->step));
	tree_set(origin, "batches", tree_of_integer(trainer->batches));
	tree_set(origin, "dtype", tree_of_string(dtype_name(trainer->options->dtype)));
	tree_set(origin, "stream", tree_copy(trainer->objective->about));
	tree_set(origin, "read", trainer->objective->type->position(trainer->objective));
	if (trainer->development)
		tree_set(origin, "dev", development_state(trainer->development));
	return origin;
}

/* Measures the held-out data and keeps the model if it is the best: the average of the weights, if there is one. */
static void
measure(struct trainer *trainer)
{
	struct development *development = trainer->development;

	weight_average_swap(trainer->average);
	if (development_measure(development, trainer->objective, trainer->step)) {
		struct tree *origin = origin_of(trainer);
		development_keep(development, trainer->model, origin);
		tree_free(origin);
	}
	weight_average_swap(trainer->average);
}

/* The same not as a part of a step: with a line of its own in the log. */
static void
measure_apart(struct trainer *trainer)
{
	measure(trainer);
	train_log_dev(trainer->log, trainer->step);
}

static bool
take_step(struct trainer *trainer)
{
	struct step_report r = { .task = mem_string(""), .dataset = mem_string("") };
	double began = clock_now();
	bool more = gather_gradients(trainer, &r);

	if (more) {
		r.loss /= (double)r.batches;
		r.balance /= (double)r.batches;
		r.reze /= (double)r.batches;
		r.rate = optim_rate(&trainer->options->optim, trainer->step);
		trainer->whole = false;
		if (!trainer->steps || trainer->step + 1 < trainer->steps)
			objective_prepare(trainer->objective);
		r.norm = optim_step(trainer->optim, trainer->step, 1 / (double)r.batches);
		if (!isfinite(r.norm))
			diverged(trainer, &r, "gradient's norm", r.norm);
		weight_average_step(trainer->average);
		trainer->step++;
		if (development_due(trainer->development, trainer->step))
			measure(trainer);
		train_log_step(trainer->log, trainer->step, &r, clock_now() - began);
		note_state(trainer);
		char rate[NUMBER_ROOM];
		progress_note(trainer->progress, "loss %.4f, %s tokens/s", r.loss,
		    number_for_people(
			rate, (double)r.tokens / (clock_now() - began + 1e-9)));
		progress_add(trainer->progress, 1);
	}
	free(r.task);
	free(r.dataset);
	return more;
}

/* Sets the number of steps: --steps, or all of the data.  A falling schedule needs one. */
static void
count_steps(struct trainer *trainer, struct optim_options *optim)
{
	int64_t total = trainer->objective->type->total(trainer->objective);
	int64_t every = trainer->options->accumulate;

	if (!total)
		die("%s: there is nothing to train on", trainer->objective->stream);
	if (!optim->steps && total > 0)
		optim->steps = (total + every - 1) / every;
	if (!optim->steps && optim->schedule != SCHEDULE_CONSTANT)
		die_usage(
		    "the %s schedule must know how many steps there will be: give --steps, or --schedule constant",
		    optim_schedule_name(optim->schedule));
	if (!optim->steps && optim->warmup > 0 && optim->warmup < 1)
		die_usage(
		    "--warmup %g, a share of the steps, needs their number: give --steps, or a number of warm-up steps",
		    optim->warmup);
	if (optim->warmup < 0)
		optim->warmup = optim->steps ? WARMUP_USUAL : 0;
	trainer->steps = optim->steps;
}

static void
save_last(const struct trainer *trainer)
{
	struct tree *origin = origin_of(trainer);

	model_save(
	    trainer->model, trainer->options->out, trainer->options->dtype, origin);
	tree_free(origin);
}

static void
finish(struct trainer *trainer)
{
	const char *data = trainer->objective->stream;

	if (!trainer->step)
		die("%s: there is nothing to train on", data);
	if (trainer->step < trainer->steps &&
	    !development_exhausted(trainer->development))
		warn("%s: ended after %lld of %lld steps", data, (long long)trainer->step,
		    (long long)trainer->steps);
	train_log_close(trainer->log);
	weight_average_swap(trainer->average);
	if (ranks_own())
		return;
	if (!development_take_best(trainer->development))
		save_last(trainer);
	development_say(trainer->development);
	if (unlink(trainer->checkpoint_path) && errno != ENOENT)
		warn("%s: %s", trainer->checkpoint_path, strerror(errno));
	inform("%lld steps, %.1f s", (long long)trainer->step,
	    clock_now() - trainer->started);
}

/* Returns when the steps or the data end; does not return after a signal. */
static void
run_steps(struct trainer *trainer)
{
	int64_t every = trainer->options->save_every;

	for (bool more = true; !asked_to_stop();) {
		if (!more) {
			/* the data ended before it was known that the step was the last */
			if (trainer->step && trainer->development &&
			    !development_due(trainer->development, trainer->step))
				measure_apart(trainer);
			return;
		}
		more = (!trainer->steps || trainer->step < trainer->steps) &&
		       !development_exhausted(trainer->development) && take_step(trainer);
		if (objective_left(trainer->objective)) {
			stopped = stopped ? stopped : SIGTERM;
			break;
		}
		if (more && every && trainer->step % every == 0)
			checkpoint_write(
			    trainer->checkpoint_path, &trainer->arrays, trainer->state);
	}
	leave(trainer);
}

void
trainer_run(struct model *model, const char *path, const struct trainer_options *given)
{
	struct trainer_options options = *given;
	struct trainer trainer = {
		.options = &options, .model = model, .started = clock_now()
	};

	folder_check(options.out);
	trainer.lock = ranks_own() ? NULL : lock_take(options.out);
	if (!options.objective.tokens)
		options.objective.tokens = gradient_cache_tokens(
		    model, options.memory ? options.memory : nn_activation_bytes());
	trainer.objective = objective_open(path, model, &options.objective);
	count_steps(&trainer, &options.optim);
	trainer.settings = settings_of(&options, model, trainer.steps);
	settings_agree(trainer.settings, options.out);
	trainer.optim = optim_new(model, &options.optim);
	trainer.average = weight_average_new(model, trainer.optim, options.ema);
	trainer.development = development_new(&options, trainer.settings);
	trainer.checkpoint_path = file_beside(options.out, "checkpoint");
	trainer.arrays =
	    (struct checkpoint_arrays){ model, trainer.optim, trainer.average };
	begin(&trainer);
	if (!trainer.step && development_due(trainer.development, 0))
		measure_apart(&trainer);
	note_state(&trainer);
	heed_signals(&trainer);

	trainer.progress = progress_new("steps", trainer.steps);
	progress_resume(trainer.progress, trainer.step);
	run_steps(&trainer);
	progress_free(trainer.progress);
	finish(&trainer);

	before_death(NULL, NULL);
	lock_end(trainer.lock);
	weight_average_free(trainer.average);
	optim_free(trainer.optim);
	development_free(trainer.development);
	objective_close(trainer.objective);
	tree_free(trainer.settings);
	tree_free(trainer.state);
	free(trainer.checkpoint_path);
}
