/*
 * The loops of oracle.c, included once for each kind of vector, with
 *	NAME(x)     the name of a function or type x
 *	TARGET      attributes of the functions
 *	V, LANES    a vector, numbers in it
 *	M           a mask
 *	LOAD STORE SET1 ADD SUB MUL DIV MAX    what to do with vectors
 *	LT LE EQ    comparisons of two vectors, a mask
 *	AND OR ANDN (not the first, but the second)    of masks
 *	PICK(m, x, y)   x where the mask says so, y elsewhere
 *	BITS(m)         the mask as an int
 */
/* clang-format off */

/* The best vertex so far: shares xj of type j and xk of type k (-1: none). */
struct NAME(vertex) {
	V value, slope, j, k, xj, xk, dj, dk;
};

/* Numbers of one job in each lane. */
struct NAME(jobs) {
	const struct gv_oracle_jobs *c;
	size_t i;
	size_t m; /* c->m, for the compiler */
	V use;
};

TARGET GV_INLINE static inline V
NAME(column)(const double *column, const struct NAME(jobs) *b, size_t j)
{
	return LOAD(column + j * b->c->stride + b->i);
}

TARGET GV_INLINE static inline void
NAME(no_vertex)(struct NAME(vertex) *best, double worst)
{
	best->value = SET1(worst);
	best->slope = best->xj = best->xk = best->dj = best->dk = SET1(0);
	best->j = best->k = SET1(-1);
}

TARGET GV_INLINE static inline void
NAME(replace)(struct NAME(vertex) *best, M better, struct NAME(vertex) c)
{
	best->value = PICK(better, c.value, best->value);
	best->slope = PICK(better, c.slope, best->slope);
	best->j = PICK(better, c.j, best->j);
	best->k = PICK(better, c.k, best->k);
	best->xj = PICK(better, c.xj, best->xj);
	best->xk = PICK(better, c.xk, best->xk);
	best->dj = PICK(better, c.dj, best->dj);
	best->dk = PICK(better, c.dk, best->dk);
}

/*
 * Where two types reach level t together: x_j + x_k = 1 and a_j x_j + a_k x_k = t give
 * x_j = (t - a_k) / (a_j - a_k), and d x_j / d t = 1 / (a_j - a_k).
 */
TARGET GV_INLINE static inline void
NAME(mix)(V aj, V ak, V level, struct NAME(vertex) *c)
{
	const V zero = SET1(0), one = SET1(1);
	V d = DIV(one, SUB(aj, ak));
	V part = MUL(SUB(level, ak), d);

	part = PICK(EQ(aj, level), one, part);
	part = PICK(EQ(ak, level), zero, part);
	c->xj = part;
	c->xk = SUB(one, part);
	c->dj = d;
	c->dk = SUB(zero, d);
}

TARGET GV_INLINE static inline M
NAME(two)(const struct NAME(jobs) *b, size_t j, size_t k, V level, struct NAME(vertex) *c)
{
	const V zero = SET1(0);
	V aj = NAME(column)(b->c->a, b, j), ak = NAME(column)(b->c->a, b, k);
	M run = AND(LT(zero, aj), LT(zero, ak));
	M apart = OR(AND(LE(level, aj), LT(ak, level)), AND(LE(level, ak), LT(aj, level)));

	NAME(mix)(aj, ak, level, c);
	c->j = SET1((double)j);
	c->k = SET1((double)k);
	return AND(run, apart);
}

/*
 * min p x over x with a x >= t, sum x <= 1: a type alone, x_j = t / a_j, or two of them, each
 * tried.  Of equals the one whose cost falls fastest below t, so that the slope is that from
 * the left.
 */
TARGET GV_INLINE static inline void
NAME(cheapest_of_all)(const struct NAME(jobs) *b, const double *price, double at,
    struct NAME(vertex) *best)
{
	V level = SET1(at);
	size_t j, k;

