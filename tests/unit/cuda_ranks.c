/*
 * Ranks whose GPUs sum by themselves, over the fake driver and its NCCL: forked processes,
 * each a rank, beside one process that has the whole batch.  Sums in buckets beside the
 * way back, in the order of the ranks or in NCCL's; every call failing; a rank that dies.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../cuda/fake.h"
#include "base/clock.h"
#include "cuda/cuda.h"
#include "nn_fixture.h"

enum { RANKS_MOST = 4, STEPS = 3, TEXT = 400 };

/* What ranks leave for the test, in memory that all have. */
struct left {
	int status;
	bool gone; /* it heard that a rank is gone */
	atomic_bool done;
	char text[TEXT];
	double loss[STEPS][HELP_MODELS];
	size_t calls; /* of what was counted */
	float v[1 << 16];
};
static struct left *left; /* [RANKS_MOST] */

struct scene {
	struct fixture *f;
	int ranks;
	bool ordered;
	size_t bucket;
	const char *fail; /* a call of rank 1, the at-th time, */
	size_t at;
	int result; /* returns this */
	int dies;   /* rank 1 is killed in this step; -1: never */
	const char *count;
};

static struct gv_cuda_driver driver;
static struct gv_cuda_blas blas;

static int
load(struct gv_cuda_nccl *n, struct gv_error *e)
{
	(void)e;
	gv_fake_nccl_table(n);
	return 0;
}

static struct gv_nn_backend *
cuda(struct gv_error *e)
{
	struct gv_cuda_config c = {
	    .driver = &driver, .blas = &blas, .image = gv_cuda_image, .load_nccl = load};

	return gv_cuda_new(&c, e);
}

static pid_t pids[RANKS_MOST];

/* Whether rank 1 is there: the others hold the other end of its pipe (status, until the end). */
static int
alive(void *ctx)
{
	struct left *me = ctx;
	char c;

	if (me == &left[1])
		return 0;
	if (read(me->status, &c, 1) == 0) {
		me->gone = true;
		return -1;
	}
	return 0;
}

static int
never(void *ctx, gv_real *v, size_t n)
{
	(void)ctx;
	(void)v;
	(void)n;
	return -1;
}

static gv_real *
parameters(const struct fixture *f, struct gv_net *net)
{
	gv_real *all = gv_xcalloc(f->c->models * f->m.parameters, sizeof(*all));
	size_t b;

	for (b = 0; b < f->c->models; b++)
		if (gv_net_get(net, 0, b, all + b * f->m.parameters) != 0) {
			free(all);
			return NULL;
		}
	return all;
}

/* Steps of a rank; 0, or -1. */
static int
train(const struct scene *s, struct gv_net *net, struct left *me)
{
	size_t first, n, j;
	uint32_t visit[256];
	int k;

	gv_net_rows(net, &first, &n);
	for (k = 0; k < STEPS; k++) {
		for (j = 0; j < n; j++)
			visit[j] = (uint32_t)((7 * (first + j) + (size_t)k) % s->f->most);
		if (k == s->dies && me == &left[1])
			raise(SIGKILL);
		if (gv_net_step_begin(net, visit) != 0)
			return -1;
	}
	for (k = 0; k < STEPS; k++)
		if (gv_net_step_losses(net, me->loss[k]) != 0)
			return -1;
	return 0;
}

