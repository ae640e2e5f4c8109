/*
 * Tables that gv-report reads, drawn: events of runs, what became of their jobs, sums of
 * them.  Behind draws.h.
 */
#ifndef REPORT_DRAWS_H
#define REPORT_DRAWS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"

enum { DRAWN_JOBS = 40, DRAWN_TYPES = 4, DRAWN_GPUS = 24 };

/* What the events of a run are like. */
struct run_drawn {
	size_t jobs, types, events;
	size_t gpus;     /* of each type; 0: they have no names */
	size_t nodes;    /* of each type; 0: they have no names */
	size_t entities; /* 0 = none */
	size_t wrong;    /* one of so many rows is spoilt, 0 = none */
	double scale_s;  /* between events, about */
	bool pools, pairs, fractions;
};

static inline const char *
one_of(const char *const *list, size_t n)
{
	return list[below(n)];
}

static inline const char *
drawn_job(size_t i)
{
	static const char *const odd[] = {"a job, with a comma",
	    "\xc3\xbc\xc3\xb6\xc3\xa4", "x\xffy", "back\\slash", "<&>",
	    "a-name-that-is-longer-than-most-of-them-are", "tab\there",
	    "\xe6\x97\xa5\xe6\x9c\xac"};
	static char name[8][48];
	static size_t next;
	char *s = name[next++ % 8];

	if (i % 9 == 8)
		snprintf(s, 48, "%s", odd[i / 9 % 8]);
	else
		snprintf(s, 48, "job%zu", i);
	return s;
}

static inline const char *
drawn_type(size_t i)
{
	static const char *const name[] = {"v", "w", "a long name of a type", "k<80"};

	return name[i];
}

/* A cell in quotes where it needs them. */
static inline void
put_text(struct gv_strbuf *s, const char *text)
{
	bool quoted = strpbrk(text, ",\"\n") != NULL;

	gv_strbuf_fmt(s, "%s%s%s", quoted ? "\"" : "", text, quoted ? "\"" : "");
}

/* "3;4;9" of the GPUs of a type, and where they are. */
static inline void
put_gpus(struct gv_strbuf *s, const struct run_drawn *d, size_t type, size_t n)
{
	size_t first = d->gpus > 0 ? below(d->gpus) : 0, i;

	if (d->nodes > 0)
		gv_strbuf_fmt(s, "n%zu", type * d->nodes + first % d->nodes);
	gv_strbuf_char(s, ',');
	for (i = 0; i < n && d->gpus > 0; i++)
		gv_strbuf_fmt(s, "%s%zu", i > 0 ? ";" : "", (first + i) % d->gpus);
	gv_strbuf_char(s, ',');
}

struct drawn_job_state {
	bool came, runs, left;
	double steps;
	size_t type, n;
};

/* The rest of a row of a job that is there. */
static inline void
put_job_event(
    struct gv_strbuf *s, const struct run_drawn *d, struct drawn_job_state *j, size_t me)
{
	static const char *const ends[] = {
	    "preempt", "preempt", "preempt", "finish", "finish", "fail", "drop"};
	static const char *const during[] = {
	    "checkpoint", "checkpoint", "first_step", "hold", "release"};
	size_t what = below(10);
	const char *event =
	    what < 2   ? "allocate"
	    : !j->runs ? (what < 9 ? (below(2) == 0 ? "start" : "resume") : "drop")
	    : what < 5 ? one_of(during, 5)
		       : one_of(ends, 7);
	size_t type = below(d->types), n = below(4) == 0 ? 1 + below(5) : 1;

	if (strcmp(event, "start") == 0 || strcmp(event, "resume") == 0) {
		j->type = type;
		j->n = n;
		j->runs = true;
	} else if (event != during[0] && what >= 5) {
		j->runs = false;
	}
	j->left = j->left || strcmp(event, "finish") == 0 || strcmp(event, "drop") == 0;
	if (what >= 2)
		type = j->type;
	gv_strbuf_fmt(s, "%s,", event);
	put_text(s, drawn_job(me));
	gv_strbuf_fmt(s, ",%s,", drawn_type(type));
	if (what < 2) {
		gv_strbuf_fmt(s, ",,,,%.6g,,", (double)below(9) / 8);
		if (d->pairs && below(3) == 0)
			put_text(s, drawn_job((me + 1 + below(d->jobs)) % (d->jobs + 1)));
		gv_strbuf_char(s, '\n');
		return;
	}
	put_gpus(s, d, type, j->n);
	if (below(4) > 0) {
		j->steps += (double)below(300);
		j->steps -= below(5) == 0 ? 100 : 0;
		j->steps = j->steps > 0 ? j->steps : 0;
		gv_strbuf_fmt(s, "%.9g", j->steps);
	}
	if (below(3) == 0)
		gv_strbuf_fmt(s, ",%zu,,,\n", below(9));
	else
		gv_strbuf_str(s, ",,,,\n");
}

