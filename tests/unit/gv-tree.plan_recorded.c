/* gv-tree's plans of drawn links: each is sound, and what it was. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "drawn_links.h"
#include "drawn_wish.h"
#include "gv-tree/plan/plan.h"
#include "recorded.h"
#include "recorded_trees.h"

/* Plans one wish on a copy; counts what is not as it must be. */
static size_t
plan_one(struct recorded *r, const struct fabric *f, const struct wish *w)
{
	static struct gv_error e;
	struct fabric copy;
	struct plan p = {0};
	size_t wrong = 0;
	int rc;

	gv_error_clear(&e);
	recorded_whole(r, w->collective);
	recorded_whole(r, w->method);
	rc = plan_check(w, &e);
	if (rc == 0) {
		fabric_copy(&copy, f);
		rc = plan_make(&p, &copy, w, &e);
	}
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc == 0) {
		recorded_plan(r, &p);
		wrong = !is_sound(&p.f, &p.forest, p.wish.collective == ALL_REDUCE);
		wrong += p.achieved > p.optimum * (1 + 1e-9);
	}
	plan_free(&p);
	return wrong;
}

/* A table is read and planned on so many times. */
static size_t
plan_drawn(struct recorded *r, const struct links_drawn *d, size_t wishes)
{
	static struct gv_error e;
	struct gv_strbuf s = {0};
	struct gv_frame frame;
	struct fabric f;
	struct wish w;
	size_t wrong = 0;
	int rc;

	gv_error_clear(&e);
	draw_links(&s, d);
	rc = gv_frame_parse(&frame, "links", s.s, s.len, &e);
	if (rc == 0)
		rc = fabric_read(&f, &frame, NULL, NULL, false, &e);
	recorded_error(r, &e);
	if (rc == 0 && f.n_gpus >= 2) {
		recorded_fabric(r, &f);
		for (; wishes > 0; wishes--) {
			draw_wish(&w, &f);
			wrong += plan_one(r, &f, &w);
		}
	}
	if (rc == 0)
		fabric_free(&f);
	gv_frame_free(&frame);
	gv_strbuf_free(&s);
	return wrong;
}

/* Of servers that are joined over several switches: phases, and what else there is for them. */
static size_t
plan_servers(struct recorded *r)
{
	static struct gv_error e;
	struct links_drawn d;
	struct gv_strbuf s = {0};
	struct gv_frame frame;
	struct fabric f;
	struct wish w = {.collective = ALL_REDUCE, .method = PHASES};
	size_t wrong = 0;

	draw_shape(&d, 1, 0);
	d.gpus = 4 + below(5);
	d.servers = 2 + below(2);
	d.switches = 2 + below(3);
	d.density = 3 + below(8);
	draw_links(&s, &d);
	gv_error_clear(&e);
	if (gv_frame_parse(&frame, "links", s.s, s.len, &e) == 0 &&
	    fabric_read(&f, &frame, NULL, NULL, false, &e) == 0) {
		if (f.n_gpus >= 2)
			wrong = plan_one(r, &f, &w);
		fabric_free(&f);
	}
	recorded_error(r, &e);
	gv_frame_free(&frame);
	gv_strbuf_free(&s);
	return wrong;
}

int
main(void)
{
	struct recorded r;
	struct links_drawn d;
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	for (turn = 0; turn < 150; turn++) {
		draws_begin(71, 0, (uint32_t)turn);
		for (i = 0; i < 12; i++) {
			draw_shape(&d, 5, 4);
			wrong += plan_drawn(&r, &d, 6);
		}
		recorded_answer(&r, "plans %zu", turn);
	}
	for (turn = 0; turn < 30; turn++) {
		draws_begin(71, 2, (uint32_t)turn);
		for (i = 0; i < 20; i++) {
			draw_shape(&d, 3, 2);
			d.gpus = 2 + below(2);
			d.switches = 1 + below(2);
			d.rates = below(2) == 0 ? RATES_ONE : RATES_WHOLE;
			wrong += plan_drawn(&r, &d, 4);
		}
		recorded_answer(&r, "small plans %zu", turn);
	}
	for (turn = 0; turn < 100; turn++) {
		draws_begin(71, 1, (uint32_t)turn);
		draw_shape(&d, 12, 4);
		wrong += plan_drawn(&r, &d, 4);
		recorded_answer(&r, "larger plans %zu", turn);
	}
	for (turn = 0; turn < 30; turn++) {
		draws_begin(71, 3, (uint32_t)turn);
		for (i = 0; i < 30; i++)
			wrong += plan_servers(&r);
		recorded_answer(&r, "servers %zu", turn);
	}
	is_int(wrong, 0, "all of them reach all GPUs, pass no link and no bound");
	recorded_close(&r);
	return done_testing();
}
