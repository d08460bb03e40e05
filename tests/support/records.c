/*
 * records FILE [FORMAT] - records of a text file: line, offset and JSON of each
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "text/json.h"
#include "text/textrec.h"

int
main(int argc, char **argv)
{
	const struct tree *record;

	program_name = "records";
	if (argc < 2)
		die("FILE is missing");
	enum textrec_format format =
	    argc < 3 ? TEXTREC_GUESS : textrec_parse("FORMAT", argv[2]);
	struct textrec *file = textrec_open(argv[1], format);
	while ((record = textrec_next(file))) {
		char *text = json_text(record, 0);
		printf("%lld %lld %s\n", (long long)textrec_line(file),
		    (long long)textrec_offset(file), text);
		free(text);
	}
	printf("repaired %lld\n", (long long)textrec_repaired(file));
	textrec_close(file);
	return 0;
}
