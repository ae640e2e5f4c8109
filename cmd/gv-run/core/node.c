#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static bool
same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool
of_one_node(const struct gv_cluster *c)
{
	size_t p;

	for (p = 1; p < c->n_pools; p++)
		if (!same(c->pool[p].node, c->pool[0].node))
			return false;
	return true;
}

static int
keep_node(struct gv_cluster *c, const char *file, const char *node,
    struct node_choice *choice, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t n = 0;
	size_t p;
	size_t i;

	for (i = 0; i < c->n_types; i++)
		c->type[i].gpus = 0;
	for (p = 0; p < c->n_pools; p++) {
		struct gv_pool pool = c->pool[p];

		if (!same(pool.node, "") && !same(pool.node, node)) {
			choice->name = node;
			choice->elsewhere[pool.type] |= pool.gpus > 0;
			continue;
		}
		for (i = 0; i < n; i++)
			if (c->pool[i].type == pool.type)
				return gv_error_at(e, file, 0, "node",
				    "GPU type \"%s\" both with node %s and with none",
				    c->type[pool.type].name,
				    gv_quote(q, node, strlen(node)));
		c->pool[n++] = pool;
		c->type[pool.type].gpus += pool.gpus;
	}
	c->n_pools = n;
	if (n == 0)
		return gv_error_at(e, file, 0, "node", "no pool of node %s",
		    gv_quote(q, node, strlen(node)));
	return gv_cluster_join(c, file, e);
}

const char *
node_only(const struct gv_cluster *c)
{
	const char *name = NULL;
	size_t p;

	for (p = 0; p < c->n_pools; p++) {
		if (same(c->pool[p].node, ""))
			continue;
		if (name != NULL && !same(name, c->pool[p].node))
			return NULL;
		name = c->pool[p].node;
	}
	return name;
}

int
node_select(struct gv_cluster *c, const char *file, const char *node,
    struct node_choice *choice, struct gv_error *e)
{
	char *host = choice->host;
	char q[2][GV_QUOTE_LEN];
	size_t p;

	*choice = (struct node_choice){0};
	choice->elsewhere = gv_xcalloc(c->n_types + 1, sizeof(*choice->elsewhere));
	if (node != NULL)
		return keep_node(c, file, node, choice, e);
	if (of_one_node(c))
		return 0;
	gethostname(host, sizeof(choice->host) - 1);
	for (p = 0; p < c->n_pools; p++)
		if (!same(c->pool[p].node, "") && !same(c->pool[p].node, host))
			return gv_error_at(e, file, 0, "node",
			    "pools of several nodes, %s is not this host (%s); say which "
			    "with --node",
			    gv_quote(q[0], c->pool[p].node, strlen(c->pool[p].node)),
			    gv_quote(q[1], host, strlen(host)));
	return keep_node(c, file, host, choice, e);
}

int
node_write(const struct gv_cluster *c, const struct gv_frame *f, const char *path,
    struct gv_error *e)
{
	ptrdiff_t type = gv_frame_find(f, "gpu_type");
	ptrdiff_t node = gv_frame_find(f, "node");
	struct gv_out *out;
	struct gv_tabw w;
	size_t row;
	size_t i;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_tabw_init(&w, out, false);
	for (i = 0; i < f->n_columns; i++)
		gv_tabw_cell(&w, f->name[i]);
	gv_tabw_end(&w);
	for (row = 0; row < f->n_rows; row++) {
		const char *name = gv_frame_cell(f, row, node).s;
		size_t p;

		for (p = 0; p < c->n_pools; p++)
			if (same(c->pool[p].node, name) &&
			    gv_cell_is(gv_frame_cell(f, row, type),
				c->type[c->pool[p].type].name))
				break;
		if (p == c->n_pools)
			continue;
		for (i = 0; i < f->n_columns; i++)
			gv_tabw_cell(&w, gv_frame_cell(f, row, (ptrdiff_t)i));
		gv_tabw_end(&w);
	}
	return gv_out_close(out, e);
}

void
node_free(struct node_choice *choice)
{
	free(choice->elsewhere);
	*choice = (struct node_choice){0};
}

/* ---- a table for several nodes ---- */

static bool
is_of(const struct node_choice *choice, const struct gv_frame *f, size_t row,
    ptrdiff_t column)
{
	struct gv_cell cell = gv_frame_cell(f, row, column);

	return cell.len == 0 || gv_cell_is(cell, choice->name);
}

struct row_of_job {
	struct gv_cell job;
	size_t row;
};

