/*
 * Drawn runs of gv-run without workers: what becomes of their jobs, the journal, tables whole
 * and as changes, what a dry run and --status show, and a table and a cluster that change.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#include "run_draws.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/hash.h"
#include "gv-run/live/control.h"
#include "gv-run/live/spool.h"
#include "gv-run/look/dryrun.h"
#include "gv-run/look/status.h"
#include "gv-run/state/clock.h"
#include "gv-run/state/files.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/restore.h"
#include "gv-run/state/state.h"
#include "scratch.h"
#include "stderr_said.h"
#include "unsynced.h"

enum { RUNS = 160, INPUTS = 40, PER_ANSWER = 8 };

static bool cuts_short;

/* What is written goes a part at a time, and is interrupted. */
ssize_t
write(int fd, const void *b, size_t n)
{
	struct iovec v = {(void *)(uintptr_t)b, n};

	errno = EINTR;
	if (cuts_short && n > 1 && one_in(8))
		return -1;
	if (cuts_short && n > 1 && one_in(2))
		v.iov_len = 1 + below(n - 1);
	return writev(fd, &v, 1);
}

struct run {
	struct drawn_run d;
	struct jobs jobs;
	struct journal journal;
	struct control control;
	size_t n_requests;
	struct gv_told told;
	double isolated_s[DRAWN_JOBS];
	char *log[DRAWN_JOBS];
};

static void
recorded_file(struct recorded *r, const char *path)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	if (gv_file_read(path, &s, &len, 1 << 24, &e) != 0) {
		recorded_whole(r, -1);
		return;
	}
	recorded_bytes(r, s, len);
	free(s);
}

static void
put(const char *path, const struct gv_strbuf *text)
{
	scratch_file(path, text->s, text->len);
}

/* ---- tables ---- */

static void
recorded_table(struct recorded *r, const struct run *u, bool everything)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);

	if (everything)
		table_write_to(&u->jobs, u->isolated_s, out);
	else
		table_write_rates(&u->jobs, u->isolated_s, out);
	recorded_out(r, out, &text);
}

/* What a policy is told: of jobs that are there, changes where these say all. */
static void
tell(struct recorded *r, struct run *u)
{
	const struct gv_life *l = &u->jobs.life;
	struct gv_told_job now[DRAWN_JOBS];
	struct gv_told_change *change;
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	size_t asked[DRAWN_JOBS], n = 0, m, k;

	for (m = 0; m < u->jobs.table.n_jobs; m++)
		if (l->rounds.job[m].active)
			asked[n++] = m;
	table_told(&u->jobs, u->isolated_s, asked, n, now);
	for (m = 0; m < n; m++)
		recorded_doubles(r, now[m].number, GV_TOLD_NUMBERS);
	for (k = 0; k < GV_TOLD_NUMBERS; k++)
		u->told.reads[k] = one_in(2);
	k = gv_told_compare(&u->told, now, n, &change);
	recorded_whole(r, table_can_change(&u->jobs));
	table_write_changes(&u->jobs, u->isolated_s, &u->told, now, change, k, out);
	gv_told_set(&u->told, now, n);
	recorded_out(r, out, &text);
	free(change);
}

/* A pair that only the policy has named. */
static void
name_pair(struct run *u)
{
	struct gv_rounds *rounds = &u->jobs.life.rounds;
	size_t n = u->jobs.table.n_jobs, a = below(n), b = below(n), pair, k;

	if (!u->journal.pairs || a == b || rounds->job[a].gang != rounds->job[b].gang)
		return;
	pair = gv_rounds_pair(rounds, a, b);
	for (k = 0; k < rounds->n_types; k++) {
		struct gv_round_claim *c = gv_rounds_claim(rounds, pair, k);

		c->rate = (double)below(3);
		c->with_rate = (double)below(3);
		gv_life_set_share(&u->jobs.life, pair, k, (double)below(3) / 8);
	}
}

/* ---- what comes in ---- */

static void
drain(struct recorded *r, struct run *u)
{
	struct gv_life *l = &u->jobs.life;
	struct gv_life_out out;

	while (gv_life_next(l, &out)) {
		size_t m = (size_t)out.row.job;

		recorded_whole(r, out.kind);
		if (out.kind == GV_LIFE_ROW)
			journal_row(&u->journal, &u->jobs, &out.row);
		else if (out.kind == GV_LIFE_START && one_in(12))
			gv_life_not_started(l, m);
		else if (out.kind == GV_LIFE_START)
			gv_life_started(l, m);
		else if (out.kind == GV_LIFE_KILL ||
			 (out.kind == GV_LIFE_STOP && one_in(2)))
			gv_life_left(l, m, out.kind == GV_LIFE_KILL ? 137 : 143);
	}
}

