/* Private to common/launch/slurm: what its files share. */
#ifndef GV_LAUNCH_SLURM_CORE_H
#define GV_LAUNCH_SLURM_CORE_H

#include "base/strbuf.h"
#include "launch/launcher.h"
#include "launch/slurm/command.h"
#include "launch/slurm/slurm.h"

/* A launcher as launch.h knows it, and what stands behind it. */
struct gv_slurm_handle {
	struct gv_launcher launcher;
	struct gv_slurm *slurm;
};

struct gv_slurm {
	struct gv_slurm_handle handle;
	struct gv_slurm_allocation allocation;
	char *dir;  /* of all launches */
	char *self; /* this program */
	bool (*stopped)(void);
	char *jobs;        /* "1,2", for squeue */
	char *nodes;       /* "n1,n2", for sinfo */
	size_t n_begun;    /* launches so far */
	size_t n_starting; /* sruns that have been forked and whose workers are not up */
	bool slow;         /* it was said that one takes its time */

	/* what was seen last */
	struct gv_slurm_command queue, info;
	double look_s; /* not to be looked at before */
	bool looking;  /* the two run */
	bool away;     /* the controller does not answer */
	bool over;
	double ends_s; /* of gv_clock_s; HUGE_VAL = no end is known */
	unsigned turns;
	char reason[GV_ERROR_LEN];
};

/* Commands of Slurm take no longer, or are killed, s. */
extern const double gv_slurm_patience_s;

/* ---- ask.c ---- */

/*
 * Runs a command until it succeeds, or fails for good, or for as long as a restart of Slurm
 * may take, each time limit_s at most, or until all is stopped: its status, -1: there is
 * none.  One that takes its time is told of once.
 */
int gv_slurm_ask(const struct gv_slurm *s, struct gv_slurm_command *c, char *const *argv,
    double limit_s);
bool gv_slurm_is_stopped(const struct gv_slurm *s);
/* What a command that has failed said, as one error.  -1. */
int gv_slurm_cannot(
    struct gv_error *e, const struct gv_slurm_command *c, const char *what);

/* ---- step.c ---- */

struct gv_launch *gv_slurm_step_start(const struct gv_launcher *by,
    const struct gv_launch_spec *spec, struct gv_launch_news *news);
void gv_slurm_step_stop(struct gv_launch *l);
void gv_slurm_step_kill(struct gv_launch *l);
void gv_slurm_step_poll(struct gv_launch *l, bool wait, struct gv_launch_news *news);
void gv_slurm_step_free(struct gv_launch *l);

/* ---- site.c ---- */

void gv_slurm_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site);
bool gv_slurm_usable(
    const struct gv_launcher *by, const char *node, int gpu, const char **why);
/* The first look, which is waited for. */
void gv_slurm_look_first(struct gv_slurm *s);
/* Something has gone wrong: look at once. */
void gv_slurm_look_soon(struct gv_slurm *s);

/* ---- srun.c ---- */

/* The first words of an srun on nodes of one group, NULL-ended with room for more. */
enum { GV_SRUN_WORDS = 24 };

struct gv_srun {
	char *word[GV_SRUN_WORDS];
	size_t n;
	struct gv_strbuf text[8];
	size_t n_text;
};

/*
 * An srun of PROGRAM --worker=MODE, one task on each of n nodes that are of one group,
 * with all GPUs that these have.  Free it with gv_srun_free.
 */
void gv_srun_make(struct gv_srun *r, const struct gv_slurm *s,
    const struct gv_slurm_node *const *node, size_t n, const char *name,
    const char *mode);
void gv_srun_free(struct gv_srun *r);

/* ---- files.c ---- */

/* The path DIR/NAME or DIR/NAME.SUFFIX (SUFFIX NULL = none); the caller frees. */
char *gv_slurm_path(const char *dir, const char *name, const char *suffix);
bool gv_slurm_file_there(const char *dir, const char *name, const char *suffix);
/* Writes it by rename, in one piece.  0 or -1. */
int gv_slurm_file_put(
    const char *dir, const char *name, const char *suffix, const char *text);
/* Its words, NULL = it is not there (yet); the caller frees. */
char *gv_slurm_file_get(const char *dir, const char *name, const char *suffix);

/* ---- handing.c: a launch, as srun's environment carries it to the nodes ---- */

/* Variables for srun's environment, behind those of env; NULL-ended, as gv_launch_env's. */
char **gv_handing_env(char *const *env, const struct gv_launch_spec *spec,
    const struct gv_launch_meeting *m, const char *dir);

struct gv_handing {
	struct gv_launch_spec spec;
	const char *dir;
	int *gpus;
	const char **node;
	char *text; /* what node points into */
};

/* Takes them out of this process's environment.  0, or -1: they are not all there. */
int gv_handing_take(struct gv_handing *h);

#endif