static int
live(const struct scene *s, int rank, const unsigned char *id, struct gv_error *e)
{
	struct left *me = &left[rank];
	struct gv_nn_join j = {.rank = rank,
	    .ranks = s->ranks,
	    .order = s->ordered ? GV_NN_TREE : GV_NN_ANY,
	    .watch = {5, alive, me}};
	struct fixture f = *s->f;
	struct gv_net_config *c = &f.config;
	struct gv_net *net;
	gv_real *v = NULL;
	int status;

	memcpy(j.id, id, sizeof(j.id));
	c->rank = (size_t)rank;
	c->ranks = (size_t)s->ranks;
	c->reduce = never;
	c->bucket = s->bucket;
	net = make(&f, cuda(e));
	gv_net_data(net, f.x, f.target, f.most);
	status = gv_net_join(net, &j, e);
	if (status == 0)
		status = train(s, net, me);
	if (status == 0 && (v = parameters(&f, net)) == NULL)
		status = -1;
	if (status == 0)
		memcpy(me->v, v, f.c->models * f.m.parameters * sizeof(*v));
	else if (e->count == 0 && gv_net_error(net) != NULL)
		gv_error_set(e, "%s", gv_net_error(net));
	if (s->count != NULL)
		me->calls = gv_fake_cuda_called(s->count);
	free(v);
	gv_net_leave(net);
	gv_net_free(net);
	return status;
}

/* Who has trained stays until all have, or have failed: a slow one would hear that it is gone. */
static void
stay(int ranks)
{
	int r;

	for (r = 0; r < ranks; r++)
		while (!atomic_load(&left[r].done))
			gv_sleep_s(.001);
}

static void
be_rank(const struct scene *s, int rank, const unsigned char *id, int fd)
{
	struct gv_error e = {0};
	char host[16];

	alarm(60);
	snprintf(host, sizeof(host), "host%d", rank);
	setenv("NCCL_HOSTID", host, 1);
	left[rank].status = fd;
	gv_fake_cuda_reset();
	if (s->fail != NULL && rank == 1) {
		snprintf(gv_fake_cuda.fail, sizeof(gv_fake_cuda.fail), "%s", s->fail);
		gv_fake_cuda.at = s->at;
		gv_fake_cuda.result = s->result;
	}
	left[rank].status = live(s, rank, id, &e) != 0 ? 1 : 0;
	snprintf(left[rank].text, TEXT, "%s", e.count > 0 ? e.text[0] : "");
	atomic_store(&left[rank].done, true);
	if (left[rank].status == 0)
		stay(s->ranks);
	_exit(0);
}

/* All ranks, to their end; how they ended is in left. */
static void
run(const struct scene *s)
{
	struct gv_nccl_id id;
	struct gv_cuda_nccl n;
	int fd[2], r;

	memset(left, 0, RANKS_MOST * sizeof(*left));
	gv_fake_nccl_table(&n);
	if (n.make_id(&id) != 0 || pipe(fd) != 0)
		gv_die("no room");
	fflush(stdout);
	for (r = 0; r < s->ranks; r++) {
		pids[r] = fork();
		if (pids[r] == 0) {
			/* rank 1 holds the end whose closing tells that it is gone */
			if (r != 1)
				close(fd[1]);
			fcntl(fd[0], F_SETFL, O_NONBLOCK);
			be_rank(s, r, (const unsigned char *)id.bytes, fd[0]);
		}
	}
	close(fd[0]);
	close(fd[1]);
	for (r = 0; r < s->ranks; r++) {
		int status;

		waitpid(pids[r], &status, 0);
		if (WIFSIGNALED(status))
			left[r].status = 128 + WTERMSIG(status);
	}
	unlink(id.bytes);
}

/* The whole batch in one process, which is on the fake device, too. */
static void
alone(const struct fixture *f, double loss[STEPS][HELP_MODELS], gv_real **v)
{
	struct gv_error e = {0};
	struct gv_net *net = make(f, cuda(&e));
	uint32_t visit[256];
	size_t j;
	int k;

	gv_net_data(net, f->x, f->target, f->most);
	for (k = 0; k < STEPS; k++) {
		for (j = 0; j < f->c->batch; j++)
			visit[j] = (uint32_t)((7 * j + (size_t)k) % f->most);
		if (gv_net_step_of(net, visit, loss[k]) != 0)
			gv_die("a step failed: %s", gv_net_error(net));
	}
	*v = parameters(f, net);
	gv_net_free(net);
}

