/* What works number by number: relu, gelu, add, and the bias behind another's product. */
#include "functions.h"

namespace gv_map {
#define ROOT_HALF       0.70710678118654752f
#define DENSITY_AT_0    0.39894228040143268f  /* 1 / sqrt(2 pi) */
#define TWICE_ROOT      1.5957691216057308f   /* 2 sqrt(2 / pi) */
#define TWICE_ROOT_CUBE 0.071354816272600253f /* 0.044715 of it */

GV_DEVICE float
normal(float x)
{
	return 0.5f * (1 + gv_erf(x * ROOT_HALF));
}

GV_DEVICE float
gelu_slope(float x)
{
	return normal(x) + x * (DENSITY_AT_0 * gv_exp(-0.5f * x * x));
}

/* What x is multiplied by. */
GV_DEVICE float
gelu_tanh(float x)
{
	return gv_sigmoid(x * (TWICE_ROOT + TWICE_ROOT_CUBE * (x * x)));
}

/* dy at i through a function of the row's output, or of its input. */
struct relu {
	template <int N, class T>
	GV_MEMBER static void
	forward(const struct gv_cuda_map &, float (&v)[N])
	{
		GV_UNROLL
		for (int e = 0; e < N; e++)
			v[e] = gv_relu(v[e]);
	}
	template <int N, class T>
	GV_MEMBER static void
	backward(const struct gv_cuda_map &a, size_t b, size_t i, float (&dy)[N])
	{
		gv_mask_many(dy, (const T *)a.y + b * a.y_apart + i);
	}
};

struct gelu {
	template <int N, class T>
	GV_MEMBER static void
	forward(const struct gv_cuda_map &, float (&v)[N])
	{
		GV_UNROLL
		for (int e = 0; e < N; e++)
			v[e] = v[e] * normal(v[e]);
	}
	template <int N, class T>
	GV_MEMBER static void
	backward(const struct gv_cuda_map &a, size_t b, size_t i, float (&dy)[N])
	{
		float x[N];

		gv_get_many(x, (const T *)a.x[0] + b * a.x_apart[0] + i);
		GV_UNROLL
		for (int e = 0; e < N; e++)
			dy[e] *= gelu_slope(x[e]);
	}
};

struct sum {
	template <int N, class T>
	GV_MEMBER static void
	forward(const struct gv_cuda_map &a, float (&v)[N])
	{
		GV_UNROLL
		for (int e = 0; e < N; e++)
			v[e] = a.relu ? gv_relu(v[e]) : v[e];
	}
	template <int N, class T>
	GV_MEMBER static void
	backward(const struct gv_cuda_map &, size_t, size_t, float (&)[N])
	{
	}
};

template <class F, class T, int N>
GV_DEVICE void
forward_of(const struct gv_cuda_map &a)
{
	size_t i = N * gv_global(GV_THREADS_relu_forward_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		float v[N], more[N];

		gv_get_many(v, (const T *)a.x[0] + b * a.x_apart[0] + i);
		for (size_t k = 1; k < a.inputs; k++) {
			gv_get_many(more, (const T *)a.x[k] + b * a.x_apart[k] + i);
			GV_UNROLL
			for (int e = 0; e < N; e++)
				v[e] += more[e];
		}
		F::template forward<N, T>(a, v);
		gv_put_many((T *)a.y + b * a.y_apart + i, v);
	}
}

template <class F, class T, int N>
GV_DEVICE void
backward_of(const struct gv_cuda_map &a)
{
	size_t i = N * gv_global(GV_THREADS_relu_backward_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart + i;
		T *dx = (T *)a.dx + b * a.dx_apart + i;
		float dy[N], was[N];

		gv_get_many(dy, (const T *)a.dy + b * a.dy_apart + i);
		F::template backward<N, T>(a, b, i, dy);
		if (a.add) {
			gv_get_many(was, dx);
			GV_UNROLL
			for (int e = 0; e < N; e++)
				dy[e] = was[e] + dy[e];
		}
		gv_mask_many(dy, mask);
		gv_put_many(dx, dy);
	}
}

template <class F, class T>
GV_DEVICE void
forward(const struct gv_cuda_map &a)
{
	if (a.wide)
		forward_of<F, T, gv_many<T>::N>(a);
	else
		forward_of<F, T, 1>(a);
}

template <class F, class T>
GV_DEVICE void
backward(const struct gv_cuda_map &a)
{
	if (a.wide)
		backward_of<F, T, gv_many<T>::N>(a);
	else
		backward_of<F, T, 1>(a);
}

#define MAP(name, f)                                 \
	GV_KERNEL(name##_forward_f32, gv_cuda_map)   \
	{                                            \
		forward<f, float>(a);                \
	}                                            \
	GV_KERNEL(name##_forward_bf16, gv_cuda_map)  \
	{                                            \
		forward<f, gv_bf16>(a);              \
	}                                            \
	GV_KERNEL(name##_backward_f32, gv_cuda_map)  \
	{                                            \
		backward<f, float>(a);               \
	}                                            \
	GV_KERNEL(name##_backward_bf16, gv_cuda_map) \
	{                                            \
		backward<f, gv_bf16>(a);             \
	}
MAP(relu, relu)
MAP(gelu, gelu)
MAP(add, sum)

template <class T, int N>
GV_DEVICE void
bias_of(const struct gv_cuda_bias &a)
{
	size_t i = N * gv_global(GV_THREADS_bias_f32);

	if (i >= a.rows * a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		T *y = (T *)a.y + b * a.y_apart + i;
		float v[N];

		gv_get_many(v, y);
		GV_UNROLL
		for (int e = 0; e < N; e++) {
			if (a.bias != NULL)
				v[e] += a.bias[b * a.bias_apart +
					       ((unsigned)i + e) % (unsigned)a.n];
			v[e] = a.relu ? gv_relu(v[e]) : v[e];
		}
		gv_put_many(y, v);
	}
}

template <class T>
GV_DEVICE void
bias(const struct gv_cuda_bias &a)
{
	if (a.wide)
		bias_of<T, gv_many<T>::N>(a);
	else
		bias_of<T, 1>(a);
}

GV_KERNELS(bias, gv_cuda_bias, bias)

/* ---- the acts of rows ---- */

GV_DEVICE float
act_of(const struct gv_cuda_acts_run &a, float x)
{
	switch (a.act) {
	case GV_CUDA_ACT_LEAKY:
		return 0 > x ? a.a.slope * x : x;
	case GV_CUDA_ACT_SIGMOID:
		return gv_sigmoid(x);
	case GV_CUDA_ACT_TANH:
		return gv_tanh(x);
	case GV_CUDA_ACT_GELU:
		return x * normal(x);
	case GV_CUDA_ACT_SILU:
		return x * gv_sigmoid(x);
	case GV_CUDA_ACT_GELU_TANH:
		return x * gelu_tanh(x);
	default:
		return gv_relu(x);
	}
}

/* The gradient dy through an act that gave, or (gelu, silu, gelu-tanh) got, v. */
GV_DEVICE float
act_back(const struct gv_cuda_acts_run &a, float v, float dy)
{
	float s;

	switch (a.act) {
	case GV_CUDA_ACT_LEAKY:
		return v <= 0 ? a.a.slope * dy : dy;
	case GV_CUDA_ACT_SIGMOID:
		return dy * (v * (1 - v));
	case GV_CUDA_ACT_TANH:
		return dy * (1 - v * v);
	case GV_CUDA_ACT_GELU:
		return dy * gelu_slope(v);
	case GV_CUDA_ACT_SILU:
		s = gv_sigmoid(v);
		return dy * (s * (1 + v * (1 - s)));
	case GV_CUDA_ACT_GELU_TANH:
		s = gelu_tanh(v);
		return dy * (s * (1 + v * ((1 - s) * (TWICE_ROOT + 3 * TWICE_ROOT_CUBE *
								       (v * v)))));
	default:
		return v <= 0 ? 0 : dy;
	}
}

template <class T, int N>
GV_DEVICE void
act_forward_of(const struct gv_cuda_acts_run &r)
{
	const struct gv_cuda_acts &a = r.a;
	size_t i = N * gv_global(GV_THREADS_act_forward_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		T *y = (T *)a.y + b * a.y_apart + i;
		float v[N];

		gv_get_many(v, y);
		if (a.before != NULL)
			gv_put_many((T *)a.before + b * a.before_apart + i, v);
		GV_UNROLL
		for (int e = 0; e < N; e++)
			v[e] = act_of(r, v[e]);
		gv_put_many(y, v);
	}
}

template <class T>
GV_DEVICE void
act_forward(const struct gv_cuda_acts_run &r)
{
	if (r.wide)
		act_forward_of<T, gv_many<T>::N>(r);
	else
		act_forward_of<T, 1>(r);
}

GV_KERNELS(act_forward, gv_cuda_acts_run, act_forward)

template <class T, int N>
GV_DEVICE void
act_backward_of(const struct gv_cuda_acts_run &r)
{
	const struct gv_cuda_acts &a = r.a;
	size_t i = N * gv_global(GV_THREADS_act_backward_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		T *to = (T *)a.dy + b * a.dy_apart + i;
		float dy[N], v[N];

		gv_get_many(dy, to);
		gv_get_many(v, (const T *)a.v + b * a.v_apart + i);
		GV_UNROLL
		for (int e = 0; e < N; e++)
			dy[e] = act_back(r, v[e], dy[e]);
		gv_put_many(to, dy);
	}
}

template <class T>
GV_DEVICE void
act_backward(const struct gv_cuda_acts_run &r)
{
	if (r.wide)
		act_backward_of<T, gv_many<T>::N>(r);
	else
		act_backward_of<T, 1>(r);
}

GV_KERNELS(act_backward, gv_cuda_acts_run, act_backward)

/* ---- concat ---- */

template <class T>
GV_DEVICE void
move(const struct gv_cuda_move &a)
{
	size_t i = gv_global(GV_THREADS_move_f32);
	unsigned row = (unsigned)i / (unsigned)a.n, j = (unsigned)i % (unsigned)a.n;

	if (i >= a.rows * a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		size_t at = row * a.to_row + j;
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;
		T *to = (T *)a.to + b * a.to_apart + at;
		float v =
		    gv_get((const T *)a.from + b * a.from_apart + row * a.from_row + j);

		v = a.add ? gv_get(to) + v : v;
		gv_put(to, gv_masked(mask, at, a.relu ? gv_relu(v) : v));
	}
}

GV_KERNELS(move, gv_cuda_move, move)

/* ---- dropout ---- */

/* Four draws: gv_philox of (at, sample, row, 0) under the key. */
struct draws {
	unsigned v[4];
	GV_MEMBER
	draws(unsigned at, unsigned sample, unsigned row, uint64_t key)
	{
		unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);

		v[0] = at;
		v[1] = sample;
		v[2] = row;
		v[3] = 0;
		for (int round = 0; round < 10; round++) {
			uint64_t p0 = (uint64_t)v[0] * 0xD2511F53u;
			uint64_t p1 = (uint64_t)v[2] * 0xCD9E8D57u;

			v[0] = (unsigned)(p1 >> 32) ^ v[1] ^ k0;
			v[1] = (unsigned)p1;
			v[2] = (unsigned)(p0 >> 32) ^ v[3] ^ k1;
			v[3] = (unsigned)p0;
			k0 += 0x9E3779B9u;
			k1 += 0xBB67AE85u;
		}
	}
};

/* A thread a draw, which is for four numbers of a sample. */
template <class T>
GV_DEVICE void
dropout(const struct gv_cuda_dropout &a)
{
	unsigned fours = (unsigned)((a.size + 3) / 4);
	unsigned i = (unsigned)gv_global(GV_THREADS_dropout_f32);
	unsigned sample = i / fours, four = i % fours;
	uint64_t below = (uint64_t)(a.rate * 4294967296.0);
	float scale = (float)(1 / (1 - a.rate));

	if (sample >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		draws u(four, a.first + sample, a.row, a.key[b]);
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;

		for (unsigned k = 0; k < 4 && 4 * four + k < a.size; k++) {
			size_t at = sample * a.size + 4 * four + k;
			T *to = (T *)a.to + b * a.to_apart + at;
			float x = gv_get((const T *)a.from + b * a.from_apart + at);
			float v = u.v[k] < below ? 0 : scale * x;

			gv_put(to, gv_masked(mask, at, a.add ? gv_get(to) + v : v));
		}
	}
}

GV_KERNELS(dropout, gv_cuda_dropout, dropout)
} // namespace gv_map