/* A request of a user, as it is entered: good, or of a job that is not there. */
static void
request(struct run *u)
{
	static const char *const what[] = {
	    "hold", "release", "release", "cancel", "stop"};
	const char *kind = what[below(5)];
	struct gv_strbuf text = {0};
	size_t n = 1 + below(2), i;
	char path[40];

	gv_strbuf_str(&text, one_in(20) ? "request,job\n" : "request,job_id\n");
	for (i = 0; i < n; i++)
		gv_strbuf_fmt(&text, "%s,%s\n", kind, drawn_id(below(u->d.n_jobs + 1)));
	snprintf(path, sizeof(path), "s/%s/%03zu.1", control_spool, u->n_requests++);
	put(path, &text);
	gv_strbuf_free(&text);
	control_take(&u->control, &u->jobs);
}

static void
worker_input(struct gv_life *l)
{
	static const int status[] = {0, 0, 143, 1, 137};
	size_t m = below(l->n_jobs), i;
	double steps;

	for (i = 0; i < l->n_jobs && l->job[m].state != GV_LIFE_RUNNING; i++)
		m = (m + 1) % l->n_jobs;
	steps = fmax(0, l->job[m].steps) + (double)below(12);
	switch (below(5)) {
	case 0:
		gv_life_left(l, m, status[below(5)]);
		break;
	case 1:
		gv_life_stepped(l, m);
		break;
	case 2:
		gv_life_report(l, m, steps, steps / 2);
		break;
	default:
		gv_life_report(l, m, steps, -1);
	}
}

static void
input(struct recorded *r, struct run *u)
{
	struct gv_life *l = &u->jobs.life;
	bool away = one_in(2);

	switch (below(16)) {
	case 0:
		if (l->rounds.n_gpus > 0)
			gv_life_gpu_away(l, below(l->rounds.n_gpus), away);
		break;
	case 1:
		journal_submission(&u->journal, l, one_in(2) ? "12.5" : "x y");
		break;
	case 2:
		if (one_in(3))
			request(u);
		break;
	case 3:
		if (one_in(3))
			name_pair(u);
		tell(r, u);
		break;
	case 4:
		recorded_table(r, u, one_in(2));
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		worker_input(l);
		break;
	default:
		gv_life_time(l, l->now_s + (double)below(12) / 8);
	}
	gv_life_turn(l, !one_in(5));
	drain(r, u);
}

/* ---- other jobs and GPUs ---- */

/* Pools in another order, and perhaps one more. */
static void
draw_other_pools(struct run *u)
{
	size_t a = below(u->d.n_pools), b = below(u->d.n_pools);
	char pool[sizeof(u->d.pool[0])];

	memcpy(pool, u->d.pool[a], sizeof(pool));
	memcpy(u->d.pool[a], u->d.pool[b], sizeof(pool));
	memcpy(u->d.pool[b], pool, sizeof(pool));
	if (u->d.n_pools < DRAWN_POOLS && one_in(2))
		draw_pool(&u->d, u->d.n_pools++);
	else if (u->d.n_pools > 1 && !gv_life_any_open(&u->jobs.life))
		u->d.n_pools--;
}

/* Whether GPUs that somebody has are there in another cluster, too. */
static bool
has_all_held(struct recorded *r, const struct run *u, const struct gv_cluster *c)
{
	const struct gv_life *l = &u->jobs.life;
	bool has = true;
	size_t g;

	for (g = 0; g < l->rounds.n_gpus; g++) {
		ptrdiff_t now = jobs_gpu_in(&u->jobs, g, c);

		recorded_whole(r, now);
		has = has && (now >= 0 || (l->holder[g] < 0 && l->plan[g] < 0));
	}
	return has;
}

static void
change(struct recorded *r, struct run *u)
{
	struct drawn_run *d = &u->d;
	struct gv_cluster c = {0};
	struct gv_error e = {0};
	struct gv_frame f = {0};
	bool cluster = one_in(2);
	size_t more = below(3);

	for (; more > 0 && d->n_jobs < DRAWN_JOBS; more--) {
		d->pairs = false;
		draw_job(d, d->n_jobs++, one_in(2));
	}
	if (cluster)
		draw_other_pools(u);
	if ((cluster && drawn_cluster(d, &c, &e) != 0) ||
	    drawn_jobs_frame(d, &f, &e) != 0) {
		recorded_error(r, &e);
		return;
	}
	if (cluster && !has_all_held(r, u, &c)) {
		gv_cluster_free(&c);
		cluster = false;
	}
	recorded_whole(r, jobs_change(&u->jobs, &f, cluster ? &c : NULL, u->log, &e));
	recorded_error(r, &e);
	drain(r, u);
	recorded_jobs(r, &u->jobs);
}

