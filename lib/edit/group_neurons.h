/*
 * group_neurons - orders the neurons of a dense model's MLPs by balanced k-means, so that each neuron expert
 * (model/neuron_experts.h) has neurons with similar input weights (MoEfication, Zhang et al. 2022, section 3.2).
 */
#ifndef EDIT_GROUP_NEURONS_H
#define EDIT_GROUP_NEURONS_H

#include <stdint.h>

/* Writes the folder beside `dir`, then renames it into place.  Numbers are moved as they are stored: embeddings change by the
 * rounding of sums in another order.  Dies if the MLPs cannot be in `count` equal groups. */
void model_group_neurons(const char *from, const char *dir, int count, uint64_t seed);

#endif
