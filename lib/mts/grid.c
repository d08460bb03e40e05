#include "mts/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/terminal.h"
#include "base/utf8.h"

struct text_grid {
	const char *columns;
	size_t width; /* cells of a row */
	char **cells;
	size_t count, capacity;
};

struct text_grid *
grid_new(const char *columns)
{
	struct text_grid *grid = mem_zero(1, sizeof *grid);

	grid->columns = columns;
	grid->width = strlen(columns);
	return grid;
}

void
grid_add(struct text_grid *grid, char *cell)
{
	grid->cells =
	    mem_grow(grid->cells, &grid->capacity, grid->count + 1, sizeof *grid->cells);
	utf8_plain(cell);
	grid->cells[grid->count++] = cell;
}

static void
print_cell(const struct text_grid *grid, size_t i, int most)
{
	size_t column = i % grid->width;
	bool last = column + 1 == grid->width;
	int blanks = most - terminal_columns(grid->cells[i]);

	if (grid->columns[column] == 'r')
		printf("%*s%s", blanks, "", grid->cells[i]);
	else
		printf("%s%*s", grid->cells[i], last ? 0 : blanks, "");
	fputs(last ? "\n" : "  ", stdout);
}

void
grid_print(struct text_grid *grid)
{
	int *most = mem_zero(grid->width, sizeof *most);

	for (size_t i = 0; i < grid->count; i++) {
		int width = terminal_columns(grid->cells[i]);
		if (width > most[i % grid->width])
			most[i % grid->width] = width;
	}
	for (size_t i = 0; i < grid->count; i++) {
		print_cell(grid, i, most[i % grid->width]);
		free(grid->cells[i]);
	}
	free(most);
	free(grid->cells);
	free(grid);
}
