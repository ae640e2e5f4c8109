#include "ptd_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "gv-partition/export/ptd_export.h"
#include "gv-partition/transformer/transformers.h"

struct run {
	const struct options *o;
	struct gpu_types types;
	struct transformers t;
	struct ptd_machine *machine; /* [t.rows.n_rows] */
	struct gv_tabw w;
	struct gv_out *out;
	bool all; /* every row has a plan that fits */
};

static int
read_types(struct run *r, struct gv_error *e)
{
	const char *path = r->o->ptd.gpu_types;
	struct gv_strbuf shipped = {0};
	int rc;

	if (path == NULL) {
		gv_strbuf_fmt(&shipped, "%s/gpus.csv", gv_data_dir());
		path = shipped.s;
	}
	rc = gpu_types_read(&r->types, path, e);
	gv_strbuf_free(&shipped);
	return rc;
}

/* The types there are, for a message. */
static void
known_types(const struct gpu_types *g, char *buf, size_t size)
{
	size_t i, len = 0;

	buf[0] = '\0';
	for (i = 0; i < g->n && len < size; i++)
		len += (size_t)snprintf(
		    buf + len, size - len, "%s%s", i > 0 ? ", " : "", g->type[i].name);
}

/* What the options leave free of what the row does. */
static struct ptd_pins
pins_of(const struct run *r, size_t row)
{
	struct ptd_pins pins = r->t.row[row].pins;

	if (pins.recompute < 0)
		pins.recompute = r->o->ptd.recompute;
	if (pins.schedule < 0)
		pins.schedule = r->o->ptd.schedule;
	if (pins.zero < 0) {
		pins.zero = r->o->ptd.zero;
		pins.any_zero = r->o->ptd.any_zero;
	}
	pins.any_memory = r->o->evaluate;
	return pins;
}

/* The machine of a row: its type and GPUs, or those of the options. */
static int
machine_of(struct ptd_machine *m, const struct run *r, size_t row, struct gv_error *e)
{
	const struct ptd_options *p = &r->o->ptd;
	const struct gv_machine *levels = &r->o->machine;
	const struct transformer_row *x = &r->t.row[row];
	const char *type = x->gpu_type != NULL ? x->gpu_type : p->gpu_type;
	char known[GV_ERROR_LEN - 100], name[200], q[GV_QUOTE_LEN];
	int schedule;
	size_t i;

	memset(m, 0, sizeof(*m));
	transformers_name(&r->t, row, name, sizeof(name));
	schedule = pins_of(r, row).schedule;
	if (r->o->export >= 0 && schedule >= 0 &&
	    !ptd_export_can((enum ptd_schedule)schedule))
		return gv_error_set(e, "%s: Megatron-LM has no schedule %s", name,
		    ptd_schedule_name[schedule]);
	if (type == NULL)
		return gv_error_set(e, "%s: which GPUs? --gpu-type=TYPE", name);
	m->name = type;
	m->gpu = gpu_types_find(&r->types, type);
	if (m->gpu == NULL) {
		known_types(&r->types, known, sizeof(known));
		return gv_error_set(e, "%s: unknown GPU type %s; known: %s", name,
		    gv_quote(q, type, strlen(type)), known);
	}
	m->precision = PRECISION_BF16;
	if (p->precision >= 0)
		m->precision = (enum precision)p->precision;
	else
		while (m->precision < PRECISION_FP32 &&
		       m->gpu->flops_per_s[m->precision] <= 0)
			m->precision++;
	if (m->gpu->flops_per_s[m->precision] <= 0)
		return gv_error_set(e, "%s: a %s has no %s", name, m->gpu->name,
		    precision_name[m->precision]);
	m->gpus = x->gpus > 0 ? x->gpus : p->gpus;
	m->node = (size_t)m->gpu->node_gpus;
	m->link_bytes_per_s = m->gpu->link_bytes_per_s;
	m->network_bytes_per_s = m->gpu->network_bytes_per_s;
	if (levels->n_levels > 0) {
		m->node = levels->gpus[0];
		m->link_bytes_per_s = levels->bytes_per_s[0];
		m->network_bytes_per_s = m->link_bytes_per_s;
		for (i = 1; i < levels->n_levels; i++)
			if (levels->bytes_per_s[i] < m->network_bytes_per_s)
				m->network_bytes_per_s = levels->bytes_per_s[i];
		if (m->gpus == 0)
			m->gpus = gv_machine_component(levels, levels->n_levels);
	}
	if (m->gpus == 0)
		return gv_error_set(e, "%s: how many GPUs? --gpus=N", name);
	m->memory = r->o->search.rules.memory > 0 ? r->o->search.rules.memory
						  : PTD_USABLE * m->gpu->memory;
	memcpy(m->can, p->can, sizeof(m->can));
	return 0;
}

