#include "nn/cpu/gather.h"

#include <stdbool.h>
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

/* The place along one side, or false. */
static bool
place(const struct gv_cpu_windows *g, size_t o, size_t k, ptrdiff_t off, size_t size,
    size_t *at)
{
	*at = (size_t)((ptrdiff_t)o * g->mul + (ptrdiff_t)k - off); /* wraps below 0 */
	return *at < size;
}

/* As memcpy and memset, for the short runs of windows. */
static inline void
copy(gv_real *restrict dst, const gv_real *restrict src, size_t n)
{
	for (; n >= 16; n -= 16, dst += 16, src += 16)
		memcpy(dst, src, 16 * sizeof(*dst));
	for (; n >= 4; n -= 4, dst += 4, src += 4)
		memcpy(dst, src, 4 * sizeof(*dst));
	for (; n > 0; n--)
		*dst++ = *src++;
}

static inline void
zero(gv_real *dst, size_t n)
{
	for (; n >= 4; n -= 4, dst += 4)
		memset(dst, 0, 4 * sizeof(*dst));
	for (; n > 0; n--)
		*dst++ = 0;
}

/*
 * Elements [first, last) of the window at a place when neighbours in a window
 * are neighbours in the source: one run for each of its rows.
 */
static void
runs(const struct gv_cpu_windows *g, const gv_real *src, size_t oy, size_t ox,
    size_t first, size_t last, gv_real *dst)
{
	ptrdiff_t top = (ptrdiff_t)oy * g->mul - g->off_y,
		  left = (ptrdiff_t)ox * g->mul - g->off_x;
	ptrdiff_t c = (ptrdiff_t)g->c, line = (ptrdiff_t)g->width * c,
		  row = (ptrdiff_t)g->kw * c;
	ptrdiff_t lo = left < 0 ? -left * c : 0; /* elements of a row that are inside: */
	ptrdiff_t hi = line - left * c < row ? line - left * c : row; /* [lo, hi) */
	ptrdiff_t from = (ptrdiff_t)first, end = (ptrdiff_t)last, y;

	for (y = top; end > 0; y++, from -= row, end -= row) {
		ptrdiff_t e = from > 0 ? from : 0, stop = end < row ? end : row, a, b;

		if (e >= stop)
			continue;
		a = lo > e ? lo < stop ? lo : stop : e;
		b = hi < stop ? hi > a ? hi : a : stop;
		if (y < 0 || y >= (ptrdiff_t)g->height)
			b = a = stop;
		zero(dst, (size_t)(a - e));
		if (b > a)
			copy(dst + (a - e), src + y * line + left * c + a,
			    (size_t)(b - a));
		zero(dst + (b - e), (size_t)(stop - b));
		dst += stop - e;
	}
}

/* Elements [first, last) of a window. */
static void
part_window(const struct gv_cpu_windows *g, const gv_real *src, size_t oy, size_t ox,
    size_t first, size_t last, gv_real *dst)
{
	size_t e, n, y, x;

	for (e = first; e < last; e += n) {
		size_t tap = e / g->c, c = e % g->c;

		n = g->c - c < last - e ? g->c - c : last - e;
		if (place(g, oy, tap / g->kw, g->off_y, g->height, &y) &&
		    place(g, ox, tap % g->kw, g->off_x, g->width, &x))
			copy(dst, src + (y * g->width + x) * g->channels + g->c0 + c, n);
		else
			memset(dst, 0, n * sizeof(*dst));
		dst += n;
	}
}

/* Elements [first, last) of a window wholly inside: a run for each of its rows. */
enum { RUNS = 16 };
struct inside {
	size_t runs;
	size_t at[RUNS], n[RUNS]; /* from the window's first element in the source */
	bool whole; /* 16 numbers at a time: those behind may be written to */
};

static struct inside
inside(const struct gv_cpu_windows *g, size_t first, size_t last, bool loose)
{
	struct inside in = {.whole = true};
	size_t row = g->kw * g->c, ky = first / row, n;

	for (; first < last; first += n, ky++) {
		n = gv_cpu_lesser(row - first % row, last - first);
		in.at[in.runs] = ky * g->width * g->c + first % row;
		in.n[in.runs++] = n;
		in.whole = in.whole && (loose || n % 16 == 0);
	}
	return in;
}

static inline void
copy_inside(const struct inside *in, const gv_real *src, gv_real *restrict dst)
{
	size_t i, j, n;

	for (i = 0; i < in->runs; i++) {
		const gv_real *restrict from = src + in->at[i];

		n = in->n[i];
		if (in->whole)
			for (j = 0; j < n; j += 16)
				memcpy(dst + j, from + j, 16 * sizeof(*dst));
		else
			copy(dst, from, n);
		dst += n;
	}
}

