#include "nn/ckpt_slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "nn/ckpt_file.h"

/* ---- opening ---- */

static bool
is_line(const char *s, size_t len, const char *want)
{
	return len == strlen(want) && memcmp(s, want, len) == 0;
}

/* Takes the slice's own line off the end of its file's; false: it is not there. */
static bool
cut_own(struct gv_ckpt_file *f, const char *own)
{
	size_t n = own == NULL ? 0 : strlen(own);

	if (n > f->config.len ||
	    (own != NULL && !is_line(f->config.s + f->config.len - n, n, own)))
		return false;
	f->config.len -= n;
	return true;
}

static int
other_run(const char *path, const char *what, struct gv_error *e)
{
	return gv_error_set(e, "%s: a slice of another run: %s", path, what);
}

static void
close_all(struct gv_ckpt_file *f, size_t n)
{
	while (n-- > 0)
		gv_ckpt_file_free(&f[n]);
	free(f);
}

/* The files of all slices; NULL with *e set. */
static struct gv_ckpt_file *
open_all(const struct gv_ckpt_slice *s, size_t n, struct gv_error *e)
{
	struct gv_ckpt_file *f = gv_xcalloc(n, sizeof(*f));
	size_t i;

	for (i = 0; i < n; i++) {
		if (gv_ckpt_file_read(&f[i], s[i].path, e) != 0)
			break;
		if (!cut_own(&f[i], s[i].own))
			other_run(s[i].path, "its rows are others", e);
		else if (f[i].models != f[0].models)
			other_run(s[i].path, "it holds other models", e);
		else
			continue;
		i++;
		break;
	}
	if (e->count == 0)
		return f;
	close_all(f, i < n ? i : n);
	return NULL;
}

/* ---- arrays of a file ---- */

static size_t
size_of(const struct gv_ckpt_file *f)
{
	return is_line(f->dtype.s, f->dtype.len, "f64") ? sizeof(double) : sizeof(float);
}

/* The word of a state line that begins at s: its name's length and its number. */
static size_t
read_word(const char *s, size_t left, size_t *name, int64_t *number)
{
	const char *space = memchr(s, ' ', left);
	size_t len = space != NULL ? (size_t)(space - s) : left;
	const char *is = memchr(s, '=', len);

	*name = is == NULL ? len : (size_t)(is - s);
	*number = 0;
	if (is != NULL)
		gv_parse_int(is + 1, (size_t)(s + len - is) - 1, number);
	return len;
}

/* An array of a model: its bytes; NULL: the file has none of the name. */
static const char *
find_array(const struct gv_ckpt_file *f, size_t b, const char *name, size_t *bytes)
{
	struct gv_ckpt_line state = f->part[b].state;
	const char *at = f->part[b].raw;
	size_t i, len, n;
	int64_t number;

	for (i = 0; i < state.len; i += len + 1) {
		const char *word = state.s + i;

		len = read_word(word, state.len - i, &n, &number);
		if (is_line(word, n, "steps"))
			continue;
		*bytes = (size_t)number * size_of(f);
		if (is_line(word, n, name))
			return at;
		at += *bytes;
	}
	return NULL;
}

/* ---- reading ---- */

/* Numbers of a row in an array: parameters, or running statistics. */
static size_t
numbers_of(const struct gv_model *m, size_t first, size_t last, bool running)
{
	size_t n = 0;

	for (; first < last; first++) {
		const struct gv_layer *l = &m->layer[first];

		n += running ? l->running : l->weights + l->biases;
	}
	return n;
}

struct reading {
	const struct gv_ckpt_slice *s;
	struct gv_ckpt_file *f;
	size_t n;
	const struct gv_model *m;
	size_t first, last; /* rows of the net */
};

