#include "smi.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "links.h"

enum {
	GPUS = 128, /* in one matrix */
	COLUMNS = 256,
	LANES = 18, /* that a GPU has at most; more in a row are those of switches */
	WORD = 64
};

/* How far apart two devices are; what nvidia-smi prints. */
enum distance { SELF, NVLINK, PIX, PXB, PHB, NODE, SYS, UNKNOWN };
static const char *const distance_name[UNKNOWN] = {
    "X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS"};

struct matrix {
	const char *file;
	size_t n, columns; /* GPUs; those and other devices */
	int number[GPUS];  /* behind "GPU" */
	ptrdiff_t numa_column;
	char numa[GPUS][WORD];
	long line[GPUS];
	enum distance distance[GPUS][COLUMNS];
	int lanes[GPUS][GPUS];
	bool seen[GPUS];
};

/* ---- the text ---- */

struct text {
	const char *s;
	size_t len;
};

/* The bytes up to a line feed; *at moves behind it. */
static struct text
next_line(const char **at, const char *end)
{
	const char *s = *at, *lf = memchr(s, '\n', (size_t)(end - s));
	struct text t = {s, (size_t)((lf != NULL ? lf : end) - s)};

	*at = lf != NULL ? lf + 1 : end;
	if (t.len > 0 && t.s[t.len - 1] == '\r')
		t.len--;
	return t;
}

/*
 * The next cell of a line, up to a tab, without the blanks and the terminal's codes around and
 * in it (nvidia-smi underlines its header).  false: there is none.
 */
static bool
next_cell(struct text *line, char word[WORD])
{
	size_t n = 0;

	if (line->s == NULL)
		return false;
	while (line->len > 0 && *line->s != '\t') {
		if (*line->s == '\033') {
			while (line->len > 0 && !isalpha((unsigned char)*line->s)) {
				line->s++;
				line->len--;
			}
		} else if ((*line->s != ' ' || n > 0) && n + 1 < WORD) {
			word[n++] = *line->s;
		}
		if (line->len > 0) {
			line->s++;
			line->len--;
		}
	}
	while (n > 0 && word[n - 1] == ' ')
		n--;
	word[n] = '\0';
	if (line->len > 0) {
		line->s++;
		line->len--;
	} else {
		line->s = NULL;
	}
	return true;
}

static bool
gpu_number(const char *word, int *number)
{
	int64_t v = 0;

	if (strncmp(word, "GPU", 3) != 0 || !isdigit((unsigned char)word[3]) ||
	    gv_parse_int(word + 3, strlen(word + 3), &v) != 0 || v > 100000)
		return false;
	*number = (int)v;
	return true;
}

/* The header's devices: GPUs first, then network cards, up to the affinities. */
static bool
read_header(struct matrix *m, struct text line)
{
	char word[WORD] = "";
	size_t column;

	m->numa_column = -1;
	next_cell(&line, word);
	if (word[0] != '\0')
		return false;
	for (column = 0; next_cell(&line, word); column++) {
		int number;

		if (strcmp(word, "NUMA Affinity") == 0)
			m->numa_column = (ptrdiff_t)column;
		if (strstr(word, "Affinity") != NULL || strstr(word, "NUMA") != NULL ||
		    word[0] == '\0' || column >= COLUMNS)
			continue;
		m->columns = column + 1;
		if (!gpu_number(word, &number))
			continue;
		if (m->n == GPUS || m->n != column)
			return false;
		m->number[m->n++] = number;
	}
	return m->n > 0;
}

bool
smi_is(const char *s, size_t len)
{
	const char *at = s, *end = s + len;
	struct matrix *m = gv_xcalloc(1, sizeof(*m));
	bool is;

	while (at < end && (*at == '\n' || *at == '\r'))
		at++;
	is = memchr(at, '\t', (size_t)(end - at)) != NULL &&
	     read_header(m, next_line(&at, end));
	free(m);
	return is;
}

static enum distance
distance_of(const char *word, int *lanes)
{
	int64_t v;
	int d;

	*lanes = 0;
	if (strncmp(word, "NV", 2) == 0 &&
	    gv_parse_int(word + 2, strlen(word + 2), &v) == 0 && v > 0 && v < 1000) {
		*lanes = (int)v;
		return NVLINK;
	}
	for (d = SELF; d < UNKNOWN; d++)
		if (d != NVLINK && strcmp(word, distance_name[d]) == 0)
			return (enum distance)d;
	return UNKNOWN;
}

