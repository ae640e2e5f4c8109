#include "nn/ckpt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"

#ifdef GV_REAL_DOUBLE
static const char DTYPE[] = "f64";
#else
static const char DTYPE[] = "f32";
#endif

static const char MAGIC[] = "gvckpt 1\n";

static bool
little_endian(void)
{
	const uint16_t one = 1;

	return *(const unsigned char *)&one == 1;
}

/* ---- writing ---- */

static bool
stored(struct gv_net *net, size_t b, const struct gv_net_array *a)
{
	return strcmp(a->name, "momentum") != 0 || gv_net_coef(net, b).momentum != 0;
}

static void
add_state(struct gv_strbuf *s, struct gv_net *net, size_t b, bool diverged)
{
	struct gv_net_array a;
	size_t i;

	gv_strbuf_fmt(s, "state steps=%" PRIu64, gv_net_steps(net, b));
	for (i = 0; gv_net_array(net, i, &a) == 0; i++)
		if (stored(net, b, &a))
			gv_strbuf_fmt(s, " %s=%zu", a.name, a.n);
	gv_strbuf_str(s, diverged ? " diverged\n" : "\n");
}

static void
add_preamble(struct gv_strbuf *s, const char *dtype, size_t models, const char *config)
{
	gv_strbuf_str(s, MAGIC);
	gv_strbuf_fmt(s, "dtype %s\nmodels %zu\n", dtype, models);
	gv_strbuf_str(s, config);
}

/* An output that keeps the checksum of what it was given. */
struct summed {
	struct gv_out *out;
	uLong crc;
};

static void
put(struct summed *w, const void *p, size_t n)
{
	gv_out_write(w->out, p, n);
	w->crc = crc32_z(w->crc, p, n);
}

static void
put_crc(struct summed *w)
{
	unsigned char b[4];
	int i;

	for (i = 0; i < 4; i++)
		b[i] = (unsigned char)(w->crc >> 8 * i);
	gv_out_write(w->out, b, 4);
}

