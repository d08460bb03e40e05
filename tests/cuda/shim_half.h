/* shim_half - bf16 and f16 conversions of lib/stream/tensor.h for the headers beside this one. */
#ifndef SHIM_HALF_H
#define SHIM_HALF_H

extern "C" {
#include "stream/tensor.h"
}

#endif
