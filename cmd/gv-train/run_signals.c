/* Signals: the one thing here that is not of a run. */
#include <signal.h>
#include <string.h>

#include "run.h"

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t save_signal;

static void
on_stop(int sig)
{
	stop_signal = sig;
}

static void
on_save(int sig)
{
	save_signal = sig;
}

static void
catch_signal(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sigemptyset(&sa.sa_mask);
	sa.sa_handler = handler;
	sa.sa_flags = SA_RESTART | flags;
	sigaction(sig, &sa, NULL);
}

void
run_catch_save(void)
{
	catch_signal(SIGUSR1, on_save, 0);
}

void
run_catch_stop(void)
{
	struct sigaction before;

	catch_signal(SIGTERM, on_stop, 0);
	/* a shell ignores ^C for what runs in its background; a second ^C does not wait */
	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		catch_signal(SIGINT, on_stop, (int)SA_RESETHAND);
}

unsigned
run_flags(void)
{
	unsigned flags = save_signal != 0 ? FLAG_SAVE : 0;

	if (stop_signal != 0)
		flags |= stop_signal == SIGINT ? FLAG_INTERRUPT : FLAG_STOP;
	return flags;
}

void
run_forget_save(void)
{
	save_signal = 0;
}