/* The checksum as a file holds it. */
static uint32_t
sum_of(const unsigned char *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

/* Directory of path, to be freed. */
static char *
directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return gv_xstrdup(".");
	return gv_xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Whether a file ends with the checksum of what is before it. */
static bool
is_whole(const char *path)
{
	unsigned char buf[1 << 16];
	struct gv_error e = {0};
	struct gv_in *in;
	uLong crc = crc32(0, NULL, 0);
	size_t have = 0, all;
	ssize_t n;

	if (gv_in_open(&in, path, &e) != 0)
		return false;
	/* the last four bytes so far stay in front: they may be the checksum */
	while ((n = gv_in_read(in, buf + have, sizeof(buf) - have, &e)) > 0) {
		all = have + (size_t)n;
		have = all < 4 ? all : 4;
		crc = crc32_z(crc, buf, all - have);
		memmove(buf, buf + all - have, have);
	}
	gv_in_close(in);
	return n == 0 && have == 4 && sum_of(buf) == crc;
}

/*
 * The present file gets a second name, so that path itself is never missing; not
 * a damaged one, which would take that name from the last good one.  Where there
 * are no hard links there is no old one.
 */
static void
keep_old(const char *path)
{
	char *old;

	if (!is_whole(path))
		return;
	old = gv_xcalloc(strlen(path) + 5, 1);
	sprintf(old, "%s.old", path);
	unlink(old);
	(void)!link(path, old);
	free(old);
}

static int
commit(struct gv_out *out, const char *path, struct gv_error *e)
{
	char *dir;
	int r;

	if (gv_out_flush(out) == 0)
		keep_old(path);
	if (gv_out_close(out, e) != 0)
		return -1;
	dir = directory(path);
	r = gv_sync_dir(dir, e);
	free(dir);
	return r;
}

/* The arrays of model b. */
static int
put_arrays(struct summed *w, struct gv_net *net, size_t b)
{
	struct gv_net_array a;
	gv_real *v = NULL;
	size_t i;
	int status = 0;

	for (i = 0; gv_net_array(net, i, &a) == 0 && status == 0; i++) {
		if (!stored(net, b, &a))
			continue;
		v = gv_xrealloc(v, a.n + 1, sizeof(*v));
		status = gv_net_get(net, i, b, v);
		put(w, v, a.n * sizeof(*v));
	}
	free(v);
	return status;
}

int
gv_ckpt_write(const char *path, struct gv_net *net, const struct gv_ckpt_key *key,
    const bool *diverged, struct gv_error *e)
{
	struct gv_strbuf head = {0};
	struct summed w;
	size_t b;
	int status = 0;

	if (!little_endian())
		return gv_error_set(
		    e, "%s: checkpoints need a little-endian machine", path);
	if (gv_out_open(&w.out, path, e) != 0)
		return -1;
	gv_out_private(w.out);
	w.crc = crc32(0, NULL, 0);
	add_preamble(&head, DTYPE, key->models, key->config);
	for (b = 0; b < key->models; b++) {
		gv_strbuf_fmt(&head, "model %s\n", key->model[b]);
		add_state(&head, net, b, diverged[b]);
	}
	gv_strbuf_char(&head, '\n');
	put(&w, head.s, head.len);
	gv_strbuf_free(&head);
	for (b = 0; b < key->models && status == 0; b++)
		status = put_arrays(&w, net, b);
	if (status != 0) {
		gv_out_discard(w.out);
		return gv_error_set(
		    e, "%s: cannot read the net: %s", path, gv_net_error(net));
	}
	put_crc(&w);
	return commit(w.out, path, e);
}

/* ---- a file in memory ---- */

struct line {
	const char *s;
	size_t len;
};

/* One model of a file: where its lines and its bytes are. */
struct part {
	struct line model; /* behind "model " */
	struct line state; /* behind "state " */
	const char *raw;
	size_t raw_len;
};

struct file {
	char *bytes;
	size_t len;
	const char *end; /* of the header */
	struct line dtype;
	struct line config; /* all the caller's lines */
	size_t models;
	struct part *part; /* [models] */
};

static void
file_free(struct file *f)
{
	free(f->bytes);
	free(f->part);
	memset(f, 0, sizeof(*f));
}

static bool
starts(struct line l, const char *word)
{
	size_t n = strlen(word);

	return l.len >= n && memcmp(l.s, word, n) == 0;
}

static struct line
behind(struct line l, const char *word)
{
	size_t n = strlen(word);

	return (struct line){l.s + n, l.len - n};
}

/* The next line of the header, which ends with an empty one; false behind it. */
static bool
next_line(const char **p, const char *limit, struct line *l)
{
	const char *nl = memchr(*p, '\n', (size_t)(limit - *p));

	if (nl == NULL)
		return false;
	l->s = *p;
	l->len = (size_t)(nl - *p);
	*p = nl + 1;
	return true;
}

/* "steps=N name=COUNT ...[ diverged]": the number behind NAME=, or false. */
static bool
state_number(struct line state, const char *name, uint64_t *v)
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

static bool
state_diverged(struct line state)
{
	static const char word[] = " diverged";
	size_t n = sizeof(word) - 1;

	return state.len >= n && memcmp(state.s + state.len - n, word, n) == 0;
}

static const char *const array_names[] = {
    "params", "momentum", "adam_m", "adam_v", "running"};
enum { ARRAY_NAMES = sizeof(array_names) / sizeof(array_names[0]) };

/* Bytes of a model by its state line; SIZE_MAX when the line makes no sense. */
static size_t
state_bytes(struct line state, size_t size)
{
	uint64_t n, total = 0;
	size_t i;

	for (i = 0; i < ARRAY_NAMES; i++)
		if (state_number(state, array_names[i], &n)) {
			if (n > SIZE_MAX / 64 || total > SIZE_MAX / 2)
				return SIZE_MAX;
			total += n * size;
		}
	return (size_t)total;
}

static int
damaged(const char *path, struct gv_error *e, const char *what)
{
	return gv_error_set(e, "%s: not a whole checkpoint: %s", path, what);
}

static int
check_sum(const struct file *f, const char *path, struct gv_error *e)
{
	uint32_t want;

	if (f->len < sizeof(MAGIC) - 1 || memcmp(f->bytes, MAGIC, sizeof(MAGIC) - 1) != 0)
		return damaged(path, e, "it does not start with \"gvckpt 1\"");
	if (f->len < sizeof(MAGIC) + 4)
		return damaged(path, e, "it ends too early");
	want = sum_of((const unsigned char *)f->bytes + f->len - 4);
	if (crc32_z(crc32(0, NULL, 0), (const Bytef *)f->bytes, f->len - 4) != want)
		return damaged(path, e, "its checksum is wrong");
	return 0;
}

static int
parse_header(struct file *f, const char *path, struct gv_error *e)
{
	const char *p = f->bytes + sizeof(MAGIC) - 1;
	const char *limit = f->bytes + f->len - 4;
	struct line l;
	int64_t models = 0;
	size_t b = 0;

	if (!next_line(&p, limit, &l) || !starts(l, "dtype "))
		return damaged(path, e, "no dtype");
	f->dtype = behind(l, "dtype ");
	if (!next_line(&p, limit, &l) || !starts(l, "models ") ||
	    gv_parse_int(l.s + 7, l.len - 7, &models) != 0 || models < 1 ||
	    (size_t)models > f->len)
		return damaged(path, e, "no number of models");
	f->models = (size_t)models;
	f->part = gv_xcalloc(f->models, sizeof(*f->part));
	f->config.s = p;
	while (next_line(&p, limit, &l) && l.len > 0) {
		if (!starts(l, "model ")) {
			if (b > 0)
				return damaged(path, e, "lines out of order");
			f->config.len = (size_t)(p - f->config.s);
			continue;
		}
		if (b == f->models)
			return damaged(path, e, "too many models");
		f->part[b].model = behind(l, "model ");
		if (!next_line(&p, limit, &l) || !starts(l, "state "))
			return damaged(path, e, "a model without state");
		f->part[b++].state = behind(l, "state ");
	}
	if (b != f->models || p > limit)
		return damaged(path, e, "too few models");
	f->end = p;
	return 0;
}

static int
find_parts(struct file *f, const char *path, struct gv_error *e)
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

static int
file_read(struct file *f, const char *path, struct gv_error *e)
{
	memset(f, 0, sizeof(*f));
	if (gv_file_read(path, &f->bytes, &f->len, SIZE_MAX / 4, e) == 0 &&
	    check_sum(f, path, e) == 0 && parse_header(f, path, e) == 0 &&
	    find_parts(f, path, e) == 0)
		return 0;
	file_free(f);
	return -1;
}

/* ---- reading ---- */

/* The first lines in which two texts differ, quoted. */
static int
other_line(const char *path, struct line is, const char *want, struct gv_error *e)
{
	char q1[GV_QUOTE_LEN], q2[GV_QUOTE_LEN];
	const char *p = is.s, *q = want;
	const char *end = is.s + is.len, *stop = want + strlen(want);
	struct line a = {"", 0}, b = {"", 0};

	for (;;) {
		bool more = next_line(&p, end, &a), wanted = next_line(&q, stop, &b);

		if (!more)
			a = (struct line){"", 0};
		if (!wanted)
			b = (struct line){"", 0};
		if (!more || !wanted || a.len != b.len || memcmp(a.s, b.s, a.len) != 0)
			break;
	}
	return gv_error_set(e, "%s: of another run: it has %s, this run %s", path,
	    gv_quote(q1, a.s, a.len), gv_quote(q2, b.s, b.len));
}

static bool
same(struct line l, const char *s)
{
	return l.len == strlen(s) && memcmp(l.s, s, l.len) == 0;
}

static int
check_key(const struct file *f, const char *path, struct gv_net *net,
    const struct gv_ckpt_key *key, struct gv_error *e)
{
	char q[GV_QUOTE_LEN], q2[GV_QUOTE_LEN];
	struct gv_net_array a;
	size_t b, i;

	if (!same(f->dtype, DTYPE))
		return gv_error_set(e,
		    "%s: of another run: its numbers are %s, this run's %s", path,
		    gv_quote(q, f->dtype.s, f->dtype.len), DTYPE);
	if (f->models != key->models)
		return gv_error_set(e,
		    "%s: of another run: it holds %zu models, this run trains %zu", path,
		    f->models, key->models);
	if (!same(f->config, key->config))
		return other_line(path, f->config, key->config, e);
	for (b = 0; b < f->models; b++) {
		size_t bytes = 0;

		if (!same(f->part[b].model, key->model[b]))
			return gv_error_set(e,
			    "%s: of another run: model %zu was %s, is now %s", path, b,
			    gv_quote(q, f->part[b].model.s, f->part[b].model.len),
			    gv_quote(q2, key->model[b], strlen(key->model[b])));
		for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
			uint64_t n = 0;

			if (!stored(net, b, &a))
				continue;
			if (!state_number(f->part[b].state, a.name, &n) || n != a.n)
				return gv_error_set(e,
				    "%s: of another run: model %zu has %llu numbers of "
				    "%s, not %zu",
				    path, b, (unsigned long long)n, a.name, a.n);
			bytes += a.n * sizeof(gv_real);
		}
		if (bytes != f->part[b].raw_len)
			return gv_error_set(e,
			    "%s: of another run: model %zu has %zu bytes, not %zu", path,
			    b, f->part[b].raw_len, bytes);
	}
	return 0;
}

