/*
 * guard - a backend whose memory the host cannot touch: the kernels of lib/nn/cpu behind walls.
 *
 * memory.c stands in for lib/nn/cpu/memory.c: all memory of the kernels, weights too, is in one arena that no one may
 * read or write.  Around each function of nn.h that works in it stands one of wraps.awk's making (ld --wrap), which
 * opens the arena and closes it again, and dies of an argument in host memory where one of the kernels' belongs.  So
 * what lib/model and lib/train do with such memory by themselves ends the program, as it would with a card.
 *
 *	make build/cpu/guarded/train
 *
 * The arena is the process's: while one thread is in a kernel, the walls are open for all.  With -j 1 they are tight.
 * Not for them is lib/papers/reze/flow.c, which does the half of a flow by itself, and nn_check_cpu.
 */
#ifndef GUARD_H
#define GUARD_H

#include "nn/nn.h"

/* Around a function called so, whose calls may nest. */
void guard_enter(const char *function);
void guard_leave(void);

/* Dies unless an argument is NULL, or in memory of the kernels. */
void guard_inside(const char *function, const char *argument, const void *at);

/* Dies unless their matrices and biases are. */
void guard_groups(
    const char *function, const struct nn_gemm_group *groups, size_t count);

/* Dies unless what stands beside their starts is so. */
void guard_sequences(const char *function, const struct nn_sequences *sequences);

#endif
