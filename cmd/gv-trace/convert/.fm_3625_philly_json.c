/* cluster_job_log of the Philly traces (Jeon et al., USENIX ATC 2019). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "formats.h"
#include "base/json_in.h"

struct reader {
	struct gv_json_in json;
	struct traced_list *list;
	struct gv_arena texts; /* of the present job */
};

static int
expected(struct reader *r, const char *key, const char *what, struct gv_error *e)
{
	return gv_error_at(
	    e, gv_in_name(r->json.in), r->json.line, key, "expected %s", what);
}

/* The value behind a key as a text, kept; null is none. */
static int
read_text(struct reader *r, const char *key, struct gv_cell *text, struct gv_error *e)
{
	enum gv_json_token t = gv_json_in_next(&r->json, e);

	if (t == GV_JSON_ERROR)
		return -1;
	if (t == GV_JSON_NULL)
		return 0;
	if (t != GV_JSON_STRING && t != GV_JSON_NUMBER)
		return expected(r, key, "a text", e);
	*text = (struct gv_cell){
	    gv_arena_strndup(&r->texts, r->json.text.s, r->json.text.len),
	    r->json.text.len};
	return 0;
}

/* As a date; null, "" and "None" are NAN. */
static int
read_date(struct reader *r, const char *key, double *v, struct gv_error *e)
{
	enum gv_json_token t = gv_json_in_next(&r->json, e);
	char q[GV_QUOTE_LEN];

	*v = NAN;
	if (t == GV_JSON_ERROR)
		return -1;
	if (t == GV_JSON_NULL ||
	    (t == GV_JSON_STRING &&
		(r->json.text.len == 0 || strcmp(r->json.text.s, "None") == 0)))
		return 0;
	if ((t == GV_JSON_STRING || t == GV_JSON_NUMBER) &&
	    gv_parse_time(r->json.text.s, v) == 0)
		return 0;
	if (t != GV_JSON_STRING)
		return expected(r, key, "a date", e);
	return gv_error_at(e, gv_in_name(r->json.in), r->json.line, key,
	    "expected a date such as 2017-10-07 01:12:09, got %s",
	    gv_quote(q, r->json.text.s, r->json.text.len));
}

/*
 * The next key of an object: 1, 0 at its end, -1.  The text of the key stays in
 * json.text until the next token.
 */
static int
next_key(struct reader *r, struct gv_error *e)
{
	switch (gv_json_in_next(&r->json, e)) {
	case GV_JSON_KEY:
		return 1;
	case GV_JSON_OBJECT_END:
		return 0;
	default:
		return -1;
	}
}

/* The next element of an array that must hold objects: 1, 0 at its end, -1. */
static int
next_object(struct reader *r, const char *key, struct gv_error *e)
{
	switch (gv_json_in_next(&r->json, e)) {
	case GV_JSON_OBJECT:
		return 1;
	case GV_JSON_ARRAY_END:
		return 0;
	case GV_JSON_ERROR:
		return -1;
	default:
		return expected(r, key, "an object", e);
	}
}

/* Into an array: 1; of null 0; else -1. */
static int
open_array(struct reader *r, const char *key, struct gv_error *e)
{
	switch (gv_json_in_next(&r->json, e)) {
	case GV_JSON_ARRAY:
		return 1;
	case GV_JSON_NULL:
		return 0;
	case GV_JSON_ERROR:
		return -1;
	default:
		return expected(r, key, "an array", e);
	}
}

static int
skip_value(struct reader *r, struct gv_error *e)
{
	return gv_json_in_skip(&r->json, gv_json_in_next(&r->json, e), e);
}

static int
count_gpus(struct reader *r, int64_t *gpus, struct gv_error *e)
{
	enum gv_json_token t;
	int rc = open_array(r, "gpus", e);

	if (rc != 1)
		return rc;
	while ((t = gv_json_in_next(&r->json, e)) != GV_JSON_ARRAY_END) {
		if (gv_json_in_skip(&r->json, t, e) != 0)
			return -1;
		++*gpus;
	}
	return 0;
}