static void
test_sums(size_t i, int ranks, bool ordered, size_t bucket)
{
	struct fixture f;
	struct scene s = {.f = &f,
	    .ranks = ranks,
	    .ordered = ordered,
	    .bucket = bucket,
	    .dies = -1,
	    .count = ordered ? "ncclGroupEnd" : "ncclAllReduce"};
	double loss[STEPS][HELP_MODELS], worst = 0;
	size_t n, b, wrong = 0;
	gv_real *v;
	int r, k;

	open_fixture(&f, i);
	draw(&f, 1);
	n = f.c->models * f.m.parameters;
	alone(&f, loss, &v);
	run(&s);
	for (r = 0; r < ranks; r++) {
		wrong += left[r].status != 0;
		if (left[r].status != 0)
			fprintf(stderr, "# rank %d: %d %s\n", r, left[r].status,
			    left[r].text);
		wrong += memcmp(left[r].v, left[0].v, n * sizeof(*v)) != 0;
		for (k = 0; k < STEPS; k++)
			for (b = 0; b < f.c->models; b++)
				worst =
				    fmax(worst, fabs(left[r].loss[k][b] - loss[k][b]));
	}
	is_int(wrong, 0, "%s, %d ranks, %s: all have the same", f.c->name, ranks,
	    ordered ? "in order" : "in any order");
	for (b = 0; b < n; b++)
		worst = fmax(worst, (double)fabsf(left[0].v[b] - v[b]));
	if (ordered)
		ok(worst == 0, "%s: the bits of one process", f.c->name);
	else
		ok(worst < 1e-4, "%s: within %.2g of one process", f.c->name, worst);
	ok(left[0].calls > (bucket > 0 ? 2 : 0) * STEPS, "%s: %zu of %s", f.c->name,
	    left[0].calls, s.count);
	free(v);
	close_fixture(&f);
}

/* Each call fails: rank 1 says which, the other hears that it is gone, nobody waits. */
static void
test_failures(void)
{
	static const struct {
		const char *call;
		size_t at;
		int result;
		const char *text;
	} cases_of[] = {
	    {"ncclCommInitRankConfig", 1, 2, "NCCL: unhandled system error"},
	    {"ncclCommInitRankConfig", 1, 5, "NCCL: invalid usage"},
	    {"ncclGroupStart", 1, 3, "NCCL: internal error"},
	    {"ncclGroupEnd", 1, 1, "NCCL: unhandled cuda error"},
	    {"ncclGroupEnd", 3, 3, "NCCL: internal error"},
	    {"ncclAllReduce", 2, 4, "NCCL: invalid argument"},
	    {"ncclCommGetAsyncError", 1, 3, "NCCL: internal error"},
	    {"async", 1, 6, "NCCL: remote process exited or there was a network error"},
	    {"async", 9, 6, "NCCL: remote process exited or there was a network error"},
	    {"async", 9, 1, "NCCL: unhandled cuda error"},
	    {"ncclSend", 2, 4, "NCCL: invalid argument"},
	    {"ncclRecv", 1, 4, "NCCL: invalid argument"},
	    {"cuStreamCreate", 2, 2, "a stream"},
	    {"cuEventCreate", 2, 2, "an event"},
	    {"cuEventQuery", 2, 719, "the device: unspecified launch failure"},
	    {"cuStreamWaitEvent", 2, 999, "an event"},
	    {"ncclCommFinalize", 1, 3, ""},
	    {"ncclCommDestroy", 1, 3, ""},
	};
	struct fixture f;
	size_t i;

	open_fixture(&f, 2);
	draw(&f, 1);
	for (i = 0; i < sizeof(cases_of) / sizeof(cases_of[0]); i++) {
		const char *call = cases_of[i].call;
		bool p2p = strcmp(call, "ncclSend") == 0 || strcmp(call, "ncclRecv") == 0;
		struct scene s = {.f = &f,
		    .ranks = 2,
		    .ordered = p2p,
		    .fail = call,
		    .at = cases_of[i].at,
		    .result = cases_of[i].result,
		    .dies = -1};
		double from = gv_clock_s(), s_all;

		run(&s);
		s_all = gv_clock_s() - from;
		ok((cases_of[i].text[0] == '\0') == (left[1].status == 0) &&
			strstr(left[1].text, cases_of[i].text) != NULL,
		    "%s, call %zu returns %d: %s", call, s.at, s.result, left[1].text);
		ok(left[0].status == 0 || (left[0].gone && left[0].text[0] == '\0') ||
			(left[0].gone && strcmp(left[0].text, "a rank is gone") == 0),
		    "%s: the other one hears that it is gone (%s)", call, left[0].text);
		ok(s_all < 30, "%s: nothing hangs", call);
	}
	close_fixture(&f);
}

