#include "import_devices.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "table/tab.h"

static struct import_pool *
add(struct import_devices *d, const char *node, const char *name, size_t name_len)
{
	struct import_pool *p;

	d->pool = gv_xgrow(d->pool, &d->cap, d->n + 1, sizeof(*d->pool));
	p = &d->pool[d->n++];
	*p = (struct import_pool){.node = node,
	    .name = gv_arena_strndup(&d->arena, name, name_len),
	    .memory_bytes = -1,
	    .ids = ""};
	return p;
}

/* ---- Slurm ---- */

/* "gpu:v100:4(S:0-1)": a type and a number; other resources are passed over. */
static int
take_resource(struct import_devices *d, const char *node, const char *s, size_t len,
    struct gv_error *e)
{
	const char *paren = memchr(s, '(', len);
	const char *name = "gpu", *number;
	size_t name_len = 3, end = paren != NULL ? (size_t)(paren - s) : len;
	int64_t n = 1;
	char q[GV_QUOTE_LEN];

	if (end < 3 || memcmp(s, "gpu", 3) != 0 || (end > 3 && s[3] != ':'))
		return 0;
	for (number = s + end; number > s && number[-1] != ':'; number--)
		;
	if (number > s && gv_parse_int(number, (size_t)(s + end - number), &n) != 0) {
		n = 1; /* gpu:v100 */
		number = s + end + 1;
	}
	if (number > s + 5) {
		name = s + 4;
		name_len = (size_t)(number - 1 - name);
	}
	if (n < 0 || n > 1024)
		return gv_error_set(e, "node %s: expected a number of GPUs, got %s", node,
		    gv_quote(q, s, len));
	if (n > 0)
		add(d, node, name, name_len)->gpus = (size_t)n;
	return 0;
}

/* What a node has: resources with commas between them, also within parentheses. */
static int
take_gres(struct import_devices *d, const char *node, const char *s, size_t len,
    struct gv_error *e)
{
	size_t from = 0, i;
	int depth = 0, rc = 0;

	for (i = 0; i <= len && rc == 0; i++) {
		if (i < len && s[i] == '(')
			depth++;
		else if (i < len && s[i] == ')')
			depth--;
		else if (i == len || (s[i] == ',' && depth == 0)) {
			rc = take_resource(d, node, s + from, i - from, e);
			from = i + 1;
		}
	}
	return rc;
}

/* The next word of the text, its length; 0 = none. */
static size_t
next_word(const char **s)
{
	*s += strspn(*s, " \t\r\n");
	return strcspn(*s, " \t\r\n");
}

/* The value of a word NAME=VALUE; NULL = it is another one. */
static const char *
value_of(const char *s, size_t len, const char *name, size_t *value_len)
{
	size_t n = strlen(name);

	if (len <= n || memcmp(s, name, n) != 0 || s[n] != '=')
		return NULL;
	*value_len = len - n - 1;
	return s + n + 1;
}

/* Why a node of that state gets no work; NULL = it does. */
static const char *
unusable(const char *state)
{
	static const char *const bad[] = {"DOWN", "DRAIN", "FAIL", "NOT_RESPONDING", "*"};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strstr(state, bad[i]) != NULL)
			return state;
	return NULL;
}

/* scontrol show node, also with -o: State stands behind Gres. */
static int
from_scontrol(struct import_devices *d, const char *s, struct gv_error *e)
{
	const char *node = "", *value;
	size_t first = 0, len, n;
	int rc = 0;

	for (; rc == 0 && (len = next_word(&s)) > 0; s += len) {
		if ((value = value_of(s, len, "NodeName", &n)) != NULL) {
			node = gv_arena_strndup(&d->arena, value, n);
			first = d->n;
		} else if ((value = value_of(s, len, "Gres", &n)) != NULL) {
			rc = take_gres(d, node, value, n, e);
		} else if ((value = value_of(s, len, "State", &n)) != NULL) {
			const char *why = unusable(gv_arena_strndup(&d->arena, value, n));

			if (why == NULL)
				continue;
			gv_error_set(&d->left_out, "node %s is left out: %s", node, why);
			d->n = first;
		}
	}
	return rc;
}

static bool
has_node(const struct import_devices *d, const char *node, size_t len)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (strlen(d->pool[i].node) == len &&
		    memcmp(d->pool[i].node, node, len) == 0)
			return true;
	return false;
}

/* sinfo -N -o '%N %G': a line for each node and partition; of its heading GRES is no GPU. */
static int
from_sinfo(struct import_devices *d, const char *path, const char *s, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	long line = 1;
	int rc = 0;

	for (; *s != '\0' && rc == 0; line++) {
		size_t len = strcspn(s, "\n");
		const char *at = s, *gres;
		size_t node = strcspn(at, " \t\n"), n;

		s += len + (s[len] == '\n');
		gres = at + node + strspn(at + node, " \t");
		n = strcspn(gres, " \t\r\n");
		if (node == 0)
			continue;
		if (n == 0 || strcspn(gres + n, "\n") > strspn(gres + n, " \t\r"))
			return gv_error_at(e, path, line, NULL,
			    "expected a node and its resources (sinfo -N -o \"%%N "
			    "%%G\"), got %s",
			    gv_quote(q, at, len));
		if (memchr(at, '[', node) != NULL)
			return gv_error_at(e, path, line, NULL,
			    "expected one node a line (sinfo -N), got %s",
			    gv_quote(q, at, node));
		if (!has_node(d, at, node))
			rc = take_gres(
			    d, gv_arena_strndup(&d->arena, at, node), gres, n, e);
	}
	return rc;
}

