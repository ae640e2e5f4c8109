#include "fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "table/kind.h"

#define KB_PER_GB 1e6
#define RATE_LIMIT \
	1e4 /* GB/s of a pair: cuts of 1,024 nodes times 1,024 stay below 2^63 */
#define NODES_LIMIT 1024

/* What is known while a table is read; nodes in the order of its rows. */
struct reading {
	struct gv_hash names;
	const struct gv_frame *frame;
	ptrdiff_t src, dst, rate, kind;
	const char *kinds;
	bool others;
	bool *taken; /* [names.n] */
};

int64_t
gcd64(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

void
fabric_free(struct fabric *f)
{
	size_t v;

	for (v = 0; v < f->n; v++)
		free(f->name[v]);
	free(f->name);
	free(f->cap);
	*f = (struct fabric){0};
}

void
fabric_copy(struct fabric *to, const struct fabric *from)
{
	size_t v;

	*to = *from;
	to->name = gv_xcalloc(from->n, sizeof(*to->name));
	for (v = 0; v < from->n; v++)
		to->name[v] = gv_xstrdup(from->name[v]);
	to->cap = gv_xcalloc(from->n * from->n, sizeof(*to->cap));
	memcpy(to->cap, from->cap, from->n * from->n * sizeof(*to->cap));
}

bool
fabric_has_switches(const struct fabric *f)
{
	return f->n > f->n_gpus;
}

void
fabric_scale(struct fabric *f, int64_t k)
{
	size_t i;

	for (i = 0; i < f->n * f->n; i++)
		f->cap[i] *= k;
}

void
fabric_drop_switches(struct fabric *f)
{
	size_t u, v, n = f->n_gpus;

	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++)
			f->cap[u * n + v] =
			    f->cap[u * f->n + v]; /* never behind itself */
	for (v = n; v < f->n; v++)
		free(f->name[v]);
	f->n = n;
}

int64_t
fabric_reduce(struct fabric *f)
{
	int64_t common = 0;
	size_t i;

	for (i = 0; i < f->n * f->n; i++)
		common = gcd64(common, f->cap[i]);
	if (common > 1)
		for (i = 0; i < f->n * f->n; i++)
			f->cap[i] /= common;
	return common > 1 ? common : 1;
}

void
fabric_balance(struct fabric *f)
{
	size_t u, v;

	for (v = f->n_gpus; v < f->n; v++) {
		int64_t rest = 0;

		for (u = 0; u < f->n; u++)
			rest += fabric_cap(f, u, v) - fabric_cap(f, v, u);
		if (rest != 0)
			f->lowered = true;
	}
	for (u = 0; f->lowered && u < f->n; u++)
		for (v = u + 1; v < f->n; v++) {
			int64_t *there = &fabric_cap(f, u, v),
				*back = &fabric_cap(f, v, u);

			*there = *back = *there < *back ? *there : *back;
		}
}

/* ---- reading ---- */

/* The last part of a name. */
static const char *
last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL ? dot + 1 : name;
}

static bool
is_gpu(const char *name)
{
	return strncmp(last_part(name), "gpu", 3) == 0;
}

static int
read_names(struct reading *r, struct gv_error *e)
{
	const struct gv_frame *f = r->frame;
	char q[GV_QUOTE_LEN];
	size_t row;
	int rc = 0;

	for (row = 0; row < f->n_rows; row++) {
		struct gv_cell from = gv_frame_cell(f, row, r->src),
			       to = gv_frame_cell(f, row, r->dst);

		if (from.len == 0 || to.len == 0)
			rc = gv_frame_error(f, row, from.len == 0 ? r->src : r->dst, e,
			    "a node needs a name");
		else if (gv_cell_equal(from, to))
			rc = gv_frame_error(f, row, r->dst, e, "a link from %s to itself",
			    gv_quote(q, to.s, to.len));
		gv_hash_add(&r->names, from.s, from.len);
		gv_hash_add(&r->names, to.s, to.len);
	}
	if (rc == 0 && r->names.n > NODES_LIMIT)
		rc = gv_error_at(e, f->file, 0, NULL, "%zu nodes; at most %d are planned",
		    r->names.n, NODES_LIMIT);
	return rc;
}

/*
 * The GPU of names[0..n) that a word means: by its whole name, or by what stands
 * behind "gpu" where only one has that.  -1 with *e.
 */
static ptrdiff_t
gpu_of_word(const char *option, size_t n, const char *(*name)(const void *, size_t),
    const void *of, const char *s, size_t len, struct gv_error *e)
{
	ptrdiff_t found = -1;
	size_t i, hits = 0;
	char q[GV_QUOTE_LEN];

	for (i = 0; i < n; i++) {
		const char *whole = name(of, i), *part = last_part(whole);

		if (!is_gpu(whole))
			continue;
		if (strlen(whole) == len && memcmp(whole, s, len) == 0)
			return (ptrdiff_t)i;
		if (strlen(part + 3) == len && memcmp(part + 3, s, len) == 0) {
			found = (ptrdiff_t)i;
			hits++;
		}
	}
	if (hits == 1)
		return found;
	return gv_error_set(e,
	    hits == 0 ? "%s: %s: no GPU has that name or number"
		      : "%s: %s: several GPUs have that number; give the whole name",
	    option, gv_quote(q, s, len));
}

static const char *
name_read(const void *of, size_t i)
{
	return ((const struct reading *)of)->names.key[i].s;
}

