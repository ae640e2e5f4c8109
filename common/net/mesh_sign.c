/* Signs of life: asking and answering. */
#include <math.h>

#include "base/clock.h"
#include "net/mesh.h"

/* Parts of the silence: who is waited for so long is asked, again in every; longer was no look. */
static const double first = .25, every = .125, away = .25;

static void
say(struct gv_peer *p, struct gv_net_frame f)
{
	f.magic = GV_FRAME_MAGIC;
	/* of a peer that is so far behind nobody hopes for an answer */
	if (!p->deaf)
		(void)gv_notes_add(&p->say, &f);
}

void
gv_mesh_asked(struct gv_gang *g, struct gv_peer *p)
{
	struct gv_net_frame f = {.type = GV_HERE, .tag = {GV_HERE_WORKS, 0}};
	double computed;

	if (g->awaits >= 0) {
		f.tag.slot = (uint32_t)g->awaits;
		f.bytes = (uint64_t)(g->idle_s * 1000);
	} else {
		computed =
		    g->computed_s != NULL ? g->computed_s(g) : gv_clock_process_s();
		f.word = (uint32_t)(uint64_t)(computed / GV_SIGN_TICK_S);
	}
	say(p, f);
}

void
gv_mesh_here(struct gv_gang *g, struct gv_peer *p, const struct gv_net_frame *f)
{
	struct gv_sign *s = &g->sign[p - g->peer];
	bool works = f->tag.slot == GV_HERE_WORKS;

	if (!works && f->tag.slot >= (uint32_t)g->world)
		gv_mesh_blame(g, GV_BLAME_STEP, (int)(p - g->peer), g->rank);
	else
		gv_sign_take(s, works ? -1 : (int)f->tag.slot, (double)f->bytes / 1000,
		    f->word, s->heard_s);
}

static void
ask_all(struct gv_gang *g, double now)
{
	int r;

	g->asked_s = now;
	for (r = 0; r < g->world; r++) {
		struct gv_peer *p = &g->peer[r];
		struct gv_sign *s = &g->sign[r];

		s->unknown = p->link == NULL || p->left || p->deaf;
		if (r == g->rank || s->unknown || s->asked_s > 0)
			continue;
		s->asked_s = now;
		say(p, (struct gv_net_frame){.type = GV_ASK});
	}
}

double
gv_mesh_await(struct gv_gang *g, int peer, double idle_s, double now)
{
	double silence = g->silence_s;
	enum gv_blame why;
	int culprit, r;

	if (idle_s < first * silence)
		return first * silence - idle_s;
	for (r = 0; r < g->world && now - g->looked_s > away * silence; r++)
		gv_sign_forgive(&g->sign[r], now);
	g->looked_s = now;
	if (idle_s >= silence) {
		why = gv_sign_judge(
		    g->sign, g->world, g->rank, peer, silence, now, &culprit);
		if (why != GV_BLAME_NONE) {
			gv_mesh_blame(g, why, culprit, g->rank);
			return silence;
		}
	}
	if (now - g->asked_s >= every * silence)
		ask_all(g, now);
	/* the silence ends between two questions */
	return idle_s < silence ? fmin(every * silence, silence - idle_s)
				: every * silence;
}
