/*
 * seam_check touch|hand - touch memory of the kernels, or pass them host memory: neither is allowed, and both must fail
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "nn/nn.h"

int
main(int argc, char **argv)
{
	const size_t bytes = 8 * sizeof(float);
	float host[8] = { 1 }, *memory;

	nn_start(1, argv);
	if (argc != 2 || (strcmp(argv[1], "touch") && strcmp(argv[1], "hand")))
		die_usage("seam_check touch|hand");
	memory = nn_alloc(bytes);
	nn_upload(memory, host, bytes);
	if (argv[1][0] == 'h')
		nn_add(host, memory, 8);
	else
		host[0] += memory[0];
	printf("%g\n", (double)host[0]);
	nn_free(memory, bytes);
	return 0;
}
