#include "score/measure/assignment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* rows <= columns; costs are negated weights.  Rows and columns count from 1; column 0 is matched with the row being
 * added. */
struct matching {
	const int64_t *weight;
	int32_t rows, columns;
	int64_t row_step, column_step; /* strides of weight */
	int64_t *of_row,
	    *of_column; /* [rows + 1], [columns + 1]: dual prices; reduced costs are >= 0 */
	int64_t *least;	 /* [columns + 1]: length of the shortest path to a column */
	int32_t *row;	 /* [columns + 1]: matched with the column, or 0 */
	int32_t *before; /* [columns + 1]: the column before on that path */
	bool *reached;	 /* [columns + 1] */
};

static int64_t
cost(const struct matching *matching, int32_t row, int32_t column)
{
	int64_t weight = matching->weight[(row - 1) * matching->row_step +
					  (column - 1) * matching->column_step];

	return -weight - matching->of_row[row] - matching->of_column[column];
}

/* A step of Dijkstra's algorithm from a reached column: relaxes the edges of its row, updates the prices, and returns
 * the nearest column not yet reached. */
static int32_t
step(struct matching *matching, int32_t at)
{
	int32_t row = matching->row[at], next = 0;
	int64_t delta = INT64_MAX;

	matching->reached[at] = true;
	for (int32_t column = 1; column <= matching->columns; column++) {
		if (matching->reached[column])
			continue;
		int64_t length = cost(matching, row, column);
		if (length < matching->least[column]) {
			matching->least[column] = length;
			matching->before[column] = at;
		}
		if (matching->least[column] < delta) {
			delta = matching->least[column];
			next = column;
		}
	}
	for (int32_t column = 0; column <= matching->columns; column++) {
		if (matching->reached[column]) {
			matching->of_row[matching->row[column]] += delta;
			matching->of_column[column] -= delta;
		} else {
			matching->least[column] -= delta;
		}
	}
	return next;
}

static void
match(struct matching *matching, int32_t row)
{
	int32_t at = 0;

	matching->row[0] = row;
	for (int32_t column = 0; column <= matching->columns; column++) {
		matching->least[column] = INT64_MAX;
		matching->reached[column] = false;
	}
	do
		at = step(matching, at);
	while (matching->row[at]);
	for (; at;
	     at = matching->before[at]) /* shift the rows along the augmenting path */
		matching->row[at] = matching->row[matching->before[at]];
}

int64_t
assignment_max(const int64_t *weight, int32_t rows, int32_t columns)
{
	bool wide = rows <= columns;
	struct matching matching = { .weight = weight,
		.rows = wide ? rows : columns,
		.columns = wide ? columns : rows,
		.row_step = wide ? columns : 1,
		.column_step = wide ? 1 : columns };
	size_t size = (size_t)matching.columns + 1;
	int64_t sum = 0;

	matching.of_row = mem_zero((size_t)matching.rows + 1, sizeof *matching.of_row);
	matching.of_column = mem_zero(size, sizeof *matching.of_column);
	matching.least = mem_new(size, sizeof *matching.least);
	matching.row = mem_zero(size, sizeof *matching.row);
	matching.before = mem_zero(size, sizeof *matching.before);
	matching.reached = mem_new(size, sizeof *matching.reached);
	for (int32_t row = 1; row <= matching.rows; row++)
		match(&matching, row);
	for (int32_t column = 1; column <= matching.columns; column++)
		if (matching.row[column])
			sum += weight[(matching.row[column] - 1) * matching.row_step +
				      (column - 1) * matching.column_step];
	free(matching.of_row);
	free(matching.of_column);
	free(matching.least);
	free(matching.row);
	free(matching.before);
	free(matching.reached);
	return sum;
}
