/*
 * host - the part of nn.h that all backends share: start-up, and functions on host memory (reserve.c, quantize.c, pack.h).
 * Backends include it, and programs with threads but without kernels.
 */
#ifndef NN_HOST_HOST_H
#define NN_HOST_HOST_H

/* nn_start, without the kernels' part. */
void host_start(int threads, char **argv);

/* OpenBLAS's part of nn_about: ", OpenBLAS Haswell kernels", or "" without it. */
const char *host_about(void);

#endif
