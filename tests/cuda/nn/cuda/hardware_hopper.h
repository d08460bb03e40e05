/* hardware_hopper - lib/nn/cuda/hardware_hopper.h in plain C++. */
#ifndef HARDWARE_HOPPER_H
#define HARDWARE_HOPPER_H

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

/* hopper.cpp */
struct shared_tile {
	const char *at;
};
void shim_arrival_start(uint64_t *barrier, unsigned count);
void shim_arrive(uint64_t *barrier, unsigned bytes);
void shim_arrival_wait(uint64_t *barrier, unsigned parity);
/* made when a thread waits for the barrier */
void shim_copy_tile(
    void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier);
void *shim_there(void *shared,
    unsigned rank); /* the same place in the shared memory of another block */
/* made when the thread waits for their group */
void shim_product(float *sum, int wide, struct shared_tile a, struct shared_tile b);
void shim_product_over(
    float *sum, int wide, struct shared_tile a, struct shared_tile b, bool add);
void shim_product_across(
    float *sum, int wide, const unsigned (&a)[4], struct shared_tile b, int further);
void shim_products_close();
void shim_products_wait(unsigned left);

static inline float
reciprocal_quick(float x)
{
	return 1 / x;
}

static inline float
max_or_nan(float x, float y)
{
	return x > y || x != x ? x : y;
}

static inline void
store_matrices(void *row, unsigned a, unsigned b, unsigned c, unsigned d)
{
	void *rows[warpSize];
	unsigned of[4] = { a, b, c, d };
	int g = shim_lane() / 4, t = shim_lane() % 4;

	if ((uintptr_t)row % 16)
		shim_die("a row of a matrix that is not aligned");
	shim_gather(rows, &row, sizeof row);
	for (int i = 0; i < 4; i++)
		memcpy((char *)rows[8 * i + g] + 4 * t, &of[i], sizeof of[i]);
}

static inline unsigned
cluster_rank()
{
	return shim_rank();
}

static inline void
cluster_barrier()
{
	shim_cluster_barrier();
}

static inline void
arrival_start(uint64_t *barrier, unsigned count)
{
	shim_arrival_start(barrier, count);
}

static inline void
arrivals_started()
{
}

static inline void
arrive(uint64_t *barrier)
{
	shim_arrive(barrier, 0);
}

static inline void
arrive_at(uint64_t *barrier, unsigned rank)
{
	shim_arrive((uint64_t *)shim_there(barrier, rank), 0);
}

static inline void
arrive_expecting(uint64_t *barrier, unsigned bytes)
{
	shim_arrive(barrier, bytes);
}

static inline void
arrival_wait(uint64_t *barrier, unsigned parity)
{
	shim_arrival_wait(barrier, parity);
}

static inline void
copy_tile(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
	shim_copy_tile(to, map, column, row, barrier);
}

static inline void
copy_tile_to(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier,
    unsigned short blocks)
{
	for (unsigned rank = 0; blocks >> rank; rank++)
		if (blocks >> rank & 1)
			shim_copy_tile(shim_there(to, rank), map, column, row,
			    (uint64_t *)shim_there(barrier, rank));
}

static inline void
copy_tile_soon(const CUtensorMap *)
{
}

template <int COUNT>
static inline void
registers_more()
{
}

template <int COUNT>
static inline void
registers_less()
{
}

static inline struct shared_tile
shared_tile_at(const void *shared)
{
	if ((uintptr_t)shared % 1024)
		shim_die("a tile that is not aligned");
	return { (const char *)shared };
}

static inline struct shared_tile
shared_tile_further(struct shared_tile tile, int bytes)
{
	return { tile.at + bytes };
}

template <int N>
static inline void
warpgroup_product(float (&sum)[N / 2], struct shared_tile a, struct shared_tile b)
{
	shim_product(sum, N, a, b);
}

/* An instruction of the whole warp. */
static inline void
warpgroup_begin()
{
	shim_warp_barrier();
}

static inline void
warpgroup_close()
{
	shim_products_close();
}

template <int LEFT>
static inline void
warpgroup_wait()
{
	shim_products_wait(LEFT);
}

template <int N>
static inline void
warpgroup_hold(float (&sum)[N])
{
	(void)sum;
}

template <int N>
static inline void
warpgroup_hold(float (&sum)[N][4])
{
	(void)sum;
}

template <int N>
static inline void
warpgroup_product_over(
    float (&sum)[N / 8][4], struct shared_tile a, struct shared_tile b, bool add)
{
	shim_product_over(&sum[0][0], N, a, b, add);
}

template <int N>
static inline void
warpgroup_product_across(
    float (&sum)[N / 8][4], const unsigned (&a)[4], struct shared_tile b, int further)
{
	shim_product_across(&sum[0][0], N, a, b, further);
}

static inline void
shared_visible()
{
}

#endif
