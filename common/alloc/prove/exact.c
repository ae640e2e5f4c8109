#include "exact.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

enum { QUOTIENT = 192 }; /* bits */

/* ---- memory, as libgmp asks for it ---- */

static void *
take(size_t size)
{
	return gv_xrealloc(NULL, size, 1);
}

static void *
change(void *p, size_t old, size_t size)
{
	(void)old;
	return gv_xrealloc(p, size, 1);
}

static void
give(void *p, size_t size)
{
	(void)size;
	free(p);
}

void
gv_exact_init(struct gv_exact *x)
{
	mp_set_memory_functions(take, change, give);
	mpz_init(x->m);
	x->e = 0;
}

void
gv_exact_free(struct gv_exact *x)
{
	mpz_clear(x->m);
}

/* ---- */

void
gv_exact_set(struct gv_exact *x, const struct gv_exact *a)
{
	mpz_set(x->m, a->m);
	x->e = a->e;
}

void
gv_exact_set_double(struct gv_exact *x, double v)
{
	int e;

	mpz_set_d(x->m, ldexp(frexp(v, &e), 53));
	x->e = e - 53;
}

/* x = a +- b */
static void
combine(
    struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b, bool minus)
{
	mpz_t shifted;

	if (mpz_sgn(b->m) == 0) {
		gv_exact_set(x, a);
		return;
	}
	mpz_init(shifted);
	if (mpz_sgn(a->m) == 0) {
		mpz_set(x->m, b->m);
		x->e = b->e;
		if (minus)
			mpz_neg(x->m, x->m);
	} else if (a->e >= b->e) {
		long e = b->e;

		mpz_mul_2exp(shifted, a->m, (mp_bitcnt_t)(a->e - b->e));
		(minus ? mpz_sub : mpz_add)(x->m, shifted, b->m);
		x->e = e;
	} else {
		long e = a->e;

		mpz_mul_2exp(shifted, b->m, (mp_bitcnt_t)(b->e - a->e));
		(minus ? mpz_sub : mpz_add)(x->m, a->m, shifted);
		x->e = e;
	}
	mpz_clear(shifted);
}

void
gv_exact_add(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b)
{
	combine(x, a, b, false);
}

void
gv_exact_sub(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b)
{
	combine(x, a, b, true);
}

void
gv_exact_mul(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b)
{
	long e = a->e + b->e;

	mpz_mul(x->m, a->m, b->m);
	x->e = e;
}

void
gv_exact_mul_double(struct gv_exact *x, const struct gv_exact *a, double b)
{
	struct gv_exact y;

	gv_exact_init(&y);
	gv_exact_set_double(&y, b);
	gv_exact_mul(x, a, &y);
	gv_exact_free(&y);
}

void
gv_exact_add_product(struct gv_exact *x, double a, double b)
{
	struct gv_exact y;

	if (a == 0 || b == 0)
		return;
	gv_exact_init(&y);
	gv_exact_set_double(&y, a);
	gv_exact_mul_double(&y, &y, b);
	gv_exact_add(x, x, &y);
	gv_exact_free(&y);
}

void
gv_exact_div(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b,
    enum gv_exact_round round)
{
	long have = (long)mpz_sizeinbase(a->m, 2) - (long)mpz_sizeinbase(b->m, 2);
	long shift = have < QUOTIENT + 1 ? QUOTIENT + 1 - have : 0;
	long e = a->e - shift - b->e;
	mpz_t up;

	mpz_init(up);
	mpz_mul_2exp(up, a->m, (mp_bitcnt_t)shift);
	if (round == GV_EXACT_UP)
		mpz_cdiv_q(x->m, up, b->m);
	else
		mpz_fdiv_q(x->m, up, b->m);
	x->e = e;
	mpz_clear(up);
}

int
gv_exact_sign(const struct gv_exact *x)
{
	return mpz_sgn(x->m);
}

int
gv_exact_compare(const struct gv_exact *a, const struct gv_exact *b)
{
	struct gv_exact d;
	int sign;

	if (mpz_sgn(a->m) != mpz_sgn(b->m))
		return mpz_sgn(a->m) < mpz_sgn(b->m) ? -1 : 1;
	gv_exact_init(&d);
	gv_exact_sub(&d, a, b);
	sign = gv_exact_sign(&d);
	gv_exact_free(&d);
	return sign;
}

double
gv_exact_double(const struct gv_exact *x, enum gv_exact_round round)
{
	struct gv_exact back;
	double v;
	int order;

	/* mpz_get_d cuts to 53 bits; below the smallest normal number ldexp may round more */
	long size = (long)mpz_sizeinbase(x->m, 2);
	long cut = size > 53 ? size - 53 : 0;
	mpz_t top;

	if (mpz_sgn(x->m) == 0)
		return 0;
	mpz_init(top);
	mpz_tdiv_q_2exp(top, x->m, (mp_bitcnt_t)cut);
	if (x->e + cut > 2000)
		v = mpz_sgn(x->m) * HUGE_VAL;
	else if (x->e + cut < -2000)
		v = 0;
	else
		v = ldexp(mpz_get_d(top), (int)(x->e + cut));
	mpz_clear(top);
	if (isinf(v))
		return (v > 0) == (round == GV_EXACT_UP)
			   ? v
			   : copysign(1.7976931348623157e308, v);
	gv_exact_init(&back);
	gv_exact_set_double(&back, v);
	order = gv_exact_compare(&back, x);
	gv_exact_free(&back);
	if (round == GV_EXACT_UP && order < 0)
		v = nextafter(v, HUGE_VAL);
	else if (round == GV_EXACT_DOWN && order > 0)
		v = nextafter(v, -HUGE_VAL);
	return v;
}
