/*
 * lora_settings - the adapter that `train --lora` makes: rank=8,alpha=16,targets=query+value,dropout=0.1,rslora, each part
 * optional, or an adapter folder to go on from.
 */
#ifndef MODEL_LORA_SETTINGS_H
#define MODEL_LORA_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

struct lora_settings {
	const char
	    *from; /* an adapter folder to go on from, which decides all below; NULL: */
	int rank;  /* default 8 */
	double alpha;	/* default twice the rank */
	bool rslora;	/* scale alpha / sqrt(rank) */
	double dropout; /* of x before A; default 0 */
	/* Last parts of the names of linear layers, or "all-linear"; none: queries and values. */
	const char *const *targets;
	int target_count;
};

/* The argument of --lora, which is borrowed; exits with a usage error on any other form.  Called once. */
struct lora_settings lora_settings_parse(const char *text);

/*
 * Makes adapter 0 of a model opened to encode, which learns.  New pairs: A uniform from `seed` as PEFT draws it, B zero.
 * The model's parameters are then A and B of the pairs, under the names that PEFT has for them, and model_save writes an
 * adapter folder; all other weights stay mapped, without gradients.
 */
void model_adapt(
    struct model *model, const struct lora_settings *settings, uint64_t seed);

#endif
