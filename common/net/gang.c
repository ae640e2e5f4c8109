#include "net/gang.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "net/sock.h"

/* Messages of one machine type: the magic number also tells the byte order. */
enum { MAGIC_HELLO = 0x67764849, MAGIC_PEERS = 0x67765052, MAGIC_SUM = 0x67765355 };

struct hello {
	uint32_t magic;
	uint32_t rank;
	uint32_t world;
	uint32_t key;
	uint32_t port; /* where this member listens */
};

/* What rank 0 answers, once it has heard of all; then the members, [world]. */
struct answer {
	uint32_t magic;
	uint32_t refused; /* not 0: why, one of the refusals */
};

struct member {
	uint32_t port;
	char addr[GV_SOCK_ADDR];
};

struct sum_header {
	uint32_t magic;
	uint32_t flags;
	uint64_t sequence;
	uint64_t count;
};

enum refusal { WELCOME, OTHER_WORLD, OTHER_KEY, RANK_TAKEN, NO_SUCH_RANK };

enum { LEVELS_MAX = 10, SMALL = 2048 };

struct gv_gang {
	int rank;
	int world;
	int levels;
	double silence_s;
	int listener;
	int link[LEVELS_MAX]; /* to rank ^ 2^level; -1 = none */
	uint64_t sequence;
	float *in; /* what a partner sent */
	size_t cap;
};

/* ---- the environment ---- */

static int
env_int(const char *name, int64_t min, int64_t max, int *v, struct gv_error *e)
{
	const char *s = getenv(name);
	char q[GV_QUOTE_LEN];
	int64_t n;

	if (s == NULL)
		return gv_error_set(e, "%s is not set, and WORLD_SIZE is over 1", name);
	if (gv_parse_int(s, strlen(s), &n) != 0 || n < min || n > max)
		return gv_error_set(e,
		    "%s: expected a whole number from %lld to %lld, got %s", name,
		    (long long)min, (long long)max, gv_quote(q, s, strlen(s)));
	*v = (int)n;
	return 0;
}

int
gv_gang_env(struct gv_gang_spec *s, struct gv_error *e)
{
	s->rank = 0;
	s->world = 1;
	if (getenv("WORLD_SIZE") == NULL)
		return 0;
	if (env_int("WORLD_SIZE", 1, GV_GANG_MAX, &s->world, e) != 0)
		return -1;
	if (s->world == 1)
		return 0;
	if ((s->world & (s->world - 1)) != 0)
		return gv_error_set(e,
		    "WORLD_SIZE: a gang needs a power of two workers, got %d", s->world);
	s->addr = getenv("MASTER_ADDR");
	if (s->addr == NULL)
		return gv_error_set(
		    e, "MASTER_ADDR is not set, and WORLD_SIZE is over 1");
	if (env_int("RANK", 0, s->world - 1, &s->rank, e) != 0 ||
	    env_int("MASTER_PORT", 1, 65535, &s->port, e) != 0)
		return -1;
	return 0;
}

/* ---- meeting ---- */

static const char *
refusal_text(uint32_t r)
{
	switch (r) {
	case OTHER_WORLD:
		return "its WORLD_SIZE is another";
	case OTHER_KEY:
		return "it computes something else (model, data, options or checkpoint "
		       "differ)";
	case RANK_TAKEN:
		return "its RANK was here already";
	default:
		return "its RANK is not in the gang";
	}
}

static enum refusal
judge(const struct hello *h, const struct gv_gang_spec *s, const int *fd)
{
	if (h->world != (uint32_t)s->world)
		return OTHER_WORLD;
	if (h->rank == 0 || h->rank >= (uint32_t)s->world)
		return NO_SUCH_RANK;
	if (fd[h->rank] != -1)
		return RANK_TAKEN;
	return h->key == s->key ? WELCOME : OTHER_KEY;
}

/* The time left, so that one silent stranger cannot hold the door. */
static double
left(double deadline)
{
	double s = deadline - gv_clock_s();

	return s > 0.001 ? s : 0.001;
}

/* Rank 0: one newcomer.  0 (also for a stranger, who is sent away) or -1. */
static int
greet(int listener, const struct gv_gang_spec *s, double deadline, int *fd,
    struct member *members, int *present, struct gv_error *e)
{
	struct gv_error stranger = {0};
	char addr[GV_SOCK_ADDR];
	struct answer no = {MAGIC_PEERS, 0};
	struct hello h;
	enum refusal why;
	int new_fd;

