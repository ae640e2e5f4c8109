/*
 * NCCL of the fake driver: ranks are processes, or several of one, that have a file in
 * common, whose memory holds a mailbox for each two of them.  What is asked for goes into
 * streams, and moves bytes of the fake device's memory when its turn comes there and the
 * others' has come.  As NCCL it knows no time: who waits for a rank that is gone waits
 * for ever, unless it aborts.  Calls are answered before they are done (ncclInProgress).
 *
 * Sums are those of a ring: of part k of the numbers x[k] + x[k + 1] + .. around.
 *
 * GV_FAKE_CUDA's fail=async:N:R: the Nth ncclCommGetAsyncError tells of R, and so do all
 * that follow.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parts.h"

enum { MOST = 8, ROOM = 1 << 16, PARTS = 4096, QUESTIONS = 2 };

struct mail {
	_Atomic size_t sent, taken;
	char bytes[ROOM];
};
struct meeting {
	_Atomic int here[MOST];
	char where[MOST][96];
	struct mail mail[MOST][MOST]; /* from, to */
};

struct ncclComm {
	struct meeting *m;
	char path[GV_NCCL_ID];
	int rank, ranks, refs, aborted, met;
	int questions;             /* ncclInProgress so many times more */
	unsigned long begun, done; /* exchanges: they run in their order */
};

enum what { SEND, RECV, ALL_REDUCE };
struct part {
	enum what what;
	const float *from;
	float *to;
	size_t n;
	int peer;
	size_t moved[2][MOST]; /* bytes out and in, by rank */
	float *all;            /* [ranks][n] of ALL_REDUCE */
};

/* What one group has for one communicator in one stream. */
struct exchange {
	struct ncclComm *c;
	struct CUstream_st *stream;
	struct part *part;
	size_t n;
	unsigned long number;
	struct exchange *next;
};

static struct exchange *group;
static int depth, async_calls, async_result;

/* ---- what moves ---- */

static size_t
push(struct mail *m, const char *from, size_t n)
{
	size_t sent = m->sent, room = ROOM - (sent - m->taken), i;

	if (n > room)
		n = room;
	for (i = 0; i < n; i++)
		m->bytes[(sent + i) % ROOM] = from[i];
	m->sent = sent + n;
	return n;
}

static size_t
pull(struct mail *m, char *to, size_t n)
{
	size_t taken = m->taken, there = m->sent - taken, i;

	if (n > there)
		n = there;
	for (i = 0; i < n; i++)
		to[i] = m->bytes[(taken + i) % ROOM];
	m->taken = taken + n;
	return n;
}

static int
sends(const struct part *p, const struct ncclComm *c, int peer)
{
	return peer != c->rank &&
	       (p->what == ALL_REDUCE || (p->what == SEND && p->peer == peer));
}

static int
receives(const struct part *p, const struct ncclComm *c, int peer)
{
	return peer != c->rank &&
	       (p->what == ALL_REDUCE || (p->what == RECV && p->peer == peer));
}

static void
add_up(struct part *p, const struct ncclComm *c)
{
	size_t i;
	int k;

	for (i = 0; i < p->n; i++) {
		int first = (int)(i * (size_t)c->ranks / p->n);
		float sum = p->all[(size_t)first * p->n + i];

		for (k = 1; k < c->ranks; k++)
			sum += p->all[(size_t)((first + k) % c->ranks) * p->n + i];
		p->to[i] = sum;
	}
}

/* Room for all ranks' numbers; the own ones as they are now. */
static void
begin(struct part *p, const struct ncclComm *c)
{
	size_t bytes = p->n * sizeof(float);

	if (p->what != ALL_REDUCE || p->all != NULL)
		return;
	p->all = malloc((size_t)c->ranks * bytes + 1);
	memcpy(p->all + (size_t)c->rank * p->n, p->from, bytes);
}

/* One direction to or from a rank: its parts in their order.  Whether all is through. */
static int
move(struct exchange *x, int peer, int in)
{
	struct ncclComm *c = x->c;
	struct mail *m = in ? &c->m->mail[peer][c->rank] : &c->m->mail[c->rank][peer];
	size_t i;

	for (i = 0; i < x->n; i++) {
		struct part *p = &x->part[i];
		size_t bytes = p->n * sizeof(float), *moved = &p->moved[in][peer];
		const char *from =
		    (const char *)(p->what == SEND ? p->from
						   : p->all + (size_t)c->rank * p->n);
		char *to =
		    (char *)(p->what == RECV ? p->to : p->all + (size_t)peer * p->n);

		if (!(in ? receives : sends)(p, c, peer))
			continue;
		*moved += in ? pull(m, to + *moved, bytes - *moved)
			     : push(m, from + *moved, bytes - *moved);
		if (*moved < bytes)
			return 0;
	}
	return 1;
}

