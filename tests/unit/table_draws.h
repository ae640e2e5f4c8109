/* Tables of drawn cells, good and odd ones, and what is told of tables and errors. */
#ifndef TABLE_DRAWS_H
#define TABLE_DRAWS_H

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"
#include "recorded_frame.h"
#include "sched/rates.h"

/* A column, and what its cells are drawn from, separated by |; of a job all its rows agree. */
struct drawn_column {
	const char *name;
	const char *cells; /* NULL = the key of the row */
	size_t there;      /* is there in so many of 4 tables */
	bool of_job;
};

enum { DRAWN_COLUMNS = 24, DRAWN_KEYS = 48 };

struct drawn_table {
	const struct drawn_column *column; /* up to one without a name */
	size_t odd;                        /* one of so many cells is odd; 0 = none */
	bool has[DRAWN_COLUMNS];
	struct gv_strbuf text;
};

/* One of those in a list. */
static inline struct gv_cell
draw_cell(const char *list)
{
	size_t n = 1, k, i;

	for (i = 0; list[i] != '\0'; i++)
		n += list[i] == '|';
	for (k = below(n); k > 0; list++)
		k -= *list == '|';
	return (struct gv_cell){list, strcspn(list, "|")};
}

static inline void
drawn_table_begin(struct drawn_table *t, const struct drawn_column *column)
{
	static const char names[] = "gpus|Share|steps|gpu type|scale-factor|x|entity_";
	size_t odd = below(3), i;
	bool first = true;

	*t = (struct drawn_table){.column = column};
	t->odd = odd == 0 ? 0 : odd == 1 ? 100 : 15;
	for (i = 0; column[i].name != NULL; i++) {
		struct gv_cell name = {column[i].name, strlen(column[i].name)};

		t->has[i] = below(4) < column[i].there;
		if (t->odd == 15 && below(40) == 0)
			name = draw_cell(names);
		if (t->has[i])
			gv_strbuf_fmt(
			    &t->text, "%s%.*s", first ? "" : ",", (int)name.len, name.s);
		first = first && !t->has[i];
	}
	gv_strbuf_str(&t->text, "\n");
}

/* A row of job number m, or whatever the table is about; on a type, where that is given. */
static inline void
drawn_table_row(struct drawn_table *t, size_t m, const char *type, const char *with)
{
	static const char odd[] =
	    "-1|0|x||1e300|1000001|nan|inf|0.5|1.5|3|1e-310|J1|j0|V100|"
	    "v100|b_unconsolidated|9223372036854775807|1;0|0;1";
	bool first = true;
	size_t i;

	for (i = 0; t->column[i].name != NULL; i++) {
		const char *name = t->column[i].name;
		struct gv_cell cell = {"", 0};
		uint64_t drawn = draws.n;

		if (!t->has[i])
			continue;
		if (t->column[i].of_job) { /* a stream of the job's own */
			uint64_t seed = draws.seed;

			draws_begin(seed + 7 * m, draws.a, (uint32_t)i + 1);
			cell = draw_cell(t->column[i].cells);
			draws_begin(seed, draws.a, 0);
			draws.n = drawn;
		} else if (t->column[i].cells != NULL) {
			cell = draw_cell(t->column[i].cells);
		}
		if (strcmp(name, "gpu_type") == 0 && type != NULL)
			cell = (struct gv_cell){type, strlen(type)};
		if (strcmp(name, "with_job_id") == 0 && with != NULL)
			cell = (struct gv_cell){with, strlen(with)};
		if (t->odd > 0 && below(t->odd) == 0)
			cell = draw_cell(odd);
		gv_strbuf_str(&t->text, first ? "" : ",");
		first = false;
		if (t->column[i].cells == NULL && cell.len == 0)
			gv_strbuf_fmt(&t->text, "j%zu", m);
		else
			gv_strbuf_fmt(&t->text, "%.*s", (int)cell.len, cell.s);
	}
	gv_strbuf_str(&t->text, "\n");
}

/* The table as a frame; 0 or -1. */
static inline int
drawn_table_end(struct drawn_table *t, struct gv_frame *f, struct gv_error *e)
{
	int rc = gv_frame_parse(f, "t.csv", t->text.s, t->text.len, e);

	gv_strbuf_free(&t->text);
	return rc;
}

/* ---- clusters ---- */

/* A cluster of a table; NULL where it is none. */
static inline struct gv_cluster *
draw_table_cluster(struct gv_cluster *c, struct gv_error *e)
{
	static const struct drawn_column column[] = {
	    {"gpu_type", "v100|k80|b|v100_unconsolidated|V100", 4, false},
	    {"gpus", "1|2|2|4|0|8", 4, false}, {"node", "n1|n2|n3|", 2, false},
	    {"usd_per_h", "2.5|2.5|2.50|", 1, false},
	    {"memory_bytes", "16|16|", 1, false}, {"threads", "0||0", 1, false},
	    {"ids", "|||0;1|1|0;1;2;3|2;5", 2, false}, {"treads", "1", 0, false},
	    {NULL, NULL, 0, false}};
	size_t n = below(6), i;
	struct drawn_table t;
	struct gv_frame f;

	drawn_table_begin(&t, column);
	for (i = 0; i < n; i++)
		drawn_table_row(&t, i, NULL, NULL);
	if (drawn_table_end(&t, &f, e) != 0)
		return NULL;
	i = gv_cluster_from(c, &f, e) == 0;
	gv_frame_free(&f);
	return i ? c : NULL;
}

static inline void
recorded_cluster(struct recorded *r, const struct gv_cluster *c)
{
	size_t i, k;

	for (i = 0; i < c->n_types; i++) {
		recorded_text(r, c->type[i].name);
		recorded_whole(r, (long long)c->type[i].gpus);
		recorded_whole(r, (long long)c->type[i].away);
		recorded_whole(r, c->type[i].threads);
		recorded_double(r, c->type[i].usd_per_h);
		recorded_whole(r, c->type[i].memory_bytes);
	}
	for (i = 0; i < c->n_pools; i++) {
		const struct gv_pool *p = &c->pool[i];

		recorded_whole(r, (long long)p->type);
		recorded_whole(r, (long long)p->gpus);
		recorded_text(r, p->node);
		recorded_whole(r, p->line);
		for (k = 0; k < p->gpus && k < 20; k++)
			recorded_whole(r, gv_pool_id(p, k));
	}
	if (c->warnings != NULL)
		recorded_error(r, c->warnings);
}

#endif
