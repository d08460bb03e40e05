/*
 * nn_blas - print nn_about() in a program that holds OpenBLAS
 */
#include <stdio.h>

#include "nn/nn.h"
#include "score/linalg.h"

int
main(int argc, char **argv)
{
	double one = 1, product;

	(void)argc;
	nn_start(0, argv);
	linalg_multiply(&product, &one, false, &one, false, 1, 1, 1);
	puts(nn_about());
	return product != 1;
}
