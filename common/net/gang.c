#include "net/gang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/num.h"
#include "net/meet.h"
#include "net/mover.h"
#include "net/share.h"

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

/* GV_GANG_LINK: tcp = over TCP only, auto or nothing = through memory where that can be */
static int
env_link(bool *no_memory, struct gv_error *e)
{
	const char *s = getenv("GV_GANG_LINK");
	char q[GV_QUOTE_LEN];

	*no_memory = s != NULL && strcmp(s, "tcp") == 0;
	if (s == NULL || *no_memory || strcmp(s, "auto") == 0)
		return 0;
	return gv_error_set(
	    e, "GV_GANG_LINK: expected auto or tcp, got %s", gv_quote(q, s, strlen(s)));
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
	s->addr = getenv("MASTER_ADDR");
	if (s->addr == NULL)
		return gv_error_set(
		    e, "MASTER_ADDR is not set, and WORLD_SIZE is over 1");
	s->key = getenv("GV_GANG_KEY");
	if (env_link(&s->no_memory, e) != 0)
		return -1;
	if (env_int("RANK", 0, s->world - 1, &s->rank, e) != 0 ||
	    env_int("MASTER_PORT", 1, 65535, &s->port, e) != 0)
		return -1;
	return 0;
}

/* ---- joining ---- */

/* Room for a connection to each member, beside what is open. */
static void
raise_limit(int world)
{
	rlim_t want = (rlim_t)world + 256;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur == RLIM_INFINITY ||
	    l.rlim_cur >= want)
		return;
	l.rlim_cur = l.rlim_max == RLIM_INFINITY || want < l.rlim_max ? want : l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

int
gv_gang_join(struct gv_gang **g, const struct gv_gang_spec *s, struct gv_error *e)
{
	size_t world = (size_t)s->world, r;
	struct gv_link **link = gv_xcalloc(world, sizeof(struct gv_link *));
	char(*host)[GV_SOCK_ADDR] = gv_xcalloc(world, sizeof(*host));
	int *fd = gv_xcalloc(world, sizeof(*fd));
	int status = 0;

	*g = NULL;
	raise_limit(s->world);
	if (world > 1)
		status = gv_meet(s, fd, host, e);
	for (r = 0; r < world && status == 0; r++)
		link[r] = (int)r != s->rank ? gv_link_tcp(fd[r]) : NULL;
	if (status == 0) {
		*g = gv_mesh_new(s->rank, s->world, link, s->silence_s);
		for (r = 0; r < world; r++)
			memcpy((*g)->peer[r].host, host[r], GV_SOCK_ADDR);
	}
	if (status == 0 && world > 1 && gv_share_links(*g, s, e) != 0) {
		gv_mesh_free(*g);
		*g = NULL;
		status = -1;
	}
	free(fd);
	free(host);
	free(link);
	return status;
}

void
gv_gang_leave(struct gv_gang *g)
{
	if (g == NULL)
		return;
	gv_mover_stop(g);
	gv_mesh_free(g);
}

/* ---- each with the lock of its thread, if it has one ---- */

void
gv_gang_send(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const void *data, size_t bytes)
{
	gv_mover_enter(g);
	gv_mesh_send(g, m, to, tag, data, bytes);
	gv_mover_leave(g);
}

void
gv_gang_send_pieces(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const struct iovec *piece, size_t pieces)
{
	gv_mover_enter(g);
	gv_mesh_send_pieces(g, m, to, tag, piece, pieces);
	gv_mover_leave(g);
}

bool
gv_gang_send_copy(struct gv_gang *g, struct gv_message *m, void *copy)
{
	unsigned char *to = copy;
	bool goes;
	size_t i;

	gv_mover_enter(g);
	goes = !m->done;
	for (i = 0; i < m->pieces && goes; i++) {
		if (m->piece[i].iov_len > 0)
			memcpy(to, m->piece[i].iov_base, m->piece[i].iov_len);
		to += m->piece[i].iov_len;
	}
	if (goes) {
		m->one = (struct iovec){copy, m->bytes};
		m->piece = &m->one;
		m->pieces = 1;
	}
	gv_mover_leave(g);
	return goes;
}

void
gv_gang_recv(struct gv_gang *g, struct gv_message *m, int from, struct gv_tag tag,
    void *data, size_t bytes)
{
	gv_mover_enter(g);
	gv_mesh_recv(g, m, from, tag, data, bytes);
	gv_mover_leave(g);
}

int
gv_gang_poll(struct gv_gang *g, struct gv_error *e)
{
	int status;

	gv_mover_enter(g);
	if (g->blame == GV_BLAME_NONE && g->mover == NULL)
		gv_mesh_move(g, NULL, 0);
	status = gv_mesh_state(g, e);
	gv_mover_leave(g);
	return status;
}

int
gv_gang_culprit(struct gv_gang *g)
{
	int culprit;

	gv_mover_enter(g);
	culprit = g->blame == GV_BLAME_NONE ? -1 : g->culprit;
	gv_mover_leave(g);
	return culprit;
}

int
gv_gang_wait(struct gv_gang *g, struct gv_message *m, struct gv_error *e)
{
	int status;

	gv_mover_enter(g);
	status = gv_mesh_wait(g, &m, 1, e);
	gv_mover_leave(g);
	return status;
}

int
gv_gang_wait_some(struct gv_gang *g, struct gv_message *const *m, size_t n, double since,
    double until, struct gv_error *e)
{
	int status;

	gv_mover_enter(g);
	status = gv_mesh_wait_some(g, m, n, since, until, e);
	g->seen = g->moves;
	gv_mover_leave(g);
	return status;
}

void
gv_gang_sum_begin(struct gv_gang *g, struct gv_sum *s, float *x, size_t n, unsigned flags)
{
	gv_mover_enter(g);
	gv_sum_begin(g, s, x, n, flags);
	gv_mover_leave(g);
}

static int
sum_wait(struct gv_gang *g, struct gv_sum *s, struct gv_error *e)
{
	while (!s->done) {
		struct gv_message *m[GV_PASS_MAX + 2];
		size_t n = gv_sum_pending(s, m);

		/* one by one: what follows from it has begun then */
		if (gv_mesh_wait(g, m, n > 1 ? 1 : n, e) != 0) {
			gv_sum_forget(g, s);
			return -1;
		}
		while (gv_sums_move(g))
			;
	}
	return 0;
}

int
gv_gang_sum_wait(struct gv_gang *g, struct gv_sum *s, struct gv_error *e)
{
	int status;

	gv_mover_enter(g);
	status = sum_wait(g, s, e);
	gv_mover_leave(g);
	return status;
}

int
gv_gang_sum(struct gv_gang *g, float *x, size_t n, unsigned *flags, struct gv_error *e)
{
	struct gv_sum s;

	gv_gang_sum_begin(g, &s, x, n, *flags);
	if (gv_gang_sum_wait(g, &s, e) != 0)
		return -1;
	*flags = s.flags;
	return 0;
}
