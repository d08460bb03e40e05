#include "score/measure/assignment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of fewer rows than columns, or as many; costs are negated weights.  A row is matched with a column, both from 1;
 * column 0 stands for the row that is being matched. */
struct search {
	const int64_t *weight;
	int32_t rows, columns;
	int64_t row_step, column_step; /* where the weight of a row and a column lies */
	int64_t *of_row, *of_column;   /* [+ 1]: prices, which make no cost negative */
	int64_t *least;	 /* [columns + 1]: of the ways there from this row */
	int32_t *row;	 /* [columns + 1]: that a column is matched with, or 0 */
	int32_t *before; /* [columns + 1]: on the way to it */
	bool *reached;	 /* [columns + 1] */
};

static int64_t
cost(const struct search *search, int32_t row, int32_t column)
{
	int64_t weight = search->weight[(row - 1) * search->row_step +
					(column - 1) * search->column_step];

	return -weight - search->of_row[row] - search->of_column[column];
}

/* From a reached column on: look at its row's ways, pay what the cheapest costs, and return where it leads. */
static int32_t
step(struct search *search, int32_t at)
{
	int32_t row = search->row[at], next = 0;
	int64_t delta = INT64_MAX;

	search->reached[at] = true;
	for (int32_t column = 1; column <= search->columns; column++) {
		if (search->reached[column])
			continue;
		int64_t way = cost(search, row, column);
		if (way < search->least[column]) {
			search->least[column] = way;
			search->before[column] = at;
		}
		if (search->least[column] < delta) {
			delta = search->least[column];
			next = column;
		}
	}
	for (int32_t column = 0; column <= search->columns; column++) {
		if (search->reached[column]) {
			search->of_row[search->row[column]] += delta;
			search->of_column[column] -= delta;
		} else {
			search->least[column] -= delta;
		}
	}
	return next;
}

static void
match(struct search *search, int32_t row)
{
	int32_t at = 0;

	search->row[0] = row;
	for (int32_t column = 0; column <= search->columns; column++) {
		search->least[column] = INT64_MAX;
		search->reached[column] = false;
	}
	do
		at = step(search, at);
	while (search->row[at]);
	for (; at; at = search->before[at]) /* each on the way takes the row before it */
		search->row[at] = search->row[search->before[at]];
}

int64_t
assignment_most(const int64_t *weight, int32_t rows, int32_t columns)
{
	bool wide = rows <= columns;
	struct search search = { .weight = weight,
		.rows = wide ? rows : columns,
		.columns = wide ? columns : rows,
		.row_step = wide ? columns : 1,
		.column_step = wide ? 1 : columns };
	size_t size = (size_t)search.columns + 1;
	int64_t sum = 0;

	search.of_row = mem_zero((size_t)search.rows + 1, sizeof *search.of_row);
	search.of_column = mem_zero(size, sizeof *search.of_column);
	search.least = mem_new(size, sizeof *search.least);
	search.row = mem_zero(size, sizeof *search.row);
	search.before = mem_zero(size, sizeof *search.before);
	search.reached = mem_new(size, sizeof *search.reached);
	for (int32_t row = 1; row <= search.rows; row++)
		match(&search, row);
	for (int32_t column = 1; column <= search.columns; column++)
		if (search.row[column])
			sum += weight[(search.row[column] - 1) * search.row_step +
				      (column - 1) * search.column_step];
	free(search.of_row);
	free(search.of_column);
	free(search.least);
	free(search.row);
	free(search.before);
	free(search.reached);
	return sum;
}
