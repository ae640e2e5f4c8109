#include "base/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/num.h"

#ifndef GV_VERSION
#define GV_VERSION "unknown"
#endif

void
gv_opt_usage(const struct gv_opt *o, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	gv_die("%s\n%s", text, o->usage);
}

static GV_NORETURN void
finish(void)
{
	exit(gv_finish());
}

/*
 * The option that getopt_long did not like, quoted: the word before optind when
 * that is a long one, else the letter, which may stand amid others.
 */
static char *
at_fault(char quoted[GV_QUOTE_LEN], int argc, char **argv)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	char letter[2] = {'-', (char)optopt};

	if (optopt > 0 && optopt < 256 && strncmp(word, "--", 2) != 0)
		return gv_quote(quoted, letter, 2);
	return gv_quote(quoted, word, strlen(word));
}

void
gv_opt_common(struct gv_opt *o, int code, int argc, char **argv)
{
	char option[GV_QUOTE_LEN];

	switch (code) {
	case 'h':
		gv_out_str(gv_stdout(), o->help);
		finish();
	case 'V':
		gv_out_fmt(gv_stdout(), "%s %s\n", gv_progname(), GV_VERSION);
		finish();
	case 'o':
		o->output = optarg;
		return;
	case 'q':
		o->quiet = true;
		return;
	case 'v':
		o->verbose++;
		return;
	case GV_OPT_TSV:
		o->tsv = true;
		return;
	case ':':
		gv_opt_usage(o, "option %s needs an argument", at_fault(option, argc, argv));
	default:
		at_fault(option, argc, argv);
		if (optopt != 0 && strncmp(option, "\"--", 3) == 0)
			gv_opt_usage(o, "option %s takes no argument", option);
		gv_opt_usage(o, "unknown option %s", option);
	}
}

int64_t
gv_opt_int(const struct gv_opt *o, const char *option, const char *arg, int64_t min, int64_t max)
{
	char q[GV_QUOTE_LEN];
	int64_t v;

	if (gv_parse_int(arg, strlen(arg), &v) != 0 || v < min || v > max)
		gv_opt_usage(o, "%s: expected a whole number from %lld to %lld, got %s", option,
		    (long long)min, (long long)max, gv_quote(q, arg, strlen(arg)));
	return v;
}

double
gv_opt_double(const struct gv_opt *o, const char *option, const char *arg, double min, double max)
{
	char q[GV_QUOTE_LEN];
	double v;

	if (gv_parse_double(arg, strlen(arg), &v) != 0 || !(v >= min && v <= max))
		gv_opt_usage(o, "%s: expected a number from %g to %g, got %s", option, min, max,
		    gv_quote(q, arg, strlen(arg)));
	return v;
}

double
gv_opt_duration(const struct gv_opt *o, const char *option, const char *arg)
{
	char q[GV_QUOTE_LEN];
	double v;

	if (gv_parse_duration(arg, &v) != 0)
		gv_opt_usage(o, "%s: expected a duration such as 90s, 15m or 2h, got %s", option,
		    gv_quote(q, arg, strlen(arg)));
	return v;
}

const char *
gv_opt_input(const struct gv_opt *o, int argc, char **argv)
{
	if (argc - optind > 1)
		gv_opt_usage(o, "too many operands");
	if (argc - optind == 1)
		return argv[optind];
	if (isatty(STDIN_FILENO))
		gv_opt_usage(o, "no input: name a file, or pipe a table in");
	return "-";
}
