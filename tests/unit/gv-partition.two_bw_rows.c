/*
 * Configurations of pipelines side by side against the formulas of two_bw.h, which are written
 * out here once more, on random prefixes and machines; tables of speeds and of rows.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "gv-partition/two_bw/two_bw.h"
#include "gv-partition/two_bw/two_bw_table.h"
#include "partition_help.h"
#include "table/tab.h"
#include "tap.h"

enum { PREFIXES = 6, ROWS = 4000 };

/* ---- a model of drawn prefixes ---- */

struct model {
	struct ideals s;
	double time_s[PREFIXES], forward_s[PREFIXES], activation[PREFIXES],
	    parameter[PREFIXES], out[PREFIXES];
	struct two_bw_cuts c;
	size_t cut[PREFIXES][PREFIXES], *at[PREFIXES];
};

static void
draw_model(struct model *x)
{
	size_t n = 2 + draw(PREFIXES - 1), i, d, k;
	bool flat = draw(10) == 0;

	memset(x, 0, sizeof(*x));
	x->s = (struct ideals){.n = n,
	    .time_s = x->time_s,
	    .forward_s = x->forward_s,
	    .activation = x->activation,
	    .parameter = x->parameter,
	    .out = x->out};
	for (i = 1; i < n; i++) {
		double f = (double)draw(4);

		x->forward_s[i] = x->forward_s[i - 1] + f;
		x->time_s[i] = x->time_s[i - 1] + f + (double)draw(4) + .5;
		x->activation[i] = x->activation[i - 1] + (double)draw(9);
		x->parameter[i] = x->parameter[i - 1] + (double)draw(9);
		x->out[i] = i + 1 < n ? (double)draw(9) : 0;
	}
	/* time in one layer alone, so that micro-batches and kinds do not matter */
	for (k = 1 + draw(n - 1), i = 1; flat && i < n; i++) {
		x->forward_s[i] = x->activation[i] = x->parameter[i] = x->out[i] = 0;
		x->time_s[i] = i < k ? 0 : 1;
	}
	x->c = (struct two_bw_cuts){.deepest = 1 + draw(n - 1), .at = x->at};
	for (d = 1; d <= x->c.deepest; d++) {
		/* the first and the last, and others between as they come */
		for (i = 1, k = 1; k < d; i++)
			if (draw(2) == 0 || n - 1 - i == d - k)
				x->cut[d][k++] = i;
		x->cut[d][d] = n - 1;
		x->at[d] = x->cut[d];
	}
}

static double
draw_rate(void)
{
	return .5 + (double)draw(8);
}

static void
draw_machine(struct two_bw_machine *m)
{
	*m = (struct two_bw_machine){.gpus = 1 + draw(9),
	    .server = 1 + draw(5),
	    .fast = draw_rate(),
	    .slow = draw_rate(),
	    .fast_sum = draw_rate(),
	    .slow_sum = draw_rate(),
	    .memory = draw(3) == 0 ? 0 : (double)(1 + draw(90)),
	    .state = (double)draw(3),
	    .batch = 1 + draw(20),
	    .recompute = (enum two_bw_recompute)draw(3)};
}

/* ---- the formulas ---- */

/* What the header says of w, d, b, pipelined and recompute; the rest of the row. */
static void
formulas(const struct model *x, const struct two_bw_machine *m, double speed,
    struct two_bw_row *r)
{
	double w = (double)r->w, d = (double)r->d, b = (double)r->b, sums[3] = {0};
	double rounds = (double)r->g * (r->pipelined ? d : 1);
	size_t i;

	r->micro_s = r->memory = 0;
	for (i = 0; i < r->d; i++) {
		size_t from = x->cut[r->d][i], to = x->cut[r->d][i + 1];
		double T = x->time_s[to] - x->time_s[from];
		double F = x->forward_s[to] - x->forward_s[from];
		double W = x->parameter[to] - x->parameter[from];
		double A = x->activation[to] - x->activation[from];
		double I = x->out[from], O = x->out[to];
		double C = b * (r->recompute ? T + F : T) / speed;
		double X =
		    2 * b * (I + O) / (w * d > (double)m->server ? m->slow : m->fast);
		double S = 2 * (w - 1) / w * W /
			   (w > (double)m->server ? m->slow_sum : m->fast_sum) / rounds;
		double took = C + X > S ? C + X : S;
		double bytes = (1 + m->state) * W;

		if (!r->pipelined)
			bytes += W + b * A;
		else if (r->recompute)
			bytes += 2 * W + b * A + d * b * I;
		else
			bytes += 2 * W + d * b * (A + I);
		r->memory = fmax(r->memory, bytes);
		if (!r->pipelined) {
			r->micro_s += took;
			sums[0] += C;
			sums[1] += X;
			sums[2] += S;
		} else if (took > r->micro_s) {
			r->micro_s = took;
			sums[0] = C;
			sums[1] = X;
			sums[2] = S;
		}
	}
	r->compute_s = sums[0];
	r->transfer_s = sums[1];
	r->sync_s = sums[2];
	r->minibatches_per_s = w * b / r->micro_s;
}

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

