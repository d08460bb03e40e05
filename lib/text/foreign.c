#include "text/foreign.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Formats without a C library in Debian 12, each with a command that converts it by pyarrow in batches. */
static const struct {
	const char *bytes, *name, *kind;
	const char *module, *open,
	    *batches; /* pyarrow: module, call that opens a file, iterator of batches */
} columnar[] = {
	{ "PAR1", "parquet", "Parquet", "dataset", "dataset", ".to_batches()" },
	{ "ARROW1", "feather", "Feather or Arrow", "feather", "read_table",
	    ".to_batches()" },
	{ "FEA1", "feather", "Feather", "feather", "read_table", ".to_batches()" },
	{ "\xFF\xFF\xFF\xFF", "arrow", "a stream of Arrow", "ipc", "open_stream", "" },
};
enum { COLUMNAR = sizeof columnar / sizeof *columnar };

static char *
conversion(size_t i, const char *name)
{
	/* a name that would need quoting becomes a placeholder */
	if (name[strspn(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=+.,:/@%-")] ||
	    *name == '-')
		name = "FILE";
	return mem_format(
	    "%s; convert it: python3 -c 'import json, pyarrow.%s as a; [print(json.dumps(r, default=str)) for b in a.%s(\"%s\")%s for r in b.to_pylist()]' > %s.jsonl",
	    columnar[i].kind, columnar[i].module, columnar[i].open, name,
	    columnar[i].batches, name);
}

char *
foreign_named(const char *kind, const char *name)
{
	for (size_t i = 0; i < COLUMNAR; i++)
		if (!strcasecmp(columnar[i].name, kind))
			return conversion(i, name);
	return NULL;
}

static bool
begins(const char *bytes, size_t count, const char *with)
{
	size_t length = strlen(with);

	return count >= length && !memcmp(bytes, with, length);
}

char *
foreign_kind(const char *bytes, size_t count, const char *name)
{
	static const char utf16[] = "UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'";
	static const char *const known[][2] = {
		{ "\xFF\xFE", utf16 },
		{ "\xFE\xFF", utf16 },
		{ "\x89HDF", "HDF5; convert it to JSON Lines or CSV" },
		{ "\x93NUMPY", "an array of NumPy; see 'mts from npy'" },
		{ "PK\3\4", "a zip archive; unpack it" },
		{ "7z\xBC\xAF", "7-Zip; unpack it" },
		{ "SQLite format 3", "a data base of SQLite" },
		{ "%PDF-", "PDF; convert it with pdftotext" },
		{ "GGUF", "a model in GGUF" },
		{ "\177ELF", "a program" },
		{ "mts ", "a tensor stream" },
	};

	for (size_t i = 0; i < COLUMNAR; i++)
		if (begins(bytes, count, columnar[i].bytes))
			return conversion(i, name);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (begins(bytes, count, known[i][0]))
			return mem_string(known[i][1]);
	/* safetensors: eight bytes of header length, then a JSON object */
	if (count > 8 && bytes[8] == '{' && !bytes[5] && !bytes[6] && !bytes[7])
		return mem_string("safetensors; see 'mts from safetensors'");
	return NULL;
}
