/* Runs the blocks of a kernel, with a fiber for each thread (cuda_runtime.h). */
#include "cuda_runtime.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#if defined __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace
{

const size_t STACK = 256 << 10;

/* A barrier; the next generation begins when all threads have arrived. */
struct barrier {
	unsigned arrived, generation;
	int counted, count; /* true predicates, in this generation and in the last */
};

/* An asynchronous copy of 16 bytes in flight. */
struct copy {
	void *to;
	const void *from; /* NULL: zeros */
	unsigned group;
};

struct fiber {
	void *at; /* its stack pointer while it does not run */
	char *stack;
	uint3 index;
	unsigned number; /* number in the cluster */
	bool done;
	bool (*ready)(const void *,
	    unsigned); /* waits until this is true of the next two fields, or NULL */
	const void *subject;
	unsigned parity;
	const struct barrier *barrier; /* the barrier where it waits, or NULL */
	unsigned generation; /* the generation of that barrier when the thread came */
	std::vector<struct copy> copies;
	unsigned group; /* the group of the next copy */
};

struct lane_values {
	/* the values of this exchange and the last, lane after lane */
	alignas(8) unsigned char of[2][warpSize * 32];
};

struct {
	void (*run)(void *);
	void *context;
	std::vector<struct fiber> fibers;
	std::vector<struct barrier> warps;
	std::vector<struct lane_values> values;
	std::vector<struct barrier> blocks; /* of the cluster */
	struct barrier cluster;
	unsigned threads, left; /* of the cluster */
	unsigned block_threads;
	uint3 first;		     /* the first block of the cluster */
	std::vector<unsigned> order; /* the order of the fibers in a round */
	unsigned turn;		     /* the place of the next in the round */
	int idle;		     /* rounds in which no fiber made progress */
	struct fiber *now;
	void *launcher; /* its stack pointer while fibers run */
	bool progress;
	unsigned char
	    *shared; /* the memory of the first block; that of the others follows */
	size_t shared_bytes; /* of all blocks */
	uint64_t random;
	int kind_of_order;
#if defined __SANITIZE_ADDRESS__
	const void *main_stack;
	size_t main_size;
	bool left_launcher; /* the last to run was the launcher */
#endif
} state;

/* Saves the registers that a call preserves and switches to the other stack. */
extern "C" void shim_switch(void **mine, void *other);
#if defined __x86_64__
asm(".text\n"
    ".globl shim_switch\n"
    ".type shim_switch,@function\n"
    "shim_switch:\n"
    "	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
    "	movq %rsp, (%rdi)\n"
    "	movq %rsi, %rsp\n"
    "	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
    "	ret\n"
    ".size shim_switch,.-shim_switch\n");
#elif defined __aarch64__
asm(".text\n"
    ".globl shim_switch\n"
    ".type shim_switch,%function\n"
    "shim_switch:\n"
    "	sub sp, sp, #160\n"
    "	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
    "	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
    "	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
    "	mov x9, sp\n	str x9, [x0]\n	mov sp, x1\n"
    "	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
    "	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
    "	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
    "	add sp, sp, #160\n	ret\n"
    ".size shim_switch,.-shim_switch\n");
#else
#error "fibers.cpp knows how to switch stacks on x86-64 and aarch64"
#endif

unsigned
below(unsigned n)
{
	state.random = state.random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state.random >> 33) % n;
}

bool
waits(const struct fiber *fiber)
{
	if (fiber->ready)
		return !fiber->ready(fiber->subject, fiber->parity);
	return fiber->barrier && fiber->barrier->generation == fiber->generation;
}

/* In a round every fiber is asked.  A fiber may become ready after it was asked: only a second round without progress is
 * an error. */
void
start_round()
{
	state.idle = state.progress ? 0 : state.idle + 1;
	if (state.idle > 1)
		shim_die("threads wait for others that never come to the barrier");
	state.progress = false;
	state.turn = 0;
	if (state.kind_of_order == 2)
		for (unsigned i = state.threads; i > 1; i--)
			std::swap(state.order[i - 1], state.order[below(i)]);
}

/* The next fiber that can continue; NULL: all are done, which only the launcher sees. */
struct fiber *
choose()
{
	while (state.left) {
		if (state.turn == state.threads)
			start_round();
		struct fiber *fiber = &state.fibers[state.order[state.turn++]];
		if (!fiber->done && !waits(fiber))
			return fiber;
	}
	return nullptr;
}

/* Switches from the running fiber, or the launcher if that is NULL, to another; does not return to a fiber that is done.
 * It must leave no poisoned memory on the stack. */