static bool
is_same(const struct two_bw_row *a, const struct two_bw_row *b)
{
	return a->w == b->w && a->d == b->d && a->b == b->b && a->g == b->g &&
	       a->pipelined == b->pipelined && a->recompute == b->recompute &&
	       near(a->micro_s, b->micro_s) && near(a->memory, b->memory) &&
	       near(a->minibatches_per_s, b->minibatches_per_s) &&
	       near(a->compute_s, b->compute_s) && near(a->transfer_s, b->transfer_s) &&
	       near(a->sync_s, b->sync_s);
}

/* All configurations in the order of depth, width, micro-batch and kind; their number. */
static size_t
all_rows(const struct model *x, const struct two_bw_machine *m,
    const struct two_bw_speeds *v, struct two_bw_row *row)
{
	size_t n = 0, w, d, i, kind;

	for (d = 1; d <= m->gpus && d <= x->c.deepest; d++)
		for (w = 1; w * d <= m->gpus; w++)
			for (i = 0; i < v->n; i++)
				for (kind = 0; kind < 3; kind++) {
					struct two_bw_row r = {.w = w,
					    .d = d,
					    .b = v->b[i],
					    .pipelined = kind > 0,
					    .recompute = kind == 2};

					r.g = m->batch / (w * r.b * (kind > 0 ? d : 1));
					if (r.g == 0 || (kind > 0 && d == 1) ||
					    (r.recompute ? m->recompute == TWO_BW_NONE
							 : m->recompute == TWO_BW_FULL))
						continue;
					formulas(x, m, v->speed[i], &r);
					row[n++] = r;
				}
	return n;
}

/* Whether x may stand before y. */
static bool
in_order(const struct two_bw_row *x, const struct two_bw_row *y)
{
	if (x->minibatches_per_s != y->minibatches_per_s)
		return x->minibatches_per_s > y->minibatches_per_s;
	if (x->d != y->d)
		return x->d < y->d;
	if (x->recompute != y->recompute)
		return !x->recompute;
	if (x->memory != y->memory)
		return x->memory < y->memory;
	if (x->w != y->w)
		return x->w < y->w;
	return x->b != y->b ? x->b < y->b : !x->pipelined && y->pipelined;
}

/* ---- the search ---- */

struct counts {
	size_t tried, missing, unordered, least, rows, left, ties, unfreed;
};

static void
compare_rows(const struct two_bw_rows *got, const struct two_bw_row *row, size_t n,
    const struct two_bw_machine *m, struct counts *c)
{
	size_t i, k, fit = 0, least = 0;

	c->tried += got->tried != n;
	for (i = 0; i < n; i++) {
		bool fits = m->memory == 0 || row[i].memory <= m->memory;

		least = row[i].memory < row[least].memory * (1 - 1e-12) ? i : least;
		fit += fits;
		c->left += !fits;
		for (k = 0; k < got->n && !is_same(&got->row[k], &row[i]); k++)
			;
		c->missing += fits != (k < got->n);
	}
	c->missing += got->n != fit;
	c->rows += got->n;
	for (i = 0; i + 1 < got->n; i++) {
		c->unordered += !in_order(&got->row[i], &got->row[i + 1]);
		c->ties +=
		    got->row[i].minibatches_per_s == got->row[i + 1].minibatches_per_s;
	}
	if (n > 0 && got->tried > 0)
		c->least += !is_same(&got->least, &row[least]);
}

static void
searches(void)
{
	static struct two_bw_row row[ROWS];
	struct counts c = {0};
	size_t trial;

	for (trial = 0; trial < 6000; trial++) {
		struct model x;
		struct two_bw_machine m;
		struct two_bw_speeds v;
		struct two_bw_rows got;
		size_t i;

		draws_begin(29, (uint32_t)trial, 0);
		draw_model(&x);
		draw_machine(&m);
		two_bw_speeds_even(&v, 1 + draw(24));
		for (i = 1; i < v.n && draw(2) == 0; i++)
			v.speed[i] = 1 + .25 * (double)i;
		memset(&got, 0x55, sizeof(got));
		two_bw_search(&got, &x.s, &x.c, &m, &v);
		compare_rows(&got, row, all_rows(&x, &m, &v, row), &m, &c);
		two_bw_rows_free(&got);
		c.unfreed += got.n != 0 || got.row != NULL || got.tried != 0;
		two_bw_speeds_free(&v);
	}
	is_int(c.tried, 0, "all configurations are tried");
	is_int(c.missing, 0, "those that fit are there, as the formulas say");
	is_int(c.unordered, 0, "the best first, ties by what is simpler");
	is_int(c.least, 0, "the first with the least memory");
	is_int(c.unfreed, 0, "and nothing is left of freed ones");
	ok(c.rows > 20000 && c.left > 5000 && c.ties > 500,
	    "%zu rows, %zu do not fit, %zu are as fast", c.rows, c.left, c.ties);
}

