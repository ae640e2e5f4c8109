#include "link_trials.h"

#include <stdlib.h>

#include "base/mem.h"

static struct link_trial *
add_trial(struct link_trials *p, enum link_what what, int n)
{
	struct link_trial *t;
	int i;

	p->trial = gv_xgrow(p->trial, &p->cap, p->n + 1, sizeof(*p->trial));
	t = &p->trial[p->n++];
	*t = (struct link_trial){what, gv_xcalloc((size_t)n, sizeof(*t->to))};
	for (i = 0; i < n; i++)
		t->to[i] = -1;
	return t;
}

/* All pairs, in n - 1 or n rounds in which each process is in one pair (the circle method). */
static void
add_rounds(struct link_trials *p, int n)
{
	int m = n + n % 2, round, i;

	for (round = 0; round < m - 1; round++) {
		struct link_trial *there = add_trial(p, LINK_CONCURRENT, n), *back;

		for (i = 0; i < m / 2; i++) {
			int a = i == 0 ? m - 1 : (round + i) % (m - 1),
			    b = (round + m - 1 - i) % (m - 1);

			if (a < n && b < n)
				there->to[a] = b;
		}
		back = add_trial(p, LINK_CONCURRENT, n);
		there = &p->trial[p->n - 2];
		for (i = 0; i < n; i++)
			if (there->to[i] >= 0)
				back->to[there->to[i]] = i;
	}
}

void
link_trials_make(struct link_trials *p, int n)
{
	int a, b;

	*p = (struct link_trials){0};
	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++) {
			struct link_trial *t;

			if (a == b)
				continue;
			add_trial(p, LINK_ALONE, n)->to[a] = b;
			if (a > b)
				continue;
			t = add_trial(p, LINK_BOTH, n);
			t->to[a] = b;
			t->to[b] = a;
			add_trial(p, LINK_LATENCY, n)->to[a] = b;
		}
	add_rounds(p, n);
	add_trial(p, LINK_SUM, n);
	add_trial(p, LINK_BESIDE, n);
}

void
link_trials_free(struct link_trials *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->trial[i].to);
	free(p->trial);
}

int
link_trial_peer(const struct link_trial *t, int n, int rank)
{
	int i;

	for (i = 0; i < n; i++)
		if (t->to[i] == rank)
			return i;
	return -1;
}