__attribute__((no_sanitize_address)) void
go(struct fiber *mine, struct fiber *next)
{
	state.now = next;
	if (next) {
		threadIdx = next->index;
		blockIdx = state.first;
		blockIdx.x += next->number / state.block_threads;
	}
#if defined __SANITIZE_ADDRESS__
	void *fake = nullptr;
	state.left_launcher = !mine;
	__sanitizer_start_switch_fiber(mine && mine->done ? nullptr : &fake,
	    next ? next->stack : state.main_stack, next ? STACK : state.main_size);
#endif
	shim_switch(mine ? &mine->at : &state.launcher, next ? next->at : state.launcher);
#if defined __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void
wait_turn()
{
	struct fiber *mine = state.now, *next = choose();

	if (next != mine)
		go(mine, next);
}

void
enter()
{
#if defined __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(nullptr,
	    state.left_launcher ? &state.main_stack : nullptr,
	    state.left_launcher ? &state.main_size : nullptr);
#endif
	state.run(state.context);
	state.now->done = true;
	state.left--;
	state.progress = true;
	/* the stack must not change: copies in flight read the kernel's arguments */
	go(state.now, nullptr);
	abort();
}

/* A stack on which enter() begins. */
void
prepare(struct fiber *fiber)
{
	if (!fiber->stack) {
		fiber->stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (fiber->stack == MAP_FAILED)
			shim_die("no memory for a fiber's stack");
	}
	void **top = (void **)(void *)(fiber->stack + STACK - 64);
#if defined __x86_64__
	top[0] = (void *)enter;
	top[1] = nullptr; /* the return address */
	fiber->at = top - 6;
#else
	memset((char *)top - 160, 0, 160);
	fiber->at = (char *)top - 160;
	((void **)fiber->at)[11] = (void *)enter;
#endif
	fiber->done = false;
	fiber->barrier = nullptr;
	fiber->ready = nullptr;
	fiber->copies.clear();
	fiber->group = 0;
}

void
run_cluster()
{
	for (unsigned i = 0; i < state.threads; i++)
		prepare(&state.fibers[i]);
	state.left = state.threads;
	state.cluster = {};
	for (size_t b = 0; b < state.blocks.size(); b++)
		state.blocks[b] = {};
	for (size_t w = 0; w < state.warps.size(); w++)
		state.warps[w] = {};
	/* NaN, and a negative integer */
	memset(state.shared, 0xff, state.shared_bytes);
	state.progress = true;
	state.turn = state.threads;
	while (struct fiber *next = choose())
		go(nullptr, next);
}

void
choose_order()
{
	const char *wanted = getenv("MOTES_FIBERS");

	state.kind_of_order = !wanted || !strcmp(wanted, "forward") ? 0
			      : !strcmp(wanted, "backward")	    ? 1
								    : 2;
	state.random = 1;
	state.order.resize(state.threads);
	for (unsigned i = 0; i < state.threads; i++)
		state.order[i] = state.kind_of_order == 1 ? state.threads - 1 - i : i;
}

/* Waits for `all` threads; returns the number whose predicate is true. */
int
pass(struct barrier *barrier, unsigned all, int predicate)
{
	struct fiber *mine = state.now;

	mine->barrier = barrier;
	mine->generation = barrier->generation;
	state.progress = true;
	barrier->counted += predicate != 0;
	if (++barrier->arrived == all) {
		barrier->count = barrier->counted;
		barrier->counted = 0;
		barrier->arrived = 0;
		barrier->generation++;
		return barrier->count;
	}
	wait_turn();
	return barrier->count;
}

/* The number of lanes of the running thread's warp. */
unsigned
lanes()
{
	unsigned first = state.now->number / warpSize * warpSize;

	return state.threads - first < warpSize ? state.threads - first : warpSize;
}
} // namespace

void
shim_die(const char *why)
{
	fprintf(stderr, "cuda shim: %s (block %u, thread %u)\n", why, blockIdx.x,
	    threadIdx.x);
	abort();
}

void
shim_launch(dim3 grid, dim3 block, size_t shared, unsigned cluster, void (*run)(void *),
    void *context)
{
	static std::mutex one;
	std::lock_guard<std::mutex> alone(one);

	state.block_threads = block.x * block.y * block.z;
	state.threads = state.block_threads * cluster;
	if (!state.threads || state.block_threads > 1024 || !grid.x || !grid.y ||
	    !grid.z || grid.y > 65535 || grid.z > 65535 || cluster > 8 ||
	    grid.x % cluster || (cluster > 1 && state.block_threads % warpSize))
		shim_die("a launch that no device takes");
	if (state.fibers.size() < state.threads)
		state.fibers.resize(state.threads);
	for (unsigned i = 0; i < state.threads; i++) {
		state.fibers[i].number = i;
		state.fibers[i].index = { i % block.x, i / block.x % block.y,
			i / block.x / block.y % block.z };
	}
	state.warps.resize((state.threads + warpSize - 1) / warpSize);
	state.values.resize(state.warps.size());
	state.blocks.resize(cluster);
	choose_order();
	shared = (shared + 1023) / 1024 * 1024;
	state.shared_bytes = shared * cluster;
	state.shared = (unsigned char *)aligned_alloc(1024, state.shared_bytes + 1024);
	state.run = run;
	state.context = context;
	gridDim = grid;
	blockDim = block;
	for (unsigned z = 0; z < grid.z; z++)
		for (unsigned y = 0; y < grid.y; y++)
			for (unsigned x = 0; x < grid.x; x += cluster) {
				state.first = { x, y, z };
				run_cluster();
			}
	free(state.shared);
}

