#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
gv_strbuf_add(struct gv_strbuf *b, const char *s, size_t len)
{
	b->s = gv_xgrow(b->s, &b->cap, b->len + len + 1, 1);
	if (len > 0)
		memcpy(b->s + b->len, s, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void
gv_strbuf_str(struct gv_strbuf *b, const char *s)
{
	gv_strbuf_add(b, s, strlen(s));
}

void
gv_strbuf_char(struct gv_strbuf *b, char c)
{
	gv_strbuf_add(b, &c, 1);
}

void
gv_strbuf_fmt(struct gv_strbuf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		gv_die("cannot format a string");
	b->s = gv_xgrow(b->s, &b->cap, b->len + (size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void
gv_strbuf_clear(struct gv_strbuf *b)
{
	b->len = 0;
	if (b->s != NULL)
		b->s[0] = '\0';
}

void
gv_strbuf_free(struct gv_strbuf *b)
{
	free(b->s);
	b->s = NULL;
	b->len = b->cap = 0;
}
