/* Copies: samples by their numbers, numbers as another type. */
#include "device.h"

namespace gv_gather {
template <class WORD>
GV_DEVICE void
gather(const struct gv_cuda_gather &a)
{
	size_t words = a.bytes / sizeof(WORD), i = gv_global(GV_THREADS_gather_4);
	size_t step = i / words;

	if (step < a.n)
		((WORD *)a.to)[i] =
		    ((const WORD *)a.from)[a.index[step] * words + i % words];
}

struct word_16 {
	unsigned v[4];
} __attribute__((aligned(16)));

GV_KERNEL(gather_16, gv_cuda_gather)
{
	gather<word_16>(a);
}
GV_KERNEL(gather_4, gv_cuda_gather)
{
	gather<unsigned>(a);
}
GV_KERNEL(gather_1, gv_cuda_gather)
{
	gather<unsigned char>(a);
}

template <class FROM, class TO>
GV_DEVICE void
convert(const struct gv_cuda_convert &a)
{
	size_t i = gv_global(GV_THREADS_convert_f32);

	for (size_t b = gv_block_y; b < a.B && i < a.n; b += gv_grid_y)
		gv_put((TO *)a.to + b * a.to_apart + i,
		    gv_get((const FROM *)a.from + b * a.from_apart + i));
}

GV_KERNEL(convert_f32, gv_cuda_convert)
{
	convert<float, gv_bf16>(a);
}
GV_KERNEL(convert_bf16, gv_cuda_convert)
{
	convert<gv_bf16, float>(a);
}
} // namespace gv_gather
