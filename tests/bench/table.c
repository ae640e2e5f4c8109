/*
 * How fast tables are read and written: MB/s of one core, and beside libcsv alone
 * and a loop that only reads.  Processor time, best of several runs on the same
 * bytes in memory; copy is what a filter does: read, split, write.
 */
#include <csv.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fileio.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "table/tab.h"

enum { RUNS = 5, ROWS = 200000 };

struct input {
	const char *name;
	struct gv_strbuf s;
	size_t n_cells;
};

/* What a measurement counts, to be compared: cells with the header, and their bytes. */
struct count {
	size_t cells;
	size_t bytes;
};

/* A rates table; quoted: each row has a cell with a comma and quotes. */
static void
make(struct input *in, const char *name, bool tsv, bool quoted)
{
	struct gv_out *out = gv_out_memory(&in->s);
	struct gv_error e = {0};
	struct gv_tabw w;
	char cell[64];
	uint32_t i;

	in->name = name;
	in->n_cells = (ROWS + 1) * 6;
	gv_tabw_init(&w, out, tsv);
	gv_tabw_str(&w, "job_id");
	gv_tabw_str(&w, "job_type");
	gv_tabw_str(&w, "scale_factor");
	gv_tabw_str(&w, "gpu_type");
	gv_tabw_str(&w, "steps_per_s");
	gv_tabw_str(&w, "command");
	gv_tabw_end(&w);
	for (i = 0; i < ROWS; i++) {
		snprintf(cell, sizeof(cell), "job%u", i);
		gv_tabw_str(&w, cell);
		gv_tabw_str(&w, "ResNet-50 (batch size 64)");
		gv_tabw_int(&w, 1 << (i & 3));
		gv_tabw_str(&w, i & 1 ? "v100" : "p100");
		snprintf(cell, sizeof(cell), "%.4f", gv_random_uniform(1, 0, 0, i) * 100);
		gv_tabw_str(&w, cell);
		gv_tabw_str(
		    &w, quoted ? "train --lr=0.1, \"fast\"" : "train --lr=0.1 --fast");
		gv_tabw_end(&w);
	}
	gv_out_close(out, &e);
}

static struct gv_tab *
open_tab(const struct input *in)
{
	struct gv_error e = {0};
	struct gv_in *raw;

	if (gv_in_memory(&raw, in->name, in->s.s, in->s.len, 0, &e) != 0)
		gv_die_error(&e);
	return gv_tab_from(raw);
}

static struct count
read_bytes(const struct input *in, struct gv_out *out)
{
	struct gv_error e = {0};
	struct gv_in *raw;
	char buf[64 * 1024];
	ssize_t n;
	struct count c = {0};

	(void)out;
	gv_in_memory(&raw, in->name, in->s.s, in->s.len, 0, &e);
	while ((n = gv_in_read(raw, buf, sizeof(buf), &e)) > 0)
		c.bytes += (size_t)n;
	gv_in_close(raw);
	return c;
}

static void
on_cell(void *s, size_t len, void *data)
{
	struct count *c = data;

	(void)s;
	c->cells++;
	c->bytes += len;
}

static void
on_row(int end, void *data)
{
	(void)end;
	(void)data;
}

static struct count
libcsv_alone(const struct input *in, struct gv_out *out)
{
	struct csv_parser p;
	struct count c = {0};

	(void)out;
	csv_init(&p, CSV_STRICT);
	csv_parse(&p, in->s.s, in->s.len, on_cell, on_row, &c);
	csv_fini(&p, on_cell, on_row, &c);
	csv_free(&p);
	return c;
}

static struct count
rows(const struct input *in, struct gv_out *out, bool only_libcsv, bool write)
{
	struct gv_tab *t = open_tab(in);
	struct gv_error e = {0};
	struct count c = {0};
	struct gv_tabw w;
	size_t i;

	if (only_libcsv)
		gv_tab_only_libcsv(t);
	if (gv_tab_table(t, &e) != 1)
		gv_die_error(&e);
	gv_tabw_init(&w, out, gv_tab_is_tsv(t));
	for (i = 0; i < gv_tab_columns(t); i++) {
		on_cell(NULL, gv_tab_name(t, i).len, &c);
		if (write)
			gv_tabw_cell(&w, gv_tab_name(t, i));
	}
	if (write)
		gv_tabw_end(&w);
	while (gv_tab_next(t, &e) == 1) {
		for (i = 0; i < gv_tab_columns(t); i++) {
			on_cell(NULL, gv_tab_cell(t, i).len, &c);
			if (write)
				gv_tabw_cell(&w, gv_tab_cell(t, i));
		}
		if (write)
			gv_tabw_end(&w);
	}
	gv_tab_close(t);
	return c;
}

