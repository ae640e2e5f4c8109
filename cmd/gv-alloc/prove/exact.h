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

struct exact {
	mpz_t m;
	long e;
};

enum exact_round { EXACT_DOWN, EXACT_UP }; /* towards -infinity, +infinity */

void exact_init(struct exact *x); /* = 0 */
void exact_free(struct exact *x);

void exact_set(struct exact *x, const struct exact *a);
void exact_set_double(struct exact *x, double v); /* v finite */

/* x may be a or b in all of these. */
void exact_add(struct exact *x, const struct exact *a, const struct exact *b);
void exact_sub(struct exact *x, const struct exact *a, const struct exact *b);
void exact_mul(struct exact *x, const struct exact *a, const struct exact *b);
void exact_mul_double(struct exact *x, const struct exact *a, double b);
/* x += a b */
void exact_add_product(struct exact *x, double a, double b);
/* To at least 192 significant bits; b is not 0. */
void exact_div(struct exact *x, const struct exact *a, const struct exact *b,
    enum exact_round round);

int exact_sign(const struct exact *x); /* -1, 0, 1 */
int exact_compare(const struct exact *a, const struct exact *b);

/* The next double in that direction, the number itself if it is one; may be infinite. */
double exact_double(const struct exact *x, enum exact_round round);

#endif
