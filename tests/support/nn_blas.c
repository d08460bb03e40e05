/*
 * nn_blas - print nn_about() in a program that holds OpenBLAS, and how its threads start and wait
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "nn/nn.h"

#include <cblas.h> /* included last: it defines I, a name in nn.h */

static void
print_variable(const char *name)
{
	const char *value = getenv(name);

	printf("%s=%s\n", name, value ? value : "");
}

int
main(int argc, char **argv)
{
	double one = 1;

	(void)argc;
	nn_start(0, argv);
	puts(nn_about());
	printf("dynamic %d\n", omp_get_dynamic());
	print_variable("OMP_WAIT_POLICY");
	print_variable("GOMP_SPINCOUNT");
	return cblas_ddot(1, &one, 1, &one, 1) != 1;
}
