/* What all parts of a mesh share: queues, and what has gone wrong. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/mesh.h"
#include "net/process.h"

enum { TEXT = 160 };

/* ---- queues ---- */

void
gv_queue_add(struct gv_queue *q, struct gv_message *m)
{
	m->next = NULL;
	if (q->first == NULL)
		q->first = m;
	else
		q->last->next = m;
	q->last = m;
}

void
gv_queue_remove(struct gv_queue *q, struct gv_message *m)
{
	struct gv_message *before = NULL, *i;

	for (i = q->first; i != m; i = i->next)
		before = i;
	if (before == NULL)
		q->first = m->next;
	else
		before->next = m->next;
	if (q->last == m)
		q->last = before;
	m->next = NULL;
}

bool
gv_notes_add(struct gv_notes *n, const struct gv_net_frame *f)
{
	if (n->n >= GV_MESH_PENDING_MAX)
		return false;
	if (n->first > 0 && n->first + n->n == n->cap) {
		memmove(n->note, n->note + n->first, n->n * sizeof(*n->note));
		n->first = 0;
	}
	n->note = gv_xgrow(n->note, &n->cap, n->first + n->n + 1, sizeof(*n->note));
	n->note[n->first + n->n++] = *f;
	return true;
}

bool
gv_notes_take(struct gv_notes *n, struct gv_tag tag, struct gv_net_frame *f)
{
	struct gv_net_frame *all = n->note + n->first;
	size_t i;

	for (i = 0; i < n->n; i++)
		if (gv_tag_same(all[i].tag, tag))
			break;
	if (i == n->n)
		return false;
	*f = all[i];
	n->n--;
	if (i == 0)
		n->first++;
	else
		memmove(all + i, all + i + 1, (n->n - i) * sizeof(*all));
	return true;
}

/* ---- what goes wrong ---- */

bool
gv_mesh_say_last(struct gv_peer *p, enum gv_net_frame_type type, struct gv_tag tag)
{
	struct gv_net_frame f = {GV_FRAME_MAGIC, (uint32_t)type, tag, 0, 0, 0};
	struct iovec v = {&f, sizeof(f)};

	if (p->link == NULL || p->deaf)
		return true;
	return p->head_left == 0 && p->body_left == 0 &&
	       p->link->ops->send(p->link, &v, 1) == (ptrdiff_t)sizeof(f);
}

void
gv_mesh_blame(struct gv_gang *g, enum gv_blame why, int culprit, int accuser)
{
	struct gv_tag tag = {(uint32_t)culprit, (uint32_t)why};
	int r;

	if (g->blame != GV_BLAME_NONE)
		return;
	g->blame = why;
	g->culprit = culprit;
	g->accuser = accuser;
	for (r = 0; r < g->world; r++)
		g->untold |=
		    !gv_mesh_say_last(&g->peer[r], GV_ABORT, tag) && r != culprit;
}

/* " (process 4711, stopped)": of a member on this machine that is still there. */
static void
add_process(const struct gv_gang *g, char *buf, size_t size)
{
	long long pid = (long long)g->peer[g->culprit].pid;
	size_t n = strlen(buf);
	char path[64], state;

	if (pid == 0 || g->culprit == g->rank)
		return;
	snprintf(path, sizeof(path), "/proc/%lld/stat", pid);
	state = gv_process_state(path);
	if (state != 0)
		snprintf(buf + n, size - n, " (process %lld%s)", pid,
		    state == 'T' || state == 't' ? ", stopped" : "");
}

/* What the culprit did; had: as it is told to itself. */
static const char *
blame_text(const struct gv_gang *g, bool had, char buf[TEXT])
{
	switch (g->blame) {
	case GV_BLAME_GONE:
		return had ? "was gone" : "is gone";
	case GV_BLAME_SILENT:
		snprintf(buf, TEXT, "%s not answered for %g s", had ? "had" : "has",
		    g->silence_s);
		break;
	case GV_BLAME_HUNG:
		snprintf(buf, TEXT, "%s neither computed nor sent anything for %g s",
		    had ? "had" : "has", g->silence_s);
		break;
	case GV_BLAME_CIRCLE:
		snprintf(buf, TEXT, "%s waited for %g s for others that wait for it",
		    had ? "had" : "has", g->silence_s);
		break;
	default:
		return had ? "was out of step" : "is out of step";
	}
	add_process(g, buf, TEXT);
	return buf;
}

int
gv_mesh_state(const struct gv_gang *g, struct gv_error *e)
{
	char buf[TEXT];

	if (g->blame == GV_BLAME_NONE)
		return 0;
	/* two that disagree are each out of the other's step */
	if (g->culprit == g->rank && g->blame == GV_BLAME_STEP)
		return gv_error_set(e, "rank %d of %s is out of step", g->accuser,
		    g->peer[g->accuser].host);
	if (g->culprit == g->rank)
		return gv_error_set(e, "rank %d of %s gave up: this worker, rank %d, %s",
		    g->accuser, g->peer[g->accuser].host, g->rank,
		    blame_text(g, true, buf));
	return gv_error_set(e, "rank %d of %s %s", g->culprit, g->peer[g->culprit].host,
	    blame_text(g, false, buf));
}
