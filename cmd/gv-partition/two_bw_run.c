#include "two_bw_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "say.h"
#include "ties.h"
#include "gv-partition/two_bw/two_bw_table.h"

static struct two_bw_machine
machine_of(const struct options *o)
{
	const struct gv_machine *m = &o->machine;
	struct two_bw_machine b = {.gpus = gv_machine_component(m, m->n_levels),
	    .server = m->gpus[0],
	    .fast = m->bytes_per_s[0],
	    .slow = m->bytes_per_s[0],
	    .fast_sum = gv_machine_sum_rate(m, 0),
	    .slow_sum = gv_machine_sum_rate(m, 0),
	    .memory = o->search.rules.memory,
	    .state = o->search.rules.state,
	    .batch = o->batch};
	enum recompute r = o->search.rules.recompute;
	size_t l;

	for (l = 1; l < m->n_levels; l++) {
		b.slow = fmin(b.slow, m->bytes_per_s[l]);
		b.slow_sum = fmin(b.slow_sum, gv_machine_sum_rate(m, l));
	}
	b.recompute = r == RECOMPUTE_NONE   ? TWO_BW_NONE
		      : r == RECOMPUTE_FULL ? TWO_BW_FULL
					    : TWO_BW_EITHER;
	return b;
}

static const char *
execution(const struct two_bw_row *r)
{
	return r->pipelined ? "pipelined" : "serial";
}

static void
say_best(const struct two_bw_rows *r)
{
	const struct two_bw_row *b = &r->row[0];
	char micro[GV_NUM_LEN], rate[GV_NUM_LEN];

	gv_format_double(micro, b->micro_s);
	gv_format_double(rate, b->minibatches_per_s);
	gv_warn("width=%zu depth=%zu micro_batch=%zu micro_batches=%zu execution=%s "
		"recompute=%s micro_batch_s=%s minibatches_per_s=%s memory_bytes=%.0f "
		"tried=%zu fit=%zu",
	    b->w, b->d, b->b, b->pipelined ? b->g * b->d : b->g, execution(b),
	    b->recompute ? "full" : "none", micro, rate, b->memory, r->tried, r->n);
}

static void
say_none(const struct two_bw_rows *r, const struct two_bw_machine *m)
{
	const struct two_bw_row *b = &r->least;
	char size[2][GV_NUM_LEN];

	if (r->tried == 0)
		gv_warn("no plan: a batch of %zu minibatches has none for every stage of "
			"a pipeline",
		    m->batch);
	else
		gv_warn("no plan fits: the smallest, width=%zu depth=%zu micro_batch=%zu "
			"execution=%s recompute=%s, needs %s on a GPU, %s too much",
		    b->w, b->d, b->b, execution(b), b->recompute ? "full" : "none",
		    gv_show_bytes(size[0], b->memory),
		    gv_show_bytes(size[1], b->memory - m->memory));
}

static void
progress(size_t done, size_t of)
{
	say_progress(done, of, "passes");
}

/* Searches; ends the program when the speeds cannot be read. */
static void
search(struct two_bw_rows *r, struct two_bw_cuts *c, const struct options *o,
    const struct gv_layers *l, struct prefixes *x)
{
	struct two_bw_machine m = machine_of(o);
	struct two_bw_speeds v;
	struct gv_error e = {0};

	if (o->speeds == NULL)
		two_bw_speeds_even(&v, m.batch);
	else if (two_bw_speeds_read(&v, o->speeds, &e) != 0)
		gv_die_error(&e);
	say_prefixes(x, o, l, o->prefixes, o->prefixes);
	two_bw_cuts_make(c, &x->s, m.gpus, o->common.quiet ? NULL : progress);
	gv_progress(NULL);
	two_bw_search(r, &x->s, c, &m, &v);
	two_bw_speeds_free(&v);
	if (r->n == 0)
		say_none(r, &m);
	else if (o->common.verbose > 0)
		say_best(r);
}

void
two_bw_plan(
    struct gv_plan *p, struct options *o, const struct gv_layers *l, struct prefixes *x)
{
	struct two_bw_rows r;
	struct two_bw_cuts c;
	const struct two_bw_row *best;
	const size_t *at;
	size_t i, v;

	search(&r, &c, o, l, x);
	if (r.n == 0)
		exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
	best = &r.row[0];
	at = c.at[best->d];
	memset(p, 0, sizeof(*p));
	p->n = best->d;
	p->stage = gv_xcalloc(p->n, sizeof(*p->stage));
	p->of = gv_xcalloc(l->g.n, sizeof(*p->of));
	for (i = 0; i < p->n; i++) {
		p->stage[i].replicas[0] = best->w;
		p->stage[i].within[0] = i;
		p->stage[i].recompute = best->recompute;
		for (v = 0; v < l->g.n; v++)
			if (ideals_has(&x->s, at[i + 1], v) &&
			    !ideals_has(&x->s, at[i], v))
				p->of[v] = (uint32_t)i;
	}
	gv_machine_flatten(&o->machine);
	/* serial: each minibatch drains before the next */
	o->search.rules.schedule = best->pipelined ? GV_SCHEDULE_2BW : GV_SCHEDULE_FLUSH;
	o->search.rules.micro_batches =
	    best->w * (best->pipelined  ? best->g * best->d * best->b
			  : best->d > 1 ? 1
					: best->g * best->b);
	two_bw_cuts_free(&c);
	two_bw_rows_free(&r);
}

int
two_bw_list(const struct options *o)
{
	struct gv_error e = {0};
	struct gv_layers l = {0};
	struct prefixes x = {0};
	struct two_bw_cuts c;
	struct two_bw_rows r;
	struct gv_out *out;
	int status;

	if (gv_layers_read(&l, o->input, o->edges, &e) != 0)
		gv_die_error(&e);
	take_ties(o, &l);
	search(&r, &c, o, &l, &x);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	two_bw_write(&r, o->top, out, o->common.tsv);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	status = r.n > 0 ? GV_EXIT_OK : GV_EXIT_NO;
	two_bw_rows_free(&r);
	two_bw_cuts_free(&c);
	prefixes_free(&x);
	gv_layers_free(&l);
	return status;
}