/* ---- a run ---- */

/* What jobs have told and no event says. */
static void
draw_progress(struct run *u)
{
	struct gv_strbuf text = {0};
	struct gv_error e = {0};
	char entry[40];
	size_t m;

	gv_strbuf_str(&text, "job_id\n");
	if (gv_mkdirs("s/submit", &e) != 0)
		gv_die_error(&e);
	for (m = 0; m < u->jobs.life.n_jobs; m++) {
		char *path = files_progress("s", u->jobs.table.job[m].id), *slash;

		if (one_in(2)) {
			slash = strrchr(path, '/');
			*slash = '\0';
			if (gv_mkdirs(path, &e) != 0)
				gv_die_error(&e);
			*slash = '/';
			gv_strbuf_clear(&text);
			gv_strbuf_fmt(&text, "step %zu.5\n", below(60));
			put(path, &text);
		}
		free(path);
	}
	for (m = below(3); m > 0; m--) {
		snprintf(entry, sizeof(entry), "s/submit/%zu.1%s", m,
		    one_in(2) ? ".refused" : "");
		put(entry, &text);
	}
	gv_strbuf_free(&text);
}

/* The files of the state, as a run has left them. */
static void
write_state(const struct run *u)
{
	struct gv_strbuf cluster = {0};
	struct gv_error e = {0};
	double later = (double)below(5) - 1;
	struct clock c = {1e9 + (double)below(1000000), u->jobs.life.now_s + later,
	    u->jobs.life.round, u->journal.size};
	int fd = open("s/clock", O_RDWR | O_CREAT, 0600);

	if (one_in(5))
		c.now_s = 1e300; /* too long for its line */
	clock_write(fd, &c);
	close(fd);
	drawn_cluster_text(&u->d, &cluster);
	put("s/cluster.csv", &cluster);
	gv_strbuf_free(&cluster);
	if (table_write(&u->jobs, u->isolated_s, "s/jobs.csv", &e) != 0)
		gv_die_error(&e);
}

static void
recorded_status(struct recorded *r, struct run *u, bool aligned)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_error e = {0};
	int fd = dup(0), after;

	close(fd);
	u->d.o.tsv = one_in(4);
	u->d.o.quiet = one_in(3);
	stderr_listen();
	recorded_whole(r, status_write(&u->d.o, out, aligned, &e));
	stderr_said(r);
	recorded_error(r, &e);
	recorded_out(r, out, &text);
	after = dup(0);
	recorded_whole(r, after - fd); /* none is left open */
	close(after);
}

/* The same where the state is not what it was: a table that is gone, or none. */
static void
recorded_broken(struct recorded *r, struct run *u)
{
	static const char *const name[] = {
	    "s/jobs.csv", "s/cluster.csv", "s/events.csv", "s/clock"};
	const char *path = name[below(4)];

	if (one_in(2))
		unlink(path);
	else
		scratch_file(path, "job_id,x\na,1\n", 13);
	recorded_status(r, u, one_in(2));
}

static void
recorded_clock(struct recorded *r)
{
	struct clock c = {0};

	recorded_whole(r, clock_read_in("s", &c));
	recorded_double(r, c.epoch_s);
	recorded_double(r, c.now_s);
	recorded_whole(r, c.round);
	recorded_whole(r, c.journal_bytes);
	recorded_file(r, "s/clock");
}

static void
recorded_dry_run(struct recorded *r, const struct run *u)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_error e = {0};
	struct jobs jobs;

	if (drawn_begin(&u->d, &jobs, &e) == 0) {
		stderr_listen();
		recorded_whole(r, dryrun(&jobs, u->d.o.round_s, out, one_in(4)));
		stderr_said(r);
		recorded_jobs(r, &jobs);
		jobs_free(&jobs);
	}
	recorded_out(r, out, &text);
}

static void
begin(struct run *u)
{
	struct gv_error e = {0};
	bool pairs = u->jobs.life.rounds.pairs.n > 0 || one_in(4);
	size_t m;

	umask(0);
	if (journal_open(&u->journal, "s", pairs, &e) != 0)
		gv_die_error(&e);
	umask(077);
	control_open(&u->control, "s");
	u->jobs.allocated = one_in(4);
	for (m = 0; m < DRAWN_JOBS; m++) {
		u->isolated_s[m] = (double)below(100) / 4;
		u->log[m] = m % 2 == 0 ? u->d.pool[0] : NULL;
	}
	gv_life_tell_pools(&u->jobs.life);
}

