/*
 * Sums over samples in the order of common/nn/cpu/sums.c: strips of 32 rows in float,
 * the strips of a shard in double, the shards as a binary tree.
 *
 * A block is 32 columns (or, of the losses, models) x 8 shards; groups of 8 shards are
 * added as a tree in shared memory, the groups as they come by the first 32 threads.
 */
#include "device.h"

namespace gv_sums {
enum { COLUMNS = 32, GROUP = 8, DEEPEST = 17, AHEAD = 32 };

struct group {
	float v[GROUP][COLUMNS];
};

/* ---- a tree over groups of shards ---- */

/* Sums of equally many shards, the two topmost added whenever they are; of one column. */
struct stack {
	float level[DEEPEST];
	unsigned depth, groups;

	GV_MEMBER
	stack() : level(), depth(0), groups(0)
	{
	}
	GV_MEMBER void
	push(float v)
	{
		level[depth++] = v;
		for (unsigned full = ++groups; full % 2 == 0; full /= 2, depth--)
			level[depth - 2] += level[depth - 1];
	}
};

GV_DEVICE unsigned
lane(void)
{
	return gv_thread % COLUMNS;
}

GV_DEVICE unsigned
warp(void)
{
	return gv_thread / COLUMNS;
}

/*
 * Takes each thread's v, that of shard warp() of a group of n (a power of two at most
 * GROUP) and column lane(); the first warp pushes their sum.
 */
GV_DEVICE void
add_group(group &s, stack &to, float v, unsigned n)
{
	s.v[warp()][lane()] = v;
	gv_sync();
	for (unsigned step = 1; step < n; step *= 2) {
		if (warp() % (2 * step) == 0 && warp() + step < n)
			s.v[warp()][lane()] += s.v[warp() + step][lane()];
		gv_sync();
	}
	/* the next group's first number of a column is written by who reads this */
	if (warp() == 0)
		to.push(s.v[0][lane()]);
}

GV_DEVICE unsigned
group_size(size_t shards)
{
	return shards < GROUP ? (unsigned)shards : (unsigned)GROUP;
}

/* ---- what is summed ---- */

/* Column j of width, of the rows [i, end) in float. */
template <class T, enum gv_cuda_sum WHAT>
GV_DEVICE float
strip(const struct gv_cuda_sums &a, size_t b, unsigned j, size_t i, size_t end)
{
	const T *v = (const T *)a.v + b * a.v_apart;
	unsigned n = (unsigned)a.n, column = j % n;
	float part = 0, mean, rstd;

	if (WHAT == GV_CUDA_SUM || (WHAT == GV_CUDA_PRODUCTS && j < n)) {
		for (; i < end; i++)
			part += gv_get(v + i * n + column);
		return part;
	}
	if (WHAT == GV_CUDA_SCALED) {
		const float *means = a.mean + b * a.stat_apart;
		const float *rstds = a.rstd + b * a.stat_apart;

		for (; i < end; i++) {
			float x = gv_get((const T *)a.x + b * a.x_apart + i * n + column);

			part += gv_get(v + i * n + column) * ((x - means[i]) * rstds[i]);
		}
		return part;
	}
	mean = a.mean[b * a.stat_apart + column];
	if (WHAT == GV_CUDA_SQUARES) {
		for (; i < end; i++) {
			float apart = gv_get(v + i * n + column) - mean;

			part += apart * apart;
		}
		return part;
	}
	rstd = a.rstd[b * a.stat_apart + column];
	for (; i < end; i++) {
		float x = gv_get((const T *)a.x + b * a.x_apart + i * n + column);

		part += gv_get(v + i * n + column) * ((x - mean) * rstd);
	}
	return part;
}

/* Rows [*first, *last) of a shard. */
GV_DEVICE void
rows_of(const struct gv_cuda_sums &a, size_t shard, size_t *first, size_t *last)
{
	unsigned f, l;

	gv_shard(&a.shards, shard, &f, &l);
	*first = f * a.places;
	*last = l * a.places;
}

GV_DEVICE size_t
lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A thread a strip and column, into scratch [B][shards][strips][width]. */
template <class T, enum gv_cuda_sum WHAT>
GV_DEVICE void
strips(const struct gv_cuda_sums_run &r)
{
	const struct gv_cuda_sums &a = r.s;
	size_t i = gv_global(GV_THREADS_strips_sum_f32), first, last, at;
	size_t number = i / r.width, shard = number / r.strips;
	unsigned j = (unsigned)(i % r.width);

	if (shard >= a.shards.shards)
		return;
	rows_of(a, shard, &first, &last);
	at = first + number % r.strips * GV_CUDA_STRIP;
	if (at >= last)
		return;
	GV_EACH_MODEL(b, a)
	a.scratch[b * a.shards.shards * r.strips * r.width + i] =
	    strip<T, WHAT>(a, b, j, at, lesser(at + GV_CUDA_STRIP, last));
}

/*
 * n numbers that are apart, in their order.  A thread that awaits each before it asks for
 * the next is as slow as the memory is far.
 */
GV_DEVICE float
in_order(const float *v, size_t n, size_t apart)
{
	double total = 0;
	size_t i = 0;

	for (; i + AHEAD <= n; i += AHEAD) {
		float some[AHEAD];

		GV_UNROLL
		for (unsigned e = 0; e < AHEAD; e++)
			some[e] = v[(i + e) * apart];
		GV_UNROLL
		for (unsigned e = 0; e < AHEAD; e++)
			total += (double)some[e];
	}
	for (; i < n; i++)
		total += (double)v[i * apart];
	return (float)total;
}

/* A shard's strips, from scratch or made here. */
template <class T, enum gv_cuda_sum WHAT, bool MADE>
GV_DEVICE float
shard_sum(const struct gv_cuda_sums_run &r, size_t b, size_t shard, unsigned j)
{
	const struct gv_cuda_sums &a = r.s;
	size_t first, last;

	rows_of(a, shard, &first, &last);
	if constexpr (MADE) {
		return in_order(
		    a.scratch + (b * a.shards.shards + shard) * r.strips * r.width + j,
		    (last - first + GV_CUDA_STRIP - 1) / GV_CUDA_STRIP, r.width);
	} else {
		double total = 0;

		for (size_t i = first; i < last; i += GV_CUDA_STRIP)
			total += (double)strip<T, WHAT>(
			    a, b, j, i, lesser(i + GV_CUDA_STRIP, last));
		return (float)total;
	}
}

/* The sum, 0 for models that are not active; NULL pointers are left alone. */
GV_DEVICE void
deliver(float *to, float *also, bool add, float sum)
{
	if (also != NULL)
		*also = sum;
	*to = add ? *to + sum : sum;
}

template <class T, enum gv_cuda_sum WHAT, bool MADE>
GV_DEVICE void
sums(const struct gv_cuda_sums_run &r)
{
	GV_SHARED(group, s);
	const struct gv_cuda_sums &a = r.s;
	size_t j = (size_t)gv_block_x * COLUMNS + lane();
	unsigned n = group_size(a.shards.shards);

	for (size_t b = gv_block_y; b < a.B; b += gv_grid_y) {
		bool active = gv_active(a.active, b);
		stack total;

		if (!active && !a.zero)
			continue;
		for (size_t at = 0; at < a.shards.shards; at += n)
			add_group(s, total,
			    active && j < r.width && warp() < n
				? shard_sum<T, WHAT, MADE>(r, b, at + warp(), (unsigned)j)
				: 0,
			    n);
		if (warp() == 0 && j < r.width)
			deliver(a.to + b * a.to_apart + j,
			    a.also == NULL || !active ? NULL
						      : a.also + b * a.also_apart + j,
			    a.add, total.level[0]);
	}
}

#define SUMS(name, what)                                  \
	GV_KERNEL(strips_##name##_f32, gv_cuda_sums_run)  \
	{                                                 \
		strips<float, what>(a);                   \
	}                                                 \
	GV_KERNEL(strips_##name##_bf16, gv_cuda_sums_run) \
	{                                                 \
		strips<gv_bf16, what>(a);                 \
	}                                                 \
	GV_KERNEL(sums_##name##_f32, gv_cuda_sums_run)    \
	{                                                 \
		sums<float, what, false>(a);              \
	}                                                 \
	GV_KERNEL(sums_##name##_bf16, gv_cuda_sums_run)   \
	{                                                 \
		sums<gv_bf16, what, false>(a);            \
	}
SUMS(sum, GV_CUDA_SUM)
SUMS(squares, GV_CUDA_SQUARES)
SUMS(products, GV_CUDA_PRODUCTS)
SUMS(scaled, GV_CUDA_SCALED)

GV_KERNEL(totals, gv_cuda_sums_run)
{
	sums<float, GV_CUDA_SUM, true>(a);
}

/* ---- a tree alone ---- */

/* The tree over n numbers, a power of two, that are apart: eight at a time where it has them. */
GV_DEVICE float
tree_over(const float *v, size_t n, size_t apart)
{
	stack total;

	if (n < GROUP) {
		for (size_t i = 0; i < n; i++)
			total.push(v[i * apart]);
		return total.level[0];
	}
	for (size_t i = 0; i < n; i += GROUP) {
		float some[GROUP];

		GV_UNROLL
		for (unsigned e = 0; e < GROUP; e++)
			some[e] = v[(i + e) * apart];
		GV_UNROLL
		for (unsigned step = 1; step < GROUP; step *= 2)
			GV_UNROLL
		for (unsigned e = 0; e < GROUP; e += 2 * step)
			some[e] += some[e + step];
		total.push(some[0]);
	}
	return total.level[0];
}

struct branches {
	float v[GV_THREADS_tree];
};

/* A column is added by so many threads, each a branch: neighbours have those of neighbours. */
GV_KERNEL(tree, gv_cuda_tree_run)
{
	GV_SHARED(branches, s);
	const struct gv_cuda_tree &t = a.t;
	unsigned across = GV_THREADS_tree / a.branches, branch = gv_thread / across;
	size_t j = (size_t)gv_block_x * across + gv_thread % across;
	size_t parts = t.parts / a.branches;

	for (size_t b = gv_block_y; b < t.B; b += gv_grid_y) {
		bool active = gv_active(t.active, b);
		const float *v = t.v + b * t.v_apart + branch * parts * t.part_apart + j;

		if (!active && !t.zero)
			continue;
		gv_sync(); /* the last model's have been read */
		s.v[gv_thread] =
		    active && j < t.n ? tree_over(v, parts, t.part_apart) : 0;
		for (unsigned step = 1; step < a.branches; step *= 2) {
			gv_sync();
			if (branch % (2 * step) == 0)
				s.v[gv_thread] += s.v[gv_thread + step * across];
		}
		if (branch > 0 || j >= t.n)
			continue;
		if (t.times > 0)
			s.v[gv_thread] =
			    (float)((double)s.v[gv_thread] * t.times / t.by);
		deliver(t.to + b * t.to_apart + j,
		    t.also == NULL || !active ? NULL : t.also + b * t.also_apart + j,
		    t.add, s.v[gv_thread]);
	}
}

/* ---- losses: a column a model ---- */

GV_DEVICE float
mean_of_shard(const struct gv_cuda_losses &a, size_t b, size_t shard)
{
	unsigned first, last;
	double sum = 0;

	gv_shard(&a.shards, shard, &first, &last);
	for (unsigned i = first; i < last; i++)
		sum += (double)a.loss[b * a.loss_apart + i];
	return (float)(sum / a.samples);
}

GV_KERNEL(losses, gv_cuda_losses)
{
	GV_SHARED(group, s);
	size_t b = (size_t)gv_block_x * COLUMNS + lane();
	bool active = b < a.B && gv_active(a.active, b);
	unsigned n = group_size(a.shards.shards);
	stack total;

	for (size_t at = 0; at < a.shards.shards; at += n)
		add_group(s, total,
		    active && warp() < n ? mean_of_shard(a, b, at + warp()) : 0, n);
	if (warp() == 0 && b < a.B)
		a.to[b] = a.add ? a.to[b] + total.level[0] : total.level[0];
}
} // namespace gv_sums