/* Nothing divides all GPUs; used: how many do. */
static void
say_nothing_divides(const struct run *r, size_t row, size_t gpus, size_t used)
{
	const struct transformer *x = &r->t.row[row].x;
	char name[200], instead[64] = "no plan";

	if (used > 0)
		snprintf(instead, sizeof(instead), "planned for %zu", used);
	transformers_name(&r->t, row, name, sizeof(name));
	gv_warn("%s: %s: nothing divides %zu GPUs, %.0f layers, %.0f heads and a batch "
		"of %.0f as it has to",
	    name, instead, gpus, x->layers, x->heads, x->batch);
}

static void
say_why(const struct run *r, size_t row, const struct ptd_machine *m,
    const struct ptd_rows *rows)
{
	const struct ptd_plan *k = &rows->least.plan;
	char name[200], size[2][GV_NUM_LEN], copies[64] = "";

	transformers_name(&r->t, row, name, sizeof(name));
	if (k->c > 1 || k->e > 1)
		snprintf(copies, sizeof(copies), " c=%zu e=%zu", k->c, k->e);
	if (rows->tried == 0)
		say_nothing_divides(r, row, m->gpus, 0);
	else
		gv_warn("%s: no plan fits: the smallest, t=%zu p=%zu d=%zu%s v=%zu b=%zu "
			"recompute=%s, needs %s on each GPU, %s too much",
		    name, k->t, k->p, k->d, copies, k->v, k->b,
		    ptd_recompute_name[k->recompute],
		    gv_show_bytes(size[0], rows->least.memory),
		    gv_show_bytes(size[1], rows->least.memory - m->memory));
}

static void
write_row(
    struct run *r, size_t row, const struct ptd_machine *m, const struct ptd_rows *rows)
{
	size_t top = r->o->top, i;
	struct gv_strbuf line = {0};

	for (i = 0; i < rows->n && (top == 0 || i < top); i++) {
		if (r->o->export < 0) {
			transformers_write(&r->t, row, m, &rows->row[i], i + 1, &r->w);
			continue;
		}
		gv_strbuf_clear(&line);
		ptd_export_megatron(&line, &r->t.row[row].x, m, &rows->row[i].plan);
		gv_out_fmt(r->out, "%s\n", line.s);
	}
	gv_strbuf_free(&line);
}

static void
plan_row(struct run *r, size_t row)
{
	struct ptd_machine *m = &r->machine[row];
	struct ptd_pins pins = pins_of(r, row);
	struct ptd_rows rows;
	size_t i, gpus = m->gpus;

	if (r->o->evaluate)
		ptd_search(&rows, &r->t.row[row].x, m, &pins);
	else
		ptd_search_part(&rows, &r->t.row[row].x, m, &pins);
	if (m->gpus < gpus && !r->o->common.quiet)
		say_nothing_divides(r, row, gpus, m->gpus);
	write_row(r, row, m, &rows);
	for (i = 0; i < rows.n && rows.row[i].memory > m->memory; i++)
		;
	if (i == rows.n) {
		say_why(r, row, m, &rows);
		r->all = false;
	}
	if (!m->gpu->calibrated && r->o->common.verbose > 0)
		gv_warn("the shares that a %s reaches were not measured", m->gpu->name);
	ptd_rows_free(&rows);
}

int
ptd_run(const struct options *o)
{
	struct run r = {.o = o, .all = true};
	struct gv_error e = {0};
	size_t i;

	if (read_types(&r, &e) != 0 || transformers_read(&r.t, o->input, &e) != 0)
		gv_die_error(&e);
	r.machine = gv_xcalloc(r.t.rows.n_rows + 1, sizeof(*r.machine));
	for (i = 0; i < r.t.rows.n_rows; i++)
		(void)machine_of(&r.machine[i], &r, i, &e);
	if (e.count > 0 || gv_out_open(&r.out, o->common.output, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&r.w, r.out, o->common.tsv);
	if (o->export < 0)
		transformers_header(&r.t, &r.w);
	for (i = 0; i < r.t.rows.n_rows; i++)
		plan_row(&r, i);
	if (r.out != gv_stdout() && gv_out_close(r.out, &e) != 0)
		gv_die_error(&e);
	free(r.machine);
	transformers_free(&r.t);
	gpu_types_free(&r.types);
	return r.all ? GV_EXIT_OK : GV_EXIT_NO;
}