static inline void
put_pool(
    struct gv_strbuf *s, const struct run_drawn *d, size_t type, size_t node, bool all)
{
	size_t n = 0, i;

	gv_strbuf_fmt(s, "pool,,%s,", drawn_type(type));
	if (d->nodes > 0)
		gv_strbuf_fmt(s, "n%zu", type * d->nodes + node);
	gv_strbuf_char(s, ',');
	for (i = node; i<d->gpus; i += d->nodes> 0 ? d->nodes : 1)
		if (all || below(4) > 0)
			gv_strbuf_fmt(s, "%s%zu", n++ > 0 ? ";" : "", i);
	gv_strbuf_str(s, ",,,,,\n");
}

static inline void
put_some_pool(struct gv_strbuf *s, const struct run_drawn *d)
{
	size_t type = below(d->types), node = d->nodes > 0 ? below(d->nodes) : 0;

	put_pool(s, d, type, node, false);
}

static inline void
put_arrival(struct gv_strbuf *s, const struct run_drawn *d, size_t me)
{
	gv_strbuf_str(s, "arrive,");
	put_text(s, drawn_job(me));
	gv_strbuf_str(s, ",,,,");
	if (below(5) > 0)
		gv_strbuf_fmt(s, "%zu", 100 + below(5000));
	gv_strbuf_str(s, ",,,");
	if (d->entities > 0 && below(4) > 0)
		gv_strbuf_fmt(s, "team%zu", below(d->entities));
	gv_strbuf_str(s, ",\n");
}

static inline void
put_spoilt(struct gv_strbuf *s)
{
	static const char *const rows[] = {"finish,job1,v100,,0,,,,,\n",
	    "start,job0,v100,,0,,,,,\n", "arrive,job1,,,,5,,,,\n", "unknown,,,,,,,,,\n",
	    "start,,v100,,,,,,,\n", "allocate,job0,v100,,,,,2,,\n",
	    "allocate,job0,v100,,,,,,,\n", "checkpoint,job2,,,,-1,,,,\n", "end,1\n",
	    "start,job9,v100,,0,,x,,,\n", "preempt,job0,,,,,,,,\n",
	    "allocate,job0,v100,,,,,.5,,job0\n", "finish,job0,,,,,,,,\n",
	    "resume,job3,v100,,;,,,,,\n"};

	gv_strbuf_str(s, one_of(rows, 14));
}

/* The events of a run. */
static inline void
draw_events(struct gv_strbuf *s, const struct run_drawn *d)
{
	struct drawn_job_state j[DRAWN_JOBS] = {{false, false, false, 0, 0, 0}};
	double now = below(3) == 0 ? d->scale_s * uniform() : 0;
	size_t i, k, me;

	gv_strbuf_str(s,
	    "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason,"
	    "with_job_id\n");
	for (i = 0; i < d->types && d->pools; i++)
		for (k = 0; k < (d->nodes > 0 ? d->nodes : 1); k++) {
			gv_strbuf_fmt(s, "%.9g,", now);
			put_pool(s, d, i, k, true);
		}
	for (i = 0; i < d->events; i++) {
		if (below(4) > 0)
			now += d->fractions ? d->scale_s * uniform()
					    : d->scale_s * (double)below(5);
		gv_strbuf_fmt(s, "%.9g,", now);
		me = below(d->jobs);
		k = below(60);
		if (d->wrong > 0 && below(d->wrong) == 0)
			put_spoilt(s);
		else if (k == 0)
			gv_strbuf_str(s, "restart,,,,,,,,,\n");
		else if (k == 1)
			gv_strbuf_str(s, "submit,,,,,,,,,\n");
		else if (k == 2 && d->pools)
			put_some_pool(s, d);
		else if (!j[me].came && k < 55)
			put_arrival(s, d, me);
		else if (j[me].left)
			gv_strbuf_str(s, "submit,,,,,,,,,\n");
		else
			put_job_event(s, d, &j[me], me);
		j[me].came = j[me].came || k > 2;
		for (me = 0; k == 0 && me < d->jobs; me++)
			j[me].runs = false;
	}
	k = below(4);
	if (k > 0)
		gv_strbuf_fmt(s, "%.9g,end,,,,,,,,,%s",
		    now + d->scale_s * (double)below(9), k > 1 ? "\n" : "");
	else if (below(2) == 0)
		gv_strbuf_fmt(s, "%.9g,preem", now);
}

