#include "launch/slurm/allocation.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/strbuf.h"

enum { MOST_GPUS = 4096 };

/* A node that does not answer for so long is not usable, s. */
static const double patience_s = 5;

/* ---- scontrol show -d -o job ---- */

struct gv_slurm_node *
gv_slurm_find(const struct gv_slurm_allocation *a, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < a->n_nodes; i++)
		if (strlen(a->node[i].name) == len &&
		    memcmp(a->node[i].name, name, len) == 0)
			return &a->node[i];
	return NULL;
}

static struct gv_slurm_node *
add_node(struct gv_slurm_allocation *a, const char *name, size_t group)
{
	struct gv_slurm_node *node = gv_slurm_find(a, name, strlen(name));

	if (node != NULL)
		return node;
	a->node = gv_xgrow(a->node, &a->cap_nodes, a->n_nodes + 1, sizeof(*a->node));
	node = &a->node[a->n_nodes++];
	*node = (struct gv_slurm_node){
	    .name = gv_arena_strndup(&a->arena, name, strlen(name)),
	    .group = group,
	    .mine = true};
	node->address = node->name;
	return node;
}

/* The value of " KEY=value" behind s, up to a space: NULL = there is none. */
static const char *
value_of(const char *s, const char *end, const char *key, size_t *len)
{
	size_t n = strlen(key);

	for (; s + n < end; s++)
		if (memcmp(s, key, n) == 0) {
			s += n;
			for (*len = 0; s + *len < end && s[*len] != ' ';)
				++*len;
			return s;
		}
	return NULL;
}

/* One "gpu:v100:4(IDX:0-1,3)" up to end; others than gpu are passed over.  0 or -1. */
static int
add_gpus(struct gv_slurm_allocation *a, struct gv_slurm_node *node, const char *s,
    const char *end)
{
	const char *idx = memchr(s, '(', (size_t)(end - s));
	const char *colon;
	const char *type = "gpu";
	long count = 0;

	if (end - s < 4 || memcmp(s, "gpu:", 4) != 0 || idx == NULL)
		return 0;
	s += 4;
	colon = memchr(s, ':', (size_t)(idx - s));
	if (colon != NULL)
		type = gv_arena_strndup(&a->arena, s, (size_t)(colon - s));
	if (strncmp(idx, "(IDX:", 5) != 0)
		return -1;
	for (idx += 5; idx < end && isdigit((unsigned char)*idx);) {
		char *at;
		long from = strtol(idx, &at, 10), to = from;

		if (*at == '-')
			to = strtol(at + 1, &at, 10);
		if (from < 0 || to < from || to >= MOST_GPUS ||
		    (count += to - from + 1) > MOST_GPUS)
			return -1;
		for (; from <= to; from++) {
			struct gv_slurm_gpu *gpu =
			    gv_xrealloc(node->gpu, node->n_gpus + 1, sizeof(*node->gpu));

			node->gpu = gpu;
			gpu[node->n_gpus++] = (struct gv_slurm_gpu){type, (int)from};
		}
		idx = at + (*at == ',');
	}
	return 0;
}

struct into {
	struct gv_slurm_allocation *a;
	size_t group;
	const char *gres, *end;
	int rc;
};

/* A node of a record, and its gres: a list with commas in brackets as well. */
static void
take_node(void *ctx, const char *name)
{
	struct into *into = ctx;
	struct gv_slurm_node *node = add_node(into->a, name, into->group);
	const char *s = into->gres;

	while (s != NULL && s < into->end) {
		const char *stop = s;
		int depth = 0;

		for (; stop < into->end && (depth > 0 || *stop != ','); stop++)
			depth += (*stop == '(') - (*stop == ')');
		if (add_gpus(into->a, node, s, stop) != 0)
			into->rc = -1;
		s = stop + 1;
	}
}

