#include "sched/rounds/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"

enum { BLOCKED = 64 }; /* wishes that are passed over in a look for one that can be put */

/* ---- putting and dropping ---- */

/* Where a wish is in its bucket, or would be: after all that are smaller. */
static size_t
find(const struct gv_round_board *b, const struct gv_round_bucket *of, size_t wish)
{
	size_t low = 0;
	size_t high = of->n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		size_t k = of->wish[mid];

		if (b->wish[k].weight < b->wish[wish].weight ||
		    (k > wish && b->wish[k].weight == b->wish[wish].weight))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool
gv_round_can_put(const struct gv_round_board *b, size_t i)
{
	const size_t *member = b->r->job[b->wish[i].job].member;

	return b->of[member[0]] < 0 && b->of[member[1]] < 0 &&
	       gv_round_gang(b, i) <= b->room[b->wish[i].type];
}

/* Whether the wishes of a job stand among those whose job has no place. */
static void
set_free(struct gv_round_board *b, size_t job, bool is_free)
{
	size_t i;

	for (i = b->first[job]; i < b->first[job + 1]; i++) {
		uint64_t *word = &gv_round_bucket(b, b->wish[i].type, b->gang_of[i])
				      ->free[b->at[i] / 64];
		uint64_t bit = UINT64_C(1) << b->at[i] % 64;

		*word = is_free ? *word | bit : *word & ~bit;
	}
}

static void
note(struct gv_round_board *b, size_t i, bool was_put)
{
	const struct gv_round_wish *w = &b->wish[i];
	const size_t *member = b->r->job[w->job].member;

	set_free(b, w->job, !was_put);
	if (member[0] != member[1]) {
		set_free(b, member[0], !was_put);
		set_free(b, member[1], !was_put);
	}
	b->of[member[0]] = b->of[member[1]] = was_put ? (ptrdiff_t)i : -1;
	b->step = gv_xgrow(b->step, &b->cap_steps, b->n_steps + 1, sizeof(*b->step));
	b->step[b->n_steps++] = (struct gv_round_step){i, was_put};
}

void
gv_round_put(struct gv_round_board *b, size_t i)
{
	const struct gv_round_wish *w = &b->wish[i];
	struct gv_round_bucket *of = gv_round_bucket(b, w->type, b->gang_of[i]);
	size_t at = find(b, of, i);

	memmove(&of->wish[at + 1], &of->wish[at], (of->n - at) * sizeof(*of->wish));
	of->wish[at] = i;
	of->n++;
	b->room[w->type] -= gv_round_gang(b, i);
	note(b, i, true);
}

void
gv_round_drop(struct gv_round_board *b, size_t i)
{
	const struct gv_round_wish *w = &b->wish[i];
	struct gv_round_bucket *of = gv_round_bucket(b, w->type, b->gang_of[i]);
	size_t at = find(b, of, i);

	of->n--;
	memmove(&of->wish[at], &of->wish[at + 1], (of->n - at) * sizeof(*of->wish));
	b->room[w->type] += gv_round_gang(b, i);
	note(b, i, false);
}

double
gv_round_gained(const struct gv_round_board *b)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < b->n_steps; k++)
		sum += b->step[k].put ? b->wish[b->step[k].wish].weight
				      : -b->wish[b->step[k].wish].weight;
	return sum;
}

void
gv_round_undo(struct gv_round_board *b)
{
	size_t n = b->n_steps;

	while (n-- > 0)
		if (b->step[n].put)
			gv_round_drop(b, b->step[n].wish);
		else
			gv_round_put(b, b->step[n].wish);
	b->n_steps = 0;
}

void
gv_round_board_clear(struct gv_round_board *b, const size_t *room)
{
	size_t i;

	memcpy(b->room, room, b->r->n_types * sizeof(*room));
	for (i = 0; i < b->r->n_jobs; i++)
		b->of[i] = -1;
	for (i = 0; i < b->r->n_types * b->n_gangs; i++) {
		struct gv_round_bucket *of = &b->bucket[i];

		of->n = 0;
		memset(of->free, 0xff, (of->n_all + 63) / 64 * sizeof(*of->free));
	}
}

size_t
gv_round_best_free(
    const struct gv_round_board *b, const struct gv_round_bucket *of, bool now)
{
	size_t blocked = 0;
	size_t i;

	for (i = 0; i < (of->n_all + 63) / 64; i++) {
		uint64_t word = of->free[i];
		size_t at = 64 * i;

		for (; word != 0 && at < of->n_all; word >>= 1, at++) {
			if ((word & 1) == 0)
				continue;
			if (!now || gv_round_can_put(b, of->all[at]))
				return of->all[at];
			if (++blocked == BLOCKED)
				return b->n;
		}
	}
	return b->n;
}

