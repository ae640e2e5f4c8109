/*
 * Checkpoints of nets with several versions of their weights, whole and in parts:
 * a run that ends after any update and goes on from its files is the run that did
 * not end, in 2BW's order (gradients of the weights before the newest).
 */
#include <stdio.h>
#include <unistd.h>

#include "nn/ckpt.h"
#include "nn_fixture.h"

enum { UPDATES = 5, MICRO = 2, PARTS = 2 };

static char dir[] = "/tmp/gv-ckpt-XXXXXX";

/* A net in one or two parts. */
struct run {
	const struct fixture *f;
	struct gv_net *part[PARTS];
	size_t cut[PARTS + 1], parts;
};

static void
open_run(struct run *r, const struct fixture *f, size_t parts)
{
	struct fixture part = *f;
	size_t s;

	*r = (struct run){.f = f, .parts = parts};
	r->cut[1] = parts == 1 ? f->m.n : f->m.n / 2;
	r->cut[parts] = f->m.n;
	for (s = 0; s < parts; s++) {
		part.config.first_row = r->cut[s];
		part.config.last_row = r->cut[s + 1];
		r->part[s] = make(&part, gv_cpu_new(1));
	}
}

static void
close_run(struct run *r)
{
	size_t s;

	for (s = 0; s < r->parts; s++)
		gv_net_free(r->part[s]);
}

static void
hand_over(struct run *r, size_t slot, enum gv_net_side side)
{
	struct gv_net *from = r->part[side != GV_NET_OUTPUT];
	struct gv_net *to = r->part[side == GV_NET_OUTPUT];
	size_t row[64], n, k;

	gv_net_boundary(from, r->cut[1], row, &n);
	for (k = 0; k < n; k++) {
		gv_real *v = gv_xcalloc(gv_net_row_size(from, row[k]), sizeof(*v));

		gv_net_get_row(from, slot, row[k], side, v);
		gv_net_put_row(to, slot, row[k], side, v);
		free(v);
	}
}

static struct gv_net_work
work(const struct run *r, size_t s, size_t slot)
{
	return (struct gv_net_work){.first = r->cut[s],
	    .last = r->cut[s + 1],
	    .slot = slot,
	    .version = gv_net_version(r->part[s], 1)};
}

/* Updates [from, to): gradients at the version before the newest, which moves on. */
static void
go_on(struct run *r, size_t from, size_t to)
{
	size_t n = r->f->c->batch, t, m, s;
	double loss[HELP_MODELS];

	for (t = from; t < to; t++) {
		draw(r->f, t);
		for (m = 0; m < MICRO; m++)
			for (s = 0; s < r->parts; s++) {
				struct gv_net_work w = work(r, s, m);

				if (s > 0)
					hand_over(r, m, GV_NET_OUTPUT);
				gv_net_load(r->part[s], m, r->f->x + m * n * r->f->size,
				    r->f->target + m * n * r->f->bytes);
				gv_net_forward(r->part[s], &w);
			}
		for (m = 0; m < MICRO; m++)
			for (s = r->parts; s-- > 0;) {
				struct gv_net_work w = work(r, s, m);

				gv_net_backward(r->part[s], &w);
				gv_net_gradients(r->part[s], &w, m == 0);
				if (s > 0)
					hand_over(r, m, GV_NET_GRADIENT);
			}
		for (s = 0; s < r->parts; s++) {
			gv_net_sum(r->part[s], loss);
			gv_net_advance(r->part[s], gv_net_version(r->part[s], 0),
			    gv_net_version(r->part[s], 1));
		}
	}
}

/* The file of part s, and what it belongs to. */
static struct gv_ckpt_key
key_of(const struct run *r, size_t s, char path[64], char lines[64])
{
	static const char *const models[] = {"first", "second", "third"};

	snprintf(path, 64, "%s/%zu", dir, s);
	snprintf(lines, 64, "rows %zu %zu\n", r->cut[s], r->cut[s + 1]);
	return (struct gv_ckpt_key){lines, r->f->c->models, models};
}

