#include "control.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "spool.h"
#include "submission.h"
#include "submit.h"
#include "table/tab.h"

const char *const control_name[] = {[CONTROL_NONE] = "",
    [CONTROL_CANCEL] = "cancel",
    [CONTROL_HOLD] = "hold",
    [CONTROL_RELEASE] = "release"};

const char control_spool[] = "control";
static const char column_what[] = "request", column_job[] = "job_id";

static char *
path_in(const char *dir, const char *name)
{
	struct gv_strbuf b = {0};

	gv_strbuf_fmt(&b, "%s/%s", dir, name);
	return b.s;
}

/* ---- the user's side ---- */

/* That the run has all these jobs. */
static int
check_known(const char *dir, char *const *job, size_t n, struct gv_error *e)
{
	char *path = path_in(dir, "jobs.csv");
	struct gv_hash ids = {0};
	struct gv_arena arena = {0};
	struct gv_frame f = {0};
	char q[GV_QUOTE_LEN];
	size_t i;
	bool is_read;
	int rc;

	submit_waiting(dir, &ids, &arena);
	if (access(path, F_OK) != 0)
		rc = gv_error_set(e, "%s: holds no run", dir);
	else
		rc = gv_frame_load(&f, path, e);
	is_read = rc == 0;
	submission_ids(&ids, &arena, &f);
	for (i = 0; is_read && i < n; i++)
		if (gv_hash_find(&ids, job[i], strlen(job[i])) < 0)
			rc = gv_error_set(e, "%s: has no job %s", dir,
			    gv_quote(q, job[i], strlen(job[i])));
	gv_hash_free(&ids);
	gv_arena_free(&arena);
	gv_frame_free(&f);
	free(path);
	return rc;
}

int
control_send(const char *dir, enum control_kind kind, char *const *job, size_t n,
    struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_tabw w;
	size_t i;
	int rc = check_known(dir, job, n, e);

	gv_tabw_init(&w, out, false);
	gv_tabw_str(&w, column_what);
	gv_tabw_str(&w, column_job);
	gv_tabw_end(&w);
	for (i = 0; i < n; i++) {
		gv_tabw_str(&w, control_name[kind]);
		gv_tabw_str(&w, job[i]);
		gv_tabw_end(&w);
	}
	rc = gv_out_close(out, e) | rc;
	if (rc == 0)
		rc = spool_put(dir, control_spool, text.s, text.len, NULL, e);
	gv_strbuf_free(&text);
	return rc;
}

/* ---- the run's side ---- */

struct control_request {
	char *name;
	size_t n; /* jobs that are to be cancelled */
	size_t *cancel;
};

void
control_open(struct control *c, const char *state_dir)
{
	*c = (struct control){.dir = gv_xstrdup(state_dir)};
}

static void
forget(struct control *c, size_t i)
{
	free(c->request[i].name);
	free(c->request[i].cancel);
	c->n--;
	memmove(c->request + i, c->request + i + 1, (c->n - i) * sizeof(*c->request));
}

void
control_close(struct control *c)
{
	while (c->n > 0)
		forget(c, c->n - 1);
	free(c->request);
	free(c->dir);
	*c = (struct control){0};
}

static bool
is_taken(const struct control *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (strcmp(c->request[i].name, name) == 0)
			return true;
	return false;
}

/* Does what a row says; an unknown job is somebody's slip, not this run's end. */
static void
obey(struct control_request *r, struct jobs *jobs, struct gv_cell what, struct gv_cell id)
{
	ptrdiff_t m = gv_hash_find(&jobs->names.ids, id.s, id.len);
	char q[2][GV_QUOTE_LEN];

	if (m >= 0 && gv_cell_is(what, control_name[CONTROL_HOLD])) {
		gv_life_hold(&jobs->life, (size_t)m, "asked for");
	} else if (m >= 0 && gv_cell_is(what, control_name[CONTROL_RELEASE])) {
		gv_life_release(&jobs->life, (size_t)m);
	} else if (m >= 0 && gv_cell_is(what, control_name[CONTROL_CANCEL])) {
		gv_life_cancel(&jobs->life, (size_t)m);
		r->cancel[r->n++] = (size_t)m;
	} else {
		gv_warn("warning: a request to %s job %s makes no sense",
		    gv_quote(q[0], what.s, what.len), gv_quote(q[1], id.s, id.len));
	}
}

/* What a request says; one that is not good is warned about. */
static int
load(const struct control *c, const char *name, struct gv_frame *f)
{
	struct gv_strbuf path = {0};
	struct gv_error e = {0};
	char *s = NULL;
	size_t len;
	int rc = spool_read(c->dir, control_spool, name, &s, &len, &e);

	gv_strbuf_fmt(&path, "%s/%s/%s", c->dir, control_spool, name);
	if (rc == 0)
		rc = gv_frame_parse(f, path.s, s, len, &e);
	if (rc != 0) {
		gv_warn("warning: a request is not good:");
		gv_warn_error(&e);
	}
	gv_strbuf_free(&path);
	free(s);
	return rc;
}

static void
take(struct control *c, struct jobs *jobs, char *name)
{
	struct control_request r = {.name = name};
	struct gv_error e = {0};
	struct gv_frame f = {0};
	ptrdiff_t what, job;
	size_t i;

	if (load(c, name, &f) == 0) {
		if (gv_frame_require(&f, column_what, &what, &e) == 0 &&
		    gv_frame_require(&f, column_job, &job, &e) == 0) {
			r.cancel = gv_xcalloc(f.n_rows + 1, sizeof(*r.cancel));
			for (i = 0; i < f.n_rows; i++)
				obey(&r, jobs, gv_frame_cell(&f, i, what),
				    gv_frame_cell(&f, i, job));
		} else {
			gv_warn("warning: a request is not good:");
			gv_warn_error(&e);
		}
	}
	gv_frame_free(&f);
	c->request = gv_xgrow(c->request, &c->cap, c->n + 1, sizeof(*c->request));
	c->request[c->n++] = r;
}

void
control_take(struct control *c, struct jobs *jobs)
{
	size_t n, i;
	char **name = spool_list(c->dir, control_spool, &n);

	for (i = 0; i < n; i++)
		if (is_taken(c, name[i]))
			free(name[i]);
		else
			take(c, jobs, name[i]);
	free(name);
}

static bool
is_done(const struct control_request *r, const struct gv_life *l)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (l->job[r->cancel[i]].state != GV_LIFE_FINISHED &&
		    l->job[r->cancel[i]].state != GV_LIFE_DROPPED)
			return false;
	return true;
}

void
control_written(struct control *c, const struct jobs *jobs)
{
	size_t i = 0;

	while (i < c->n) {
		/* one that cannot be removed stays known, or it would be done again */
		if (!is_done(&c->request[i], &jobs->life) ||
		    spool_drop(c->dir, control_spool, c->request[i].name) != 0)
			i++;
		else
			forget(c, i);
	}
}
