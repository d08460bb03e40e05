#include "score/labels.h"

#include "base/err.h"
#include "stream/values.h"

int
labels_column(const struct reader *reader, const char *wanted, const char *const *usual)
{
	int column = wanted ? stream_find(reader, wanted) : values_find(reader, usual);

	if (column < 0)
		die("%s: there is no column '%s' of labels; name it with --label",
		    stream_name(reader), wanted ? wanted : usual[0]);
	return column;
}

int32_t
labels_number(struct strings *names, const struct reader *reader, int column,
    const struct array *array, int64_t index, int32_t most)
{
	const struct column *labels = stream_column(reader, column);
	char room[VALUES_ROOM];
	size_t length;

	if (values_missing(labels, array, index))
		die("%s: record %lld: value %lld of '%s' is missing; leave out rows "
		    "without a label, or label them",
		    stream_name(reader), (long long)stream_records(reader),
		    (long long)index + 1, labels->name);
	const char *text = values_text(labels, array, index, room, &length);
	int64_t number = strings_add(names, text, length, NULL);

	if (number >= most)
		die("%s: column '%s' has more than %d different values; these are no "
		    "labels",
		    stream_name(reader), labels->name, most);
	return (int32_t)number;
}
