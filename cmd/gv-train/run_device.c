/* What computes. */
#include <unistd.h>

#include "run.h"

struct gv_nn_backend *
run_device(const struct run *r, struct gv_error *e)
{
	struct gv_nn_device d = r->o->device;
	struct gv_nn_backend *be;
	char why[GV_ERROR_LEN];

	d.threads = r->o->threads;
	be = gv_nn_device_open(&d, why, e);
	if (be != NULL && why[0] != '\0' && r->o->common.verbose > 0 &&
	    r->place.rank == 0)
		gv_warn("training on the CPU: %s", why);
	return be;
}

int
run_memory_check(const struct run *r, size_t parameters, struct gv_error *e)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	double all = (double)pages * (double)size;
	double want = 2.0 * sizeof(gv_real) * (double)parameters * (double)r->array.n;

	if (r->o->device.kind != GV_NN_CPU || pages <= 0 || size <= 0 || want <= all)
		return 0;
	return gv_error_set(e,
	    "%s: %zu parameters here, which take %.3g GB with their gradients; this "
	    "machine "
	    "has %.3g GB",
	    r->model.table.file, parameters * r->array.n, want / 1e9, all / 1e9);
}
