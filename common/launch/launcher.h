/*
 * What a launcher brings.  A launch of its own begins with struct gv_launch, and
 * the launcher's state, if it has any, with struct gv_launcher:
 *
 *	struct slurm { struct gv_launcher launcher; char *job; ... };
 *	struct step { struct gv_launch launch; ... };
 *
 * The functions are those of launch.h, which calls them only with launches of
 * theirs that are not over; stop may come several times, and before it is known
 * whether the launch is up.
 */
#ifndef GV_LAUNCH_LAUNCHER_H
#define GV_LAUNCH_LAUNCHER_H

#include "launch/launch.h"

struct gv_launch {
	const struct gv_launcher *by;
	bool told; /* set by launch.c before stop or kill is called */
};

struct gv_launcher {
	const char *name;
	/*
	 * Makes the launch and sets news->state to UP or NONE; or returns NULL
	 * with the state NOT_STARTED and its reason.  *news is zeroed before.
	 */
	struct gv_launch *(*start)(const struct gv_launcher *by,
	    const struct gv_launch_spec *spec, struct gv_launch_news *news);
	void (*stop)(struct gv_launch *l);
	void (*kill)(struct gv_launch *l);
	/* Sets news->state and what belongs to it; told is filled in by launch.c. */
	void (*poll)(struct gv_launch *l, bool wait, struct gv_launch_news *news);
	void (*free)(struct gv_launch *l); /* of a launch that is over */
	/* As gv_launch_look and gv_launch_usable; NULL = nothing ever changes. */
	void (*look)(
	    const struct gv_launcher *by, bool soon, struct gv_launch_site *site);
	bool (*usable)(
	    const struct gv_launcher *by, const char *node, int gpu, const char **why);
	/* As gv_launch_changed; NULL = any of them may have. */
	void (*changed)(struct gv_launch *const *l, size_t n, bool *changed);
};

/* "not started": fills *news with a reason; error is an errno or 0. */
void gv_launch_not_started(struct gv_launch_news *news, int error, const char *fmt, ...)
    GV_PRINTF(3, 4);

enum { GV_LAUNCH_KEY_LEN = 64 };

/* How the workers of one launch find and know each other. */
struct gv_launch_meeting {
	const char *addr;                /* MASTER_ADDR */
	int port;                        /* MASTER_PORT */
	char key[GV_LAUNCH_KEY_LEN + 1]; /* GV_GANG_KEY; "" = one worker needs none */
};

/*
 * Fills addr and port from the spec, and key, unless the spec has one, with fresh random
 * bytes when there are several workers; port 0 is the launcher's to choose.  0, or -1
 * with errno set: no random bytes are to be had.
 */
int gv_launch_meet(struct gv_launch_meeting *m, const struct gv_launch_spec *spec);
/*
 * A port of this node that nobody has at this moment, nor is given by the system before it is
 * used, where there is one; torchrun's if none is told.
 */
int gv_launch_free_port(void);

/*
 * The environment of a worker: this process's own (or the few variables that
 * clean_env keeps) with the launcher's variables put in or taken out.  A
 * NULL-ended array; free with gv_launch_env_free.
 */
char **gv_launch_env(
    const struct gv_launch_spec *spec, size_t rank, const struct gv_launch_meeting *m);
void gv_launch_env_free(char **env); /* NULL is allowed */

#endif
