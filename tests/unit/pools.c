/* common/pools: the GPUs of an allocation of Slurm as pools, and those a table names. */
#include "tap.h"

#include <string.h>
#include <unistd.h>

#include "pools/allocation.h"

static struct gv_slurm_gpu gpus_a[] = {{"v100", 0}, {"v100", 1}, {"k80", 3}};
static struct gv_slurm_gpu gpus_b[] = {{"k80", 0}};
static struct gv_slurm_gpu gpus_d[] = {{"v100", 5}, {"v100", 7}};
static struct gv_slurm_node nodes[] = {
    {.name = "a", .address = "a", .n_gpus = 3, .gpu = gpus_a},
    {.name = "b", .address = "b", .n_gpus = 1, .gpu = gpus_b, .group = 1},
    {.name = "c", .address = "c", .group = 1}, /* without any */
    {.name = "d", .address = "d", .n_gpus = 2, .gpu = gpus_d},
};
static const struct gv_slurm_allocation all = {
    .n_nodes = sizeof(nodes) / sizeof(nodes[0]), .node = nodes};
static char path[] = "/tmp/gv-pools-XXXXXX";

static void
is_cell(const struct gv_frame *f, size_t row, const char *column, const char *want)
{
	struct gv_cell c = gv_frame_cell(f, row, gv_frame_find(f, column));

	ok(c.len == strlen(want) && memcmp(c.s, want, c.len) == 0,
	    "row %zu: %s is %s: %.*s", row, column, want, (int)c.len, c.s);
}

static void
is_row(const struct gv_frame *f, size_t row, const char *type, const char *gpus,
    const char *node, const char *ids)
{
	is_cell(f, row, "gpu_type", type);
	is_cell(f, row, "gpus", gpus);
	is_cell(f, row, "node", node);
	is_cell(f, row, "ids", ids);
}

/* Each type of each node is a pool, with the ids its tasks see; a node without is none. */
static void
test_slurm(void)
{
	const struct gv_slurm_allocation none = {.n_nodes = 1, .node = &nodes[2]};
	struct gv_frame f = {0};
	struct gv_error e = {0};

	is_int(gv_pools_table(&all, NULL, false, &f, &e), 0, "Slurm's GPUs are a table");
	is_int(f.n_rows, 4, "of four pools");
	is_row(&f, 0, "v100", "2", "a", "0;1");
	is_row(&f, 1, "k80", "1", "a", "3");
	is_row(&f, 2, "k80", "1", "b", "0");
	is_row(&f, 3, "v100", "2", "d", "5;7");
	gv_frame_free(&f);
	f = (struct gv_frame){0};
	is_int(
	    gv_pools_table(&none, NULL, false, &f, &e), 0, "an allocation without GPUs");
	is_int(f.n_rows, 0, "is a table without rows");
	gv_frame_free(&f);
}

/* What comes of a table that says this; *f is to be freed. */
static int
given(const char *text, struct gv_frame *f, struct gv_error *e)
{
	FILE *out = fopen(path, "w");

	*e = (struct gv_error){0};
	*f = (struct gv_frame){0};
	if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0)
		perror(path);
	return gv_pools_table(&all, path, true, f, e);
}

static void
refused(const char *text, const char *why)
{
	struct gv_frame f;
	struct gv_error e;

	is_int(given(text, &f, &e), -1, "refused: %s", why);
	ok(e.count == 1 && strstr(e.text[0], why) != NULL, "it says so: %s", e.text[0]);
	gv_frame_free(&f);
}

