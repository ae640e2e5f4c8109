/* Finding an allocation, and getting its nodes ready. */
#include "launch/slurm/slurm.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "launch/slurm/core.h"

/* A first step on nodes that have to wake up may take its time, s. */
static const double probe_s = 120;

/* ---- which job ---- */

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* The id of the running job of that name, of this user: the caller frees; NULL, *e set. */
static char *
find_named(const struct gv_slurm *s, const char *name, struct gv_error *e)
{
	char squeue[] = "squeue", h[] = "-h", me[] = "--me", n[] = "-n", t[] = "-t",
	     running[] = "RUNNING", o[] = "-o", id[] = "%i";
	char *copy = gv_xstrdup(name), *found = NULL;
	char *argv[] = {squeue, h, me, n, copy, t, running, o, id, NULL};
	struct gv_slurm_command c = {0};
	char q[GV_QUOTE_LEN];
	const char *at;

	gv_quote(q, name, strlen(name));
	if (gv_slurm_ask(s, &c, argv, gv_slurm_patience_s) != 0)
		gv_slurm_cannot(e, &c, "squeue");
	for (at = c.out.s; e->count == 0 && at != NULL && *at != '\0';) {
		size_t len = strspn(at, "0123456789");

		if (found != NULL &&
		    (strlen(found) != len || memcmp(found, at, len) != 0))
			gv_error_set(
			    e, "Slurm runs several jobs %s: which one, say by its id", q);
		if (found == NULL && len > 0) {
			found = gv_xcalloc(len + 1, 1);
			memcpy(found, at, len);
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	if (e->count == 0 && found == NULL)
		gv_error_set(e, "Slurm runs no job %s of yours", q);
	if (e->count > 0) {
		free(found);
		found = NULL;
	}
	gv_slurm_command_free(&c);
	free(copy);
	return found;
}

static char *
find_job(const struct gv_slurm *s, const char *wanted, struct gv_error *e)
{
	const char *id = wanted != NULL ? wanted : getenv("SLURM_JOB_ID");

	if (id == NULL || *id == '\0') {
		gv_error_set(e,
		    "this is no allocation of Slurm's (SLURM_JOB_ID is not set): say "
		    "which with --slurm-job");
		return NULL;
	}
	return is_number(id) ? gv_xstrdup(id) : find_named(s, id, e);
}

static int
read_allocation(struct gv_slurm *s, char *job, struct gv_error *e)
{
	char scontrol[] = "scontrol", show[] = "show", d[] = "-d", o[] = "-o",
	     what[] = "job";
	char *argv[] = {scontrol, show, d, o, what, job, NULL};
	struct gv_slurm_command c = {0};
	struct gv_error ignored = {0};
	int rc = 0;

	if (gv_slurm_ask(s, &c, argv, gv_slurm_patience_s) != 0)
		rc = gv_slurm_cannot(e, &c, "scontrol");
	else if (gv_slurm_allocation_read(&s->allocation, c.out.s, &ignored) != 0)
		rc = gv_error_set(e, "job %s: %s", job, ignored.text[0]);
	gv_slurm_command_free(&c);
	return rc;
}

/* The lists of ids and names, for the commands that ask about them. */
static void
make_lists(struct gv_slurm *s)
{
	struct gv_strbuf jobs = {0}, nodes = {0};
	size_t i;

	for (i = 0; i < s->allocation.n_jobs; i++)
		gv_strbuf_fmt(&jobs, "%s%s", i > 0 ? "," : "", s->allocation.job[i]);
	for (i = 0; i < s->allocation.n_nodes; i++)
		gv_strbuf_fmt(
		    &nodes, "%s%s", i > 0 ? "," : "", s->allocation.node[i].name);
	s->jobs = jobs.s;
	s->nodes = nodes.s;
}

/* Where nodes are reached by others, which may differ from their names. */
static int
read_addresses(struct gv_slurm *s, struct gv_error *e)
{
	char sinfo[] = "sinfo", h[] = "-h", n[] = "-N", nodes[] = "-n", o[] = "-o",
	     what[] = GV_SLURM_INFO;
	char *argv[] = {sinfo, h, n, nodes, s->nodes, o, what, NULL};
	struct gv_slurm_command c = {0};
	int rc = 0;

	if (gv_slurm_ask(s, &c, argv, gv_slurm_patience_s) != 0)
		rc = gv_slurm_cannot(e, &c, "sinfo");
	else
		gv_slurm_take_nodes(&s->allocation, c.out.s, gv_clock_s());
	gv_slurm_command_free(&c);
	return rc;
}

/* ---- steps on all nodes ---- */

/* Nodes like a->node[first] that are ours and not done, into node: how many, none of others. */
static size_t
alike(const struct gv_slurm_allocation *a, size_t first, const bool *done,
    const struct gv_slurm_node **node)
{
	const struct gv_slurm_node *like = &a->node[first];
	size_t i, n = 0;

	for (i = first; i < a->n_nodes; i++)
		if (!done[i] && a->node[i].mine && a->node[i].group == like->group &&
		    a->node[i].n_gpus == like->n_gpus)
			node[n++] = &a->node[i];
	return n;
}

static size_t
nodes_left(const struct gv_slurm_allocation *a)
{
	size_t i, n = 0;

	for (i = 0; i < a->n_nodes; i++)
		n += a->node[i].mine;
	return n;
}

/* Asks Slurm: whether the allocation has lost some nodes, not all, since it was looked at last. */
static bool
is_smaller(struct gv_slurm *s)
{
	size_t before = nodes_left(&s->allocation), left;

	gv_slurm_look_first(s);
	left = nodes_left(&s->allocation);
	return !s->over && left > 0 && left < before;
}

/*
 * Runs PROGRAM --worker=MODE on all nodes, those of one group and as many GPUs together.  A
 * node that the allocation loses meanwhile is left out.
 */
static int
on_all(struct gv_slurm *s, const char *mode, double limit_s,
    int (*take)(struct gv_slurm *s, const char *out, struct gv_error *e),
    struct gv_error *e)
{
	const struct gv_slurm_allocation *a = &s->allocation;
	const struct gv_slurm_node **node = gv_xcalloc(a->n_nodes, sizeof(*node));
	bool *done = gv_xcalloc(a->n_nodes, sizeof(*done));
	struct gv_slurm_command c = {0};
	struct gv_srun srun;
	size_t first = 0;
	int rc = 0;

	while (rc == 0 && first < a->n_nodes && !gv_slurm_is_stopped(s)) {
		size_t n =
		    done[first] || !a->node[first].mine ? 0 : alike(a, first, done, node);
		int status;

		if (n == 0) {
			first++;
			continue;
		}
		gv_srun_make(&srun, s, node, n, "gv:probe", mode);
		status = gv_slurm_ask(s, &c, srun.word, limit_s);
		gv_srun_free(&srun);
		if (status == 0) {
			rc = take(s, c.out.s, e);
			while (n > 0)
				done[node[--n] - a->node] = true;
		} else if (!gv_slurm_is_stopped(s) && !is_smaller(s)) {
			rc = gv_slurm_cannot(e, &c, "srun");
		}
	}
	gv_slurm_command_free(&c);
	free(done);
	free(node);
	return rc;
}

/* One line "probe NODE 0,1,2": what its tasks see as CUDA_VISIBLE_DEVICES. */
static void
take_seen(struct gv_slurm_node *node, const char *s)
{
	size_t i;

	for (i = 0; i < node->n_gpus; i++) {
		char *end;
		long id = strtol(s, &end, 10);

		if (end == s)
			break; /* it is not set, or lists UUIDs: Slurm's numbers have to do */
		node->gpu[i].id = (int)id;
		s = *end == ',' ? end + 1 : end;
	}
	node->seen = true;
}

static int
take_probe(struct gv_slurm *s, const char *out, struct gv_error *e)
{
	(void)e;
	for (; *out != '\0'; out += strcspn(out, "\n"), out += *out == '\n') {
		struct gv_slurm_node *node;
		size_t len;

		if (strncmp(out, "probe ", 6) != 0)
			continue;
		len = strcspn(out + 6, " \n");
		node = gv_slurm_find(&s->allocation, out + 6, len);
		if (node != NULL)
			take_seen(node, out + 6 + len);
	}
	return 0;
}

/* That every node of ours has run the program and has written into the directory. */
static int
check_probe(const struct gv_slurm *s, const char *dir, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < s->allocation.n_nodes; i++) {
		const struct gv_slurm_node *node = &s->allocation.node[i];

		if (!node->mine)
			continue;
		if (!node->seen)
			return gv_error_set(
			    e, "node %s: the probe has said nothing", node->name);
		if (!gv_slurm_file_there(dir, "probe", node->name))
			return gv_error_set(e,
			    "node %s does not see %s: the state must be on a file system "
			    "that all nodes share",
			    node->name, s->dir);
	}
	return 0;
}

/* In a directory of its own: another process may begin, or clean up, in the same state. */
static int
probe(struct gv_slurm *s, struct gv_error *e)
{
	struct gv_strbuf dir = {0}, mode = {0};
	struct gv_error ignored = {0};
	int rc;

	gv_strbuf_fmt(
	    &dir, "%s.probe.%ld.%.0f", s->dir, (long)getpid(), gv_now_s() * 1e3);
	gv_strbuf_fmt(&mode, "probe=%s", dir.s);
	rc = gv_mkdirs(dir.s, e);
	if (rc == 0)
		rc = on_all(s, mode.s, probe_s, take_probe, e);
	if (rc == 0)
		rc = check_probe(s, dir.s, e);
	gv_remove_tree(dir.s, &ignored);
	gv_strbuf_free(&mode);
	gv_strbuf_free(&dir);
	return rc;
}

/* ---- beginning and end ---- */

static const struct gv_launcher launcher = {"slurm", gv_slurm_step_start,
    gv_slurm_step_stop, gv_slurm_step_kill, gv_slurm_step_poll, gv_slurm_step_free,
    gv_slurm_look, gv_slurm_usable, NULL};

/* The path of this program, which all nodes have.  0, or -1 with *e set. */
static int
find_self(struct gv_slurm *s, struct gv_error *e)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return gv_error_sys(e, "%s: cannot open", "/proc/self/exe");
	self[n] = '\0';
	s->self = gv_xstrdup(self);
	return 0;
}