/* What a user asks for, from outside, of jobs that the run has or has not. */
static void
recorded_send(struct recorded *r, const struct run *u)
{
	static char name[][8] = {"a", "j2", "x/y", "8", "nobody"};
	enum control_kind kind = (enum control_kind)(1 + below(3));
	char *job[3], **id, *s;
	size_t n = below(4), i, len;
	struct gv_error e = {0};

	for (i = 0; i < n; i++)
		job[i] = name[below(5)];
	recorded_whole(r, control_send(one_in(9) ? "none" : "s", kind, job, n, &e));
	recorded_error(r, &e);
	gv_error_clear(&e);
	id = spool_list("s", control_spool, &n);
	recorded_whole(r, (long long)n);
	for (i = 0; i < n; i++) {
		if (spool_read("s", control_spool, id[i], &s, &len, &e) == 0) {
			recorded_bytes(r, s, len);
			free(s);
		}
		free(id[i]);
	}
	free(id);
	recorded_whole(r, (long long)u->control.n);
}

/* A journal that is there is gone on with; where there is no folder there is none. */
static void
go_on(struct recorded *r, struct run *u)
{
	struct journal j;
	struct gv_error e = {0};
	struct stat st;

	recorded_whole(r, journal_open(&j, "none", false, &e));
	recorded_error(r, &e);
	if (journal_open(&j, "s", u->journal.pairs, &e) != 0)
		gv_die_error(&e);
	recorded_whole(r, j.rows);
	recorded_whole(r, j.size);
	journal_submission(&j, &u->jobs.life, "once more");
	journal_close(&j);
	recorded_file(r, "s/events.csv");
	recorded_whole(r, stat("s/events.csv", &st) == 0 ? st.st_mode : 0);
}

/* It is over: what is there to be seen, and what the journal gives back. */
static void
look_at(struct recorded *r, struct run *u)
{
	struct gv_error e = {0};
	struct jobs back;

	write_state(u);
	draw_progress(u);
	recorded_clock(r);
	recorded_file(r, "s/events.csv");
	recorded_file(r, "s/jobs.csv");
	recorded_status(r, u, true);
	recorded_status(r, u, false);
	if (drawn_begin(&u->d, &back, &e) == 0) {
		recorded_whole(r, restore_view(&back, "s", &e));
		recorded_jobs(r, &back);
		jobs_free(&back);
	}
	recorded_error(r, &e);
	if (one_in(3)) { /* pools that the run has not any more */
		u->jobs.cluster.n_pools = 1;
		recorded_whole(r, journal_gone_pools(&u->journal, &u->jobs, "s", &e));
		journal_commit(&u->journal);
		recorded_file(r, "s/events.csv");
	}
}

static bool
live(struct recorded *r)
{
	struct gv_error e = {0};
	struct run u;
	size_t i;
	bool good;

	memset(&u, 0, sizeof(u));
	draw_run(&u.d);
	good = drawn_begin(&u.d, &u.jobs, &e) == 0;
	recorded_error(r, &e);
	gv_error_clear(&e);
	if (good) {
		if (gv_mkdirs("s/control", &e) != 0)
			gv_die_error(&e);
		begin(&u);
		stderr_listen();
		for (i = 0; i < INPUTS; i++) {
			input(r, &u);
			if (one_in(30))
				change(r, &u);
		}
		gv_life_tell(&u.jobs.life, GV_EVENT_END);
		drain(r, &u);
		cuts_short = true;
		journal_commit(&u.journal);
		cuts_short = false;
		control_written(&u.control, &u.jobs);
		stderr_said(r);
		recorded_whole(r, (long long)spool_count("s", control_spool));
		recorded_jobs(r, &u.jobs);
		look_at(r, &u);
		recorded_dry_run(r, &u);
		journal_submission(&u.journal, &u.jobs.life, "last");
		journal_close(&u.journal);
		recorded_file(r, "s/events.csv");
		recorded_send(r, &u);
		go_on(r, &u);
		recorded_broken(r, &u);
		control_close(&u.control);
		jobs_free(&u.jobs);
		if (gv_remove_tree("s", &e) != 0)
			gv_die_error(&e);
	}
	gv_told_free(&u.told);
	drawn_run_free(&u.d);
	return good;
}

int
main(void)
{
	static const char *const made[] = {"said", NULL};
	struct recorded r;
	uint32_t i, good = 0;

	gv_init("gv-run");
	umask(077);
	setenv("TZ", "UTC0", 1);
	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < RUNS; i++) {
		draws_begin(31, i, 0);
		good += live(&r);
		if (i % PER_ANSWER == PER_ANSWER - 1) {
			recorded_answer(&r, "%d runs, %u of them good", PER_ANSWER, good);
			good = 0;
		}
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
