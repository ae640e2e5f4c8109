/*
 * Nets whose GPUs reach each other, over the fake driver and its NCCL: rows
 * that go from one to the other, taken in any order; gradients and running
 * statistics that are summed in the order of the ranks, beside numbers that
 * were added up on the host.  Ranks are processes.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../cuda/fake.h"
#include "base/clock.h"
#include "cuda/cuda.h"
#include "nn_fixture.h"

enum { RANKS_MOST = 3, MESSAGES = 40, TEXT = 400, ROOM = 1 << 18 };

/* In memory that all have. */
static struct common {
	_Atomic size_t sent;
	_Atomic int gone; /* a rank has ended */
	struct left {
		int status;
		size_t wrong, aborts;
		char text[TEXT];
	} left[RANKS_MOST];
	gv_real v[RANKS_MOST][ROOM];
} * all;

static struct gv_cuda_driver driver;
static struct gv_cuda_blas blas;

struct scene {
	struct fixture *f;
	int ranks;
	double times;
	size_t most; /* of a join */
	int (*live)(const struct scene *, int rank, const unsigned char *id,
	    struct gv_net *, struct gv_error *);
	const char *fail; /* a call of rank 1, the at-th time from here on, returns 3 */
	size_t at;
};

static int
load(struct gv_cuda_nccl *n, struct gv_error *e)
{
	(void)e;
	gv_fake_nccl_table(n);
	return 0;
}

static int
alive(void *ctx)
{
	(void)ctx;
	return all->gone ? -1 : 0;
}

static const struct gv_nn_watch watch = {20, alive, NULL};

/* ---- ranks ---- */

/* What was not given back. */
static size_t
kept(void)
{
	return gv_fake_cuda_blocks() +
	       (gv_fake_cuda_called("cuEventCreate") -
		   gv_fake_cuda_called("cuEventDestroy_v2")) +
	       (gv_fake_cuda_called("cuStreamCreate") -
		   gv_fake_cuda_called("cuStreamDestroy_v2"));
}

static void
be_rank(const struct scene *s, int rank, const unsigned char *id)
{
	struct gv_cuda_config c = {
	    .driver = &driver, .blas = &blas, .image = gv_cuda_image, .load_nccl = load};
	struct gv_error e = {0};
	struct gv_net *net;
	char host[16];

	alarm(60);
	snprintf(host, sizeof(host), "host%d", rank);
	setenv("NCCL_HOSTID", host, 1);
	gv_fake_cuda_reset();
	net = make(s->f, gv_cuda_new(&c, &e));
	if (s->fail != NULL && rank == 1) {
		snprintf(gv_fake_cuda.fail, sizeof(gv_fake_cuda.fail), "%s", s->fail);
		gv_fake_cuda.at = strcmp(s->fail, "async") == 0
				      ? s->at
				      : gv_fake_cuda_called(s->fail) + s->at;
		gv_fake_cuda.result = 3;
	}
	all->left[rank].status = s->live(s, rank, id, net, &e) != 0 ? 1 : 0;
	if (all->left[rank].status != 0)
		all->gone = 1;
	if (e.count == 0 && gv_net_error(net) != NULL)
		gv_error_set(&e, "%s", gv_net_error(net));
	snprintf(all->left[rank].text, TEXT, "%s", e.count > 0 ? e.text[0] : "");
	gv_net_leave(net);
	gv_net_free(net);
	all->left[rank].aborts = gv_fake_cuda_called("ncclCommAbort");
	all->left[rank].wrong += kept();
	_exit(0);
}

/* All ranks, to their end; what was wrong with them. */
static size_t
run(const struct scene *s)
{
	struct gv_nccl_id id;
	struct gv_cuda_nccl n;
	pid_t pid[RANKS_MOST];
	size_t wrong = 0;
	int r, status;

	memset(all, 0, sizeof(*all));
	gv_fake_nccl_table(&n);
	if (n.make_id(&id) != 0)
		gv_die("no room");
	fflush(stdout);
	for (r = 0; r < s->ranks; r++) {
		pid[r] = fork();
		if (pid[r] == 0)
			be_rank(s, r, (const unsigned char *)id.bytes);
	}
	for (r = 0; r < s->ranks; r++) {
		waitpid(pid[r], &status, 0);
		wrong += all->left[r].wrong + (size_t)all->left[r].status +
			 (size_t)(status != 0);
		if (all->left[r].text[0] != '\0')
			printf("# rank %d: %s\n", r, all->left[r].text);
	}
	unlink(id.bytes);
	return wrong;
}

/* ---- rows from one to the other ---- */

/* What message k is made of. */
static void
fill(gv_real *v, size_t n, size_t k)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = (gv_real)((i * 31 + k * 7) % 1009) / 8;
}

static int
send_rows(struct gv_net *net, int link, const struct gv_net_rows *rows, gv_real *v)
{
	size_t n = gv_net_row_size(net, rows->row[0]), k;

	for (k = 0; k < MESSAGES; k++) {
		fill(v, n, k);
		if (gv_net_put_row(net, 0, rows->row[0], rows->side, v) != 0)
			return -1;
		fill(v, n, k + 1);
		if (gv_net_put_row(net, 0, rows->row[1], rows->side, v) != 0 ||
		    gv_net_send_rows(net, link, rows, 0) != 0)
			return -1;
		all->sent++;
	}
	return 0;
}