int
gv_fake_exchange(struct exchange *x)
{
	struct ncclComm *c = x->c;
	int peer, all = 1;
	size_t i;

	if (c->aborted)
		return 1;
	if (c->done != x->number)
		return 0;
	for (i = 0; i < x->n; i++)
		begin(&x->part[i], c);
	for (peer = 0; peer < c->ranks; peer++) {
		all &= move(x, peer, 0);
		all &= move(x, peer, 1);
	}
	if (!all)
		return 0;
	for (i = 0; i < x->n; i++)
		if (x->part[i].what == ALL_REDUCE)
			add_up(&x->part[i], c);
	c->done++;
	return 1;
}

static void
release(struct ncclComm *c)
{
	if (--c->refs > 0)
		return;
	if (c->m != NULL)
		munmap(c->m, sizeof(*c->m));
	free(c);
}

void
gv_fake_exchange_drop(struct exchange *x)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		free(x->part[i].all);
	release(x->c);
	free(x->part);
	free(x);
}

/* ---- communicators ---- */

int
ncclGetVersion(int *version)
{
	ENTER(ncclGetVersion);
	*version = gv_fake_cuda.nccl;
	return 0;
}

int
ncclGetUniqueId(struct gv_nccl_id *id)
{
	const char *dir = getenv("TMPDIR");
	int fd, wrong;

	ENTER(ncclGetUniqueId);
	memset(id, 0, sizeof(*id));
	snprintf(id->bytes, sizeof(id->bytes), "%s/gv-nccl-XXXXXX",
	    dir != NULL ? dir : "/tmp");
	fd = mkstemp(id->bytes);
	wrong = fd == -1 || ftruncate(fd, sizeof(struct meeting)) != 0;
	close(fd);
	return wrong ? 2 : 0;
}

void
gv_fake_where(char *where, size_t size)
{
	const char *host = getenv("NCCL_HOSTID");

	snprintf(where, size, "%s", host != NULL ? host : "here");
}

