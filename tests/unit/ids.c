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

/* GPUs that rows claim together, and those of which no two are the same. */
static void
overlaps(const char *name, const char *rows, const char *want)
{
	struct gv_cluster c;
	struct gv_error e = {0};
	char text[256], shown[512] = "";

	snprintf(text, sizeof(text), "gpu_type,gpus,node,threads,ids\n%s", rows);
	is_int(read_text(&c, text, &e), want == NULL ? 0 : -1, "%s", name);
	if (want != NULL)
		snprintf(shown, sizeof(shown), "%s:%s", file, want);
	is_str(e.count > 0 ? e.text[0] : "", shown, "what is said of it");
	gv_cluster_free(&c);
}

static void
test_overlaps(void)
{
	overlaps("an id of one byte", "v100,1,,,5\n", NULL);
	overlaps("the largest id", "v100,2,,,0;2147483647\n", NULL);
	overlaps("not the first of both", "v100,2,,,1;2\nk80,2,,,0;1\n",
	    "3: ids: GPU 1 is in two pools of this node, first at line 2");
	overlaps("the GPU 0", "v100,1,,,0\nk80,1,,,0\n",
	    "3: ids: GPU 0 is in two pools of this node, first at line 2");
	overlaps("counted, and in ids", "v100,2,,,\nk80,1,,,1\n",
	    "3: ids: GPU 1 is in two pools of this node, first at line 2");
	overlaps("counted, and the next one", "v100,2,,,\nk80,1,,,2\n", NULL);
	overlaps("ids, and counted", "v100,2,,,3;4\nk80,1,,,\n", NULL);
	overlaps("a GPU and a CPU", "a,2,,,0;1\nb,2,,1,1;2\n", NULL);
	overlaps("a CPU and a GPU", "a,2,,1,0;1\nb,2,,,1;2\n", NULL);
	overlaps("behind a pool of another node", "a,1,n2,,7\nb,1,n1,,7\nc,1,n1,,7\n",
	    "4: ids: GPU 7 is in two pools of this node, first at line 3");
}

/* Pools of one machine, whatever nodes they name: counted on; nothing behind the last. */
static void
test_join(void)
{
	struct gv_gpu_type type[3] = {
	    {.name = "a"}, {.name = "cpu", .threads = 1}, {.name = "b"}};
	const int id[2] = {5, 3};
	struct gv_pool pool[5] = {
	    {.type = 0, .gpus = 2, .node = "", .first_id = 9, .line = 2},
	    {.type = 1, .gpus = 4, .node = "", .line = 3},
	    {.type = 2, .gpus = 3, .node = "n", .line = 4},
	    {.type = 0, .gpus = 1, .node = "m", .line = 5, .id = id},
	    {.type = 0, .gpus = 1, .node = "", .first_id = 77}};
	struct gv_cluster c = {.n_types = 3, .type = type, .n_pools = 4, .pool = pool};
	struct gv_error e = {0};

	is_int(gv_cluster_join(&c, "c.csv", &e), 0, "pools of one machine");
	is_int(gv_pool_id(&pool[0], 0), 0, "the first from 0");
	is_int(gv_pool_id(&pool[1], 3), 3, "CPUs from 0 in theirs");
	is_int(gv_pool_id(&pool[2], 2), 4, "GPUs of another node go on");
	is_int((long long)pool[3].first_id, 5, "behind them those that have ids");
	is_int(gv_pool_id(&pool[4], 0), 77, "the one behind the last is left alone");
	pool[3].id = id + 1;
	is_int(gv_cluster_join(&c, "c.csv", &e), -1, "a GPU in two of them");
	is_str(e.text[0],
	    "c.csv:5: ids: GPU 3 is in two pools of this node, first at line 4",
	    "says which");
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
	test_overlaps();
	test_join();
	unlink(file);
	return done_testing();
}
