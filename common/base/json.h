/*
 * Writing JSON (RFC 8259).  The caller opens and closes; commas, line ends and
 * escapes are put here.  The output is valid for any bytes: what is not UTF-8
 * becomes U+FFFD.  Errors stick in the output and show when it is closed.
 */
#ifndef GV_BASE_JSON_H
#define GV_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fileio.h"

enum { GV_JSON_DEPTH = 16 };

/* = {.out = out} is ready to write one value. */
struct gv_json {
	struct gv_out *out;
	int depth;
	struct {
		char close;   /* '}' or ']' */
		bool inline_; /* its members stand on one line */
		bool started;
	} level[GV_JSON_DEPTH];
	bool after_key;
};

/* Open an object or an array; one on a line of its own has its members on lines of theirs. */
void gv_json_object(struct gv_json *j, bool on_one_line);
void gv_json_array(struct gv_json *j, bool on_one_line);
/* Closes what was opened last; the last one ends the line. */
void gv_json_end(struct gv_json *j);

void gv_json_key(struct gv_json *j, const char *key);
void gv_json_str(struct gv_json *j, const char *s, size_t len);
void gv_json_double(struct gv_json *j, double v); /* NaN and infinity are written null */
void gv_json_int(struct gv_json *j, int64_t v);
void gv_json_bool(struct gv_json *j, bool v);
void gv_json_null(struct gv_json *j);

#endif
