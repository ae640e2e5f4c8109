/*
 * Asks the policy, a command that reads rates and writes an allocation.  Its
 * tables are files of the state directory, so a user can look at what was asked
 * and answered, and nothing here can block on a pipe.
 */
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

#include "base/mem.h"
#include "base/strbuf.h"
#include "run.h"

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
named_policy(const struct run *r, const char *name)
{
	struct gv_strbuf b = {0};
	char *cluster = state_path(r, "cluster.csv");

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
int
policy_choose(struct run *r, struct gv_error *e)
{
	char *path = state_path(r, "policy");
	const char *name;
	size_t len;
	int rc = 0;

	if (r->o->policy != NULL) {
		r->policy.command = gv_xstrdup(r->o->policy);
		r->policy.own = true;
		rc = gv_file_write(path, r->o->policy, strlen(r->o->policy), e);
	} else if (r->o->resume && access(path, F_OK) == 0) {
		rc = gv_file_read(path, &r->policy.command, &len, 1 << 20, e);
		r->policy.own = true;
	} else {
		unlink(path);
		rc = table_policy(&r->table, &name, e);
		if (rc == 0 && name != NULL)
			r->policy.command = named_policy(r, name);
	}
	free(path);
	return rc;
}

void
policy_table_shares(struct run *r)
{
	size_t i;

	for (i = 0; i < r->table.n_rates; i++) {
		const struct gv_rate *rate = &r->table.rate[i];
		struct gv_round_claim *c;
		size_t m = rate->job;
		bool first;

		if (rate->type < 0)
			continue;
		if (rate->with >= 0)
			m = gv_rounds_pair(&r->rounds, rate->job, (size_t)rate->with);
		first = r->rounds.job[m].member[0] == rate->job;
		c = gv_rounds_claim(&r->rounds, m, (size_t)rate->type);
		c->rate = first ? rate->steps_per_s : rate->with_steps_per_s;
		c->with_rate = first ? rate->with_steps_per_s : rate->steps_per_s;
		c->share = rate->share;
	}
}

void
policy_announce(struct run *r)
{
	size_t n = r->rounds.n_types;
	size_t m;
	size_t j;

	for (m = 0; m < r->rounds.n_jobs; m++)
		for (j = 0; j < n && gv_rounds_is_active(&r->rounds, m); j++) {
			double share = gv_rounds_claim(&r->rounds, m, j)->share;

			if (r->told[m * n + j] == share)
				continue;
			journal_share(r, m, j, share);
			r->told[m * n + j] = share;
		}
}

/* ---- asking ---- */

/* The rate of a job on its isolated share: N_j/(M s_m) of each type, at most 1 in all. */
static double
isolated_rate(const struct run *r, size_t m, size_t n_active)
{
	double sum = 0;
	double rate = 0;
	size_t p;

	for (p = 0; p < r->rounds.n_pools; p++) {
		const struct gv_round_pool *pool = &r->rounds.pool[p];
		double x = (double)pool->gpus /
			   ((double)n_active * (double)r->rounds.job[m].gang);

		if (gv_rounds_claim(&r->rounds, m, pool->type)->rate > 0)
			sum += x; /* of a type it cannot use it has no time */
		rate += x * gv_rounds_claim(&r->rounds, m, pool->type)->rate;
	}
	return sum > 1 ? rate / sum : rate;
}

static void
count_isolated(struct run *r)
{
	size_t m;

	for (m = 0; m < r->policy.n_asked; m++) {
		struct job *j = &r->job[r->policy.asked[m]];
		double steps = j->report.steps > 0 ? j->report.steps : 0;

		if (j->isolated_rate > 0 && steps > j->isolated_steps)
			j->isolated_s += (steps - j->isolated_steps) / j->isolated_rate;
		j->isolated_steps = steps;
		j->isolated_rate =
		    isolated_rate(r, r->policy.asked[m], r->policy.n_asked);
	}
}

static GV_NORETURN void
become_policy(const struct run *r, const char *in, const char *out)
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
	if (chdir(r->directory) != 0 || from == -1 || to == -1 || dup2(from, 0) == -1 ||
	    dup2(to, 1) == -1)
		_exit(125);
	if (from > 2)
		close(from);
	if (to > 2)
		close(to);
	execl("/bin/sh", "sh", "-c", r->policy.command, (char *)NULL);
	_exit(127);
}

static int
start_asking(struct run *r, struct gv_error *e)
{
	char *in = state_path(r, "policy.in.csv");
	char *out = state_path(r, "policy.out.csv");
	int rc = table_write_rates(r, in, e);

	if (rc == 0) {
		r->policy.pid = fork();
		if (r->policy.pid == 0)
			become_policy(r, in, out);
		if (r->policy.pid == -1) {
			r->policy.pid = 0;
			rc = gv_error_sys(e, "cannot start a process");
		} else {
			setpgid(r->policy.pid, r->policy.pid);
		}
	}
	free(in);
	free(out);
	return rc;
}

static void
ask(struct run *r)
{
	struct policy *p = &r->policy;
	struct gv_error e = {0};
	size_t m;

	p->due = false;
	p->n_asked = 0;
	for (m = 0; m < r->n_jobs; m++)
		if (r->rounds.job[m].active)
			p->asked[p->n_asked++] = m;
	if (p->n_asked == 0)
		return;
	count_isolated(r);
	p->asked_s = r->now_s;
	if (start_asking(r, &e) == 0)
		return;
	gv_warn("warning: the policy cannot be asked, shares stay as they are:");
	gv_warn_error(&e);
}

/* ---- waiting for its answer ---- */

static void
reap(struct run *r)
{
	int status;
	pid_t pid = waitpid(r->policy.pid, &status, WNOHANG);
	bool late = r->now_s - r->policy.asked_s >= r->o->policy_timeout_s;

	if (pid == 0 && late) {
		kill(-r->policy.pid, SIGKILL);
		gv_warn("warning: the policy did not answer within %g s, shares stay as "
			"they are",
		    r->o->policy_timeout_s);
		while (waitpid(r->policy.pid, &status, 0) == -1 && errno == EINTR)
			;
		r->policy.pid = 0;
	}
	if (pid <= 0)
		return;
	r->policy.pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		policy_take_answer(r);
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
policy_turn(struct run *r)
{
	struct policy *p = &r->policy;

	if (p->pid > 0) {
		reap(r);
		if (p->pid == 0) {
			gv_rounds_settle(&r->rounds);
			r->fill = true;
		}
	}
	if (p->due && p->pid == 0) {
		if (p->command == NULL)
			p->due = false;
		else
			ask(r);
	}
}

bool
policy_holds(const struct run *r)
{
	return r->policy.pid > 0 && r->now_s < r->policy.asked_s + head_start_s;
}

double
policy_wakes_s(const struct run *r)
{
	double hold_s = r->policy.asked_s + head_start_s;
	double late_s = r->policy.asked_s + r->o->policy_timeout_s;

	if (r->policy.pid == 0)
		return HUGE_VAL;
	return r->now_s < hold_s ? fmin(hold_s, late_s) : late_s;
}

void
policy_stop(struct run *r)
{
	if (r->policy.pid == 0)
		return;
	kill(-r->policy.pid, SIGKILL);
	while (waitpid(r->policy.pid, NULL, 0) == -1 && errno == EINTR)
		;
	r->policy.pid = 0;
}
