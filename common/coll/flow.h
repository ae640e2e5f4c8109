/*
 * The state of a collective over trees at one member: made by coll_make.c, moved by coll.c,
 * the business of nobody else.
 */
#ifndef GV_COLL_FLOW_H
#define GV_COLL_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll/coll.h"

/* Chunks that come over one edge, in order; those posted are a ring of messages. */
struct inlet {
	int from;
	size_t posted, arrived;
	struct gv_message m[GV_COLL_WINDOW];
	unsigned char *window; /* [GV_COLL_WINDOW][chunk]; NULL = straight to out */
};

/* Chunks that go over one edge: first they get their time, then they are posted. */
struct outlet {
	int to, below;
	size_t timed, posted, done;
	struct gv_message m[GV_COLL_WINDOW];
	double due[GV_COLL_WINDOW];
};

/* One phase of one tree at this member. */
struct flow {
	size_t tree;
	bool up;
	struct inlet *in;
	size_t n_in;
	struct outlet *out;
	size_t n_out;
	const struct flow *before; /* at the root of an allreduce, the way up */
	size_t most;               /* elements of a chunk */
	/* of the present collective */
	size_t first, count, chunks, chunk;
	size_t ready; /* chunks that can go on: summed, or here */
	double *when; /* [chunks] since when, of paced ones that came; else NULL */
	bool done;
};

struct gv_coll {
	struct gv_gang *g;
	struct gv_coll_spec s;
	size_t size; /* of an element */
	struct flow *flow;
	size_t n_flows;
	size_t first_open; /* flows before it are done */
	struct inlet *inlets;
	struct outlet *outlets;
	unsigned char *windows;
	struct gv_message **waits; /* [n_inlets + n_outlets] */
	uint32_t sequence;
	const unsigned char *in;
	unsigned char *out;
	size_t count;
	double begun;    /* gv_clock_s */
	double next_due; /* of what has no time yet to go; infinity = nothing */
	bool busy;
};

#endif
