#define _XOPEN_SOURCE 700 /* realpath */

#include "allocation.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/core/signals.h"
#include "pools/allocation.h"

enum { LARGEST_TABLE = 1 << 24 };

static bool
is_stopped(void)
{
	return signals_first() != 0;
}

int
allocation_open(struct allocation *a, const struct settings *o, struct gv_error *e)
{
	struct gv_slurm_options options = {.job = o->slurm_job, .stopped = is_stopped};
	struct gv_strbuf dir = {0}, given = {0};
	char *state;
	int rc;

	if (gv_mkdirs(o->state, e) != 0)
		return -1;
	state = realpath(o->state, NULL);
	if (state == NULL)
		return gv_error_sys(e, "%s: cannot open", o->state);
	gv_strbuf_fmt(&dir, "%s/launches", state);
	gv_strbuf_fmt(&given, "%s/cluster.given.csv", state);
	a->given = given.s;
	options.dir = dir.s;
	rc = gv_slurm_open(&a->slurm, &options, e);
	gv_strbuf_free(&dir);
	free(state);
	return rc;
}

void
allocation_close(struct allocation *a)
{
	gv_slurm_close(a->slurm);
	free(a->given);
	*a = (struct allocation){0};
}

int
allocation_table(const struct allocation *a, const struct settings *o, struct gv_frame *f,
    struct gv_error *e)
{
	const char *given = o->cluster;

	if (given == NULL && o->resume && access(a->given, F_OK) == 0)
		given = a->given;
	return gv_pools_table(gv_slurm_allocation(a->slurm), given, o->quiet, f, e);
}

int
allocation_keep(const struct allocation *a, const struct settings *o, struct gv_error *e)
{
	size_t len;
	char *s;
	int rc;

	if (o->cluster == NULL)
		return 0;
	if (gv_file_read(o->cluster, &s, &len, LARGEST_TABLE, e) != 0)
		return -1;
	rc = gv_file_write(a->given, s, len, e);
	free(s);
	return rc;
}

int
allocation_check_groups(const struct allocation *a, const struct gv_cluster *c,
    size_t gang, struct gv_error *e)
{
	return gv_pools_check_groups(gv_slurm_allocation(a->slurm), c, gang, e);
}