static void
test_death(int ranks, int step, bool ordered)
{
	struct fixture f;
	struct scene s = {.f = &f, .ranks = ranks, .ordered = ordered, .dies = step};
	size_t wrong = 0;
	int r;

	open_fixture(&f, 2);
	draw(&f, 1);
	run(&s);
	is_int(
	    left[1].status, 128 + SIGKILL, "rank 1 of %d dies in step %d", ranks, step);
	for (r = 0; r < ranks; r++)
		wrong += r != 1 && (left[r].status != 1 || !left[r].gone ||
				       left[r].text[0] != '\0');
	is_int(wrong, 0, "the others hear of it, and say nothing of NCCL");
	close_fixture(&f);
}

/* What a device says of its place. */
static void
test_where(void)
{
	struct gv_error e = {0};
	struct gv_nn_backend *be = cuda(&e), *cpu = gv_cpu_new(1);
	struct gv_nn_where w;
	unsigned char id[GV_NN_ID];

	unsetenv("NCCL_HOSTID");
	ok(be->where(be, &w, &e) == 0 && w.version == 22809 &&
		strcmp(w.bus, "0000:1B:00.0") == 0,
	    "where it is: %s on %s", w.bus, w.host);
	ok(strlen(w.host) > 36, "a host by its name and its start");
	setenv("NCCL_HOSTID", "another", 1);
	ok(be->where(be, &w, &e) == 0 && strcmp(w.host, "another") == 0, "or as told");
	ok(cpu->where == NULL, "the CPU has no such way");
	strcpy(gv_fake_cuda.fail, "ncclGetUniqueId");
	gv_fake_cuda.at = 1;
	gv_fake_cuda.result = 2;
	ok(be->make_id(be, id, &e) != 0 &&
		strncmp(e.text[0], "NCCL: unhandled system error", 28) == 0,
	    "no identifier: %s", e.text[0]);
	gv_error_clear(&e);
	gv_fake_cuda_reset();
	strcpy(gv_fake_cuda.fail, "cuDeviceGetPCIBusId");
	gv_fake_cuda.at = 1;
	gv_fake_cuda.result = 1;
	ok(be->where(be, &w, &e) != 0, "no place: %s", e.text[0]);
	gv_fake_cuda_reset();
	be->free(be);
	cpu->free(cpu);
}

int
main(void)
{
	char path[] = "/tmp/gv-ranks-XXXXXX";
	int fd;

	gv_init("cuda_ranks");
	gv_fake_cuda_tables(&driver, &blas);
	fd = mkstemp(path);
	unlink(path);
	if (fd == -1 || ftruncate(fd, RANKS_MOST * sizeof(*left)) != 0)
		gv_die("no room");
	left = mmap(
	    NULL, RANKS_MOST * sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	test_where();
	test_sums(2, 2, true, 0);
	test_sums(CASES + 2, 4, true, 200);
	test_sums(CASES + 2, 2, true, 1);
	test_sums(CASES, 2, false, 0);
	test_sums(CASES + 2, 4, false, 200);
	test_death(2, 0, true);
	test_death(2, 2, false);
	test_death(4, 1, true);
	test_failures();
	return done_testing();
}