/* gather when neighbours in a window are neighbours in the source. */
GV_HOT static void
gather_runs(const struct gv_cpu_windows *g, const gv_real *src, size_t oy, size_t ox,
    size_t n, size_t first, size_t last, bool loose, gv_real *dst)
{
	struct inside in = {0};
	ptrdiff_t kh = (ptrdiff_t)g->kh, kw = (ptrdiff_t)g->kw,
		  width = (ptrdiff_t)g->width, height = (ptrdiff_t)g->height;

	if (g->kh <= RUNS)
		in = inside(g, first, last, loose);
	for (; n > 0; n--, dst += last - first) {
		ptrdiff_t top = (ptrdiff_t)oy * g->mul - g->off_y;
		ptrdiff_t left = (ptrdiff_t)ox * g->mul - g->off_x;

		if (in.runs > 0 && top >= 0 && left >= 0 && top + kh <= height &&
		    left + kw <= width)
			copy_inside(
			    &in, src + (top * width + left) * (ptrdiff_t)g->c, dst);
		else
			runs(g, src, oy, ox, first, last, dst);
		if (++ox == g->out_width) {
			ox = 0;
			if (++oy == g->out_height) {
				oy = 0;
				src += g->height * g->width * g->channels;
			}
		}
	}
}

/* Of samples that are all there, or in the copy (loose). */
static void
gather(const struct gv_cpu_windows *g, size_t at, size_t n, size_t first, size_t last,
    bool loose, gv_real *dst)
{
	size_t places = g->out_height * g->out_width;
	const gv_real *src = g->src + at / places * g->height * g->width * g->channels;
	size_t oy = at % places / g->out_width, ox = at % g->out_width;

	if (g->c == g->channels) {
		gather_runs(g, src, oy, ox, n, first, last, loose, dst);
		return;
	}
	for (; n > 0; n--, dst += last - first) {
		part_window(g, src, oy, ox, first, last, dst);
		if (++ox == g->out_width) {
			ox = 0;
			if (++oy == g->out_height) {
				oy = 0;
				src += g->height * g->width * g->channels;
			}
		}
	}
}

/* How far windows reach beyond a side, in front and behind. */
static void
reach(size_t size, size_t out, size_t k, ptrdiff_t mul, ptrdiff_t off, size_t *front,
    size_t *behind)
{
	ptrdiff_t end = ((ptrdiff_t)out - 1) * mul + (ptrdiff_t)k - off;

	*front = off > 0 ? (size_t)off : 0;
	*behind = end > (ptrdiff_t)size ? (size_t)(end - (ptrdiff_t)size) : 0;
}

struct gv_cpu_stage
gv_cpu_stage(const struct gv_cpu_windows *w, size_t n, gv_real *scratch)
{
	enum { ROOM = 1 << 15 };
	struct gv_cpu_stage s = {.from = *w, .in = *w, .n = n, .copy = scratch};
	size_t top, bottom, left, right, size;

	if (w->kh * w->kw <= 1 || w->out_height * w->out_width == 0)
		return s;
	reach(w->height, w->out_height, w->kh, w->mul, w->off_y, &top, &bottom);
	reach(w->width, w->out_width, w->kw, w->mul, w->off_x, &left, &right);
	/* long runs are copied as fast from where they are, and those cut short are few */
	if (w->c == w->channels && w->kw * w->c % 16 == 0)
		return s;
	s.in.src = scratch;
	s.in.height += top + bottom;
	s.in.width += left + right;
	s.in.channels = w->c;
	s.in.c0 = 0;
	s.in.off_y -= (ptrdiff_t)top;
	s.in.off_x -= (ptrdiff_t)left;
	size = s.in.height * s.in.width * s.in.channels;
	s.most = size < ROOM ? ROOM / size : 1;
	s.room = s.most * size + GV_CPU_GATHER_MORE;
	return s;
}

/* Samples from first on into the copy. */
static void
copy_samples(struct gv_cpu_stage *s, size_t first)
{
	const struct gv_cpu_windows *from = &s->from, *in = &s->in;
	size_t top = (size_t)(from->off_y - in->off_y), y, x;
	size_t left = (size_t)(from->off_x - in->off_x), line = in->width * in->c;
	const gv_real *src =
	    from->src + first * from->height * from->width * from->channels + from->c0;
	size_t whole = from->width * from->channels;
	gv_real *to = s->copy, *end;

	s->first = first;
	s->some = gv_cpu_lesser(s->most, s->n - first);
	for (end = to + s->some * in->height * line; to < end;
	     to += (in->height - top - from->height) * line) {
		memset(to, 0, in->height * line * sizeof(*to));
		to += top * line;
		for (y = 0; y < from->height; y++, to += line, src += whole)
			if (from->c == from->channels)
				memcpy(to + left * in->c, src, whole * sizeof(*to));
			else
				for (x = 0; x < from->width; x++)
					copy(to + (left + x) * in->c,
					    src + x * from->channels, in->c);
	}
}

void
gv_cpu_gather(
    struct gv_cpu_stage *s, size_t at, size_t n, size_t first, size_t last, gv_real *dst)
{
	size_t places = s->in.out_height * s->in.out_width, some;

	if (s->room == 0) {
		gather(&s->in, at, n, first, last, false, dst);
		return;
	}
	for (; n > 0; n -= some, at += some, dst += some * (last - first)) {
		if (at / places < s->first || at / places >= s->first + s->some)
			copy_samples(s, at / places);
		some = gv_cpu_lesser(n, (s->first + s->some) * places - at);
		gather(&s->in, at - s->first * places, some, first, last, true, dst);
	}
}
