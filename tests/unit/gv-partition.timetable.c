/*
 * Schedules: the order of the steps, what is held and for how long all of it
 * takes, against the closed forms of the papers and, for unequal stages with
 * transfers and all-reduces, against a clock that goes on by one tick at a time and
 * looks at everything.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-partition/search/cost.h"
#include "plan/simulate.h"
#include "tap.h"

enum { MOST = 32 };

struct world {
	struct gv_pipe p;
	struct gv_pipe_stage stage[MOST];
};

/* p places of v chunks, whose passes take f + b + w altogether on each place. */
static void
equal_stages(struct world *w, enum gv_schedule_kind schedule, size_t places,
    size_t chunks, size_t m, const double fbw[3])
{
	size_t k;

	memset(w, 0, sizeof(*w));
	w->p = (struct gv_pipe){.n = places * chunks,
	    .stage = w->stage,
	    .schedule = schedule,
	    .chunks = chunks,
	    .micro_batches = m,
	    .batch = m,
	    .state = 0};
	for (k = 0; k < w->p.n; k++)
		w->stage[k] = (struct gv_pipe_stage){.replicas = 1,
		    .forward_s = fbw[0] / (double)chunks,
		    .backward_s = fbw[1] / (double)chunks,
		    .weight_s = fbw[2] / (double)chunks,
		    .stash = 1,
		    .parameter = 1};
}

static double
time_of(struct world *w)
{
	struct gv_error e = {0};
	struct gv_simulation s;
	struct gv_timetable t;
	double end_s = NAN;

	if (gv_simulation_run(&s, &t, &w->p, &e) == 0)
		end_s = s.end_s;
	gv_timetable_free(&t);
	gv_simulation_free(&s);
	return end_s;
}

/* ---- closed forms ---- */

static void
published_times(void)
{
	static const struct {
		enum gv_schedule_kind schedule;
		size_t p, v, m;
		double want;
	} row[] = {{GV_SCHEDULE_GPIPE, 4, 1, 8, 33}, {GV_SCHEDULE_FLUSH, 4, 1, 8, 33},
	    {GV_SCHEDULE_INTERLEAVED, 4, 2, 8, 28.5},
	    {GV_SCHEDULE_INTERLEAVED, 4, 4, 8, 26.25}, {GV_SCHEDULE_GPIPE, 8, 1, 16, 69},
	    {GV_SCHEDULE_FLUSH, 8, 1, 16, 69}, {GV_SCHEDULE_INTERLEAVED, 8, 2, 16, 58.5},
	    {GV_SCHEDULE_INTERLEAVED, 8, 4, 32, 101.25}};
	static const double fbw[] = {1, 2, 0};
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		double got;

		equal_stages(&w, row[i].schedule, row[i].p, row[i].v, row[i].m, fbw);
		got = time_of(&w);
		is_near(got, row[i].want, 1e-12,
		    "%s p=%zu v=%zu m=%zu t=3: published %g, ours %g, tolerance 1e-12",
		    gv_schedule_name[row[i].schedule], row[i].p, row[i].v, row[i].m,
		    row[i].want, got);
	}
}

