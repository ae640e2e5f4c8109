/*
 * Random nets: batches of 1 to 1,024, 1 to 130 channels, convs also depthwise and in
 * groups, with any window, stride and padding, bn, pools, narrow and wide linears.
 */
#ifndef NN_RANDOM_H
#define NN_RANDOM_H

#include "base/strbuf.h"
#include "nn_help.h"

#ifndef HEAD
#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"
#endif

struct random_case {
	char name[32];
	struct gv_strbuf table;
	size_t side, channels, classes, batch;
};

static uint64_t random_draws;

static inline size_t
random_below(size_t n)
{
	return (size_t)(gv_random(31, 0, 0, random_draws++) % n);
}

static inline size_t
random_one_of(const size_t *v, size_t n)
{
	return v[random_below(n)];
}
#define ONE_OF(...)                                  \
	random_one_of((const size_t[]){__VA_ARGS__}, \
	    sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

static inline const char *
random_act(void)
{
	static const char *const acts[] = {"", "relu", "leaky", "leaky:0.3", "sigmoid",
	    "tanh", "gelu", "silu", "gelu-tanh"};

	return acts[random_below(sizeof(acts) / sizeof(acts[0]))];
}

/* Places twice as many and more, of a map that is small. */
static inline void
random_up(struct gv_strbuf *t, size_t *row, size_t *channels, size_t *side)
{
	size_t k = 1 + random_below(4), s = 1 + random_below(3);
	size_t p = random_below(k < 3 ? 1 : 2), out = ONE_OF(1, 4, 16, 33, 64), g = 1;

	if (*channels % 2 == 0 && out % 2 == 0 && random_below(2) == 0)
		g = 2;
	gv_strbuf_fmt(t, "%zu,tconv,,%zu,%zu,%zu,%zu,%zu,%s,%d\n", (*row)++, out, k, s, p,
	    g, random_act(), (int)random_below(2));
	*channels = out;
	*side = (*side - 1) * s + k - 2 * p;
}

/* A conv and behind it nothing, bn, a pool or relu. */
static inline void
random_block(struct gv_strbuf *t, size_t *row, size_t *channels, size_t *side)
{
	size_t k = 1 + random_below(*side < 4 ? *side : 4), p = random_below(k),
	       s = 1 + random_below(3);
	size_t out = ONE_OF(1, 3, 8, 16, 31, 33, 64, 130), g = 1;

	if (random_below(2) == 0) /* depthwise, one channel out to each in or two */
		out = *channels * (1 + random_below(2)), g = *channels;
	else if (*channels % 2 == 0 && out % 2 == 0 && random_below(2) == 0)
		g = 2;
	gv_strbuf_fmt(t, "%zu,conv,,%zu,%zu,%zu,%zu,%zu,%s,%d\n", (*row)++, out, k, s, p,
	    g, random_below(2) == 0 ? "relu" : random_act(), (int)random_below(2));
	*channels = out;
	*side = (*side + 2 * p - k) / s + 1;
	switch (random_below(4)) {
	case 2:
		gv_strbuf_fmt(t, "%zu,relu,,,,,,,,\n", (*row)++);
		break;
	case 0:
		gv_strbuf_fmt(t, "%zu,bn,,,,,,,%s,\n", (*row)++, random_act());
		break;
	case 1:
		if (*side < 2)
			break;
		gv_strbuf_fmt(t, "%zu,%s,,,2,%zu,%d,,,\n", (*row)++,
		    random_below(2) == 0 ? "maxpool" : "avgpool", s = 1 + random_below(2),
		    (int)(p = random_below(2)));
		*side = (*side + 2 * p - 2) / s + 1;
		break;
	}
}

/* Case i; random_free frees it. */
static inline void
random_case(struct random_case *c, size_t i)
{
	size_t row = 1, side, channels, blocks;
	struct gv_strbuf *t = &c->table;

	random_draws = i << 32;
	*c = (struct random_case){.channels = ONE_OF(1, 2, 3, 17, 64),
	    .classes = 2 + random_below(20),
	    .batch = ONE_OF(1, 2, 3, 12, 13, 64, 130, 257, 1024)};
	side = 1 + random_below(9);
	while (side > 1 && c->batch * side * side * c->channels > 20000)
		side--;
	c->side = side;
	channels = c->channels;
	/* bn needs more than one number */
	blocks = c->batch == 1 ? 0 : random_below(4);
	snprintf(c->name, sizeof(c->name), "random %zu", i);
	gv_strbuf_str(t, HEAD);
	for (; blocks > 0 && channels < 130; blocks--)
		if (side < 4 && random_below(3) == 0)
			random_up(t, &row, &channels, &side);
		else
			random_block(t, &row, &channels, &side);
	if (random_below(3) > 0) {
		size_t act = random_below(3); /* as the linear's own, or a row */

		gv_strbuf_fmt(t, "%zu,linear,,%zu,,,,,%s,\n", row++,
		    ONE_OF(1, 7, 63, 64, 65, 200, 1100), act == 0 ? "relu" : "");
		if (act > 0)
			gv_strbuf_fmt(
			    t, "%zu,%s,,,,,,,,\n", row++, act == 1 ? "relu" : "gelu");
	}
	gv_strbuf_fmt(t, "%zu,linear,,,,,,,,\n%zu,xent,,,,,,,,\n", row, row + 1);
}

static inline void
random_free(struct random_case *c)
{
	gv_strbuf_free(&c->table);
}

#endif
