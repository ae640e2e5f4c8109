/*
 * Parts of a net, chained through their slots, are the whole net bit for bit: any
 * cuts, two to four parts, two schedules, activations kept or made again, either
 * backend; and memory is what gv_net_bytes says.
 */
#include "nn_fixture.h"
#include "nn_slow.h"

enum { MOST = 4, MICRO = 3, STEPS = 2, ROWS = 64 };

/* A net in parts: part s has rows [cut[s], cut[s + 1]). */
struct pipe {
	const struct fixture *f;
	struct gv_net *part[MOST];
	size_t cut[MOST + 1], parts, slots, step;
	/* what comes is placed, not put: by part, slot, side, number of the row */
	bool places;
	gv_real *placed[MOST][MICRO][2][ROWS];
};

static void
open_pipe(struct pipe *p, const struct fixture *f, const size_t *cut, size_t parts,
    size_t slots, bool recompute)
{
	struct fixture part = *f;
	size_t s;

	*p = (struct pipe){.f = f, .parts = parts, .slots = slots};
	memcpy(p->cut, cut, (parts + 1) * sizeof(*cut));
	p->places = (cut[1] + parts) % 2 == 0;
	for (s = 0; s < parts; s++) {
		part.config.slots = slots;
		part.config.recompute = recompute;
		part.config.places = p->places;
		part.config.first_row = cut[s];
		part.config.last_row = cut[s + 1];
		/* what is placed is the host's */
		p->part[s] = make(&part, !p->places && (cut[s] + slots) % 3 == 2
					     ? slow_new()
					     : gv_cpu_new(s % 2 + 1));
	}
}

static void
close_pipe(struct pipe *p)
{
	gv_real **v = &p->placed[0][0][0][0];
	size_t s;

	for (s = 0; s < p->parts; s++)
		gv_net_free(p->part[s]);
	for (s = 0; s < sizeof(p->placed) / sizeof(*v); s++)
		free(v[s]);
}

/* A row into a slot, where it is put or placed: behind another one, where nobody has been. */
static int
bring(struct pipe *p, size_t part, size_t slot, enum gv_net_side side, size_t row,
    size_t k, gv_real *v)
{
	gv_real **at = &p->placed[part][slot][side][k], *before = *at;
	int status;

	if (!p->places) {
		status = gv_net_put_row(p->part[part], slot, row, side, v);
		free(v);
		return status;
	}
	status = gv_net_place_row(p->part[part], slot, row, side, v);
	*at = v;
	free(before);
	return status;
}

/* What crosses the cut before part s. */
static void
hand_over(struct pipe *p, size_t s, size_t slot, enum gv_net_side side)
{
	struct gv_net *from = p->part[side == GV_NET_OUTPUT ? s - 1 : s];
	size_t to = side == GV_NET_OUTPUT ? s : s - 1;
	size_t row[ROWS], n, k;

	gv_net_boundary(from, p->cut[s], row, &n);
	for (k = 0; k < n; k++) {
		size_t size = gv_net_row_size(from, row[k]);
		gv_real *v = gv_xcalloc(size, sizeof(*v));
		const gv_real *at =
		    p->places ? gv_net_row_at(from, slot, row[k], side) : v;

		if (gv_net_get_row(from, slot, row[k], side, v) != 0 || at == NULL ||
		    memcmp(at, v, size * sizeof(*v)) != 0 ||
		    bring(p, to, slot, side, row[k], k, v) != 0)
			gv_die("row %zu does not cross", row[k]);
	}
}

static bool
reads_sample(const struct pipe *p, size_t s)
{
	size_t i, k;

	for (i = p->cut[s]; i < p->cut[s + 1]; i++)
		for (k = 0; k < p->f->m.layer[i].inputs; k++)
			if (p->f->m.layer[i].from[k] == GV_FROM_INPUT)
				return true;
	return false;
}

