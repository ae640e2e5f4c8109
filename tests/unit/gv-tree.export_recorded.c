/* What gv-tree writes of drawn plans: tables, other programs' formats, ranks, what is said. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "drawn_links.h"
#include "drawn_wish.h"
#include "gv-tree/export/export.h"
#include "gv-tree/hybrid.h"
#include "gv-tree/score.h"
#include "gv-tree/write.h"
#include "recorded_trees.h"

static struct gv_error e;

/* Standard error goes here while something is said. */
static FILE *said;

static void
say_begin(void)
{
	fflush(stderr);
	if (said == NULL || ftruncate(fileno(said), 0) != 0 ||
	    dup2(fileno(said), STDERR_FILENO) < 0)
		abort();
	rewind(said);
}

static void
say_end(struct recorded *r)
{
	char line[1000];

	fflush(stderr);
	rewind(said);
	while (fgets(line, sizeof(line), said) != NULL)
		recorded_text(r, line);
}

static void
recorded_written(struct recorded *r, struct gv_strbuf *s, struct gv_out *out)
{
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s->s != NULL ? s->s : "");
	gv_strbuf_free(s);
}

static void
write_plan(struct recorded *r, const struct plan *p)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_tabw w;
	size_t first = below(3), i;

	write_header(&w, out, below(2) == 0);
	write_trees(&w, p, first, below(3) == 0 ? .25 : 1);
	recorded_written(r, &s, out);
	for (i = 0; i < EXPORTS; i++) {
		gv_error_clear(&e);
		out = gv_out_memory(&s);
		recorded_whole(r, export_write((enum export)i, p, out, &e));
		recorded_error(r, &e);
		recorded_written(r, &s, out);
	}
	say_begin();
	say_plan(p);
	say_end(r);
}

static size_t
ask_plan(struct recorded *r, const struct fabric *f)
{
	struct fabric copy;
	struct plan p = {0};
	struct wish w;
	bool made;

	draw_wish(&w, f);
	gv_error_clear(&e);
	made = plan_check(&w, &e) == 0;
	if (made) {
		fabric_copy(&copy, f);
		made = plan_make(&p, &copy, &w, &e) == 0;
	}
	recorded_error(r, &e);
	if (made)
		write_plan(r, &p);
	plan_free(&p);
	return made;
}

static void
ask_scores(struct recorded *r, const struct fabric *f)
{
	struct scores x;
	struct gv_strbuf s = {0};
	struct gv_out *out;
	size_t k = 1 + below(f->n_gpus + 1);

	gv_error_clear(&e);
	recorded_whole(
	    r, scores_find(&x, f, k, (enum collective)below(COLLECTIVES), NULL, &e));
	recorded_error(r, &e);
	if (e.count == 0) {
		out = gv_out_memory(&s);
		scores_write(out, &x, f, k % 2 == 0);
		recorded_written(r, &s, out);
	}
	scores_free(&x);
}

static void
ask_hybrid(struct recorded *r, const struct gv_frame *frame)
{
	static const double switch_s[] = {0, 0, 1e-6, 1e-3, .1};
	static const int64_t bytes[] = {1, 1000, 1000000, 1000000000};
	struct hybrid h = {.asked = true};
	struct wish w = {.collective = ALL_REDUCE};
	struct gv_strbuf s = {0};
	struct gv_out *out;
	int rc;

	w.collective = (enum collective)below(COLLECTIVES);
	h.switch_s = switch_s[below(5)];
	h.bytes = bytes[below(4)];
	gv_error_clear(&e);
	rc = hybrid_make(&h, frame, NULL, &w, &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc == 0) {
		recorded_double(r, h.slow_part);
		recorded_double(r, h.achieved);
		out = gv_out_memory(&s);
		hybrid_write(out, &h, below(2) == 0);
		recorded_written(r, &s, out);
		say_begin();
		hybrid_say(&h);
		say_end(r);
	}
	hybrid_free(&h);
}

/* A broadcast of so many GPUs, without a tree. */
static void
start_plan(struct plan *p, size_t gpus, enum method method)
{
	size_t i;

	*p = (struct plan){.wish = {.collective = BROADCAST, .method = method},
	    .f = {.n = gpus, .n_gpus = gpus, .unit = 1},
	    .forest = {.unit = {1, 1}}};
	p->f.name = gv_xcalloc(gpus, sizeof(*p->f.name));
	p->f.cap = gv_xcalloc(gpus * gpus, sizeof(*p->f.cap));
	for (i = 0; i < gpus; i++) {
		char name[32];

		snprintf(name, sizeof(name), "gpu%zu", i);
		p->f.name[i] = gv_xstrdup(name);
	}
}

