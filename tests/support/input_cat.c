/*
 * input_cat [--raw] FILE [START] - copy what lib/base/input reads; with START, first print whether the file starts with it
 */
#include <stdio.h>
#include <string.h>

#include "base/cli.h"
#include "base/input.h"
#include "base/output.h"

int
main(int argc, char **argv)
{
	static const struct cli cli = { .name = "input_cat", NULL };
	static char bytes[100000];
	bool raw = argc > 1 && !strcmp(argv[1], "--raw");
	size_t got;

	cli_start(&cli, argc, argv);
	argv += raw;
	argc -= raw;
	if (argc < 2)
		return 2;
	struct input *input = input_open(argv[1]);
	struct output *output = output_open("-", false);
	if (argc > 2)
		output_write(output, input_starts_with(input, argv[2]) ? "yes " : "no ",
		    input_starts_with(input, argv[2]) ? 4 : 3);
	/* an odd size, so that reads end at any place */
	while ((got = raw ? input_read_raw(input, bytes, 77777)
			  : input_read(input, bytes, 77777)))
		output_write(output, bytes, got);
	output_finish(output);
	input_close(input);
	return 0;
}
