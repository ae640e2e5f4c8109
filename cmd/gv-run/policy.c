/*
 * Its tables are files of the state directory, so a user can look at what was asked
 * and answered, and nothing here can block on a pipe.
 */
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "answer.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "table.h"

/* Decisions wait that long for an answer under way; then the shares at hand are good enough. */
static const double head_start_s = 1;

/* ---- which policy ---- */

static void
add_quoted(struct gv_strbuf *b, const char *s)
{
	gv_strbuf_char(b, '\'');
	for (; *s != '\0'; s++)
		if (*s == '\'')
			gv_strbuf_str(b, "'\\''");
		else
			gv_strbuf_char(b, *s);
	gv_strbuf_char(b, '\'');
}

/* The gv-alloc that was installed beside this program, else the one in PATH. */
static void
add_allocator(struct gv_strbuf *b)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 16);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL) {
		strcpy(slash + 1, "gv-alloc");
		if (access(self, X_OK) == 0) {
			add_quoted(b, self);
			return;
		}
	}
	gv_strbuf_str(b, "gv-alloc");
}

static char *
named_policy(const struct state *state, const char *name)
{
	struct gv_strbuf b = {0};
	char *cluster = state_path(state, "cluster.csv");

	gv_strbuf_str(&b, "exec ");
	add_allocator(&b);
	gv_strbuf_str(&b, " -p ");
	add_quoted(&b, name);
	gv_strbuf_str(&b, " -c ");
	add_quoted(&b, cluster);
	free(cluster);
	return b.s;
}

/* The command of -p is kept for a later --resume; a table given without -p replaces it. */
static int
choose(struct policy *p, struct gv_error *e)
{
	const struct settings *o = p->o;
	char *path = state_path(p->state, "policy");
	const char *name;
	size_t len;
	int rc = 0;

	if (o->policy != NULL) {
		p->command = gv_xstrdup(o->policy);
		p->own = true;
		rc = gv_file_write(path, o->policy, strlen(o->policy), e);
	} else if (o->resume && access(path, F_OK) == 0) {
		rc = gv_file_read(path, &p->command, &len, 1 << 20, e);
		p->own = true;
	} else {
		unlink(path);
		rc = table_policy(&p->jobs->table, &name, e);
		if (rc == 0 && name != NULL)
			p->command = named_policy(p->state, name);
	}
	free(path);
	return rc;
}

int
policy_open(struct policy *p, const struct settings *o, const struct state *state,
    struct jobs *jobs, struct gv_error *e)
{
	size_t n = jobs->table.n_jobs;
	size_t m;

	*p = (struct policy){.o = o, .state = state, .jobs = jobs};
	p->asked = gv_xcalloc(n + 1, sizeof(*p->asked));
	p->isolated_s = gv_xcalloc(n + 1, sizeof(*p->isolated_s));
	p->isolated_steps = gv_xcalloc(n + 1, sizeof(*p->isolated_steps));
	p->isolated_rate = gv_xcalloc(n + 1, sizeof(*p->isolated_rate));
	for (m = 0; m < n; m++) {
		const struct gv_job *job = &jobs->table.job[m];
		double done = job->total_steps - job->steps_remaining;

		p->isolated_s[m] = job->isolated_elapsed_s;
		p->isolated_steps[m] = done > 0 ? done : 0;
	}
	return choose(p, e);
}

void
policy_close(struct policy *p)
{
	free(p->command);
	free(p->asked);
	free(p->isolated_s);
	free(p->isolated_steps);
	free(p->isolated_rate);
	*p = (struct policy){0};
}

/* ---- asking ---- */

/* The rate of a job on its isolated share: N_j/(M s_m) of each type, at most 1 in all. */
static double
isolated_rate(const struct gv_rounds *r, size_t m, size_t n_active)
{
	double sum = 0;
	double rate = 0;
	size_t p;

	for (p = 0; p < r->n_pools; p++) {
		const struct gv_round_pool *pool = &r->pool[p];
		double x =
		    (double)pool->gpus / ((double)n_active * (double)r->job[m].gang);

		if (gv_rounds_claim(r, m, pool->type)->rate > 0)
			sum += x; /* of a type it cannot use it has no time */
		rate += x * gv_rounds_claim(r, m, pool->type)->rate;
	}
	return sum > 1 ? rate / sum : rate;
}

