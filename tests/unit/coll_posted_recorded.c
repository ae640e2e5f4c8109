/*
 * Collectives of members that are all in this process, with a gang and a clock of the test's own:
 * which messages they post in which order, what is in them and what comes out is what it was,
 * and the sums are right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "coll/coll.h"
#include "drawn_trees.h"
#include "recorded_frame.h"

enum { MEMBERS = 6, POSTS = 4000 };

struct gv_gang {
	int rank;
};

/* What is posted and not there yet. */
struct post {
	struct gv_message *m;
	int from, to;
	struct gv_tag tag;
	const void *data; /* of sends */
	void *room;       /* of receives */
	size_t bytes;
};

static struct {
	struct recorded *r;
	struct post send[POSTS], recv[POSTS];
	size_t n_send, n_recv;
	double now;
	struct gv_gang gang[MEMBERS];
	struct gv_coll *coll[MEMBERS];
	bool done[MEMBERS];
	size_t n, waits, fails_at;
	size_t odd; /* receives of other bytes than were sent */
} world;

double
gv_clock_s(void)
{
	return world.now;
}

static void
note(const struct post *p, uint32_t word)
{
	recorded_whole(world.r, p->from);
	recorded_whole(world.r, p->to);
	recorded_whole(world.r, p->tag.slot);
	recorded_whole(world.r, p->tag.kind);
	recorded_whole(world.r, (long long)p->bytes);
	recorded_whole(world.r, word);
}

void
gv_gang_send(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const void *data, size_t bytes)
{
	struct post *p = &world.send[world.n_send++];

	*p = (struct post){m, g->rank, to, tag, data, NULL, bytes};
	m->done = false;
	note(p, m->word);
	recorded_bytes(world.r, data, bytes);
}

void
gv_gang_recv(struct gv_gang *g, struct gv_message *m, int from, struct gv_tag tag,
    void *data, size_t bytes)
{
	struct post *p = &world.recv[world.n_recv++];

	*p = (struct post){m, from, g->rank, tag, NULL, data, bytes};
	m->done = false;
	note(p, 0);
}

/* The first of a list that is of the same message as p, n: there is none. */
static size_t
first_of(const struct post *list, size_t n, const struct post *p)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p->from == list[i].from && p->to == list[i].to &&
		    p->tag.slot == list[i].tag.slot && p->tag.kind == list[i].tag.kind)
			return i;
	return n;
}

static void
take_out(struct post *list, size_t *n, size_t i)
{
	memmove(&list[i], &list[i + 1], (*n - i - 1) * sizeof(*list));
	--*n;
}

/* Some of what was sent arrives, in order. */
static bool
deliver(size_t one_of)
{
	bool any = false;
	size_t i, k;

	for (i = 0; i < world.n_send;) {
		struct post s = world.send[i];

		k = first_of(world.recv, world.n_recv, &s);
		if (k == world.n_recv || first_of(world.send, i, &s) < i ||
		    below(one_of) > 0) {
			i++;
			continue;
		}
		world.odd += world.recv[k].bytes != s.bytes;
		memcpy(world.recv[k].room, s.data, s.bytes);
		world.recv[k].m->word = s.m->word;
		world.recv[k].m->done = true;
		s.m->done = true;
		take_out(world.send, &world.n_send, i);
		take_out(world.recv, &world.n_recv, k);
		any = true;
	}
	return any;
}

static void
move_from(size_t first)
{
	size_t i, at = first + below(world.n - first);

	for (i = first; i < world.n; i++) {
		world.done[at] = gv_coll_move(world.coll[at]);
		recorded_whole(world.r, world.done[at]);
		at = at + 1 < world.n ? at + 1 : first;
	}
	deliver(1 + below(3));
	world.now += 1e-3 * (double)below(4);
}

int
gv_gang_wait_some(struct gv_gang *g, struct gv_message *const *m, size_t n, double since,
    double until, struct gv_error *e)
{
	size_t i;

	recorded_whole(world.r, g->rank);
	recorded_whole(world.r, (long long)n);
	recorded_double(world.r, since);
	recorded_double(world.r, until);
	for (i = 0; i < n; i++)
		recorded_whole(world.r, m[i]->done);
	if (world.waits > 100000) {
		printf("Bail out! nothing moves any more\n");
		exit(1);
	}
	if (++world.waits == world.fails_at)
		return gv_error_set(e, "somebody is gone");
	if (world.n > 1)
		move_from(1);
	else
		world.now += 1e-3;
	return 0;
}

static double
due(void *ctx, size_t tree, bool up, int v, size_t bytes, double ready)
{
	double *slow = ctx;

	recorded_whole(world.r, (long long)tree);
	recorded_whole(world.r, up);
	recorded_whole(world.r, v);
	recorded_whole(world.r, (long long)bytes);
	recorded_rounded(world.r, ready, 9);
	return ready + *slow * (double)bytes;
}

/* ---- what is asked ---- */

static double
value(int rank, size_t i)
{
	return (double)((i * 7 + (size_t)rank * 13) % 61) - 20;
}

static double
wanted(const struct gv_trees *t, enum gv_coll_op op, int rank, size_t count, size_t i)
{
	double x;
	int v;

	if (t->collective == GV_BROADCAST)
		return value(t->tree[0].root, i);
	if (t->collective == GV_ALL_GATHER)
		return value((int)(i / count), i % count);
	i += t->collective == GV_REDUCE_SCATTER ? (size_t)rank * count : 0;
	x = value(0, i);
	for (v = 1; v < t->n; v++) {
		double y = value(v, i);

		x = op == GV_COLL_SUM   ? x + y
		    : op == GV_COLL_MAX ? fmax(x, y)
					: fmin(x, y);
	}
	return x;
}