	NAME(no_vertex)(best, INFINITY);
	for (j = 0; j < b->m; j++) {
		V aj = NAME(column)(b->c->a, b, j);
		struct NAME(vertex) c;
		M better;

		c.xj = DIV(level, aj);
		c.dj = MUL(c.xj, SET1(1 / at));
		c.xk = c.dk = SET1(0);
		c.j = SET1((double)j);
		c.k = SET1(-1);
		c.value = MUL(SET1(price[j]), c.xj);
		c.slope = MUL(SET1(price[j]), c.dj);
		better = OR(LT(c.value, best->value),
		    AND(EQ(c.value, best->value), LT(best->slope, c.slope)));
		better = AND(better, AND(LT(SET1(0), aj), LE(level, aj)));
		NAME(replace)(best, better, c);
	}
	for (j = 0; j < b->m; j++)
		for (k = j + 1; k < b->m; k++) {
			struct NAME(vertex) c;
			M is = NAME(two)(b, j, k, level, &c);
			M better;

			c.value = ADD(MUL(SET1(price[j]), c.xj), MUL(SET1(price[k]), c.xk));
			c.slope = MAX(SET1(0), MUL(SET1(price[j] - price[k]), c.dj));
			better = OR(LT(c.value, best->value),
			    AND(EQ(c.value, best->value), LT(best->slope, c.slope)));
			NAME(replace)(best, AND(is, better), c);
		}
}

/* A corner of the lower hull: that of type j, or j = -1, of none. */
struct NAME(corner) {
	V j, a, price;
};

/*
 * One end of the edge, of types that reach the level or of those that do not, where the edge
 * is lowest at the level while its other end stays.  The lanes whose end has moved.
 */
TARGET GV_INLINE static inline M
NAME(turn)(const struct NAME(jobs) *b, const double *price, V level, bool reaches,
    const struct NAME(corner) *stays, struct NAME(corner) *end)
{
	const V zero = SET1(0);
	V steep = DIV(SUB(end->price, stays->price), SUB(end->a, stays->a));
	M moved = LT(zero, zero);
	size_t j;

	for (j = 0; j < b->m; j++) {
		V a = NAME(column)(b->c->a, b, j), p = SET1(price[j]);
		V s = DIV(SUB(p, stays->price), SUB(a, stays->a));
		M is = reaches ? LE(level, a) : LT(a, level);
		M better = AND(AND(is, LT(zero, a)), reaches ? LT(s, steep) : LT(steep, s));

		moved = OR(moved, better);
		steep = PICK(better, s, steep);
		end->j = PICK(better, SET1((double)j), end->j);
		end->a = PICK(better, a, end->a);
		end->price = PICK(better, p, end->price);
	}
	return moved;
}

/*
 * The same of many types: the height at t of the lower hull of the points (a_j, p_j) and
 * (0, 0).  Its edge there is found by turning one about its ends, one after the other.  A lane
 * that is at its end stays there, so that more turns for others change nothing.
 */
TARGET GV_INLINE static inline void
NAME(cheapest_on_hull)(const struct NAME(jobs) *b, const double *price, double at,
    struct NAME(vertex) *best)
{
	const V zero = SET1(0), none = SET1(-1);
	V level = SET1(at);
	struct NAME(corner) left = {none, zero, zero};
	struct NAME(corner) right = {none, SET1(1), SET1(INFINITY)};
	struct NAME(corner) j, k;
	struct NAME(vertex) c;
	M is, swap, pair;
	size_t turns;

