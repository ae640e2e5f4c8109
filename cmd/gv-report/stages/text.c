/* The report of a plan's stages in words and tables. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/num.h"
#include "draw/svg.h"
#include "gv-report/page/grid.h"
#include "gv-report/page/page.h"
#include "stages.h"

/* ---- for people ---- */

static void
counts(struct gv_strbuf *b, const struct stages *s)
{
	gv_strbuf_fmt(b, "%zu stage%s on %lld GPU%s", s->n_stages,
	    s->n_stages == 1 ? "" : "s", (long long)s->gpus, s->gpus == 1 ? "" : "s");
}

/* A line of the summary; the text comes from a table. */
static void
line(struct gv_out *out, const char *label, const char *text, bool html)
{
	struct gv_svg v = {.out = out};

	if (!html) {
		grid_line(label, text, out);
		return;
	}
	gv_svg_open(&v, "dt");
	gv_svg_str(&v, label);
	gv_svg_close(&v);
	gv_svg_open(&v, "dd");
	gv_svg_str(&v, text);
	gv_svg_close(&v);
}

static void
summary(struct gv_out *out, const struct stages *s, int digits, bool html)
{
	struct stages_unit unit = stages_unit(s);
	const struct stage *slowest = &s->stage[s->slowest];
	struct gv_strbuf b = {0};
	char num[FIXED_LEN], bytes[GV_NUM_LEN];

	if (s->n == 0)
		return;
	gv_strbuf_fmt(&b, "%s %s a minibatch",
	    fixed(num, slowest->place_s / unit.s, digits), unit.name);
	if (slowest->place >= 0)
		gv_strbuf_fmt(
		    &b, ": the stages of place %lld", (long long)slowest->place);
	else
		gv_strbuf_fmt(&b, ": stage %lld", (long long)slowest->stage);
	if (s->levels > 1)
		gv_strbuf_fmt(&b, " of level %lld", (long long)slowest->level);
	gv_strbuf_str(&b, slowest->place >= 0 ? ", one after the other"
			  : s->whole          ? ", limited by "
			  : s->typed ? ", its computing alone, at the profile's speed"
				     : ", its computing alone");
	if (s->whole && slowest->place < 0)
		text_add(&b, slowest->limit.s, slowest->limit.len);
	line(out, "slowest", b.s, html);
	gv_strbuf_clear(&b);
	gv_strbuf_fmt(&b, "computing %s %% of the time in a full pipeline",
	    fixed(num, 100 * s->busy_share, digits));
	line(out, "GPUs", b.s, html);
	if (s->fullest < s->n) {
		gv_strbuf_clear(&b);
		gv_strbuf_fmt(&b, "%s on each GPU of stage %lld, the fullest",
		    gv_show_bytes(bytes, s->stage[s->fullest].memory),
		    (long long)s->stage[s->fullest].stage);
		line(out, "memory", b.s, html);
	}
	gv_strbuf_free(&b);
}

/* A stage's layers: "conv1 ... pool". */
static void
layers(struct grid *g, const struct stage *stage)
{
	struct gv_strbuf b = {0};

	gv_strbuf_add(&b, stage->first.s, stage->first.len);
	if (stage->layers > 1) {
		gv_strbuf_str(&b, " ... ");
		gv_strbuf_add(&b, stage->last.s, stage->last.len);
	}
	grid_text(g, b.s, b.len);
	gv_strbuf_free(&b);
}

/* Its load beside the slowest of its level: "#####". */
static void
bar(struct grid *g, const struct stages *s, const struct stage *stage)
{
	char text[] = "####################";
	double most = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->stage[i].level == stage->level)
			most = fmax(most, s->stage[i].load_s);
	if (most > 0)
		text[(size_t)ceil(20 * stage->load_s / most - 1e-9)] = '\0';
	grid_str(g, most > 0 ? text : "");
}