static void
forward(struct pipe *p, size_t s, size_t m, bool evaluate)
{
	size_t n = p->f->c->batch, slot = m % p->slots;
	struct gv_net_work w = {.first = p->cut[s],
	    .last = p->cut[s + 1],
	    .slot = slot,
	    .evaluate = evaluate};

	if (s > 0)
		hand_over(p, s, slot, GV_NET_OUTPUT);
	gv_net_load(p->part[s], slot,
	    reads_sample(p, s) ? p->f->x + m * n * p->f->size : NULL,
	    s + 1 == p->parts ? p->f->target + m * n * p->f->bytes : NULL);
	gv_net_number(p->part[s], slot, p->step * MICRO + m);
	if (gv_net_forward(p->part[s], &w) != 0)
		gv_die("forward fails");
}

static void
backward(struct pipe *p, size_t s, size_t m)
{
	struct gv_net_work w = {
	    .first = p->cut[s], .last = p->cut[s + 1], .slot = m % p->slots};

	if (gv_net_backward(p->part[s], &w) != 0 ||
	    gv_net_gradients(p->part[s], &w, m == 0) != 0)
		gv_die("backward fails");
	if (s > 0)
		hand_over(p, s, w.slot, GV_NET_GRADIENT);
}

/* A slot for each micro-batch: each part is through with all before the next one begins. */
static void
part_by_part(struct pipe *p)
{
	size_t s, m;

	for (s = 0; s < p->parts; s++)
		for (m = 0; m < MICRO; m++)
			forward(p, s, m, false);
	for (s = p->parts; s-- > 0;)
		for (m = 0; m < MICRO; m++)
			backward(p, s, m);
}

/* Two slots: behind each forward the micro-batch before it goes back. */
static void
one_back(struct pipe *p)
{
	size_t s, m;

	for (m = 0; m <= MICRO; m++) {
		for (s = 0; s < p->parts && m < MICRO; s++)
			forward(p, s, m, false);
		for (s = p->parts; s-- > 0 && m > 0;)
			backward(p, s, m - 1);
	}
}

static void
step(struct pipe *p, double *loss)
{
	double none[HELP_MODELS];
	size_t s;

	(p->slots == MICRO ? part_by_part : one_back)(p);
	p->step++;
	for (s = 0; s < p->parts; s++) {
		gv_net_sum(p->part[s], s + 1 == p->parts ? loss : none);
		if (s + 1 < p->parts && !isnan(none[0]))
			gv_die("a part without the head knows the loss");
		gv_net_advance(p->part[s], 0, 0);
	}
}

/* The array of a net of that name; [P] or [Q] of model b, to be freed. */
static gv_real *
array(struct gv_net *net, const char *name, size_t b)
{
	struct gv_net_array a;
	size_t i;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++)
		if (strcmp(a.name, name) == 0)
			return help_array(net, i, b);
	return NULL;
}

/*
 * Tensors of a part, in all arrays of the whole, compared with the whole's; counts
 * numbers that are equal, and dies of one that is not.
 */
static size_t
same_tensors(struct gv_net *whole, struct gv_net *part, size_t b)
{
	struct gv_net_array a;
	struct gv_net_tensor t, u;
	size_t i, k, j, same = 0;

	for (i = 0; gv_net_array(whole, i, &a) == 0; i++) {
		gv_real *v = array(whole, a.name, b), *w = array(part, a.name, b);

		for (k = 0; w != NULL && gv_net_tensor(part, k, &t) == 0; k++) {
			if (t.running != (strcmp(a.name, "running") == 0))
				continue;
			for (j = 0; gv_net_tensor(whole, j, &u) == 0; j++)
				if (strcmp(t.name, u.name) == 0)
					break;
			for (j = 0; j < t.n; j++)
				same += memcmp(&v[u.offset + j], &w[t.offset + j],
					    sizeof(*v)) == 0;
		}
		free(v);
		free(w);
	}
	return same;
}

