/*
 * embed.  The gradient of a token is a sum over the places where it stands: the first of
 * them walks a list of the others, so that nobody else writes there.
 */
#include "device.h"

namespace gv_embed {
GV_DEVICE unsigned
token_of(const struct gv_cuda_embed &a, size_t place)
{
	float x = a.x[place];

	return x >= 0 && x < (float)a.tokens ? (unsigned)x : 0;
}

template <class T>
GV_DEVICE void
forward(const struct gv_cuda_embed &a)
{
	size_t i = gv_global(GV_THREADS_embed_forward_f32);
	unsigned width = (unsigned)a.width, j = (unsigned)i % width;
	size_t place = (unsigned)i / width;

	if (place >= a.n * a.places)
		return;
	GV_EACH_MODEL(b, a)
	{
		float v = a.w[b * a.w_apart + (size_t)token_of(a, place) * width + j];

		if (a.bias != NULL)
			v += a.bias[b * a.bias_apart + place % a.places * width + j];
		gv_put((T *)a.y + b * a.y_apart + i, v);
	}
}

GV_KERNELS(embed_forward, gv_cuda_embed, forward)

/*
 * lists [places] of the next place with the same token (its number + 1; 0: none), then
 * [places] 1 where it is the first.  A thread a place.
 */
GV_KERNEL(embed_lists, gv_cuda_embed)
{
	size_t all = a.n * a.places, i = gv_global(GV_THREADS_embed_lists), next, before;
	unsigned token;

	if (i >= all)
		return;
	token = token_of(a, i);
	for (next = i + 1; next < all && token_of(a, next) != token; next++)
		;
	for (before = i; before > 0 && token_of(a, before - 1) != token; before--)
		;
	a.lists[i] = next < all ? (uint32_t)next + 1 : 0;
	a.lists[all + i] = before == 0;
}

GV_KERNEL(embed_zero, gv_cuda_embed)
{
	size_t i = gv_global(GV_THREADS_embed_zero);

	if (i >= a.tokens * a.width)
		return;
	GV_EACH_MODEL(b, a)
	a.dw[b * a.dw_apart + i] = 0;
}

enum { DEEPEST = 17 };

/* Column j of the token that stands at place first and those behind it in its list. */
template <class T>
GV_DEVICE float
sum_of_token(const struct gv_cuda_embed &a, size_t b, unsigned first, unsigned j)
{
	const T *dy = (const T *)a.dy + b * a.dy_apart + j;
	float level[DEEPEST];
	unsigned depth = 0, place = first + 1, begin, end;

	for (unsigned shard = 0; shard < a.shards.shards; shard++) {
		float sum = 0;

		gv_shard(&a.shards, shard, &begin, &end);
		for (; place > 0 && place <= end * a.places; place = a.lists[place - 1])
			sum += gv_get(dy + (size_t)(place - 1) * a.width);
		level[depth++] = sum;
		for (unsigned full = shard + 1; full % 2 == 0; full /= 2, depth--)
			level[depth - 2] += level[depth - 1];
	}
	return level[0];
}

template <class T>
GV_DEVICE void
gradient(const struct gv_cuda_embed &a)
{
	unsigned place = gv_block_x;

	if (a.lists[a.n * a.places + place] == 0)
		return;
	GV_EACH_MODEL(b, a)
	{
		float *dw = a.dw + b * a.dw_apart + (size_t)token_of(a, place) * a.width;

		for (unsigned j = gv_thread; j < a.width;
		     j += GV_THREADS_embed_gradient_f32) {
			float sum = sum_of_token<T>(a, b, place, j);

			dw[j] = a.add ? dw[j] + sum : sum;
		}
	}
}

GV_KERNELS(embed_gradient, gv_cuda_embed, gradient)
} // namespace gv_embed
