#include <math.h>
#include <string.h>

#include "mteb/score_table.h"

/* Text that may hold anything, in a page. */
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

static const char style[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Scores</title>\n<style>\n"
    ":root { color-scheme: light dark; --page: #fff; --ink: #1c1e21; --faint: #6a7178; "
    "--line: #e3e6e8;\n"
    "\t--c0: #2f6db5; --c1: #c46a1b; --c2: #3a8a4d; --c3: #8c55a5; --c4: #a03c4a; --c5: "
    "#5d6670 }\n"
    "@media (prefers-color-scheme: dark) { :root { --page: #16181b; --ink: #e4e6e8; "
    "--faint: #98a0a8;\n"
    "\t--line: #2d3136; --c0: #6aa5e8; --c1: #e8a05c; --c2: #72c488; --c3: #c295da; "
    "--c4: "
    "#e08592; --c5: #a6b0ba } }\n"
    "body { margin: 2rem auto; max-width: 52rem; padding: 0 1rem; background: "
    "var(--page);\n"
    "\tcolor: var(--ink); font: 1rem/1.45 system-ui, sans-serif }\n"
    "h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem;\n"
    "\tborder-bottom: 1px solid var(--line) }\n"
    ".set { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr; gap: 0 "
    "1rem;\n"
    "\tpadding: .25rem 0; align-items: center }\n"
    ".set > b, .set > span { overflow-wrap: anywhere } small { color: var(--faint) }\n"
    ".bar { display: flex; align-items: center; gap: .5rem }\n"
    ".bar i { display: block; height: .8rem; border-radius: 2px; flex: none;\n"
    "\tmax-width: calc(100% - 4rem) }\n"
    ".bar span { font-variant-numeric: tabular-nums; font-size: .9rem }\n"
    ".key i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px }\n"
    ".key span { margin-right: 1.2rem; white-space: nowrap }\n"
    "@media (max-width: 34rem) { .set { grid-template-columns: 1fr; padding: .4rem 0 } "
    "}\n"
    "</style>\n</head>\n<body>\n<h1>Scores</h1>\n";

enum { COLOURS = 6 };

static void
put_bar(FILE *out, const struct score_table *table, const struct score_row *row, size_t m)
{
	double value = 100 * row->values[m], width = value;

	if (isnan(value)) {
		fputs("<div class=\"bar\"><i></i><span>&ndash;</span></div>\n", out);
		return;
	}
	width = width < 0 ? 0 : width > 100 ? 100 : width;
	fputs("<div class=\"bar\" title=\"", out);
	put(out, table->names[m]);
	fprintf(out,
	    "\"><i style=\"width:calc((100%% - 4rem) * "
	    "%.4f);background:var(--c%zu)\"></i>"
	    "<span>%.2f%s</span></div>\n",
	    width / 100, m % COLOURS, value, row->other[m] && row->task ? "*" : "");
}

static void
put_row(FILE *out, const struct score_table *table, const struct score_row *row)
{
	fputs("<div class=\"set\">", out);
	if (row->task) {
		fputs("<span>", out);
		put(out, row->task);
		if (row->metric) {
			fputs(" <small>", out);
			put(out, row->metric);
			fputs("</small>", out);
		}
		fputs("</span>", out);
	} else {
		fprintf(out, "<b>mean of %zu</b>", row->sets);
	}
	fputs("<div>\n", out);
	for (size_t m = 0; m < table->model_count; m++)
		put_bar(out, table, row, m);
	fputs("</div></div>\n", out);
}

void
score_table_html(const struct score_table *table, FILE *out)
{
	const char *type = "";

	fputs(style, out);
	fputs("<p class=\"key\">", out);
	for (size_t m = 0; m < table->model_count; m++) {
		fprintf(
		    out, "<span><i style=\"background:var(--c%zu)\"></i> ", m % COLOURS);
		put(out, table->names[m]);
		fputs("</span> ", out);
	}
	fputs("</p>\n", out);
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		const char *own = row->type ? row->type : "All";
		if (strcmp(type, own) != 0) {
			fputs("<h2>", out);
			put(out, own);
			fputs("</h2>\n", out);
		}
		type = own;
		put_row(out, table, row);
	}
	fprintf(out, "<p><small>Scores times 100. * %s.</small></p>\n</body>\n</html>\n",
	    score_table_note);
}