/* Numbers of the whole that its parts do not have. */
static size_t
missing(struct gv_net *whole, const struct pipe *p)
{
	struct gv_net_array a;
	size_t i, b, s, n = 0;

	for (b = 0; b < p->f->c->models; b++) {
		for (i = 0; gv_net_array(whole, i, &a) == 0; i++)
			n += a.n;
		for (s = 0; s < p->parts; s++)
			n -= same_tensors(whole, p->part[s], b);
	}
	return n;
}

/* Logits of the first micro-batch that differ from the whole's. */
static size_t
other_logits(struct gv_net *whole, struct pipe *p)
{
	const struct fixture *f = p->f;
	size_t row = (size_t)f->m.layer[f->m.n - 1].from[0], n = f->c->batch, i, s;
	size_t all = f->c->models * n * f->m.outputs, wrong = 0;
	gv_real *v = gv_xcalloc(all, sizeof(*v)), *w = gv_xcalloc(all, sizeof(*w));

	for (s = 0; s < p->parts; s++)
		forward(p, s, 0, true);
	gv_net_get_row(p->part[p->parts - 1], 0, row, GV_NET_OUTPUT, v);
	gv_net_eval(whole, f->x, f->target, n, NULL, NULL, w);
	for (i = 0; i < all; i++)
		wrong += memcmp(&v[i], &w[i], sizeof(*v)) != 0;
	free(v);
	free(w);
	return wrong;
}

static size_t
wrong_cut(const struct fixture *f, const size_t *cut, size_t parts, size_t slots,
    bool recompute)
{
	struct gv_net *whole = make(f, gv_cpu_new(1));
	double loss[HELP_MODELS], other[HELP_MODELS];
	size_t k, wrong = 0;
	struct pipe p;

	open_pipe(&p, f, cut, parts, slots, recompute);
	for (k = 0; k < STEPS; k++) {
		draw(f, k);
		gv_net_step(whole, f->x, f->target, loss);
		step(&p, other);
		wrong += memcmp(loss, other, f->c->models * sizeof(*loss)) != 0;
	}
	wrong += missing(whole, &p) + other_logits(whole, &p);
	close_pipe(&p);
	gv_net_free(whole);
	return wrong;
}

/* Every place to cut once, and random ones for more parts. */
static void
test_cuts(size_t i)
{
	struct fixture f;
	size_t cut[MOST + 1] = {0}, parts, k, s, two = 0, more = 0;
	uint64_t r = 0;

	open_fixture(&f, i);
	f.config.micro_batches = MICRO;
	for (k = 1; k < f.m.n; k++) {
		cut[1] = k;
		cut[2] = f.m.n;
		two += wrong_cut(&f, cut, 2, k % 2 == 0 ? 2 : MICRO, k % 4 < 2);
	}
	is_int(two, 0, "%s: two parts, cut anywhere", f.c->name);
	for (parts = 3; parts <= MOST && parts <= f.m.n; parts++)
		for (k = 0; k < 4; k++) {
			for (s = 1; s < parts; s++) {
				size_t room = f.m.n - (parts - s) - cut[s - 1];

				cut[s] = cut[s - 1] + 1 +
					 gv_random(9, 0, (uint32_t)i, r++) % room;
			}
			cut[parts] = f.m.n;
			more += wrong_cut(&f, cut, parts, k % 2 == 0 ? 2 : MICRO, k < 2);
		}
	is_int(more, 0, "%s: three and four", f.c->name);
	close_fixture(&f);
}

/* ---- recomputation ---- */