static int
read_row(struct matrix *m, size_t gpu, struct text line, long number, struct gv_error *e)
{
	char word[WORD] = "", q[GV_QUOTE_LEN], column_name[WORD];
	size_t column;

	m->seen[gpu] = true;
	m->line[gpu] = number;
	for (column = 0; next_cell(&line, word); column++) {
		int lanes;
		enum distance d;

		if ((ptrdiff_t)column == m->numa_column)
			memcpy(m->numa[gpu], word, WORD);
		if (column >= m->columns)
			continue;
		d = distance_of(word, &lanes);
		if (column < m->n) {
			snprintf(
			    column_name, sizeof(column_name), "GPU%d", m->number[column]);
			if (d == UNKNOWN || (d == SELF) != (column == gpu))
				return gv_error_at(e, m->file, number, column_name,
				    column == gpu
					? "%s where a GPU meets itself: expected X"
					: "%s: expected NV#, PIX, PXB, PHB, NODE or SYS",
				    gv_quote(q, word, strlen(word)));
			m->lanes[gpu][column] = lanes;
		}
		m->distance[gpu][column] = d;
	}
	if (column < m->columns)
		return gv_error_at(e, m->file, number, NULL,
		    "%zu cells behind the name; the header names %zu devices", column,
		    m->columns);
	return 0;
}

static int
read_rows(struct matrix *m, const char *at, const char *end, struct gv_error *e)
{
	long number = 1;
	size_t i, j;

	while (at < end) {
		struct text line = next_line(&at, end);
		char word[WORD] = "";
		int gpu;

		number++;
		next_cell(&line, word);
		if (!gpu_number(word, &gpu))
			continue; /* a network card, the legend */
		for (i = 0; i < m->n && m->number[i] != gpu; i++)
			;
		if (i == m->n || m->seen[i])
			return gv_error_at(e, m->file, number, NULL,
			    i == m->n ? "%s has no column" : "%s has a row already",
			    word);
		if (read_row(m, i, line, number, e) != 0)
			return -1;
	}
	for (i = 0; i < m->n; i++)
		if (!m->seen[i])
			return gv_error_at(
			    e, m->file, 0, NULL, "GPU%d has no row", m->number[i]);
	for (i = 0; i < m->n; i++)
		for (j = 0; j < i; j++)
			if (m->distance[i][j] != m->distance[j][i] ||
			    m->lanes[i][j] != m->lanes[j][i])
				return gv_error_at(e, m->file, m->line[i], NULL,
				    "GPU%d to GPU%d is not what GPU%d to GPU%d is",
				    m->number[i], m->number[j], m->number[j],
				    m->number[i]);
	return 0;
}

/* ---- what lies between ---- */

/* Groups of GPUs that meet at one node, by the least number in them. */
static void
join(size_t *group, size_t n, size_t a, size_t b)
{
	size_t i, to = group[a] < group[b] ? group[a] : group[b],
		  from = group[a] < group[b] ? group[b] : group[a];

	for (i = 0; i < n; i++)
		if (group[i] == from)
			group[i] = to;
}

/* Joins GPUs that are at most so far apart, or from the same network card. */
static void
join_near(size_t *group, const struct matrix *m, enum distance most)
{
	size_t i, j, k;

	for (i = 0; i < m->n; i++)
		for (j = 0; j < i; j++) {
			bool near = m->distance[i][j] >= PIX && m->distance[i][j] <= most;

			for (k = m->n; k < m->columns && !near; k++)
				near = m->distance[i][k] >= PIX &&
				       m->distance[i][k] <= most &&
				       m->distance[j][k] >= PIX &&
				       m->distance[j][k] <= most;
			if (near)
				join(group, m->n, i, j);
		}
}

/*
 * Sockets: what PHB and NODE join, and what says the same of its NUMA node, for NVLinks
 * hide the rest.  Where nothing is said, there is one.
 */
static void
join_sockets(size_t *group, const struct matrix *m)
{
	size_t i, j;
	bool told = false;

	join_near(group, m, NODE);
	for (i = 0; i < m->n; i++)
		for (j = 0; j < i; j++) {
			told = told || m->distance[i][j] == SYS || m->numa[i][0] != '\0';
			if (m->numa[i][0] != '\0' && strcmp(m->numa[i], m->numa[j]) == 0)
				join(group, m->n, i, j);
		}
	for (i = 1; i < m->n && !told; i++)
		join(group, m->n, 0, i);
}

static size_t
size_of(const size_t *group, size_t n, size_t i)
{
	size_t k, size = 0;

	for (k = 0; k < n; k++)
		size += group[k] == group[i];
	return size;
}

