/*
 * Files: inputs that may be standard input or gzip, outputs that replace a file
 * whole or not at all, small files.
 */
#ifndef GV_BASE_FILEIO_H
#define GV_BASE_FILEIO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* ---- input ---- */

/*
 * An opened input.  A gzip input (by its first bytes, members concatenated) is
 * inflated; anything else is passed through.  Reading returns what is there, so
 * a pipe is answered as it comes.
 */
struct gv_in;

/* path NULL or "-" is standard input.  0, or -1 with *e set (missing, a directory, ...). */
int gv_in_open(struct gv_in **in, const char *path, struct gv_error *e);
/*
 * An input of s[0..len), which must outlive it; piece > 0 lets a read return no
 * more than that many bytes, as a pipe may.
 */
int gv_in_memory(struct gv_in **in, const char *name, const void *s, size_t len,
    size_t piece, struct gv_error *e);
/* Reads 1..n bytes into buf: the number, 0 at the end, -1 with *e set (read error, bad gzip). */
ssize_t gv_in_read(struct gv_in *in, void *buf, size_t n, struct gv_error *e);
/* The name for messages: the path, or "<stdin>". */
const char *gv_in_name(const struct gv_in *in);
void gv_in_close(struct gv_in *in); /* NULL is allowed */

/* ---- output ---- */

/*
 * A buffered output.  Errors stick: writing never fails, gv_out_close tells.
 * With a path the bytes go to a temporary file in the same directory, which
 * replaces the path when the output is closed; until then, and on any error or
 * fatal signal, the old file stays.  A path ending in ".gz" is compressed.
 */
struct gv_out;

/* path NULL or "-" is standard output.  0, or -1 with *e set. */
int gv_out_open(struct gv_out **out, const char *path, struct gv_error *e);
/* An output on an open descriptor, which stays open after gv_out_close. */
struct gv_out *gv_out_fd(int fd, const char *name);
/* An output that appends to *to, which must outlive it. */
struct gv_strbuf;
struct gv_out *gv_out_memory(struct gv_strbuf *to);
void gv_out_write(struct gv_out *out, const void *s, size_t n);
void gv_out_str(struct gv_out *out, const char *s);
void gv_out_char(struct gv_out *out, char c);
void gv_out_pad(struct gv_out *out, size_t n); /* n spaces */
void gv_out_fmt(struct gv_out *out, const char *fmt, ...) GV_PRINTF(2, 3);
/* The file at the path will be its owner's alone (0600), whatever was there before. */
void gv_out_private(struct gv_out *out);
/* Hands the buffer to the kernel; 0, or -1 after any error so far (not reported here). */
int gv_out_flush(struct gv_out *out);
/* Whether it goes to a terminal. */
bool gv_out_is_terminal(const struct gv_out *out);
/*
 * Flushes; for a path also fsync, the old file's mode, rename.  0, or -1 with *e
 * set, and then the old file is as before.  out is freed.
 */
int gv_out_close(struct gv_out *out, struct gv_error *e);
/* Gives up: frees out and removes the temporary file.  NULL is allowed. */
void gv_out_discard(struct gv_out *out);
/* Does that for every output open to a path; called on the way out of the process. */
void gv_out_discard_all(void);

/* Standard output as a gv_out, shared by the whole program. */
struct gv_out *gv_stdout(void);

/*
 * The last call of main: "return gv_finish();".  Flushes and closes standard
 * output, reports a failure; 0 or 2.
 */
int gv_finish(void);

/* ---- small files ---- */

/* Reads a whole file into *s (NUL behind it, the caller frees); limit in bytes.  0 or -1. */
int gv_file_read(
    const char *path, char **s, size_t *len, size_t limit, struct gv_error *e);
/* Writes a whole file atomically and durably.  0 or -1. */
int gv_file_write(const char *path, const void *s, size_t len, struct gv_error *e);
/* mkdir -p.  0 or -1. */
int gv_mkdirs(const char *path, struct gv_error *e);
/* rm -rf, without following links.  0 (also when there is nothing) or -1. */
int gv_remove_tree(const char *path, struct gv_error *e);
/* Makes a directory's entries (a rename, a new file) durable.  0 or -1. */
int gv_sync_dir(const char *path, struct gv_error *e);
/*
 * Where shipped files are: $GV_DATA; else beside the running program, where it
 * is installed or in the tree it was built in; else where make was told to
 * install.  The text stays until the process ends or GV_DATA changes.
 */
const char *gv_data_dir(void);
/*
 * Where a plug-in of that name is: in $GV_PLUGINS; else beside the running program, as
 * above; else in gv/ where make was told to install libraries.  It need not be there.
 */
void gv_plugin_path(char path[PATH_MAX], const char *name);

#endif