	NAME(turn)(b, price, level, true, &left, &right);
	for (turns = 0; turns < b->m; turns++) {
		if (BITS(NAME(turn)(b, price, level, false, &right, &left)) == 0)
			break;
		if (BITS(NAME(turn)(b, price, level, true, &left, &right)) == 0)
			break;
	}
	is = LE(zero, right.j);
	pair = AND(is, LE(zero, left.j));
	swap = AND(pair, LT(left.j, right.j));
	j = (struct NAME(corner)){PICK(swap, left.j, right.j), PICK(swap, left.a, right.a),
	    PICK(swap, left.price, right.price)};
	k = (struct NAME(corner)){PICK(swap, right.j, left.j), PICK(swap, right.a, left.a),
	    PICK(swap, right.price, left.price)};
	NAME(mix)(j.a, k.a, level, &c);
	best->xj = PICK(pair, c.xj, DIV(level, j.a));
	best->dj = PICK(pair, c.dj, MUL(best->xj, SET1(1 / at)));
	best->xk = PICK(pair, c.xk, zero);
	best->dk = PICK(pair, c.dk, zero);
	best->j = j.j;
	best->k = k.j;
	best->value = PICK(pair, ADD(MUL(j.price, c.xj), MUL(k.price, c.xk)),
	    MUL(j.price, best->xj));
	best->slope = PICK(pair, MAX(zero, MUL(SUB(j.price, k.price), c.dj)),
	    MUL(j.price, best->dj));
	best->value = PICK(is, best->value, SET1(INFINITY));
	best->slope = PICK(is, best->slope, zero);
	best->xj = PICK(is, best->xj, zero);
	best->dj = PICK(is, best->dj, zero);
}

TARGET GV_INLINE static inline void
NAME(cheapest)(const struct NAME(jobs) *b, const double *price, double at,
    struct NAME(vertex) *best)
{
	if (b->m <= FEW_TYPES)
		NAME(cheapest_of_all)(b, price, at, best);
	else
		NAME(cheapest_on_hull)(b, price, at, best);
}

/* What a vertex may cost on the face. */
TARGET GV_INLINE static inline V
NAME(limit)(const struct NAME(jobs) *b, const struct gv_dual_point *o)
{
	struct NAME(vertex) c;

	if (o->face == NULL)
		return SET1(INFINITY);
	NAME(cheapest)(b, o->face, o->level, &c);
	return MUL(c.value, SET1(1 + GV_TOL_FACE));
}

TARGET GV_INLINE static inline V
NAME(net)(const struct NAME(jobs) *b, const double *price, size_t j)
{
	return SUB(NAME(column)(b->c->gain, b, j), MUL(SET1(price[j]), b->use));
}

/* Shares of one type: those that reach the level, or all the time. */
TARGET GV_INLINE static inline M
NAME(one)(const struct NAME(jobs) *b, const struct gv_dual_point *o, size_t j, bool all, V limit,
    struct NAME(vertex) *c)
{
	V aj = NAME(column)(b->c->a, b, j), level = SET1(o->level);
	M is = AND(LT(SET1(0), aj), LE(level, aj));

	c->xj = all ? SET1(1) : DIV(level, aj);
	c->xk = c->dj = c->dk = SET1(0);
	c->slope = SET1(0);
	c->j = SET1((double)j);
	c->k = SET1(-1);
	if (o->face != NULL)
		is = AND(is, LE(MUL(SET1(o->face[j]), c->xj), limit));
	return AND(is, LT(SET1(0), c->xj));
}

/* Whether a job may demand nothing. */
TARGET GV_INLINE static inline M
NAME(may_rest)(const struct NAME(jobs) *b, const struct gv_dual_point *o)
{
	M rest = o->level == 0 ? EQ(b->use, b->use) : LT(b->use, b->use);
	size_t j;

	for (j = 0; o->level > 0 && j < b->m; j++)
		rest = OR(rest, EQ(NAME(column)(b->c->a, b, j), SET1(INFINITY)));
	return rest;
}

TARGET GV_INLINE static inline M
NAME(both)(const struct NAME(jobs) *b, const struct gv_dual_point *o, size_t j, size_t k, V limit,
    struct NAME(vertex) *c)
{
	M is = NAME(two)(b, j, k, SET1(o->level), c);

