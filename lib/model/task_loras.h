/*
 * task_loras - the LoRAs of spec.loras tasks that a checkpoint has itself, as torch's parametrizations keep them
 * (jina-embeddings-v3): each task is an adapter, whose pairs are views of these tensors.
 *
 * All T tasks are in one tensor, beside each matrix X.parametrizations.weight.original.  Of a linear layer
 *	X.parametrizations.weight.0.lora_A [T,rank,in], .lora_B [T,out,rank]: W + scale B A
 * and of token and type embeddings, the other way round,
 *	.lora_A [T,rows,rank], .lora_B [T,rank,C]: W + scale A B
 */
#ifndef MODEL_TASK_LORAS_H
#define MODEL_TASK_LORAS_H

#include "model/model.h"

struct pass;
struct task_lora;

/* Sets model->adapters of a model that encodes and has such LoRAs. */
void task_loras_load(struct model *model);

/* Dies naming a tensor of a LoRA with NaN or infinity. */
void task_loras_demand_finite(const struct model *model);

/* Sets pass->sum0, the sum of the embeddings of the batch's tokens, with each sequence's LoRA. */
void task_loras_embed(const struct model *model, const struct pass *pass);

#endif