/* Of a table that is given the rows of the allocation's nodes stand, in its order. */
static void
test_given(void)
{
	struct gv_frame f;
	struct gv_error e;

	is_int(given("gpu_type,gpus,node,usd_per_h,ids\n"
		     "slow,1,z,1,0\nfast,1,d,2,7\nslow,1,a,0.5,3\nfast,2,a,2,0;1\n",
		   &f, &e),
	    0, "a table with a node that is elsewhere");
	is_int(f.n_rows, 3, "has its other rows");
	is_row(&f, 0, "fast", "1", "d", "7");
	is_row(&f, 1, "slow", "1", "a", "3");
	is_row(&f, 2, "fast", "2", "a", "0;1");
	is_cell(&f, 1, "usd_per_h", "0.5");
	is_int(f.line[0], 3, "and knows their lines");
	gv_frame_free(&f);
	is_int(given("gpu_type,gpus,node,threads\ncpu,8,c,1\n", &f, &e), 0,
	    "GPUs of threads need no real ones");
	gv_frame_free(&f);
	is_int(given("gpu_type,gpus,node\nv100,2,a\nk80,1,b\n", &f, &e), 0,
	    "without ids they count from 0");
	gv_frame_free(&f);
	refused("gpu_type,gpus,node\nv100,3,a\n",
	    ":2: ids: node a has no GPU 2 for its tasks, which see 0;1;3");
	refused("gpu_type,gpus,node,ids\nv100,1,a,1\nv100,2,d,5;6\n",
	    ":3: ids: node d has no GPU 6 for its tasks, which see 5;7");
	refused("gpu_type,gpus,node\nv100,1,c\n",
	    "node c has no GPU 0 for its tasks, which see none");
	refused("gpu_type,gpus,node\nv100,1,z\n", "node: no node of the allocation");
	refused("gpu_type,gpus,node\nv100,1,a\nk80,1,\n",
	    ":3: node: expected the node of these GPUs");
	refused("gpu_type,gpus,node\nv100,many,a\n", ":2: gpus: ");
}

/* What is warned of when that table is given. */
static void
warned(const char *text, bool quiet, const char *want)
{
	struct gv_frame f;
	struct gv_error e;
	FILE *said = tmpfile();
	int kept = dup(2);
	char line[200] = "";
	size_t n;

	given(text, &f, &e);
	gv_frame_free(&f);
	if (said == NULL || kept == -1 || dup2(fileno(said), 2) == -1) {
		ok(false, "messages can be read");
		return;
	}
	gv_pools_table(&all, path, quiet, &f, &e);
	dup2(kept, 2);
	close(kept);
	rewind(said);
	n = fread(line, 1, sizeof(line) - 1, said);
	line[n] = '\0';
	fclose(said);
	ok(want == NULL ? n == 0 : strstr(line, want) != NULL, "warned of %s: %s",
	    want == NULL ? "nothing" : want, line);
	gv_frame_free(&f);
}

/* Nodes that are left out are told by name, and not when it is to be quiet. */
static void
test_warnings(void)
{
	static const char one[] = "gpu_type,gpus,node\nk80,1,b\nk80,1,z\n";

	warned(one, false, "not in the allocation, and left out: z\n");
	warned(
	    "gpu_type,gpus,node\nk80,1,y\nk80,1,b\nk80,1,z\n", false, "left out: y, z\n");
	warned(one, true, NULL);
	warned("gpu_type,gpus,node\nk80,1,b\n", false, NULL);
	warned("gpu_type,gpus,node\nk80,1,\nk80,1,z\n", false, NULL);
}

/* Whether gangs of so many are accepted on the GPUs of that table. */
static void
groups(const char *text, size_t gang, const char *why)
{
	struct gv_frame f;
	struct gv_error e;
	struct gv_cluster c = {0};

	if (given(text, &f, &e) != 0 || gv_cluster_from(&c, &f, &e) != 0) {
		ok(false, "%s", e.text[0]);
		return;
	}
	is_int(gv_pools_check_groups(&all, &c, gang, &e), why == NULL ? 0 : -1,
	    "gangs of %zu are %s", gang, why == NULL ? "accepted" : "refused");
	if (why != NULL)
		ok(e.count == 1 && strstr(e.text[0], why) != NULL, "it says %s", why);
	gv_cluster_free(&c);
	gv_frame_free(&f);
}

/* A step lies in one group: no type that gangs run on may be in two. */
static void
test_groups(void)
{
	static const char two[] = "gpu_type,gpus,node,ids\n"
				  "v100,2,a,0;1\nk80,1,a,3\nv100,2,d,5;7\nk80,1,b,0\n";

	groups(two, 1, NULL);
	groups(two, 2,
	    "GPU type \"k80\" is in two groups of a heterogeneous job (nodes a and b)");
	groups(
	    "gpu_type,gpus,node,ids\nv100,2,a,0;1\nv100,2,d,5;7\nk80,1,b,0\n", 4, NULL);
	groups("gpu_type,gpus,node,ids\nk80,1,b,0\nv100,1,d,5\nv100,1,a,0\nk80,1,a,3\n",
	    2, "(nodes b and a)");
}

int
main(void)
{
	int fd = mkstemp(path);

	if (fd == -1) {
		perror(path);
		return 2;
	}
	close(fd);
	test_slurm();
	test_given();
	test_warnings();
	test_groups();
	unlink(path);
	return done_testing();
}