static void
save(struct run *r)
{
	bool diverged[HELP_MODELS] = {false};
	struct gv_error e = {0};
	char path[64], lines[64];
	size_t s;

	for (s = 0; s < r->parts; s++) {
		struct gv_ckpt_key key = key_of(r, s, path, lines);

		if (gv_ckpt_write(path, r->part[s], &key, diverged, &e) != 0)
			gv_die_error(&e);
	}
}

static void
load(struct run *r)
{
	bool diverged[HELP_MODELS], damaged;
	struct gv_error e = {0};
	char path[64], lines[64];
	size_t s;

	for (s = 0; s < r->parts; s++) {
		struct gv_ckpt_key key = key_of(r, s, path, lines);

		if (gv_ckpt_read(path, r->part[s], &key, diverged, &damaged, &e) !=
		    GV_CKPT_READ)
			gv_die_error(&e);
	}
}

static size_t
other_than(const struct run *a, const struct run *b)
{
	size_t s, n = 0;

	for (s = 0; s < a->parts; s++)
		n += differences(a->f, a->part[s], b->part[s]);
	return n;
}

static void
test_resume(size_t i, size_t parts)
{
	struct fixture f;
	struct run whole, begun, again;
	size_t t, wrong = 0;

	open_fixture(&f, i);
	f.config.micro_batches = f.config.slots = MICRO;
	f.config.versions = 2;
	open_run(&whole, &f, parts);
	go_on(&whole, 0, UPDATES);
	for (t = 0; t <= UPDATES; t++) {
		open_run(&begun, &f, parts);
		go_on(&begun, 0, t);
		save(&begun);
		close_run(&begun);
		open_run(&again, &f, parts);
		load(&again);
		go_on(&again, t, UPDATES);
		wrong += other_than(&whole, &again);
		close_run(&again);
	}
	is_int(wrong, 0, "%s, parts: %zu: ended after any update and begun again",
	    f.c->name, parts);
	close_run(&whole);
	close_fixture(&f);
}

/* The older version counts: without it the run is another. */
static void
test_it_counts(void)
{
	struct fixture f;
	struct run whole, again;
	gv_real *v;

	open_fixture(&f, 2);
	f.config.optimiser = GV_SGD; /* params, momentum, params.1 */
	f.config.micro_batches = f.config.slots = MICRO;
	f.config.versions = 2;
	open_run(&whole, &f, 1);
	go_on(&whole, 0, 3);
	save(&whole);
	open_run(&again, &f, 1);
	load(&again);
	is_int(other_than(&whole, &again), 0, "all versions are read");
	v = help_array(again.part[0], 0, 0);
	gv_net_put(again.part[0], 2, 0, v);
	free(v);
	go_on(&whole, 3, 4);
	go_on(&again, 3, 4);
	ok(other_than(&whole, &again) > 0, "and the older one counts");
	close_run(&whole);
	close_run(&again);
	close_fixture(&f);
}

/* A part's file is not another part's. */
static void
test_wrong_part(void)
{
	struct fixture f;
	struct run r;
	bool diverged[HELP_MODELS], damaged;
	struct gv_error e = {0};
	char path[64], lines[64], other[64];
	struct gv_ckpt_key key;

	open_fixture(&f, 2);
	f.config.versions = 2;
	open_run(&r, &f, 2);
	save(&r);
	key = key_of(&r, 1, path, lines);
	key_of(&r, 0, path, other);
	is_int(gv_ckpt_read(path, r.part[1], &key, diverged, &damaged, &e), GV_CKPT_ERROR,
	    "another part's file");
	ok(e.count == 1 && strstr(e.text[0], "of another run: it has") != NULL,
	    "is named: %s", e.text[0]);
	close_run(&r);
	close_fixture(&f);
}

int
main(void)
{
	static const size_t some[] = {2, 3, 10, 17, 21, 24};
	char path[64];
	size_t i, parts;

	gv_init("ckpt_versions");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("cannot make %s", dir);
	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (parts = 1; parts <= PARTS; parts++)
			test_resume(some[i], parts);
	test_it_counts();
	test_wrong_part();
	for (i = 0; i < 2 * PARTS; i++) {
		snprintf(
		    path, sizeof(path), "%s/%zu%s", dir, i / 2, i % 2 == 0 ? "" : ".old");
		unlink(path);
	}
	rmdir(dir);
	return done_testing();
}
