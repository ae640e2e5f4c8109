#include "gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
	char q[GV_QUOTE_LEN];
	double v;
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		if (gv_frame_double(&g->rows, row, at[i], columns[i].otherwise, &v, e) !=
		    0)
			return -1;
		shown = gv_frame_cell(&g->rows, row, at[i]);
		if (shown.len > 0 && (v <= 0 || v > columns[i].most))
			return gv_frame_error(&g->rows, row, at[i], e,
			    "expected a number over 0 and up to %g, got %s",
			    columns[i].most, gv_quote(q, shown.s, shown.len));
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
	int rc = 0;

	memset(g, 0, sizeof(*g));
	if (gv_frame_load(&g->rows, path, e) != 0)
		return -1;
	rc = gv_frame_require(&g->rows, "gpu_type", &name, e);
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
	return rc;
}

void
gpu_types_free(struct gpu_types *g)
{
	free(g->type);
	gv_frame_free(&g->rows);
	memset(g, 0, sizeof(*g));
}

const struct gpu_type *
gpu_types_find(const struct gpu_types *g, const char *name)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->type[i].name, name) == 0)
			return &g->type[i];
	return NULL;
}