void
gv_round_refill(struct gv_round_board *b, size_t type)
{
	for (;;) {
		size_t best = b->n;
		size_t best_g = 0;
		size_t g;

		for (g = 0; g < b->n_gangs && b->gang[g] <= b->room[type]; g++) {
			size_t k =
			    gv_round_best_free(b, gv_round_bucket(b, type, g), true);

			if (k == b->n ||
			    (best < b->n && b->wish[k].weight / b->factor[g] <=
						b->wish[best].weight / b->factor[best_g]))
				continue;
			best = k;
			best_g = g;
		}
		if (best == b->n)
			return;
		gv_round_put(b, best);
	}
}

/* ---- order ---- */

struct ranked {
	double key;
	double share;
	size_t wish;
};

static int
by_key(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->wish < y->wish ? -1 : x->wish > y->wish;
}

void
gv_round_board_rank(struct gv_round_board *b, double p)
{
	struct ranked *rank = gv_xcalloc(b->n + 1, sizeof(*rank));
	size_t i;

	for (i = 0; i < b->n_gangs; i++)
		b->factor[i] = pow((double)b->gang[i], p);
	for (i = 0; i < b->n; i++) {
		const struct gv_round_wish *w = &b->wish[i];

		rank[i] = (struct ranked){w->weight / b->factor[b->gang_of[i]],
		    gv_rounds_claim(b->r, w->job, w->type)->share, i};
	}
	qsort(rank, b->n, sizeof(*rank), by_key);
	for (i = 0; i < b->n; i++)
		b->order[i] = rank[i].wish;
	free(rank);
}

/* ---- making it ---- */

/* Numbers the sizes of gangs. */
static void
number_gangs(struct gv_round_board *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		size_t size = b->r->job[b->wish[i].job].gang;
		size_t g = gv_sorted_place(b->gang, b->n_gangs, size);

		if (g < b->n_gangs && b->gang[g] == size)
			continue;
		gv_sorted_insert(b->gang, &b->n_gangs, g, size);
	}
	for (i = 0; i < b->n; i++)
		b->gang_of[i] =
		    gv_sorted_place(b->gang, b->n_gangs, b->r->job[b->wish[i].job].gang);
}

/* Makes the buckets and fills their lists of all wishes; b->order is by weight. */
static void
fill_buckets(struct gv_round_board *b)
{
	size_t n = b->r->n_types * b->n_gangs;
	size_t words = 0;
	size_t from = 0;
	size_t i;

	b->bucket = gv_xcalloc(n + 1, sizeof(*b->bucket));
	for (i = 0; i < b->n; i++)
		gv_round_bucket(b, b->wish[i].type, b->gang_of[i])->n_all++;
	b->bits = gv_xcalloc(b->n / 64 + n + 1, sizeof(*b->bits));
	for (i = 0; i < n; i++) {
		struct gv_round_bucket *of = &b->bucket[i];

		of->all = b->lists + from;
		of->wish = b->lists + b->n + from;
		of->free = b->bits + words;
		from += of->n_all;
		words += (of->n_all + 63) / 64;
		of->n_all = 0;
	}
	for (i = 0; i < b->n; i++) {
		size_t k = b->order[i];
		struct gv_round_bucket *of =
		    gv_round_bucket(b, b->wish[k].type, b->gang_of[k]);

		b->at[k] = of->n_all;
		of->all[of->n_all++] = k;
	}
}

void
gv_round_board_init(struct gv_round_board *b, const struct gv_rounds *r,
    const struct gv_round_wish *wish, size_t n)
{
	size_t m;
	size_t i;

	*b = (struct gv_round_board){.r = r, .wish = wish, .n = n};
	b->first = gv_xcalloc(r->n_jobs + 1, sizeof(*b->first));
	b->order = gv_xcalloc(n, sizeof(*b->order));
	b->gang = gv_xcalloc(n + 1, sizeof(*b->gang));
	b->gang_of = gv_xcalloc(n, sizeof(*b->gang_of));
	b->at = gv_xcalloc(n, sizeof(*b->at));
	b->lists = gv_xcalloc(2 * n, sizeof(*b->lists));
	b->room = gv_xcalloc(r->n_types, sizeof(*b->room));
	b->of = gv_xcalloc(r->n_jobs, sizeof(*b->of));
	for (m = 0, i = 0; m <= r->n_jobs; m++) {
		while (i < n && wish[i].job < m)
			i++;
		b->first[m] = i;
	}
	number_gangs(b);
	b->factor = gv_xcalloc(b->n_gangs, sizeof(*b->factor));
	gv_round_board_rank(b, 0);
	fill_buckets(b);
}

void
gv_round_board_free(struct gv_round_board *b)
{
	free(b->first);
	free(b->order);
	free(b->gang);
	free(b->gang_of);
	free(b->at);
	free(b->lists);
	free(b->bits);
	free(b->room);
	free(b->of);
	free(b->factor);
	free(b->bucket);
	free(b->step);
}
