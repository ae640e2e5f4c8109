/* What computes. */
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
