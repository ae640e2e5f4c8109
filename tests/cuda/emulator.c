#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifndef __x86_64__
#include <ucontext.h>
#endif

enum { MOST = 1024, STACK = 128 * 1024, WARP = 32 };
enum state { NEW, READY, AT_BARRIER, AT_WARP, AT_SHUFFLE, DONE };

unsigned emulator_order;
char emulator_error[256];
unsigned emulator_ran[GV_CUDA_KERNELS];

/* What kernels see of it: emulate.h. */
struct emulated {
	unsigned thread, block_x, block_y, grid_y;
} emulated;
void emulate_sync(const char *file, int line);
void emulate_sync_warp(const char *file, int line);
float emulate_xor(float v, unsigned lanes, const char *file, int line);
void *emulate_shared(size_t bytes);

struct fiber {
#ifdef __x86_64__
	void *sp;
#else
	ucontext_t context;
#endif
	char *stack;
	enum state state;
	const char *file;
	int line;
	float value, seen; /* of a shuffle */
	unsigned lane;     /* whose value is wanted */
};

static struct {
	struct fiber fiber[MOST], home;
	char *stack[MOST];
	unsigned stacks, n, now;
	unsigned order[MOST], next; /* order[next..) have not begun */
	void (*kernel)(const void *);
	const void *args;
	char *shared;
	size_t shared_bytes;
} block;

/* ---- from one fiber to another ---- */

#ifdef __x86_64__
/* Saves what a call must keep, changes stacks, restores. */
void emulator_switch(void **from, void *to);
__asm__(".text\n.globl emulator_switch\n.type emulator_switch,@function\n"
	"emulator_switch:\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
	".size emulator_switch,.-emulator_switch\n");
#define GO(from, to) emulator_switch(&(from)->sp, (to)->sp)
#else
#define GO(from, to) swapcontext(&(from)->context, &(to)->context)
#endif

#ifdef __SANITIZE_ADDRESS__
static const void *home_stack;
static size_t home_size;
#endif

static void
change(struct fiber *from, struct fiber *to)
{
#ifdef __SANITIZE_ADDRESS__
	void *fake;
	bool home = to == &block.home;

	__sanitizer_start_switch_fiber(
	    &fake, home ? home_stack : to->stack, home ? home_size : STACK);
	GO(from, to);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
	GO(from, to);
#endif
}

static void
be_thread(unsigned i)
{
	block.now = i;
	emulated.thread = i;
}

/* Runs threads from the first that has not begun on, as long as none waits. */
static void
body(void)
{
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(NULL, &home_stack, &home_size);
#endif
	for (;;) {
		struct fiber *f = &block.fiber[block.now];
		unsigned next;

		block.kernel(block.args);
		f = &block.fiber[block.now];
		f->state = DONE;
		if (block.next == block.n)
			break;
		next = block.order[block.next++];
		block.fiber[next].stack = f->stack;
		be_thread(next);
	}
	change(&block.fiber[block.now], &block.home);
	abort();
}

/* A stack for thread i, which begins at once. */
static void
begin(unsigned i)
{
	struct fiber *f = &block.fiber[i];
	unsigned s = block.stacks++;
#ifdef __x86_64__
	void **sp;
#endif

	if (block.stack[s] == NULL) {
		block.stack[s] = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block.stack[s] == MAP_FAILED)
			abort();
	}
	f->stack = block.stack[s];
#ifdef __SANITIZE_ADDRESS__
	__asan_unpoison_memory_region(f->stack, STACK);
#endif
#ifdef __x86_64__
	sp = (void **)(void *)(f->stack + STACK - 64);
	*--sp = NULL; /* keeps the stack on 16 bytes where body begins */
	*--sp = (void *)(uintptr_t)body;
	sp -= 6;
	memset(sp, 0, 6 * sizeof(*sp));
	f->sp = sp;
#else
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK;
	makecontext(&f->context, body, 0);
#endif
	be_thread(i);
	change(&block.home, f);
}

/* ---- what threads wait for ---- */

static struct fiber *
wait_here(enum state state, const char *file, int line)
{
	struct fiber *f = &block.fiber[block.now];

	f->state = state;
	f->file = file;
	f->line = line;
	change(f, &block.home);
	return f;
}

void
emulate_sync(const char *file, int line)
{
	wait_here(AT_BARRIER, file, line);
}

void
emulate_sync_warp(const char *file, int line)
{
	wait_here(AT_WARP, file, line);
}

float
emulate_xor(float v, unsigned lanes, const char *file, int line)
{
	struct fiber *f = &block.fiber[block.now];

	f->value = v;
	f->lane = block.now % WARP ^ lanes;
	return wait_here(AT_SHUFFLE, file, line)->seen;
}

void *
emulate_shared(size_t bytes)
{
	if (block.shared == NULL) {
		block.shared = malloc(bytes);
		block.shared_bytes = bytes;
		memset(block.shared, 0xff, bytes);
	}
	if (bytes != block.shared_bytes)
		abort(); /* a kernel has one shared struct */
	return block.shared;
}