	if (gv_sock_accept(&new_fd, listener, deadline, addr, e) != 0) {
		gv_error_clear(e);
		return gv_error_set(e, "%d of %d workers came within %g s", *present,
		    s->world, s->join_s);
	}
	if (gv_sock_exchange(new_fd, NULL, 0, &h, sizeof(h),
		left(deadline) < 5 ? left(deadline) : 5, "the newcomer",
		&stranger) != 0 ||
	    h.magic != MAGIC_HELLO) {
		close(new_fd);
		return 0;
	}
	why = judge(&h, s, fd);
	if (why != WELCOME) {
		no.refused = why;
		gv_sock_exchange(new_fd, &no, sizeof(no), NULL, 0, left(deadline),
		    "the newcomer", &stranger);
		close(new_fd);
		return gv_error_set(e, "rank %lu of %s cannot join: %s",
		    (unsigned long)h.rank, addr, refusal_text(why));
	}
	fd[h.rank] = new_fd;
	members[h.rank].port = h.port;
	memcpy(members[h.rank].addr, addr, sizeof(addr));
	(*present)++;
	return 0;
}

static void
close_all(int *fd, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (fd[i] != -1)
			close(fd[i]);
}

/* Rank 0 gathers all, tells everybody where the others are, keeps its partners. */
static int
host(struct gv_gang *g, const struct gv_gang_spec *s, double deadline,
    struct member *members, struct gv_error *e)
{
	struct answer yes = {MAGIC_PEERS, WELCOME};
	int port = s->port, present = 1, r, k;
	int *fd = gv_xcalloc((size_t)s->world, sizeof(*fd));
	int status = -1;
	char who[32];

	for (r = 0; r < s->world; r++)
		fd[r] = -1;
	if (gv_sock_listen(&g->listener, NULL, &port, e) != 0)
		goto out;
	while (present < s->world)
		if (greet(g->listener, s, deadline, fd, members, &present, e) != 0)
			goto out;
	for (r = 1; r < s->world; r++) {
		snprintf(who, sizeof(who), "rank %d", r);
		if (gv_sock_exchange(
			fd[r], &yes, sizeof(yes), NULL, 0, left(deadline), who, e) != 0 ||
		    gv_sock_exchange(fd[r], members, (size_t)s->world * sizeof(*members),
			NULL, 0, left(deadline), who, e) != 0)
			goto out;
	}
	for (k = 0; k < g->levels; k++) {
		g->link[k] = fd[1 << k];
		fd[1 << k] = -1;
	}
	status = 0;
out:
	close_all(fd, s->world);
	free(fd);
	return status;
}

/* A link between two members that are not rank 0: the higher one calls. */
static int
call(struct gv_gang *g, int level, const struct member *m, double deadline,
    struct gv_error *e)
{
	uint32_t hello[2] = {MAGIC_HELLO, (uint32_t)g->rank};
	char who[32];

	snprintf(who, sizeof(who), "rank %d", g->rank ^ 1 << level);
	if (gv_sock_connect(&g->link[level], m->addr, (int)m->port, deadline, e) != 0)
		return -1;
	return gv_sock_exchange(
	    g->link[level], hello, sizeof(hello), NULL, 0, left(deadline), who, e);
}

static int
answer_calls(struct gv_gang *g, int missing, double deadline, struct gv_error *e)
{
	while (missing > 0) {
		struct gv_error stranger = {0};
		char addr[GV_SOCK_ADDR];
		uint32_t hello[2];
		int fd, k;

		if (gv_sock_accept(&fd, g->listener, deadline, addr, e) != 0)
			return -1;
		if (gv_sock_exchange(fd, NULL, 0, hello, sizeof(hello), left(deadline),
			"the newcomer", &stranger) != 0 ||
		    hello[0] != MAGIC_HELLO) {
			close(fd);
			continue;
		}
		for (k = 0; k < g->levels; k++)
			if ((uint32_t)(g->rank ^ 1 << k) == hello[1] && g->link[k] == -1)
				break;
		if (k == g->levels) {
			close(fd);
			continue;
		}
		g->link[k] = fd;
		missing--;
	}
	return 0;
}

/* All other ranks: say hello to rank 0, learn the addresses, link with the partners. */
static int
visit(struct gv_gang *g, const struct gv_gang_spec *s, double deadline,
    struct member *members, struct gv_error *e)
{
	struct hello h = {MAGIC_HELLO, (uint32_t)s->rank, (uint32_t)s->world, s->key, 0};
	struct answer a;
	int port = 0, missing = 0, fd, k;

