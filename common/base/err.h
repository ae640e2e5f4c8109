/*
 * Errors and messages, and the name of the program.
 *
 * Pure cores fill a struct gv_error and return -1; only main, option parsing
 * and the gv_x* allocators end the process.
 */
#ifndef GV_BASE_ERR_H
#define GV_BASE_ERR_H

#include <stddef.h>

#if defined(__GNUC__)
#define GV_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define GV_NORETURN     __attribute__((noreturn))
#else
#define GV_PRINTF(a, b)
#define GV_NORETURN
#endif

enum {
	GV_EXIT_OK = 0,
	GV_EXIT_NO = 1,       /* the input was fine, the answer is "no" */
	GV_EXIT_TROUBLE = 2,  /* usage, bad input, failed system call */
	GV_EXIT_TEMPFAIL = 75 /* try again later: lock held, no device free */
};

enum { GV_ERROR_KEPT = 10, GV_ERROR_LEN = 400 };

/*
 * The errors of one operation: the first GV_ERROR_KEPT messages and a count of
 * all.  A message has its location in front ("jobs.csv:12: column: ...") and no
 * line feed.  Needs no memory of its own, so it works when memory is out.
 */
struct gv_error {
	size_t count;
	char text[GV_ERROR_KEPT][GV_ERROR_LEN];
};

/* Empties *e; a struct gv_error must be initialised so, or by = {0}. */
void gv_error_clear(struct gv_error *e);

/* Adds a message.  Each returns -1, so that a function can "return gv_error_set(e, ...)". */
int gv_error_set(struct gv_error *e, const char *fmt, ...) GV_PRINTF(2, 3);

/* Adds a message with ": strerror(errno)" behind it. */
int gv_error_sys(struct gv_error *e, const char *fmt, ...) GV_PRINTF(2, 3);

/*
 * Adds a located message: "FILE:LINE: COLUMN: message".  line 0 and column NULL are
 * left out; file NULL or "-" is called <stdin>.
 */
int gv_error_at(struct gv_error *e, const char *file, long line, const char *column,
    const char *fmt, ...) GV_PRINTF(5, 6);

#ifdef GV_ANALYZE /* make lint: analysers, which see one file, learn what these return */
#define gv_error_set(...) (gv_error_set(__VA_ARGS__), -1)
#define gv_error_sys(...) (gv_error_sys(__VA_ARGS__), -1)
#define gv_error_at(...)  (gv_error_at(__VA_ARGS__), -1)
#define GV_HOLDS(x)       ((x) ? (void)0 : __builtin_unreachable())
#else
#define GV_HOLDS(x) \
	((void)0) /* what callers see to, said where analysers see no caller */
#endif

/*
 * Writes s[0..len) as it should stand in a message: in double quotes, control
 * bytes and quotes escaped, cut with "..." at 64 bytes.  Returns buf.
 */
enum { GV_QUOTE_LEN = 64 * 4 + 8 };
char *gv_quote(char buf[GV_QUOTE_LEN], const char *s, size_t len);

/*
 * Must be called first in main.  Remembers the program's name for messages and
 * makes sure that descriptors 0, 1 and 2 are open: a closed one is opened the
 * wrong way round, so that using it fails instead of hitting another file.
 */
void gv_init(const char *name);
const char *gv_progname(void);

/* "PROG: message" on stderr; stdout is flushed first, so that the order is kept. */
void gv_warn(const char *fmt, ...) GV_PRINTF(1, 2);
void gv_warn_error(
    const struct gv_error *e); /* all its messages, and the count of those not kept */

/* Each message of *w as a warning: "PROG: warning: message". */
void gv_warn_each(const struct gv_error *w);

/*
 * Writes the message as gv_warn does, then exit 2.  No cleanup runs but that of unfinished -o files and
 * what gv_on_die names (NULL = nothing more), which must not die itself.
 */
void gv_on_die(void (*clean)(void));
GV_NORETURN void gv_die(const char *fmt, ...) GV_PRINTF(1, 2);
GV_NORETURN void gv_die_sys(const char *fmt, ...) GV_PRINTF(1, 2);
GV_NORETURN void gv_die_error(const struct gv_error *e);

/*
 * What outputs ask for, which know messages while messages do not know them:
 * flush runs before a message is written, discard before the process dies.
 */
void gv_before_message(void (*flush)(void));
void gv_before_death(void (*discard)(void));

/*
 * A line of progress: only when stderr is a terminal; each call replaces the
 * line before it, NULL erases it.
 */
void gv_progress(const char *fmt, ...) GV_PRINTF(1, 2);

#endif
