/*
 * Matrix products: bit for bit the chain of fused multiply-adds that gemm.h
 * promises, for every kernel that runs here, all sizes and layouts, and sums over
 * shards the tree over such chains.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/cpu/gemm.h"
#include "tap.h"

static gv_real
multiply_add(gv_real x, gv_real y, gv_real z, bool fused)
{
	if (!fused)
		return x * y + z;
#ifdef GV_REAL_DOUBLE
	return fma(x, y, z);
#else
	return fmaf(x, y, z);
#endif
}

static uint64_t draws;

static size_t
below(size_t n)
{
	return (size_t)(gv_random(3, 1, 0, draws++) % n);
}

/* The pages that n numbers take, and one behind them. */
static size_t
pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return ((n * sizeof(gv_real) + page - 1) / page + 1) * page;
}

/* What reads or writes behind them ends the test, also where no sanitizer looks. */
static gv_real *
numbers(size_t n)
{
	size_t bytes = pages(n), page = (size_t)sysconf(_SC_PAGESIZE), i;
	int zero = open("/dev/zero", O_RDWR);
	char *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
	gv_real *v = (gv_real *)(void *)(all + bytes - page) - n;

	if (all == MAP_FAILED || mprotect(all + bytes - page, page, PROT_NONE) != 0)
		abort();
	close(zero);
	for (i = 0; i < n; i++)
		v[i] = (gv_real)(2 * gv_random_uniform(4, 1, 0, draws++) - 1);
	return v;
}

static void
release(gv_real *v, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap((char *)(v + n) + page - pages(n), pages(n));
}

/* A line's numbers, and some behind them; or so many that lines share a cache's sets. */
static size_t
apart(size_t n)
{
	return below(4) == 0 ? (n + 511) / 512 * 512 : n + below(3);
}

/* Numbers that differ from the promise in one random product of at most these sizes. */
static size_t
wrong_in_one(size_t m, size_t n, size_t k, bool fused)
{
	struct gv_cpu_gemm g = {.m = 1 + below(m),
	    .n = 1 + below(n),
	    .k = 1 + below(k),
	    .transposed = below(2),
	    .add = below(2),
	    .relu = below(2)};
	bool across = below(2); /* b is stored by columns */
	size_t i, j, l, wrong = 0, ldb = apart(across ? g.k : g.n), of_a, of_b;
	gv_real *a, *b, *c, *was, *bias, *packed;

	g.lda = apart(g.transposed ? g.m : g.k);
	g.ldc = g.n + below(3);
	of_a = g.lda * (g.transposed ? g.k : g.m);
	of_b = ldb * (across ? g.n : g.k);
	a = numbers(of_a);
	b = numbers(of_b);
	c = numbers(g.ldc * g.m);
	bias = numbers(g.n);
	was = gv_xcalloc(g.ldc * g.m, sizeof(*was));
	memcpy(was, c, g.ldc * g.m * sizeof(*was));
	packed = gv_xcalloc(gv_cpu_gemm_packed(g.k, g.n), sizeof(*packed));
	gv_cpu_gemm_pack(packed, b, across ? 1 : ldb, across ? ldb : 1, g.k, g.n);
	g.a = a;
	g.ldb = below(2) ? ldb : 0;
	g.turned = g.ldb > 0 && across;
	g.b = g.ldb > 0 ? b : packed;
	g.c = c;
	g.bias = !g.add && below(2) ? bias : NULL;
	gv_cpu_gemm(&g);
	for (i = 0; i < g.m; i++)
		for (j = 0; j < g.ldc; j++) {
			gv_real want = was[i * g.ldc + j];

			for (l = 0; j < g.n && l < g.k; l++) {
				if (l == 0 && !g.add)
					want = g.bias != NULL ? bias[j] : 0;
				want = multiply_add(
				    g.transposed ? a[l * g.lda + i] : a[i * g.lda + l],
				    across ? b[j * ldb + l] : b[l * ldb + j], want,
				    fused);
			}
			if (j < g.n && g.relu && want < 0)
				want = 0;
			wrong += memcmp(&want, &c[i * g.ldc + j], sizeof(want)) != 0;
		}
	release(a, of_a);
	release(b, of_b);
	release(c, g.ldc * g.m);
	release(bias, g.n);
	free(was);
	free(packed);
	return wrong;
}

