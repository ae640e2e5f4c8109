/* lstm, but for its products: common/nn/cpu/lstm.c has the formulas. */
#include "functions.h"

namespace gv_lstm {
/* The number of a sample's state that a thread has. */
struct place {
	unsigned sample, j;
	bool there;

	GV_MEMBER
	place(const struct gv_cuda_cell &a)
	{
		unsigned i = (unsigned)gv_global(GV_THREADS_cell_forward_f32);

		sample = i / (unsigned)a.state;
		j = i % (unsigned)a.state;
		there = sample < a.n;
	}
};

template <class T>
GV_DEVICE T *
of(void *v, size_t apart, size_t b, size_t row, const place &p)
{
	return v == NULL ? NULL : (T *)v + b * apart + p.sample * row + p.j;
}

template <class T>
GV_DEVICE const T *
of(const void *v, size_t apart, size_t b, size_t row, const place &p)
{
	return v == NULL ? NULL : (const T *)v + b * apart + p.sample * row + p.j;
}

template <class T>
GV_DEVICE void
forward(const struct gv_cuda_cell &a)
{
	place p(a);
	size_t n = a.state;

	if (!p.there)
		return;
	GV_EACH_MODEL(b, a)
	{
		T *gates = of<T>(a.gates, a.kept_apart, b, a.gates_row, p);
		T *cell = of<T>(a.cell, a.kept_apart, b, a.row, p);
		const T *before = of<T>(a.before, a.kept_apart, b, a.row, p);
		float in = gv_sigmoid(gv_get(gates)),
		      forget = gv_sigmoid(gv_get(gates + n));
		float fresh = gv_tanh(gv_get(gates + 2 * n));
		float out = gv_sigmoid(gv_get(gates + 3 * n));
		float was = before != NULL ? gv_get(before) : 0;
		float c = forget * was + in * fresh;

		gv_put(gates, in);
		gv_put(gates + n, forget);
		gv_put(gates + 2 * n, fresh);
		gv_put(gates + 3 * n, out);
		gv_put(cell, c);
		gv_put(of<T>(a.h, a.h_apart, b, a.row, p), out * gv_tanh(c));
	}
}

GV_KERNELS(cell_forward, gv_cuda_cell, forward)

template <class T>
GV_DEVICE void
backward(const struct gv_cuda_cell &a)
{
	place p(a);
	size_t n = a.state;

	if (!p.there)
		return;
	GV_EACH_MODEL(b, a)
	{
		const T *gates = of<T>(a.gates, a.kept_apart, b, a.gates_row, p);
		const T *before = of<T>(a.before, a.kept_apart, b, a.row, p);
		const T *carry = of<T>(a.carry, a.dkept_apart, b, a.row, p);
		T *dgates = of<T>(a.dgates, a.dkept_apart, b, a.gates_row, p);
		T *to = of<T>(a.dh, a.dkept_apart, b, a.row, p);
		float in = gv_get(gates), forget = gv_get(gates + n);
		float fresh = gv_get(gates + 2 * n), out = gv_get(gates + 3 * n);
		float t = gv_tanh(gv_get(of<T>(a.cell, a.kept_apart, b, a.row, p)));
		float was = before != NULL ? gv_get(before) : 0, dh = gv_get(to);
		float dc = dh * out * (1 - t * t) + (carry != NULL ? gv_get(carry) : 0);

		gv_put(dgates, dc * fresh * (in * (1 - in)));
		gv_put(dgates + n, dc * was * (forget * (1 - forget)));
		gv_put(dgates + 2 * n, dc * in * (1 - fresh * fresh));
		gv_put(dgates + 3 * n, dh * t * (out * (1 - out)));
		gv_put(to, dc * forget);
	}
}

GV_KERNELS(cell_backward, gv_cuda_cell, backward)

template <class T>
GV_DEVICE void
shift(const struct gv_cuda_shift &a)
{
	size_t i = gv_global(GV_THREADS_shift_f32);
	gv_place p = gv_place_of(i, 1, a.steps, a.width);
	unsigned end = a.behind ? (unsigned)a.steps - 1 : 0;

	if (p.sample >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		size_t from = p.sample * a.steps + (a.behind ? p.x + 1 : p.x - 1);

		gv_put((T *)a.to + b * a.to_apart + i,
		    p.x == end ? 0
			       : gv_get((const T *)a.from + b * a.from_apart +
					from * a.from_row + p.c));
	}
}

GV_KERNELS(shift, gv_cuda_shift, shift)
} // namespace gv_lstm
