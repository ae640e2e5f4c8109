#include "gpus.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "table/kind.h"

const char *const precision_name[PRECISIONS] = {"bf16", "fp16", "fp32"};

/* A column of numbers and where it goes. */
struct column {
	const char *name;
	size_t offset;    /* in struct gpu_type */
	double otherwise; /* NAN: must be there */
	double most;
};

static const struct column columns[] = {
    {"memory_bytes", offsetof(struct gpu_type, memory), NAN, 1e18},
    {"memory_bytes_per_s", offsetof(struct gpu_type, memory_bytes_per_s), NAN, 1e18},
    {"bf16_flops_per_s", offsetof(struct gpu_type, flops_per_s[PRECISION_BF16]), 0, 1e21},
    {"fp16_flops_per_s", offsetof(struct gpu_type, flops_per_s[PRECISION_FP16]), 0, 1e21},
    {"fp32_flops_per_s", offsetof(struct gpu_type, flops_per_s[PRECISION_FP32]), 0, 1e21},
    {"node_gpus", offsetof(struct gpu_type, node_gpus), 8, 1e6},
    {"link_bytes_per_s", offsetof(struct gpu_type, link_bytes_per_s), NAN, 1e18},
    {"network_bytes_per_s", offsetof(struct gpu_type, network_bytes_per_s), NAN, 1e18},
    {"gemm_share", offsetof(struct gpu_type, gemm_share), NAN, 1},
    {"memory_share", offsetof(struct gpu_type, memory_share), NAN, 1},
    {"link_share", offsetof(struct gpu_type, link_share), NAN, 1}};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static int
read_row(struct gpu_types *g, size_t row, const ptrdiff_t *at, struct gv_error *e)
{
	struct gpu_type *t = &g->type[row];
	struct gv_cell shown;
	double v;
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		if (gv_frame_double(&g->rows, row, at[i], columns[i].otherwise, &v, e) !=
		    0)
			return -1;
		shown = gv_frame_cell(&g->rows, row, at[i]);
		if (shown.len > 0 && (v <= 0 || v > columns[i].most))
			return gv_frame_expected(&g->rows, row, at[i], e,
			    "a number over 0 and up to %g", columns[i].most);
		memcpy((char *)t + columns[i].offset, &v, sizeof(v));
	}
	if (t->node_gpus != floor(t->node_gpus))
		return gv_frame_error(&g->rows, row, gv_frame_find(&g->rows, "node_gpus"),
		    e, "expected a whole number, got %g", t->node_gpus);
	t->name = gv_frame_cell(&g->rows, row, gv_frame_find(&g->rows, "gpu_type")).s;
	t->calibrated =
	    gv_frame_cell(&g->rows, row, gv_frame_find(&g->rows, "calibrated_on")).len >
	    0;
	return 0;
}

int
gpu_types_read(struct gpu_types *g, const char *path, struct gv_error *e)
{
	ptrdiff_t at[COLUMNS], name;
	size_t i, j;
	char q[GV_QUOTE_LEN];
	int rc;

	memset(g, 0, sizeof(*g));
	if (gv_frame_load(&g->rows, path, e) != 0)
		return -1;
	rc = gv_frame_expect(&g->rows, GV_KIND_GPU_TYPES, e) != 0 ||
	     gv_frame_require(&g->rows, "gpu_type", &name, e) != 0;
	for (i = 0; i < COLUMNS && rc == 0; i++) {
		at[i] = gv_frame_find(&g->rows, columns[i].name);
		if (isnan(columns[i].otherwise))
			rc = gv_frame_require(&g->rows, columns[i].name, &at[i], e);
	}
	g->n = g->rows.n_rows;
	g->type = gv_xcalloc(g->n + 1, sizeof(*g->type));
	for (i = 0; i < g->n && rc == 0; i++) {
		rc = read_row(g, i, at, e);
		for (j = 0; j < i && rc == 0; j++)
			if (strcmp(g->type[i].name, g->type[j].name) == 0)
				rc = gv_frame_error(&g->rows, i, name, e,
				    "GPU type %s stands at line %ld already",
				    gv_quote(q, g->type[i].name, strlen(g->type[i].name)),
				    g->rows.line[j]);
	}
	if (rc != 0)
		gpu_types_free(g);
	return rc == 0 ? 0 : -1;
}

void
gpu_types_free(struct gpu_types *g)
{
	free(g->type);
	gv_frame_free(&g->rows);
	memset(g, 0, sizeof(*g));
}

/* ---- names ---- */

enum { WORDS = 16 };

struct word {
	const char *s;
	size_t len;
};

/* The words of a name, hyphens between; more than WORDS are left out. */
static size_t
split(struct word word[WORDS], const char *name)
{
	size_t n = 0;

	while (*name != '\0' && n < WORDS) {
		word[n].s = name;
		word[n].len = strcspn(name, "-");
		name += word[n].len;
		name += *name == '-';
		n += word[n].len > 0;
	}
	return n;
}

static bool
same(struct word a, struct word b)
{
	return a.len == b.len && strncasecmp(a.s, b.s, a.len) == 0;
}

/* Whether a word says nothing of how fast it is. */
static bool
is_detail(struct word w)
{
	return strncasecmp(w.s, "sxm", 3) == 0 || strncasecmp(w.s, "hbm", 3) == 0 ||
	       (w.len > 2 && strncasecmp(w.s + w.len - 2, "gb", 2) == 0);
}

/* How many words of the type the name has; 0 when it is not this type. */
static size_t
match(const char *type, const char *name)
{
	struct word a[WORDS], b[WORDS];
	size_t n = split(a, type), m = split(b, name), i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < m && !same(a[i], b[k]); k++)
			;
		if (k == m)
			return 0;
	}
	for (k = 0; k < m; k++) {
		for (i = 0; i < n && !same(a[i], b[k]); i++)
			;
		if (i == n && !is_detail(b[k]))
			return 0;
	}
	return n;
}

const struct gpu_type *
gpu_types_find(const struct gpu_types *g, const char *name)
{
	const struct gpu_type *best = NULL;
	size_t i, words, most = 0;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->type[i].name, name) == 0)
			return &g->type[i];
	for (i = 0; i < g->n; i++) {
		words = match(g->type[i].name, name);
		if (words == 0 || words < most)
			continue;
		best = words > most ? &g->type[i] : NULL;
		most = words;
	}
	return best;
}
