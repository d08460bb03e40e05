#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "mteb/score_interval.h"
#include "mteb/score_table.h"

enum { BARS = 6 }; /* models with bars: as many colours as people can distinguish */

/* Writes text with HTML escapes. */
static void
put(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(*text, out);
		}
}

/* Okabe and Ito's colours; on dark, lighter ones of the same hues. */
static const char style[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Scores</title>\n<style>\n"
    ":root { color-scheme: light dark; --page: #fff; --ink: #1c1e21; --faint: #5f666d; --line: #e3e6e8;\n"
    "\t--c0: #0072b2; --c1: #e69f00; --c2: #009e73; --c3: #cc79a7; --c4: #56b4e9; --c5: #d55e00 }\n"
    "@media (prefers-color-scheme: dark) { :root { --page: #16181b; --ink: #e4e6e8; --faint: #98a0a8;\n"
    "\t--line: #2d3136; --c0: #3d94d0; --c1: #e6ab2e; --c2: #2bb38c; --c3: #d493b8; --c4: #8fcff2; --c5: #e57a33 } }\n"
    "body { margin: 2rem auto; max-width: 52rem; padding: 0 1rem; background: var(--page);\n"
    "\tcolor: var(--ink); font: 1rem/1.45 system-ui, sans-serif }\n"
    "h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line) }\n"
    "small, details, td, th { color: var(--faint); font-size: .85rem }\n"
    "table { border-collapse: collapse } td, th { padding: .1rem 1rem .1rem 0; text-align: left; font-weight: normal;\n"
    "\toverflow-wrap: anywhere } td:first-child { color: var(--ink) } td { font-variant-numeric: tabular-nums }\n"
    "td > i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem }\n"
    ".set { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: 0 1rem; padding: .35rem 0 }\n"
    ".set > * { overflow-wrap: anywhere; min-width: 0 } .set small { display: block; line-height: 1.25 }\n"
    ".bar { display: grid; grid-template-columns: 1fr 9.5rem; gap: .6rem; align-items: center;\n"
    "\tfont-variant-numeric: tabular-nums; font-size: .9rem; line-height: 1.35 }\n"
    ".bar small { display: inline } .bar > div { position: relative; height: .8rem;\n"
    "\tbackground: repeating-linear-gradient(to right, var(--line) 0 1px, transparent 1px 25%);\n"
    "\tborder-right: 1px solid var(--line) }\n"
    ".bar i { display: block; height: 100% }\n"
    ".bar u { position: absolute; top: .15rem; height: .5rem; border: solid var(--ink); border-width: 0 1.5px;\n"
    "\tbox-sizing: border-box; min-width: 3px; background: linear-gradient(var(--ink), var(--ink)) center / 100% 1.5px no-repeat;\n"
    "\tfilter: drop-shadow(0 0 1px var(--page)) drop-shadow(0 0 1px var(--page)) }\n"
    "@media (max-width: 34rem) { .set { grid-template-columns: 1fr } }\n"
    "</style>\n</head>\n<body>\n<h1>Scores</h1>\n";

/* A model's result for a row; NULL: there is none, or the row is of several. */
static const struct task_result *
result_of(const struct score_table *table, const struct score_row *row, size_t m)
{
	return row->task && !isnan(row->values[m])
		   ? results_find(table->models[m], row->task)
		   : NULL;
}

/* Models. -------------------------------------------------------------------------- */

struct standing {
	size_t model, sets;
	double sum;
};

/* By number of data sets, then mean, both descending, then in the given order. */
static int
by_standing(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	if (x->sets != y->sets)
		return x->sets < y->sets ? 1 : -1;
	if (x->sum < y->sum || x->sum > y->sum)
		return x->sum < y->sum ? 1 : -1;
	return (x->model > y->model) - (x->model < y->model);
}

/* [models]: the colour of each, in the order given; BARS: none. */
static size_t *
choose_colours(const struct score_table *table)
{
	size_t count = table->model_count, colour = 0;
	struct standing *standings = mem_zero(count, sizeof *standings);
	size_t *colours = mem_new(count, sizeof *colours);

	for (size_t m = 0; m < count; m++) {
		standings[m].model = m;
		colours[m] = BARS;
		for (size_t i = 0; i < table->count; i++)
			if (table->rows[i].task && !isnan(table->rows[i].values[m])) {
				standings[m].sets++;
				standings[m].sum += table->rows[i].values[m];
			}
	}
	qsort(standings, count, sizeof *standings, by_standing);
	for (size_t i = 0; i < count && i < BARS; i++)
		colours[standings[i].model] = 0;
	for (size_t m = 0; m < count; m++)
		if (colours[m] == 0)
			colours[m] = colour++;
	free(standings);
	return colours;
}

static void
put_date(FILE *out, long long seconds)
{
	time_t time = (time_t)seconds;
	struct tm day;
	char text[32];

	strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&time, &day));
	fputs(text, out);
}

