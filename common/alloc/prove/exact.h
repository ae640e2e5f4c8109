/*
 * Numbers without rounding: m * 2^e with a whole m of any length (libgmp).  Every
 * double is one, and so are their sums, differences and products.  Quotients are
 * rounded, in the direction that is asked for.
 *
 * When memory is out the process ends as it does everywhere (base/mem.h).
 */
#ifndef GV_ALLOC_EXACT_H
#define GV_ALLOC_EXACT_H

#include <stddef.h>

#include <gmp.h>

struct gv_exact {
	mpz_t m;
	long e;
};

enum gv_exact_round { GV_EXACT_DOWN, GV_EXACT_UP }; /* towards -infinity, +infinity */

void gv_exact_init(struct gv_exact *x); /* = 0 */
void gv_exact_free(struct gv_exact *x);

void gv_exact_set(struct gv_exact *x, const struct gv_exact *a);
void gv_exact_set_double(struct gv_exact *x, double v); /* v finite */

/* x may be a or b in all of these. */
void gv_exact_add(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b);
void gv_exact_sub(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b);
void gv_exact_mul(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b);
void gv_exact_mul_double(struct gv_exact *x, const struct gv_exact *a, double b);
/* x += a b */
void gv_exact_add_product(struct gv_exact *x, double a, double b);
/* To at least 192 significant bits; b is not 0. */
void gv_exact_div(struct gv_exact *x, const struct gv_exact *a, const struct gv_exact *b,
    enum gv_exact_round round);

int gv_exact_sign(const struct gv_exact *x); /* -1, 0, 1 */
int gv_exact_compare(const struct gv_exact *a, const struct gv_exact *b);

/* The next double in that direction, the number itself if it is one; may be infinite. */
double gv_exact_double(const struct gv_exact *x, enum gv_exact_round round);

#endif
