#include "text/fields.h"

#include <stdlib.h>
#include <string.h>

int
fields_cut(const char *line, struct field_text *fields, int most)
{
	const char *gap = strchr(line, '\t') ? "\t" : " ";
	const char *end = line + strcspn(line, "\r");
	int count = 0;

	line += strspn(line, gap);
	while (line < end) {
		size_t length = strcspn(line, gap), left = (size_t)(end - line);
		if (count == most)
			return most + 1;
		length = length < left ? length : left;
		fields[count++] = (struct field_text){ line, length };
		line += length;
		line += strspn(line, gap);
	}
	return count;
}

int
fields_number(const struct field_text *field, double *value)
{
	char *end;

	*value = strtod(field->start, &end);
	return end == field->start + field->length;
}
