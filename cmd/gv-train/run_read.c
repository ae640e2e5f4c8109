/* What a run is of: its model and its samples. */
#include <math.h>
#include <stdlib.h>

#include "gv-train/pipeline/stages.h"
#include "run.h"

static int
read_data(struct run *r, struct gv_error *e)
{
	const struct options *o = r->o;
	struct data_spec spec = o->data;

	spec.numbers = r->model.target == GV_TARGET_NUMBERS;
	if (data_open(&r->data, &spec, e) != 0)
		return -1;
	if (o->test.text == NULL)
		return 0;
	spec = o->test;
	spec.numbers = r->model.target == GV_TARGET_NUMBERS;
	if (data_open(&r->test, &spec, e) != 0)
		return -1;
	if (r->test.h != r->data.h || r->test.w != r->data.w || r->test.c != r->data.c)
		return gv_error_set(e,
		    "%s: samples of %zux%zux%zu, those of %s are %zux%zux%zu",
		    o->test.text, r->test.h, r->test.w, r->test.c, o->data.text,
		    r->data.h, r->data.w, r->data.c);
	if (r->test.classes > r->data.classes)
		return gv_error_set(e, "%s: label %zu, the largest of %s is %zu",
		    o->test.text, r->test.classes - 1, o->data.text, r->data.classes - 1);
	return 0;
}

/* Samples that are their own targets. */
static int
make_own(struct run *r, struct gv_error *e)
{
	if (r->model.target != GV_TARGET_NUMBERS)
		return gv_error_set(e,
		    "--autoencode: the head of %s compares with labels, not numbers",
		    r->model.table.file);
	data_own_targets(&r->data);
	if (r->test.n > 0)
		data_own_targets(&r->test);
	return 0;
}

/* Labels for a model that wants numbers. */
static void
make_numbers(struct run *r)
{
	size_t classes = r->data.classes;

	if (r->model.target != GV_TARGET_NUMBERS || r->data.y == NULL)
		return;
	data_one_hot(&r->data, classes);
	if (r->test.n > 0)
		data_one_hot(&r->test, classes);
}

/* Samples for a model that embeds them are tokens that it knows. */
static int
check_tokens(
    const struct run *r, const struct data *d, const char *name, struct gv_error *e)
{
	size_t i, known = r->model.tokens;

	for (i = 0; i < d->n * d->size && known > 0; i++)
		if (!(d->x[i] >= 0 && d->x[i] < (float)known &&
			d->x[i] == floorf(d->x[i])))
			return gv_error_set(e,
			    "%s: sample %zu: %g is no token from 0 to %zu, which embed "
			    "knows",
			    name, i / d->size, (double)d->x[i], known - 1);
	return 0;
}

/*
 * A plan's rows in the order of its stages, also in one process, so that either can go on
 * from the other's checkpoint.  Of a plan that cannot be followed only a pipeline speaks.
 */
static int
sort_rows(struct run *r, struct gv_error *e)
{
	struct gv_error ignored = {0};

	if (r->o->shapes || !stages_are(&r->model))
		return 0;
	if (r->o->pipeline != NULL)
		return stages_sort(&r->model, e);
	stages_sort(&r->model, &ignored);
	return 0;
}

int
run_read(struct run *r, struct gv_error *e)
{
	char *path = gv_model_path(r->o->model);
	int status = gv_model_read(&r->model, path, e);
	struct gv_shape input;
	size_t vocabulary;

	free(path);
	if (status != 0 || sort_rows(r, e) != 0 || read_data(r, e) != 0)
		return -1;
	if (r->o->autoencode && make_own(r, e) != 0)
		return -1;
	make_numbers(r);
	vocabulary = gv_model_vocabulary(&r->model);
	if (vocabulary > r->data.classes && r->data.y != NULL && r->data.targets > 1)
		r->data.classes = vocabulary;
	input = (struct gv_shape){r->data.c, r->data.h, r->data.w};
	if (gv_model_shape(&r->model, input, r->data.classes, e) != 0)
		return -1;
	if (r->model.targets != r->data.targets)
		return gv_error_set(e,
		    "%s: a sample of %s has %zu targets, the model's head wants %zu",
		    r->model.table.file, r->o->data.text, r->data.targets,
		    r->model.targets);
	if (check_tokens(r, &r->data, r->o->data.text, e) != 0)
		return -1;
	return check_tokens(r, &r->test, r->o->test.text, e);
}
