/*
 * Options that mean the same in every program.
 *
 * A program lists its own long options behind the shared ones:
 *
 *	static const struct option longopts[] = {
 *		GV_OPT_COMMON, GV_OPT_TABLE,
 *		{"policy", required_argument, NULL, 'p'},
 *		{NULL, 0, NULL, 0}};
 *	static const char shortopts[] = GV_OPT_SHORT GV_OPT_TABLE_SHORT "p:";
 *
 * and gives what its switch does not know to gv_opt_common().  Codes of long
 * options without a letter start at GV_OPT_OWN.
 *
 * A program with many lists instead where each goes, and calls gv_opt_parse():
 *
 *	const struct gv_opt_own own[] = {
 *		{"policy", required_argument, 'p', .set = set_policy},
 *		{"cluster", required_argument, 'c', .text = &o->cluster},
 *		{"certify", no_argument, .flag = &o->certify},
 *		{.name = NULL}};
 */
#ifndef GV_BASE_OPT_H
#define GV_BASE_OPT_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { GV_OPT_TSV = 256, GV_OPT_OWN = 300 };

#define GV_OPT_SHORT       ":hVo:qv"
#define GV_OPT_TABLE_SHORT ""
#define GV_OPT_COMMON                                                                    \
	{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'},           \
	    {"output", required_argument, NULL, 'o'}, {"quiet", no_argument, NULL, 'q'}, \
	{                                                                                \
		"verbose", no_argument, NULL, 'v'                                        \
	}
#define GV_OPT_TABLE                                 \
	{                                            \
		"tsv", no_argument, NULL, GV_OPT_TSV \
	}

struct gv_opt {
	const char *usage; /* one "usage: ..." line, printed behind a usage error */
	/* what --help prints: usage and all options, at most 24 lines or so */
	const char *help;
	const char *output; /* -o, NULL = standard output */
	bool quiet;
	int verbose;
	bool tsv;
};

/*
 * Handles what getopt_long returned when the program's own switch did not:
 * fills *o; --help and --version print and exit; '?' and ':' become a usage
 * error (an unknown option, an argument missing).
 */
void gv_opt_common(struct gv_opt *o, int code, int argc, char **argv);

/* "PROG: message", the usage line, exit 2. */
GV_NORETURN void gv_opt_usage(const struct gv_opt *o, const char *fmt, ...)
    GV_PRINTF(2, 3);

/* One of a program's own options; exactly one of set, text and flag. */
struct gv_opt_own {
	const char *name;
	int has_arg;                             /* no_argument or required_argument */
	char letter;                             /* 0 = none */
	void (*set)(void *ctx, const char *arg); /* arg NULL: it takes none */
	const char **text;                       /* = its argument */
	bool *flag;                              /* = true */
};

/*
 * Reads all options: those of own (the last has name NULL; 64 at most) and the
 * common ones, --tsv among them when table is set.  Leaves optind at the operands.
 */
void gv_opt_parse(struct gv_opt *o, bool table, const struct gv_opt_own *own, void *ctx,
    int argc, char **argv);

/* A subcommand's name and its main, whose argv[0] is that name. */
struct gv_opt_sub {
	const char *name;
	int (*run)(int argc, char **argv);
};

/*
 * Runs the one of sub[0..n) that the first operand names, and returns what it returns.
 * Before it only --help and --version may stand; anything else is a usage error.
 */
int gv_opt_subcommand(
    struct gv_opt *o, const struct gv_opt_sub *sub, size_t n, int argc, char **argv);

/* The number of arg among names[0..n), or a usage error that lists them. */
size_t gv_opt_one_of(const struct gv_opt *o, const char *option, const char *arg,
    const char *const *names, size_t n);

/*
 * Arguments of options as numbers; a malformed or out-of-range one is a usage
 * error that names the option.
 */
int64_t gv_opt_int(const struct gv_opt *o, const char *option, const char *arg,
    int64_t min, int64_t max);
double gv_opt_double(
    const struct gv_opt *o, const char *option, const char *arg, double min, double max);
double gv_opt_duration(const struct gv_opt *o, const char *option, const char *arg);

/*
 * The one input of a filter: the operand behind the options, "-" when there is
 * none.  Without an operand, and standard input a terminal, or with more than
 * one operand: a usage error.
 */
const char *gv_opt_input(const struct gv_opt *o, int argc, char **argv);

#endif