	c->slope = SET1(0);
	if (o->face != NULL)
		is = AND(is, LE(ADD(MUL(SET1(o->face[j]), c->xj),
				    MUL(SET1(o->face[k]), c->xk)), limit));
	return is;
}

/* The vertex of the largest gain after cost. */
TARGET GV_INLINE static inline void
NAME(most_gain)(const struct NAME(jobs) *b, const struct gv_dual_point *o, struct NAME(vertex) *best)
{
	V limit = NAME(limit)(b, o);
	size_t j, k;
	int all;

	NAME(no_vertex)(best, -INFINITY);
	best->value = PICK(NAME(may_rest)(b, o), SET1(0), best->value);
	for (j = 0; j < b->m; j++) {
		V net = NAME(net)(b, o->price, j);

		for (all = o->level == 0; all < 2; all++) {
			struct NAME(vertex) c;
			M is = NAME(one)(b, o, j, all, limit, &c);

			c.value = MUL(net, c.xj);
			NAME(replace)(best, AND(is, LT(best->value, c.value)), c);
		}
	}
	if (o->level == 0)
		return;
	for (j = 0; j < b->m; j++)
		for (k = j + 1; k < b->m; k++) {
			struct NAME(vertex) c;
			M is = NAME(both)(b, o, j, k, limit, &c);

			c.value = ADD(MUL(NAME(net)(b, o->price, j), c.xj),
			    MUL(NAME(net)(b, o->price, k), c.xk));
			NAME(replace)(best, AND(is, LT(best->value, c.value)), c);
		}
}

TARGET GV_INLINE static inline void
NAME(best_response)(const struct NAME(jobs) *b, const struct gv_dual_point *o, struct NAME(vertex) *best)
{
	if (o->gains)
		NAME(most_gain)(b, o, best);
	else
		NAME(cheapest)(b, o->price, o->level, best);
}

TARGET GV_INLINE static inline void
NAME(add)(double *sum, V v)
{
	STORE(sum, ADD(LOAD(sum), v));
}

/* Adds the vertices of the lanes in the mask to the sums of 8. */
TARGET GV_INLINE static inline void
NAME(sum)(const struct NAME(jobs) *b, const struct gv_dual_point *o, const struct NAME(vertex) *best,
    M which, bool used_slope, struct sums *s)
{
	const V zero = SET1(0);
	V use = PICK(which, b->use, zero), some = PICK(which, SET1(1), zero);
	size_t at = b->i % SUMS;
	size_t j;

	for (j = 0; j < b->m; j++) {
		V vj = SET1((double)j);
		M is_j = EQ(best->j, vj), is_k = EQ(best->k, vj);
		V x = ADD(PICK(is_j, best->xj, zero), PICK(is_k, best->xk, zero));

		NAME(add)(s->used + j * SUMS + at, MUL(use, x));
		if (o->gains)
			NAME(add)(s->gain + at, MUL(MUL(some, NAME(column)(b->c->gain, b, j)), x));
		if (used_slope)
			NAME(add)(s->used_slope + j * SUMS + at,
			    MUL(use, ADD(PICK(is_j, best->dj, zero), PICK(is_k, best->dk, zero))));
	}
	if (!o->gains)
		NAME(add)(s->lambda + at, MUL(use, best->slope));
}

TARGET GV_INLINE static inline void
NAME(demand_of)(size_t m, const struct gv_oracle_jobs *c, const struct gv_dual_point *o, size_t from, size_t to,
    struct sums *s)
{
	struct NAME(jobs) b = {.c = c, .m = m};

	for (b.i = from; b.i < to; b.i += LANES) {
		struct NAME(vertex) best;

		b.use = LOAD(c->use + b.i);
		NAME(best_response)(&b, o, &best);
		NAME(sum)(&b, o, &best, EQ(b.use, b.use), false, s);
	}
}

