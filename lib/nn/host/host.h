/*
 * host - the part of nn.h that is the same for every backend: what it does with the processor's own libraries, and with
 * host memory alone (reserve.c, quantize.c, pack.h).  Backends include it, and programs that have threads and no kernels.
 */
#ifndef NN_HOST_HOST_H
#define NN_HOST_HOST_H

/* nn_start, but for what the kernels need. */
void host_start(int threads, char **argv);

/* What nn_about says of OpenBLAS: ", OpenBLAS Haswell kernels", or "". */
const char *host_about(void);

#endif
