#include "nn/ckpt_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "nn/ckpt.h"

static const char MAGIC[] = "gvckpt 1\n";

void
gv_ckpt_preamble(
    struct gv_strbuf *s, const char *dtype, size_t models, const char *config)
{
	gv_strbuf_str(s, MAGIC);
	gv_strbuf_fmt(s, "dtype %s\nmodels %zu\n", dtype, models);
	gv_strbuf_str(s, config);
}

void
gv_ckpt_put(struct gv_ckpt_out *w, const void *p, size_t n)
{
	gv_out_write(w->out, p, n);
	w->crc = crc32_z(w->crc, p, n);
}

void
gv_ckpt_put_crc(struct gv_ckpt_out *w)
{
	unsigned char b[4];
	int i;

	for (i = 0; i < 4; i++)
		b[i] = (unsigned char)(w->crc >> 8 * i);
	gv_out_write(w->out, b, 4);
}

uint32_t
gv_ckpt_sum_of(const unsigned char *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

void
gv_ckpt_file_free(struct gv_ckpt_file *f)
{
	free(f->bytes);
	free(f->part);
	memset(f, 0, sizeof(*f));
}

static bool
starts(struct gv_ckpt_line l, const char *word)
{
	size_t n = strlen(word);

	return l.len >= n && memcmp(l.s, word, n) == 0;
}

static struct gv_ckpt_line
behind(struct gv_ckpt_line l, const char *word)
{
	size_t n = strlen(word);

	return (struct gv_ckpt_line){l.s + n, l.len - n};
}

bool
gv_ckpt_next_line(const char **p, const char *limit, struct gv_ckpt_line *l)
{
	const char *nl = memchr(*p, '\n', (size_t)(limit - *p));

	if (nl == NULL)
		return false;
	l->s = *p;
	l->len = (size_t)(nl - *p);
	*p = nl + 1;
	return true;
}

bool
gv_ckpt_state_number(struct gv_ckpt_line state, const char *name, uint64_t *v)
{
	size_t n = strlen(name), i = 0;

	while (i < state.len) {
		const char *word = state.s + i;
		const char *space = memchr(word, ' ', state.len - i);
		size_t len = space != NULL ? (size_t)(space - word) : state.len - i;
		int64_t number;

		if (len > n && memcmp(word, name, n) == 0 && word[n] == '=') {
			if (gv_parse_int(word + n + 1, len - n - 1, &number) != 0 ||
			    number < 0)
				return false;
			*v = (uint64_t)number;
			return true;
		}
		i += len + 1;
	}
	return false;
}

bool
gv_ckpt_state_diverged(struct gv_ckpt_line state)
{
	static const char word[] = " diverged";
	size_t n = sizeof(word) - 1;

	return state.len >= n && memcmp(state.s + state.len - n, word, n) == 0;
}

/* Bytes of a model by its state line, NAME=COUNT; SIZE_MAX when the line makes no sense. */
static size_t
state_bytes(struct gv_ckpt_line state, size_t size)
{
	uint64_t total = 0;
	size_t i, len;

	for (i = 0; i < state.len; i += len + 1) {
		struct gv_ckpt_line word = {state.s + i, state.len - i};
		const char *space = memchr(word.s, ' ', word.len), *is;
		int64_t n;

		len = space != NULL ? (size_t)(space - word.s) : word.len;
		is = memchr(word.s, '=', len);
		if (is == NULL || starts(word, "steps="))
			continue;
		is++;
		if (gv_parse_int(is, (size_t)(word.s + len - is), &n) != 0 || n < 0 ||
		    (uint64_t)n > SIZE_MAX / 64 || total > SIZE_MAX / 2)
			return SIZE_MAX;
		total += (uint64_t)n * size;
	}
	return (size_t)total;
}

static int
damaged(const char *path, struct gv_error *e, const char *what)
{
	return gv_error_set(e, "%s: not a whole checkpoint: %s", path, what);
}

static int
check_sum(const struct gv_ckpt_file *f, const char *path, struct gv_error *e)
{
	uint32_t want;

	if (f->len < sizeof(MAGIC) - 1 || memcmp(f->bytes, MAGIC, sizeof(MAGIC) - 1) != 0)
		return damaged(path, e, "it does not start with \"gvckpt 1\"");
	if (f->len < sizeof(MAGIC) + 4)
		return damaged(path, e, "it ends too early");
	want = gv_ckpt_sum_of((const unsigned char *)f->bytes + f->len - 4);
	if (crc32_z(crc32(0, NULL, 0), (const Bytef *)f->bytes, f->len - 4) != want)
		return damaged(path, e, "its checksum is wrong");
	return 0;
}

static int
parse_header(struct gv_ckpt_file *f, const char *path, struct gv_error *e)
{
	const char *p = f->bytes + sizeof(MAGIC) - 1;
	const char *limit = f->bytes + f->len - 4;
	struct gv_ckpt_line l;
	int64_t models = 0;
	size_t b = 0;

	if (!gv_ckpt_next_line(&p, limit, &l) || !starts(l, "dtype "))
		return damaged(path, e, "no dtype");
	f->dtype = behind(l, "dtype ");
	if (!gv_ckpt_next_line(&p, limit, &l) || !starts(l, "models ") ||
	    gv_parse_int(l.s + 7, l.len - 7, &models) != 0 || models < 1 ||
	    (size_t)models > f->len)
		return damaged(path, e, "no number of models");
	f->models = (size_t)models;
	f->part = gv_xcalloc(f->models, sizeof(*f->part));
	f->config.s = p;
	while (gv_ckpt_next_line(&p, limit, &l) && l.len > 0) {
		if (!starts(l, "model ")) {
			if (b > 0)
				return damaged(path, e, "lines out of order");
			f->config.len = (size_t)(p - f->config.s);
			continue;
		}
		if (b == f->models)
			return damaged(path, e, "too many models");
		f->part[b].model = behind(l, "model ");
		if (!gv_ckpt_next_line(&p, limit, &l) || !starts(l, "state "))
			return damaged(path, e, "a model without state");
		f->part[b++].state = behind(l, "state ");
	}
	if (b != f->models || p > limit)
		return damaged(path, e, "too few models");
	f->end = p;
	return 0;
}

static int
find_parts(struct gv_ckpt_file *f, const char *path, struct gv_error *e)
{
	size_t size = f->dtype.len == 3 && memcmp(f->dtype.s, "f64", 3) == 0 ? 8 : 4;
	size_t left = f->len - 4 - (size_t)(f->end - f->bytes);
	const char *p = f->end;
	size_t b;

	for (b = 0; b < f->models; b++) {
		size_t n = state_bytes(f->part[b].state, size);

		if (n > left)
			return damaged(path, e, "it ends too early");
		f->part[b].raw = p;
		f->part[b].raw_len = n;
		p += n;
		left -= n;
	}
	return left == 0 ? 0 : damaged(path, e, "more bytes than its header says");
}

/* Devices and pipes have no end, or nobody at the other one. */
static int
check_regular(const char *path, struct gv_error *e)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return damaged(path, e, "it is no regular file");
	return 0;
}

