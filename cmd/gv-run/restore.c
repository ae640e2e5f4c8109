#include "restore.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum { LARGEST_JOURNAL = 1 << 30 };

/* Cuts a journal behind its last whole row: a kill can tear the last one. */
static int
cut_torn_line(const char *path, size_t *whole, struct gv_error *e)
{
	bool quoted = false;
	size_t len;
	size_t i;
	char *s;
	int rc = 0;

	*whole = 0;
	if (gv_file_read(path, &s, &len, LARGEST_JOURNAL, e) != 0)
		return -1;
	for (i = 0; i < len; i++) {
		quoted = quoted != (s[i] == '"');
		if (s[i] == '\n' && !quoted)
			*whole = i + 1;
	}
	free(s);
	if (*whole < len && truncate(path, (off_t)*whole) != 0)
		rc = gv_error_sys(e, "%s: cannot cut off a torn line", path);
	return rc;
}

static void
replay(struct jobs *jobs, const struct gv_events *events)
{
	size_t *gpu = gv_xcalloc(jobs->life.rounds.n_gpus + 1, sizeof(*gpu));
	size_t i;

	for (i = 0; i < events->n; i++) {
		struct gv_life_row row;

		gv_life_row(&jobs->names, &jobs->life, &events->event[i], gpu, &row);
		gv_life_replay(&jobs->life, &row);
	}
	free(gpu);
}

static int
add_column(
    const struct gv_events *events, const char *path, bool *pairs, struct gv_error *e)
{
	bool has = gv_frame_find(&events->frame, "with_job_id") >= 0;
	struct gv_out *out;
	struct gv_tabw w;
	size_t i;

	*pairs = has || *pairs;
	if (has || !*pairs || events->n == 0)
		return 0;
	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_tabw_init(&w, out, false);
	gv_events_write_header_with(&w);
	for (i = 0; i < events->n; i++)
		gv_events_write_with(&w, &events->event[i]);
	return gv_out_close(out, e);
}

int
restore(struct jobs *jobs, const char *dir, bool *pairs, bool *any, struct gv_error *e)
{
	struct gv_events events = {0};
	struct gv_frame f = {0};
	struct gv_strbuf path = {0};
	size_t whole = 0;
	int rc = 0;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	if (access(path.s, F_OK) == 0)
		rc = cut_torn_line(path.s, &whole, e);
	if (rc == 0 && whole > 0)
		rc = gv_frame_load(&f, path.s, e) == 0 ? gv_events_from(&events, &f, e)
						       : -1;
	if (rc == 0)
		replay(jobs, &events);
	*any = events.n > 0;
	if (rc == 0)
		rc = add_column(&events, path.s, pairs, e);
	gv_events_free(&events);
	gv_strbuf_free(&path);
	return rc;
}