/* Slots and versions of one net in turn, the slot before going back behind each forward. */
static void
two_versions(struct gv_net *net, const struct fixture *f, double *loss)
{
	size_t k, n = f->c->batch;

	for (k = 0; k < 6; k++) {
		struct gv_net_work w = {.last = f->m.n, .slot = k % 2, .version = k % 2};
		struct gv_net_work last = {
		    .last = f->m.n, .slot = (k + 1) % 2, .version = (k + 1) % 2};

		gv_net_load(net, w.slot, f->x + k % 4 * n * f->size,
		    f->target + k % 4 * n * f->bytes);
		gv_net_number(net, w.slot, k);
		gv_net_forward(net, &w);
		if (k == 0)
			continue;
		if (gv_net_backward(net, &last) != 0 ||
		    gv_net_gradients(net, &last, true) != 0)
			gv_die("backward fails");
		gv_net_sum(net, loss);
		gv_net_advance(net, w.version, last.version);
	}
}

static void
test_recompute(size_t i)
{
	struct fixture f;
	struct gv_net *kept, *again;
	struct gv_net_bytes bytes, less;
	double loss[HELP_MODELS], other[HELP_MODELS];

	open_fixture(&f, i);
	draw(&f, 1);
	f.config.versions = f.config.slots = 2;
	kept = make(&f, gv_cpu_new(1));
	f.config.recompute = true;
	again = make(&f, i % 2 == 0 ? slow_new() : gv_cpu_new(2));
	two_versions(kept, &f, loss);
	two_versions(again, &f, other);
	ok(memcmp(loss, other, f.c->models * sizeof(*loss)) == 0 &&
		differences(&f, kept, again) == 0,
	    "%s: made again, with the slot's version", f.c->name);
	gv_net_bytes(kept, &bytes);
	gv_net_bytes(again, &less);
	is_int(2 * less.activations, bytes.activations,
	    "%s: two slots in the room of one", f.c->name);
	gv_net_free(kept);
	gv_net_free(again);
	close_fixture(&f);
}

static void
is_failure(int status, struct gv_net *net, const char *want)
{
	ok(status == -1, "fails");
	is_str(gv_net_error(net), want, "and says why");
}

static void
test_failures(void)
{
	struct fixture f;
	struct gv_net *net;
	gv_real *v;

	open_fixture(&f, 2);
	draw(&f, 1);
	f.config.recompute = true;
	f.config.slots = 2;
	f.config.last_row = 2;
	net = make(&f, gv_cpu_new(1));
	v = gv_xcalloc(gv_net_row_size(net, 2), sizeof(*v));
	gv_net_load(net, 0, f.x, NULL);
	gv_net_load(net, 1, f.x, NULL);
	gv_net_forward(net, &(struct gv_net_work){.last = 1});
	gv_net_forward(net, &(struct gv_net_work){.last = 1, .slot = 1});
	is_failure(gv_net_forward(net, &(struct gv_net_work){.first = 1, .last = 2}), net,
	    "activations of slot 0 are gone: another slot was worked on");
	is_failure(gv_net_gradients(net, &(struct gv_net_work){.last = 2}, true), net,
	    "activations of slot 0 are gone: another slot was worked on");
	ok(gv_net_forward(net, &(struct gv_net_work){.first = 1, .last = 2, .slot = 1}) ==
		0,
	    "the slot that is there goes on");
	is_failure(gv_net_get_row(net, 0, 2, GV_NET_OUTPUT, v), net,
	    "row 2 is not of rows 0 to 2");
	is_failure(gv_net_put_row(net, 0, 2, GV_NET_GRADIENT, v), net,
	    "row 2 is not of rows 0 to 2");
	is_failure(gv_net_eval(net, f.x, f.target, 1, NULL, NULL, v), net,
	    "rows 0 to 2 of 3 cannot be evaluated alone");
	is_failure(
	    gv_net_place_row(net, 0, 1, GV_NET_GRADIENT, v), net, "row 1 has its place");
	gv_net_free(net);
	f.config.places = true;
	net = make(&f, gv_cpu_new(1));
	is_failure(
	    gv_net_place_row(net, 0, 1, GV_NET_OUTPUT, v), net, "row 1 has its place");
	ok(gv_net_row_at(net, 0, 1, GV_NET_GRADIENT) == NULL &&
		strcmp(gv_net_error(net), "row 1 has no place yet") == 0,
	    "nor is a row anywhere before it is placed");
	is_int(gv_net_place_row(net, 0, 1, GV_NET_GRADIENT, v), 0, "which it is");
	ok(gv_net_row_at(net, 0, 1, GV_NET_GRADIENT) == v, "there");
	free(v);
	gv_net_free(net);
	close_fixture(&f);
}