/* "detail": the servers of an attempt. */
static int
read_detail(struct reader *r, int64_t *gpus, struct gv_error *e)
{
	int rc = open_array(r, "detail", e);

	if (rc != 1)
		return rc;
	while ((rc = next_object(r, "detail", e)) == 1) {
		while ((rc = next_key(r, e)) == 1) {
			if (strcmp(r->json.text.s, "gpus") == 0)
				rc = count_gpus(r, gpus, e);
			else
				rc = skip_value(r, e);
			if (rc != 0)
				return -1;
		}
		if (rc != 0)
			return -1;
	}
	return rc;
}

static int
read_attempt(struct reader *r, struct traced *job, struct gv_error *e)
{
	double start = NAN, end = NAN;
	int64_t gpus = 0;
	int rc;

	while ((rc = next_key(r, e)) == 1) {
		if (strcmp(r->json.text.s, "start_time") == 0)
			rc = read_date(r, "start_time", &start, e);
		else if (strcmp(r->json.text.s, "end_time") == 0)
			rc = read_date(r, "end_time", &end, e);
		else if (strcmp(r->json.text.s, "detail") == 0)
			rc = read_detail(r, &gpus, e);
		else
			rc = skip_value(r, e);
		if (rc != 0)
			return -1;
	}
	if (job->gpus == 0)
		job->gpus = gpus;
	if (!isnan(end + start))
		job->duration_s = (isnan(job->duration_s) ? 0 : job->duration_s) +
				  (end > start ? end - start : 0);
	return rc;
}

static int
read_attempts(struct reader *r, struct traced *job, struct gv_error *e)
{
	int rc = open_array(r, "attempts", e);

	if (rc != 1)
		return rc;
	while ((rc = next_object(r, "attempts", e)) == 1)
		if (read_attempt(r, job, e) != 0)
			return -1;
	return rc;
}

static int
read_job(struct reader *r, struct gv_error *e)
{
	struct traced job = {.arrival_s = NAN, .duration_s = NAN, .line = r->json.line};
	int rc;

	while ((rc = next_key(r, e)) == 1) {
		const char *key = r->json.text.s;

		if (strcmp(key, "jobid") == 0)
			rc = read_text(r, "jobid", &job.id, e);
		else if (strcmp(key, "vc") == 0)
			rc = read_text(r, "vc", &job.entity, e);
		else if (strcmp(key, "user") == 0)
			rc = read_text(r, "user", &job.user, e);
		else if (strcmp(key, "status") == 0)
			rc = read_text(r, "status", &job.status, e);
		else if (strcmp(key, "submitted_time") == 0)
			rc = read_date(r, "submitted_time", &job.arrival_s, e);
		else if (strcmp(key, "attempts") == 0)
			rc = read_attempts(r, &job, e);
		else
			rc = skip_value(r, e);
		if (rc != 0)
			return -1;
	}
	if (rc == 0)
		traced_add(r->list, job, gv_cell_is(job.status, "Pass"));
	gv_arena_free(&r->texts);
	return rc;
}

static int
read_log(struct reader *r, struct gv_error *e)
{
	int rc;

	if (gv_json_in_next(&r->json, e) != GV_JSON_ARRAY)
		return e->count > 0 ? -1 : expected(r, NULL, "an array of jobs", e);
	while ((rc = next_object(r, "a job", e)) == 1)
		if (read_job(r, e) != 0)
			return -1;
	if (rc == 0 && gv_json_in_next(&r->json, e) != GV_JSON_END)
		return -1;
	return rc;
}

int
philly_json_read(struct traced_list *l, const char *path, struct gv_error *e)
{
	struct reader *r = gv_xcalloc(1, sizeof(*r));
	struct gv_in *in;
	int rc = -1;

	r->list = l;
	if (gv_in_open(&in, path, e) == 0) {
		gv_json_in_start(&r->json, in);
		rc = read_log(r, e);
		gv_json_in_free(&r->json);
		gv_arena_free(&r->texts);
		gv_in_close(in);
	}
	free(r);
	return rc;
}
