/* Loads as words. */
#include "words.h"

#include <math.h>
#include <stdbool.h>

int64_t
word_units(double load_s, double slowest_s)
{
	return slowest_s > 0 ? llrint(load_s / slowest_s * 0x1p40) : 0;
}

int
word_compare(int64_t x, const struct word *a, int64_t y, const struct word *b)
{
	size_t i = 0, j = 0;
	bool used_x = false, used_y = false;

	while (i < a->n || j < b->n || !used_x || !used_y) {
		int64_t p = 0, q = 0; /* what is not there counts as 0 */

		if (!used_x && (i == a->n || x >= a->load[i])) {
			p = x;
			used_x = true;
		} else if (i < a->n) {
			p = a->load[i++];
		}
		if (!used_y && (j == b->n || y >= b->load[j])) {
			q = y;
			used_y = true;
		} else if (j < b->n) {
			q = b->load[j++];
		}
		if (p != q)
			return p < q ? -1 : 1;
	}
	return 0;
}

void
word_join(struct word *w, int64_t x, const struct word *rest, struct gv_arena *arena)
{
	size_t i = 0;

	w->n = rest->n + 1;
	w->load = gv_arena_alloc(arena, w->n, sizeof(*w->load));
	while (i < rest->n && rest->load[i] >= x) {
		w->load[i] = rest->load[i];
		i++;
	}
	w->load[i] = x;
	for (; i < rest->n; i++)
		w->load[i + 1] = rest->load[i];
}
