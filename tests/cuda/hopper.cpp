/* Barriers, tile copies and warpgroup products of Hopper on the processor (nn/cuda/hardware_hopper.h). */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "nn/cuda/hardware_hopper.h"
#include "shim_half.h"

namespace
{

const unsigned DEEP = 64; /* columns of a box */

/* The eight bytes of a barrier. A phase ends when no arrivals and no bytes are missing. */
struct phase {
	uint16_t parity, count, left, started;
};
static_assert(sizeof(struct phase) == sizeof(uint64_t), "a barrier");

/* A copy in flight. */
struct copy {
	const CUtensorMap *map;
	char *to;
	int column, row;
};

/* The bytes that a barrier waits for, and the copies to be made for it. */
struct awaited {
	long bytes;
	std::vector<struct copy> copies;
};

std::map<const void *, struct awaited> all_awaited;

struct product {
	float *sum;
	int wide;
	struct shared_tile a, b;
	unsigned group;
	bool add;
	/* b has rows of 64 columns, `further` bytes apart; 0: b has columns */
	int further;
	float rows[2][16];
};

struct products {
	std::vector<struct product> queue;
	unsigned group; /* of the next */
};

std::vector<struct products> all_products; /* of each thread of the cluster */

struct products &
mine()
{
	if (all_products.size() <= shim_thread())
		all_products.resize(shim_thread() + 1);
	return all_products[shim_thread()];
}

/* The address of a byte of a tile: the number of its chunk, of eight, is exclusive-ored with the row's number. */
char *
swizzled(const char *at)
{
	uintptr_t address = (uintptr_t)at;

	return (char *)(address ^ (address >> 7 & 7) << 4);
}

void
make(const struct copy &copy)
{
	const CUtensorMap *map = copy.map;

	for (unsigned r = 0; r < map->high; r++)
		for (unsigned c = 0; c < DEEP; c++) {
			uint64_t row = (uint64_t)(copy.row + (int)r);
			uint64_t column = (uint64_t)(copy.column + (int)c);
			bool there = row < map->rows && column < map->columns;
			uint16_t x = there ? map->at[row * map->stride + column] : 0;
			memcpy(swizzled(copy.to + (r * DEEP + c) * 2), &x, sizeof x);
		}
}

struct phase *
phase_of(uint64_t *barrier)
{
	struct phase *phase = (struct phase *)(void *)barrier;

	if ((uintptr_t)barrier % 8 || phase->started != 0x5a5a)
		shim_die("a barrier that was not set up");
	return phase;
}

void
end_if_done(struct phase *phase)
{
	struct awaited &awaited = all_awaited[phase];

	if (phase->left || awaited.bytes)
		return;
	phase->parity ^= 1;
	phase->left = phase->count;
}

/* In one order of threads copies are made at once, in the others as late as possible. */
bool
at_once()
{
	const char *wanted = getenv("MOTES_FIBERS");

	return !wanted || !strcmp(wanted, "forward");
}

bool
ended(const void *barrier, unsigned parity)
{
	struct phase *phase = (struct phase *)barrier;
	struct awaited &awaited = all_awaited[barrier];

	if (!phase->left && !awaited.copies.empty()) {
		for (const struct copy &copy : awaited.copies) {
			if (!at_once())
				make(copy);
			awaited.bytes -= copy.map->high * DEEP * 2;
		}
		awaited.copies.clear();
		end_if_done(phase);
	}
	return phase->parity != parity;
}

CUresult
describe(CUtensorMap *map, CUtensorMapDataType, cuuint32_t rank, void *at,
    const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave, CUtensorMapSwizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill)
{
	if (rank != 2 || (uintptr_t)at % 16 || strides[0] % 16 || !sizes[0] ||
	    !sizes[1] || box[0] != DEEP || !box[1] || box[1] > 256 || steps[0] != 1 ||
	    steps[1] != 1)
		return CUDA_ERROR_INVALID_VALUE;
	*map = { (const uint16_t *)at, sizes[0], sizes[1], strides[0] / 2, box[1] };
	return CUDA_SUCCESS;
}

/* Reads eight adjacent values of a row of a tile. */
void
eight(float *to, const char *at)
{
	uint16_t x[8];

	if ((uintptr_t)at % sizeof x)
		shim_die("a product of a tile that is not aligned");
	memcpy(x, swizzled(at), sizeof x);
	for (int i = 0; i < 8; i++)
		to[i] = half_value(x[i]);
}

/* The terms of two columns of b, c and c + 1. */
void
two_columns(float (&to)[2][16], const struct product &p, int c)
{
	const int LINE = (int)DEEP * 2;

	for (int odd = 0; odd < 2 && !p.further; odd++)
		for (int k = 0; k < 16; k += 8)
			eight(to[odd] + k, p.b.at + (c + odd) * LINE + 2 * k);
	for (int k = 0; k < 16 && p.further; k++) {
		uint16_t x[2];
		memcpy(x, swizzled(p.b.at + c / 64 * p.further + k * LINE + c % 64 * 2),
		    sizeof x);
		to[0][k] = half_value(x[0]);
		to[1][k] = half_value(x[1]);
	}
}

/* Each thread computes its part of a product: in rows `row` and `row` + 8, columns 2 t and 2 t + 1 of every 8. */
void
multiply(const struct product &p)
{
	const int LINE = (int)DEEP * 2;
	int warp = (int)shim_thread() / warpSize % 4, t = shim_lane() % 4;
	int row = 16 * warp + shim_lane() / 4;
	float a[2][16], b[2][16];

	memcpy(a, p.rows, sizeof a);
	for (int half = 0; half < 2 && !p.further; half++)
		for (int k = 0; k < 16; k += 8)
			eight(a[half] + k, p.a.at + (row + 8 * half) * LINE + 2 * k);
	for (int i = 0; i < p.wide / 2; i++) {
		if (i % 4 == 0)
			two_columns(b, p, 2 * i + 2 * t);
		float sum = p.add ? p.sum[i] : 0;
		for (int k = 0; k < 16; k++)
			sum += a[i / 2 % 2][k] * b[i % 2][k];
		p.sum[i] = sum;
	}
}
} // namespace

cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
    unsigned long long flags, cudaDriverEntryPointQueryResult *found)
{
	(void)version;
	(void)flags;
	*found = strcmp(symbol, "cuTensorMapEncodeTiled")
		     ? cudaDriverEntryPointSymbolNotFound
		     : cudaDriverEntryPointSuccess;
	*function = (void *)describe;
	return cudaSuccess;
}

void
shim_arrival_start(uint64_t *barrier, unsigned count)
{
	struct phase *phase = (struct phase *)(void *)barrier;

	*phase = { 0, (uint16_t)count, (uint16_t)count, 0x5a5a };
	all_awaited[barrier] = {};
}

void
shim_arrive(uint64_t *barrier, unsigned bytes)
{
	struct phase *phase = phase_of(barrier);

	if (!phase->left)
		shim_die("more arrivals at a barrier than it counts");
	all_awaited[barrier].bytes += bytes;
	phase->left--;
	end_if_done(phase);
}

void
shim_arrival_wait(uint64_t *barrier, unsigned parity)
{
	phase_of(barrier);
	shim_wait(ended, barrier, parity);
}

void
shim_copy_tile(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
	struct copy copy = { map, (char *)to, column, row };

	if ((uintptr_t)to % 1024)
		shim_die("a tile that is not aligned");
	phase_of(barrier);
	all_awaited[barrier].copies.push_back(copy);
	if (at_once())
		make(copy);
}

void *
shim_there(void *shared, unsigned rank)
{
	return (char *)shim_shared_of(rank) + ((char *)shared - (char *)shim_shared());
}

void
shim_product(float *sum, int wide, struct shared_tile a, struct shared_tile b)
{
	shim_product_over(sum, wide, a, b, true);
}

void
shim_product_over(
    float *sum, int wide, struct shared_tile a, struct shared_tile b, bool add)
{
	mine().queue.push_back({ sum, wide, a, b, mine().group, add, 0, {} });
}

/* Lane 4 g + t has columns 2 t and 2 t + 1 of every 8, in rows g and g + 8. */
void
shim_product_across(
    float *sum, int wide, const unsigned (&a)[4], struct shared_tile b, int further)
{
	struct product p = { sum, wide, {}, b, mine().group, true, further, {} };
	unsigned all[warpSize][4];

	shim_gather(all, a, sizeof a);
	for (int k = 0; k < 16; k++)
		for (int half = 0; half < 2; half++) {
			unsigned pair =
			    all[shim_lane() / 4 * 4 + k % 8 / 2][half + k / 8 * 2];
			p.rows[half][k] = half_value((uint16_t)(pair >> k % 2 * 16));
		}
	mine().queue.push_back(p);
}

void
shim_products_close()
{
	mine().group++;
}

void
shim_products_wait(unsigned left)
{
	struct products &products = mine();
	size_t made = 0;

	for (; made < products.queue.size() &&
	       products.queue[made].group + left < products.group;
	     made++)
		multiply(products.queue[made]);
	products.queue.erase(
	    products.queue.begin(), products.queue.begin() + (ptrdiff_t)made);
	shim_warp_barrier(); /* an instruction of the whole warp */
}
