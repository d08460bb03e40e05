/*
 * hardware_hopper - instructions of compute capability 9.0 alone (target sm_90a): barriers and tile copies of shared memory,
 * products of a warpgroup, which is 128 threads.
 */
#ifndef NN_CUDA_HARDWARE_HOPPER_H
#define NN_CUDA_HARDWARE_HOPPER_H

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

static __device__ __forceinline__ unsigned
shared_address(const void *shared)
{
	return (unsigned)__cvta_generic_to_shared(shared);
}

/* 1 / x, to 2^-23 of it; 0 where that is less than 2^-126. */
static __device__ __forceinline__ float
reciprocal_quick(float x)
{
	float y;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

/* The larger; NaN if one is NaN. */
static __device__ __forceinline__ float
max_or_nan(float x, float y)
{
	float z;

	asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
	return z;
}

/* By a whole warp: the reverse of load_matrices. */
static __device__ __forceinline__ void
store_matrices(void *row, unsigned a, unsigned b, unsigned c, unsigned d)
{
	asm volatile(
	    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
		shared_address(row)),
	    "r"(a), "r"(b), "r"(c), "r"(d)
	    : "memory");
}

/* The block's number in its cluster; a barrier of all threads of a cluster, which barriers set up before it can be used after. */
static __device__ __forceinline__ unsigned
cluster_rank()
{
	unsigned rank;

	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
}

static __device__ __forceinline__ void
cluster_barrier()
{
	asm volatile("barrier.cluster.arrive.release.aligned;\n"
		     "barrier.cluster.wait.acquire.aligned;" ::
			 : "memory");
}

/*
 * Barrier in shared memory.  A phase ends when `count` arrivals have come and the bytes that arrivals announced have been copied;
 * phases are numbered from 0.  arrival_wait waits for the end of the phase of this parity; that of the phase before 0 has ended.
 */
static __device__ __forceinline__ void
arrival_start(uint64_t *barrier, unsigned count)
{
	asm volatile(
	    "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
	    "r"(count)
	    : "memory");
}

/* After the last arrival_start, before the barrier of the cluster. */
static __device__ __forceinline__ void
arrivals_started()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void
arrive(uint64_t *barrier)
{
	asm volatile(
	    "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
	    : "memory");
}

/* At the barrier of the cluster's block `rank`. */
static __device__ __forceinline__ void
arrive_at(uint64_t *barrier, unsigned rank)
{
	asm volatile("{.reg .b32 there;\n"
		     "mapa.shared::cluster.u32 there, %0, %1;\n"
		     "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(
			 shared_address(barrier)),
		     "r"(rank)
		     : "memory");
}

static __device__ __forceinline__ void
arrive_expecting(uint64_t *barrier, unsigned bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
			 shared_address(barrier)),
		     "r"(bytes)
		     : "memory");
}

static __device__ __forceinline__ void
arrival_wait(uint64_t *barrier, unsigned parity)
{
	unsigned done = 0;

	while (!done)
		asm volatile("{.reg .pred done;\n"
			     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
			     "selp.b32 %0, 1, 0, done;}"
			     : "=r"(done)
			     : "r"(shared_address(barrier)), "r"(parity)
			     : "memory");
}

/*
 * Asynchronous copy of the map's box at a column and row to shared memory, swizzled by 128 bytes; it counts at the barrier.  The second
 * one copies to the same place of each block of the cluster in `blocks`, a mask, and counts there.
 */
static __device__ __forceinline__ void
copy_tile(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
	asm volatile(
	    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
		"r"(shared_address(to)),
	    "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
	    : "memory");
}

static __device__ __forceinline__ void
copy_tile_to(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier,
    unsigned short blocks)
{
	asm volatile(
	    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::
		"r"(shared_address(to)),
	    "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(blocks)
	    : "memory");
}