/* Asks for some at a time, and takes the last of them first. */
static int
take_rows(struct gv_net *net, int link, const struct gv_net_rows *rows, gv_real *v)
{
	enum { SOME = 5 };
	size_t n = gv_net_row_size(net, rows->row[0]), m, k;
	size_t n1 = gv_net_row_size(net, rows->row[1]);
	gv_real *want = gv_xcalloc(n + n1, sizeof(*want));
	int message[SOME], status = 0;
	size_t rooms = 0;

	for (m = 0; m < MESSAGES && status == 0; m += SOME) {
		if (m == 2 * SOME)
			rooms = gv_fake_cuda_called("cuMemAlloc_v2");
		for (k = 0; k < SOME; k++) {
			while (all->sent <= m + k && !all->gone)
				status |= gv_net_look(net);
			message[k] = gv_net_receive(net, link);
			status |= message[k] < 0 ? -1 : 0;
		}
		for (k = SOME; k > 0 && status == 0; k--) {
			if (gv_net_take_rows(net, link, message[k - 1], rows, 0) != 0 ||
			    gv_net_get_row(net, 0, rows->row[0], rows->side, v) != 0 ||
			    gv_net_get_row(net, 0, rows->row[1], rows->side, v + n) != 0)
				status = -1;
			fill(want, n, m + k - 1);
			fill(want + n, n1, m + k);
			all->left[1].wrong += memcmp(v, want, (n + n1) * sizeof(*v)) != 0;
		}
	}
	/* rooms that are empty are taken again */
	all->left[1].wrong += gv_fake_cuda_called("cuMemAlloc_v2") != rooms;
	free(want);
	return status;
}

static int
live_linked(const struct scene *s, int rank, const unsigned char *id, struct gv_net *net,
    struct gv_error *e)
{
	const size_t row[] = {0, 1};
	struct gv_net_rows rows = {row, 2, GV_NET_OUTPUT};
	struct gv_nn_link l = {.sends = rank == 0, .watch = watch};
	int link;

	(void)s;
	memcpy(l.id, id, sizeof(l.id));
	link = gv_net_link(net, &rows, &l, e);
	if (link < 0)
		return -1;
	if ((rank == 0 ? send_rows : take_rows)(net, link, &rows, all->v[rank]) != 0)
		return -1;
	/* what is sent is on its way until the other one has it */
	return gv_net_get_row(net, 0, 0, rows.side, all->v[rank]);
}

static void
test_rows(size_t i)
{
	struct fixture f;
	struct scene s = {.f = &f, .ranks = 2, .live = live_linked};

	open_fixture(&f, i);
	is_int(
	    run(&s), 0, "%s: %d messages, the last of five first", f.c->name, MESSAGES);
	close_fixture(&f);
}

/* ---- sums ---- */

static size_t
running_of(const struct gv_net *net, size_t *n)
{
	struct gv_net_array a;
	size_t i;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++)
		if (strcmp(a.name, "running") == 0) {
			*n = a.n;
			return i;
		}
	*n = 0;
	return 0;
}

/* Numbers of a rank: such that their sum depends on its order. */
static void
fill_rank(gv_real *v, size_t n, int rank)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = (gv_real)(sin((double)(i + 1) * (rank + 1.5)) *
				 pow(10, (double)((i + (size_t)rank) % 7)));
}

/* What the ranks' numbers come to. */
static gv_real
sum_of(const struct scene *s, size_t n, size_t i, double times, double by)
{
	static gv_real *v[RANKS_MOST];
	gv_real sum;
	int r;

	for (r = 0; r < s->ranks; r++) {
		if (v[r] == NULL)
			v[r] = gv_xcalloc(ROOM, sizeof(gv_real));
		if (i == 0)
			fill_rank(v[r], n, r);
	}
	sum = v[0][i];
	for (r = 1; r < s->ranks; r++)
		sum += v[r][i];
	return times > 0 ? (gv_real)((double)sum * times / by) : sum;
}

/* Rows from the middle on, then those before; the losses behind stay as they
 * are. */
static int
sum_gradients(const struct scene *s, int rank, struct gv_net *net)
{
	size_t rows = s->f->m.n, middle = rows / 2, i;
	size_t n = gv_net_gradients_size(net, 0, rows), losses = s->f->config.models;
	gv_real *v = all->v[rank], *own = gv_xcalloc(n, sizeof(*own));
	int status;

	if (losses == 0)
		losses = s->f->c->models;
	fill_rank(v, n, rank);
	memcpy(own, v, n * sizeof(*v));
	status = gv_net_gradients_put(net, 0, rows, v) != 0 ||
			 gv_net_add_rows(net, middle, rows, s->times) != 0 ||
			 gv_net_add_rows(net, 0, middle, s->times) != 0 ||
			 gv_net_rows_added(net) != 0 ||
			 gv_net_gradients_get(net, 0, rows, v) != 0
		     ? -1
		     : 0;
	for (i = 0; i < n; i++) {
		gv_real want = sum_of(s, n, i, s->times, 1);

		if (i >= n - losses)
			want = own[i];
		all->left[rank].wrong += memcmp(&v[i], &want, sizeof(want)) != 0;
	}
	free(own);
	return status;
}

