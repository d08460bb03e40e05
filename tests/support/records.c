/*
 * records FILE [FORMAT] - records of a text file: line, offset and JSON of each
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "text/datafile.h"
#include "text/json.h"

int
main(int argc, char **argv)
{
	const struct tree *record;

	program_name = "records";
	if (argc < 2)
		die("FILE is missing");
	enum datafile_format format =
	    argc < 3 ? DATAFILE_GUESS : datafile_parse("FORMAT", argv[2]);
	struct datafile *file = datafile_open(argv[1], format);
	while ((record = datafile_next(file))) {
		char *text = json_text(record, 0);
		printf("%lld %lld %s\n", (long long)datafile_line(file),
		    (long long)datafile_offset(file), text);
		free(text);
	}
	printf("repaired %lld\n", (long long)datafile_repaired(file));
	datafile_close(file);
	return 0;
}