/* The same where a's rows and steps are listed, anywhere in it. */
static size_t
wrong_in_listed(size_t m, size_t n, size_t k, bool fused)
{
	enum { NUMBERS = 5000 };
	struct gv_cpu_gemm g = {.m = 1 + below(m),
	    .n = 1 + below(n),
	    .k = below(k + 1),
	    .add = below(2),
	    .relu = below(2)};
	size_t i, j, l, wrong = 0, *list = gv_xcalloc(g.m + g.k, sizeof(*list));
	gv_real *a = numbers(2 * NUMBERS), *b = numbers(g.k * g.n + 1),
		*bias = numbers(g.n);
	gv_real *packed = gv_xcalloc(gv_cpu_gemm_packed(g.k, g.n) + 1, sizeof(*packed));
	gv_real *c = numbers(g.m * g.n), *was = gv_xcalloc(g.m * g.n, sizeof(*was));

	memcpy(was, c, g.m * g.n * sizeof(*was));
	for (i = 0; i < g.m + g.k; i++)
		list[i] = below(NUMBERS);
	gv_cpu_gemm_pack(packed, b, g.n, 1, g.k, g.n);
	g.a = a;
	g.row_at = list;
	g.step_at = list + g.m;
	g.b = packed;
	g.c = c;
	g.ldc = g.n;
	g.bias = !g.add && below(2) ? bias : NULL;
	gv_cpu_gemm(&g);
	for (i = 0; i < g.m; i++)
		for (j = 0; j < g.n; j++) {
			gv_real want = g.add            ? was[i * g.n + j]
				       : g.bias != NULL ? bias[j]
							: 0;

			for (l = 0; l < g.k; l++)
				want = multiply_add(a[list[i] + list[g.m + l]],
				    b[l * g.n + j], want, fused);
			if (g.relu && want < 0)
				want = 0;
			wrong += memcmp(&want, &c[i * g.n + j], sizeof(want)) != 0;
		}
	release(a, (size_t)2 * NUMBERS);
	release(b, g.k * g.n + 1);
	release(bias, g.n);
	release(c, g.m * g.n);
	free(list);
	free(packed);
	free(was);
	return wrong;
}

/* Element (i, j) of shards [from, from + n). */
static gv_real
tree(const struct gv_cpu_shards *g, const gv_real *b, size_t i, size_t j, size_t from,
    size_t n, bool fused)
{
	gv_real sum = 0;
	size_t l;

	if (n > 1)
		return tree(g, b, i, j, from, n / 2, fused) +
		       tree(g, b, i, j, from + n / 2, n / 2, fused);
	for (l = from == 0 ? 0 : g->end[from - 1]; l < g->end[from]; l++)
		sum = multiply_add(g->a[l * g->lda + i], b[l * g->n + j], sum, fused);
	return sum;
}

/* Numbers that differ from the promise in one random sum over shards, some empty. */
static size_t
wrong_in_shards(size_t columns, size_t each, bool fused)
{
	size_t end[16], shards = (size_t)1 << below(5), k = 0, i, j, wrong = 0;
	struct gv_cpu_shards g = {.m = 1 + below(40),
	    .n = 1 + columns + below(80),
	    .shards = shards,
	    .end = end,
	    .add = below(2)};
	gv_real *a, *b, *c, *was, *packed;

	for (i = 0; i < shards; i++)
		end[i] = k += below(each);
	g.lda = g.m + below(3);
	g.ldc = g.n + below(3);
	a = numbers(g.lda * k + 1);
	b = numbers(g.n * k + 1);
	c = numbers(g.ldc * g.m);
	was = gv_xcalloc(g.ldc * g.m, sizeof(*was));
	memcpy(was, c, g.ldc * g.m * sizeof(*was));
	packed = gv_xcalloc(gv_cpu_gemm_packed(k, g.n) + 1, sizeof(*packed));
	gv_cpu_gemm_pack(packed, b, g.n, 1, k, g.n);
	g.a = a;
	g.b = packed;
	g.c = c;
	gv_cpu_shards(&g);
	for (i = 0; i < g.m; i++)
		for (j = 0; j < g.ldc; j++) {
			gv_real want = was[i * g.ldc + j];

			if (j < g.n)
				want = (g.add ? want : 0) +
				       tree(&g, b, i, j, 0, shards, fused);
			wrong += memcmp(&want, &c[i * g.ldc + j], sizeof(want)) != 0;
		}
	release(a, g.lda * k + 1);
	release(b, g.n * k + 1);
	release(c, g.ldc * g.m);
	free(was);
	free(packed);
	return wrong;
}

