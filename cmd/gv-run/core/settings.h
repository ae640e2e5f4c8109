/* What the command line says. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "sched/rounds/rounds.h"

/* What a user wants of jobs of a run that is under way (control.h). */
enum control_kind { CONTROL_NONE, CONTROL_CANCEL, CONTROL_HOLD, CONTROL_RELEASE };

enum launcher { LAUNCHER_LOCAL, LAUNCHER_SLURM };

struct settings {
	const char *cluster;
	const char *state;  /* NULL = a directory below TMPDIR */
	const char *policy; /* a command; NULL = by the table's column policy */
	const char *log_dir;
	const char *node;
	const char *input;
	enum launcher launcher;
	const char *slurm_job; /* NULL = that around us */
	double round_s;
	double grace_s;
	double policy_timeout_s;
	int max_failures;
	enum gv_round_order order;
	bool dry_run;
	bool resume;
	bool repair;
	enum control_kind request; /* else this is a run */
	bool clean_env;
	bool status; /* a look at a run */
	bool submit; /* jobs for one */
	bool follow; /* its events */
	bool watch;
	bool quiet;
	int verbose;
	bool tsv;
};

#endif
