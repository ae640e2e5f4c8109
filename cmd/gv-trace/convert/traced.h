/* Jobs as traces of real clusters tell them, whoever's trace it is. */
#ifndef TRACE_CONVERT_TRACED_H
#define TRACE_CONVERT_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "table/tab.h"

enum { TRACED_GPUS = 1000000 }; /* the largest scale factor of a table of jobs */

struct traced {
	double arrival_s; /* on the trace's own clock */
	double duration_s;
	int64_t gpus; /* more than TRACED_GPUS count as so many */
	long line;    /* of the trace where it stands */
	/* texts that stay, len 0 = not told */
	struct gv_cell id, name, entity, user, status;
};

/* Why a job is left out; the first that holds. */
enum left_out {
	LEFT_NO_GPU,
	LEFT_NOT_COMPLETED, /* and only those that are were asked for */
	LEFT_NEVER_RAN,     /* no start, no end, no duration */
	LEFT_NO_TIME,       /* it ran for 0 s, or less */
	LEFT_NO_ARRIVAL,
	N_LEFT_OUT
};

struct traced_list {
	size_t n;
	size_t cap;
	struct traced *job; /* [n] */
	size_t left[N_LEFT_OUT];
	bool completed_only; /* leave out those that failed or were killed */
	struct gv_arena arena;
};

/* A text that lives as long as the list. */
struct gv_cell traced_text(struct traced_list *l, struct gv_cell text);

/*
 * Adds a job, with its texts copied, or counts why it is left out.  NAN in arrival_s
 * and duration_s: not told.  completed: it ended well, as the trace says.
 */
void traced_add(struct traced_list *l, struct traced job, bool completed);

/* In order of arrival, equal ones as they came; arrivals then count from the first. */
void traced_sort(struct traced_list *l);

const char *left_out_name(enum left_out why); /* as it stands behind "left out" */
void traced_free(struct traced_list *l);      /* also of a zeroed one */

#endif
