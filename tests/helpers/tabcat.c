/*
 * tabcat [-c] [-f] [-l] [-n] [-t] [FILE]: reads tables and writes them again, as
 * CSV or (-t) TSV; -f reads whole tables into memory, -n only counts, -l parses
 * every row with libcsv, -c lets one column's cells be numbers: tabcat -c NAME.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/tab.h"

struct options {
	bool frame;
	bool count;
	bool only_libcsv;
	bool tsv;
	const char *number;
};

static void
put_header(struct gv_tabw *w, const struct gv_cell *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		gv_tabw_cell(w, name[i]);
	gv_tabw_end(w);
}

static int
copy_rows(
    struct gv_tabw *w, struct gv_tab *t, const struct options *o, struct gv_error *e)
{
	size_t n = gv_tab_columns(t);
	size_t number = 0;
	size_t n_rows = 0;
	size_t i;
	int r;

	if (o->number != NULL && gv_tab_require(t, o->number, &number, e) != 0)
		return -1;
	for (i = 0; i < n && !o->count; i++)
		gv_tabw_cell(w, gv_tab_name(t, i));
	if (!o->count)
		gv_tabw_end(w);
	while ((r = gv_tab_next(t, e)) != 0) {
		double v;

		if (r == -1 ||
		    (o->number != NULL && gv_tab_double(t, number, &v, e) != 0))
			continue;
		n_rows++;
		for (i = 0; i < n && !o->count; i++)
			gv_tabw_cell(w, gv_tab_cell(t, i));
		if (!o->count)
			gv_tabw_end(w);
	}
	if (o->count)
		gv_out_fmt(w->out, "%zu rows, %zu columns\n", n_rows, n);
	return e->count == 0 ? 0 : -1;
}

static int
copy_frame(
    struct gv_tabw *w, struct gv_tab *t, const struct options *o, struct gv_error *e)
{
	struct gv_frame f;
	ptrdiff_t number = -1;
	size_t i, j;
	double v;

	if (gv_frame_read(&f, t, e) != 0)
		return -1;
	if (o->number != NULL && gv_frame_require(&f, o->number, &number, e) == 0)
		for (i = 0; i < f.n_rows; i++)
			gv_frame_double(&f, i, number, NAN, &v, e);
	if (o->count) {
		gv_out_fmt(w->out, "%zu rows, %zu columns\n", f.n_rows, f.n_columns);
	} else {
		put_header(w, f.name, f.n_columns);
		for (i = 0; i < f.n_rows; i++) {
			for (j = 0; j < f.n_columns; j++)
				gv_tabw_cell(w, gv_frame_cell(&f, i, (ptrdiff_t)j));
			gv_tabw_end(w);
		}
	}
	gv_frame_free(&f);
	return e->count == 0 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct options o = {0};
	struct gv_error e = {0};
	struct gv_tabw w;
	struct gv_tab *t;
	bool first = true;
	int c;

	gv_init("tabcat");
	while ((c = getopt(argc, argv, "c:flnt")) != -1) {
		o.number = c == 'c' ? optarg : o.number;
		o.frame |= c == 'f';
		o.only_libcsv |= c == 'l';
		o.count |= c == 'n';
		o.tsv |= c == 't';
	}
	if (gv_tab_open(&t, argv[optind], &e) != 0)
		gv_die_error(&e);
	if (o.only_libcsv)
		gv_tab_only_libcsv(t);
	gv_tabw_init(&w, gv_stdout(), o.tsv);
	while ((c = gv_tab_table(t, &e)) == 1) {
		if (!first && !o.count)
			gv_tabw_between(&w);
		first = false;
		if ((o.frame ? copy_frame : copy_rows)(&w, t, &o, &e) != 0)
			break;
		gv_out_flush(w.out);
	}
	if (e.count > 0)
		gv_die_error(&e);
	gv_tab_close(t);
	return gv_finish();
}
