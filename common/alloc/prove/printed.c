#include "printed.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "exact.h"

/* digits * 10^power */
struct decimal {
	mpz_t digits;
	long power;
};

/* Brings a down to the power of ten. */
static void
align(struct decimal *a, long power, mpz_t scratch)
{
	if (a->power <= power)
		return;
	mpz_ui_pow_ui(scratch, 10, (unsigned long)(a->power - power));
	mpz_mul(a->digits, a->digits, scratch);
	a->power = power;
}

struct sums {
	struct decimal *sum;  /* [n + m] of jobs' time, of types' GPUs */
	struct decimal share; /* of the one that is looked at */
	mpz_t scratch, product;
	bool *over;   /* [n + m] */
	bool rounded; /* some share is printed as another number than it is */
};

/* Whether share is v: digits 10^power = m 2^-60. */
static bool
is_exact(struct sums *w, double v)
{
	double whole = ldexp(v, 60);

	if (w->share.power > 0 || whole != floor(whole))
		return false;
	mpz_set_d(w->product, whole);
	mpz_ui_pow_ui(w->scratch, 10, (unsigned long)-w->share.power);
	mpz_mul(w->product, w->product, w->scratch);
	mpz_mul_2exp(w->scratch, w->share.digits, 60);
	return mpz_cmp(w->product, w->scratch) == 0;
}

/* v as printed, v >= 0, into share. */
static void
read_printed(struct sums *w, double v)
{
	char text[GV_NUM_LEN], digits[GV_NUM_LEN];
	size_t i, n = 0;
	long power = 0;
	bool has_point = false;

	gv_format_double(text, v);
	for (i = 0; text[i] != '\0' && text[i] != 'e'; i++)
		if (text[i] == '.') {
			has_point = true;
		} else {
			digits[n++] = text[i];
			power -= has_point;
		}
	digits[n] = '\0';
	mpz_set_str(w->share.digits, digits, 10);
	w->share.power = power + (text[i] == 'e' ? strtol(text + i + 1, NULL, 10) : 0);
	w->rounded = w->rounded || !is_exact(w, v);
}

/* Adds times the share. */
static void
add(struct sums *w, struct decimal *to, double times)
{
	align(to, w->share.power, w->scratch);
	align(&w->share, to->power, w->scratch);
	mpz_set_d(w->product, times);
	mpz_addmul(to->digits, w->share.digits, w->product);
}

static bool
is_over(struct sums *w, struct decimal *a, double limit)
{
	align(a, 0, w->scratch);
	mpz_ui_pow_ui(w->scratch, 10, (unsigned long)-a->power);
	mpz_set_d(w->product, limit);
	mpz_mul(w->scratch, w->scratch, w->product);
	return mpz_cmp(a->digits, w->scratch) > 0;
}

static void
sums_init(struct sums *w, size_t n)
{
	struct gv_exact memory; /* libgmp asks for it as everything does */
	size_t i;

	gv_exact_init(&memory);
	gv_exact_free(&memory);
	w->sum = gv_xcalloc(n, sizeof(*w->sum));
	w->over = gv_xcalloc(n, sizeof(*w->over));
	for (i = 0; i < n; i++)
		mpz_init(w->sum[i].digits);
	mpz_init(w->share.digits);
	mpz_init(w->scratch);
	mpz_init(w->product);
}

static void
sums_free(struct sums *w, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		mpz_clear(w->sum[i].digits);
	mpz_clear(w->share.digits);
	mpz_clear(w->scratch);
	mpz_clear(w->product);
	free(w->sum);
	free(w->over);
}

static void
find_over(struct sums *w, const struct gv_problem *p, const struct gv_solution *s)
{
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			if (!(s->x[i * p->m + j] > 0))
				continue;
			read_printed(w, s->x[i * p->m + j]);
			add(w, &w->sum[i], 1);
			add(w, &w->sum[p->n + j], p->count[i] * p->scale[i]);
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];

		read_printed(w, q->x);
		add(w, &w->sum[q->a], 1);
		add(w, &w->sum[q->b], 1);
		add(w, &w->sum[p->n + q->type], p->scale[q->a]);
	}
	for (i = 0; i < p->n; i++)
		w->over[i] = p->budget > 0 || is_over(w, &w->sum[i], 1);
	for (j = 0; j < p->m; j++)
		w->over[p->n + j] = is_over(w, &w->sum[p->n + j], p->capacity[j]);
}

bool
gv_printed_trim(const struct gv_problem *p, struct gv_solution *s)
{
	struct sums w = {0};
	size_t i, j;

	sums_init(&w, p->n + p->m);
	find_over(&w, p, s);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (w.over[i] || w.over[p->n + j])
				s->x[i * p->m + j] = nextafter(s->x[i * p->m + j], 0);
	for (i = 0; i < s->n_pairs; i++) {
		struct gv_pair *q = &s->pair[i];

		if (w.over[q->a] || w.over[q->b] || w.over[p->n + q->type])
			q->x = nextafter(q->x, 0);
	}
	sums_free(&w, p->n + p->m);
	return !w.rounded;
}
