/* common/sched: the ids of a cluster's GPUs. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "sched/cluster.h"

static char file[] = "/tmp/gv-ids.XXXXXX";

static int
read_text(struct gv_cluster *c, const char *text, struct gv_error *e)
{
	struct gv_error ignored = {0};

	gv_error_clear(e);
	gv_file_write(file, text, strlen(text), &ignored);
	return gv_cluster_read(c, file, e);
}

static void
refused(const char *cell, const char *got)
{
	struct gv_cluster c;
	struct gv_error e = {0};
	char text[256];
	char want[512];

	snprintf(text, sizeof(text), "gpu_type,gpus,ids\nv100,3,%s\n", cell);
	ok(read_text(&c, text, &e) == -1, "refuse %s", cell);
	snprintf(want, sizeof(want),
	    "%s:2: ids: expected 3 ascending ids such as 0;1, got \"%s\"", file, got);
	is_str(e.text[0], want, "says so");
}

int
main(void)
{
	static const char *const bad[] = {"0", "0;1", "0;1;2;3", "0;1;", ";0;1", "0;2;1",
	    "0;0;1", "-1;0;1", "a;b;c", "0;1;2147483648", "0 1 2", "0;;1"};
	struct gv_cluster c;
	struct gv_error e = {0};
	size_t i;

	if (mkstemp(file) == -1)
		return 2;
	ok(read_text(&c,
	       "gpu_type,gpus,node,threads\nv100,4,n1,\nk80,2,n1,\ncpu2,1,n1,2\ncpu1,2,"
	       "n1,1\n"
	       "k80,2,n2,\nv100,1,n2,\n",
	       &e) == 0,
	    "a cluster without ids");
	ok(gv_pool_id(&c.pool[0], 0) == 0 && gv_pool_id(&c.pool[0], 3) == 3,
	    "the first pool from 0");
	ok(gv_pool_id(&c.pool[1], 0) == 4 && gv_pool_id(&c.pool[1], 1) == 5,
	    "the next goes on");
	ok(gv_pool_id(&c.pool[2], 0) == 0 && gv_pool_id(&c.pool[3], 1) == 1,
	    "CPUs from 0 in each pool");
	ok(gv_pool_id(&c.pool[4], 0) == 0 && gv_pool_id(&c.pool[5], 0) == 2,
	    "each node from 0");
	gv_cluster_free(&c);

	ok(read_text(&c, "gpu_type,gpus,ids\nv100,3,1;4;7\nk80,1,\nt4,0,\n", &e) == 0,
	    "with ids");
	ok(gv_pool_id(&c.pool[0], 0) == 1 && gv_pool_id(&c.pool[0], 2) == 7,
	    "as they say");
	ok(gv_pool_id(&c.pool[1], 0) == 3, "an empty cell counts");
	gv_cluster_free(&c);
	ok(read_text(&c,
	       "gpu_type,gpus,node,ids\nv100,2,n1,0;1\nk80,2,n2,1;2\np100,2,n1,1;2\n",
	       &e) == -1,
	    "a GPU in two pools of a node");
	ok(strstr(e.text[0],
	       ":4: ids: GPU 1 is in two pools of this node, first at line 2") != NULL,
	    "says which, with both lines");
	gv_error_clear(&e);
	ok(read_text(&c, "gpu_type,gpus,ids\nv100,2,1;2\nk80,1,\n", &e) == -1,
	    "also where ids are counted");
	gv_error_clear(&e);
	ok(read_text(&c, "gpu_type,gpus,threads,ids\na,2,1,0;1\nb,2,1,1;2\n", &e) == 0,
	    "CPU devices are not GPUs");
	gv_cluster_free(&c);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(bad[i], bad[i]);
	unlink(file);
	return done_testing();
}
