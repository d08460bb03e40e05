/*
 * bge_m3 - the linear layers that a model of BGE-M3's kind (Chen et al. 2024) has beside its weights, each in a file of torch.save:
 * sparse_linear.pt weighs tokens (token_terms.h), colbert_linear.pt makes vectors of them.
 */
#ifndef MODEL_BGE_M3_H
#define MODEL_BGE_M3_H

#include <stdbool.h>
#include <stddef.h>

extern const char bge_m3_sparse[], bge_m3_vectors[]; /* names of the files */

/* Whether the folder has both files; dies, naming the one that is missing, if it has one. */
bool bge_m3_is(const char *dir);

/* y = x weight^T + bias, f32 in nn memory. */
struct bge_m3_linear {
	float *weight, *bias; /* [out,in], [out] */
	size_t in, out;
};

/* Reads a layer of `in` inputs and `out` outputs, 0: as many as the file has.  Dies, naming the file, if it has another shape,
 * other tensors or values that are not finite. */
struct bge_m3_linear bge_m3_read(
    const char *dir, const char *name, size_t in, size_t out);
void bge_m3_free(struct bge_m3_linear *linear);

#endif