int
gv_slurm_open(struct gv_slurm **out, const struct gv_slurm_options *o, struct gv_error *e)
{
	struct gv_slurm *s = gv_xcalloc(1, sizeof(*s));
	char *job;
	int rc;

	*out = s;
	s->handle = (struct gv_slurm_handle){launcher, s};
	s->ends_s = HUGE_VAL;
	s->dir = gv_xstrdup(o->dir);
	s->stopped = o->stopped;
	job = find_job(s, o->job, e);
	rc = job == NULL ? -1 : find_self(s, e);
	if (rc == 0)
		rc = read_allocation(s, job, e);
	if (rc == 0) {
		make_lists(s);
		rc = read_addresses(s, e);
	}
	if (rc == 0) {
		rc = gv_mkdirs(s->dir, e);
	}
	if (rc == 0)
		rc = probe(s, e);
	if (rc == 0)
		gv_slurm_look_first(s); /* how much time there is left */
	free(job);
	return rc;
}

static int
take_nothing(struct gv_slurm *s, const char *out, struct gv_error *e)
{
	(void)s;
	(void)out;
	(void)e;
	return 0;
}

/* Whether launches of a process before are still told of. */
static bool
has_launches(const struct gv_slurm *s)
{
	DIR *d = opendir(s->dir);
	const struct dirent *entry;
	bool any = false;

	if (d == NULL)
		return false;
	while ((entry = readdir(d)) != NULL)
		any |= entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
	closedir(d);
	return any;
}

int
gv_slurm_clean(struct gv_slurm *s, struct gv_error *e)
{
	struct gv_strbuf mode = {0};
	int rc;

	if (!has_launches(s))
		return 0;
	/* without their directories workers know that nobody wants them any more */
	if (gv_remove_tree(s->dir, e) != 0 || gv_mkdirs(s->dir, e) != 0)
		return -1;
	gv_strbuf_fmt(&mode, "sweep=0=%s/", s->dir);
	rc = on_all(s, mode.s, probe_s, take_nothing, e);
	gv_strbuf_free(&mode);
	return rc;
}

void
gv_slurm_close(struct gv_slurm *s)
{
	if (s == NULL)
		return;
	gv_slurm_command_free(&s->queue);
	gv_slurm_command_free(&s->info);
	gv_slurm_allocation_free(&s->allocation);
	free(s->dir);
	free(s->self);
	free(s->jobs);
	free(s->nodes);
	free(s);
}

const struct gv_launcher *
gv_slurm_launcher(const struct gv_slurm *s)
{
	return &s->handle.launcher;
}

const struct gv_slurm_allocation *
gv_slurm_allocation(const struct gv_slurm *s)
{
	return &s->allocation;
}
