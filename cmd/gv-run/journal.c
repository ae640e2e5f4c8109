/* Events: to the journal, durably, then to the output. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "run.h"

static struct gv_cell
text(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

static void
write_header(const struct journal *l, struct gv_tabw *w)
{
	if (l->pairs)
		gv_events_write_header_with(w);
	else
		gv_events_write_header(w);
}

int
journal_open(struct run *r, struct gv_error *e)
{
	struct journal *l = &r->journal;
	char *path = state_path(r, "events.csv");
	struct stat st;

	l->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (l->fd == -1 || fstat(l->fd, &st) != 0) {
		gv_error_sys(e, "%s: cannot open", path);
		free(path);
		return -1;
	}
	l->file = gv_out_fd(l->fd, path);
	free(path);
	gv_tabw_init(&l->file_w, l->file, false);
	if (st.st_size == 0) {
		write_header(l, &l->file_w);
		if (gv_sync_dir(r->dir, e) != 0)
			return -1;
	}
	gv_tabw_init(&l->out_w, l->out, r->o->tsv);
	write_header(l, &l->out_w);
	l->pending = true;
	return 0;
}

static void
write_row(const struct journal *l, struct gv_tabw *w, const struct gv_event *ev)
{
	if (l->pairs)
		gv_events_write_with(w, ev);
	else
		gv_events_write(w, ev);
}

static void
write_event(struct run *r, const struct gv_event *ev)
{
	write_row(&r->journal, &r->journal.file_w, ev);
	if (r->journal.out != NULL)
		write_row(&r->journal, &r->journal.out_w, ev);
	r->journal.pending = true;
}

static double
known_steps(const struct job *j)
{
	return j->report.steps >= 0 ? j->report.steps : NAN;
}

void
journal_event(struct run *r, enum gv_event_kind kind, ptrdiff_t job, const char *reason)
{
	struct gv_event ev = GV_EVENT_NONE;

	ev.time_s = r->now_s;
	ev.kind = kind;
	ev.round = r->round;
	if (job >= 0) {
		ev.job_id = r->job[job].spec->id;
		ev.steps = kind == GV_EVENT_ARRIVE       ? r->job[job].spec->total_steps
			   : kind == GV_EVENT_CHECKPOINT ? r->job[job].report.checkpoint
							 : known_steps(&r->job[job]);
	}
	ev.reason = text(reason);
	write_event(r, &ev);
}

/* The numbers of GPUs as their node knows them, "0;1". */
static void
add_ids(const struct run *r, struct gv_strbuf *b, const size_t *gpu, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t p = r->rounds.gpu_pool[gpu[i]];

		gv_strbuf_fmt(b, "%s%d", i > 0 ? ";" : "",
		    gv_pool_id(&r->cluster.pool[p], gpu[i] - r->rounds.pool[p].first));
	}
}

static void
with_gpus(struct run *r, struct gv_event *ev, const size_t *gpu, size_t n)
{
	const struct gv_pool *p = &r->cluster.pool[r->rounds.gpu_pool[gpu[0]]];
	struct gv_strbuf ids = {0};

	add_ids(r, &ids, gpu, n);
	ev->gpu_type = text(r->cluster.type[p->type].name);
	ev->node = text(p->node);
	ev->gpus = (struct gv_cell){ids.s, ids.len};
	write_event(r, ev);
	gv_strbuf_free(&ids);
}

/* Who else is in a pair. */
static struct gv_cell
mate(const struct run *r, size_t job, ptrdiff_t owner)
{
	ptrdiff_t other = gv_rounds_leave(&r->rounds, owner, job);

	return other >= 0 ? r->job[other].spec->id : (struct gv_cell){"", 0};
}

void
journal_gpus(struct run *r, enum gv_event_kind kind, size_t job, const char *reason)
{
	size_t *gpu = gv_xcalloc(r->rounds.n_gpus + 1, sizeof(*gpu));
	size_t n = work_gpus(r, r->holder, job, gpu);
	struct gv_event ev = GV_EVENT_NONE;

	if (n == 0) {
		journal_event(r, kind, (ptrdiff_t)job, reason);
	} else {
		ev.time_s = r->now_s;
		ev.kind = kind;
		ev.round = r->round;
		ev.job_id = r->job[job].spec->id;
		ev.steps = known_steps(&r->job[job]);
		ev.reason = text(reason);
		if (kind == GV_EVENT_START || kind == GV_EVENT_RESUME)
			ev.with_job_id = mate(r, job, r->holder[gpu[0]]);
		with_gpus(r, &ev, gpu, n);
	}
	free(gpu);
}

void
journal_share(struct run *r, size_t job, size_t type, double share)
{
	const size_t *member = r->rounds.job[job].member;
	struct gv_event ev = GV_EVENT_NONE;

	ev.time_s = r->now_s;
	ev.kind = GV_EVENT_ALLOCATE;
	ev.round = r->round;
	ev.job_id = r->job[member[0]].spec->id;
	if (gv_rounds_is_pair(&r->rounds, job))
		ev.with_job_id = r->job[member[1]].spec->id;
	ev.gpu_type = text(r->cluster.type[type].name);
	ev.share = share;
	write_event(r, &ev);
}

void
journal_pools(struct run *r)
{
	size_t *gpu = gv_xcalloc(r->rounds.n_gpus + 1, sizeof(*gpu));
	size_t p;
	size_t i;

	for (p = 0; p < r->rounds.n_pools; p++) {
		struct gv_event ev = GV_EVENT_NONE;

		ev.time_s = r->now_s;
		ev.kind = GV_EVENT_POOL;
		for (i = 0; i < r->rounds.pool[p].gpus; i++)
			gpu[i] = r->rounds.pool[p].first + i;
		if (i > 0)
			with_gpus(r, &ev, gpu, i);
	}
	free(gpu);
}

/* The output has failed; a reader that has gone is no error of ours. */
static void
output_failed(struct run *r, int error)
{
	if (error == EPIPE)
		r->signal = SIGPIPE;
	else
		r->broken = true;
	r->journal.out_errno = error;
	r->journal.out = NULL;
}

void
journal_output_gone(struct run *r)
{
	output_failed(r, EPIPE);
}

void
journal_commit(struct run *r)
{
	struct journal *l = &r->journal;

	if (!l->pending)
		return;
	l->pending = false;
	if (!r->broken && (gv_out_flush(l->file) != 0 || fsync(l->fd) != 0)) {
		gv_warn("%s/events.csv: cannot write: %s", r->dir, strerror(errno));
		r->broken = true;
	}
	errno = 0;
	if (l->out != NULL && gv_out_flush(l->out) != 0)
		output_failed(r, errno);
}

void
journal_close(struct run *r)
{
	struct gv_error e = {0};

	journal_commit(r);
	if (r->journal.file == NULL)
		return;
	gv_out_close(r->journal.file, &e); /* a failure was told when it happened */
	close(r->journal.fd);
	r->journal.file = NULL;
}