TARGET static void
NAME(demand)(const struct gv_oracle_jobs *c, const struct gv_dual_point *o, size_t from, size_t to, struct sums *s)
{
	if (c->m == 3 && !o->gains)
		NAME(demand_of)(3, c, o, from, to, s);
	else
		NAME(demand_of)(c->m, c, o, from, to, s);
}

/*
 * The best vertex, what it is worth at the worst prices of a box, and any other at the
 * best: where worst > other no prices of the box prefer another one.
 */
struct NAME(margin) {
	struct NAME(vertex) best;
	V worst, best_case, other;
};

/* Vertex c meets the best so far; the loser is one of the others.  What is wanted large. */
TARGET GV_INLINE static inline void
NAME(contend)(struct NAME(margin) *r, M is, struct NAME(vertex) c, V at_worst, V at_best)
{
	M better = AND(is, LT(r->best.value, c.value));
	M loses = ANDN(better, is);

	r->other = PICK(better, MAX(r->other, r->best_case), r->other);
	r->other = PICK(loses, MAX(r->other, at_best), r->other);
	r->worst = PICK(better, at_worst, r->worst);
	r->best_case = PICK(better, at_best, r->best_case);
	NAME(replace)(&r->best, better, c);
}

TARGET GV_INLINE static inline void
NAME(no_margin)(struct NAME(margin) *r)
{
	NAME(no_vertex)(&r->best, -INFINITY);
	r->worst = r->best_case = r->other = SET1(-INFINITY);
}

/*
 * By cost, -p x: a vertex x costs between lo x and hi x.  At levels within part of t a type
 * alone has x_j = t / a_j that much larger or smaller, and two types move by part t / |a_j -
 * a_k| against each other; a job of some a_j so near to t that its vertices change is free.
 */
TARGET GV_INLINE static inline M
NAME(margin_by_cost)(const struct NAME(jobs) *b, const struct gv_dual_point *o, const double *lo,
    const double *hi, double part, struct NAME(margin) *r)
{
	const double *p = o->price;
	V level = SET1(o->level), near = SET1(o->level * part), zero = SET1(0);
	M fixed = EQ(b->use, b->use);
	size_t j, k;

	NAME(no_margin)(r);
	for (j = 0; j < b->m; j++) {
		V aj = NAME(column)(b->c->a, b, j), x = DIV(level, aj);
		M is = AND(LT(zero, aj), LE(level, aj));
		struct NAME(vertex) c;

		fixed = ANDN(AND(LE(SUB(aj, level), near), LE(SUB(level, aj), near)), fixed);
		c.xj = x;
		c.dj = MUL(x, SET1(1 / o->level));
		c.xk = c.dk = c.slope = zero;
		c.j = SET1((double)j);
		c.k = SET1(-1);
		c.value = MUL(SET1(-p[j]), x);
		NAME(contend)(r, is, c, MUL(SET1(-hi[j] * (1 + part)), x),
		    MUL(SET1(-lo[j] * (1 - part)), x));
	}
	for (j = 0; j < b->m; j++)
		for (k = j + 1; k < b->m; k++) {
			struct NAME(vertex) c;
			M is = NAME(two)(b, j, k, level, &c);
			V steep = MUL(MAX(c.dj, c.dk), near), low, high;

			c.slope = zero;
			c.value = ADD(MUL(SET1(-p[j]), c.xj), MUL(SET1(-p[k]), c.xk));
			high = ADD(MUL(SET1(-hi[j]), c.xj), MUL(SET1(-hi[k]), c.xk));
			low = ADD(MUL(SET1(-lo[j]), c.xj), MUL(SET1(-lo[k]), c.xk));
			steep = MUL(steep, SET1(hi[j] + hi[k]));
			NAME(contend)(r, is, c, SUB(high, steep), ADD(low, steep));
		}
	return fixed;
}