void *
shim_shared()
{
	return shim_shared_of(shim_rank());
}

void *
shim_shared_of(unsigned rank)
{
	return state.shared + state.shared_bytes / state.blocks.size() * rank;
}

unsigned
shim_rank()
{
	return state.now->number / state.block_threads;
}

unsigned
shim_thread()
{
	return state.now->number;
}

void
shim_cluster_barrier()
{
	pass(&state.cluster, state.threads, 0);
}

void
shim_wait(bool (*ready)(const void *, unsigned), const void *subject, unsigned parity)
{
	state.now->ready = ready;
	state.now->subject = subject;
	state.now->parity = parity;
	state.progress = true;
	if (!ready(subject, parity))
		wait_turn();
	state.now->ready = nullptr;
}

void
shim_copy_ahead(void *to, const void *from, bool there)
{
	state.now->copies.push_back({ to, there ? from : nullptr, state.now->group });
}

void
shim_copies_close()
{
	state.now->group++;
}

void
shim_copies_wait(unsigned left)
{
	std::vector<struct copy> &copies = state.now->copies;
	size_t made = 0;

	for (; made < copies.size() && copies[made].group + left < state.now->group;
	     made++) {
		static const unsigned char zeros[16] = {};
		memcpy(
		    copies[made].to, copies[made].from ? copies[made].from : zeros, 16);
	}
	copies.erase(copies.begin(), copies.begin() + (ptrdiff_t)made);
}

void
shim_barrier()
{
	pass(&state.blocks[shim_rank()], state.block_threads, 0);
}

int
shim_barrier_count(int predicate)
{
	return pass(&state.blocks[shim_rank()], state.block_threads, predicate);
}

void
shim_warp_barrier()
{
	pass(&state.warps[state.now->number / warpSize], lanes(), 0);
}

/* memcpy of the usual sizes without a call, which ASan would catch */
static inline void
copy_value(void *to, const void *from, size_t size)
{
	switch (size) {
	case 4: memcpy(to, from, 4); break;
	case 8: memcpy(to, from, 8); break;
	case 24: memcpy(to, from, 24); break;
	default: memcpy(to, from, size); break;
	}
}

/* The values of all lanes of the warp, once all have arrived. */
static const unsigned char *
hand_over(const void *mine, size_t size)
{
	unsigned warp = state.now->number / warpSize, lane = state.now->number % warpSize;
	unsigned turn = state.warps[warp].generation & 1;

	if (lanes() != warpSize)
		shim_die("a shuffle in a warp that is not whole");
	copy_value(state.values[warp].of[turn] + lane * size, mine, size);
	shim_warp_barrier();
	return state.values[warp].of[turn];
}

void
shim_exchange(void *got, const void *mine, size_t size, int from)
{
	copy_value(got, hand_over(mine, size) + (size_t)from * size, size);
}

void
shim_gather(void *all, const void *mine, size_t size)
{
	memcpy(all, hand_over(mine, size), warpSize * size);
}

/* without sanitizers: the function reads only the values of all lanes */
__attribute__((no_sanitize("address", "undefined"))) void
shim_multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
	struct operands {
		unsigned a[4], b[2];
	} mine = { { a[0], a[1], a[2], a[3] }, { b0, b1 } };
	const struct operands *all =
	    (const struct operands *)(const void *)hand_over(&mine, sizeof mine);
	const struct operands *left = all + shim_lane() / 4 * 4,
			      *right = all + shim_lane() % 4 * 8;
	float rows[2][16], columns[2][16];

	for (int k = 0; k < 16; k++)
		for (int i = 0; i < 2; i++) {
			unsigned row = left[k % 8 / 2].a[i + k / 8 * 2];
			unsigned column = right[i * 4 + k % 8 / 2].b[k / 8];
			row = k % 2 ? row & 0xffff0000 : row << 16;
			column = k % 2 ? column & 0xffff0000 : column << 16;
			memcpy(&rows[i][k], &row, sizeof row);
			memcpy(&columns[i][k], &column, sizeof column);
		}
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 16; k++)
			sum[i] += rows[i / 2][k] * columns[i % 2][k];
}

unsigned
shim_ballot(int predicate)
{
	return shim_match(predicate != 0, 1);
}

unsigned
shim_match(unsigned mine, unsigned wanted)
{
	unsigned lanes_of_it = 0;
	const uint32_t *all =
	    (const uint32_t *)(const void *)hand_over(&mine, sizeof mine);

	for (int lane = 0; lane < warpSize; lane++)
		lanes_of_it |= (unsigned)(all[lane] == wanted) << lane;
	return lanes_of_it;
}
