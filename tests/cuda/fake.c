/*
 * A libcuda.so.1, a libcublas and a libnccl.so.2 without a GPU: device memory is memory of this
 * process that only kernels and copies may touch (whoever else does dies), kernels
 * run in the emulator, and a stream is a queue of which nothing runs before
 * somebody waits for it, so that what is read too early, or changed too early, shows.
 *
 * What GV_FAKE_CUDA says, words separated by commas:
 *	fail=NAME:N:R   the Nth call of NAME returns R; from 700 on so do all that follow
 *	memory=BYTES    of the device
 *	devices=N       how many there are
 *	processors=N    multiprocessors of each; else it does not say
 *	nccl=N          NCCL's version, as 22809
 *	driver=N        the driver's version, as 12040
 *	capability=N    as 90; below 80 the kernels are not for it
 *	log=FILE        the calls are counted there when the process ends: NAME N
 */

#include <sys/mman.h>

#include "parts.h"

enum { GAP = 256, POISON = 0xff, MOST = 4096, MUCH = 16 << 20 };
static const size_t ARENA = (size_t)1 << 32;

/* ---- what was asked for, what is broken ---- */

static const char *const name_of[] = {
#define X(field, symbol, args) #symbol,
    GV_CUDA_DRIVER(X) GV_CUDA_BLAS(X) GV_CUDA_NCCL(X)
#undef X
};

struct gv_fake_cuda gv_fake_cuda = {
    .memory = 1 << 30, .devices = 1, .driver = 13000, .capability = 90, .nccl = 22809};
static size_t called[NAMES];
int gv_fake_broken;
static char log_path[256];

static void
write_log(void)
{
	FILE *f = fopen(log_path, "w");
	size_t i;

	for (i = 0; f != NULL && i < NAMES; i++)
		if (called[i] > 0)
			fprintf(f, "%s %zu\n", name_of[i], called[i]);
	if (f != NULL)
		fclose(f);
}

