/*
 * Reading JSON (RFC 8259) token by token, in constant memory: traces are far larger
 * than what is wanted of them.  A library would be a package more that everybody who
 * builds needs (libjansson), for one format, and reads whole documents into memory.
 */
#ifndef TRACE_CONVERT_JSON_H
#define TRACE_CONVERT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/strbuf.h"

enum json_token {
	JSON_ERROR,
	JSON_END, /* of the input */
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
	JSON_KEY, /* its text; the colon is read, too */
	JSON_STRING,
	JSON_NUMBER, /* its text */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL
};

enum { JSON_DEPTH = 64, JSON_TEXT = 1 << 20, JSON_BUFFER = 1 << 16 };

struct json {
	struct gv_in *in;
	long line;             /* where the last token began, from 1 */
	struct gv_strbuf text; /* of the last key, string (UTF-8, unescaped) or number */

	/* private */
	size_t depth;
	bool object[JSON_DEPTH]; /* or an array */
	bool value_read;         /* what comes next is a comma or an end */
	bool comma_read;         /* what comes next is no end */
	bool key_read;           /* what comes next is a value */
	size_t pos, len;
	char buf[JSON_BUFFER];
};

/* Reads from in, which stays the caller's. */
void json_start(struct json *j, struct gv_in *in);
void json_free(struct json *j);

/*
 * The next token of one document.  JSON_ERROR with *e set, located by file and line:
 * anything that is not JSON, more than JSON_DEPTH levels, a text over JSON_TEXT
 * bytes, \u0000 in a text.
 */
enum json_token json_next(struct json *j, struct gv_error *e);

/* Reads on to the end of the value that began with the token.  0, or -1 with *e set. */
int json_skip(struct json *j, enum json_token began, struct gv_error *e);

#endif
