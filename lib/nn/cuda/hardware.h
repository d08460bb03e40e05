/*
 * hardware - the device's instructions that need inline assembly; hardware_hopper.h has those of Hopper alone.
 * tests/cuda/nn/cuda has both in plain C++, for machines without a device.
 */
#ifndef NN_CUDA_HARDWARE_H
#define NN_CUDA_HARDWARE_H

#include <cuda_bf16.h>
#include <cuda_runtime.h>

/* The block's dynamic shared memory, aligned to 1,024 bytes. */
static __device__ __forceinline__ void *
shared_memory()
{
	extern __shared__ __align__(1024) unsigned char memory[];

	return memory;
}

/* 2^x, to 2^-22 of it; 0 where it would be less than 2^-126. */
static __device__ __forceinline__ float
exp2_quick(float x)
{
	float y;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

/* Two floats rounded to bf16, the first in the low half. */
static __device__ __forceinline__ unsigned
bf16_pair(float low, float high)
{
	unsigned pair;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
	return pair;
}

/*
 * Asynchronous copy of 16 bytes to shared memory; zeros if not `there`.  Both are aligned to 16 bytes, and `from` is always memory of
 * the device.  copies_close makes a group of the copies that the thread began since the last one; copies_wait waits for all but
 * the thread's last LEFT groups.  Copies of other threads are visible after a barrier.
 */
static __device__ __forceinline__ void
copy_ahead(void *shared, const void *from, bool there)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
			 (unsigned)__cvta_generic_to_shared(shared)),
		     "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
		     : "memory");
}

static __device__ __forceinline__ void
copies_close()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int LEFT>
static __device__ __forceinline__ void
copies_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

/*
 * By a whole warp: loads four 8 x 8 matrices of bf16 from shared memory.  Lane 8 i + r passes the address of row r of matrix i,
 * aligned to 16 bytes; lane 4 g + t gets columns 2 t and 2 t + 1 of row g of each matrix, or, transposed, rows 2 t and 2 t + 1 of
 * column g.
 */
static __device__ __forceinline__ void
load_matrices(unsigned (&to)[4], const void *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"((unsigned)__cvta_generic_to_shared(row))
		     : "memory");
}

static __device__ __forceinline__ void
load_matrices_transposed(unsigned (&to)[4], const void *row)
{
	asm volatile(
	    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
	    : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
	    : "r"((unsigned)__cvta_generic_to_shared(row))
	    : "memory");
}

/*
 * By a whole warp: sum[16,8] += a[16,16] b[16,8], bf16 with f32 sums.  Lane 4 g + t has
 *	sum: row g, columns 2 t and 2 t + 1; then of row g + 8
 *	a: row g, columns 2 t and 2 t + 1; then of row g + 8; then both 8 columns further
 *	b: rows 2 t and 2 t + 1 of column g; then 8 rows further
 */
static __device__ __forceinline__ void
matrix_product(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	    : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