static void
put_dates(FILE *out, const struct results *model)
{
	long long first = model->items[0].time, last = first;

	for (size_t i = 1; i < model->count; i++) {
		long long time = model->items[i].time;
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	put_date(out, first);
	if (first / 86400 != last / 86400) {
		fputs(" to ", out);
		put_date(out, last);
	}
}

static void
put_models(FILE *out, const struct score_table *table, const size_t *colours)
{
	fputs(
	    "<table>\n<tr><th>model</th><th>revision</th><th>data sets</th><th>files of</th></tr>\n",
	    out);
	for (size_t m = 0; m < table->model_count; m++) {
		const struct results *model = table->models[m];
		fputs("<tr><td>", out);
		if (colours[m] < BARS)
			fprintf(
			    out, "<i style=\"background:var(--c%zu)\"></i>", colours[m]);
		put(out, table->names[m]);
		fputs("</td><td>", out);
		put(out, model->revision);
		fprintf(out, "</td><td>%zu</td><td>", model->count);
		put_dates(out, model);
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
	if (table->model_count > BARS)
		fprintf(out,
		    "<p><small>The %d models with the most data sets, then the best mean, have bars.</small></p>\n",
		    BARS);
}

/* Data sets. ----------------------------------------------------------------------- */

/* The interval by the per-query table beside the result, TASK.tsv. */
static struct interval
interval_of(const struct task_result *result)
{
	if (!result)
		return (struct interval){ NAN, NAN, NAN };
	char *path = results_per_query(result);
	struct interval interval = score_interval(path, result->metric, result->main);
	free(path);
	return interval;
}

/* A score as a percentage of the bar's axis. */
static double
place(double value)
{
	return value < 0 ? 0 : value > 1 ? 100 : 100 * value;
}

static void
put_bar(FILE *out, const struct score_table *table, const struct score_row *row, size_t m,
    size_t colour)
{
	double value = row->values[m];

	fputs("<div class=\"bar\" title=\"", out);
	put(out, table->names[m]);
	if (isnan(value)) {
		fputs("\"><span></span><span>&ndash;</span></div>\n", out);
		return;
	}
	fprintf(out, "\"><div><i style=\"width:%.2f%%;background:var(--c%zu)\"></i>",
	    place(value), colour);
	struct interval interval = interval_of(result_of(table, row, m));
	bool known = !isnan(interval.low) && !isnan(interval.high);
	if (known)
		fprintf(out, "<u style=\"left:%.2f%%;width:%.2f%%\"></u>",
		    place(interval.low), place(interval.high) - place(interval.low));
	fprintf(out, "</div><span>%.2f%s", 100 * value,
	    row->other[m] && row->task ? "*" : "");
	if (known)
		fprintf(out, " <small>%.2f to %.2f</small>", 100 * interval.low,
		    100 * interval.high);
	fputs("</span></div>\n", out);
}

/* Writes the scores of models without bars (colours NULL: of all), on a line. */
static void
put_rest(FILE *out, const struct score_table *table, const struct score_row *row,
    const size_t *colours)
{
	const char *between = "<small>";
	char room[SCORE_TEXT_ROOM];

	for (size_t m = 0; m < table->model_count; m++) {
		if ((colours && colours[m] < BARS) || isnan(row->values[m]))
			continue;
		fputs(between, out);
		put(out, table->names[m]);
		fprintf(out, " %s%s", score_table_value(row, m, room),
		    row->other[m] && row->task ? "*" : "");
		between = " &middot; ";
	}
	if (*between == ' ')
		fputs("</small>\n", out);
}

/* Writes the sizes of the sets that models were scored on, without repetition. */
static void
put_sizes(FILE *out, const struct score_table *table, const struct score_row *row)
{
	const char *before = NULL;

	for (size_t m = 0; m < table->model_count; m++) {
		const struct task_result *result = result_of(table, row, m);
		if (!result || !result->size || (before && !strcmp(before, result->size)))
			continue;
		fputs("<small>", out);
		if (before)
			fputs("or ", out);
		put(out, result->size);
		fputs("</small>", out);
		before = result->size;
	}
}

static void
put_row(FILE *out, const struct score_table *table, const struct score_row *row,
    const size_t *colours)
{
	fputs("<div class=\"set\">", out);
	if (row->task) {
		fputs("<div>", out);
		put(out, row->task);
		if (row->metric) {
			fputs("<small>", out);
			put(out, row->metric);
			fputs("</small>", out);
		}
		put_sizes(out, table, row);
		fputs("</div>", out);
	} else {
		char room[SCORE_TEXT_ROOM];
		fprintf(out, "<b>%s</b>", score_table_label(row, room));
	}
	fputs("<div>\n", out);
	bool bars = row->task || row->summary < SUMMARY_BORDA;
	for (size_t m = 0; m < table->model_count && bars; m++)
		if (colours[m] < BARS)
			put_bar(out, table, row, m, colours[m]);
	put_rest(out, table, row, bars ? colours : NULL);
	fputs("</div></div>\n", out);
}

/* Settings. ------------------------------------------------------------------------ */

/* Whether the result of an earlier row of the type or an earlier model has the same settings. */
static bool
is_told(const struct score_table *table, size_t first, size_t row, size_t model,
    const char *settings)
{
	for (size_t i = first; i <= row; i++)
		for (size_t m = 0; m < (i == row ? model : table->model_count); m++) {
			const struct task_result *before =
			    result_of(table, &table->rows[i], m);
			if (before && before->settings &&
			    !strcmp(before->settings, settings))
				return true;
		}
	return false;
}

/* Writes the distinct settings of a type, whose first row is `first`, each with the first set and model that has it. */
static void
put_settings(FILE *out, const struct score_table *table, size_t first)
{
	const char *type = table->rows[first].type;
	bool any = false;

	for (size_t i = first; type && i < table->count && table->rows[i].type &&
			       !strcmp(table->rows[i].type, type);
	     i++)
		for (size_t m = 0; m < table->model_count; m++) {
			const struct task_result *result =
			    result_of(table, &table->rows[i], m);
			if (!result || !result->settings ||
			    is_told(table, first, i, m, result->settings))
				continue;
			fputs(any ? "<br>\n"
				  : "<details open><summary>settings</summary>\n",
			    out);
			if (any) {
				put(out, result->task);
				fputs(", ", out);
				put(out, table->names[m]);
				fputs(": ", out);
			}
			put(out, result->settings);
			any = true;
		}
	if (any)
		fputs("</details>\n", out);
}

void
score_table_html(const struct score_table *table, FILE *out)
{
	const char *type = "";
	size_t *colours = choose_colours(table);

	fputs(style, out);
	put_models(out, table, colours);
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		if (!score_table_shows(row))
			continue;
		const char *own = row->type ? row->type : "All";
		if (strcmp(type, own) != 0) {
			fputs("<h2>", out);
			put(out, own);
			fputs("</h2>\n", out);
			put_settings(out, table, i);
		}
		type = own;
		put_row(out, table, row, colours);
	}
	fprintf(out,
	    "<p><small>Scores times 100, bars from 0 to 100. Behind a score stands its %g %% interval, by %d draws of its queries, where their scores lie beside the result (TASK.tsv); a difference of two models may be surer than their intervals look: leaderboard compare. * %s.</small></p>\n"
	    "</body>\n</html>\n",
	    100 * SIGNIFICANCE_LEVEL, SCORE_INTERVAL_RESAMPLES, score_table_note);
	free(colours);
}
