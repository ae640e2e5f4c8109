/* For DeepSpeed's PipelineModule. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "export.h"

/* The first layer of each stage, and the number of layers: [stages + 1]. */
static size_t *
parts_of(const struct export_plan *x)
{
	size_t *part = gv_xcalloc(x->p->n + 1, sizeof(*part));
	size_t v, i = 1;

	for (v = 1; v < x->l->g.n; v++)
		if (export_stage(x, v) != export_stage(x, v - 1))
			part[i++] = v;
	part[x->p->n] = x->l->g.n;
	return part;
}

/* Its class: "Linear" of "Linear(in_features=8, ...)" and of "Linear 8". */
static struct gv_cell
class_of(const struct export_plan *x, size_t layer)
{
	struct gv_cell c = export_kind(x, layer);

	c.len = strcspn(c.s, " (");
	return c;
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether c holds name, whatever the case: DeepSpeed searches for it so. */
static bool
holds(struct gv_cell c, struct gv_cell name)
{
	size_t i, k;

	for (i = 0; i + name.len <= c.len; i++) {
		for (k = 0; k < name.len && lower(c.s[i + k]) == lower(name.s[k]); k++)
			;
		if (k == name.len)
			return true;
	}
	return false;
}

static bool
is_word(struct gv_cell c)
{
	size_t i;

	for (i = 0; i < c.len; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", lower(c.s[i])) ==
		    NULL)
			return false;
	return c.len > 0;
}

/*
 * Whether layers of the class of the given one are: one in each stage, in front of
 * all others, but for the first stage.  Then "type:" with it yields these parts:
 * DeepSpeed balances their number, and of equally good cuts takes the last one.
 */
static bool
begins_each(const struct export_plan *x, const size_t *part, size_t layer)
{
	struct gv_cell name = class_of(x, layer);
	size_t v, n = 0;

	if (!is_word(name))
		return false;
	for (v = 0; v < x->l->g.n; v++) {
		if (!holds(class_of(x, v), name))
			continue;
		if (n >= x->p->n || (n > 0 && v != part[n]) || v >= part[n + 1])
			return false;
		n++;
	}
	return n == x->p->n;
}

/* What yields these parts; false: nothing that DeepSpeed has. */
static bool
method_of(struct gv_strbuf *s, const struct export_plan *x, const size_t *part)
{
	size_t n = x->l->g.n, stages = x->p->n, i;
	struct gv_cell name;

	for (i = 0; n % stages == 0 && i <= stages && part[i] == i * (n / stages); i++)
		;
	if (i > stages) {
		gv_strbuf_str(s, "uniform");
		return true;
	}
	if (!begins_each(x, part, part[1]))
		return false;
	name = class_of(x, part[1]);
	gv_strbuf_str(s, "type:");
	gv_strbuf_add(s, name.s, name.len);
	return true;
}

int
export_deepspeed(const struct export_plan *x, struct gv_out *out, struct gv_error *e)
{
	struct gv_json j = {.out = out};
	struct gv_strbuf method = {0};
	size_t *part, i;
	bool found;

	(void)e;
	part = parts_of(x);
	found = method_of(&method, x, part);
	gv_json_object(&j, false);
	gv_json_key(&j, "num_stages");
	gv_json_int(&j, (int64_t)x->p->n);
	gv_json_key(&j, "data_parallel_size");
	gv_json_int(&j, (int64_t)x->pipe->stage[0].replicas);
	gv_json_key(&j, "parts");
	gv_json_array(&j, true);
	for (i = 0; i <= x->p->n; i++)
		gv_json_int(&j, (int64_t)part[i]);
	gv_json_end(&j);
	gv_json_key(&j, "partition_method");
	if (found)
		gv_json_str(&j, method.s, method.len);
	else
		gv_json_null(&j);
	gv_json_end(&j);
	gv_strbuf_free(&method);
	free(part);
	return 0;
}
