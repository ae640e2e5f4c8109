#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "table/tab.h"

const char *const control_name[] = {[CONTROL_NONE] = "",
    [CONTROL_CANCEL] = "cancel",
    [CONTROL_HOLD] = "hold",
    [CONTROL_RELEASE] = "release"};

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
	struct gv_frame f = {0};
	char q[GV_QUOTE_LEN];
	ptrdiff_t column = -1;
	size_t i;
	int rc;

	if (access(path, F_OK) != 0)
		rc = gv_error_set(e, "%s: holds no run", dir);
	else
		rc = gv_frame_load(&f, path, e) == 0
			 ? gv_frame_require(&f, column_job, &column, e)
			 : -1;
	for (i = 0; rc == 0 && i < f.n_rows; i++) {
		struct gv_cell id = gv_frame_cell(&f, i, column);

		if (gv_hash_find(&ids, id.s, id.len) < 0)
			gv_hash_add(&ids, id.s, id.len);
	}
	for (i = 0; f.n_rows > 0 && i < n; i++)
		if (gv_hash_find(&ids, job[i], strlen(job[i])) < 0)
			rc = gv_error_set(e, "%s: has no job %s", dir,
			    gv_quote(q, job[i], strlen(job[i])));
	gv_hash_free(&ids);
	gv_frame_free(&f);
	free(path);
	return rc;
}

static int
write_request(
    const char *path, const char *what, char *const *job, size_t n, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_tabw w;
	size_t i;
	int rc;

	gv_tabw_init(&w, out, false);
	gv_tabw_str(&w, column_what);
	gv_tabw_str(&w, column_job);
	gv_tabw_end(&w);
	for (i = 0; i < n; i++) {
		gv_tabw_str(&w, what);
		gv_tabw_str(&w, job[i]);
		gv_tabw_end(&w);
	}
	rc = gv_out_close(out, e);
	if (rc == 0)
		rc = gv_file_write(path, text.s, text.len, e);
	gv_strbuf_free(&text);
	return rc;
}

int
control_send(const char *dir, enum control_kind kind, char *const *job, size_t n,
    struct gv_error *e)
{
	char *control = path_in(dir, "control");
	struct timespec now;
	char name[64], *path;
	int rc = check_known(dir, job, n, e);

	clock_gettime(CLOCK_REALTIME, &now);
	/* digits and a point: nothing else is taken for a request */
	snprintf(name, sizeof(name), "%012lld%09ld.%ld", (long long)now.tv_sec,
	    now.tv_nsec, (long)getpid());
	path = path_in(control, name);
	umask(077);
	if (rc == 0 && mkdir(control, 0700) != 0 && errno != EEXIST)
		rc = gv_error_sys(e, "%s: cannot make", control);
	if (rc == 0)
		rc = write_request(path, control_name[kind], job, n, e);
	free(path);
	free(control);
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
	*c = (struct control){.dir = path_in(state_dir, "control")};
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
is_request(const char *name)
{
	return name[0] != '.' && name[strspn(name, "0123456789.")] == '\0';
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

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of new requests in their order, [*n]; the caller's, each. */
static char **
new_requests(const struct control *c, size_t *n)
{
	const struct dirent *entry;
	char **name = NULL;
	size_t cap = 0;
	DIR *d = opendir(c->dir);

	*n = 0;
	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (!is_request(entry->d_name) || is_taken(c, entry->d_name))
			continue;
		name = gv_xgrow(name, &cap, *n + 1, sizeof(*name));
		name[(*n)++] = gv_xstrdup(entry->d_name);
	}
	if (d != NULL)
		closedir(d);
	if (name != NULL && *n > 1)
		qsort(name, *n, sizeof(*name), by_name);
	return name;
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

static void
take(struct control *c, struct jobs *jobs, char *name)
{
	char *path = path_in(c->dir, name);
	struct control_request r = {.name = name};
	struct gv_error e = {0};
	struct gv_frame f = {0};
	ptrdiff_t what, job;
	size_t i;

	if (gv_frame_load(&f, path, &e) == 0 &&
	    gv_frame_require(&f, column_what, &what, &e) == 0 &&
	    gv_frame_require(&f, column_job, &job, &e) == 0) {
		r.cancel = gv_xcalloc(f.n_rows + 1, sizeof(*r.cancel));
		for (i = 0; i < f.n_rows; i++)
			obey(&r, jobs, gv_frame_cell(&f, i, what),
			    gv_frame_cell(&f, i, job));
	} else {
		gv_warn("warning: a request is not good:");
		gv_warn_error(&e);
	}
	gv_frame_free(&f);
	free(path);
	c->request = gv_xgrow(c->request, &c->cap, c->n + 1, sizeof(*c->request));
	c->request[c->n++] = r;
}

void
control_take(struct control *c, struct jobs *jobs)
{
	size_t n, i;
	char **name = new_requests(c, &n);

	for (i = 0; i < n; i++)
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
		char *path;

		if (!is_done(&c->request[i], &jobs->life)) {
			i++;
			continue;
		}
		path = path_in(c->dir, c->request[i].name);
		(void)unlink(path); /* what stays is done again, which changes nothing */
		free(path);
		forget(c, i);
	}
}
