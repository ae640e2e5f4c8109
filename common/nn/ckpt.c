#include "nn/ckpt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "nn/ckpt_file.h"

#ifdef GV_REAL_DOUBLE
static const char DTYPE[] = "f64";
#else
static const char DTYPE[] = "f32";
#endif

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
	struct stat st;
	struct gv_in *in;
	uLong crc = crc32(0, NULL, 0);
	size_t have = 0, all;
	ssize_t n;

	/* a FIFO would be waited for */
	if ((stat(path, &st) == 0 && !S_ISREG(st.st_mode)) ||
	    gv_in_open(&in, path, &e) != 0)
		return false;
	/* the last four bytes so far stay in front: they may be the checksum */
	while ((n = gv_in_read(in, buf + have, sizeof(buf) - have, &e)) > 0) {
		all = have + (size_t)n;
		have = all < 4 ? all : 4;
		crc = crc32_z(crc, buf, all - have);
		memmove(buf, buf + all - have, have);
	}
	gv_in_close(in);
	return n == 0 && have == 4 && gv_ckpt_sum_of(buf) == crc;
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
put_arrays(struct gv_ckpt_out *w, struct gv_net *net, size_t b)
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
		gv_ckpt_put(w, v, a.n * sizeof(*v));
	}
	free(v);
	return status;
}

int
gv_ckpt_write(const char *path, struct gv_net *net, const struct gv_ckpt_key *key,
    const bool *diverged, struct gv_error *e)
{
	struct gv_strbuf head = {0};
	struct gv_ckpt_out w;
	size_t b;
	int status = 0;

	if (!little_endian())
		return gv_error_set(
		    e, "%s: checkpoints need a little-endian machine", path);
	if (gv_out_open(&w.out, path, e) != 0)
		return -1;
	gv_out_private(w.out);
	w.crc = crc32(0, NULL, 0);
	gv_ckpt_preamble(&head, DTYPE, key->models, key->config);
	for (b = 0; b < key->models; b++) {
		gv_strbuf_fmt(&head, "model %s\n", key->model[b]);
		add_state(&head, net, b, diverged[b]);
	}
	gv_strbuf_char(&head, '\n');
	gv_ckpt_put(&w, head.s, head.len);
	gv_strbuf_free(&head);
	for (b = 0; b < key->models && status == 0; b++)
		status = put_arrays(&w, net, b);
	if (status != 0) {
		gv_out_discard(w.out);
		return gv_error_set(e, "%s: cannot read the net: %s", path,
		    gv_net_error(net) != NULL ? gv_net_error(net) : "a rank is gone");
	}
	gv_ckpt_put_crc(&w);
	return commit(w.out, path, e);
}

/* ---- reading ---- */

/* The first lines in which two texts differ, quoted. */
static int
other_line(const char *path, struct gv_ckpt_line is, const char *want, struct gv_error *e)
{
	char q1[GV_QUOTE_LEN], q2[GV_QUOTE_LEN];
	const char *p = is.s, *q = want;
	const char *end = is.s + is.len, *stop = want + strlen(want);
	struct gv_ckpt_line a = {"", 0}, b = {"", 0};

	for (;;) {
		bool more = gv_ckpt_next_line(&p, end, &a),
		     wanted = gv_ckpt_next_line(&q, stop, &b);

		if (!more)
			a = (struct gv_ckpt_line){"", 0};
		if (!wanted)
			b = (struct gv_ckpt_line){"", 0};
		if (!more || !wanted || a.len != b.len || memcmp(a.s, b.s, a.len) != 0)
			break;
	}
	return gv_error_set(e, "%s: of another run: it has %s, this run %s", path,
	    gv_quote(q1, a.s, a.len), gv_quote(q2, b.s, b.len));
}

static bool
same(struct gv_ckpt_line l, const char *s)
{
	return l.len == strlen(s) && memcmp(l.s, s, l.len) == 0;
}

int
gv_ckpt_same_config(const struct gv_ckpt_file *f, const char *path, const char *config,
    struct gv_error *e)
{
	return same(f->config, config) ? 0 : other_line(path, f->config, config, e);
}

int
gv_ckpt_same_model(const struct gv_ckpt_file *f, const char *path, size_t b,
    const char *model, struct gv_error *e)
{
	char q[GV_QUOTE_LEN], q2[GV_QUOTE_LEN];

	if (same(f->part[b].model, model))
		return 0;
	return gv_error_set(e, "%s: of another run: model %zu was %s, is now %s", path, b,
	    gv_quote(q, f->part[b].model.s, f->part[b].model.len),
	    gv_quote(q2, model, strlen(model)));
}

static int
check_key(const struct gv_ckpt_file *f, const char *path, struct gv_net *net,
    const struct gv_ckpt_key *key, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
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
	if (gv_ckpt_same_config(f, path, key->config, e) != 0)
		return -1;
	for (b = 0; b < f->models; b++) {
		size_t bytes = 0;

		if (gv_ckpt_same_model(f, path, b, key->model[b], e) != 0)
			return -1;
		for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
			uint64_t n = 0;

			if (!stored(net, b, &a))
				continue;
			if (!gv_ckpt_state_number(f->part[b].state, a.name, &n) ||
			    n != a.n)
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
restore_arrays(const struct gv_ckpt_part *part, struct gv_net *net, size_t b, gv_real **v)
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
restore(const struct gv_ckpt_file *f, const char *path, struct gv_net *net,
    bool *diverged, struct gv_error *e)
{
	gv_real *v = NULL;
	size_t b;
	int status = 0;

	for (b = 0; b < f->models && status == 0; b++) {
		uint64_t steps = 0;

		status = restore_arrays(&f->part[b], net, b, &v);
		gv_ckpt_state_number(f->part[b].state, "steps", &steps);
		gv_net_set_steps(net, b, steps);
		diverged[b] = gv_ckpt_state_diverged(f->part[b].state);
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
	struct gv_ckpt_file f;
	int r;

	*is_damaged = false;
	if (stat(path, &st) != 0) {
		if (errno == ENOENT)
			return GV_CKPT_NONE;
		gv_error_sys(e, "%s: cannot open", path);
		return GV_CKPT_ERROR;
	}
	if (gv_ckpt_file_read(&f, path, e) != 0) {
		*is_damaged = true;
		return GV_CKPT_ERROR;
	}
	r = check_key(&f, path, net, key, e);
	if (r == 0)
		r = restore(&f, path, net, diverged, e);
	gv_ckpt_file_free(&f);
	return r == 0 ? GV_CKPT_READ : GV_CKPT_ERROR;
}
