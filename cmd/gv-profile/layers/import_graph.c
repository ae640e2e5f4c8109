#include "import_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"

enum { ID, LAYER, FORWARD, BACKWARD, ACTIVATION, PARAMETER, STAGE, COLUMNS };
static const char *const column_name[COLUMNS] = {"node_id", "layer", "forward_ms",
    "backward_ms", "activation_bytes", "parameter_bytes", "stage"};
static const char *const key[COLUMNS] = {[FORWARD] = "forward_compute_time=",
    [BACKWARD] = "backward_compute_time=",
    [ACTIVATION] = "activation_size=",
    [PARAMETER] = "parameter_size=",
    [STAGE] = "stage_id="};

static const char separator[] = " -- ";
enum { SEPARATOR = sizeof(separator) - 1 };

struct node {
	char *id, *layer;
	double number[COLUMNS]; /* [STAGE] -1 = none */
};

/* Between two nodes, by their texts until all are read. */
struct edge {
	char *src, *dst;
	long line;
};

struct reader {
	const char *file;
	long line;
	struct gv_arena arena;
	struct gv_hash ids;
	size_t n, cap, staged; /* nodes; those with a stage */
	struct node *node;
	size_t n_edges, cap_edges;
	struct edge *edge;
};

/* Cuts s at the next separator; what is after it, or NULL. */
static char *
cut(char *s, const char *at)
{
	char *end = strstr(s, at);

	if (end == NULL)
		return NULL;
	*end = '\0';
	return end + SEPARATOR;
}

/* The sum of "1.0; 2.0; 3.0", or -1. */
static double
sum_list(const char *s, size_t len)
{
	double v, sum = 0;

	for (;;) {
		size_t n = strcspn(s, ";");

		if (n > len)
			n = len;
		if (gv_parse_double(s, n, &v) != 0 || v < 0)
			return -1;
		sum += v;
		if (n == len)
			return sum;
		n += s[n + 1] == ' ' ? 2 : 1;
		s += n;
		len -= n;
	}
}

/* A number after its key and in front of the next comma; moves *s after that. */
static int
take(struct reader *r, char **s, int column, double *v, struct gv_error *e)
{
	size_t k = strlen(key[column]), len;
	char q[GV_QUOTE_LEN];
	char *value = *s + k;

	if (strncmp(*s, key[column], k) != 0)
		return gv_error_at(e, r->file, r->line, NULL, "expected %sNUMBER, got %s",
		    key[column], gv_quote(q, *s, strlen(*s)));
	len = strcspn(value, ",");
	if (value[0] == '[' && value[len - 1] == ']')
		*v = sum_list(value + 1, len - 2);
	else if (gv_parse_double(value, len, v) != 0)
		*v = -1;
	*s = value + len;
	if (column < PARAMETER && **s == ',')
		*s += 1 + strspn(*s + 1, " ");
	if (*v < 0)
		return gv_error_at(e, r->file, r->line, column_name[column],
		    "expected a number from 0 up, got %s", gv_quote(q, value, len));
	return 0;
}

static int
read_node(struct reader *r, char *s, struct gv_error *e)
{
	struct node node = {.number[STAGE] = -1};
	char *layer = cut(s, separator), *rest, *stage;
	char q[GV_QUOTE_LEN];
	int column;

	/* a description may hold what separates */
	rest = layer != NULL ? cut(layer, " -- forward_compute_time=") : NULL;
	if (rest == NULL) {
		if (layer != NULL)
			layer[-SEPARATOR] = ' '; /* the whole line is shown */
		return gv_error_at(e, r->file, r->line, NULL,
		    "expected ID -- LAYER -- forward_compute_time=..., got %s",
		    gv_quote(q, s, strlen(s)));
	}
	stage = cut(rest, separator);
	for (column = FORWARD; column <= PARAMETER; column++)
		if (take(r, &rest, column, &node.number[column], e) != 0)
			return -1;
	if (stage != NULL && take(r, &stage, STAGE, &node.number[STAGE], e) != 0)
		return -1;
	if (stage != NULL)
		rest = stage;
	if (*rest != '\0')
		return gv_error_at(e, r->file, r->line, NULL,
		    "expected nothing after the numbers, got %s",
		    gv_quote(q, rest, strlen(rest)));
	if (gv_hash_add(&r->ids, s, strlen(s)) != r->n)
		return gv_error_at(e, r->file, r->line, "node_id",
		    "another node is called %s too", gv_quote(q, s, strlen(s)));
	node.id = gv_arena_strndup(&r->arena, s, strlen(s));
	node.layer = gv_arena_strndup(&r->arena, layer, strlen(layer));
	r->staged += stage != NULL;
	r->node = gv_xgrow(r->node, &r->cap, r->n + 1, sizeof(*r->node));
	r->node[r->n++] = node;
	return 0;
}

