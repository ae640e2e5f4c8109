/* A growing byte string; always has a NUL behind len, may hold NULs.  = {0} is empty. */
#ifndef GV_BASE_STRBUF_H
#define GV_BASE_STRBUF_H

#include <stddef.h>

#include "base/err.h"

struct gv_strbuf {
	char *s; /* NULL until the first addition */
	size_t len;
	size_t cap;
};

void gv_strbuf_add(struct gv_strbuf *b, const char *s, size_t len);
void gv_strbuf_str(struct gv_strbuf *b, const char *s);
void gv_strbuf_char(struct gv_strbuf *b, char c);
void gv_strbuf_fmt(struct gv_strbuf *b, const char *fmt, ...) GV_PRINTF(2, 3);
void gv_strbuf_clear(struct gv_strbuf *b); /* keeps the memory */
void gv_strbuf_free(struct gv_strbuf *b);

#endif
