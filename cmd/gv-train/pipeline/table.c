#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "table/tab.h"

/* ---- lanes ---- */

/* The GPU of a step: its number, or where the table has none its stage's. */
static size_t
gpu_of(const struct gv_schedule *s, const size_t *rank, const struct gv_schedule_step *x)
{
	const struct gv_schedule_gpu *g = &s->gpu[x->gpu];

	return g->gpu >= 0 ? (size_t)g->gpu : rank[x->stage] + (size_t)g->replica;
}

struct gv_step *
table_lane(const struct table *t, size_t rank, size_t *n)
{
	struct gv_step *step = gv_xcalloc(t->s.n_steps + 1, sizeof(*step));
	size_t i;

	*n = 0;
	for (i = 0; i < t->s.n_steps; i++) {
		const struct gv_schedule_step *x = &t->s.step[i];

		if (x->gpu != rank)
			continue;
		step[(*n)++] = (struct gv_step){.op = x->op,
		    .stage = (uint32_t)x->stage,
		    .micro_batch = (uint32_t)x->micro_batch,
		    .version = (uint32_t)x->version};
	}
	return step;
}

/* ---- checks ---- */

static int
wrong(struct gv_error *e, const char *path, const struct gv_schedule_step *x,
    const char *what)
{
	GV_HOLDS(x != NULL);
	return gv_error_set(e, "%s:%ld: %s of micro-batch %lld on stage %lld: %s", path,
	    x->line, gv_step_name[x->op], (long long)x->micro_batch, (long long)x->stage,
	    what);
}

