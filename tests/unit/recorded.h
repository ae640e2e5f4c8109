/*
 * What a core answers to drawn input is what it has answered before, to the last bit, whatever
 * compiler made it: as tests/answers.sh for programs, many more questions a second.
 *
 *	struct recorded r;
 *	recorded_open(&r);                tests/answers/unit/NAME: checksum<TAB>question
 *	recorded_double(&r, x); ...       all that is part of one answer
 *	recorded_answer(&r, "5 jobs");    a check: it is what it was
 *	recorded_close(&r);
 *
 * Where answers are meant to change, GV_RECORD=1 build/unit/NAME writes them anew: the lines that
 * differ then are the questions to look at, and NEWS says why.  What comes out of the C library's
 * functions (exp, log, pow) differs between processors in its last bits: recorded_rounded().
 * What a solver of others has a part in, recorded_solved(), is compared to the last bit only
 * where recorded_glpk() finds the one that it was recorded with.
 */
#ifndef RECORDED_H
#define RECORDED_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "tap.h"

struct recorded {
	char path[256], new_path[264];
	FILE *new;         /* NULL = compared */
	char (*line)[160]; /* what there is */
	size_t n, at;
	uint64_t sum;
	uint64_t bits; /* of what is solved; 0 = nothing is */
	bool other;    /* these are not compared */
};

static inline void
recorded_bytes(struct recorded *r, const void *p, size_t n)
{
	const unsigned char *b = p;
	size_t i;

	for (i = 0; i < n; i++)
		r->sum = (r->sum ^ b[i]) * 1099511628211U;
}

static inline void
recorded_whole(struct recorded *r, long long v)
{
	uint64_t u = (uint64_t)v;
	int i;

	/* byte by byte: the same on either kind of machine */
	for (i = 0; i < 8; i++) {
		unsigned char c = (unsigned char)(u >> 8 * i);

		recorded_bytes(r, &c, 1);
	}
}

static inline void
recorded_wholes(struct recorded *r, const size_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		recorded_whole(r, (long long)v[i]);
}

static inline void
recorded_text(struct recorded *r, const char *s)
{
	recorded_bytes(r, s, strlen(s) + 1);
}

static inline void
recorded_double(struct recorded *r, double v)
{
	uint64_t bits;

	if (v != v || v == 0) /* of whichever sign */
		v = v != v ? (double)NAN : 0;
	memcpy(&bits, &v, sizeof bits);
	recorded_whole(r, v != v ? -1 : (long long)bits);
}

static inline void
recorded_doubles(struct recorded *r, const double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		recorded_double(r, v[i]);
}

/* To so many digits: what is below 1e-12 is 0. */
static inline void
recorded_rounded(struct recorded *r, double v, int digits)
{
	char s[400];

	snprintf(s, sizeof s, "%.*e", digits - 1, fabs(v) < 1e-12 ? 0.0 : v);
	recorded_text(r, s);
}

/* What is to be the same only where the solver is. */
static inline void
recorded_way(struct recorded *r, double v)
{
	const uint64_t sum = r->sum;

	r->sum = r->bits;
	recorded_double(r, v);
	r->bits = r->sum;
	r->sum = sum;
}

/* To nine digits, and where the solver is the same to the last bit. */
static inline void
recorded_solved(struct recorded *r, double v)
{
	recorded_way(r, v);
	recorded_rounded(r, v, 9);
}

/* glp_version(): what it was recorded with is 5.0 as others build it for x86-64. */
static inline void
recorded_glpk(struct recorded *r, const char *version)
{
#ifdef __x86_64__
	r->other = strcmp(version, "5.0") != 0;
#else
	r->other = version != NULL;
#endif
	if (r->other)
		printf("# GLPK is not the one that answers were recorded with: to nine "
		       "digits\n");
}

/* Whether that line is the same answer. */
static inline bool
recorded_is(const struct recorded *r, const char *line)
{
	const char *was = r->at < r->n ? r->line[r->at] : "";
	const char *bits = strchr(line, ':'), *tab = strchr(line, '\t');

	if (!r->other || bits == NULL || tab == NULL || bits > tab)
		return strcmp(was, line) == 0;
	return strncmp(was, line, (size_t)(bits - line)) == 0 &&
	       strchr(was, '\t') != NULL && strcmp(strchr(was, '\t'), tab) == 0;
}

/* Of the unit tests/unit/NAME.c. */
#define recorded_open(r) recorded_begin(r, __FILE__)

static inline void
recorded_begin(struct recorded *r, const char *source)
{
	const char *slash = strrchr(source, '/'),
		   *name = slash != NULL ? slash + 1 : source;
	FILE *f;

	memset(r, 0, sizeof *r);
	r->sum = 14695981039346656037U;
	snprintf(r->path, sizeof r->path, "tests/answers/unit/%.*s",
	    (int)strlen(name) - 2, name);
	snprintf(r->new_path, sizeof r->new_path, "%s.new", r->path);
	if (getenv("GV_RECORD") != NULL) {
		r->new = fopen(r->new_path, "w");
		if (r->new == NULL)
			perror(r->new_path);
	}
	f = fopen(r->path, "r");
	if (f == NULL)
		return;
	do {
		r->line = realloc(r->line, (r->n + 1) * sizeof *r->line);
	} while (r->line != NULL && fgets(r->line[r->n], sizeof *r->line, f) != NULL &&
		 ++r->n > 0);
	fclose(f);
}

/* The end of an answer, and whether it is the next one of the file. */
#define recorded_answer(r, ...)                                                          \
	do {                                                                             \
		char what_[100], line_[160], bits_[20] = "";                             \
		snprintf(what_, sizeof what_, __VA_ARGS__);                              \
		if ((r)->bits != 0)                                                      \
			snprintf(bits_, sizeof bits_, ":%016" PRIx64, (r)->bits);        \
		snprintf(line_, sizeof line_, "%016" PRIx64 "%s\t%s\n", (r)->sum, bits_, \
		    what_);                                                              \
		if ((r)->new != NULL)                                                    \
			fputs(line_, (r)->new);                                          \
		ok(recorded_is(r, line_), "%s: answered as before", what_);              \
		(r)->at++;                                                               \
		(r)->sum = 14695981039346656037U;                                        \
		(r)->bits = 0;                                                           \
	} while (0)

static inline void
recorded_close(struct recorded *r)
{
	ok(r->at == r->n, "as many questions as before: %zu of %zu", r->at, r->n);
	if (r->new != NULL && (fclose(r->new) != 0 || rename(r->new_path, r->path) != 0))
		perror(r->path);
	free(r->line);
}

#endif