/* How many groups begin before that of i. */
static size_t
rank_of(const size_t *group, size_t n, size_t i, bool shared)
{
	size_t k, rank = 0;

	for (k = 0; k < group[i]; k++)
		rank -= group[k] == k && (!shared || size_of(group, n, k) > 1);
	return rank;
}

struct above {
	const char *node, *kind;
	size_t group[GPUS];
	bool shared; /* only where several meet is a node */
};

/* Each GPU's way up: to the bridge where there is one, and on to the socket. */
static void
pcie_links(struct gv_frame *f, const struct matrix *m)
{
	enum { LEVELS = 3 };
	struct above *level = gv_xcalloc(LEVELS, sizeof(*level));
	size_t i, k;

	level[0] = (struct above){.node = "plx", .kind = "PIX", .shared = true};
	level[1] = (struct above){.node = "pxb", .kind = "PXB", .shared = true};
	level[2] = (struct above){.node = "cpu", .kind = "PHB"};
	for (i = 0; i < m->n; i++)
		level[0].group[i] = i;
	join_near(level[0].group, m, PIX);
	memcpy(level[1].group, level[0].group, sizeof(level[0].group));
	join_near(level[1].group, m, PXB);
	memcpy(level[2].group, level[1].group, sizeof(level[1].group));
	join_sockets(level[2].group, m);
	for (i = 0; i < m->n; i++) {
		char below[WORD], name[WORD];
		size_t under = 1;

		snprintf(below, sizeof(below), "gpu%d", m->number[i]);
		for (k = 0; k < LEVELS; k++) {
			const size_t *group = level[k].group;
			size_t size = size_of(group, m->n, i);

			if (level[k].shared && size == under)
				continue; /* nothing meets here that did not before */
			snprintf(name, sizeof(name), "%s%zu", level[k].node,
			    rank_of(group, m->n, i, level[k].shared));
			links_add(f, below, name, LINKS_PCIE, level[k].kind, m->line[i]);
			memcpy(below, name, WORD);
			under = size;
			if (group[i] != i)
				break; /* the way on is that of the group's first */
		}
	}
	for (i = 0; i < m->n; i++)
		for (k = 0; k < i; k++) {
			const size_t *group = level[LEVELS - 1].group;
			char a[WORD], b[WORD];

			if (group[i] != i || group[k] != k)
				continue;
			snprintf(a, sizeof(a), "cpu%zu", rank_of(group, m->n, k, false));
			snprintf(b, sizeof(b), "cpu%zu", rank_of(group, m->n, i, false));
			links_add(f, a, b, LINKS_QPI, "SYS", m->line[i]);
		}
	free(level);
}

/* Lanes to switches, where a GPU has more to others than it can have; else to each other. */
static void
nvlinks(struct gv_frame *f, const struct matrix *m, double lane)
{
	char name[2][WORD], kind[WORD];
	size_t i, j;

	for (i = 0; i < m->n; i++) {
		int sum = 0, most = 0;

		for (j = 0; j < m->n; j++) {
			sum += m->lanes[i][j];
			most = m->lanes[i][j] > most ? m->lanes[i][j] : most;
		}
		snprintf(name[0], WORD, "gpu%d", m->number[i]);
		snprintf(kind, WORD, "NV%d", most);
		if (sum > LANES)
			links_add(f, name[0], "nvs0", most * lane, kind, m->line[i]);
		for (j = 0; j < i && sum <= LANES; j++) {
			if (m->lanes[i][j] == 0)
				continue;
			snprintf(name[1], WORD, "gpu%d", m->number[j]);
			snprintf(kind, WORD, "NV%d", m->lanes[i][j]);
			links_add(
			    f, name[1], name[0], m->lanes[i][j] * lane, kind, m->line[i]);
		}
	}
}

int
smi_links(struct gv_frame *f, const char *file, const char *s, size_t len, double lane,
    struct gv_error *e)
{
	struct matrix *m = gv_xcalloc(1, sizeof(*m));
	const char *at = s, *end = s + len;
	int rc;

	m->file = file;
	while (at < end && (*at == '\n' || *at == '\r'))
		at++;
	read_header(m, next_line(&at, end));
	rc = read_rows(m, at, end, e);
	if (rc == 0) {
		links_start(f, file);
		nvlinks(f, m, lane > 0 ? lane : LINKS_LANE);
		pcie_links(f, m);
	}
	free(m);
	return rc;
}
