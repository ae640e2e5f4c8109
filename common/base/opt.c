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

void
gv_opt_common(struct gv_opt *o, int code, int argc, char **argv)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	char q[GV_QUOTE_LEN];

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
		gv_opt_usage(o, "option %s needs an argument", gv_quote(q, word, strlen(word)));
	default:
		if (optopt > 0 && optopt < 256 && word[0] == '-' && word[1] != '-') {
			char letter[3] = {'-', (char)optopt, '\0'};

			gv_opt_usage(o, "unknown option %s", gv_quote(q, letter, 2));
		}
		gv_opt_usage(o, "unknown option %s", gv_quote(q, word, strlen(word)));
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
