/* What runs are called. */
#ifndef GV_REPORT_NAME_H
#define GV_REPORT_NAME_H

struct operand {
	const char *name, *path;
};

/*
 * An operand: NAME=FILE, unless there is a file of that whole name or a directory in
 * front of the =, or FILE, whose name without directories and endings (.csv, .tsv, .txt,
 * .log, .gz; .events, .jobs and .summary before them) is the run's; of a file that is
 * called events, jobs or summary that of its directory; stdin of -.  A name that is
 * given (not NULL) is the name.
 */
struct operand operand_of(const char *arg, const char *name);

#endif
