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

enum { OWN_MOST = 64 };

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
		gv_opt_usage(
		    o, "option %s needs an argument", at_fault(option, argc, argv));
	default:
		at_fault(option, argc, argv);
		if (optopt != 0 && strncmp(option, "\"--", 3) == 0)
			gv_opt_usage(o, "option %s takes no argument", option);
		gv_opt_usage(o, "unknown option %s", option);
	}
}

/* What getopt_long wants to see of own and of the common options. */
static void
list_options(
    struct option *longopts, char *letters, bool table, const struct gv_opt_own *own)
{
	static const struct option common[] = {
	    GV_OPT_COMMON, GV_OPT_TABLE, {NULL, 0, NULL, 0}};
	size_t i, n = 0;

	strcpy(letters, GV_OPT_SHORT GV_OPT_TABLE_SHORT);
	letters += strlen(letters);
	for (i = 0; common[i].name != NULL; i++)
		if (table || common[i].val != GV_OPT_TSV)
			longopts[n++] = common[i];
	for (i = 0; own[i].name != NULL; i++) {
		longopts[n++] = (struct option){
		    own[i].name, own[i].has_arg, NULL, GV_OPT_OWN + (int)i};
		if (own[i].letter == 0)
			continue;
		*letters++ = own[i].letter;
		if (own[i].has_arg == required_argument)
			*letters++ = ':';
	}
	longopts[n] = (struct option){NULL, 0, NULL, 0};
	*letters = '\0';
}

static const struct gv_opt_own *
find_option(const struct gv_opt_own *own, int code)
{
	size_t i;

	for (i = 0; own[i].name != NULL; i++)
		if (code == GV_OPT_OWN + (int)i ||
		    (own[i].letter != 0 && code == own[i].letter))
			return &own[i];
	return NULL;
}

void
gv_opt_parse(struct gv_opt *o, bool table, const struct gv_opt_own *own, void *ctx,
    int argc, char **argv)
{
	struct option longopts[OWN_MOST + 8];
	char letters[2 * OWN_MOST + 16];
	int code;

	list_options(longopts, letters, table, own);
	while ((code = getopt_long(argc, argv, letters, longopts, NULL)) != -1) {
		const struct gv_opt_own *found = find_option(own, code);

		if (found == NULL)
			gv_opt_common(o, code, argc, argv);
		else if (found->set != NULL)
			found->set(ctx, optarg);
		else if (found->text != NULL)
			*found->text = optarg;
		else
			*found->flag = true;
	}
}

size_t
gv_opt_one_of(const struct gv_opt *o, const char *option, const char *arg,
    const char *const *names, size_t n)
{
	char known[512] = "";
	char q[GV_QUOTE_LEN];
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		if (strcmp(arg, names[i]) == 0)
			return i;
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
			    i > 0 ? ", " : "", names[i]);
	}
	gv_opt_usage(
	    o, "%s: unknown %s; known: %s", option, gv_quote(q, arg, strlen(arg)), known);
}

int64_t
gv_opt_int(
    const struct gv_opt *o, const char *option, const char *arg, int64_t min, int64_t max)
{
	char q[GV_QUOTE_LEN];
	int64_t v;

	if (gv_parse_int(arg, strlen(arg), &v) != 0 || v < min || v > max)
		gv_opt_usage(o, "%s: expected a whole number from %lld to %lld, got %s",
		    option, (long long)min, (long long)max,
		    gv_quote(q, arg, strlen(arg)));
	return v;
}

double
gv_opt_double(
    const struct gv_opt *o, const char *option, const char *arg, double min, double max)
{
	char q[GV_QUOTE_LEN];
	double v;

	if (gv_parse_double(arg, strlen(arg), &v) != 0 || !(v >= min && v <= max))
		gv_opt_usage(o, "%s: expected a number from %g to %g, got %s", option,
		    min, max, gv_quote(q, arg, strlen(arg)));
	return v;
}

double
gv_opt_duration(const struct gv_opt *o, const char *option, const char *arg)
{
	char q[GV_QUOTE_LEN];
	double v;

	if (gv_parse_duration(arg, &v) != 0)
		gv_opt_usage(o, "%s: expected a duration such as 90s, 15m or 2h, got %s",
		    option, gv_quote(q, arg, strlen(arg)));
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
