/* What is measured of links: who sends to whom at once, one measurement after the other. */
#ifndef GV_PROFILE_LINK_TRIALS_H
#define GV_PROFILE_LINK_TRIALS_H

#include <stdbool.h>
#include <stddef.h>

enum link_what {
	LINK_ALONE,
	LINK_BOTH,
	LINK_CONCURRENT, /* in pairs */
	LINK_SUM,        /* each to all others */
	LINK_BESIDE,     /* so, while all compute */
	LINK_LATENCY
};

struct link_trial {
	enum link_what what;
	int *to; /* [n], -1 = sends nothing; unused where each sends to all others */
};

static inline bool
link_trial_all(const struct link_trial *t)
{
	return t->what == LINK_SUM || t->what == LINK_BESIDE;
}

struct link_trials {
	struct link_trial *trial;
	size_t n, cap;
};

/* All measurements of n processes; to be freed with link_trials_free. */
void link_trials_make(struct link_trials *p, int n);
void link_trials_free(struct link_trials *p);

/* Who sends to rank; -1: nobody. */
int link_trial_peer(const struct link_trial *t, int n, int rank);

#endif
