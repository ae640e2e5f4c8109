/* Private to common/launch/slurm: one launch. */
#ifndef GV_LAUNCH_SLURM_STEP_H
#define GV_LAUNCH_SLURM_STEP_H

#include <sys/types.h>

#include "launch/slurm/core.h"

enum phase {
	QUEUED,   /* waits for its turn */
	STARTING, /* srun was forked */
	UP,       /* the first node has said that its workers run */
	SETTLING, /* srun has gone; some nodes have not said how it ended there */
	OVER
};

/* Why the workers of a node left. */
enum how {
	OWN,    /* by themselves */
	TOLD,   /* told to stop on their standard input */
	CUT,    /* it ended, and nobody could have told them any more */
	TERM,   /* Slurm sent SIGTERM */
	FENCED, /* the launch was given up by who made it */
	UNKEPT, /* who looked after them was killed; text */
	REFUSED /* they could not be started; text: why */
};

struct left {
	bool known;
	int status;
	double time_s;
	enum how how;
	bool starved;
	char text[GV_ERROR_LEN];
};

struct step {
	struct gv_launch launch;
	struct gv_slurm *slurm;
	enum phase phase;
	char *dir;
	const struct gv_slurm_node **node; /* [n_nodes], in order of ranks */
	size_t n_nodes;
	struct left *left; /* [n_nodes] */
	struct gv_srun srun;
	char **env;
	mode_t mask;
	int keep_fd;
	double grace_s;

	pid_t pid; /* of srun, 0 = there is none */
	int in;    /* its standard input is the other end */
	double began_s, gone_s;
	double alone_s;    /* not before is it looked whether srun alone is there */
	double deadline_s; /* then it is pressed; 0 = it was not told */
	bool pressed, hurried;
	bool was_up;
	bool made; /* a worker program has begun somewhere */
	bool srun_killed;
	bool out_of_memory;
	char failed
	    [GV_LAUNCH_NODE_LEN]; /* the node that Slurm said has failed; "" = none */
	char words[GV_ERROR_LEN]; /* srun's last line */

	struct gv_slurm_command sweep;
	bool sweeping, clean;
	double sweep_s; /* the next try */
	int sweeps;
};

/* The line of a left file, to be written by a worker. */
void gv_step_write_left(struct gv_strbuf *b, const struct left *left);

/* Reads the files of its directory: whether any worker program has begun. */
bool gv_step_read_left(struct step *t);
/* Reads what srun has said. */
void gv_step_read_srun(struct step *t);
/* Reads "left NODE LINE" out of what a sweep has said. */
void gv_step_read_told(struct step *t, const char *text);
/* What it has come to. */
void gv_step_conclude(const struct step *t, struct gv_launch_news *news);

#endif
