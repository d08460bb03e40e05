#include "text/lines.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void
lines_text(FILE *out, bool markdown, const char *text)
{
	for (; *text; text++) {
		if (markdown && *text == '|')
			fputc('\\', out);
		fputc(strchr("\t\n\r", *text) ? ' ' : *text, out);
	}
}

static void
put_cell(const struct lines *lines, bool first, const char *cell)
{
	if (lines->markdown)
		fputs("| ", lines->out);
	else if (!first)
		fputc('\t', lines->out);
	lines_text(lines->out, lines->markdown, cell);
	if (lines->markdown)
		fputc(' ', lines->out);
}

static void
end_line(const struct lines *lines)
{
	fputs(lines->markdown ? "|\n" : "\n", lines->out);
}

void
lines_head(const struct lines *lines, const char *const *cells)
{
	int count = 0;

	for (; cells[count]; count++)
		put_cell(lines, count == 0, cells[count]);
	end_line(lines);
	for (int i = 0; lines->markdown && i < count; i++)
		fputs(i < lines->texts ? "|---" : "|---:", lines->out);
	if (lines->markdown)
		end_line(lines);
}

void
lines_put(const struct lines *lines, const char *const *texts, const double *numbers,
    const char *const *formats, int count)
{
	char room[NUMBER_ROOM];

	for (int i = 0; i < lines->texts; i++)
		put_cell(lines, i == 0, texts[i]);
	for (int i = 0; i < count; i++) {
		if (isnan(numbers[i]))
			room[0] = 0;
		else if (formats && formats[i])
			snprintf(room, sizeof room, formats[i], numbers[i]);
		else
			number_write(room, numbers[i], false);
		put_cell(lines, false, room);
	}
	end_line(lines);
}
