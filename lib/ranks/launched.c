#include "ranks/ranks.h"

#include <stdlib.h>

int
ranks_launched(void)
{
	/* Open MPI's mpirun, PMI launchers, and srun; not sbatch, which starts one script */
	static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
		"SLURM_STEP_NUM_TASKS" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && atoi(value) > 1)
			return atoi(value);
	}
	return 1;
}
