/* Whether two specifications are of one arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "model/spec.h"

#define SAME(field) (a->field == b->field)

static bool
same_rotary(const struct spec_rotary *a, const struct spec_rotary *b)
{
	return SAME(base) && SAME(divisor) && SAME(factor) && SAME(trained) &&
	       SAME(attention) && !memcmp(a->own, b->own, sizeof a->own);
}

static bool
same_layer(const struct spec_layer *a, const struct spec_layer *b)
{
	return SAME(stored) && SAME(norm1) && SAME(window) && SAME(rotary) &&
	       SAME(inner) && SAME(mixture) && SAME(experts);
}

static bool
same_mixture(const struct spec_mixture *a, const struct spec_mixture *b)
{
	return SAME(count) && SAME(top) && SAME(inner) && SAME(renormalize) &&
	       SAME(shared_gate) && SAME(up_bias) && SAME(down_bias) && SAME(bias) &&
	       SAME(turned) && SAME(upcycled);
}

static bool
same_sizes(const struct spec *a, const struct spec *b)
{
	return SAME(layers) && SAME(width) && SAME(heads) && SAME(kv_heads) &&
	       SAME(head_size) && SAME(vocabulary) && SAME(types) &&
	       SAME(position_table) && SAME(positions) && SAME(position_first) &&
	       SAME(rotaries) && SAME(distance.buckets) && SAME(distance.farthest) &&
	       SAME(distance.slopes) && SAME(distance.each) && SAME(embedding_width) &&
	       SAME(tasks_of_text) && SAME(attention_scale);
}

static bool
same_blocks(const struct spec *a, const struct spec *b)
{
	return SAME(causal) && SAME(prenorm) && SAME(branch_norms) &&
	       SAME(embedding_norm) && SAME(embedding_scale) && SAME(norm) &&
	       SAME(norm_bias) && SAME(norm_eps) && SAME(qk_norm) && SAME(act) &&
	       SAME(head_act) && SAME(gated) && SAME(qkv_bias) && SAME(out_bias) &&
	       SAME(up_bias) && SAME(down_bias) && SAME(mlm_bias) && SAME(output_bias) &&
	       SAME(experts) && SAME(expert_norms) && SAME(loras) && SAME(lora_rank) &&
	       SAME(lora_scale);
}

bool
spec_same(const struct spec *a, const struct spec *b)
{
	bool same = same_sizes(a, b) && same_blocks(a, b) &&
		    same_mixture(&a->mixture, &b->mixture);

	for (int i = 0; same && i < a->rotaries; i++)
		same = same_rotary(&a->rotary[i], &b->rotary[i]);
	for (int i = 0; same && i < a->layers; i++)
		same = same_layer(&a->layer[i], &b->layer[i]);
	for (int i = 0; same && i < a->experts; i++)
		same = !strcmp(a->expert_names[i], b->expert_names[i]);
	return same && !a->tasks == !b->tasks &&
	       (!a->tasks || tree_equal(a->tasks, b->tasks));
}
