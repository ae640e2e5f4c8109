/* What users enter into gv-run's state: requests, and how they are taken. */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/live/control.h"
#include "gv-run/live/spool.h"

static char dir[] = "/tmp/gv-spool.XXXXXX";

static const char *
at(const char *name)
{
	static char path[4][300];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

static void
put(const char *name, const char *text)
{
	struct gv_error e = {0};

	if (gv_file_write(at(name), text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

/* ---- entries ---- */

static void
test_entries(void)
{
	char id[3][SPOOL_ID_LEN];
	struct gv_error e = {0};
	size_t n, i, len;
	char **name;
	char *s;
	int same = 0;

	is_int(spool_count(dir, "in"), 0, "no directory, no entry");
	ok(spool_list(dir, "in", &n) == NULL && n == 0, "also in its list");
	for (i = 0; i < 3; i++)
		ok(spool_put(dir, "in", "abc", i, id[i], &e) == 0,
		    "%zu bytes are entered", i);
	ok(spool_put(dir, "in", "abcd", 4, NULL, &e) == 0, "and four");
	put("in/.x.new", "");
	put("in/12.refused", "");
	put("in/.refused", "");
	put("in/12.refused.x", "");
	is_int(spool_count(dir, "in"), 4, "four are there");
	is_int(spool_refused(dir, "in"), 1, "one was refused");
	name = spool_list(dir, "in", &n);
	is_int(n, 4, "four are listed");
	for (i = 0; i < n; i++)
		same += i < 3 && strcmp(name[i], id[i]) == 0;
	is_int(same, 3, "in the order in which they came");
	ok(spool_read(dir, "in", id[0], &s, &len, &e) == 0 && len == 0, "an empty one");
	free(s);
	ok(spool_read(dir, "in", id[2], &s, &len, &e) == 0 && len == 2 &&
		strcmp(s, "ab") == 0,
	    "two bytes");
	free(s);
	ok(spool_read(dir, "in", name[3], &s, &len, &e) == 0 && strcmp(s, "abcd") == 0,
	    "four bytes");
	free(s);
	ok(spool_drop(dir, "in", id[0]) == 0 && spool_count(dir, "in") == 3,
	    "one is removed");
	ok(spool_drop(dir, "in", id[0]) == 0, "which may be gone already");
	ok(mkdir(at("in/7"), 0700) == 0 && spool_drop(dir, "in", "7") == -1,
	    "but not a directory");
	for (i = 0; i < n; i++)
		free(name[i]);
	free(name);
}

/* What reading an entry says is wrong, behind the state's directory. */
static const char *
fault(const char *name, const char *id, struct gv_error *e)
{
	char *s = NULL;
	size_t len;

	gv_error_clear(e);
	if (spool_read(dir, name, id, &s, &len, e) == 0) {
		free(s);
		return "";
	}
	return e->text[0] + strlen(dir);
}

static void
test_odd(void)
{
	struct gv_error e = {0};
	int fd;

	put("in/1", "x");
	is_str(fault("in", "1", &e), "", "a file of mine");
	is_str(fault("in", "2", &e), "/in/2: cannot open: No such file or directory",
	    "none");
	is_str(fault("in", "7", &e), "/in/7: is refused: no regular file", "a directory");
	ok(symlink("1", at("in/3")) == 0, "a link");
	is_str(fault("in", "3", &e), "/in/3: is refused: a link", "is refused");
	ok(chmod(at("in/1"), 0620) == 0, "others can write");
	is_str(fault("in", "1", &e), "/in/1: is refused: others can write to it",
	    "its group");
	ok(chmod(at("in/1"), 0602) == 0, "or");
	is_str(fault("in", "1", &e), "/in/1: is refused: others can write to it",
	    "everybody");
	ok(chmod(at("in/1"), 0600) == 0 && link(at("in/1"), at("in/4")) == 0,
	    "two names");
	is_str(
	    fault("in", "1", &e), "/in/1: is refused: it has several names", "as well");
	put("in/5", "");
	fd = open(at("in/5"), O_WRONLY);
	ok(ftruncate(fd, (1 << 28) + 1) == 0, "a quarter of a GiB and a byte");
	close(fd);
	is_str(fault("in", "5", &e), "/in/5: is refused: too large", "is too much");

	is_str(fault("none", "1", &e), "/none: cannot open: No such file or directory",
	    "no directory");
	ok(symlink("in", at("way")) == 0, "a link to one");
	is_str(fault("way", "1", &e), "/way: cannot open: Not a directory",
	    "is not followed");
	ok(mkdir(at("open"), 0700) == 0 && chmod(at("open"), 0770) == 0, "an open one");
	is_str(fault("open", "1", &e),
	    "/open: is refused: others than the owner of the state can write to it",
	    "is not trusted");
	ok(spool_put(dir, "open", "x", 1, NULL, &e) == -1 &&
		spool_count(dir, "open") == 0,
	    "and nothing is entered there");
	put("file", "");
	gv_error_clear(&e);
	ok(spool_put(dir, "file", "x", 1, NULL, &e) == -1, "nor where a file is");
	is_str(e.text[0] + strlen(dir), "/file: cannot open: Not a directory", "it says");
	gv_error_clear(&e);
	ok(spool_put(dir, "none/in", "x", 1, NULL, &e) == -1, "nor where nothing is");
	is_str(e.text[0] + strlen(dir),
	    "/none/in: cannot make: No such file or directory", "it says");
}

/* ---- requests ---- */

static void
make_jobs(struct jobs *j)
{
	static const struct settings o = {.round_s = 1, .max_failures = 1};
	struct gv_frame f;
	struct gv_error e = {0};

	*j = (struct jobs){0};
	if (gv_cluster_read(&j->cluster, at("cluster.csv"), &e) != 0 ||
	    gv_frame_load(&f, at("jobs.csv"), &e) != 0 ||
	    gv_rates_from(&j->table, &f, &j->cluster, &e) != 0)
		gv_die_error(&e);
	jobs_make(j, &o, NULL);
	gv_life_time(&j->life, 1);
}

static void
carry_out(struct jobs *j)
{
	struct gv_life_out out;

	while (gv_life_next(&j->life, &out))
		;
}

static void
test_requests(void)
{
	char a[] = "a", b[] = "b", x[] = "x", *two[] = {a, b}, *unknown[] = {a, x};
	struct gv_error e = {0};
	struct control c;
	struct jobs j;

	ok(control_send(dir, CONTROL_HOLD, two, 2, &e) == -1, "no run");
	ok(strstr(e.text[0], ": holds no run") != NULL, "is said");
	gv_error_clear(&e);
	put("cluster.csv", "gpu_type,gpus\nA,1\n");
	put("jobs.csv", "job_id,total_steps,gpu_type,steps_per_s,share\n");
	ok(control_send(dir, CONTROL_HOLD, two, 2, &e) == -1 && e.count == 2,
	    "a run without jobs has neither");
	gv_error_clear(&e);
	put("jobs.csv", "job_id,total_steps\na\n");
	ok(control_send(dir, CONTROL_HOLD, two, 2, &e) == -1 && e.count == 1,
	    "of a table that cannot be read no job is known");
	gv_error_clear(&e);
	put("jobs.csv", "job_id,total_steps,gpu_type,steps_per_s,share\n"
			"a,10,A,1,0.5\nb,10,A,1,0.5\n");
	ok(control_send(dir, CONTROL_HOLD, unknown, 2, &e) == -1, "an unknown job");
	ok(strstr(e.text[0], ": has no job \"x\"") != NULL && e.count == 1, "is named");
	is_int(spool_count(dir, control_spool), 0, "and nothing is asked for");
	make_jobs(&j);
	control_open(&c, dir);
	ok(control_send(dir, CONTROL_HOLD, two, 2, &e) == 0, "two jobs are to be held");
	control_take(&c, &j);
	carry_out(&j);
	is_int(j.life.n[GV_LIFE_HELD], 2, "they are");
	is_int(c.n, 1, "one request is known");
	control_take(&c, &j);
	is_int(c.n, 1, "and is not taken twice");
	ok(control_send(dir, CONTROL_RELEASE, two, 1, &e) == 0, "one is to go on");
	control_take(&c, &j);
	carry_out(&j);
	is_int(c.n, 2, "another request");
	is_int(j.life.n[GV_LIFE_HELD], 1, "it does");
	control_written(&c, &j);
	ok(c.n == 0 && spool_count(dir, control_spool) == 0,
	    "what the journal has is removed");
	control_close(&c);
	jobs_free(&j);
}

/* A request to cancel stays until the job has left, and is obeyed once. */
static void
test_cancel(void)
{
	char a[] = "a", b[] = "b", *job[1];
	struct gv_error e = {0};
	struct control c;
	struct jobs j;
	size_t m;

	make_jobs(&j);
	gv_life_turn(&j.life, true);
	carry_out(&j);
	m = j.life.job[0].state == GV_LIFE_STARTING ? 0 : 1;
	job[0] = m == 0 ? a : b;
	gv_life_started(&j.life, m);
	control_open(&c, dir);
	ok(control_send(dir, CONTROL_CANCEL, job, 1, &e) == 0, "a job that runs");
	control_take(&c, &j);
	carry_out(&j);
	control_written(&c, &j);
	ok(j.life.job[m].state == GV_LIFE_STOPPING && c.n == 1 &&
		spool_count(dir, control_spool) == 1,
	    "is stopped, and the request stays");
	control_take(&c, &j);
	is_int(c.n, 1, "it is taken once");
	gv_life_left(&j.life, m, 143);
	carry_out(&j);
	control_written(&c, &j);
	ok(j.life.job[m].state == GV_LIFE_DROPPED && c.n == 0 &&
		spool_count(dir, control_spool) == 0,
	    "until the job has left");

	job[0] = m == 0 ? b : a;
	gv_life_turn(&j.life, true);
	carry_out(&j);
	gv_life_started(&j.life, 1 - m);
	ok(control_send(dir, CONTROL_CANCEL, job, 1, &e) == 0, "the other one");
	control_take(&c, &j);
	control_close(&c);
	ok(c.n == 0 && spool_count(dir, control_spool) == 1,
	    "a run that ends before leaves its request for the next one");
	jobs_free(&j);
}

int
main(void)
{
	struct gv_error e = {0};

	gv_init("gv-run");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("%s", dir);
	test_entries();
	test_odd();
	test_requests();
	test_cancel();
	gv_remove_tree(dir, &e);
	return done_testing();
}