static int
wrong(const char *what, const struct fiber *f, const struct fiber *g)
{
	const struct fiber *both[] = {f, g};
	char at[2][80];
	int i;

	for (i = 0; i < 2; i++) {
		const char *name =
		    both[i]->state == DONE ? NULL : strrchr(both[i]->file, '/');

		if (both[i]->state == DONE)
			snprintf(at[i], sizeof(at[i]), "at its end");
		else
			snprintf(at[i], sizeof(at[i]), "at %s:%d",
			    name == NULL ? both[i]->file : name + 1, both[i]->line);
	}
	snprintf(emulator_error, sizeof(emulator_error), "%s: thread %d %s, thread %d %s",
	    what, (int)(f - block.fiber), at[0], (int)(g - block.fiber), at[1]);
	return -1;
}

/* Whether the threads [first, last) all wait for the same; else which does not. */
static const struct fiber *
parted(unsigned first, unsigned last)
{
	const struct fiber *f = &block.fiber[first], *g;

	for (g = f + 1; g < &block.fiber[last]; g++)
		if (g->state != f->state ||
		    (g->state != DONE && (g->line != f->line || g->file != f->file)))
			return g;
	return NULL;
}

/* Lets a warp go on whose lanes wait for each other: 1; 0: they do not; -1: they part. */
static int
release_warp(unsigned first, unsigned last)
{
	const struct fiber *apart = parted(first, last);
	unsigned i, waits = last;

	for (i = first; i < last; i++)
		if (block.fiber[i].state == AT_SHUFFLE || block.fiber[i].state == AT_WARP)
			waits = i;
	if (waits == last)
		return 0;
	if (apart != NULL)
		return wrong("lanes of a warp part", &block.fiber[first], apart);
	for (i = first; i < last; i++) {
		struct fiber *f = &block.fiber[i];

		if (f->state == AT_SHUFFLE && first + f->lane < last)
			f->seen = block.fiber[first + f->lane].value;
	}
	for (i = first; i < last; i++)
		block.fiber[i].state = READY;
	return 1;
}

/* Lets all go on that may: first warps, then the block. */
static int
release(void)
{
	unsigned w, i, some = 0;
	const struct fiber *apart;

	for (w = 0; w < block.n; w += WARP) {
		int r = release_warp(w, w + WARP < block.n ? w + WARP : block.n);

		if (r < 0)
			return -1;
		some |= (unsigned)r;
	}
	if (some)
		return 0;
	apart = parted(0, block.n);
	if (apart != NULL)
		return wrong("threads of a block part", &block.fiber[0], apart);
	for (i = 0; i < block.n; i++)
		block.fiber[i].state = READY;
	return 0;
}

/* ---- blocks ---- */

static uint64_t
mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void
make_order(unsigned *order, unsigned n, uint64_t salt)
{
	unsigned i;

	for (i = 0; i < n; i++)
		order[i] = emulator_order == 1 ? n - 1 - i : i;
	for (i = n; emulator_order > 1 && i > 1; i--) {
		unsigned j =
		    (unsigned)(mix(salt * 1000003 + emulator_order * 7919 + i) % i);
		unsigned t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

static bool
all_done(void)
{
	unsigned i;

	for (i = 0; i < block.n && block.fiber[i].state == DONE; i++)
		;
	return i == block.n;
}

static int
run_block(uint64_t salt)
{
	unsigned i, order[MOST];

	block.stacks = block.next = 0;
	for (i = 0; i < block.n; i++)
		block.fiber[i].state = NEW;
	make_order(block.order, block.n, salt);
	while (block.next < block.n)
		begin(block.order[block.next++]);
	while (!all_done()) {
		if (release() != 0)
			return -1;
		make_order(order, block.n, ++salt);
		for (i = 0; i < block.n; i++) {
			struct fiber *f = &block.fiber[order[i]];

			if (f->state != READY)
				continue;
			be_thread(order[i]);
			change(&block.home, f);
		}
	}
	return 0;
}

int
emulator_run(void (*kernel)(const void *), struct gv_cuda_grid grid, unsigned threads,
    const void *args)
{
	unsigned blocks = grid.x * grid.y, i, *order = malloc(blocks * sizeof(*order));
	int status = 0;

	block.kernel = kernel;
	block.args = args;
	block.n = threads;
	emulated.grid_y = grid.y;
	make_order(order, blocks, blocks);
	for (i = 0; i < blocks && status == 0; i++) {
		emulated.block_x = order[i] % grid.x;
		emulated.block_y = order[i] / grid.x;
		status = run_block((uint64_t)order[i] << 32);
		free(block.shared);
		block.shared = NULL;
	}
	free(order);
	return status;
}

/* ---- kernels by number ---- */

#define GV_CUDA_KERNEL(name, args, threads) void gv_kernel_##name(const void *);
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL

static const struct {
	void (*run)(const void *);
	size_t bytes;
	unsigned threads;
} kernels[] = {
#define GV_CUDA_KERNEL(name, args, threads) \
	{gv_kernel_##name, sizeof(struct args), threads},
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
};

static int
run(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, struct gv_cuda_grid grid,
    unsigned threads, const void *args, size_t bytes)
{
	(void)q;
	emulator_ran[kernel]++;
	if (threads != kernels[kernel].threads || bytes != kernels[kernel].bytes ||
	    grid.x == 0 || grid.y == 0 || grid.y > 65535 || grid.z != 1) {
		snprintf(emulator_error, sizeof(emulator_error), "%s: a wrong launch",
		    gv_cuda_kernel_name[kernel]);
		return -1;
	}
	return emulator_run(kernels[kernel].run, grid, threads, args);
}

const struct gv_cuda_queue emulator = {run, NULL, 0};