/* ---- memory ---- */

static void *(*alloc_of)(
    struct gv_nn_backend *, enum gv_nn_memory, size_t, struct gv_error *);
static void (*release_of)(struct gv_nn_backend *, enum gv_nn_memory, void *);
static size_t allocated, pieces; /* bytes so far; allocations that there are */

static void *
count_alloc(
    struct gv_nn_backend *be, enum gv_nn_memory kind, size_t bytes, struct gv_error *e)
{
	allocated += bytes;
	pieces++;
	return alloc_of(be, kind, bytes, e);
}

static void
count_release(struct gv_nn_backend *be, enum gv_nn_memory kind, void *p)
{
	pieces -= p != NULL;
	release_of(be, kind, p);
}

static int
no_sum(void *ctx, gv_real *v, size_t n)
{
	(void)ctx;
	(void)v;
	(void)n;
	return 0;
}

/* Bytes of a net that differ between what it says and what it took, or that it keeps. */
static size_t
uncounted(const struct fixture *f, struct gv_nn_backend *be, size_t *params)
{
	struct gv_net_bytes bytes;
	struct gv_net *net;
	double loss[HELP_MODELS];
	uint32_t *visit = gv_xcalloc(f->most, sizeof(*visit));
	size_t wrong, whole = f->config.last_row - f->config.first_row == f->m.n;

	alloc_of = be->alloc;
	release_of = be->release;
	be->alloc = count_alloc;
	be->release = count_release;
	allocated = 0;
	net = make(f, be);
	gv_net_bytes(net, &bytes);
	wrong = allocated != bytes.total;
	*params += bytes.params;
	if (whole) {
		gv_net_data(net, f->x, f->target, f->most);
		gv_net_step_of(net, visit, loss);
	} else {
		gv_net_load(net, 0, f->x, f->target);
	}
	gv_net_bytes(net, &bytes);
	wrong += allocated != bytes.total || (whole && bytes.samples == 0);
	gv_net_free(net);
	free(visit);
	return wrong + pieces;
}

static void
test_memory(size_t i)
{
	struct fixture f;
	size_t first, last, wrong = 0, parts, all, k;

	open_fixture(&f, i);
	f.config.reduce = no_sum;
	for (k = 0; k < 4; k++) {
		f.config.slots = 1 + k;
		f.config.versions = 1 + k % 2;
		f.config.recompute = k > 1;
		f.config.ranks = f.c->shards > 1 ? 1 + k % 2 : 1;
		all = parts = 0;
		f.config.first_row = 0;
		f.config.last_row = f.m.n;
		wrong += uncounted(&f, k % 2 == 0 ? gv_cpu_new(2) : slow_new(), &all);
		for (first = 0; first < f.m.n; first = last) {
			last = first + 1 + (first + k) % 3;
			last = last < f.m.n ? last : f.m.n;
			f.config.first_row = first;
			f.config.last_row = last;
			wrong += uncounted(
			    &f, k % 2 == 0 ? slow_new() : gv_cpu_new(1), &parts);
		}
		wrong += parts != all;
	}
	is_int(wrong, 0, "%s: memory is what is said", f.c->name);
	close_fixture(&f);
}

int
main(void)
{
	size_t i;

	gv_init("nn_stages");
	for (i = 0; i < CASES; i++)
		test_cuts(i);
	test_cuts(CASES + NETS - 1);
	for (i = 0; i < CASES; i += 3)
		test_recompute(i);
	test_recompute(CASES + NETS - 1);
	test_failures();
	for (i = 0; i < CASES; i += 2)
		test_memory(i);
	return done_testing();
}
