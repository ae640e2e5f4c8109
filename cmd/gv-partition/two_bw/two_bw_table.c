#include "two_bw_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/kind.h"

/* ---- reading ---- */

/* Puts a row in its place among those before it. */
static int
insert(struct two_bw_speeds *v, const struct gv_frame *f, size_t row, const ptrdiff_t *at,
    struct gv_error *e)
{
	int64_t b;
	double speed;
	size_t i;

	if (gv_frame_int(f, row, at[0], INT64_MIN, &b, e) != 0 ||
	    gv_frame_double(f, row, at[1], NAN, &speed, e) != 0)
		return -1;
	if (b < 1 || b > 1000000)
		return gv_frame_error(f, row, at[0], e,
		    "expected a whole number from 1 to 1000000, got %lld", (long long)b);
	if (speed <= 0 || speed > 1e6)
		return gv_frame_error(f, row, at[1], e,
		    "expected a number over 0 and up to 1e6, got %g", speed);
	for (i = v->n; i > 0 && v->b[i - 1] > (size_t)b; i--) {
		v->b[i] = v->b[i - 1];
		v->speed[i] = v->speed[i - 1];
	}
	v->b[i] = (size_t)b;
	v->speed[i] = speed;
	v->n++;
	if (i > 0 && v->b[i - 1] == (size_t)b)
		return gv_frame_error(
		    f, row, at[0], e, "%lld stands there already", (long long)b);
	return 0;
}

int
two_bw_speeds_read(struct two_bw_speeds *v, const char *path, struct gv_error *e)
{
	struct gv_frame f;
	ptrdiff_t at[2];
	size_t i;
	int rc;

	memset(v, 0, sizeof(*v));
	if (gv_frame_load(&f, path, e) != 0)
		return -1;
	rc = gv_frame_expect(&f, GV_KIND_MICRO_BATCHES, e) != 0 ||
	     gv_frame_require(&f, "micro_batch", &at[0], e) != 0 ||
	     gv_frame_require(&f, "speed", &at[1], e) != 0;
	if (rc == 0 && f.n_rows == 0)
		rc = gv_error_at(
		    e, f.file, f.header_line, NULL, "no row below the header");
	v->b = gv_xcalloc(f.n_rows + 1, sizeof(*v->b));
	v->speed = gv_xcalloc(f.n_rows + 1, sizeof(*v->speed));
	for (i = 0; i < f.n_rows && rc == 0; i++)
		rc = insert(v, &f, i, at, e);
	gv_frame_free(&f);
	if (rc != 0)
		two_bw_speeds_free(v);
	return rc == 0 ? 0 : -1;
}

/* ---- writing ---- */

void
two_bw_write(const struct two_bw_rows *r, size_t top, struct gv_out *out, bool tsv)
{
	static const char *const name[] = {"rank", "width", "depth", "micro_batch",
	    "micro_batches", "execution", "recompute", "micro_batch_s",
	    "minibatches_per_s", "compute_s", "transfer_s", "sync_s", "memory_bytes"};
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		gv_tabw_str(&w, name[i]);
	gv_tabw_end(&w);
	for (i = 0; i < r->n && (top == 0 || i < top); i++) {
		const struct two_bw_row *c = &r->row[i];

		gv_tabw_int(&w, (int64_t)i + 1);
		gv_tabw_int(&w, (int64_t)c->w);
		gv_tabw_int(&w, (int64_t)c->d);
		gv_tabw_int(&w, (int64_t)c->b);
		gv_tabw_int(&w, (int64_t)(c->pipelined ? c->g * c->d : c->g));
		gv_tabw_str(&w, c->pipelined ? "pipelined" : "serial");
		gv_tabw_str(&w, c->recompute ? "full" : "none");
		gv_tabw_double(&w, c->micro_s);
		gv_tabw_double(&w, c->minibatches_per_s);
		gv_tabw_double(&w, c->compute_s);
		gv_tabw_double(&w, c->transfer_s);
		gv_tabw_double(&w, c->sync_s);
		gv_tabw_double(&w, c->memory);
		gv_tabw_end(&w);
	}
}
