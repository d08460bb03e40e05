#include "text/no_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/foreign.h"

/* Number of maximal invalid parts. */
static int64_t
count_bad(const char *bytes, size_t count)
{
	int64_t bad = 0;
	int32_t code;

	for (size_t at = 0;; bad++) {
		at += utf8_valid(bytes + at, count - at);
		if (at == count)
			return bad;
		at += utf8_decode(bytes + at, count - at, &code);
	}
}

/* A text may start with the magic bytes of another format, such as GGUF, but has no byte 0. */
char *
no_text(const char *bytes, size_t count, const char *name)
{
	char *kind = foreign_kind(bytes, count, name), *why = NULL;
	int64_t bad = count_bad(bytes, count);

	if (kind && (bad || memchr(bytes, 0, count)))
		why = mem_format("not text but %s", kind);
	else if (file_pointer(bytes, count))
		why = mem_string(file_pointer(bytes, count));
	else if (bad > 64 && bad > (int64_t)count / 4)
		why = mem_format(
		    "not text in UTF-8: %lld of its first %zu bytes begin no character; convert it with iconv",
		    (long long)bad, count);
	free(kind);
	return why;
}
