/* cpu_limit_show ROOT - the processors of the limit of the control group described by ROOT/proc and ROOT/sys; 0: no limit */
#include <stdio.h>

#include "nn/host/cpu_limit.h"

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	printf("%d\n", cpu_limit(argv[1]));
	return 0;
}
