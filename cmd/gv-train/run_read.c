/* What a run is of: its model and its samples. */
#include <stdlib.h>

#include "data/fit.h"
#include "gv-train/pipeline/stages.h"
#include "run.h"

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

	free(path);
	if (status != 0 || sort_rows(r, e) != 0)
		return -1;
	return gv_data_fit(&r->data, &r->test, &r->model, &r->o->data, e);
}