static __device__ __forceinline__ void
copy_tile_soon(const CUtensorMap *map)
{
	asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Makes the thread's writes and copies to shared memory visible, after a barrier, to warpgroup products and tile copies. */
static __device__ __forceinline__ void
shared_visible()
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* By a whole warpgroup: its threads get, or give back, registers. */
template <int COUNT>
static __device__ __forceinline__ void
registers_more()
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT>
static __device__ __forceinline__ void
registers_less()
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/* Rows of 64 bf16, aligned to 1,024 bytes and swizzled by 128 bytes, as an operand of warpgroup_product. */
struct shared_tile {
	uint64_t bits;
};

static __device__ __forceinline__ struct shared_tile
shared_tile_at(const void *shared)
{
	/* swizzle; 1,024 bytes between groups of eight rows; address; all in units of 16 bytes */
	return { (uint64_t)1 << 62 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 16 |
		 (shared_address(shared) & 0x3ffff) >> 4 };
}

/* The tile some columns, or rows of 64 columns, further. */
static __device__ __forceinline__ struct shared_tile
shared_tile_further(struct shared_tile tile, int bytes)
{
	return { tile.bits + (unsigned)bytes / 16 };
}

/*
 * By a whole warpgroup: sum[64,N] += a[64,16] b[N,16]^T, asynchronously.  Lane 4 g + t of warp w has rows 16 w + g and 8 further:
 * sum[4 j..] is columns 8 j + 2 t and 8 j + 2 t + 1 of the first, then of the second.  warpgroup_begin comes before the first of several
 * products, warpgroup_close after the last; warpgroup_wait waits for all but the last LEFT closed.
 */
template <int N>
static __device__ void warpgroup_product(
    float (&sum)[N / 2], struct shared_tile a, struct shared_tile b);

static __device__ __forceinline__ void
warpgroup_begin()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void
warpgroup_close()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int LEFT>
static __device__ __forceinline__ void
warpgroup_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* Keeps the sums in their registers here. */
template <int N>
static __device__ __forceinline__ void
warpgroup_hold(float (&sum)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("" : "+f"(sum[i])::"memory");
}

#define SUMS_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

template <>
__device__ __forceinline__ void
warpgroup_product<128>(float (&sum)[64], struct shared_tile a, struct shared_tile b)
{
	asm volatile(
	    "{.reg .pred p;\n setp.eq.b32 p, 0, 0;\n"
	    "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
	    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
	    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
	    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
	    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
	    "}, %64, %65, p, 1, 1, 0, 0;\n}"
	    : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
	    : "l"(a.bits), "l"(b.bits));
}

template <>
__device__ __forceinline__ void
warpgroup_product<192>(float (&sum)[96], struct shared_tile a, struct shared_tile b)
{
	asm volatile(
	    "{.reg .pred p;\n setp.eq.b32 p, 0, 0;\n"
	    "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {"
	    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
	    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
	    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
	    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"
	    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"
	    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
	    "}, %96, %97, p, 1, 1, 0, 0;\n}"
	    : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48), SUMS_16(64), SUMS_16(80)
	    : "l"(a.bits), "l"(b.bits));
}

#undef SUMS_16
#undef SUMS_4

/*
 * The same product in place of the sum, or added to it: sum[j] is what sum[4 j..] is there.  And sum[64,N] += a[64,16] b[16,N], of a in
 * registers, as in matrix_product, and rows of b, which are tiles of 64 columns, `further` bytes apart.
 */
template <int N>
static __device__ void warpgroup_product_over(
    float (&sum)[N / 8][4], struct shared_tile a, struct shared_tile b, bool add);

template <int N>
static __device__ void warpgroup_product_across(
    float (&sum)[N / 8][4], const unsigned (&a)[4], struct shared_tile b, int further);

template <int N>
static __device__ __forceinline__ void
warpgroup_hold(float (&sum)[N][4])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		warpgroup_hold(sum[i]);
}

static __device__ __forceinline__ uint64_t
shared_tile_of(struct shared_tile tile, int further)
{
	return (tile.bits & ~((uint64_t)0x3fff << 16)) | (uint64_t)(further / 16) << 16;
}

#define ROW_SUMS(i) "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
#define ROW_SUMS_4(i) ROW_SUMS(i), ROW_SUMS(i + 1), ROW_SUMS(i + 2), ROW_SUMS(i + 3)

template <>
__device__ __forceinline__ void
warpgroup_product_over<64>(
    float (&sum)[8][4], struct shared_tile a, struct shared_tile b, bool add)
{
	asm volatile(
	    "{.reg .pred add;\n setp.ne.b32 add, %34, 0;\n"
	    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
	    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
	    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
	    "}, %32, %33, add, 1, 1, 0, 0;\n}"
	    : ROW_SUMS_4(0), ROW_SUMS_4(4)
	    : "l"(a.bits), "l"(b.bits), "r"((int)add));
}

template <>
__device__ __forceinline__ void
warpgroup_product_over<128>(
    float (&sum)[16][4], struct shared_tile a, struct shared_tile b, bool add)
{
	asm volatile(
	    "{.reg .pred add;\n setp.ne.b32 add, %66, 0;\n"
	    "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
	    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
	    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
	    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
	    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
	    "}, %64, %65, add, 1, 1, 0, 0;\n}"
	    : ROW_SUMS_4(0), ROW_SUMS_4(4), ROW_SUMS_4(8), ROW_SUMS_4(12)
	    : "l"(a.bits), "l"(b.bits), "r"((int)add));
}

template <>
__device__ __forceinline__ void
warpgroup_product_across<64>(
    float (&sum)[8][4], const unsigned (&a)[4], struct shared_tile b, int further)
{
	asm volatile(
	    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
	    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
	    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
	    "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
	    : ROW_SUMS_4(0), ROW_SUMS_4(4)
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
	    "l"(shared_tile_of(b, further)));
}

template <>
__device__ __forceinline__ void
warpgroup_product_across<128>(
    float (&sum)[16][4], const unsigned (&a)[4], struct shared_tile b, int further)
{
	asm volatile(
	    "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
	    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
	    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
	    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
	    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
	    "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
	    : ROW_SUMS_4(0), ROW_SUMS_4(4), ROW_SUMS_4(8), ROW_SUMS_4(12)
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
	    "l"(shared_tile_of(b, further)));
}

#undef ROW_SUMS_4
#undef ROW_SUMS

#endif
