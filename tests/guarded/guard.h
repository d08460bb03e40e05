/*
 * guard - the kernels of lib/nn/cpu with memory that the host cannot touch, as on a device.
 *
 * memory.c replaces lib/nn/cpu/memory.c: all memory of the kernels, with the weights, is in one arena without read and write
 * permission.  wraps.awk makes a wrapper (ld --wrap) for each function of nn.h that works on it; the wrapper gives permission for
 * the call, and dies if an argument is host memory.  So if lib/model or lib/train touches memory of the kernels, the program
 * ends, as it would on a GPU.
 *
 *	make build/cpu/guarded/train
 *
 * Permission is the process's: while one thread is in a kernel, all threads may touch the arena; with -j 1 nothing slips through.
 * lib/papers/reze/flow.c, which computes half a flow on the host, and nn_check_cpu cannot run so.
 */
#ifndef GUARD_H
#define GUARD_H

#include "nn/nn.h"

/* Called before and after a kernel; calls may nest. */
void guard_enter(const char *function);
void guard_leave(void);

/* Dies unless the argument is NULL or memory of the kernels. */
void guard_inside(const char *function, const char *argument, const void *at);

/* The same for the groups' matrices and biases. */
void guard_groups(const char *function, const struct nn_gemm_group *groups, size_t count);

/* Dies unless T and longest agree with starts. */
void guard_sequences(const char *function, const struct nn_sequences *sequences);

#endif
