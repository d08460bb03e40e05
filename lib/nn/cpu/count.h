/*
 * count - the work of each thread in parallel regions, for a test.
 *
 * A program that defines these functions (nn_bench --balance) is told of each region and of the work that it gives to each thread;
 * products and attention are then counted, not computed.  Elsewhere they are NULL and cost a comparison.
 */
#ifndef NN_CPU_COUNT_H
#define NN_CPU_COUNT_H

#include <stdbool.h>
#include <stddef.h>

/* Before a region whose threads call nn_count_work; by_item: threads take its items one after another.  Not shared: one thread
 * does all. */
__attribute__((weak)) void nn_count_region(bool shared, bool by_item);

/* In the region: multiply-adds of thread or item i.  True: they are counted and need no computing. */
__attribute__((weak)) bool nn_count_work(size_t i, double multiply_adds);

/* In the region of nn_parallel_for: this thread begins item i.  The regions of the kernels that it calls belong to the item. */
__attribute__((weak)) void nn_count_job(size_t i);

/* A loop over `items` of `each` elements, divided evenly. */
__attribute__((weak)) void nn_count_loop(size_t items, size_t each, bool shared);

#endif