struct buffers {
	double *in[MEMBERS], *out[MEMBERS];
	float *in_f[MEMBERS], *out_f[MEMBERS];
};

static void
fill(struct buffers *b, const struct gv_trees *t, size_t count)
{
	size_t whole = count * (size_t)t->n + 1, i;
	int v;

	for (v = 0; v < t->n; v++) {
		b->in[v] = calloc(whole, sizeof(double));
		b->out[v] = calloc(whole, sizeof(double));
		b->in_f[v] = calloc(whole, sizeof(float));
		b->out_f[v] = calloc(whole, sizeof(float));
		for (i = 0; i < whole; i++) {
			b->in[v][i] = value(v, i);
			b->in_f[v][i] = (float)b->in[v][i];
			b->out[v][i] = b->out_f[v][i] = .5;
		}
	}
}

/* Elements that are not what they must be; what is behind them is left alone. */
static size_t
drain(struct buffers *b, const struct gv_trees *t, const struct gv_coll_spec *s,
    size_t count)
{
	size_t n = t->collective == GV_ALL_GATHER ? count * (size_t)t->n : count, i,
	       wrong = 0;
	int v;

	for (v = 0; v < t->n; v++) {
		bool none = t->collective == GV_REDUCE && v != t->tree[0].root;

		for (i = 0; i < count * (size_t)t->n + 1; i++) {
			double want = none || i >= n ? .5 : wanted(t, s->op, v, count, i);

			wrong += (s->type == GV_COLL_FLOAT ? (double)b->out_f[v][i]
							   : b->out[v][i]) != want;
			wrong += b->in[v][i] != value(v, i);
		}
		free(b->in[v]);
		free(b->out[v]);
		free(b->in_f[v]);
		free(b->out_f[v]);
	}
	return wrong;
}

/* One collective from its beginning to its end; the first member waits, the others go on meanwhile. */
static size_t
run_one(const struct gv_coll_spec *s, size_t count)
{
	const struct gv_trees *t = s->trees;
	static struct gv_error e;
	struct buffers b;
	size_t i, rounds;
	int rc;

	gv_error_clear(&e);
	fill(&b, t, count);
	for (i = 0; i < world.n; i++) {
		bool is_root = (int)i == t->tree[0].root;
		void *in = s->type == GV_COLL_FLOAT ? (void *)b.in_f[i] : (void *)b.in[i];
		void *out =
		    s->type == GV_COLL_FLOAT ? (void *)b.out_f[i] : (void *)b.out[i];

		gv_coll_begin(world.coll[i],
		    t->collective == GV_BROADCAST && !is_root ? NULL : in,
		    t->collective == GV_REDUCE && !is_root ? NULL : out, count);
	}
	rc = gv_coll_wait(world.coll[0], &e);
	recorded_whole(world.r, rc);
	recorded_error(world.r, &e);
	for (rounds = 0, i = 0; i < world.n && rounds < 20000; rounds++) {
		move_from(0);
		while (i < world.n && world.done[i])
			i++;
	}
	recorded_whole(world.r, (long long)rounds);
	return drain(&b, t, s, count) + (rounds == 20000);
}

static size_t
ask(struct recorded *r)
{
	static struct gv_error e;
	struct gv_strbuf rows = {0}, links = {0};
	struct trees_drawn d;
	struct gv_frame f;
	struct gv_trees t = {0};
	struct gv_coll_spec s = {.trees = &t};
	double slow = 1e-6 * (double)below(100);
	size_t wrong = 0, turn, i;

	draw_trees(&d, &rows, &links, MEMBERS, false);
	if (gv_frame_parse(&f, "trees", rows.s, rows.len, &e) != 0 ||
	    gv_trees_read(&t, &f, &e) != 0)
		abort();
	s.id = (uint32_t)below(GV_COLL_IDS);
	s.type = (enum gv_coll_type)below(GV_COLL_TYPES);
	s.op = (enum gv_coll_op)below(GV_COLL_OPS);
	s.chunk_bytes = 1 + below(100);
	if (below(2) == 0)
		s.pace = (struct gv_coll_pace){due, &slow};
	world.r = r;
	world.n = (size_t)t.n;
	world.waits = 0;
	world.fails_at = below(8) == 0 ? 1 + below(10) : 0;
	for (i = 0; i < world.n; i++) {
		world.gang[i].rank = s.rank = (int)i;
		world.coll[i] = gv_coll_new(&world.gang[i], &s);
	}
	for (turn = 0; turn < 3; turn++)
		wrong += run_one(&s, below(4) == 0 ? below(3) : below(150));
	for (i = 0; i < world.n; i++)
		gv_coll_free(world.coll[i]);
	gv_coll_free(NULL);
	gv_trees_free(&t);
	gv_frame_free(&f);
	gv_strbuf_free(&rows);
	gv_strbuf_free(&links);
	return wrong + world.odd + world.n_send + world.n_recv;
}

int
main(void)
{
	struct recorded r;
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	for (turn = 0; turn < 100; turn++) {
		draws_begin(78, 0, (uint32_t)turn);
		world.now = 1000 * (double)turn;
		for (i = 0; i < 5; i++)
			wrong += ask(&r);
		recorded_answer(&r, "collectives %zu", turn);
	}
	is_int(wrong, 0, "all have what they must, and nothing is left on its way");
	recorded_close(&r);
	return done_testing();
}
