/* What works number by number: relu, gelu, add, and the bias behind another's product. */
#include "device.h"

namespace gv_map {
#define ROOT_HALF    0.70710678118654752f
#define DENSITY_AT_0 0.39894228040143268f /* 1 / sqrt(2 pi) */

GV_DEVICE float
normal(float x)
{
	return 0.5f * (1 + erff(x * ROOT_HALF));
}

struct relu {
	template <class T>
	GV_MEMBER static float
	forward(const struct gv_cuda_map &a, size_t b, size_t i)
	{
		return gv_relu(gv_get((const T *)a.x[0] + b * a.x_apart[0] + i));
	}
	template <class T>
	GV_MEMBER static float
	backward(const struct gv_cuda_map &a, size_t b, size_t i, float dy)
	{
		return gv_get((const T *)a.y + b * a.y_apart + i) <= 0 ? 0 : dy;
	}
};

struct gelu {
	template <class T>
	GV_MEMBER static float
	forward(const struct gv_cuda_map &a, size_t b, size_t i)
	{
		float x = gv_get((const T *)a.x[0] + b * a.x_apart[0] + i);

		return x * normal(x);
	}
	template <class T>
	GV_MEMBER static float
	backward(const struct gv_cuda_map &a, size_t b, size_t i, float dy)
	{
		float x = gv_get((const T *)a.x[0] + b * a.x_apart[0] + i);
		float density = DENSITY_AT_0 * expf(-0.5f * x * x);

		return dy * (normal(x) + x * density);
	}
};

struct sum {
	template <class T>
	GV_MEMBER static float
	forward(const struct gv_cuda_map &a, size_t b, size_t i)
	{
		float v = gv_get((const T *)a.x[0] + b * a.x_apart[0] + i);

		for (size_t k = 1; k < a.inputs; k++)
			v += gv_get((const T *)a.x[k] + b * a.x_apart[k] + i);
		return a.relu ? gv_relu(v) : v;
	}
	template <class T>
	GV_MEMBER static float
	backward(const struct gv_cuda_map &, size_t, size_t, float dy)
	{
		return dy;
	}
};

template <class F, class T>
GV_DEVICE void
forward(const struct gv_cuda_map &a)
{
	size_t i = gv_global(GV_THREADS_relu_forward_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	gv_put((T *)a.y + b * a.y_apart + i, F::template forward<T>(a, b, i));
}

template <class F, class T>
GV_DEVICE void
backward(const struct gv_cuda_map &a)
{
	size_t i = gv_global(GV_THREADS_relu_backward_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;
		T *dx = (T *)a.dx + b * a.dx_apart + i;
		float dy = gv_get((const T *)a.dy + b * a.dy_apart + i);
		float v = F::template backward<T>(a, b, i, dy);

		gv_put(dx, gv_masked(mask, i, a.add ? gv_get(dx) + v : v));
	}
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

template <class T>
GV_DEVICE void
bias(const struct gv_cuda_bias &a)
{
	size_t i = gv_global(GV_THREADS_bias_f32);

	if (i >= a.rows * a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		T *y = (T *)a.y + b * a.y_apart + i;
		float v = gv_get(y);

		if (a.bias != NULL)
			v += a.bias[b * a.bias_apart + (unsigned)i % (unsigned)a.n];
		gv_put(y, a.relu ? gv_relu(v) : v);
	}
}

GV_KERNELS(bias, gv_cuda_bias, bias)
} // namespace gv_map
