/*
 * Reading JSON (RFC 8259) token by token, in constant memory: traces are far larger
 * than what is wanted of them.  A library would be a package more that everybody who
 * builds needs (libjansson), for two formats, and reads whole documents into memory.
 */
#ifndef GV_BASE_JSON_IN_H
#define GV_BASE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/strbuf.h"

enum gv_json_token {
	GV_JSON_ERROR,
	GV_JSON_END, /* of the input */
	GV_JSON_OBJECT,
	GV_JSON_OBJECT_END,
	GV_JSON_ARRAY,
	GV_JSON_ARRAY_END,
	GV_JSON_KEY, /* its text; the colon is read, too */
	GV_JSON_STRING,
	GV_JSON_NUMBER, /* its text */
	GV_JSON_TRUE,
	GV_JSON_FALSE,
	GV_JSON_NULL
};

enum { GV_JSON_IN_DEPTH = 64, GV_JSON_IN_TEXT = 1 << 20, GV_JSON_IN_BUFFER = 1 << 16 };

struct gv_json_in {
	struct gv_in *in;
	long line;             /* where the last token began, from 1 */
	struct gv_strbuf text; /* of the last key, string (UTF-8, unescaped) or number */

	/* private */
	size_t depth;
	bool object[GV_JSON_IN_DEPTH]; /* or an array */
	bool value_read;               /* what comes next is a comma or an end */
	bool comma_read;               /* what comes next is no end */
	bool key_read;                 /* what comes next is a value */
	size_t pos, len;
	char buf[GV_JSON_IN_BUFFER];
};

/* Reads from in, which stays the caller's. */
void gv_json_in_start(struct gv_json_in *j, struct gv_in *in);
void gv_json_in_free(struct gv_json_in *j);

/*
 * The next token of one document.  GV_JSON_ERROR with *e set, located by file and line:
 * anything that is not JSON, more than GV_JSON_IN_DEPTH levels, a text over GV_JSON_IN_TEXT
 * bytes, \u0000 in a text.
 */
enum gv_json_token gv_json_in_next(struct gv_json_in *j, struct gv_error *e);

/* Reads on to the end of the value that began with the token.  0, or -1 with *e set. */
int gv_json_in_skip(struct gv_json_in *j, enum gv_json_token began, struct gv_error *e);

#endif
