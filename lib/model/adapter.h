/*
 * adapter - LoRA (Hu et al. 2022): y += scale (x A') B' beside y = x W', scale = alpha / rank, or
 * alpha / sqrt(rank) (rsLoRA, Kalajdzievski 2023); read and written as PEFT lays it out:
 * adapter_config.json, and adapter_model.safetensors (or .bin) with the tensors
 * base_model.model.MODULE.lora_A.weight [rank, in] and .lora_B.weight [out, rank].
 *
 * Unknown options that change the result are refused by their key: DoRA, biases,
 * modules_to_save, other kinds of adapters.  Which modules are changed is what the file of
 * tensors holds; target_modules, a list or a regular expression, and layers_to_transform must agree.
 */
#ifndef MODEL_ADAPTER_H
#define MODEL_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>

#include "folder/safetensors.h"

struct adapter;

struct adapter_pair {
	char *module; /* "encoder.layer.0.attention.self.query" */
	const struct safetensor *a, *b;
	int64_t rank;
	double scale;
};

/* Dies naming file, key or tensor. */
struct adapter *adapter_open(const char *dir);
int adapter_count(const struct adapter *adapter);
const struct adapter_pair *adapter_at(const struct adapter *adapter, int index);
const char *adapter_name(const struct adapter *adapter); /* its file of tensors */
uint64_t adapter_fingerprint(const struct adapter *adapter);
double adapter_dropout(const struct adapter *adapter); /* that it was trained with */

/* The fingerprint of the model that it was trained on, where train(1) did; NULL: not known. */
const char *adapter_base(const struct adapter *adapter);
void adapter_close(struct adapter *adapter);

/* The folders in `dir` that hold an adapter, in the order of their names; dies when there is none.  To be freed, each
 * and all. */
char **adapter_folders(const char *dir, int *count);

/* Is this checkpoint's tensor the weight of the module?  One of the names may have a
 * prefix that the other lacks ("bert.", "model."). */
bool adapter_means(const char *module, const char *tensor);

/* Writing. ------------------------------------------------------------------------- */

/* Values for adapter_config.json; PEFT's defaults for the rest. */
struct adapter_settings {
	int rank;
	double alpha;
	bool rslora;
	double dropout;
	const char *base;	 /* the model it belongs to; NULL: not said */
	const char *fingerprint; /* and that model's; NULL: not said */
	const char *const *targets;
	int target_count; /* "query", "value": last parts of the modules' names */
	/* Rank and alpha of modules that have others, by name; NULL: none has. */
	struct tree *ranks, *alphas;
};

/* "base_model.model.MODULE.lora_A.weight" of the tensor MODULE.weight; which: 'A' or 'B'.  The
 * caller frees it. */
char *adapter_tensor(const char *weight, char which);

/* Both files into an existing folder; tensors named by adapter_tensor. */
void adapter_write(const char *dir, const struct adapter_settings *settings,
    const struct safetensor *tensors, int count);

#endif