/* A NaN or infinity stays where it belongs, also with relu. */
static void
test_nan(const char *kernel)
{
	gv_real a[3] = {1, (gv_real)NAN, -1}, b[2] = {2, (gv_real)INFINITY}, c[6];
	gv_real *packed = gv_xcalloc(gv_cpu_gemm_packed(1, 2), sizeof(*packed));
	struct gv_cpu_gemm g = {.m = 3,
	    .n = 2,
	    .k = 1,
	    .a = a,
	    .lda = 1,
	    .b = packed,
	    .c = c,
	    .ldc = 2,
	    .relu = true};

	gv_cpu_gemm_pack(packed, b, 2, 1, 1, 2);
	gv_cpu_gemm(&g);
	ok(c[0] == 2 && isinf(c[1]) && isnan(c[2]) && isnan(c[3]) && c[4] == 0 &&
		c[5] == 0,
	    "%s: NaN and infinity", kernel);
	free(packed);
}

int
main(void)
{
	static const char *const kernels[] = {"avx512", "avx2", "c"};
	size_t i, k, wrong;
	bool fused = true;

	gv_init("nn_gemm");
	ok(!gv_cpu_gemm_use("mmx"), "no kernel of another name");
	for (k = 0; k < 3; k++) {
		if (!gv_cpu_gemm_use(kernels[k])) {
			skip("no %s on this CPU", kernels[k]);
			continue;
		}
		is_str(gv_cpu_gemm_kernel(), kernels[k], "%s is taken", kernels[k]);
		if (strcmp(kernels[k], "c") == 0) {
#if defined(GV_REAL_DOUBLE) && !defined(FP_FAST_FMA)
			fused = false;
#elif !defined(GV_REAL_DOUBLE) && !defined(FP_FAST_FMAF)
			fused = false;
#endif
		}
		for (wrong = 0, i = 0; i < 300; i++)
			wrong += wrong_in_one(40, 80, i % 10 == 0 ? 900 : 70, fused);
		is_int(wrong, 0, "%s: 300 products, every bit", kernels[k]);
		for (wrong = 0, i = 0; i < 30; i++)
			wrong += wrong_in_one(i % 2 == 0 ? 1100 : 20,
			    i % 2 == 0 ? 80 : 2200, i % 3 == 0 ? 600 : 70, fused);
		is_int(wrong, 0, "%s: 30 that are many blocks, every bit", kernels[k]);
		for (wrong = 0, i = 0; i < 300; i++)
			wrong += wrong_in_listed(
			    i % 10 == 0 ? 400 : 40, 80, i % 10 == 1 ? 700 : 50, fused);
		is_int(wrong, 0, "%s: 300 of what is listed, every bit", kernels[k]);
		for (wrong = 0, i = 0; i < 300; i++)
			wrong += wrong_in_shards(0, 9, fused);
		is_int(wrong, 0, "%s: 300 sums over shards, every bit", kernels[k]);
		for (wrong = 0, i = 0; i < 40; i++)
			wrong += wrong_in_shards(470, 3, fused);
		is_int(wrong, 0, "%s: 40 of few samples and long lines, every bit",
		    kernels[k]);
		test_nan(kernels[k]);
	}
	gv_cpu_gemm_use(NULL);
	return done_testing();
}