int
gv_ckpt_file_read(struct gv_ckpt_file *f, const char *path, struct gv_error *e)
{
	memset(f, 0, sizeof(*f));
	if (check_regular(path, e) == 0 &&
	    gv_file_read(path, &f->bytes, &f->len, SIZE_MAX / 4, e) == 0 &&
	    check_sum(f, path, e) == 0 && parse_header(f, path, e) == 0 &&
	    find_parts(f, path, e) == 0)
		return 0;
	gv_ckpt_file_free(f);
	return -1;
}

/* ---- splitting ---- */

int
gv_ckpt_models(const char *path, size_t *models, struct gv_error *e)
{
	struct gv_ckpt_file f;

	if (gv_ckpt_file_read(&f, path, e) != 0)
		return -1;
	*models = f.models;
	gv_ckpt_file_free(&f);
	return 0;
}

static void
write_part(
    struct gv_ckpt_out *w, const struct gv_ckpt_file *f, const struct gv_ckpt_part *p)
{
	struct gv_strbuf head = {0};
	char *dtype = gv_xstrndup(f->dtype.s, f->dtype.len);
	char *config = gv_xstrndup(f->config.s, f->config.len);

	gv_ckpt_preamble(&head, dtype, 1, config);
	gv_strbuf_str(&head, "model ");
	gv_strbuf_add(&head, p->model.s, p->model.len);
	gv_strbuf_str(&head, "\nstate ");
	gv_strbuf_add(&head, p->state.s, p->state.len);
	gv_strbuf_str(&head, "\n\n");
	gv_ckpt_put(w, head.s, head.len);
	gv_ckpt_put(w, p->raw, p->raw_len);
	gv_ckpt_put_crc(w);
	gv_strbuf_free(&head);
	free(dtype);
	free(config);
}

int
gv_ckpt_split(const char *path, size_t b, const char *out, struct gv_error *e)
{
	struct gv_ckpt_file f;
	struct gv_ckpt_out w;
	int r = -1;

	if (gv_ckpt_file_read(&f, path, e) != 0)
		return -1;
	if (b >= f.models) {
		gv_error_set(e, "%s: no model %zu among its %zu", path, b, f.models);
	} else if (gv_out_open(&w.out, out, e) == 0) {
		gv_out_private(w.out);
		w.crc = crc32(0, NULL, 0);
		write_part(&w, &f, &f.part[b]);
		r = gv_out_close(w.out, e);
	}
	gv_ckpt_file_free(&f);
	return r;
}