/* (m + p - 1) t, m t + (p - 1) t / v, m t + (p - 1) (F + B - W), for all small p, m and v. */
static void
closed_forms(void)
{
	static const double plain[][3] = {{1, 2, 0}, {1, 1, 0}, {3, 2, 0}, {0.5, 4, 0}};
	static const double split[][3] = {{1, 1, 1}, {2, 2, 1}, {4, 5, 3}, {3, 3, 2}};
	size_t p, m, v, i, wrong[4] = {0}, n[4] = {0};
	struct world w;

	for (p = 1; p <= 8; p++)
		for (m = 1; m <= 3 * p; m++)
			for (i = 0; i < 4; i++) {
				double t = plain[i][0] + plain[i][1];
				double want = (double)(m + p - 1) * t;

				equal_stages(&w, GV_SCHEDULE_GPIPE, p, 1, m, plain[i]);
				wrong[0] += !(fabs(time_of(&w) - want) < 1e-9);
				equal_stages(&w, GV_SCHEDULE_FLUSH, p, 1, m, plain[i]);
				wrong[1] += !(fabs(time_of(&w) - want) < 1e-9);
				n[0]++;
				n[1]++;
				for (v = 2; m % p == 0 && p > 1 && p * v <= 16; v++) {
					equal_stages(&w, GV_SCHEDULE_INTERLEAVED, p, v, m,
					    plain[i]);
					want = (double)m * t +
					       (double)(p - 1) * t / (double)v;
					wrong[2] += !(fabs(time_of(&w) - want) < 1e-9);
					n[2]++;
				}
				if (m < 2 * p)
					continue;
				equal_stages(&w, GV_SCHEDULE_ZB_H1, p, 1, m, split[i]);
				t = split[i][0] + split[i][1] + split[i][2];
				want = (double)m * t +
				       (double)(p - 1) *
					   (split[i][0] + split[i][1] - split[i][2]);
				wrong[3] += !(fabs(time_of(&w) - want) < 1e-9);
				n[3]++;
			}
	is_int(wrong[0], 0, "gpipe: (m + p - 1) t, %zu cases", n[0]);
	is_int(wrong[1], 0, "flush: (m + p - 1) t, %zu cases", n[1]);
	is_int(wrong[2], 0, "interleaved: m t + (p - 1) t / v, %zu cases", n[2]);
	is_int(wrong[3], 0, "zb-h1: m t + (p - 1) (F + B - W), %zu cases", n[3]);
}

/* ---- what is held ---- */

static struct gv_holding
held(struct world *w, size_t place)
{
	struct gv_timetable t;
	struct gv_holding h;

	gv_timetable_make(&t, &w->p);
	h = gv_timetable_holding(&t.lane[t.first[place]], &w->p);
	gv_timetable_free(&t);
	return h;
}

