/* What all launchers have in common. */
#include "launch/launch.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/entropy.h"
#include "launch/launcher.h"

enum {
	DEFAULT_PORT = 29500,
	LEAST_PORT = 10000
}; /* torchrun's; above what services have */

void
gv_launch_not_started(struct gv_launch_news *news, int error, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(news->reason, sizeof(news->reason), fmt, ap);
	va_end(ap);
	len = strlen(news->reason);
	if (error != 0)
		snprintf(news->reason + len, sizeof(news->reason) - len, ": %s",
		    strerror(error));
	news->state = GV_LAUNCH_NOT_STARTED;
	news->error = error;
}

enum gv_launch_state
gv_launch_start(struct gv_launch **l, const struct gv_launcher *by,
    const struct gv_launch_spec *spec, struct gv_launch_news *news)
{
	memset(news, 0, sizeof(*news));
	*l = NULL;
	if (spec->n_gpus == 0)
		gv_launch_not_started(
		    news, 0, "job \"%s\" was given no GPU", spec->job_id);
	else
		*l = by->start(by, spec, news);
	if (*l != NULL)
		(*l)->by = by;
	return news->state;
}

void
gv_launch_stop(struct gv_launch *l)
{
	if (l == NULL)
		return;
	l->told = true;
	l->by->stop(l);
}

void
gv_launch_kill(struct gv_launch *l)
{
	if (l == NULL)
		return;
	l->told = true;
	l->by->kill(l);
}

enum gv_launch_state
gv_launch_poll(struct gv_launch **l, bool wait, struct gv_launch_news *news)
{
	memset(news, 0, sizeof(*news));
	if (*l == NULL)
		return GV_LAUNCH_NONE;
	(*l)->by->poll(*l, wait, news);
	news->told = (*l)->told;
	if (news->state != GV_LAUNCH_NONE && news->state != GV_LAUNCH_UP) {
		(*l)->by->free(*l);
		*l = NULL;
	}
	return news->state;
}

void
gv_launch_changed(struct gv_launch *const *l, size_t n, bool *changed)
{
	size_t i;

	for (i = 0; i < n; i++)
		changed[i] = true;
	if (n > 0 && l[0]->by->changed != NULL)
		l[0]->by->changed(l, n, changed);
}

/* ---- where ---- */

void
gv_launch_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site)
{
	*site = (struct gv_launch_site){.left_s = HUGE_VAL};
	if (by->look != NULL)
		by->look(by, soon, site);
}

bool
gv_launch_usable(
    const struct gv_launcher *by, const char *node, int gpu, const char **why)
{
	*why = "";
	return by->usable == NULL || by->usable(by, node, gpu, why);
}

/* ---- how a gang meets ---- */

/* The first port that the system hands out to whoever does not mind which one it has. */
static int
first_given(void)
{
	int first = 0;
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%d", &first) != 1)
		first = 0;
	fclose(f);
	return first;
}

/* Whether nobody has the port (0: any), which it then is; else 0. */
static int
free_one(int port)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd == -1)
		return 0;
	memset(&a, 0, sizeof(a));
	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(INADDR_ANY);
	a.sin_port = htons((uint16_t)port);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&a, &len) == 0)
		port = ntohs(a.sin_port);
	else
		port = 0;
	close(fd);
	return port;
}

int
gv_launch_free_port(void)
{
	int first = first_given(), port = 0, tries;
	uint16_t drawn;

	for (tries = 0; tries < 20 && first > 2 * LEAST_PORT && port == 0; tries++)
		if (gv_entropy(&drawn, sizeof(drawn)) == 0)
			port = free_one(LEAST_PORT + drawn % (first - LEAST_PORT));
	if (port == 0)
		port = free_one(0);
	return port != 0 ? port : DEFAULT_PORT;
}

int
gv_launch_meet(struct gv_launch_meeting *m, const struct gv_launch_spec *spec)
{
	unsigned char b[GV_LAUNCH_KEY_LEN / 2];
	size_t i;

	memset(m, 0, sizeof(*m));
	m->addr = spec->master_addr;
	if (m->addr == NULL)
		m->addr = spec->node != NULL &&
				  strcmp(spec->node[0], spec->node[spec->n_gpus - 1]) != 0
			      ? spec->node[0]
			      : "127.0.0.1";
	m->port = spec->master_port;
	if (spec->gang_key != NULL) {
		snprintf(m->key, sizeof(m->key), "%s", spec->gang_key);
		return 0;
	}
	if (spec->n_gpus == 1)
		return 0;
	if (gv_entropy(b, sizeof(b)) != 0)
		return -1;
	for (i = 0; i < sizeof(b); i++)
		snprintf(m->key + 2 * i, 3, "%02x", b[i]);
	return 0;
}
