/* model_copy FROM TO DTYPE|init [SEED] - open a model to train and save it. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/model.h"
#include "model/save.h"

int
main(int argc, char **argv)
{
	enum dtype dtype = DTYPE_F32;

	program_name = "model_copy";
	if (argc < 4)
		die_usage("model_copy FROM TO DTYPE|init [SEED]");
	bool init = !strcmp(argv[3], "init");
	if (!init && !dtype_parse(argv[3], &dtype))
		die_usage("no dtype is called '%s'", argv[3]);
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	struct model *model = model_open(argv[1], init ? MODEL_INIT : MODEL_TRAIN, seed);
	model_save(model, argv[2], dtype, NULL);
	model_close(model);
	return 0;
}
