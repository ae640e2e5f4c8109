/* Slurm's lists of names. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/slurm/allocation.h"

enum { MOST_HOSTS = 1000000, LONGEST_NAME = 255 };

struct expansion {
	void (*each)(void *ctx, const char *name);
	void *ctx;
	char name[LONGEST_NAME + 1];
	size_t n;
};

static int expand(struct expansion *x, size_t len, const char *s, const char *end);

/* The numbers of one range "07-12", each followed by what stands behind the bracket. */
static int
expand_range(struct expansion *x, size_t len, const char *s, const char *stop,
    const char *rest, const char *end)
{
	unsigned long from, to;
	size_t digits = strspn(s, "0123456789");
	char *at;

	if (digits == 0 || digits > 9)
		return -1;
	from = to = strtoul(s, &at, 10);
	if (at < stop && *at == '-')
		to = strtoul(at + 1, &at, 10);
	if (at != stop || to < from || to - from >= MOST_HOSTS)
		return -1;
	for (; from <= to; from++) {
		int n = snprintf(
		    x->name + len, sizeof(x->name) - len, "%0*lu", (int)digits, from);

		if (n < 0 || len + (size_t)n >= sizeof(x->name) ||
		    expand(x, len + (size_t)n, rest, end) != 0)
			return -1;
	}
	return 0;
}

/* What s to end stands for, behind the len bytes of x->name. */
static int
expand(struct expansion *x, size_t len, const char *s, const char *end)
{
	const char *open = memchr(s, '[', (size_t)(end - s));
	const char *close = open != NULL ? memchr(open, ']', (size_t)(end - open)) : NULL;
	size_t plain = (size_t)((open != NULL ? open : end) - s);

	if (len + plain > LONGEST_NAME || (open != NULL && close == NULL))
		return -1;
	memcpy(x->name + len, s, plain);
	len += plain;
	x->name[len] = '\0';
	if (open == NULL) {
		if (len == 0 || ++x->n > MOST_HOSTS)
			return -1;
		x->each(x->ctx, x->name);
		return 0;
	}
	for (s = open + 1; s <= close;) {
		const char *stop = memchr(s, ',', (size_t)(close - s));

		if (stop == NULL)
			stop = close;
		if (expand_range(x, len, s, stop, close + 1, end) != 0)
			return -1;
		s = stop + 1;
	}
	return 0;
}

/* The end of the first name: a comma that stands in no bracket. */
static const char *
first_name(const char *s)
{
	bool within = false;

	for (; *s != '\0' && (within || *s != ','); s++)
		within = *s == '[' || (within && *s != ']');
	return s;
}

int
gv_slurm_hosts(const char *list, void (*each)(void *ctx, const char *name), void *ctx)
{
	struct expansion x = {.each = each, .ctx = ctx};

	while (*list != '\0') {
		const char *end = first_name(list);

		if (expand(&x, 0, list, end) != 0)
			return -1;
		list = *end == ',' ? end + 1 : end;
	}
	return 0;
}
