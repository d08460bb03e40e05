/*
 * neuron_experts - the hidden channels ("neurons") of a dense model's MLPs in groups (MoEfication, Zhang et al. 2022), so that a
 * model without a router has routing weights: the share of each group in the energy of a token's activations.
 *
 *	"neuron_experts": 16		in config.json: in each MLP of I neurons, expert e is neurons e I / 16 to (e + 1) I / 16 - 1
 *
 * The model computes what it did; `upcycle --neuron-experts` orders the neurons so that similar ones are neighbours.
 */
#ifndef MODEL_NEURON_EXPERTS_H
#define MODEL_NEURON_EXPERTS_H

#include "model/spec.h"

/* Sets spec.neuron_experts from config.json; dies naming the key if the MLPs cannot be divided so. */
void neuron_experts_configure(struct spec *spec, const struct tree *config);

/* Why the MLPs cannot be in `count` groups, to be freed; NULL: they can. */
char *neuron_experts_refuse(const struct spec *spec, int count);

#endif
