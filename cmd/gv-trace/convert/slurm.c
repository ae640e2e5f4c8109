/* "sacct -P": a line a job, cells separated by |, a header. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "formats.h"
#include "gv-trace/source/source.h"

enum {
	ID,
	NAME,
	ACCOUNT,
	USER,
	STATE,
	SUBMIT,
	START,
	END,
	ELAPSED_RAW,
	ELAPSED,
	TRES,
	N_COLUMNS
};

static const struct wanted columns[N_COLUMNS] = {
    [ID] = {{"JobID", "JobIDRaw"}, true},
    [NAME] = {{"JobName"}, false},
    [ACCOUNT] = {{"Account"}, false},
    [USER] = {{"User"}, false},
    [STATE] = {{"State"}, false},
    [SUBMIT] = {{"Submit", "Eligible"}, true},
    [START] = {{"Start"}, false},
    [END] = {{"End"}, false},
    [ELAPSED_RAW] = {{"ElapsedRaw"}, false},
    [ELAPSED] = {{"Elapsed"}, false},
    [TRES] = {{"AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES"}, true},
};

/* [DD-][HH:]MM:SS, or -1. */
static double
parse_elapsed(struct gv_cell c)
{
	double part[3] = {0, 0, 0}, days = 0;
	size_t n = 0, i = 0;

	for (;;) {
		double v = 0;
		size_t digits = 0;

		while (i < c.len && isdigit((unsigned char)c.s[i])) {
			v = v * 10 + (c.s[i++] - '0');
			digits++;
		}
		if (digits == 0 || digits > 9)
			return -1;
		if (i < c.len && c.s[i] == '-' && n == 0 && days == 0) {
			days = v;
		} else {
			if (n == 3)
				return -1;
			part[n++] = v;
			if (i == c.len)
				break;
			if (c.s[i] != ':')
				return -1;
		}
		i++;
	}
	if (n < 2)
		return -1;
	return days * 86400 + (n == 3 ? part[0] * 3600 + part[1] * 60 + part[2]
				      : part[0] * 60 + part[1]);
}

static int
read_duration(const struct source *s, double *v, struct gv_error *e)
{
	struct gv_cell c = source_cell(s, ELAPSED);
	char q[GV_QUOTE_LEN];
	double start, end;

	if (source_number(s, ELAPSED_RAW, v, e) != 0)
		return -1;
	if (!isnan(*v))
		return 0;
	if (c.len > 0) {
		*v = parse_elapsed(c);
		return *v >= 0 ? 0
			       : source_error(s, ELAPSED, e,
				     "expected a time such as 1-02:03:04, got %s",
				     gv_quote(q, c.s, c.len));
	}
	if (source_time(s, START, &start, e) != 0 || source_time(s, END, &end, e) != 0)
		return -1;
	*v = end - start;
	return 0;
}

/* The number behind the = or : that ends at c.s[at..), in [0, 1e6]; -1 = none. */
static int64_t
number_at(struct gv_cell c, size_t at)
{
	int64_t v;
	size_t len = 0;

	while (at + len < c.len && isdigit((unsigned char)c.s[at + len]))
		len++;
	if (len == 0 || gv_parse_int(c.s + at, len, &v) != 0 || v > 1000000)
		return -1;
	return v;
}

/*
 * GPUs of a list of resources: "gres/gpu=4" (Slurm tells the sum so), else the sum of
 * "gres/gpu:v100=2" and, as older versions have it, "gpu:v100:2", "gpu:2".
 */
static int64_t
parse_gpus(struct gv_cell c)
{
	int64_t typed = 0;
	size_t at = 0;

	while (at < c.len) {
		const char *comma = memchr(c.s + at, ',', c.len - at);
		size_t end = comma != NULL ? (size_t)(comma - c.s) : c.len;
		size_t name =
		    end - at > 5 && memcmp(c.s + at, "gres/", 5) == 0 ? at + 5 : at;
		size_t number = end;
		int64_t n;

		while (number > name && c.s[number - 1] != '=' && c.s[number - 1] != ':')
			number--;
		n = number > name && end - name > 3 &&
			    memcmp(c.s + name, "gpu", 3) == 0 &&
			    (c.s[name + 3] == '=' || c.s[name + 3] == ':')
			? number_at((struct gv_cell){c.s, end}, number)
			: -1;
		if (n >= 0 && c.s[name + 3] == '=')
			return n;
		typed += n > 0 ? n : 0;
		at = end + 1;
	}
	return typed;
}

static void
read_row(struct traced_list *l, const struct source *s, struct gv_error *e)
{
	struct traced job = {.line = s->line};
	struct gv_cell state = source_cell(s, STATE);

	job.id = source_cell(s, ID);
	if (memchr(job.id.s, '.', job.id.len) != NULL)
		return; /* a step of a job */
	if (source_time(s, SUBMIT, &job.arrival_s, e) != 0 ||
	    read_duration(s, &job.duration_s, e) != 0)
		return;
	job.gpus = parse_gpus(source_cell(s, TRES));
	job.name = source_cell(s, NAME);
	job.entity = source_cell(s, ACCOUNT);
	job.user = source_cell(s, USER);
	job.status = state;
	traced_add(l, job, gv_cell_is(state, "COMPLETED"));
}

int
slurm_read(struct traced_list *l, const char *path, struct gv_error *e)
{
	struct source s;

	if (source_lines(&s, path, '|', columns, N_COLUMNS, e) != 0)
		return -1;
	if (s.at[ELAPSED_RAW] < 0 && s.at[ELAPSED] < 0 &&
	    (s.at[START] < 0 || s.at[END] < 0))
		gv_error_at(e, s.file, s.line, NULL,
		    "missing column \"ElapsedRaw\", or \"Elapsed\", or \"Start\" and "
		    "\"End\"");
	while (e->count == 0 && source_next(&s, e) == 1)
		read_row(l, &s, e);
	source_close(&s);
	return e->count > 0 ? -1 : 0;
}