static void
count_isolated(struct policy *p)
{
	const struct gv_life *l = &p->jobs->life;
	size_t i;

	for (i = 0; i < p->n_asked; i++) {
		size_t m = p->asked[i];
		double steps = fmax(0, l->job[m].steps);

		if (p->isolated_rate[m] > 0 && steps > p->isolated_steps[m])
			p->isolated_s[m] +=
			    (steps - p->isolated_steps[m]) / p->isolated_rate[m];
		p->isolated_steps[m] = steps;
		p->isolated_rate[m] = isolated_rate(&l->rounds, m, p->n_asked);
	}
}

static GV_NORETURN void
become_policy(const struct policy *p, const char *in, const char *out)
{
	int from = open(in, O_RDONLY);
	int to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	sigset_t none;

	setpgid(0, 0);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(p->state->directory) != 0 || from == -1 || to == -1 ||
	    dup2(from, 0) == -1 || dup2(to, 1) == -1)
		_exit(125);
	if (from > 2)
		close(from);
	if (to > 2)
		close(to);
	execl("/bin/sh", "sh", "-c", p->command, (char *)NULL);
	_exit(127);
}

static int
start_asking(struct policy *p, struct gv_error *e)
{
	char *in = state_path(p->state, "policy.in.csv");
	char *out = state_path(p->state, "policy.out.csv");
	int rc = table_write_rates(p->jobs, p->isolated_s, in, e);

	if (rc == 0) {
		p->pid = fork();
		if (p->pid == 0)
			become_policy(p, in, out);
		if (p->pid == -1) {
			p->pid = 0;
			rc = gv_error_sys(e, "cannot start a process");
		} else {
			setpgid(p->pid, p->pid);
		}
	}
	free(in);
	free(out);
	return rc;
}

static void
ask(struct policy *p)
{
	const struct gv_life *l = &p->jobs->life;
	struct gv_error e = {0};

	p->due = false;
	for (p->n_asked = 0; p->n_asked < l->n_active; p->n_asked++)
		p->asked[p->n_asked] = l->active[p->n_asked];
	if (p->n_asked == 0)
		return;
	count_isolated(p);
	p->asked_s = l->now_s;
	if (start_asking(p, &e) == 0)
		return;
	gv_warn("warning: the policy cannot be asked, shares stay as they are:");
	gv_warn_error(&e);
}

/* ---- its answer ---- */

static void
take_answer(struct policy *p)
{
	char *path = state_path(p->state, "policy.out.csv");
	char *table = state_path(p->state, "jobs.csv");
	struct gv_error e = {0};

	if (answer_take(p->jobs, path, p->asked, p->n_asked, &e) != 0) {
		gv_warn(
		    "warning: the policy's answer is not good, shares stay as they are:");
		gv_warn_error(&e);
	} else {
		gv_life_announce(&p->jobs->life);
		if (table_write(p->jobs, p->isolated_s, table, &e) != 0) {
			gv_warn_error(&e);
			p->broken = true;
		}
	}
	free(path);
	free(table);
}

static void
reap(struct policy *p)
{
	int status;
	pid_t pid = waitpid(p->pid, &status, WNOHANG);
	bool late = p->jobs->life.now_s - p->asked_s >= p->o->policy_timeout_s;

	if (pid == 0 && late) {
		policy_stop(p);
		gv_warn("warning: the policy did not answer within %g s, shares stay as "
			"they are",
		    p->o->policy_timeout_s);
	}
	if (pid <= 0)
		return;
	p->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		take_answer(p);
	else if (WIFEXITED(status))
		gv_warn("warning: the policy has failed with status %d, shares stay as "
			"they are",
		    WEXITSTATUS(status));
	else
		gv_warn("warning: the policy was killed by signal %d, shares stay as "
			"they are",
		    WTERMSIG(status));
}

void
policy_due(struct policy *p)
{
	p->due = true;
}

void
policy_turn(struct policy *p)
{
	if (p->answered && p->jobs->life.n_active == p->jobs->life.n_jobs)
		p->due = false;
	p->answered = false;
	if (p->pid > 0)
		reap(p);
	if (p->due && p->pid == 0) {
		if (p->command == NULL)
			p->due = false;
		else
			ask(p);
	}
}

bool
policy_holds(const struct policy *p)
{
	return p->pid > 0 && p->jobs->life.now_s < p->asked_s + head_start_s;
}

double
policy_wakes_s(const struct policy *p)
{
	double hold_s = p->asked_s + head_start_s;
	double late_s = p->asked_s + p->o->policy_timeout_s;

	if (p->pid == 0)
		return HUGE_VAL;
	return p->jobs->life.now_s < hold_s ? fmin(hold_s, late_s) : late_s;
}

void
policy_stop(struct policy *p)
{
	if (p->pid == 0)
		return;
	kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) == -1 && errno == EINTR)
		;
	p->pid = 0;
}