static void
times(struct grid *g, const struct stages *s, const struct stage *stage, int digits)
{
	double unit_s = stages_unit(s).s;
	int k;

	for (k = 0; k < STAGE_PARTS && s->whole; k++)
		grid_number(g, stage->part_s[k] / unit_s, digits);
	grid_number(g, stage->load_s / unit_s, digits);
}

enum { GRID_COLUMNS = 16 }; /* at most */

static void
column_head(struct grid *g, bool right[GRID_COLUMNS], const char *name, bool is_right)
{
	right[g->n] = is_right;
	grid_str(g, name);
}

/* The first row; *right says which columns are numbers. */
static void
table_head(struct grid *g, bool right[GRID_COLUMNS], const struct stages *s)
{
	const char *unit = stages_unit(s).name;
	char text[32];
	size_t k;

	if (s->levels > 1)
		column_head(g, right, "level", true);
	column_head(g, right, "stage", true);
	column_head(g, right, "layers", true);
	column_head(g, right, "from ... to", false);
	column_head(g, right, "replicas", true);
	column_head(g, right, "GPUs", true);
	if (s->typed)
		column_head(g, right, "type", false);
	for (k = s->whole ? 0 : STAGE_PARTS; k <= STAGE_PARTS; k++) {
		snprintf(text, sizeof(text), "%s %s",
		    k < STAGE_PARTS ? stage_part_name[k] : "load", unit);
		column_head(g, right, text, true);
	}
	if (s->whole)
		column_head(g, right, "limit", false);
	column_head(g, right, "weights", true);
	if (s->whole)
		column_head(g, right, "memory", true);
	column_head(g, right, "load", false);
	g->n_columns = g->n;
}

static void
bytes_cell(struct grid *g, double bytes)
{
	char text[GV_NUM_LEN];

	if (isnan(bytes))
		grid_text(g, NULL, 0);
	else
		grid_str(g, gv_show_bytes(text, bytes));
}

static void
table_row(struct grid *g, const struct stages *s, const struct stage *stage, int digits)
{
	if (s->levels > 1)
		grid_number(g, (double)stage->level, 0);
	grid_number(g, (double)stage->stage, 0);
	grid_number(g, (double)stage->layers, 0);
	layers(g, stage);
	grid_number(g, (double)stage->replicas, 0);
	grid_number(g, (double)stage->gpus, 0);
	if (s->typed)
		grid_text(g, stage->gpu_type.s, stage->gpu_type.len);
	times(g, s, stage, digits);
	if (s->whole)
		grid_text(g, stage->limit.s, stage->limit.len);
	bytes_cell(g, stage->parameter);
	if (s->whole)
		bytes_cell(g, stage->memory);
	bar(g, s, stage);
}

static void
table(struct gv_out *out, const struct stages *s, int digits, bool html)
{
	bool right[GRID_COLUMNS] = {false};
	struct grid g = {.n_columns = GRID_COLUMNS};
	size_t i;

	table_head(&g, right, s);
	for (i = 0; i < s->n; i++)
		table_row(&g, s, &s->stage[i], digits);
	if (html)
		grid_html(&g, right, out);
	else
		grid_print(&g, right, out);
	grid_free(&g);
}

void
stages_text(struct gv_out *out, const struct stages *s, int digits)
{
	struct gv_strbuf b = {0};

	counts(&b, s);
	gv_out_fmt(out, "%s\n", b.s);
	summary(out, s, digits, false);
	gv_out_char(out, '\n');
	table(out, s, digits, false);
	gv_strbuf_free(&b);
}

void
stages_html(struct gv_out *out, const struct stages *s, int digits)
{
	struct gv_strbuf b = {0};

	counts(&b, s);
	page_begin(out, b.s, b.len);
	stages_svg(out, s, digits);
	gv_out_str(out, "<h2>Summary</h2>\n<dl>\n");
	summary(out, s, digits, true);
	gv_out_str(out, "</dl>\n<h2>Stages</h2>\n");
	table(out, s, digits, true);
	page_end(out);
	gv_strbuf_free(&b);
}

/* ---- for machines ---- */