	if (gv_sock_listen(&g->listener, NULL, &port, e) != 0 ||
	    gv_sock_connect(&fd, s->addr, s->port, deadline, e) != 0)
		return -1;
	h.port = (uint32_t)port;
	for (k = 0; k < g->levels; k++)
		if ((g->rank ^ 1 << k) == 0)
			g->link[k] = fd; /* rank 0 is a partner: the connection stays */
	if (gv_sock_exchange(
		fd, &h, sizeof(h), &a, sizeof(a), left(deadline), "rank 0", e) != 0)
		goto fail;
	if (a.magic != MAGIC_PEERS) {
		gv_error_set(
		    e, "%s, port %d: no rank 0 of a gang is there", s->addr, s->port);
		goto fail;
	}
	if (a.refused != WELCOME) {
		gv_error_set(
		    e, "rank 0 refused rank %d: %s", s->rank, refusal_text(a.refused));
		goto fail;
	}
	if (gv_sock_exchange(fd, NULL, 0, members, (size_t)s->world * sizeof(*members),
		left(deadline), "rank 0", e) != 0)
		goto fail;
	if ((g->rank & (g->rank - 1)) != 0)
		close(fd);
	for (k = 0; k < g->levels; k++) {
		int partner = g->rank ^ 1 << k;

		if (partner > g->rank)
			missing++;
		else if (partner > 0 && call(g, k, &members[partner], deadline, e) != 0)
			return -1;
	}
	return answer_calls(g, missing, deadline, e);
fail:
	if ((g->rank & (g->rank - 1)) != 0)
		close(fd);
	return -1;
}

int
gv_gang_join(struct gv_gang **out, const struct gv_gang_spec *s, struct gv_error *e)
{
	struct gv_gang *g = gv_xcalloc(1, sizeof(*g));
	struct member *members = gv_xcalloc((size_t)s->world, sizeof(*members));
	double deadline = gv_clock_s() + s->join_s;
	int k, r = 0;

	*out = NULL;
	g->rank = s->rank;
	g->world = s->world;
	g->silence_s = s->silence_s;
	g->listener = -1;
	for (k = 0; k < LEVELS_MAX; k++)
		g->link[k] = -1;
	while (1 << g->levels < s->world)
		g->levels++;
	if (s->world > 1)
		r = s->rank == 0 ? host(g, s, deadline, members, e)
				 : visit(g, s, deadline, members, e);
	if (g->listener != -1)
		close(g->listener);
	g->listener = -1;
	free(members);
	if (r != 0) {
		gv_gang_leave(g);
		return -1;
	}
	*out = g;
	return 0;
}

void
gv_gang_leave(struct gv_gang *g)
{
	if (g == NULL)
		return;
	close_all(g->link, LEVELS_MAX);
	free(g->in);
	free(g);
}

/* ---- the sum ---- */

/* Both partners add (lower rank) + (upper rank): the same bits, NaNs included. */
static void
add(float *restrict x, const float *restrict in, size_t n, bool mine_first)
{
	size_t i;

	if (mine_first)
		for (i = 0; i < n; i++)
			x[i] = x[i] + in[i];
	else
		for (i = 0; i < n; i++)
			x[i] = in[i] + x[i];
}

/*
 * Header and values to and from one partner.  A small message leaves in one
 * piece, which saves a round trip; a large one might fill both sockets while
 * both partners only send, so there the headers go first.
 */
static int
swap(struct gv_gang *g, int level, const float *x, size_t n, unsigned *flags,
    struct gv_error *e)
{
	struct sum_header mine = {MAGIC_SUM, *flags, g->sequence, n}, theirs;
	char small[sizeof(mine) + SMALL * sizeof(*x)];
	size_t bytes = n * sizeof(*x);
	bool at_once = n > 0 && n <= SMALL;
	int fd = g->link[level];
	char who[32];

	snprintf(who, sizeof(who), "rank %d", g->rank ^ 1 << level);
	memcpy(small, &mine, sizeof(mine));
	if (at_once)
		memcpy(small + sizeof(mine), x, bytes);
	if (gv_sock_exchange(fd, small, sizeof(mine) + (at_once ? bytes : 0), &theirs,
		sizeof(theirs), g->silence_s, who, e) != 0)
		return -1;
	if (theirs.magic != MAGIC_SUM || theirs.sequence != g->sequence ||
	    theirs.count != n)
		return gv_error_set(e, "%s is out of step", who);
	*flags |= theirs.flags;
	return gv_sock_exchange(
	    fd, x, at_once ? 0 : bytes, g->in, bytes, g->silence_s, who, e);
}

int
gv_gang_sum(struct gv_gang *g, float *x, size_t n, unsigned *flags, struct gv_error *e)
{
	int k;

	if (g->world > 1 && g->cap < n)
		g->in = gv_xgrow(g->in, &g->cap, n, sizeof(*g->in));
	g->sequence++;
	for (k = 0; k < g->levels; k++) {
		if (swap(g, k, x, n, flags, e) != 0)
			return -1;
		add(x, g->in, n, g->rank < (g->rank ^ 1 << k));
	}
	return 0;
}