/* What a slice has of an array of model b, into v of the net's rows; false: it lacks it. */
static bool
take(const struct reading *r, size_t i, size_t b, const char *name, gv_real *v)
{
	const struct gv_ckpt_slice *s = &r->s[i];
	bool running = strcmp(name, "running") == 0;
	size_t first = s->first > r->first ? s->first : r->first;
	size_t last = s->last < r->last ? s->last : r->last;
	size_t bytes, from, to, n;
	const char *at;

	if (first >= last || numbers_of(r->m, first, last, running) == 0)
		return true;
	at = find_array(&r->f[i], b, name, &bytes);
	from = numbers_of(r->m, s->first, first, running);
	to = numbers_of(r->m, r->first, first, running);
	n = numbers_of(r->m, first, last, running);
	if (at == NULL || (from + n) * sizeof(*v) > bytes)
		return false;
	memcpy(v + to, at + from * sizeof(*v), n * sizeof(*v));
	return true;
}

/* An array of model b from all slices; false: one lacks it. */
static bool
gather(const struct reading *r, size_t b, const char *name, gv_real *v)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (!take(r, i, b, name, v))
			return false;
	return true;
}

static int
fill(const struct reading *r, struct gv_net *net, size_t b, struct gv_error *e)
{
	struct gv_net_array a;
	size_t i;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
		gv_real *v = gv_xcalloc(a.n + 1, sizeof(*v));
		bool older = strncmp(a.name, "params.", 7) == 0;
		bool there = gather(r, b, a.name, v);
		int status = 0;

		if (!there && older)
			there = gather(r, b, "params", v);
		if (!there && strcmp(a.name, "momentum") == 0 &&
		    !(gv_net_coef(net, b).momentum > 0))
			there = true;
		if (!there)
			other_run(r->s[0].path, a.name, e);
		else if (gv_net_put(net, i, b, v) != 0)
			status = gv_error_set(e, "%s: cannot write the net: %s",
			    r->s[0].path, gv_net_error(net));
		free(v);
		if (!there || status != 0)
			return -1;
	}
	return 0;
}

static int
check_key(const struct reading *r, const struct gv_ckpt_key *key, struct gv_error *e)
{
	const char *dtype = sizeof(gv_real) == sizeof(double) ? "f64" : "f32";
	size_t i, b;

	for (i = 0; i < r->n; i++) {
		const struct gv_ckpt_file *f = &r->f[i];

		if (!is_line(f->dtype.s, f->dtype.len, dtype))
			return other_run(r->s[i].path, "its numbers are others", e);
		if (f->models != key->models)
			return other_run(r->s[i].path, "it holds other models", e);
		if (gv_ckpt_same_config(f, r->s[i].path, key->config, e) != 0)
			return -1;
		for (b = 0; b < f->models; b++)
			if (gv_ckpt_same_model(f, r->s[i].path, b, key->model[b], e) != 0)
				return -1;
	}
	return 0;
}

int
gv_ckpt_read_slices(const struct gv_ckpt_slice *s, size_t n, const struct gv_model *m,
    struct gv_net *net, size_t first, size_t last, const struct gv_ckpt_key *key,
    bool *diverged, struct gv_error *e)
{
	struct reading r = {s, open_all(s, n, e), n, m, first, last};
	uint64_t steps = 0;
	int status;
	size_t b;

	if (r.f == NULL)
		return -1;
	status = check_key(&r, key, e);
	for (b = 0; b < key->models && status == 0; b++) {
		status = fill(&r, net, b, e);
		gv_ckpt_state_number(r.f[0].part[b].state, "steps", &steps);
		gv_net_set_steps(net, b, steps);
		diverged[b] = gv_ckpt_state_diverged(r.f[0].part[b].state);
	}
	close_all(r.f, n);
	return status;
}

int
gv_ckpt_steps(const char *path, uint64_t *steps, struct gv_error *e)
{
	struct gv_ckpt_file f;

	if (gv_ckpt_file_read(&f, path, e) != 0)
		return -1;
	*steps = 0;
	gv_ckpt_state_number(f.part[0].state, "steps", steps);
	gv_ckpt_file_free(&f);
	return 0;
}

/* ---- joining ---- */

/*
 * Bytes of an array in all slices; false: it is an older version of the weights, and one
 * lacks it.
 */
static bool
add_up(const struct gv_ckpt_file *f, size_t n, size_t b, const char *name, size_t *all)
{
	size_t i, bytes;

	for (*all = 0, i = 0; i < n; i++) {
		if (find_array(&f[i], b, name, &bytes) != NULL)
			*all += bytes;
		else if (strncmp(name, "params.", 7) == 0)
			return false;
	}
	return true;
}