static int
meet(struct ncclComm *c)
{
	int fd, i;

	fd = open(c->path, O_RDWR | O_CLOEXEC);
	if (fd == -1)
		return 2;
	c->m = mmap(NULL, sizeof(*c->m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (c->m == MAP_FAILED) {
		c->m = NULL;
		return 2;
	}
	gv_fake_where(c->m->where[c->rank], sizeof(c->m->where[0]));
	i = (int)strlen(c->m->where[c->rank]);
	snprintf(c->m->where[c->rank] + i, sizeof(c->m->where[0]) - (size_t)i, "/%d",
	    gv_fake_device);
	c->m->here[c->rank] = 1;
	return 0;
}

int
ncclCommInitRankConfig(gv_nccl_comm *out, int ranks, struct gv_nccl_id id, int rank,
    struct gv_nccl_config *config)
{
	struct ncclComm *c;

	ENTER(ncclCommInitRankConfig);
	if (config->magic != GV_NCCL_MAGIC || config->size != sizeof(*config) ||
	    config->version != GV_NCCL_LEAST || config->blocking != 0 || ranks > MOST ||
	    rank < 0 || rank >= ranks)
		return GV_NCCL_INVALID_ARGUMENT;
	c = calloc(1, sizeof(*c));
	c->rank = rank;
	c->ranks = ranks;
	c->refs = 1;
	memcpy(c->path, id.bytes, sizeof(c->path));
	if (meet(c) != 0) {
		release(c);
		return 2;
	}
	*out = c;
	return GV_NCCL_IN_PROGRESS;
}

/* Whether all have come; nobody may be on a GPU of another one. */
static int
all_here(struct ncclComm *c)
{
	int i, k;

	for (i = 0; i < c->ranks; i++)
		if (!c->m->here[i])
			return GV_NCCL_IN_PROGRESS;
	for (i = 0; i < c->ranks; i++)
		for (k = 0; k < i; k++)
			if (strcmp(c->m->where[i], c->m->where[k]) == 0)
				return GV_NCCL_INVALID_USAGE;
	c->met = 1;
	if (c->rank == 0)
		unlink(c->path);
	return 0;
}

int
ncclCommGetAsyncError(gv_nccl_comm c, int *state)
{
	ENTER(ncclCommGetAsyncError);
	if (strcmp(gv_fake_cuda.fail, "async") == 0 &&
	    ++async_calls == (int)gv_fake_cuda.at)
		async_result = gv_fake_cuda.result;
	*state = async_result;
	if (*state == 0 && !c->aborted && !c->met)
		*state = all_here(c);
	if (*state == 0 && c->questions > 0) {
		c->questions--;
		*state = GV_NCCL_IN_PROGRESS;
	}
	return 0;
}

int
ncclCommFinalize(gv_nccl_comm c)
{
	ENTER(ncclCommFinalize);
	c->questions = QUESTIONS;
	return GV_NCCL_IN_PROGRESS;
}

int
ncclCommDestroy(gv_nccl_comm c)
{
	release(c);
	ENTER(ncclCommDestroy);
	return 0;
}

int
ncclCommAbort(gv_nccl_comm c)
{
	c->aborted = 1;
	release(c);
	ENTER(ncclCommAbort);
	return 0;
}

const char *
ncclGetErrorString(int r)
{
	return r == 1   ? "unhandled cuda error (run with NCCL_DEBUG=INFO for details)"
	       : r == 2 ? "unhandled system error (run with NCCL_DEBUG=INFO for details)"
	       : r == GV_NCCL_INVALID_ARGUMENT
		   ? "invalid argument (run with NCCL_DEBUG=WARN for details)"
	       : r == GV_NCCL_INVALID_USAGE
		   ? "invalid usage (run with NCCL_DEBUG=WARN for details)"
	       : r == GV_NCCL_REMOTE_ERROR
		   ? "remote process exited or there was a network error"
		   : "internal error - please report this issue to the NCCL developers";
}

const char *
ncclGetLastError(gv_nccl_comm c)
{
	(void)c;
	return "";
}

/* ---- groups ---- */

static int
flush_group(void)
{
	struct exchange *x, *next;
	int result = 0;

	for (x = group; x != NULL; x = next) {
		next = x->next;
		x->number = x->c->begun++;
		if (x->number == 0) {
			x->c->questions = QUESTIONS; /* connections are made */
			result = GV_NCCL_IN_PROGRESS;
		}
		gv_fake_submit(x->stream, &(struct op){.kind = EXCHANGE, .with = x});
	}
	group = NULL;
	return result;
}

static void
drop_group(void)
{
	struct exchange *x, *next;

	for (x = group; x != NULL; x = next) {
		next = x->next;
		gv_fake_exchange_drop(x);
	}
	group = NULL;
}

static int
add(struct ncclComm *c, struct CUstream_st *s, const struct part *p)
{
	struct exchange **at = &group;

	if (c->aborted || !c->met || c->questions > 0)
		return GV_NCCL_INVALID_ARGUMENT; /* before it was ready */
	while (*at != NULL && ((*at)->c != c || (*at)->stream != s))
		at = &(*at)->next;
	if (*at == NULL) {
		*at = calloc(1, sizeof(**at));
		(*at)->c = c;
		(*at)->stream = s;
		(*at)->part = calloc(PARTS, sizeof(struct part));
		c->refs++;
	}
	if ((*at)->n == PARTS)
		abort();
	(*at)->part[(*at)->n++] = *p;
	return depth > 0 ? 0 : flush_group();
}

int
ncclGroupStart(void)
{
	ENTER(ncclGroupStart);
	depth++;
	return 0;
}

int
ncclGroupEnd(void)
{
	int failure = gv_fake_enter(N_ncclGroupEnd);

	depth--;
	if (failure == 0)
		return flush_group();
	drop_group();
	return failure;
}

int
ncclAllReduce(const void *from, void *to, size_t n, int type, int op, gv_nccl_comm c,
    gv_cu_stream s)
{
	ENTER(ncclAllReduce);
	if (type != GV_NCCL_FLOAT || op != GV_NCCL_SUM)
		return GV_NCCL_INVALID_ARGUMENT;
	return add(
	    c, s, &(struct part){.what = ALL_REDUCE, .from = from, .to = to, .n = n});
}

int
ncclSend(const void *from, size_t n, int type, int peer, gv_nccl_comm c, gv_cu_stream s)
{
	ENTER(ncclSend);
	if (type != GV_NCCL_FLOAT || peer < 0 || peer >= c->ranks)
		return GV_NCCL_INVALID_ARGUMENT;
	return add(
	    c, s, &(struct part){.what = SEND, .from = from, .n = n, .peer = peer});
}

int
ncclRecv(void *to, size_t n, int type, int peer, gv_nccl_comm c, gv_cu_stream s)
{
	ENTER(ncclRecv);
	if (type != GV_NCCL_FLOAT || peer < 0 || peer >= c->ranks)
		return GV_NCCL_INVALID_ARGUMENT;
	return add(c, s, &(struct part){.what = RECV, .to = to, .n = n, .peer = peer});
}
