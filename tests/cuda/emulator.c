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

enum { MOST = 1024, STACK = 128 * 1024, WARP = 32, COPIES = 256 };
enum state { NEW, READY, AT_BARRIER, AT_WARP, AT_SHUFFLE, AT_MMA, AT_LOAD, DONE };

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
void emulate_mma(float *c, const unsigned *a, unsigned b0, unsigned b1, int tf32,
    const char *file, int line);
void emulate_load(
    unsigned *v, const void *row, int transposed, const char *file, int line);
void emulate_copy(void *to, const void *from, bool there);
void emulate_copies_end(void);
void emulate_copies_wait(unsigned left);

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
	/* a lane's part of a product of matrices, or of four that it loads */
	float *c;
	unsigned a[4], b[2], *loaded;
	const void *row;
	int kind; /* tf32; transposed */
	struct copy {
		void *to;
		const void *from;
		unsigned group;
	} copy[COPIES]; /* from NULL: zeros */
	unsigned copies, group;
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

/* ---- matrices of a warp ---- */

void
emulate_mma(float *c, const unsigned *a, unsigned b0, unsigned b1, int tf32,
    const char *file, int line)
{
	struct fiber *f = &block.fiber[block.now];

	f->c = c;
	memcpy(f->a, a, sizeof(f->a));
	f->b[0] = b0;
	f->b[1] = b1;
	f->kind = tf32;
	wait_here(AT_MMA, file, line);
}

void
emulate_load(unsigned *v, const void *row, int transposed, const char *file, int line)
{
	struct fiber *f = &block.fiber[block.now];

	if ((uintptr_t)row % 16 != 0)
		abort();
	f->loaded = v;
	f->row = row;
	f->kind = transposed;
	wait_here(AT_LOAD, file, line);
}