/* The steps of a GPU in their order, which is that of their numbers. */
static int
by_number(const void *a, const void *b)
{
	const struct gv_schedule_step *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Numbers in range, and the GPU's number in the place of its index. */
static int
check_steps(struct table *t, const char *path, const struct stages *s, const size_t *rank,
    struct gv_error *e)
{
	size_t i;

	for (i = 0; i < t->s.n_steps; i++) {
		struct gv_schedule_step *x = &t->s.step[i];
		size_t own, gpu;

		if ((size_t)x->stage >= s->n)
			return wrong(e, path, x, "the plan has no such stage");
		if ((uint64_t)x->micro_batch > INT32_MAX || x->version < 0 ||
		    x->version > INT32_MAX)
			return wrong(e, path, x,
			    "a version is missing, or numbers are out of range");
		own = (size_t)x->micro_batch % s->stage[x->stage].replicas;
		gpu = gpu_of(&t->s, rank, x);
		if (gpu != rank[x->stage] + own)
			return wrong(e, path, x, "it is another GPU's");
		x->gpu = gpu;
		if ((uint64_t)x->micro_batch >= t->micro_batches)
			t->micro_batches = (uint64_t)x->micro_batch + 1;
	}
	return t->s.n_steps > 0 ? 0 : gv_error_set(e, "%s: no steps", path);
}

/* What has been done, by micro-batch and stage. */
enum { FORWARD = 1, BACKWARD = 2, WEIGHT = 4 };

static bool
may_go(
    const struct stages *s, const unsigned char *done, const struct gv_schedule_step *x)
{
	size_t i = (size_t)x->micro_batch * s->n + (size_t)x->stage;

	if (x->op == GV_STEP_FORWARD)
		return x->stage == 0 || (done[i - 1] & FORWARD);
	if (x->op == GV_STEP_WEIGHT)
		return done[i] & BACKWARD;
	if (x->op != GV_STEP_BACKWARD)
		return true;
	return (done[i] & FORWARD) &&
	       ((size_t)x->stage + 1 == s->n || (done[i + 1] & BACKWARD));
}

static int
no_way(const char *path, size_t micro_batch, size_t stage, struct gv_error *e)
{
	return gv_error_set(e, "%s: micro-batch %zu does not go through stage %zu", path,
	    micro_batch, stage);
}

/*
 * More micro-batches than steps: of the first so many one does not begin, which is seen without
 * room for all of them.
 */
static int
check_begun(const struct table *t, const char *path, struct gv_error *e)
{
	size_t n = t->s.n_steps, k;
	bool *begun;

	if (t->micro_batches <= n)
		return 0;
	begun = gv_xcalloc(n + 1, sizeof(*begun));
	for (k = 0; k < n; k++) {
		const struct gv_schedule_step *x = &t->s.step[k];

		if (x->op == GV_STEP_FORWARD && x->stage == 0 &&
		    (size_t)x->micro_batch < n)
			begun[x->micro_batch] = true;
	}
	for (k = 0; begun[k];)
		k++;
	free(begun);
	return no_way(path, k, 0, e);
}

/* Goes through all GPUs as far as each can, until all are through. */
static int
check_order(
    const struct table *t, const char *path, const struct stages *s, struct gv_error *e)
{
	size_t places = (size_t)t->micro_batches * s->n, left = t->s.n_steps, i, g;
	unsigned char *done = gv_xcalloc(places, 1);
	size_t *at = gv_xcalloc(t->s.n_gpus, sizeof(*at));
	const struct gv_schedule_step *x = NULL;
	bool moved = true;

	while (moved && left > 0 && e->count == 0)
		for (moved = false, g = 0; g < t->s.n_gpus; g++)
			for (; at[g] < t->s.gpu[g].n; at[g]++, left--, moved = true) {
				unsigned char bit;

				x = &t->s.step[t->s.gpu[g].first + at[g]];
				i = (size_t)x->micro_batch * s->n + (size_t)x->stage;
				if (!may_go(s, done, x))
					break;
				bit = x->op == GV_STEP_FORWARD    ? FORWARD
				      : x->op == GV_STEP_BACKWARD ? BACKWARD
				      : x->op == GV_STEP_WEIGHT   ? WEIGHT
								  : 0;
				if (done[i] & bit)
					wrong(e, path, x, "it is there twice");
				done[i] |= bit;
			}
	if (left > 0 && e->count == 0)
		wrong(e, path, x, "what it needs comes later, or never");
	for (i = 0; i < places && e->count == 0; i++)
		if ((done[i] | WEIGHT) != (FORWARD | BACKWARD | WEIGHT))
			no_way(path, i / s->n, i % s->n, e);
	free(done);
	free(at);
	return e->count == 0 ? 0 : -1;
}

/* ---- what it is ---- */

/*
 * Micro-batches of each stage's first update, over all its replicas; of all where there is
 * none.  Whether there is another one.
 */
static bool
find_together(const struct table *t, uint64_t *first, size_t stages)
{
	bool more = false;
	size_t i;

	for (i = 0; i < t->s.n_steps; i++) {
		const struct gv_schedule_step *x = &t->s.step[i];
		uint64_t n = (uint64_t)x->micro_batch + 1;

		if (x->op != GV_STEP_UPDATE)
			continue;
		more |= x->version > 1;
		if (x->version == 1 && n > first[x->stage])
			first[x->stage] = n;
	}
	for (i = 0; i < stages; i++)
		if (first[i] == 0)
			first[i] = t->micro_batches;
	return more;
}

static int
find_kind(struct table *t, const char *path, const struct stages *s,
    uint64_t micro_batches, struct gv_error *e)
{
	uint64_t *first = gv_xcalloc(s->n + 1, sizeof(*first));
	bool more = find_together(t, first, s->n), own = true, same = true;
	size_t k;

	for (k = 0; k < s->n; k++) {
		same = same && first[k] == first[0];
		own = own && first[k] == s->stage[k].replicas;
	}
	t->together = first[0];
	free(first);
	/* one micro-batch of each replica may be a whole batch */
	own = own && (!same || (micro_batches <= 1 && (more || t->together > 1)));
	t->kind = own ? GV_SCHEDULE_1F1B : !more ? GV_SCHEDULE_FLUSH : GV_SCHEDULE_2BW;
	if (same || own)
		return 0;
	return gv_error_set(e,
	    "%s: updates of as many micro-batches on all stages, or of one on each GPU, "
	    "are expected",
	    path);
}

/* What a replica of a stage has done so far. */
struct tally {
	uint64_t backward, reduced, newest; /* newest: updates */
};

/* Micro-batches of a replica among those of the first updates. */
static uint64_t
share_of(uint64_t micro_batches, size_t replicas, size_t replica)
{
	return (micro_batches + replicas - 1 - replica) / replicas;
}

/* An update, or the sum before it, has all gradients of its micro-batches and no others. */
static const char *
check_closing(const struct gv_schedule_step *x, const struct tally *y, uint64_t together,
    size_t replicas)
{
	uint64_t before = x->op == GV_STEP_REDUCE ? y->reduced : y->newest;
	uint64_t all = share_of(
	    (before + 1) * together, replicas, (size_t)x->micro_batch % replicas);

	if ((uint64_t)x->version != before + 1)
		return "it does not make the version behind the newest";
	if (x->op == GV_STEP_UPDATE && replicas > 1)
		return y->reduced != (uint64_t)x->version
			   ? "the replicas' gradients are not summed before"
			   : NULL;
	if (y->backward != all || (uint64_t)x->micro_batch / together != before)
		return "it is not behind the last of its micro-batches";
	return NULL;
}

static const char *
check_version(
    const struct gv_schedule_step *x, struct tally *y, uint64_t together, size_t replicas)
{
	const char *what = NULL;

	if (x->op == GV_STEP_REDUCE || x->op == GV_STEP_UPDATE)
		what = check_closing(x, y, together, replicas);
	else if (x->op == GV_STEP_WEIGHT &&
		 (uint64_t)x->micro_batch / together <
		     (y->reduced > y->newest ? y->reduced : y->newest))
		what = "its micro-batch is in an update already";
	else if ((uint64_t)x->version > y->newest)
		what = "its version is not made before";
	y->backward += x->op == GV_STEP_BACKWARD;
	y->reduced += x->op == GV_STEP_REDUCE;
	y->newest += x->op == GV_STEP_UPDATE;
	return what;
}

/* Versions are made one by one on each replica, each of as many micro-batches as of all. */
static int
check_versions(
    const struct table *t, const char *path, const struct stages *s, struct gv_error *e)
{
	size_t gpus = 0, i, k, *first = gv_xcalloc(s->n + 1, sizeof(*first));
	struct tally *tally;

	for (k = 0; k < s->n; k++) {
		first[k] = gpus;
		gpus += s->stage[k].replicas;
	}
	tally = gv_xcalloc(gpus, sizeof(*tally));
	for (i = 0; i < t->s.n_steps && e->count == 0; i++) {
		const struct gv_schedule_step *x = &t->s.step[i];
		size_t replicas = s->stage[x->stage].replicas;
		const char *what = check_version(x,
		    &tally[first[x->stage] + (size_t)x->micro_batch % replicas],
		    t->kind == GV_SCHEDULE_1F1B ? replicas : t->together, replicas);

		if (what != NULL)
			wrong(e, path, x, what);
	}
	for (k = 0; k < s->n; k++)
		for (i = first[k]; i < first[k] + s->stage[k].replicas; i++) {
			uint64_t together = t->kind == GV_SCHEDULE_1F1B
						? s->stage[k].replicas
						: t->together;

			if (e->count == 0 &&
			    share_of(together, s->stage[k].replicas, i - first[k]) == 0)
				gv_error_set(e,
				    "%s: stage %zu, replica %zu: no micro-batch of an "
				    "update comes to it",
				    path, k, i - first[k]);
			if (e->count == 0 &&
			    (tally[i].newest + 1) * together <= t->micro_batches)
				gv_error_set(e,
				    "%s: stage %zu, replica %zu: an update is missing",
				    path, k, i - first[k]);
		}
	free(tally);
	free(first);
	return e->count == 0 ? 0 : -1;
}

static void
add_crc(struct table *t)
{
	uLong crc = crc32(0, NULL, 0);
	size_t i;

	for (i = 0; i < t->s.n_steps; i++) {
		const struct gv_schedule_step *x = &t->s.step[i];
		int64_t v[5] = {(int64_t)x->op, (int64_t)x->gpu, x->stage, x->micro_batch,
		    x->version};

		crc = crc32_z(crc, (const Bytef *)v, sizeof(v));
	}
	t->crc = (uint32_t)crc;
}

int
table_read(struct table *t, const char *path, const struct stages *s, const size_t *rank,
    uint64_t micro_batches, struct gv_error *e)
{
	struct gv_tab *tab;
	int status = -1;

	*t = (struct table){0};
	if (gv_tab_open(&tab, path, e) != 0)
		return -1;
	if (gv_tab_table(tab, e) == 1)
		status = gv_schedule_read(&t->s, tab, e);
	gv_tab_close(tab);
	if (status == 0 && t->s.n_steps > 0)
		qsort(t->s.step, t->s.n_steps, sizeof(*t->s.step), by_number);
	if (status != 0 || check_steps(t, path, s, rank, e) != 0 ||
	    check_begun(t, path, e) != 0 || check_order(t, path, s, e) != 0 ||
	    find_kind(t, path, s, micro_batches, e) != 0 ||
	    check_versions(t, path, s, e) != 0) {
		table_free(t);
		return -1;
	}
	add_crc(t);
	return 0;
}

void
table_free(struct table *t)
{
	gv_schedule_free(&t->s);
	*t = (struct table){0};
}