/* ---- speeds ---- */

static void
even(void)
{
	struct two_bw_speeds v;
	size_t most, i, wrong = 0;

	for (most = 0; most < 70; most++) {
		memset(&v, 0x55, sizeof(v));
		two_bw_speeds_even(&v, most);
		for (i = 0; i < v.n; i++)
			wrong +=
			    v.b[i] != (size_t)1 << i || v.b[i] > most || v.speed[i] != 1;
		wrong += (size_t)1 << v.n <= most;
		two_bw_speeds_free(&v);
		wrong += v.n != 0 || v.b != NULL || v.speed != NULL;
	}
	is_int(wrong, 0, "powers of 2 up to most, at the same speed");
	two_bw_speeds_even(&v, SIZE_MAX);
	ok(v.n == 63 && v.b[62] == (size_t)1 << 62, "63 of them at most");
	two_bw_speeds_free(&v);
}

/* Reads a table of this text; what is wrong with it, "" = nothing. */
static const char *
read_text(struct two_bw_speeds *v, const char *text)
{
	static char said[600];
	char path[] = "/tmp/gv-two-bw-XXXXXX";
	struct gv_error e = {0};
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	memset(v, 0x55, sizeof(*v));
	said[0] = '\0';
	if (two_bw_speeds_read(v, path, &e) != 0)
		snprintf(said, sizeof(said), "%s", e.text[0]);
	gv_error_clear(&e);
	unlink(path);
	return strncmp(said, path, strlen(path)) == 0 ? said + strlen(path) : said;
}

static void
tables(void)
{
	struct two_bw_speeds v;
	const struct {
		const char *text, *wrong;
	} bad[] = {
	    {"micro_batch,speed\n0,1\n",
		":2: micro_batch: expected a whole number from 1 to 1000000, got 0"},
	    {"micro_batch,speed\n1000001,1\n",
		":2: micro_batch: expected a whole number from 1 to 1000000, got "
		"1000001"},
	    {"micro_batch,speed\n1,0\n",
		":2: speed: expected a number over 0 and up to 1e6, got 0"},
	    {"micro_batch,speed\n1,1000001\n",
		":2: speed: expected a number over 0 and up to 1e6, got 1e+06"},
	    {"speed,micro_batch\n1,2\n1,1\n2,1\n",
		":4: micro_batch: 1 stands there already"},
	    {"micro_batch,speed\n", ":1: no row below the header"},
	};
	size_t i;

	is_str(read_text(&v, "speed,micro_batch\n3,8\n1,1\n1e6,1000000\n2.5,4\n.5,2\n"),
	    "", "a table of speeds");
	ok(v.n == 5 && v.b[0] == 1 && v.b[1] == 2 && v.b[2] == 4 && v.b[3] == 8 &&
		v.b[4] == 1000000,
	    "by size");
	ok(v.speed[0] == 1 && v.speed[1] == .5 && v.speed[2] == 2.5 && v.speed[3] == 3 &&
		v.speed[4] == 1e6,
	    "each with its speed");
	two_bw_speeds_free(&v);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_str(
		    read_text(&v, bad[i].text), bad[i].wrong, "wrong: %s", bad[i].wrong);
		ok(v.n == 0 && v.b == NULL && v.speed == NULL, "and nothing is left");
	}
}

static void
written(void)
{
	struct two_bw_row row[] = {{2, 3, 4, 5, true, true, .5, 16, 1e9, .25, .125, 2},
	    {6, 1, 7, 8, false, false, 1, 42, 6, 3, 4, 5}};
	struct two_bw_rows r = {.n = 2, .row = row};
	const char *const line[] = {
	    "rank,width,depth,micro_batch,micro_batches,execution,recompute,"
	    "micro_batch_s,minibatches_per_s,compute_s,transfer_s,sync_s,memory_bytes\n",
	    "1,2,3,4,15,pipelined,full,0.5,16,0.25,0.125,2,1000000000\n",
	    "2,6,1,7,8,serial,none,1,42,3,4,5,6\n"};
	size_t top, i;

	for (top = 0; top < 4; top++) {
		struct gv_strbuf s = {0};
		struct gv_out *out = gv_out_memory(&s);
		struct gv_error e = {0};
		char want[600] = "";

		two_bw_write(&r, top, out, false);
		gv_out_close(out, &e);
		for (i = 0; i < 3 && (top == 0 || i <= top); i++)
			strcat(want, line[i]);
		is_str(s.s, want, "the best %zu rows", top);
		gv_strbuf_free(&s);
	}
}

int
main(void)
{
	gv_init("gv-partition.two_bw_rows");
	searches();
	even();
	tables();
	written();
	return done_testing();
}
