/*
 * packed - the layout of weights packed by nn_pack on the CPU.
 */
#ifndef NN_CPU_PACKED_H
#define NN_CPU_PACKED_H

#include "nn/cpu/cpu.h"

/*
 * bf16 and i8, as the microkernels read them: panels of values; for i8 then scale[O], offset[O] (scale times the sum of the
 * output's values) and smooth[C].  All arrays end in zeros up to whole panels.
 */
struct packed_matrix {
	char *values;
	float *scale, *offset, *smooth; /* i8; else NULL */
	size_t depth, bytes;		/* of a row; of all */
};
struct packed_matrix packed_parts(const void *at, enum dtype dtype, size_t O, size_t C);

/* f32, for gemm_f32.c: panels [C][NN_PANEL] of w, [O,C], or [C,O] if transposed; so many floats. */
size_t nn_packed_floats(size_t O, size_t C);
void nn_pack_floats(float *to, struct nn_matrix w, bool transposed, size_t O, size_t C);

#endif
