/* The checkpoint of an array out of those of its models. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/ckpt.h"
#include "nn/ckpt_file.h"

static bool
same(struct gv_ckpt_line a, struct gv_ckpt_line b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

/* The first lines in which two files differ. */
static int
other_run(const struct gv_ckpt_file *a, const struct gv_ckpt_file *b,
    const char *const *path, size_t i, struct gv_error *e)
{
	const char *p = a->config.s, *q = b->config.s;
	const char *end = p + a->config.len, *stop = q + b->config.len;
	struct gv_ckpt_line is = {"", 0}, want = {"", 0};
	char q1[GV_QUOTE_LEN], q2[GV_QUOTE_LEN];

	while (same(is, want)) {
		bool more = gv_ckpt_next_line(&p, end, &want);

		if (!gv_ckpt_next_line(&q, stop, &is))
			is = (struct gv_ckpt_line){"", 0};
		if (!more)
			want = (struct gv_ckpt_line){"", 0};
	}
	return gv_error_set(e, "%s: of another run than %s: it has %s, that one %s",
	    path[i], path[0], gv_quote(q1, is.s, is.len), gv_quote(q2, want.s, want.len));
}

/* All files; 0, or -1 with *e set: one cannot be read, or is of another run. */
static int
read_all(struct gv_ckpt_file *f, const char *const *path, size_t n, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (gv_ckpt_file_read(&f[i], path[i], e) != 0)
			return -1;
		if (!same(f[0].dtype, f[i].dtype))
			return gv_error_set(e,
			    "%s: of another run than %s: numbers of another kind",
			    path[i], path[0]);
		if (!same(f[0].config, f[i].config))
			return other_run(&f[0], &f[i], path, i, e);
	}
	return 0;
}

static void
write_header(struct gv_ckpt_out *w, const struct gv_ckpt_file *f, size_t n)
{
	char *dtype = gv_xstrndup(f->dtype.s, f->dtype.len);
	char *config = gv_xstrndup(f->config.s, f->config.len);
	struct gv_strbuf head = {0};
	size_t models = 0, i, b;

	for (i = 0; i < n; i++)
		models += f[i].models;
	gv_ckpt_preamble(&head, dtype, models, config);
	for (i = 0; i < n; i++)
		for (b = 0; b < f[i].models; b++) {
			const struct gv_ckpt_part *p = &f[i].part[b];

			gv_strbuf_str(&head, "model ");
			gv_strbuf_add(&head, p->model.s, p->model.len);
			gv_strbuf_str(&head, "\nstate ");
			gv_strbuf_add(&head, p->state.s, p->state.len);
			gv_strbuf_char(&head, '\n');
		}
	gv_strbuf_char(&head, '\n');
	gv_ckpt_put(w, head.s, head.len);
	gv_strbuf_free(&head);
	free(dtype);
	free(config);
}

int
gv_ckpt_join(const char *const *path, size_t n, const char *out, struct gv_error *e)
{
	struct gv_ckpt_file *f = gv_xcalloc(n, sizeof(*f));
	struct gv_ckpt_out w = {.crc = crc32(0, NULL, 0)};
	size_t i, b;
	int status = read_all(f, path, n, e);

	if (status == 0)
		status = gv_out_open(&w.out, out, e);
	if (status == 0) {
		gv_out_private(w.out);
		write_header(&w, f, n);
		for (i = 0; i < n; i++)
			for (b = 0; b < f[i].models; b++)
				gv_ckpt_put(&w, f[i].part[b].raw, f[i].part[b].raw_len);
		gv_ckpt_put_crc(&w);
		status = gv_out_close(w.out, e);
	}
	for (i = 0; i < n; i++)
		gv_ckpt_file_free(&f[i]);
	free(f);
	return status;
}
