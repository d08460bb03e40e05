#include "guard.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

/* The size of the arena, whose addresses are never reused. */
static const size_t ROOM = (size_t)1 << 38, PAGE = 4096;

/* An allocation, to check that it is freed with the same size. */
struct allocation {
	const char *at;
	size_t bytes;
};

static struct {
	char *base;
	size_t used;
	int inside; /* calls in progress */
	const char *last;
	struct allocation *blocks;
	size_t count, room;
	pthread_mutex_t lock;
} arena = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
say(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		_exit(1);
}

static bool
holds(const void *at)
{
	const char *byte = at;

	return byte >= arena.base && byte <= arena.base + arena.used;
}

/* The host touched the arena: prints the call stack, for addr2line(1). */
static void
touched(int number, siginfo_t *info, void *context)
{
	void *calls[16];

	(void)context;
	if (holds(info->si_addr)) {
		say("the host touches memory of the kernels; the last of them was ");
		say(arena.last ? arena.last : "none");
		say("\n");
		backtrace_symbols_fd(calls, backtrace(calls, 16), 2);
	}
	signal(number, SIG_DFL);
	raise(number);
}

__attribute__((constructor)) static void
build(void)
{
	struct sigaction action = { .sa_sigaction = touched, .sa_flags = SA_SIGINFO };

	arena.base = mmap(
	    NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena.base == MAP_FAILED || sigaction(SIGSEGV, &action, NULL))
		die("the arena cannot be mapped:");
}

static void
protect(char *from, size_t bytes, int how)
{
	if (bytes && mprotect(from, bytes, how))
		die("the arena cannot be protected:");
}

void
guard_enter(const char *function)
{
	pthread_mutex_lock(&arena.lock);
	if (!arena.inside++)
		protect(arena.base, arena.used, PROT_READ | PROT_WRITE);
	arena.last = function;
	pthread_mutex_unlock(&arena.lock);
}

void
guard_leave(void)
{
	pthread_mutex_lock(&arena.lock);
	if (!--arena.inside)
		protect(arena.base, arena.used, PROT_NONE);
	pthread_mutex_unlock(&arena.lock);
}

void
guard_inside(const char *function, const char *argument, const void *at)
{
	if (at && !holds(at))
		die("%s is given host memory as '%s'", function, argument);
}

void
guard_groups(const char *function, const struct nn_gemm_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		guard_inside(function, "w", groups[i].w.at);
		guard_inside(function, "b", groups[i].b);
	}
}

void
guard_sequences(const char *function, const struct nn_sequences *sequences)
{
	size_t longest = 0, T;

	guard_inside(function, "starts", sequences->starts);
	guard_enter(function);
	for (size_t i = 0; i < sequences->N; i++) {
		const int32_t *start = sequences->starts + i;
		size_t length = (size_t)(start[1] - start[0]);
		longest = length > longest ? length : longest;
	}
	T = (size_t)sequences->starts[sequences->N];
	guard_leave();
	if (T != sequences->T || longest != sequences->longest)
		die("%s is given %zu tokens, the longest sequence of %zu; there are %zu and %zu",
		    function, sequences->T, sequences->longest, T, longest);
}

void *
nn_alloc(size_t bytes)
{
	size_t whole = (mem_add(bytes, PAGE, "memory") & ~(PAGE - 1)) + PAGE;

	pthread_mutex_lock(&arena.lock);
	char *at = arena.base + arena.used;
	if (whole > ROOM - arena.used)
		die("out of memory: %zu bytes were asked for", bytes);
	if (arena.inside)
		protect(at, whole, PROT_READ | PROT_WRITE);
	arena.used += whole;
	arena.blocks =
	    mem_grow(arena.blocks, &arena.room, arena.count + 1, sizeof *arena.blocks);
	arena.blocks[arena.count++] = (struct allocation){ at, bytes };
	pthread_mutex_unlock(&arena.lock);
	return at;
}

void
nn_free(void *memory, size_t bytes)
{
	size_t i = 0;

	if (!memory)
		return;
	pthread_mutex_lock(&arena.lock);
	while (i < arena.count && arena.blocks[i].at != memory)
		i++;
	if (i == arena.count || arena.blocks[i].bytes != bytes)
		die("nn_free is given %zu bytes that nn_alloc did not make so", bytes);
	arena.blocks[i] = arena.blocks[--arena.count];
	madvise(memory, bytes, MADV_DONTNEED);
	pthread_mutex_unlock(&arena.lock);
}

static void
must_be_host(const char *function, const void *host)
{
	if (host && holds(host))
		die("%s is given memory of the kernels as 'host'", function);
}

void
nn_upload(void *to, const void *host, size_t bytes)
{
	guard_inside("nn_upload", "to", to);
	must_be_host("nn_upload", host);
	guard_enter("nn_upload");
	if (bytes)
		memcpy(to, host, bytes);
	guard_leave();
}

void
nn_download(void *host, const void *from, size_t bytes)
{
	guard_inside("nn_download", "from", from);
	must_be_host("nn_download", host);
	guard_enter("nn_download");
	if (bytes)
		memcpy(host, from, bytes);
	guard_leave();
}

bool
nn_device(void)
{
	return true;
}

size_t
nn_activation_bytes(void)
{
	return 1 << 30;
}

/* The host gets the data at nn_download_end, not before. */
struct nn_transfer {
	void *host;
	size_t bytes;
	char held[];
};

struct nn_transfer *
nn_download_begin(void *host, const void *from, size_t bytes)
{
	struct nn_transfer *transfer =
	    mem_new(mem_add(sizeof *transfer, bytes, "a copy"), 1);

	must_be_host("nn_download_begin", host);
	transfer->host = host;
	transfer->bytes = bytes;
	nn_download(transfer->held, from, bytes);
	return transfer;
}

void
nn_download_end(struct nn_transfer *transfer)
{
	if (transfer->bytes)
		memcpy(transfer->host, transfer->held, transfer->bytes);
	free(transfer);
}

const float *
nn_weights(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	float *weights = nn_alloc(n * sizeof *weights);

	*copied = true;
	must_be_host("nn_weights", host);
	guard_enter("nn_weights");
	tensor_to_f32(weights, host, dtype, n);
	guard_leave();
	return weights;
}

struct nn_matrix
nn_matrix_of(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	void *matrix;

	if (dtype != DTYPE_F16 && dtype != DTYPE_BF16)
		return nn_f32(nn_weights(host, dtype, n, copied));
	matrix = nn_alloc(n * dtype_size(dtype));
	*copied = true;
	nn_upload(matrix, host, n * dtype_size(dtype));
	return (struct nn_matrix){ .at = matrix, .dtype = dtype };
}

const void *
nn_bytes_of(const void *host, size_t bytes, size_t alignment, bool *copied)
{
	void *to = nn_alloc(bytes);

	(void)alignment;
	*copied = true;
	nn_upload(to, host, bytes);
	return to;
}