static struct count
read_rows(const struct input *in, struct gv_out *out)
{
	return rows(in, out, false, false);
}

static struct count
read_libcsv(const struct input *in, struct gv_out *out)
{
	return rows(in, out, true, false);
}

static struct count
copy_rows(const struct input *in, struct gv_out *out)
{
	return rows(in, out, false, true);
}

static struct count
read_frame(const struct input *in, struct gv_out *out)
{
	struct gv_tab *t = open_tab(in);
	struct gv_error e = {0};
	struct gv_frame f;
	struct count c = {0};
	size_t i, j;

	(void)out;
	if (gv_tab_table(t, &e) != 1 || gv_frame_read(&f, t, &e) != 0)
		gv_die_error(&e);
	for (j = 0; j < f.n_columns; j++)
		on_cell(NULL, f.name[j].len, &c);
	for (i = 0; i < f.n_rows; i++)
		for (j = 0; j < f.n_columns; j++)
			on_cell(NULL, gv_frame_cell(&f, i, (ptrdiff_t)j).len, &c);
	gv_frame_free(&f);
	gv_tab_close(t);
	return c;
}

static double
best_s(struct count (*run)(const struct input *, struct gv_out *), const struct input *in,
    struct gv_out *out, struct count *c)
{
	double best = 1e9;
	int i;

	for (i = 0; i < RUNS; i++) {
		clock_t start = clock();
		double t;

		*c = run(in, out);
		t = (double)(clock() - start) / CLOCKS_PER_SEC;
		best = t < best ? t : best;
	}
	return best;
}

int
main(void)
{
	static const struct {
		const char *name;
		struct count (*run)(const struct input *, struct gv_out *);
	} what[] = {{"read bytes", read_bytes}, {"libcsv alone", libcsv_alone},
	    {"gv_tab, all by libcsv", read_libcsv}, {"gv_tab", read_rows},
	    {"gv_frame", read_frame}, {"gv_tab + gv_tabw (copy)", copy_rows}};
	struct input in[3] = {0};
	int null = open("/dev/null", O_WRONLY);
	struct gv_out *out = gv_out_fd(null, "/dev/null");
	struct gv_error e = {0};
	int wrong = 0;
	size_t i, j;

	gv_init("table");
	make(&in[0], "csv", false, false);
	make(&in[1], "csv, quotes in each row", false, true);
	make(&in[2], "tsv", true, false);
	for (i = 0; i < 3; i++) {
		double reading = 0, libcsv = 0;
		struct count want = {0};

		printf(
		    "%s: %zu bytes, %zu cells\n", in[i].name, in[i].s.len, in[i].n_cells);
		printf("  %-26s %8s %8s %8s\n", "", "MB/s", "/read", "/libcsv");
		for (j = 0; j < sizeof(what) / sizeof(what[0]); j++) {
			struct count c;
			double mb_per_s = (double)in[i].s.len / 1e6 /
					  best_s(what[j].run, &in[i], out, &c);

			reading = j == 0 ? mb_per_s : reading;
			libcsv = j == 1 ? mb_per_s : libcsv;
			printf("  %-26s %8.0f %8.3f ", what[j].name, mb_per_s,
			    mb_per_s / reading);
			if (j > 0)
				printf("%8.2f", mb_per_s / libcsv);
			if (j == 3)
				want = c;
			if (j >= 3 &&
			    (c.cells != in[i].n_cells || c.bytes != want.bytes)) {
				printf("  wrong: %zu cells, %zu bytes", c.cells, c.bytes);
				wrong = 1;
			}
			printf("\n");
		}
		gv_strbuf_free(&in[i].s);
	}
	gv_out_close(out, &e);
	return wrong;
}
