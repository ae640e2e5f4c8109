#include "gavel.h"

#include <string.h>

#include "base/num.h"

enum {
	TYPE,
	COMMAND,
	DIRECTORY,
	OPTION,
	DATA,
	STEPS,
	SCALE,
	PRIORITY,
	SLO,
	ARRIVAL,
	N_COLUMNS
};

static const struct wanted columns[N_COLUMNS] = {
    [TYPE] = {{"job_type"}, true},
    [COMMAND] = {{"command"}, true},
    [DIRECTORY] = {{"working_directory"}, true},
    [OPTION] = {{"num_steps_arg"}, true},
    [DATA] = {{"needs_data_dir"}, true},
    [STEPS] = {{"total_steps"}, true},
    [SCALE] = {{"scale_factor"}, true},
    [PRIORITY] = {{"priority_weight"}, true},
    [SLO] = {{"SLO"}, true},
    [ARRIVAL] = {{"arrival_time"}, true},
};

/* Where each column stands in a line of so many cells; -1 = nowhere. */
static const struct {
	size_t n_cells;
	ptrdiff_t at[N_COLUMNS];
} layouts[] = {
    {10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {9, {0, 1, -1, 2, 3, 4, 5, 6, 7, 8}},
    {7, {0, 1, -1, 2, 3, 4, 6, -1, -1, 5}},
};

int
gavel_open(struct source *s, const char *path, struct gv_error *e)
{
	return source_bare(s, path, '\t', columns, N_COLUMNS, e);
}

static int
find_layout(struct source *s, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].n_cells == s->n_cells) {
			memcpy(s->at, layouts[i].at, sizeof(layouts[i].at));
			return 0;
		}
	return gv_error_at(e, s->file, s->line, NULL,
	    "expected 10, 9 or 7 cells between tabs, got %zu", s->n_cells);
}

/* A cell as it stands, which must be a number in [min, max]; whole where asked. */
static int
number(const struct source *s, size_t k, double min, bool whole, struct gv_cell *c,
    struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	int64_t i;
	double v;

	*c = source_cell(s, k);
	if (!source_has(s, k))
		return 0;
	if (gv_parse_double(c->s, c->len, &v) == 0 && v >= min &&
	    (!whole || (gv_parse_int(c->s, c->len, &i) == 0 && i <= 1000000)))
		return 0;
	return source_error(s, k, e, "expected a %snumber >= %g, got %s",
	    whole ? "whole " : "", min, gv_quote(q, c->s, c->len));
}

int
gavel_next(struct source *s, struct gavel_job *job, struct gv_error *e)
{
	struct gv_cell data;
	char q[GV_QUOTE_LEN];
	double slo = 0;
	int rc = source_next(s, e);

	if (rc != 1)
		return rc;
	if (find_layout(s, e) != 0)
		return -1;
	job->job_type = source_cell(s, TYPE);
	job->command = source_cell(s, COMMAND);
	job->working_directory = source_cell(s, DIRECTORY);
	job->steps_option = source_cell(s, OPTION);
	data = source_cell(s, DATA);
	job->needs_data = gv_cell_is(data, "1");
	rc = 0;
	if (!job->needs_data && !gv_cell_is(data, "0"))
		rc = source_error(
		    s, DATA, e, "expected 0 or 1, got %s", gv_quote(q, data.s, data.len));
	if (job->job_type.len == 0)
		rc =
		    source_error(s, TYPE, e, "expected the name of a job type, got \"\"");
	rc |= number(s, STEPS, 0, false, &job->total_steps, e);
	rc |= number(s, SCALE, 1, true, &job->scale_factor, e);
	rc |= number(s, PRIORITY, 0, false, &job->priority_weight, e);
	rc |= number(s, ARRIVAL, 0, false, &job->arrival_s, e);
	rc |= number(s, SLO, -1, false, &job->slo_factor, e);
	if (rc != 0)
		return -1;
	if (source_has(s, SLO))
		gv_parse_double(job->slo_factor.s, job->slo_factor.len, &slo);
	if (!(slo > 0))
		job->slo_factor = (struct gv_cell){"", 0};
	return 1;
}