static inline struct run_drawn
draw_run(size_t wrong)
{
	static const double scale[] = {1e-4, .25, 1, 1, 60, 700, 9000};
	struct run_drawn d = {.wrong = wrong};

	d.jobs = 1 + below(below(3) == 0 ? DRAWN_JOBS - 1 : 8);
	d.types = 1 + below(below(2) == 0 ? DRAWN_TYPES : 2);
	d.events = below(6) == 0 ? below(4) : below(3 * d.jobs + 40);
	d.gpus = below(5) == 0 ? 0 : 1 + below(below(4) == 0 ? DRAWN_GPUS : 5);
	d.nodes = below(3);
	d.entities = below(3) == 0 ? 1 + below(9) : 0;
	d.scale_s = scale[below(7)];
	d.pools = below(4) > 0;
	d.pairs = below(3) == 0;
	d.fractions = below(2) == 0;
	return d;
}

/* A number, often of few that are equal; nothing in one of so many cells. */
static inline void
put_drawn(struct gv_strbuf *s, double most, size_t empty)
{
	size_t kind = below(8);
	double v = kind == 0   ? 0
		   : kind == 1 ? most * uniform() * 1e-6
		   : kind < 5  ? most / 8 * (double)below(9)
			       : most * uniform();

	if (below(empty) > 0)
		gv_strbuf_fmt(s, "%.9g", v);
}

/* What became of jobs. */
static inline void
draw_outcomes(struct gv_strbuf *s, size_t jobs, double scale_s, size_t wrong)
{
	static const char *const name[] = {"job_id", "completion_s", "running_s",
	    "arrival_s", "start_s", "finish_s", "queueing_s", "gpu_s", "fairness",
	    "deadline_s", "launches", "preemptions", "run"};
	static const char *const odd[] = {"x", "-1", "nan", "inf", "1e400"};
	bool has[13];
	size_t rows = below(5) == 0 ? below(2) : below(jobs + 1), i, k;

	for (k = 0; k < 13; k++)
		has[k] = k < 3 || below(k == 12 ? 5 : 3) == 0;
	for (k = 0; k < 13; k++)
		if (has[k])
			gv_strbuf_fmt(s, "%s%s", k > 0 ? "," : "", name[k]);
	gv_strbuf_char(s, '\n');
	for (i = 0; i < rows; i++) {
		put_text(s, drawn_job(below(8) == 0 ? 0 : i));
		for (k = 1; k < 13; k++) {
			if (!has[k])
				continue;
			gv_strbuf_char(s, ',');
			if (wrong > 0 && below(10 * wrong) == 0)
				gv_strbuf_str(s, one_of(odd, 5));
			else if (k == 12)
				gv_strbuf_fmt(s, "%.*s", (int)below(3), "xy");
			else if (k >= 10)
				gv_strbuf_fmt(s, "%zu", below(5));
			else
				put_drawn(s, k == 8 ? 3 : 60 * scale_s, k == 1 ? 4 : 9);
		}
		gv_strbuf_char(s, '\n');
	}
}

/* A summary of a simulation. */
static inline void
draw_sums(struct gv_strbuf *s, double scale_s, size_t wrong)
{
	static const char *const name[] = {"jobs", "finished", "completion_mean_s",
	    "completion_p99_s", "makespan_s", "utilisation", "usd", "deadlines",
	    "deadlines_missed", "preemptions", "fairness_mean", "fairness_max",
	    "busy_gpu_s", "gpus", "rounds", "questions", "most_waiting", "end_s",
	    "queueing_median_s", "jain_index", "other", "short_completion_mean_s"};
	bool runs = below(4) == 0;
	size_t i, k;

	gv_strbuf_fmt(s, "%smeasure,gpu_type,value\n", runs ? "run," : "");
	for (i = 0; i < 22; i++) {
		if (below(2) == 0)
			continue;
		if (runs)
			gv_strbuf_fmt(s, "%.*s,", (int)below(2), "z");
		gv_strbuf_fmt(s, "%s,", name[i]);
		k = below(6);
		if (k == 0)
			gv_strbuf_str(s, drawn_type(below(DRAWN_TYPES)));
		gv_strbuf_char(s, ',');
		if (wrong > 0 && below(3 * wrong) == 0)
			gv_strbuf_char(s, 'x');
		else if (name[i][strlen(name[i]) - 1] == 's' &&
			 name[i][strlen(name[i]) - 2] == '_')
			put_drawn(s, 90 * scale_s, 12);
		else
			put_drawn(s, i == 5 ? 1 : i < 2 ? 16 : 99999, 12);
		gv_strbuf_char(s, '\n');
	}
}

#endif
