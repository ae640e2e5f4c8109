/*
 * gv-train: trains the network of a model table, or an array of networks at
 * once, alone or as one worker of a gang.  It saves itself when it is told to
 * leave and goes on where it was; losses and parameters do not depend on
 * interruptions, threads, workers or neighbours in the array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/subnormal.h"
#include "gv-train/pipeline/set.h"
#include "run.h"

static void
print_shapes(const struct options *o)
{
	struct gv_error e = {0};
	struct run r = {.o = o};
	struct gv_tabw w;
	struct gv_out *out;

	if (run_read(&r, &e) != 0 || gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&w, out, o->common.tsv || r.model.table.tsv);
	gv_model_write_shapes(&r.model, &w);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	run_close(&r);
}

static void
export_data(const struct options *o)
{
	struct gv_error e = {0};
	struct gv_data d;

	if (gv_data_open(&d, &o->data.train, &e) != 0 ||
	    gv_data_export(&d, o->export_to, &e) != 0)
		gv_die_error(&e);
	gv_data_free(&d);
}

/* DIR/0.ckpt, DIR/1.ckpt, ... */
static void
split(const struct options *o)
{
	struct gv_error e = {0};
	size_t len = strlen(o->split_into) + 32;
	char *path = gv_xcalloc(len, 1);
	size_t b, n;

	if (gv_ckpt_models(o->model, &n, &e) != 0 || gv_mkdirs(o->split_into, &e) != 0)
		gv_die_error(&e);
	for (b = 0; b < n; b++) {
		snprintf(path, len, "%s/%zu.ckpt", o->split_into, b);
		if (gv_ckpt_split(o->model, b, path, &e) != 0)
			gv_die_error(&e);
	}
	free(path);
}

static bool
is_one_file(const char *a, const char *b)
{
	struct stat s, t;

	return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino;
}

static void
join(const struct options *o)
{
	struct gv_error e = {0};
	struct set s;
	size_t i, k;

	if (o->n_parts == 1 && set_is(o->parts[0])) {
		if (set_load(&s, o->parts[0], &e) != 1 ||
		    gv_ckpt_join_slices(s.slice, s.n, o->join_into, &e) != 0)
			gv_die_error(&e);
		set_free(&s);
		return;
	}
	for (i = 0; i < o->n_parts; i++)
		for (k = 0; k < i; k++)
			if (is_one_file(o->parts[i], o->parts[k]))
				gv_die("--join: %s and %s are one file", o->parts[k],
				    o->parts[i]);
	if (gv_ckpt_join(o->parts, o->n_parts, o->join_into, &e) != 0)
		gv_die_error(&e);
}

static int
train(const struct options *o)
{
	struct gv_error e = {0};
	struct run r = {.o = o};
	int status;

	run_catch_save();
	if (array_read(&r.array, o, &e) != 0 || run_read(&r, &e) != 0)
		gv_die_error(&e);
	status = run_open(&r, &e);
	if (status == GV_EXIT_TEMPFAIL) {
		gv_warn_error(&e);
		exit(status);
	}
	run_catch_stop();
	if (status == 0)
		status =
		    o->pipeline != NULL ? run_pipeline_train(&r, &e) : run_train(&r, &e);
	gv_progress(NULL);
	if (status < 0 || record_close(&r.record, &e) != 0 ||
	    (r.out != NULL && gv_out_close(r.out, &e) != 0))
		gv_die_error(&e);
	run_close(&r);
	return status;
}

int
main(int argc, char **argv)
{
	struct options o;
	int status = 0, finished;

	gv_init("gv-train");
	gv_subnormal_flush();
	options_parse(&o, argc, argv);
	if (o.shapes)
		print_shapes(&o);
	else if (o.export_to != NULL)
		export_data(&o);
	else if (o.split_into != NULL)
		split(&o);
	else if (o.join_into != NULL)
		join(&o);
	else
		status = train(&o);
	finished = gv_finish();
	return finished != 0 ? finished : status;
}