static float
float_of(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* The number of a word of two bfloat16, or of one tf32, of which the last bits do not count. */
static float
part(unsigned word, unsigned which, int tf32)
{
	if (tf32)
		return float_of(word & 0xffffe000);
	return float_of(which == 0 ? word << 16 : word & 0xffff0000);
}

/* c += a b of a warp's lanes: matrix.h says who has what. */
static void
multiply(struct fiber *lanes)
{
	unsigned each = lanes->kind ? 1 : 2, depth = 8 * each, lane, i, k;
	float a[16][16], b[16][8];

	for (lane = 0; lane < WARP; lane++) {
		unsigned g = lane / 4, t = lane % 4;

		for (i = 0; i < 4; i++)
			for (k = 0; k < each; k++)
				a[g + i % 2 * 8][t * each + i / 2 * 4 * each + k] =
				    part(lanes[lane].a[i], k, lanes->kind);
		for (i = 0; i < 2; i++)
			for (k = 0; k < each; k++)
				b[t * each + i * 4 * each + k][g] =
				    part(lanes[lane].b[i], k, lanes->kind);
	}
	for (lane = 0; lane < WARP; lane++)
		for (i = 0; i < 4; i++) {
			unsigned row = lane / 4 + i / 2 * 8,
				 column = lane % 4 * 2 + i % 2;
			float sum = 0;

			for (k = 0; k < depth; k++)
				sum += a[row][k] * b[k][column];
			lanes[lane].c[i] += sum;
		}
}

static void
load(struct fiber *lanes)
{
	unsigned lane, i;

	for (lane = 0; lane < WARP; lane++)
		for (i = 0; i < 4; i++) {
			unsigned g = lane / 4, t = lane % 4, row = 8 * i;
			const struct fiber *m = &lanes[row];
			const uint16_t *low, *high;

			if (m->kind) {
				low = (const uint16_t *)m[2 * t].row + g;
				high = (const uint16_t *)m[2 * t + 1].row + g;
			} else {
				low = (const uint16_t *)m[g].row + 2 * t;
				high = low + 1;
			}
			lanes[lane].loaded[i] = *low | (unsigned)*high << 16;
		}
}

/* ---- copies: made at once, or when somebody waits for them ---- */

static uint64_t
mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void
make_copy(struct copy c)
{
	if (c.from == NULL)
		memset(c.to, 0, 16);
	else
		memcpy(c.to, c.from, 16);
}

void
emulate_copy(void *to, const void *from, bool there)
{
	struct fiber *f = &block.fiber[block.now];
	struct copy c = {to, there ? from : NULL, f->group};

	if (f->copies == COPIES || (uintptr_t)to % 16 != 0 || (uintptr_t)from % 16 != 0)
		abort();
	f->copy[f->copies++] = c;
	/* which may come early, too */
	if (emulator_order == 1 ||
	    (emulator_order > 1 && mix((uint64_t)emulator_order << 32 | block.now << 16 |
				       f->group << 8 | f->copies) &
				       1))
		make_copy(c);
}

void
emulate_copies_end(void)
{
	block.fiber[block.now].group++;
}

void
emulate_copies_wait(unsigned left)
{
	struct fiber *f = &block.fiber[block.now];
	unsigned i, n = 0;

	for (i = 0; i < f->copies; i++) {
		struct copy c = f->copy[i];

		if (c.group + left >= f->group)
			f->copy[n++] = c;
		else
			make_copy(c);
	}
	f->copies = n;
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
		if (block.fiber[i].state > AT_BARRIER && block.fiber[i].state < DONE)
			waits = i;
	if (waits == last)
		return 0;
	if (apart != NULL)
		return wrong("lanes of a warp part", &block.fiber[first], apart);
	if (block.fiber[first].state == AT_MMA)
		multiply(&block.fiber[first]);
	if (block.fiber[first].state == AT_LOAD)
		load(&block.fiber[first]);
	for (i = first; i < last; i++) {
		struct fiber *f = &block.fiber[i];

		if (f->state == AT_SHUFFLE && first + f->lane < last)
			f->seen = block.fiber[first + f->lane].value;
	}
	for (i = first; i < last; i++)
		block.fiber[i].state = READY;
	return 1;
}

/* ---- blocks ---- */

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

/* Threads [first, last) that may, in an order of their own, until they wait; whether any. */
static bool
run_threads(unsigned first, unsigned last, uint64_t salt)
{
	unsigned order[WARP], i;
	bool some = false;

	make_order(order, last - first, salt);
	for (i = 0; i < last - first; i++) {
		struct fiber *f = &block.fiber[first + order[i]];

		if (f->state != READY)
			continue;
		some = true;
		be_thread(first + order[i]);
		change(&block.home, f);
	}
	return some;
}

/*
 * Lets one warp go on that can: in order 0 each in turn, otherwise the same as long as it
 * does not wait for others, so that it is far ahead of them: 1; 0: there is none.
 */
static int
go_on_warp(unsigned *w, uint64_t salt)
{
	unsigned warps = (block.n + WARP - 1) / WARP, i;

	for (i = 0; i < warps; i++) {
		unsigned at = (*w + i + (emulator_order == 0)) % warps;
		unsigned first = at * WARP;
		unsigned last = first + WARP < block.n ? first + WARP : block.n;
		int r = run_threads(first, last, salt) ? 1 : release_warp(first, last);

		if (r != 0) {
			*w = at;
			return r;
		}
	}
	return 0;
}

/* All threads are at the same barrier, which they pass. */
static int
go_on_block(void)
{
	const struct fiber *apart = parted(0, block.n);
	unsigned i;

	if (apart != NULL)
		return wrong("threads of a block part", &block.fiber[0], apart);
	for (i = 0; i < block.n; i++)
		block.fiber[i].state = READY;
	return 0;
}

static int
run_block(uint64_t salt)
{
	unsigned i, w = 0;
	int r;

	block.stacks = block.next = 0;
	for (i = 0; i < block.n; i++) {
		block.fiber[i].state = NEW;
		block.fiber[i].copies = block.fiber[i].group = 0;
	}
	make_order(block.order, block.n, salt);
	while (block.next < block.n)
		begin(block.order[block.next++]);
	while (!all_done()) {
		r = go_on_warp(&w, ++salt);
		if (r < 0 || (r == 0 && go_on_block() != 0))
			return -1;
		if (r == 0)
			w = (unsigned)(mix(salt) % ((block.n + WARP - 1) / WARP));
	}
	for (i = 0; i < block.n; i++)
		if (block.fiber[i].copies > 0)
			return wrong("copies that nobody waited for", &block.fiber[i],
			    &block.fiber[i]);
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