/* ---- nvidia-smi ---- */

static struct gv_cell
trimmed(struct gv_cell c)
{
	while (c.len > 0 && *c.s == ' ') {
		c.s++;
		c.len--;
	}
	return c;
}

/* The column of a name, without its unit. */
static ptrdiff_t
find(const struct gv_frame *f, const char *name)
{
	size_t n = strlen(name), i;

	for (i = 0; i < f->n_columns; i++) {
		struct gv_cell c = trimmed(f->name[i]);

		if (c.len >= n && memcmp(c.s, name, n) == 0 &&
		    (c.len == n || c.s[n] == ' '))
			return (ptrdiff_t)i;
	}
	return -1;
}

/* "81559 MiB", or without its unit; -1 = "[N/A]". */
static int64_t
memory_of(struct gv_cell c)
{
	double mib;

	c = trimmed(c);
	if (c.len > 4 && memcmp(c.s + c.len - 4, " MiB", 4) == 0)
		c.len -= 4;
	return gv_parse_double(c.s, c.len, &mib) == 0 && mib >= 0 && mib < 1e12
		   ? (int64_t)(mib * 1048576)
		   : -1;
}

static struct import_pool *
pool_named(struct import_devices *d, struct gv_cell name)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (gv_cell_is(name, d->pool[i].name))
			return &d->pool[i];
	return NULL;
}

static void
take_gpu(struct import_devices *d, struct gv_cell name, int64_t memory, size_t index)
{
	struct import_pool *p = pool_named(d, name);
	struct gv_strbuf ids = {0};

	if (p == NULL)
		p = add(d, "", name.s, name.len);
	if (memory >= 0 && (p->memory_bytes < 0 || memory < p->memory_bytes))
		p->memory_bytes = memory;
	gv_strbuf_fmt(&ids, "%s%s%zu", p->ids, p->gpus++ > 0 ? ";" : "", index);
	p->ids = gv_arena_strndup(&d->arena, ids.s, ids.len);
	gv_strbuf_free(&ids);
}

static int
from_smi(struct import_devices *d, const char *path, const char *s, size_t len,
    struct gv_error *e)
{
	struct gv_frame f;
	ptrdiff_t name, memory, index;
	size_t row;

	if (gv_frame_parse(&f, path, s, len, e) != 0)
		return -1;
	name = find(&f, "name") >= 0 ? find(&f, "name") : find(&f, "gpu_name");
	memory = find(&f, "memory.total");
	index = find(&f, "index");
	for (row = 0; row < f.n_rows; row++) {
		struct gv_cell c = trimmed(gv_frame_cell(&f, row, index));
		int64_t i = (int64_t)row;

		if (index >= 0 &&
		    (gv_parse_int(c.s, c.len, &i) != 0 || i < 0 || i > 4096))
			gv_frame_error(&f, row, index, e, "expected the index of a GPU");
		else
			take_gpu(d, trimmed(gv_frame_cell(&f, row, name)),
			    memory_of(gv_frame_cell(&f, row, memory)), (size_t)i);
	}
	gv_frame_free(&f);
	return e->count > 0 ? -1 : 0;
}

/* ---- which of them ---- */

static int
read_text(struct gv_strbuf *text, const char *path, struct gv_error *e)
{
	struct gv_in *in;
	char buf[4096];
	ssize_t n;

	if (gv_in_open(&in, path, e) != 0)
		return -1;
	while ((n = gv_in_read(in, buf, sizeof(buf), e)) > 0)
		gv_strbuf_add(text, buf, (size_t)n);
	gv_in_close(in);
	gv_strbuf_char(text, '\n'); /* and so it is a text, also an empty one */
	return n < 0 ? -1 : 0;
}

/* The first line has a column "name", or "gpu_name". */
static bool
is_smi(const char *s)
{
	size_t len = strcspn(s, "\n"), from = 0, i;

	for (i = 0; i <= len; i++)
		if (i == len || s[i] == ',') {
			struct gv_cell c = trimmed((struct gv_cell){s + from, i - from});

			if (gv_cell_is(c, "name") || gv_cell_is(c, "gpu_name") ||
			    gv_cell_is(c, "name\r"))
				return true;
			from = i + 1;
		}
	return false;
}

int
import_devices(struct import_devices *d, const char *path, struct gv_error *e)
{
	const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
	struct gv_strbuf text = {0};
	int rc = read_text(&text, path, e);

	*d = (struct import_devices){0};
	if (rc == 0 && memchr(text.s, '\0', text.len) != NULL)
		rc = gv_error_set(e, "%s: is no text", name);
	else if (rc == 0 && strstr(text.s, "NodeName=") != NULL)
		rc = from_scontrol(d, text.s, e);
	else if (rc == 0 && is_smi(text.s))
		rc = from_smi(d, path, text.s, text.len - 1, e);
	else if (rc == 0)
		rc = from_sinfo(d, path, text.s, e);
	if (rc == 0 && d->n == 0)
		rc = gv_error_set(e, "%s: no GPU", name);
	gv_strbuf_free(&text);
	return rc;
}

void
import_devices_free(struct import_devices *d)
{
	free(d->pool);
	gv_arena_free(&d->arena);
	*d = (struct import_devices){0};
}
