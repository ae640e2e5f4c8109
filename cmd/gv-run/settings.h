/* What the command line says. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "sched/rounds.h"

struct settings {
	const char *cluster;
	const char *state;  /* NULL = a directory below TMPDIR */
	const char *policy; /* a command; NULL = by the table's column policy */
	const char *log_dir;
	const char *node;
	const char *input;
	double round_s;
	double grace_s;
	double policy_timeout_s;
	int max_failures;
	enum gv_round_order order;
	bool dry_run;
	bool resume;
	bool repair;
	bool clean_env;
	bool quiet;
	int verbose;
	bool tsv;
};

#endif
