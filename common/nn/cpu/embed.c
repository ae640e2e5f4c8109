/*
 * embed: y = weight[token] + bias[place], for every number of the sample, which is
 * taken for a token; a number that is none is token 0.
 */
#include <string.h>

#include "nn/cpu/parts.h"

static size_t
token_of(gv_real x, size_t known)
{
	return x >= 0 && x < (gv_real)known ? (size_t)x : 0;
}

void
gv_cpu_embed_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *w = gv_nn_weight(c, r, s->b), *bias = gv_nn_bias(c, r, s->b);
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *y = gv_cpu_y(c, r, s);
	size_t n = r->columns, i, j;

	(void)cpu;
	GV_HOLDS(w != NULL);
	for (i = 0; i < s->n * r->in_size; i++, y += n) {
		const gv_real *from = w + token_of(x[i], r->matrix_rows) * n;
		const gv_real *place;

		if (bias == NULL) {
			memcpy(y, from, n * sizeof(*y));
			continue;
		}
		place = bias + i % r->in_size * n;
		for (j = 0; j < n; j++)
			y[j] = from[j] + place[j];
	}
}

/* It reads the sample, which has no gradient. */
void
gv_cpu_embed_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	(void)c;
	(void)r;
	(void)s;
}

/* Places of each token, as lists: the first, the next of each; and sums of a token's. */
size_t
gv_cpu_embed_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *at)
{
	size_t depth = 2, shards;

	for (shards = at->shards; shards > 1; shards /= 2)
		depth++;
	return (GV_CPU_EMBED_ROWS + at->samples * r->in_size) * sizeof(uint32_t) /
		   sizeof(gv_real) +
	       depth * r->columns + 2;
}

/* The places of tokens [first, last), of each in order; a place is told as its number + 1. */
static void
list_places(const gv_real *x, size_t n, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, uint32_t *head, uint32_t *next)
{
	size_t i;

	memset(head, 0, (p->last - p->first) * sizeof(*head));
	for (i = n; i-- > 0;) {
		size_t token = token_of(x[i], r->matrix_rows);

		if (token < p->first || token >= p->last)
			continue;
		next[i] = head[token - p->first];
		head[token - p->first] = (uint32_t)i + 1;
	}
}

/*
 * The sum of one token's dy: each shard's from 0 in the order of places, over the
 * shards a binary tree.  A shard without the token is 0 there, so a sum that stands
 * for shards of which only some have it is these shards' own.  None is -0.
 */
static void
sum_token(const struct gv_nn_call *c, const gv_real *dy, size_t in_size, size_t n,
    const uint32_t *next, uint32_t place, gv_real *stack)
{
	size_t shard, depth = 0, first, last, full, j;

	for (shard = 0; shard < c->plan->shards; shard++, depth++) {
		gv_real *top = stack + depth * n;

		gv_nn_shard(c->plan, shard, &first, &last);
		memset(top, 0, n * sizeof(*top));
		for (; place > 0 && place <= last * in_size; place = next[place - 1])
			gv_cpu_sum_two(top, n, dy + (place - 1) * n, n, 1, n);
		for (full = shard + 1; full % 2 == 0; full /= 2, depth--, top -= n)
			for (j = 0; j < n; j++)
				top[j - n] += top[j];
	}
}

bool
gv_cpu_embed_shards(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, size_t shard,
    size_t shards, gv_real *dw, size_t ldw, bool add)
{
	size_t n = r->columns, i, places = s->n * r->in_size;
	uint32_t *head = (uint32_t *)(void *)s->scratch;
	uint32_t *next = head + GV_CPU_EMBED_ROWS;
	gv_real *stack = s->scratch + ((GV_CPU_EMBED_ROWS + places) * sizeof(*next) +
					  sizeof(*stack) - 1) /
					  sizeof(*stack);

	(void)shard; /* all of them: it has no other way */
	(void)shards;
	list_places(gv_cpu_x(c, r, s), places, r, p, head, next);
	for (i = 0; i < p->last - p->first; i++, dw += ldw) {
		if (head[i] != 0)
			sum_token(
			    c, gv_cpu_dy(c, r, s), r->in_size, n, next, head[i], stack);
		if (head[i] != 0 && add)
			gv_cpu_sum_two(dw, n, stack, n, 1, n);
		else if (head[i] != 0)
			memcpy(dw, stack, n * sizeof(*dw));
		else if (!add)
			memset(dw, 0, n * sizeof(*dw));
	}
	return true;
}
