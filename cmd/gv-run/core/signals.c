#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

/*
 * Signals wake the loop through a pipe: whenever one comes between looking and
 * sleeping, the sleep ends at once.
 */
static int wake[2] = {-1, -1};
static volatile sig_atomic_t first;
static volatile sig_atomic_t another;
static volatile sig_atomic_t hup;
static volatile sig_atomic_t asks;

static void
on_signal(int sig)
{
	int error = errno;

	if (sig == SIGHUP && asks)
		hup = 1;
	else if (sig != SIGCHLD && first == 0)
		first = sig;
	else if (sig != SIGCHLD && sig != first)
		another = 1;
	(void)!write(wake[1], "", 1);
	errno = error;
}

void
signals_catch(bool hup_asks)
{
	static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa;
	size_t i;

	asks = hup_asks;
	if (pipe(wake) != 0)
		gv_die_sys("cannot make a pipe");
	for (i = 0; i < 2; i++)
		if (fcntl(wake[i], F_SETFD, FD_CLOEXEC) == -1 ||
		    fcntl(wake[i], F_SETFL, O_NONBLOCK) == -1)
			gv_die_sys("cannot make a pipe");
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		if (sigaction(caught[i], NULL, &sa) == 0 && sa.sa_handler == SIG_IGN &&
		    caught[i] != SIGCHLD && !(caught[i] == SIGHUP && hup_asks))
			continue; /* nohup */
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = on_signal;
		sa.sa_flags = SA_RESTART;
		sigfillset(&sa.sa_mask); /* one at a time: first and another are a pair */
		sigaction(caught[i], &sa, NULL);
	}
	/* the output tells, and the workers must be stopped first */
	signal(SIGPIPE, SIG_IGN);
}

bool
signals_hup(void)
{
	bool came = hup != 0;

	hup = 0;
	return came;
}

int
signals_first(void)
{
	return first;
}

bool
signals_another(void)
{
	return another != 0;
}

int
signals_fd(void)
{
	return wake[0];
}

void
signals_clear(void)
{
	char buf[256];

	while (read(wake[0], buf, sizeof(buf)) > 0)
		;
}
