/*
 * parameter_rates - peak learning rates of parameters by their names, as the parameter groups of torch.optim.
 *
 * "embeddings.*,*.layer.0.*=1e-5": a glob whose * stands for dots too, or several.  The last that fits a name decides.
 */
#ifndef TRAIN_PARAMETER_RATES_H
#define TRAIN_PARAMETER_RATES_H

#include "model/model.h"

/* rates[model_parameters(model)]: each one's own rate, `rate` if no pattern fits.  patterns end with NULL; NULL: none.  Dies, naming
 * --lr-of, on a pattern that is none, or a glob that fits no parameter. */
void parameter_rates(
    double *rates, double rate, const char *const *patterns, const struct model *model);

#endif
