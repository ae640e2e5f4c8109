/* Models from files, and their rows in other orders. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "nn/model.h"
#include "table/kind.h"
#include "table/sort.h"

/* Behind a model's table that is also one of layers: its edges, as the column from says them. */
static int
pass_edges(struct gv_tab *t, struct gv_error *e)
{
	int more = gv_tab_table(t, e);

	if (more != 1)
		return more;
	if (gv_tab_find(t, "src") < 0 || gv_tab_find(t, "dst") < 0)
		return gv_error_at(e, gv_tab_file(t), gv_tab_line(t), NULL,
		    "expected one table, got a second one after an empty line");
	while ((more = gv_tab_next(t, e)) == 1)
		;
	return more == 0 ? gv_tab_last(t, e) : -1;
}

static int
load(struct gv_frame *f, const char *path, struct gv_error *e)
{
	struct gv_tab *t;
	int r = -1;

	if (gv_tab_open(&t, path, e) != 0)
		return -1;
	if (gv_tab_table(t, e) == 1 && gv_frame_read(f, t, e) == 0)
		r = pass_edges(t, e);
	gv_tab_close(t);
	return r;
}

int
gv_model_read(struct gv_model *m, const char *path, struct gv_error *e)
{
	struct gv_frame f = {0};

	*m = (struct gv_model){0};
	if (strpbrk(path, "/.") == NULL && strcmp(path, "-") != 0 &&
	    access(path, F_OK) != 0)
		return gv_model_unknown(path, e);
	if (load(&f, path, e) != 0 || gv_frame_expect(&f, GV_KIND_MODEL, e) != 0) {
		gv_frame_free(&f);
		return -1;
	}
	return gv_model_from_frame(m, &f, e);
}

int
gv_shape_parse(const char *s, struct gv_shape *shape)
{
	size_t v[3] = {0, 0, 1}, i;

	for (i = 0; i < 3; i++) {
		const char *x = strchr(s, 'x');
		size_t len = x != NULL ? (size_t)(x - s) : strlen(s);
		int64_t n;

		if (gv_parse_int(s, len, &n) != 0 || n < 1 || n > 65536)
			return -1;
		v[i] = (size_t)n;
		if (x == NULL)
			break;
		s = x + 1;
	}
	if (i < 1 || i > 2)
		return -1;
	*shape = (struct gv_shape){v[2], v[0], v[1]};
	return 0;
}

/* Where each row goes; 0, or -1 with *e set. */
static int
find_places(
    const struct gv_model *m, const size_t *order, ptrdiff_t *to, struct gv_error *e)
{
	size_t i, k;

	for (i = 0; i < m->n; i++)
		to[order[i]] = (ptrdiff_t)i;
	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->layer[i].inputs + m->layer[i].is_tied; k++) {
			const struct gv_layer *l = &m->layer[i];
			ptrdiff_t from = k < l->inputs ? l->from[k] : (ptrdiff_t)l->tied;

			if (from != GV_FROM_INPUT && to[from] > to[i])
				return gv_error_at(e, m->table.file, m->table.line[i],
				    NULL,
				    "row %lld would stand before row %lld, which it "
				    "reads",
				    (long long)m->layer[i].id,
				    (long long)m->layer[from].id);
		}
	return 0;
}

int
gv_model_sort(struct gv_model *m, const size_t *order, struct gv_error *e)
{
	ptrdiff_t *to = gv_xcalloc(m->n, sizeof(*to));
	struct gv_layer *layer;
	size_t i, k;

	if (find_places(m, order, to, e) != 0) {
		free(to);
		return -1;
	}
	layer = gv_xcalloc(m->n, sizeof(*layer));
	for (i = 0; i < m->n; i++) {
		layer[i] = m->layer[order[i]];
		for (k = 0; k < layer[i].inputs; k++)
			if (layer[i].from[k] != GV_FROM_INPUT)
				layer[i].from[k] = to[layer[i].from[k]];
		if (layer[i].is_tied)
			layer[i].tied = (size_t)to[layer[i].tied];
	}
	free(m->layer);
	m->layer = layer;
	gv_frame_sort(&m->table, order);
	free(to);
	return 0;
}
