/* Where jobs are measured: this machine, or an allocation of Slurm. */
#ifndef GV_PROFILE_SITE_H
#define GV_PROFILE_SITE_H

#include "gpus.h"
#include "launch/launch.h"
#include "launch/slurm/slurm.h"
#include "sched/cluster.h"

struct site_options {
	bool slurm;            /* an allocation of Slurm, not this machine */
	const char *slurm_job; /* which, as of struct gv_slurm_options */
	const char *cluster;   /* the cluster table; NULL = what Slurm says */
	const char *node;  /* this machine in the cluster table; NULL = its host name */
	const char *state; /* a directory for files; NULL = $TMPDIR */
	bool quiet;
};

struct site {
	const struct gv_launcher *by;
	struct gv_slurm *slurm; /* NULL = this machine */
	struct gv_cluster cluster;
	char *scratch; /* a private directory, absolute; NULL = none yet */
};

/* Reads the cluster table; of Slurm, finds the allocation and looks at it.  0 or -1. */
int site_open(struct site *s, const struct site_options *o, struct gv_error *e);
/* Makes the private directory, unless it is there; it goes with a program that dies.  0 or -1. */
int site_scratch(struct site *s, const struct site_options *o, struct gv_error *e);
/* Removes the directory, and forgets all else.  0, or -1 with *e set. */
int site_close(struct site *s, struct gv_error *e);

/*
 * The GPUs of the cluster that can be had, of which no node runs more than most at once.
 * Of this machine that is for each type its largest pool here.  Free it with site_gpus_free.
 */
void site_gpus(struct gpus *g, const struct site *s, size_t most);
void site_gpus_free(struct gpus *g); /* also of a zeroed one */
/* The node of a GPU, as the launcher knows it; NULL = this machine. */
const char *site_node(const struct site *s, const struct gpu *gpu);

#endif