static int
by_id(const void *a, const void *b)
{
	const struct gv_slurm_gpu *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* One job's line: its nodes as groups "Nodes=LIST CPU_IDs=... Mem=... GRES=...".  0 or -1. */
static int
read_job(struct gv_slurm_allocation *a, const char *s, const char *end)
{
	size_t len, at;
	const char *v = value_of(s, end, "JobState=", &len);
	struct into into = {.a = a, .group = a->n_jobs};

	if (v == NULL || len != 7 || memcmp(v, "RUNNING", 7) != 0)
		return 0;
	v = value_of(s, end, "JobId=", &len);
	if (v == NULL)
		return 0;
	a->job = gv_xgrow(a->job, &a->cap_jobs, a->n_jobs + 1, sizeof(*a->job));
	a->job[a->n_jobs++] = gv_arena_strndup(&a->arena, v, len);
	while ((v = value_of(s, end, " Nodes=", &len)) != NULL) {
		const char *list = gv_arena_strndup(&a->arena, v, len);
		const char *next = value_of(v, end, " Nodes=", &at);

		into.end = next != NULL ? next : end;
		into.gres = value_of(v, into.end, " GRES=", &at);
		if (into.gres != NULL)
			into.end = into.gres + at;
		if (gv_slurm_hosts(list, take_node, &into) != 0 || into.rc != 0)
			return -1;
		s = v;
	}
	return 0;
}

int
gv_slurm_allocation_read(
    struct gv_slurm_allocation *a, const char *text, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t i;

	*a = (struct gv_slurm_allocation){0};
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (read_job(a, text, text + len) != 0)
			return gv_error_set(e,
			    "scontrol: expected nodes and GPUs of a job, got %s",
			    gv_quote(q, text, len));
		text += len + (text[len] != '\0');
	}
	for (i = 0; i < a->n_nodes; i++)
		if (a->node[i].n_gpus > 0)
			qsort(a->node[i].gpu, a->node[i].n_gpus, sizeof(*a->node[i].gpu),
			    by_id);
	return a->n_nodes > 0 ? 0 : gv_error_set(e, "no Slurm job runs there");
}

void
gv_slurm_allocation_free(struct gv_slurm_allocation *a)
{
	size_t i;

	for (i = 0; i < a->n_nodes; i++)
		free(a->node[i].gpu);
	free(a->node);
	free(a->job);
	gv_arena_free(&a->arena);
	*a = (struct gv_slurm_allocation){0};
}

/* ---- sinfo and squeue ---- */

/* Cuts a line at bars into n fields; false: there are fewer. */
static bool
cut(const char *s, size_t len, const char **field, size_t *field_len, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const char *bar = memchr(s, '|', len);
		size_t here = bar != NULL && i + 1 < n ? (size_t)(bar - s) : len;

		if (bar == NULL && i + 1 < n)
			return false;
		field[i] = s;
		field_len[i] = here;
		s += here + (i + 1 < n);
		len -= here + (i + 1 < n);
	}
	return true;
}

static bool
has_word(const char *s, size_t len, const char *const *word, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (len >= strlen(word[i]) && memcmp(s, word[i], strlen(word[i])) == 0)
			return true;
	return false;
}

static bool
say(struct gv_slurm_node *node, const char *why)
{
	bool changed = strcmp(node->why, why) != 0;

	snprintf(node->why, sizeof(node->why), "%s", why);
	return changed;
}

/* What a state means: 0 = good, 1 = perhaps soon again, 2 = bad. */
static int
badness(const char *s, size_t len)
{
	static const char *const bad[] = {
	    "down", "drain", "drng", "fail", "inval", "power", "pow_", "reboot", "boot"};
	static const char *const unsure[] = {"unk", "no_respond"};

	if (has_word(s, len, bad, sizeof(bad) / sizeof(bad[0])))
		return 2;
	if (has_word(s, len, unsure, sizeof(unsure) / sizeof(unsure[0])) ||
	    (len > 0 && s[len - 1] == '*'))
		return 1;
	return 0;
}