/* The arrays of model b; v has room for the longest. */
static int
restore_arrays(const struct part *part, struct gv_net *net, size_t b, gv_real **v)
{
	const char *p = part->raw;
	struct gv_net_array a;
	size_t i;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
		size_t bytes = a.n * sizeof(**v);

		*v = gv_xrealloc(*v, a.n + 1, sizeof(**v));
		memset(*v, 0, bytes);
		if (stored(net, b, &a)) {
			memcpy(*v, p, bytes);
			p += bytes;
		}
		if (gv_net_put(net, i, b, *v) != 0)
			return -1;
	}
	return 0;
}

static int
restore(const struct file *f, const char *path, struct gv_net *net, bool *diverged,
    struct gv_error *e)
{
	gv_real *v = NULL;
	size_t b;
	int status = 0;

	for (b = 0; b < f->models && status == 0; b++) {
		uint64_t steps = 0;

		status = restore_arrays(&f->part[b], net, b, &v);
		state_number(f->part[b].state, "steps", &steps);
		gv_net_set_steps(net, b, steps);
		diverged[b] = state_diverged(f->part[b].state);
	}
	free(v);
	if (status != 0)
		gv_error_set(e, "%s: cannot write the net: %s", path, gv_net_error(net));
	return status;
}

enum gv_ckpt_result
gv_ckpt_read(const char *path, struct gv_net *net, const struct gv_ckpt_key *key,
    bool *diverged, bool *is_damaged, struct gv_error *e)
{
	struct stat st;
	struct file f;
	int r;

	*is_damaged = false;
	if (stat(path, &st) != 0) {
		if (errno == ENOENT)
			return GV_CKPT_NONE;
		gv_error_sys(e, "%s: cannot open", path);
		return GV_CKPT_ERROR;
	}
	if (file_read(&f, path, e) != 0) {
		*is_damaged = true;
		return GV_CKPT_ERROR;
	}
	r = check_key(&f, path, net, key, e);
	if (r == 0)
		r = restore(&f, path, net, diverged, e);
	file_free(&f);
	return r == 0 ? GV_CKPT_READ : GV_CKPT_ERROR;
}

