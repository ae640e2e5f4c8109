#include "base/sorted.h"

#include <string.h>

size_t
gv_sorted_place(const size_t *list, size_t n, size_t x)
{
	size_t low = 0;
	size_t high = n;

	if (n > 0 && list[n - 1] < x)
		return n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
gv_sorted_insert(size_t *list, size_t *n, size_t place, size_t x)
{
	memmove(list + place + 1, list + place, (*n - place) * sizeof(*list));
	list[place] = x;
	(*n)++;
}

void
gv_sorted_remove(size_t *list, size_t *n, size_t place)
{
	(*n)--;
	memmove(list + place, list + place + 1, (*n - place) * sizeof(*list));
}