static size_t
less(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void
in_flight(void)
{
	static const double fbw[] = {1, 1, 1};
	size_t p, m, v, k, wrong[5] = {0}, n = 0, chunks = 0;
	struct world w;

	for (p = 1; p <= 8; p++)
		for (m = 1; m <= 3 * p; m++)
			for (k = 0; k < p; k++, n++) {
				equal_stages(&w, GV_SCHEDULE_GPIPE, p, 1, m, fbw);
				wrong[0] += held(&w, k).in_flight != m;
				equal_stages(&w, GV_SCHEDULE_FLUSH, p, 1, m, fbw);
				wrong[1] += held(&w, k).in_flight != less(p - k, m);
				wrong[1] += held(&w, k).versions != 1;
				equal_stages(&w, GV_SCHEDULE_1F1B, p, 1, m, fbw);
				wrong[2] += held(&w, k).in_flight != less(p - k, m);
				equal_stages(&w, GV_SCHEDULE_ZB_H1, p, 1, m, fbw);
				wrong[3] += held(&w, k).in_flight > less(p, m);
				for (v = 2; m % p == 0 && p > 1 && p * v <= 32;
				     v++, chunks++) {
					size_t want = 2 * (p - k - 1) + (v - 1) * p + 1;

					equal_stages(
					    &w, GV_SCHEDULE_INTERLEAVED, p, v, m, fbw);
					if (m == p || want > m * v)
						want = m * v;
					wrong[4] += held(&w, k).in_flight != want;
				}
			}
	is_int(wrong[0], 0, "gpipe: m in flight, %zu stages", n);
	is_int(wrong[1], 0, "flush: min(p - s, m) in flight, one version of the weights");
	is_int(wrong[2], 0, "1f1b: min(p - s, m) in flight");
	is_int(wrong[3], 0, "zb-h1: no stage holds more than the first one of 1f1b");
	is_int(wrong[4], 0,
	    "interleaved: 2 (p - r - 1) + (v - 1) p + 1 in flight, %zu places", chunks);
	equal_stages(&w, GV_SCHEDULE_INTERLEAVED, 4, 2, 8, fbw);
	is_int(held(&w, 0).in_flight, 11, "interleaved p=4 v=2: published 11, first GPU");
	equal_stages(&w, GV_SCHEDULE_INTERLEAVED, 8, 4, 32, fbw);
	is_int(held(&w, 0).in_flight, 39, "interleaved p=8 v=4: published 39, first GPU");
}

/* ---- versions of the weights ---- */

static void
versions(void)
{
	static const double fbw[] = {1, 2, 0};
	size_t wrong[3] = {0}, n = 5, k, j;
	struct gv_error e = {0};
	struct gv_timetable t;
	struct world w;

	/* stage k of 1f1b reads weights n - 1 - k updates old, and keeps n - k versions */
	equal_stages(&w, GV_SCHEDULE_1F1B, n, 1, 40, fbw);
	gv_timetable_make(&t, &w.p);
	for (k = 0; k < n; k++) {
		for (j = 0; j < t.lane[k].n; j++) {
			const struct gv_step *s = &t.lane[k].step[j];
			size_t late = n - 1 - k, i = s->micro_batch;

			if (s->op == GV_STEP_UPDATE)
				wrong[0] += s->version != i + 1;
			else
				wrong[0] += s->version != (i > late ? i - late : 0);
		}
		wrong[1] += held(&w, k).versions != n - k;
	}
	gv_timetable_free(&t);
	is_int(wrong[0], 0, "1f1b: forward and backward read w(t - n + 1 + s)");
	is_int(wrong[1], 0, "1f1b: stage s keeps n - s versions");

	/* 2bw: micro-batch i, from 1, reads max(floor((i - 1) / m) - 1, 0) */
	equal_stages(&w, GV_SCHEDULE_2BW, n, 1, 40, fbw);
	w.stage[1].replicas = w.stage[3].replicas = 3;
	w.p.batch = 10;
	gv_timetable_make(&t, &w.p);
	for (k = 0; k < t.n; k++) {
		size_t made = 0;

		for (j = 0; j < t.lane[k].n; j++) {
			const struct gv_step *s = &t.lane[k].step[j];
			size_t batch = s->micro_batch / 10;

			if (s->op == GV_STEP_UPDATE)
				wrong[2] += s->version != ++made;
			else if (s->op != GV_STEP_REDUCE)
				wrong[2] += s->version != (batch > 0 ? batch - 1 : 0) ||
					    made < s->version;
		}
		wrong[2] += made != 4;
		wrong[2] += gv_timetable_holding(&t.lane[k], &w.p).versions != 2;
	}
	gv_timetable_free(&t);
	is_int(wrong[2], 0,
	    "2bw: versions by the formula, made before they are read, two held");
	w.p.batch = 8;
	ok(gv_timetable_check(&w.p, &e) == -1,
	    "2bw: a batch of fewer micro-batches than GPUs");
}

/* ceil(W / r) versions with replicas, as stage_memory counts. */
static void
versions_of_replicas(void)
{
	static const double fbw[] = {1, 2, 0};
	static const size_t replicas[][4] = {
	    {3, 1, 1, 1}, {1, 2, 3, 1}, {4, 2, 1, 1}, {2, 3, 5, 4}, {7, 1, 2, 1}};
	size_t c, k, wrong[2] = {0}, behind;
	struct world w;

	for (c = 0; c < 5; c++)
		for (k = 4, behind = 0; k-- > 0;) {
			struct cost_rules rules = {
			    .schedule = GV_SCHEDULE_1F1B, .state = 2};
			struct stage_size size = {.parameter = 10};
			size_t f;

			equal_stages(&w, GV_SCHEDULE_1F1B, 4, 1, 200, fbw);
			w.p.state = 2;
			for (f = 0; f < 4; f++) {
				w.stage[f].replicas = replicas[c][f];
				w.stage[f].parameter = 10;
				w.stage[f].stash = 3;
			}
			behind += replicas[c][k];
			f = (behind + replicas[c][k] - 1) / replicas[c][k];
			wrong[0] += held(&w, k).versions != f;
			wrong[1] +=
			    held(&w, k).bytes != stage_memory(&rules, &size, 3, f, false);
		}
	is_int(wrong[0], 0, "1f1b: ceil(W / r) versions with replicas");
	is_int(wrong[1], 0, "1f1b: the bytes of stage_memory");
}

/* ---- a clock ---- */

static uint64_t draw_seed, draw_count;

static size_t
draw(size_t n)
{
	return (size_t)(gv_random(draw_seed, 7, 7, draw_count++) % n);
}

enum { LANES = 64, TRANSFERS = 4096, BATCHES = 64 };

struct moved {
	size_t boundary, i;
	bool back, going, gone;
	long ready, end;
};

struct clocked {
	const struct world *w;
	const struct gv_timetable *t;
	size_t at[LANES];
	long until[LANES]; /* of the present pass; -1 none */
	bool blocked[LANES];
	bool there[2][MOST][BATCHES];
	struct moved moved[TRANSFERS];
	size_t n_moved;
	long got
	    [LANES][MOST]
	    [BATCHES]; /* tick + 1 when the lane got to its n-th all-reduce of a stage */
	long could[LANES][MOST][BATCHES];
	size_t n_got[LANES][MOST], n_updated[LANES][MOST];
	long begun[MOST][BATCHES],
	    ended[MOST][BATCHES]; /* of all-reduces; ended -1 not known */
	long channel[MOST];
	size_t wrong;
};

static const struct gv_pipe_stage *
stage_of(const struct clocked *c, size_t k)
{
	return &c->w->stage[k];
}

static void
clock_send(struct clocked *c, long t, size_t boundary, size_t i, bool back)
{
	size_t places = c->w->p.n / c->w->p.chunks;

	if (places == 1 || stage_of(c, boundary)->receive_s == 0)
		c->there[back][back ? boundary - 1 : boundary][i] = true;
	else
		c->moved[c->n_moved++] =
		    (struct moved){boundary, i, back, false, false, t, 0};
}

/* Links that can begin a transfer begin the one that was ready first. */
static void
clock_links(struct clocked *c, long t)
{
	size_t places = c->w->p.n / c->w->p.chunks, a, b;

	for (;;) {
		struct moved *best = NULL;

		for (a = 0; a < c->n_moved; a++) {
			struct moved *x = &c->moved[a];
			size_t place = x->boundary % places;
			size_t links = less(stage_of(c, place)->replicas,
			    stage_of(c, (place + places - 1) % places)->replicas);
			bool busy = x->going || x->gone;

			for (b = 0; b < c->n_moved && !busy; b++)
				busy = c->moved[b].going && !c->moved[b].gone &&
				       c->moved[b].boundary % places == place &&
				       c->moved[b].i % links == x->i % links;
			if (busy)
				continue;
			if (best == NULL || x->ready < best->ready ||
			    (x->ready == best->ready &&
				(x->i < best->i ||
				    (x->i == best->i && !x->back && best->back))))
				best = x;
		}
		if (best == NULL)
			return;
		best->going = true;
		best->end = t + (long)stage_of(c, best->boundary)->receive_s;
	}
}

/* Whether all that take part in the n-th all-reduce of a stage got there; then its times. */
static bool
clock_reduction(struct clocked *c, long t, size_t k, size_t n)
{
	size_t place = k % (c->w->p.n / c->w->p.chunks), lane, j, seen;
	long start = c->channel[place], ready = t, could;

	if (c->ended[k][n] >= 0)
		return c->ended[k][n] <= t;
	for (lane = c->t->first[place]; lane < c->t->first[place + 1]; lane++) {
		for (j = 0, seen = 0; j < c->t->lane[lane].n; j++)
			seen += c->t->lane[lane].step[j].op == GV_STEP_REDUCE &&
				c->t->lane[lane].step[j].stage == k;
		if (seen <= n)
			continue;
		if (c->got[lane][k][n] == 0)
			return false;
		could = c->could[lane][k][n];
		if (could > start)
			start = could;
		could += (long)stage_of(c, k)->ready_s;
		if (c->w->p.overlap && could > ready)
			ready = could;
	}
	c->ended[k][n] = start + (long)stage_of(c, k)->reduce_s;
	if (c->ended[k][n] < ready)
		c->ended[k][n] = ready;
	c->begun[k][n] = c->ended[k][n] - (long)stage_of(c, k)->reduce_s;
	c->channel[place] = c->ended[k][n];
	return c->ended[k][n] <= t;
}

/* Does what the lane can do at t without time passing; whether there was something. */
static bool
clock_lane(struct clocked *c, long t, size_t lane)
{
	const struct gv_lane *l = &c->t->lane[lane];
	const struct gv_step *s = &l->step[c->at[lane]];
	size_t k, n;

	if (c->at[lane] == l->n)
		return false;
	k = s->stage;
	if (c->until[lane] >= 0) {
		if (c->until[lane] > t)
			return false;
		c->wrong += s->end_s != (double)t;
		c->until[lane] = -1;
		c->at[lane]++;
		if (s->op == GV_STEP_FORWARD && k + 1 < c->w->p.n)
			clock_send(c, t, k + 1, s->micro_batch, false);
		if (s->op == GV_STEP_BACKWARD && k > 0)
			clock_send(c, t, k, s->micro_batch, true);
		return true;
	}
	if (s->op == GV_STEP_REDUCE) {
		n = c->n_got[lane][k];
		if (!c->blocked[lane]) {
			size_t pass = c->at[lane];

			while (l->step[pass].op == GV_STEP_REDUCE ||
			       l->step[pass].op == GV_STEP_UPDATE)
				pass--;
			c->got[lane][k][n] = t + 1;
			c->could[lane][k][n] =
			    c->w->p.overlap ? (long)l->step[pass].start_s : t;
			c->blocked[lane] = !c->w->p.overlap;
			clock_reduction(c, t, k, n);
		}
		if (c->blocked[lane] && !clock_reduction(c, t, k, n))
			return false;
		c->blocked[lane] = false;
		c->n_got[lane][k]++;
		c->at[lane]++;
		return true;
	}
	if (s->op == GV_STEP_UPDATE) {
		n = c->n_updated[lane][k];
		if (stage_of(c, k)->replicas > 1 && !clock_reduction(c, t, k, n))
			return false;
		c->wrong += s->start_s != (double)t || s->end_s != (double)t;
		c->n_updated[lane][k]++;
		c->at[lane]++;
		return true;
	}
	if (s->op != GV_STEP_WEIGHT &&
	    !c->there[s->op == GV_STEP_BACKWARD][k][s->micro_batch])
		return false;
	c->wrong += s->start_s != (double)t;
	c->until[lane] =
	    t + (long)(s->op == GV_STEP_FORWARD    ? stage_of(c, k)->forward_s
		       : s->op == GV_STEP_BACKWARD ? stage_of(c, k)->backward_s
						   : stage_of(c, k)->weight_s);
	for (n = c->at[lane] + 1; n < l->n && l->step[n].op == GV_STEP_UPDATE; n++)
		;
	if (c->w->p.overlap && n < l->n && l->step[n].op == GV_STEP_REDUCE)
		c->until[lane] += (long)stage_of(c, k)->beside_s;
	return true;
}

/* How many times of t are not those of the clock. */
static size_t
clock_differs(const struct world *w, const struct gv_timetable *t)
{
	struct clocked *c = gv_xcalloc(1, sizeof(*c));
	size_t lane, k, j, wrong, left, n[MOST];
	bool more;
	long now;

	c->w = w;
	c->t = t;
	for (lane = 0; lane < t->n; lane++)
		c->until[lane] = -1;
	for (k = 0; k < w->p.n; k++)
		for (j = 0; j < BATCHES; j++)
			c->ended[k][j] = -1;
	for (j = 0; j < w->p.micro_batches; j++)
		c->there[0][0][j] = c->there[1][w->p.n - 1][j] = true;
	for (now = 0; now < 20000; now++) {
		for (k = 0; k < c->n_moved; k++)
			if (c->moved[k].going && !c->moved[k].gone &&
			    c->moved[k].end == now) {
				struct moved *x = &c->moved[k];

				x->gone = true;
				c->there[x->back][x->back ? x->boundary - 1 : x->boundary]
					[x->i] = true;
			}
		do {
			for (more = false, lane = 0; lane < t->n; lane++)
				more |= clock_lane(c, now, lane);
		} while (more);
		clock_links(c, now);
		for (left = 0, lane = 0; lane < t->n; lane++)
			left += t->lane[lane].n - c->at[lane];
		if (left == 0)
			break;
	}
	wrong = c->wrong + left;
	for (lane = 0; lane < t->n; lane++) {
		memset(n, 0, sizeof(n));
		for (j = 0; j < t->lane[lane].n; j++) {
			const struct gv_step *s = &t->lane[lane].step[j];

			if (s->op != GV_STEP_REDUCE)
				continue;
			wrong += s->start_s != (double)c->begun[s->stage][n[s->stage]] ||
				 s->end_s != (double)c->ended[s->stage][n[s->stage]];
			n[s->stage]++;
		}
	}
	free(c);
	return wrong;
}

static void
random_pipe(struct world *w)
{
	enum gv_schedule_kind schedule = (enum gv_schedule_kind)draw(GV_SCHEDULES);
	bool interleaved = schedule == GV_SCHEDULE_INTERLEAVED;
	size_t places = 1 + draw(5), chunks = interleaved ? 1 + draw(3) : 1, gpus = 0, k,
	       r;

	memset(w, 0, sizeof(*w));
	w->p = (struct gv_pipe){.n = places * chunks,
	    .stage = w->stage,
	    .schedule = schedule,
	    .chunks = chunks,
	    .overlap = draw(2)};
	r = 1 + draw(3);
	for (k = 0; k < w->p.n; k++)
		w->stage[k] =
		    (struct gv_pipe_stage){.replicas = interleaved ? r : 1 + draw(4),
			.forward_s = (double)(1 + draw(9)),
			.backward_s = (double)(1 + draw(9)),
			.weight_s = schedule == GV_SCHEDULE_ZB_H1 ? (double)draw(9) : 0,
			.receive_s = draw(3) ? (double)draw(6) : 0,
			.reduce_s = (double)draw(12),
			.ready_s = draw(2) ? (double)draw(24) : 0,
			.beside_s = draw(2) ? (double)draw(4) : 0};
	for (k = 0; k < places; k++)
		gpus += w->stage[k].replicas;
	w->p.micro_batches = interleaved ? gpus * (1 + draw(3)) : 1 + draw(24);
	w->p.batch = w->p.micro_batches;
	if (schedule == GV_SCHEDULE_2BW) {
		w->p.batch = gpus + draw(4);
		w->p.micro_batches = w->p.batch + draw(less(BATCHES - w->p.batch, 40));
	}
}

static void
against_the_clock(void)
{
	enum { CASES = 1200 };
	size_t n[GV_SCHEDULES] = {0}, wrong[GV_SCHEDULES] = {0}, i;
	struct gv_timetable t;
	struct world w;

	for (i = 0; i < CASES; i++) {
		random_pipe(&w);
		gv_timetable_make(&t, &w.p);
		n[w.p.schedule]++;
		wrong[w.p.schedule] +=
		    isnan(gv_simulate(&t, &w.p)) || clock_differs(&w, &t) > 0;
		gv_timetable_free(&t);
	}
	for (i = 0; i < GV_SCHEDULES; i++)
		is_int(wrong[i], 0, "%s: the clock's times on %zu random pipelines",
		    gv_schedule_name[i], n[i]);
}

/*
 * Steady state: no faster than the slowest stage or link, and without transfers as fast
 * as the slowest stage.
 */
static void
steady_states(void)
{
	enum { CASES = 200 };
	size_t i, k, wrong[2] = {0}, equal = 0;
	struct gv_error e = {0};
	struct gv_simulation s;
	struct gv_timetable t;
	struct world w;

	for (i = 0; i < CASES; i++) {
		double most = 0;

		random_pipe(&w);
		w.p.schedule = i % 2 ? GV_SCHEDULE_1F1B : GV_SCHEDULE_2BW;
		w.p.n = w.p.n / w.p.chunks;
		w.p.chunks = 1;
		w.p.batch = 24;
		for (k = 0; k < w.p.n; k++) {
			struct gv_pipe_stage *stage = &w.stage[k];

			stage->weight_s = 0;
			if (i < CASES / 2) {
				stage->receive_s = 0;
				stage->replicas = 1;
			}
			most = fmax(most, (stage->forward_s + stage->backward_s) /
					      (double)stage->replicas);
			if (k > 0)
				most = fmax(most, 2 * stage->receive_s /
						      (double)less(stage->replicas,
							  stage[-1].replicas));
		}
		wrong[0] +=
		    gv_simulation_run(&s, &t, &w.p, &e) != 0 || s.step_s < most - 1e-9;
		wrong[1] += i < CASES / 2 && fabs(s.step_s - most) > 1e-9;
		equal += i >= CASES / 2 && fabs(s.step_s - most) < 1e-9;
		gv_timetable_free(&t);
		gv_simulation_free(&s);
	}
	is_int(wrong[0], 0, "1f1b, 2bw: no faster than the slowest stage or link");
	is_int(wrong[1], 0,
	    "1f1b, 2bw: straight, without transfers as fast as the slowest stage");
	printf("# with replicas and transfers as fast as that in %zu of %d\n", equal,
	    CASES / 2);
}

/* Interleaved with one chunk is flush, step by step; and what a batch of 2bw must hold. */
static void
edges_of_schedules(void)
{
	static const double fbw[3] = {1, 2, 0};
	size_t places, m, i, k, differ = 0;
	struct gv_timetable t[2];
	struct gv_error e = {0};
	struct world w;

	for (places = 1; places <= 5; places++)
		for (m = places; m <= 3 * places; m += places) {
			equal_stages(&w, GV_SCHEDULE_FLUSH, places, 1, m, fbw);
			gv_timetable_make(&t[0], &w.p);
			w.p.schedule = GV_SCHEDULE_INTERLEAVED;
			gv_timetable_make(&t[1], &w.p);
			for (i = 0; i < t[0].n; i++) {
				differ += t[0].lane[i].n != t[1].lane[i].n;
				for (k = 0; k < t[0].lane[i].n && k < t[1].lane[i].n; k++)
					differ += t[0].lane[i].step[k].op !=
						      t[1].lane[i].step[k].op ||
						  t[0].lane[i].step[k].micro_batch !=
						      t[1].lane[i].step[k].micro_batch;
			}
			gv_timetable_free(&t[0]);
			gv_timetable_free(&t[1]);
		}
	is_int(differ, 0, "interleaved with one chunk is flush");
	ok(gv_timetable_check_batch(GV_SCHEDULE_2BW, 4, 4, &e) == 0,
	    "2bw: as many micro-batches as GPUs will do");
	ok(gv_timetable_check_batch(GV_SCHEDULE_2BW, 3, 4, &e) != 0, "one less will not");
	gv_error_clear(&e);
}

int
main(void)
{
	published_times();
	edges_of_schedules();
	closed_forms();
	in_flight();
	versions();
	versions_of_replicas();
	against_the_clock();
	steady_states();
	return done_testing();
}