static const char *
name_of(const void *of, size_t i)
{
	return ((const struct fabric *)of)->name[i];
}

int
fabric_gpu(const struct fabric *f, const char *word, size_t *gpu, struct gv_error *e)
{
	ptrdiff_t k = gpu_of_word("-r", f->n_gpus, name_of, f, word, strlen(word), e);

	*gpu = k < 0 ? 0 : (size_t)k;
	return k < 0 ? -1 : 0;
}

/* Which nodes stay: all, or the GPUs of the list and the switches. */
static int
take(struct reading *r, const char *gpus, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < r->names.n; i++)
		r->taken[i] = gpus == NULL || !is_gpu(r->names.key[i].s);
	for (; gpus != NULL; gpus = *gpus != '\0' ? gpus + 1 : NULL) {
		size_t len = strcspn(gpus, ",;");
		ptrdiff_t k = gpu_of_word("-g", r->names.n, name_read, r, gpus, len, e);
		char q[GV_QUOTE_LEN];

		if (k < 0)
			return -1;
		if (r->taken[k])
			return gv_error_set(
			    e, "-g: %s is named twice", gv_quote(q, gpus, len));
		r->taken[k] = true;
		gpus += len;
	}
	return 0;
}

/* Numbers the nodes that stay, GPUs first; place [names.n], -1 = left out. */
static void
number(struct fabric *f, const struct reading *r, ptrdiff_t *place)
{
	size_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < r->names.n; i++)
			if (r->taken[i] && is_gpu(r->names.key[i].s) == (pass == 0)) {
				place[i] = (ptrdiff_t)f->n;
				f->name[f->n++] = gv_xstrdup(r->names.key[i].s);
			}
		if (pass == 0)
			f->n_gpus = f->n;
	}
}

/* Whether a row is of a kind that counts. */
static bool
counts(const struct reading *r, size_t row)
{
	struct gv_cell kind = gv_frame_cell(r->frame, row, r->kind);
	const char *at = r->kinds;

	for (; at != NULL; at = *at != '\0' ? at + 1 : NULL) {
		size_t len = strcspn(at, ",;");

		if (len > 0 && len <= kind.len && memcmp(at, kind.s, len) == 0)
			return !r->others;
		at += len;
	}
	return r->kinds == NULL || r->others;
}

static int
read_rates(
    struct fabric *f, const struct reading *r, const ptrdiff_t *place, struct gv_error *e)
{
	size_t row;
	int rc = 0;

	for (row = 0; row < r->frame->n_rows; row++) {
		struct gv_cell from = gv_frame_cell(r->frame, row, r->src),
			       to = gv_frame_cell(r->frame, row, r->dst);
		ptrdiff_t u = place[gv_hash_find(&r->names, from.s, from.len)],
			  v = place[gv_hash_find(&r->names, to.s, to.len)];
		double rate;

		if (gv_frame_double(r->frame, row, r->rate, NAN, &rate, e) != 0) {
			rc = -1;
			continue;
		}
		if (!(rate >= 0 && rate <= RATE_LIMIT)) {
			rc = gv_frame_error(r->frame, row, r->rate, e,
			    "expected 0 to %g GB/s", RATE_LIMIT);
			continue;
		}
		if (u < 0 || v < 0 || !counts(r, row))
			continue;
		fabric_cap(f, (size_t)u, (size_t)v) += llround(rate * KB_PER_GB);
		if ((double)fabric_cap(f, (size_t)u, (size_t)v) > RATE_LIMIT * KB_PER_GB)
			return gv_frame_error(r->frame, row, r->rate, e,
			    "the rows of these two nodes add up to more than %g GB/s",
			    RATE_LIMIT);
	}
	return rc;
}

int
fabric_read(struct fabric *f, const struct gv_frame *frame, const char *gpus,
    const char *kinds, bool others, struct gv_error *e)
{
	struct reading r = {.frame = frame, .kinds = kinds, .others = others, .kind = -1};
	ptrdiff_t *place = NULL;
	size_t i;
	int rc = -1;

	*f = (struct fabric){.unit = 1};
	if (gv_frame_expect(frame, GV_KIND_LINKS, e) != 0 ||
	    gv_frame_require(frame, "src", &r.src, e) != 0 ||
	    gv_frame_require(frame, "dst", &r.dst, e) != 0 ||
	    gv_frame_require(frame, "gbytes_per_s", &r.rate, e) != 0 ||
	    (kinds != NULL && gv_frame_require(frame, "kind", &r.kind, e) != 0) ||
	    read_names(&r, e) != 0)
		goto out;
	r.taken = gv_xcalloc(r.names.n + 1, sizeof(*r.taken));
	if (take(&r, gpus, e) != 0)
		goto out;
	place = gv_xcalloc(r.names.n + 1, sizeof(*place));
	for (i = 0; i < r.names.n; i++)
		place[i] = -1;
	f->name = gv_xcalloc(r.names.n + 1, sizeof(*f->name));
	number(f, &r, place);
	f->cap = gv_xcalloc(f->n * f->n + 1, sizeof(*f->cap));
	rc = read_rates(f, &r, place, e);
	if (rc == 0)
		f->unit = fabric_reduce(f);
out:
	gv_hash_free(&r.names);
	free(r.taken);
	free(place);
	if (rc != 0)
		fabric_free(f);
	return rc;
}
