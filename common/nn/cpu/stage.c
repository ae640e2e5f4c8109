#include "nn/cpu/stage.h"

#include <stdbool.h>
#include <string.h>

#include "nn/cpu/parts.h"

/* How far windows reach beyond a side, in front and behind. */
static void
reach(size_t size, size_t out, size_t k, ptrdiff_t mul, ptrdiff_t off, size_t *front,
    size_t *behind)
{
	ptrdiff_t end = ((ptrdiff_t)out - 1) * mul + (ptrdiff_t)k - off;

	*front = off > 0 ? (size_t)off : 0;
	*behind = end > (ptrdiff_t)size ? (size_t)(end - (ptrdiff_t)size) : 0;
}

/*
 * Lines that the copy has at a time: enough places for a product, if they are not too many
 * numbers; of whole samples, or else many windows high.
 */
static size_t
lines_at_once(const struct gv_cpu_windows *w)
{
	enum { WINDOWS = 4, PLACES = 192 };
	size_t line = w->width * w->channels;
	size_t fit = GV_CPU_STAGE_ROOM / 4 / line;
	size_t most = GV_CPU_STAGE_ROOM / line;
	size_t want = PLACES / (w->out_height * w->out_width) * w->height;

	fit = fit > want ? fit : gv_cpu_lesser(want, most);
	if (fit >= w->height)
		return fit / w->height * w->height;
	return gv_cpu_lesser(w->height, most > WINDOWS * w->kh ? most : WINDOWS * w->kh);
}

enum { APART = 16 };

/* Whether one channel of all places, of so many each, would have few sets of a cache. */
static bool
is_crowded(const struct gv_cpu_windows *w, size_t channels)
{
	return channels * (size_t)w->mul % 64 == 0;
}

struct gv_cpu_stage
gv_cpu_stage(const struct gv_cpu_windows *w, size_t n, gv_real *scratch)
{
	struct gv_cpu_stage s = {.from = *w, .in = *w, .n = n, .copy = scratch};
	size_t top, bottom, left, right;

	if (w->kh * w->kw * w->out_height * w->out_width == 0)
		return s;
	reach(w->height, w->out_height, w->kh, w->mul, w->off_y, &top, &bottom);
	reach(w->width, w->out_width, w->kw, w->mul, w->off_x, &left, &right);
	if (top + bottom + left + right == 0 && !is_crowded(w, w->channels))
		return s;
	s.in.src = scratch;
	s.in.height += top + bottom;
	s.in.width += left + right;
	s.in.channels = w->c + (is_crowded(w, w->c) ? APART : 0);
	s.in.c0 = 0;
	s.in.off_y -= (ptrdiff_t)top;
	s.in.off_x -= (ptrdiff_t)left;
	s.most = lines_at_once(&s.in);
	s.room = s.most * s.in.width * s.in.channels;
	return s;
}

void
gv_cpu_stage_elements(
    const struct gv_cpu_stage *s, size_t first, size_t last, size_t *list)
{
	const struct gv_cpu_windows *w = &s->in;
	size_t c = first % w->c, tap = first / w->c, x, y;

	if (first == last)
		return; /* of a window that may have none */
	x = tap % w->kw;
	y = tap / w->kw;
	for (; first < last; first++) {
		*list++ = (y * w->width + x) * w->channels + c;
		if (++c < w->c)
			continue;
		c = 0;
		if (++x < w->kw)
			continue;
		x = 0;
		y++;
	}
}

/* A line of the source. */
static void
copy_line(const struct gv_cpu_stage *s, const gv_real *src, gv_real *to)
{
	const struct gv_cpu_windows *from = &s->from, *in = &s->in;
	size_t x;

	if (in->channels == from->channels)
		memcpy(to, src, from->width * in->channels * sizeof(*to));
	else
		for (x = 0; x < from->width; x++)
			memcpy(to + x * in->channels, src + x * from->channels,
			    in->c * sizeof(*to));
}

/* Lines from first on into the copy. */
static void
copy_lines(struct gv_cpu_stage *s, size_t first)
{
	const struct gv_cpu_windows *from = &s->from, *in = &s->in;
	size_t top = (size_t)(from->off_y - in->off_y), line = in->width * in->channels;
	size_t left = (size_t)(from->off_x - in->off_x) * in->channels;
	size_t some = from->width * in->channels, i;
	gv_real *to = s->copy;

	s->first = first;
	s->some = gv_cpu_lesser(s->most, s->n * in->height - first);
	for (i = first; i < first + s->some; i++, to += line) {
		size_t y = i % in->height - top; /* wraps above */

		if (y >= from->height) {
			memset(to, 0, line * sizeof(*to));
			continue;
		}
		memset(to, 0, left * sizeof(*to));
		copy_line(s,
		    from->src + from->c0 +
			(i / in->height * from->height + y) * from->width *
			    from->channels,
		    to + left);
		memset(to + left + some, 0, (line - left - some) * sizeof(*to));
	}
}

/* The line that windows of an output line begin with; those are counted over all samples. */
static size_t
line_of(const struct gv_cpu_windows *w, size_t y)
{
	return y / w->out_height * w->height +
	       (size_t)((ptrdiff_t)(y % w->out_height) * w->mul - w->off_y);
}

size_t
gv_cpu_stage_places(
    struct gv_cpu_stage *s, size_t at, size_t n, const gv_real **base, size_t *list)
{
	enum { TILES = 24 }; /* of any height */
	const struct gv_cpu_windows *w = &s->in;
	size_t y = at / w->out_width, x = at % w->out_width, done = 0, end;
	size_t step = (size_t)w->mul * w->channels, first, last;

	first = line_of(w, y);
	if (s->room > 0 && (first < s->first || first + w->kh > s->first + s->some))
		copy_lines(s, first);
	if (s->room == 0) {
		s->first = first;
		s->some = s->n * w->height - first;
	}
	*base = w->src + w->c0 + (s->room == 0 ? first * w->width * w->channels : 0);
	for (last = first + w->kh; done < n && last <= s->first + s->some;
	     last = line_of(w, ++y) + w->kh) {
		ptrdiff_t from =
		    (ptrdiff_t)((last - w->kh - s->first) * w->width * w->channels) +
		    ((ptrdiff_t)x * w->mul - w->off_x) * (ptrdiff_t)w->channels;

		end = gv_cpu_lesser(n, done + w->out_width - x);
		for (; done < end; done++, from += (ptrdiff_t)step)
			list[done] = (size_t)from;
		x = 0;
	}
	/* the next ones begin a tile, too */
	return done < n && done > TILES ? done / TILES * TILES : done;
}