/* A chain through all of them, as NCCL reads it. */
static void
ask_chain(struct recorded *r, size_t gpus)
{
	struct plan p;
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct tree *t;
	size_t i;

	start_plan(&p, gpus, CHAIN);
	t = forest_add(&p.forest, 0, 1, gpus - 1);
	for (i = 1; i < gpus; i++) {
		size_t path[2] = {i - 1, i};

		tree_edge_set(&t->edge[i - 1], path, 2);
	}
	gv_error_clear(&e);
	recorded_whole(r, export_write(EXPORT_NCCL_GRAPH, &p, out, &e));
	recorded_error(r, &e);
	recorded_written(r, &s, out);
	recorded_answer(r, "a chain of %zu", gpus);
	plan_free(&p);
}

/* Stars about GPU 0, of these weights but for the last, which is one more: MSCCL's limits. */
static void
ask_stars(struct recorded *r, size_t gpus, size_t trees, int64_t weight)
{
	struct plan p;
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	size_t i, k;

	start_plan(&p, gpus, FOREST);
	for (k = 0; k < trees; k++) {
		struct tree *t =
		    forest_add(&p.forest, 0, weight + (k + 1 == trees), gpus - 1);

		for (i = 1; i < gpus; i++) {
			size_t path[2] = {0, i};

			tree_edge_set(&t->edge[i - 1], path, 2);
		}
	}
	gv_error_clear(&e);
	recorded_whole(r, export_write(EXPORT_MSCCL, &p, out, &e));
	recorded_error(r, &e);
	recorded_written(r, &s, out);
	recorded_answer(r, "%zu stars of %zu, %lld each", trees, gpus, (long long)weight);
	plan_free(&p);
}

/* More sets than are ranked. */
static void
ask_sets(struct recorded *r, size_t gpus, size_t k)
{
	struct plan p;
	struct scores x;

	start_plan(&p, gpus, FOREST);
	gv_error_clear(&e);
	recorded_whole(r, scores_find(&x, &p.f, k, ALL_REDUCE, NULL, &e));
	recorded_error(r, &e);
	recorded_answer(r, "sets of %zu of %zu", k, gpus);
	scores_free(&x);
	plan_free(&p);
}

static void
ask_limits(struct recorded *r)
{
	size_t i;

	ask_sets(r, 20, 10);
	ask_sets(r, 1000, 3);
	ask_sets(r, 5, 6);

	for (i = 26; i < 30; i++) /* 216 thread blocks */
		ask_stars(r, i, 8, 1);
	for (i = 31; i < 34; i++) /* channels */
		ask_stars(r, 3, i, 1);
	for (i = 15; i < 18; i++) { /* elements: 1024 and 1025 */
		ask_stars(r, 3, 30, 71 * (int64_t)i - 1);
		ask_stars(r, 3, 30, 71 * (int64_t)i);
	}
	ask_stars(r, 2, 14, 71 * 72 - 1);
	ask_stars(r, 2, 14, 71 * 71 - 1);
	for (i = 127; i < 131; i++)
		ask_chain(r, i);
	for (i = 0; i < 3; i++) /* steps of a tree */
		ask_stars(r, 2, 2, 71 * 256 - 2 + (int64_t)i);
}

/* A table, of which plans are made and written. */
static size_t
ask(struct recorded *r, const struct links_drawn *d)
{
	struct gv_strbuf s = {0};
	struct gv_out *out;
	struct gv_frame frame;
	struct fabric f;
	size_t made = 0, i;

	draw_links(&s, d);
	gv_error_clear(&e);
	if (gv_frame_parse(&frame, "links", s.s, s.len, &e) == 0 &&
	    fabric_read(&f, &frame, NULL, NULL, false, &e) == 0) {
		for (i = 0; i < 6 && f.n_gpus >= 2; i++)
			made += ask_plan(r, &f);
		if (f.n_gpus >= 2)
			ask_scores(r, &f);
		if (below(2) == 0) /* links to switches are left out */
			fabric_drop_switches(&f);
		gv_strbuf_clear(&s);
		out = gv_out_memory(&s);
		write_links(out, &frame, &f, below(2) == 0);
		recorded_written(r, &s, out);
		if (d->kinds && f.n_gpus >= 2)
			ask_hybrid(r, &frame);
		fabric_free(&f);
	}
	recorded_error(r, &e);
	gv_frame_free(&frame);
	gv_strbuf_free(&s);
	return made;
}

int
main(void)
{
	struct recorded r;
	struct links_drawn d;
	size_t turn, i, made = 0;

	said = tmpfile();
	recorded_open(&r);
	for (turn = 0; turn < 150; turn++) {
		draws_begin(74, 0, (uint32_t)turn);
		for (i = 0; i < 6; i++) {
			draw_shape(&d, 5, 3);
			if (turn % 3 == 0)
				d.density = 10;
			made += ask(&r, &d);
		}
		recorded_answer(&r, "written %zu", turn);
	}
	ask_limits(&r);
	ok(made > 2000, "%zu plans", made);
	recorded_close(&r);
	return done_testing();
}
