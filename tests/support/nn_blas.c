/*
 * nn_blas - print nn_about() in a program that holds OpenBLAS
 */
#include <stdio.h>

#include "nn/nn.h"

#include <cblas.h> /* last: its I is a word of nn.h */

int
main(int argc, char **argv)
{
	double one = 1;

	(void)argc;
	nn_start(0, argv);
	puts(nn_about());
	return cblas_ddot(1, &one, 1, &one, 1) != 1;
}
