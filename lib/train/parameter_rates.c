#include "train/parameter_rates.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"

static void
apply(double *rates, double rate, const char *glob, const struct model *model)
{
	int count = model_parameters(model);
	bool found = false;

	for (int i = 0; i < count; i++) {
		if (fnmatch(glob, model_parameter(model, i)->name, 0))
			continue;
		rates[i] = rate;
		found = true;
	}
	if (!found)
		die("--lr-of: no weight of %s that learns is called '%s'; names are like '%s'",
		    model_dir(model), glob, model_parameter(model, 0)->name);
}

void
parameter_rates(
    double *rates, double rate, const char *const *patterns, const struct model *model)
{
	for (int i = 0; i < model_parameters(model); i++)
		rates[i] = rate;
	for (; patterns && *patterns; patterns++) {
		char *list = mem_string(*patterns), *rest = NULL,
		     *equals = strrchr(list, '=');
		double own = 0;
		if (!equals || equals == list ||
		    !number_read(equals + 1, strlen(equals + 1), &own) ||
		    !(own > 0 && own <= 10))
			die_usage("--lr-of: '%s' is not PATTERN=X with a rate X above 0",
			    *patterns);
		*equals = '\0';
		for (const char *glob = strtok_r(list, ",", &rest); glob;
		     glob = strtok_r(NULL, ",", &rest))
			apply(rates, own, glob, model);
		free(list);
	}
}