/* By gain after cost, (gain - p) x: between (gain - hi) x and (gain - lo) x. */
TARGET GV_INLINE static inline M
NAME(margin_by_gain)(const struct NAME(jobs) *b, const struct gv_dual_point *o, const double *lo,
    const double *hi, struct NAME(margin) *r)
{
	V limit = NAME(limit)(b, o);
	struct NAME(vertex) c;
	size_t j, k;
	int all;

	NAME(no_margin)(r);
	NAME(no_vertex)(&c, 0);
	NAME(contend)(r, NAME(may_rest)(b, o), c, c.value, c.value);
	for (j = 0; j < b->m; j++) {
		V net = NAME(net)(b, o->price, j);
		V least = NAME(net)(b, hi, j), most = NAME(net)(b, lo, j);

		for (all = o->level == 0; all < 2; all++) {
			M is = NAME(one)(b, o, j, all, limit, &c);

			c.value = MUL(net, c.xj);
			NAME(contend)(r, is, c, MUL(least, c.xj), MUL(most, c.xj));
		}
	}
	for (j = 0; o->level > 0 && j < b->m; j++)
		for (k = j + 1; k < b->m; k++) {
			M is = NAME(both)(b, o, j, k, limit, &c);

			c.value = ADD(MUL(NAME(net)(b, o->price, j), c.xj),
			    MUL(NAME(net)(b, o->price, k), c.xk));
			NAME(contend)(r, is, c,
			    ADD(MUL(NAME(net)(b, hi, j), c.xj), MUL(NAME(net)(b, hi, k), c.xk)),
			    ADD(MUL(NAME(net)(b, lo, j), c.xj), MUL(NAME(net)(b, lo, k), c.xk)));
		}
	return EQ(b->use, b->use);
}

TARGET static size_t
NAME(fix)(const struct gv_oracle_jobs *c, const struct gv_dual_point *o, const double *lo, const double *hi,
    double part, size_t from, size_t to, struct sums *s, size_t *free_jobs)
{
	struct NAME(jobs) b = {.c = c, .m = c->m};
	size_t n = 0;

	for (b.i = from; b.i < to; b.i += LANES) {
		struct NAME(margin) r;
		M fixed;
		int bits, l;

		b.use = LOAD(c->use + b.i);
		fixed = o->gains ? NAME(margin_by_gain)(&b, o, lo, hi, &r)
				  : NAME(margin_by_cost)(&b, o, lo, hi, part, &r);
		fixed = AND(fixed, LT(r.other, r.worst));
		NAME(sum)(&b, o, &r.best, fixed, true, s);
		bits = BITS(fixed);
		for (l = 0; bits != (1 << LANES) - 1 && l < LANES; l++)
			if (!(bits >> l & 1) && b.i + (size_t)l < c->n)
				free_jobs[n++] = b.i + (size_t)l;
	}
	return n;
}

/* The vertices as they are, [LANES] of each, one after another in out. */
TARGET static void
NAME(vertices)(const struct gv_oracle_jobs *c, const struct gv_dual_point *o, size_t i, struct vertices *out)
{
	struct NAME(jobs) b = {.c = c, .i = i, .m = c->m};
	int l;

	for (l = 0; l < SUMS; l += LANES, b.i += LANES) {
		struct NAME(vertex) best;

		b.use = LOAD(c->use + b.i);
		NAME(best_response)(&b, o, &best);
		STORE(out->j + l, best.j);
		STORE(out->k + l, best.k);
		STORE(out->xj + l, best.xj);
		STORE(out->xk + l, best.xk);
		STORE(out->lambda + l, MUL(b.use, best.slope));
	}
}

#undef NAME
#undef TARGET
#undef V
#undef LANES
#undef M
#undef LOAD
#undef STORE
#undef SET1
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef MAX
#undef LT
#undef LE
#undef EQ
#undef AND
#undef OR
#undef ANDN
#undef PICK
#undef BITS