/* ---- splitting ---- */

int
gv_ckpt_models(const char *path, size_t *models, struct gv_error *e)
{
	struct file f;

	if (file_read(&f, path, e) != 0)
		return -1;
	*models = f.models;
	file_free(&f);
	return 0;
}

static void
write_part(struct summed *w, const struct file *f, const struct part *p)
{
	struct gv_strbuf head = {0};
	char *dtype = gv_xstrndup(f->dtype.s, f->dtype.len);
	char *config = gv_xstrndup(f->config.s, f->config.len);

	add_preamble(&head, dtype, 1, config);
	gv_strbuf_str(&head, "model ");
	gv_strbuf_add(&head, p->model.s, p->model.len);
	gv_strbuf_str(&head, "\nstate ");
	gv_strbuf_add(&head, p->state.s, p->state.len);
	gv_strbuf_str(&head, "\n\n");
	put(w, head.s, head.len);
	put(w, p->raw, p->raw_len);
	put_crc(w);
	gv_strbuf_free(&head);
	free(dtype);
	free(config);
}

int
gv_ckpt_split(const char *path, size_t b, const char *out, struct gv_error *e)
{
	struct file f;
	struct summed w;
	int r = -1;

	if (file_read(&f, path, e) != 0)
		return -1;
	if (b >= f.models) {
		gv_error_set(e, "%s: no model %zu among its %zu", path, b, f.models);
	} else if (gv_out_open(&w.out, out, e) == 0) {
		w.crc = crc32(0, NULL, 0);
		write_part(&w, &f, &f.part[b]);
		r = gv_out_close(w.out, e);
	}
	file_free(&f);
	return r;
}