static int
by_job(const void *x, const void *y)
{
	const struct row_of_job *a = x, *b = y;
	size_t len = a->job.len < b->job.len ? a->job.len : b->job.len;
	int order = len > 0 ? memcmp(a->job.s, b->job.s, len) : 0;

	if (order != 0)
		return order;
	if (a->job.len != b->job.len)
		return a->job.len < b->job.len ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* A job has one node in all its rows, those of others too: it would run on each. */
static int
check_nodes(const struct gv_frame *f, ptrdiff_t column, struct gv_error *e)
{
	ptrdiff_t id = gv_frame_find(f, "job_id");
	struct row_of_job *rows;
	char q[2][GV_QUOTE_LEN];
	size_t i, first;
	int rc = 0;

	if (id < 0)
		return 0; /* who reads the rows says so */
	rows = gv_xcalloc(f->n_rows + 1, sizeof(*rows));
	for (i = 0; i < f->n_rows; i++)
		rows[i] = (struct row_of_job){gv_frame_cell(f, i, id), i};
	qsort(rows, f->n_rows, sizeof(*rows), by_job);
	for (first = 0, i = 1; i < f->n_rows && rc == 0; i++) {
		struct gv_cell a, b;

		if (rows[i].job.len != rows[first].job.len ||
		    memcmp(rows[i].job.s, rows[first].job.s, rows[i].job.len) != 0)
			first = i;
		a = gv_frame_cell(f, rows[first].row, column);
		b = gv_frame_cell(f, rows[i].row, column);
		if (a.len != b.len || memcmp(a.s, b.s, a.len) != 0)
			rc = gv_frame_error(f, rows[i].row, column, e,
			    "expected %s as at line %ld, got %s",
			    gv_quote(q[0], a.s, a.len), f->line[rows[first].row],
			    gv_quote(q[1], b.s, b.len));
	}
	free(rows);
	return rc;
}

int
node_take_rows(const struct node_choice *choice, struct gv_frame *f, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, "node");
	struct gv_frame ours;
	struct gv_cell *cell;
	size_t row;
	size_t i;

	if (choice->name == NULL || column < 0)
		return 0;
	if (check_nodes(f, column, e) != 0)
		return -1;
	cell = gv_xcalloc(f->n_columns, sizeof(*cell));
	gv_frame_start(&ours, f->file, f->tsv, f->name, f->n_columns);
	ours.header_line = f->header_line;
	for (row = 0; row < f->n_rows; row++) {
		if (!is_of(choice, f, row, column))
			continue;
		for (i = 0; i < f->n_columns; i++)
			cell[i] = gv_frame_cell(f, row, (ptrdiff_t)i);
		gv_frame_add(&ours, cell, f->line[row]);
	}
	free(cell);
	gv_frame_free(f);
	*f = ours;
	return 0;
}

/* Whether each node has GPUs of the type: those without a node. */
static bool
is_everywhere(const struct gv_cluster *c, size_t type)
{
	size_t p;

	for (p = 0; p < c->n_pools; p++)
		if (c->pool[p].type == type && c->pool[p].gpus > 0 &&
		    same(c->pool[p].node, ""))
			return true;
	return false;
}

int
node_check_jobs(const struct node_choice *choice, const struct gv_rates *t,
    const struct gv_cluster *c, struct gv_error *e)
{
	enum { HERE = 1, ELSEWHERE = 2 };
	ptrdiff_t column = gv_frame_find(&t->frame, "node");
	unsigned char *where = gv_xcalloc(t->n_jobs + 1, sizeof(*where));
	char q[2][GV_QUOTE_LEN];
	size_t i;
	int rc = 0;

	if (choice->name == NULL) {
		free(where);
		return 0;
	}
	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *rate = &t->rate[i];

		if (rate->type < 0 || rate->steps_per_s == 0)
			continue;
		if (c->type[rate->type].gpus > 0)
			where[rate->job] |= HERE;
		if (choice->elsewhere[rate->type] || is_everywhere(c, (size_t)rate->type))
			where[rate->job] |= ELSEWHERE;
	}
	for (i = 0; i < t->n_jobs; i++) {
		const struct gv_job *job = &t->job[i];

		if (where[i] != (HERE | ELSEWHERE) || job->node.len > 0)
			continue;
		rc = gv_frame_error(&t->frame, job->row, column, e,
		    "job %s can run on node %s and on others, where gv-run with this "
		    "table would run it, too; a column \"node\" says where it shall run",
		    gv_quote(q[0], job->id.s, job->id.len),
		    gv_quote(q[1], choice->name, strlen(choice->name)));
	}
	free(where);
	return rc;
}