static void
read_environment(void)
{
	static int done;
	const char *s = getenv("GV_FAKE_CUDA");
	char text[512], *word, *rest = NULL;

	if (done++ || s == NULL)
		return;
	snprintf(text, sizeof(text), "%s", s);
	for (word = strtok_r(text, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		sscanf(word, "fail=%47[^:]:%zu:%d", gv_fake_cuda.fail, &gv_fake_cuda.at,
		    &gv_fake_cuda.result);
		sscanf(word, "memory=%zu", &gv_fake_cuda.memory);
		sscanf(word, "devices=%d", &gv_fake_cuda.devices);
		sscanf(word, "driver=%d", &gv_fake_cuda.driver);
		sscanf(word, "processors=%d", &gv_fake_cuda.processors);
		sscanf(word, "nccl=%d", &gv_fake_cuda.nccl);
		sscanf(word, "capability=%d", &gv_fake_cuda.capability);
		if (sscanf(word, "log=%255s", log_path) == 1)
			atexit(write_log);
	}
}

void
gv_fake_cuda_reset(void)
{
	memset(called, 0, sizeof(called));
	gv_fake_broken = 0;
	gv_fake_cuda = (struct gv_fake_cuda){.memory = 1 << 30,
	    .devices = 1,
	    .driver = 13000,
	    .capability = 90,
	    .nccl = 22809};
}

size_t
gv_fake_cuda_called(const char *name)
{
	size_t i;

	for (i = 0; i < NAMES; i++)
		if (strcmp(name_of[i], name) == 0)
			return called[i];
	return SIZE_MAX;
}

const char *
gv_fake_cuda_name(size_t i)
{
	return i < NAMES ? name_of[i] : NULL;
}

int
gv_fake_enter(enum name n)
{
	read_environment();
	called[n]++;
	if (gv_fake_broken != 0)
		return gv_fake_broken;
	if (strcmp(gv_fake_cuda.fail, name_of[n]) != 0 || called[n] != gv_fake_cuda.at)
		return 0;
	if (gv_fake_cuda.result >= 700)
		gv_fake_broken = gv_fake_cuda.result;
	return gv_fake_cuda.result;
}

/* ---- memory: one arena, shut but while something of the device runs ---- */

struct block {
	char *at;
	size_t bytes;
	int host;
};
static struct block block[MOST];
static size_t blocks, used;
static char *arena;

/* What blocks take of the arena, in whole pages: what lies behind stays shut. */
static size_t
taken(void)
{
	const size_t page = 65536;
	size_t most = 0, i;

	for (i = 0; i < blocks; i++)
		if (!block[i].host &&
		    (size_t)(block[i].at - arena) + block[i].bytes + GAP > most)
			most = (size_t)(block[i].at - arena) + block[i].bytes + GAP;
	return (most + page - 1) / page * page;
}

void
gv_fake_open_memory(int on)
{
	static size_t opened;
	size_t now = taken();

	if (arena == NULL)
		return;
	if (on && now > opened)
		opened = now;
	mprotect(arena, opened, on ? PROT_READ | PROT_WRITE : PROT_NONE);
	if (!on)
		opened = 0;
}

static struct block *
find(const void *p)
{
	size_t i;

	for (i = 0; i < blocks; i++)
		if (block[i].at == p)
			return &block[i];
	return NULL;
}

/* A place between two blocks, or behind the last; gaps of GAP bytes stay free. */
static char *
place(size_t bytes)
{
	char *at = arena + GAP;
	size_t i, moved = 1;

	while (moved) {
		moved = 0;
		for (i = 0; i < blocks; i++) {
			struct block *b = &block[i];

			if (!b->host && at < b->at + b->bytes + GAP &&
			    b->at < at + bytes + GAP) {
				at = b->at + (b->bytes + 2 * GAP - 1) / GAP * GAP;
				moved = 1;
			}
		}
	}
	return at;
}

int
cuMemAlloc_v2(gv_cu_ptr *p, size_t bytes)
{
	char *at;

	ENTER(cuMemAlloc_v2);
	if (bytes == 0)
		return 1;
	if (used + bytes > gv_fake_cuda.memory || blocks == MOST)
		return GV_CU_OUT_OF_MEMORY;
	if (arena == NULL)
		arena = mmap(NULL, ARENA, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	at = place(bytes);
	block[blocks++] = (struct block){at, bytes, 0};
	used += bytes;
	gv_fake_open_memory(1);
	memset(at - GAP, POISON, (bytes < MUCH ? bytes : 0) + GAP);
	memset(at + bytes, POISON, GAP);
	gv_fake_open_memory(0);
	*p = (gv_cu_ptr)(uintptr_t)at;
	return 0;
}

/* Whoever wrote beside a block. */
static void
check_gaps(const struct block *b)
{
	size_t i;

	gv_fake_open_memory(1);
	for (i = 0; i < GAP; i++)
		if ((unsigned char)b->at[-1 - (ptrdiff_t)i] != POISON ||
		    (unsigned char)b->at[b->bytes + i] != POISON) {
			fprintf(stderr,
			    "fake CUDA: written beside a block of %zu bytes\n", b->bytes);
			abort();
		}
	gv_fake_open_memory(0);
}

int
cuMemFree_v2(gv_cu_ptr p)
{
	struct block *b = find((void *)(uintptr_t)p);

	ENTER(cuMemFree_v2);
	if (b == NULL || b->host)
		return 1;
	gv_fake_run_streams();
	check_gaps(b);
	gv_fake_open_memory(1);
	memset(b->at, POISON, b->bytes < MUCH ? b->bytes : 0);
	gv_fake_open_memory(0);
	used -= b->bytes;
	*b = block[--blocks];
	return 0;
}

int
cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	ENTER(cuMemHostAlloc);
	if (blocks == MOST || (*p = malloc(bytes)) == NULL)
		return GV_CU_OUT_OF_MEMORY;
	memset(*p, POISON, bytes);
	block[blocks++] = (struct block){*p, bytes, 1};
	return 0;
}

int
cuMemFreeHost(void *p)
{
	struct block *b = find(p);

	ENTER(cuMemFreeHost);
	if (b == NULL || !b->host)
		return 1;
	gv_fake_run_streams();
	*b = block[--blocks];
	free(p);
	return 0;
}

size_t
gv_fake_cuda_blocks(void)
{
	return blocks;
}

int
gv_fake_is_pinned(const void *p)
{
	size_t i;

	for (i = 0; i < blocks; i++)
		if (block[i].host && (const char *)p >= block[i].at &&
		    (const char *)p < block[i].at + block[i].bytes)
			return 1;
	return 0;
}

int
cuMemGetInfo_v2(size_t *left, size_t *total)
{
	ENTER(cuMemGetInfo_v2);
	*left = gv_fake_cuda.memory - used;
	*total = gv_fake_cuda.memory;
	return 0;
}

void
gv_fake_forget_memory(void)
{
	while (blocks > 0)
		if (block[--blocks].host)
			free(block[blocks].at);
	used = 0;
}

void
gv_fake_cuda_forget(void)
{
	gv_fake_forget_streams();
	gv_fake_forget_memory();
	gv_fake_broken = 0;
}