static int
read_edge(struct reader *r, char *s, struct gv_error *e)
{
	char *dst = cut(s, separator);
	char q[GV_QUOTE_LEN];

	if (dst == NULL)
		return gv_error_at(e, r->file, r->line, NULL, "expected ID -- ID, got %s",
		    gv_quote(q, s, strlen(s)));
	r->edge = gv_xgrow(r->edge, &r->cap_edges, r->n_edges + 1, sizeof(*r->edge));
	r->edge[r->n_edges++] = (struct edge){gv_arena_strndup(&r->arena, s, strlen(s)),
	    gv_arena_strndup(&r->arena, dst, strlen(dst)), r->line};
	return 0;
}

static int
read_line(struct reader *r, char *s, struct gv_error *e)
{
	size_t len = strlen(s);

	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\r'))
		s[--len] = '\0';
	if (s[strspn(s, " \t")] == '\0')
		return 0;
	return s[0] == '\t' ? read_edge(r, s + strspn(s, " \t"), e) : read_node(r, s, e);
}

/* All of the input as one text. */
static int
read_text(struct gv_strbuf *text, struct gv_in *in, struct gv_error *e)
{
	char buf[1 << 16];
	long line = 1;
	ssize_t n;
	size_t k;

	while ((n = gv_in_read(in, buf, sizeof(buf), e)) > 0)
		gv_strbuf_add(text, buf, (size_t)n);
	if (n < 0)
		return -1;
	for (k = 0; k < text->len; k++) {
		if (text->s[k] == '\0')
			return gv_error_at(e, gv_in_name(in), line, NULL, "a NUL byte");
		line += text->s[k] == '\n';
	}
	return 0;
}

static int
read_lines(struct reader *r, const struct gv_strbuf *text, struct gv_error *e)
{
	static const char bom[] = "\xef\xbb\xbf";
	char *s = text->s, *end;
	int rc = 0;

	if (s != NULL && strncmp(s, bom, strlen(bom)) == 0)
		s += strlen(bom);

	while (s != NULL && *s != '\0') {
		end = strchr(s, '\n');
		if (end != NULL)
			*end++ = '\0';
		r->line++;
		rc |= read_line(r, s, e);
		s = end;
	}
	if (rc == 0 && r->n == 0)
		return gv_error_at(e, r->file, 0, NULL, "has no nodes");
	return rc;
}

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

static void
make_layers(struct gv_frame *f, const struct reader *r)
{
	size_t columns = r->staged == r->n ? COLUMNS : STAGE, i, k;
	char text[COLUMNS][GV_NUM_LEN];
	struct gv_cell c[COLUMNS];

	for (k = 0; k < columns; k++)
		c[k] = cell(column_name[k]);
	gv_frame_start(f, r->file, false, c, columns);
	for (i = 0; i < r->n; i++) {
		c[ID] = cell(r->node[i].id);
		c[LAYER] = cell(r->node[i].layer);
		for (k = FORWARD; k < columns; k++) {
			gv_format_double(text[k], r->node[i].number[k]);
			c[k] = cell(text[k]);
		}
		gv_frame_add(f, c, 0);
	}
}

static int
make_edges(struct gv_frame *f, const struct reader *r, struct gv_error *e)
{
	struct gv_cell c[2] = {cell("src"), cell("dst")};
	char q[GV_QUOTE_LEN];
	size_t i, k;
	int rc = 0;

	gv_frame_start(f, r->file, false, c, 2);
	for (i = 0; i < r->n_edges; i++) {
		c[0] = cell(r->edge[i].src);
		c[1] = cell(r->edge[i].dst);
		for (k = 0; k < 2; k++)
			if (gv_hash_find(&r->ids, c[k].s, c[k].len) < 0)
				rc = gv_error_at(e, r->file, r->edge[i].line, NULL,
				    "there is no node %s", gv_quote(q, c[k].s, c[k].len));
		gv_frame_add(f, c, r->edge[i].line);
	}
	return rc;
}

int
import_graph(
    struct gv_frame *layers, struct gv_frame *edges, const char *path, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct reader r = {0};
	struct gv_in *in;
	int rc;

	if (gv_in_open(&in, path, e) != 0)
		return -1;
	r.file = gv_in_name(in);
	rc = read_text(&text, in, e);
	if (rc == 0)
		rc = read_lines(&r, &text, e);
	if (rc == 0) {
		make_layers(layers, &r);
		rc = make_edges(edges, &r, e);
	}
	gv_in_close(in);
	gv_strbuf_free(&text);
	gv_hash_free(&r.ids);
	gv_arena_free(&r.arena);
	free(r.node);
	free(r.edge);
	return rc;
}
