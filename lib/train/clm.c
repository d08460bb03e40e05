#include "train/clm.h"

int64_t
clm_targets(const int32_t *ids, const int64_t *starts, int64_t sequences,
    int32_t *positions, int32_t *targets)
{
	int64_t count = 0;

	for (int64_t i = 0; i < sequences; i++)
		for (int64_t t = starts[i]; t + 1 < starts[i + 1]; t++) {
			positions[count] = (int32_t)t;
			targets[count++] = ids[t + 1];
		}
	return count;
}