static const char *const column[] = {"level", "stage", "layers", "first_layer",
    "last_layer", "replicas", "gpus", "compute_s", "sync_s", "transfer_s", "load_s",
    "limit", "busy_share", "parameter_bytes", "activation_bytes", "in_flight",
    "memory_bytes", "gpu_type"};
enum {
	LEVEL,
	STAGE,
	LAYERS,
	FIRST,
	LAST,
	REPLICAS,
	GPUS,
	COMPUTE,
	SYNC,
	TRANSFER,
	LOAD,
	LIMIT,
	BUSY,
	PARAMETER,
	ACTIVATION,
	IN_FLIGHT,
	MEMORY,
	GPU_TYPE,
	COLUMNS
};

/* Numbers of a row; texts are NAN. */
static void
values(double v[COLUMNS], const struct stages *s, const struct stage *stage)
{
	v[LEVEL] = (double)stage->level;
	v[STAGE] = (double)stage->stage;
	v[LAYERS] = (double)stage->layers;
	v[FIRST] = v[LAST] = v[LIMIT] = v[GPU_TYPE] = NAN;
	v[REPLICAS] = (double)stage->replicas;
	v[GPUS] = (double)stage->gpus;
	v[COMPUTE] = stage->part_s[PART_COMPUTE];
	v[SYNC] = stage->part_s[PART_SYNC];
	v[TRANSFER] = stage->part_s[PART_TRANSFER];
	v[LOAD] = stage->load_s;
	v[BUSY] = stage->level == 1 ? stage_busy(s, stage) : NAN;
	v[PARAMETER] = stage->parameter;
	v[ACTIVATION] = stage->activation;
	v[IN_FLIGHT] = stage->in_flight;
	v[MEMORY] = stage->memory;
}

static const struct gv_cell *
text_of(const struct stage *stage, int k)
{
	return k == FIRST      ? &stage->first
	       : k == LAST     ? &stage->last
	       : k == LIMIT    ? &stage->limit
	       : k == GPU_TYPE ? &stage->gpu_type
			       : NULL;
}

void
stages_table(struct gv_out *out, const struct stages *s, bool tsv)
{
	double v[COLUMNS];
	struct gv_tabw w;
	size_t i;
	int k;

	gv_tabw_init(&w, out, tsv);
	for (k = 0; k < COLUMNS; k++)
		gv_tabw_str(&w, column[k]);
	gv_tabw_end(&w);
	for (i = 0; i < s->n; i++) {
		values(v, s, &s->stage[i]);
		for (k = 0; k < COLUMNS; k++)
			if (text_of(&s->stage[i], k) != NULL)
				gv_tabw_cell(&w, *text_of(&s->stage[i], k));
			else
				gv_tabw_double(&w, v[k]);
		gv_tabw_end(&w);
	}
}

static void
json_row(struct gv_json *j, const struct stages *s, const struct stage *stage)
{
	double v[COLUMNS];
	int k;

	values(v, s, stage);
	gv_json_object(j, true);
	for (k = 0; k < COLUMNS; k++) {
		const struct gv_cell *c = text_of(stage, k);

		gv_json_key(j, column[k]);
		if (c == NULL)
			gv_json_double(j, v[k]);
		else if (c->len > 0)
			gv_json_str(j, c->s, c->len);
		else
			gv_json_null(j);
	}
	gv_json_end(j);
}

void
stages_json(struct gv_out *out, const struct stages *s)
{
	struct gv_json j = {.out = out};
	size_t i;

	gv_json_object(&j, false);
	gv_json_key(&j, "gpus");
	gv_json_int(&j, s->gpus);
	gv_json_key(&j, "slowest_s");
	gv_json_double(&j, s->n > 0 ? s->stage[s->slowest].place_s : NAN);
	gv_json_key(&j, "busy_share");
	gv_json_double(&j, s->busy_share);
	gv_json_key(&j, "stages");
	gv_json_array(&j, false);
	for (i = 0; i < s->n; i++)
		json_row(&j, s, &s->stage[i]);
	gv_json_end(&j);
	gv_json_end(&j);
}