static void
take_badness(struct gv_slurm_node *node, int bad, double now_s)
{
	if (node->bad == 0)
		node->bad_since_s = now_s;
	if (bad == 1 && now_s >= node->bad_since_s + patience_s)
		bad = 2;
	node->bad = bad;
}

bool
gv_slurm_take_nodes(struct gv_slurm_allocation *a, const char *text, double now_s)
{
	bool changed = false;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		const char *f[3];
		size_t n[3];
		struct gv_slurm_node *node = NULL;

		if (cut(text, len, f, n, 3))
			node = gv_slurm_find(a, f[0], n[0]);
		text += len + (text[len] != '\0');
		if (node == NULL)
			continue;
		if (n[1] > 0 && (strlen(node->address) != n[1] ||
				    memcmp(node->address, f[1], n[1]) != 0))
			node->address = gv_arena_strndup(&a->arena, f[1], n[1]);
		take_badness(node, badness(f[2], n[2]), now_s);
		if (!node->mine)
			continue;
		if (node->bad >= 2) {
			char why[64];

			snprintf(why, sizeof(why), "it is %.*s",
			    (int)(n[2] < 32 ? n[2] : 32), f[2]);
			changed |= say(node, why);
		} else if (node->bad == 0) {
			changed |= say(node, "");
		}
	}
	return changed;
}

static void
mark_mine(void *ctx, const char *name)
{
	struct gv_slurm_node *node = gv_slurm_find(ctx, name, strlen(name));

	if (node != NULL)
		node->mine = true;
}

/* "3-04:05:06", "9:59", "UNLIMITED": seconds, HUGE_VAL = no end is known. */
static double
seconds(const char *s, size_t len)
{
	double days = 0, t = 0;
	size_t i, digits = 0;
	double n = 0;

	for (i = 0; i < len; i++) {
		if (isdigit((unsigned char)s[i])) {
			n = 10 * n + (s[i] - '0');
			digits++;
		} else if (s[i] == '-' && digits > 0 && days == 0) {
			days = n;
			n = 0;
		} else if (s[i] == ':' && digits > 0) {
			t = 60 * (t + n);
			n = 0;
		} else {
			return HUGE_VAL; /* UNLIMITED, INVALID, NOT_SET */
		}
	}
	return digits > 0 ? 86400 * days + t + n : HUGE_VAL;
}

enum gv_slurm_life
gv_slurm_take_queue(
    struct gv_slurm_allocation *a, const char *text, double *left_s, bool *changed)
{
	static const char *const runs[] = {"RUNNING", "SUSPENDED", "RESIZING"};
	static const char *const pends[] = {"PENDING", "CONFIGURING", "REQUEUE"};
	enum gv_slurm_life life = GV_SLURM_OVER;
	size_t i;
	size_t told = 0;

	*left_s = HUGE_VAL;
	for (i = 0; i < a->n_nodes; i++)
		a->node[i].mine = false;
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		const char *f[4];
		size_t n[4];

		if (cut(text, len, f, n, 4) && has_word(f[1], n[1], runs, 3)) {
			char *list = gv_xcalloc(n[3] + 1, 1);

			life = GV_SLURM_RUNS;
			told++;
			*left_s = fmin(*left_s, seconds(f[2], n[2]));
			memcpy(list, f[3], n[3]);
			gv_slurm_hosts(list, mark_mine, a);
			free(list);
		} else if (cut(text, len, f, n, 4) && has_word(f[1], n[1], pends, 3) &&
			   life == GV_SLURM_OVER) {
			life = GV_SLURM_PENDS;
		}
		text += len + (text[len] != '\0');
	}
	for (i = 0; told > 0 && i < a->n_nodes; i++)
		if (!a->node[i].mine)
			*changed |=
			    say(&a->node[i], "it is not in the allocation any more");
	return life;
}