/* The mean, but of a model that stands still. */
static int
share_running(const struct scene *s, int rank, struct gv_net *net)
{
	size_t models = s->f->config.models, n, at = running_of(net, &n), b, i;
	gv_real *v = all->v[rank];

	gv_net_set_active(net, models - 1, models == 1);
	for (b = 0; b < models; b++) {
		fill_rank(v, n, rank);
		if (gv_net_put(net, at, b, v) != 0)
			return -1;
	}
	if (gv_net_add_running(net, (size_t)s->ranks) != 0 || gv_net_rows_added(net) != 0)
		return -1;
	for (b = 0; b < models; b++) {
		if (gv_net_get(net, at, b, v) != 0)
			return -1;
		for (i = 0; i < n; i++) {
			gv_real want = sum_of(s, n, i, 1, s->ranks);

			if (!gv_net_active(net, b)) {
				fill_rank(all->v[rank] + ROOM / 2, n, rank);
				want = all->v[rank][ROOM / 2 + i];
			}
			all->left[rank].wrong += memcmp(&v[i], &want, sizeof(want)) != 0;
		}
	}
	return 0;
}

static int
live_joined(const struct scene *s, int rank, const unsigned char *id, struct gv_net *net,
    struct gv_error *e)
{
	struct gv_nn_join j = {.rank = rank,
	    .ranks = s->ranks,
	    .order = GV_NN_CHAIN,
	    .most = s->most,
	    .watch = watch};
	size_t n;

	memcpy(j.id, id, sizeof(j.id));
	if (gv_net_join(net, &j, e) != 0 || sum_gradients(s, rank, net) != 0)
		return -1;
	running_of(net, &n);
	return n == 0 ? 0 : share_running(s, rank, net);
}

static void
test_sums(size_t i, int ranks, double times, size_t most)
{
	struct fixture f;
	struct scene s = {
	    .f = &f, .ranks = ranks, .times = times, .most = most, .live = live_joined};

	open_fixture(&f, i);
	is_int(run(&s), 0, "%s: sums of %d ranks, in their order, times %g", f.c->name,
	    ranks, times);
	close_fixture(&f);
}

/* ---- what fails ---- */

static void
test_failures(void)
{
	static const struct {
		const char *call;
		size_t at;
		bool linked;
		const char *text;
	} cases_of[] = {
	    {"ncclRecv", 1, true, "NCCL: internal error"},
	    {"ncclRecv", 3, true, "NCCL: internal error"},
	    {"cuMemAlloc_v2", 3, true, "memory for messages"},
	    {"cuEventCreate", 5, true, "an event"},
	    {"async", 4, true, "NCCL: internal error"},
	    {"ncclSend", 1, false, "NCCL: internal error"},
	    {"ncclRecv", 4, false, "NCCL: internal error"},
	    {"ncclGroupStart", 1, false, "NCCL: internal error"},
	    {"ncclGroupEnd", 3, false, "NCCL: internal error"},
	    {"cuMemAlloc_v2", 1, false, "memory"},
	    {"cuMemAlloc_v2", 2, false, "memory"},
	    {"cuEventRecord", 1, false, "an event"},
	};
	struct fixture f;
	size_t i;

	open_fixture(&f, 2);
	for (i = 0; i < sizeof(cases_of) / sizeof(cases_of[0]); i++) {
		struct scene s = {.f = &f,
		    .ranks = 2,
		    .live = cases_of[i].linked ? live_linked : live_joined,
		    .fail = cases_of[i].call,
		    .at = cases_of[i].at};
		double from = gv_clock_s();

		run(&s);
		ok(all->left[1].status == 1 &&
			strstr(all->left[1].text, cases_of[i].text) != NULL,
		    "%s, call %zu fails: %s", s.fail, s.at, all->left[1].text);
		ok(all->left[0].text[0] == '\0' ||
			strcmp(all->left[0].text, "a rank is gone") == 0,
		    "%s: the other one blames nobody", s.fail);
		ok(!cases_of[i].linked || all->left[1].aborts > 0,
		    "%s: what it had begun with others is aborted", s.fail);
		ok(gv_clock_s() - from < 30, "%s: nothing hangs", s.fail);
	}
	close_fixture(&f);
}

int
main(void)
{
	char path[] = "/tmp/gv-links-XXXXXX";
	int fd;

	gv_init("cuda_links");
	gv_fake_cuda_tables(&driver, &blas);
	fd = mkstemp(path);
	unlink(path);
	if (fd == -1 || ftruncate(fd, sizeof(*all)) != 0)
		gv_die("no room");
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	test_rows(2);
	test_rows(CASES + 2);
	test_sums(2, 2, 0, 0);
	test_sums(2, 3, 2. / 3, 0);
	test_sums(CASES + 2, 3, 1. / 3, 1 << 17);
	test_failures();
	return done_testing();
}