/* Words of a line. */
static size_t
words(struct gv_ckpt_line l)
{
	size_t i, n = 1;

	for (i = 0; i < l.len; i++)
		n += l.s[i] == ' ';
	return n;
}

/* The names of model b's arrays that are joined, one a line: not all slices have all. */
static void
common_names(const struct gv_ckpt_file *f, size_t n, size_t b, struct gv_strbuf *names)
{
	struct gv_ckpt_line state = f[0].part[b].state;
	size_t i, len, name, all;
	int64_t number;

	for (i = 1; i < n; i++)
		if (words(f[i].part[b].state) > words(state))
			state = f[i].part[b].state;

	for (i = 0; i < state.len; i += len + 1) {
		char *word;

		len = read_word(state.s + i, state.len - i, &name, &number);
		word = gv_xstrndup(state.s + i, name);
		if (name < len && strcmp(word, "steps") != 0 &&
		    add_up(f, n, b, word, &all))
			gv_strbuf_fmt(names, "%s\n", word);
		free(word);
	}
}

/* For each name in names: its header words, or its bytes. */
static void
put_names(struct gv_ckpt_out *w, struct gv_strbuf *head, const struct gv_ckpt_file *f,
    size_t n, size_t b, const struct gv_strbuf *names)
{
	const char *p = names->s;
	struct gv_ckpt_line l;
	size_t i, bytes, all;

	while (p != NULL && gv_ckpt_next_line(&p, names->s + names->len, &l)) {
		char *name = gv_xstrndup(l.s, l.len);

		add_up(f, n, b, name, &all);
		if (head != NULL)
			gv_strbuf_fmt(head, " %s=%zu", name, all / size_of(f));
		for (i = 0; head == NULL && i < n; i++) {
			const char *at = find_array(&f[i], b, name, &bytes);

			if (at != NULL)
				gv_ckpt_put(w, at, bytes);
		}
		free(name);
	}
}

static void
write_joined(struct gv_ckpt_out *w, const struct gv_ckpt_file *f, size_t n)
{
	struct gv_strbuf head = {0};
	struct gv_strbuf *names = gv_xcalloc(f->models, sizeof(*names));
	char *dtype = gv_xstrndup(f->dtype.s, f->dtype.len);
	char *config = gv_xstrndup(f->config.s, f->config.len);
	size_t b;

	gv_ckpt_preamble(&head, dtype, f->models, config);
	for (b = 0; b < f->models; b++) {
		const struct gv_ckpt_part *p = &f->part[b];
		uint64_t steps = 0;

		common_names(f, n, b, &names[b]);
		gv_ckpt_state_number(p->state, "steps", &steps);
		gv_strbuf_str(&head, "model ");
		gv_strbuf_add(&head, p->model.s, p->model.len);
		gv_strbuf_fmt(&head, "\nstate steps=%llu", (unsigned long long)steps);
		put_names(w, &head, f, n, b, &names[b]);
		gv_strbuf_str(
		    &head, gv_ckpt_state_diverged(p->state) ? " diverged\n" : "\n");
	}
	gv_strbuf_char(&head, '\n');
	gv_ckpt_put(w, head.s, head.len);
	for (b = 0; b < f->models; b++) {
		put_names(w, NULL, f, n, b, &names[b]);
		gv_strbuf_free(&names[b]);
	}
	gv_ckpt_put_crc(w);
	gv_strbuf_free(&head);
	free(names);
	free(dtype);
	free(config);
}

int
gv_ckpt_join_slices(
    const struct gv_ckpt_slice *s, size_t n, const char *out, struct gv_error *e)
{
	struct gv_ckpt_file *f = open_all(s, n, e);
	struct gv_ckpt_out w = {.crc = crc32(0, NULL, 0)};
	int status = -1;

	if (f == NULL)
		return -1;
	if (gv_out_open(&w.out, out, e) == 0) {
		gv_out_private(w.out);
		write_joined(&w, f, n);
		status = gv_out_close(w.out, e);
	}
	close_all(f, n);
	return status;
}
