/* What is written to memory as part of an answer, and tables that are read from there. */
#ifndef RECORDED_OUT_H
#define RECORDED_OUT_H

#include "base/fileio.h"
#include "base/strbuf.h"
#include "recorded.h"
#include "table/tab.h"

static struct {
	struct gv_strbuf text;
	struct gv_out *out;
} answer_;

static inline struct gv_out *
answer_begin(void)
{
	gv_strbuf_clear(&answer_.text);
	answer_.out = gv_out_memory(&answer_.text);
	return answer_.out;
}

static inline void
answer_end(struct recorded *r)
{
	struct gv_error e = {0};

	if (gv_out_close(answer_.out, &e) != 0)
		printf("# %s\n", e.text[0]);
	recorded_whole(r, (long long)answer_.text.len);
	if (answer_.text.len > 0)
		recorded_bytes(r, answer_.text.s, answer_.text.len);
}

static inline void
answer_free(void)
{
	gv_strbuf_free(&answer_.text);
}

/* At its first table; s must outlive it. */
static inline struct gv_tab *
table_of(const struct gv_strbuf *s, const char *name, struct gv_error *e)
{
	struct gv_tab *t;
	struct gv_in *in;

	if (gv_in_memory(&in, name, s->s, s->len, 0, e) != 0 ||
	    gv_tab_table(t = gv_tab_from(in), e) != 1) {
		printf("Bail out! %s\n", e->text[0]);
		exit(1);
	}
	return t;
}

#endif
