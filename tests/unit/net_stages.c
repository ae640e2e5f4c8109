/*
 * common/net: sums as lists of stages, played through for gangs of all sizes up to 70 and of the
 * largest; the last words of who has left.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/frame.h"
#include "net/sum.h"
#include "tap.h"

/* ---- stages ---- */

/* The sum of a block: ranks from first on, and what it was added from. */
struct part {
	int first, n;
	uint64_t shape;
};

struct member {
	struct part own;
	struct gv_stages stages;
	size_t at;
};

static struct part
add(struct part low, struct part high, int *wrong)
{
	*wrong += low.first + low.n != high.first;
	return (struct part){low.first, low.n + high.n,
	    low.shape * UINT64_C(0x9e3779b97f4a7c15) + (high.shape ^ (high.shape >> 29)) +
		1};
}

/* The members' sums, pairs of neighbours first: what all of them should have. */
static struct part
whole(int world)
{
	struct part *p = gv_xcalloc((size_t)world, sizeof(*p)), sum;
	int n = world, r, ignored = 0;

	for (r = 0; r < world; r++)
		p[r] = (struct part){r, 1, (uint64_t)r + 7};
	for (; n > 1; n = (n + 1) / 2)
		for (r = 0; r < n; r += 2)
			p[r / 2] = r + 1 < n ? add(p[r], p[r + 1], &ignored) : p[r];
	sum = p[0];
	free(p);
	return sum;
}

static const struct gv_stage *
stage_of(const struct member *m, uint32_t level)
{
	return m->at < m->stages.n && m->stages.stage[m->at].level == level
		   ? &m->stages.stage[m->at]
		   : NULL;
}

/* What comes to each member at a level: from those that send, then on from those that pass. */
static int
deliver(const struct member *m, struct part *got, int world, uint32_t level)
{
	int *from = gv_xcalloc((size_t)world, sizeof(*from)), wrong = 0, r, i, round;

	for (r = 0; r < world; r++)
		from[r] = -1;
	for (r = 0; r < world; r++) {
		const struct gv_stage *t = stage_of(&m[r], level);

		if (t == NULL || t->to == -1)
			continue;
		if (t->to < 0 || t->to >= world || from[t->to] != -1) {
			wrong++;
			continue;
		}
		from[t->to] = r;
		got[t->to] = m[r].own;
	}
	/* who passes on has got it before, in as many rounds as there are members at most */
	for (round = 0; round < GV_PASS_MAX; round++)
		for (r = 0; r < world; r++) {
			const struct gv_stage *t = stage_of(&m[r], level);

			for (i = 0; t != NULL && from[r] != -1 && i < t->n_pass; i++) {
				int to = t->pass[i];

				if (to < 0 || to >= world ||
				    (from[to] != -1 && from[to] != r)) {
					wrong++;
					continue;
				}
				from[to] = r;
				got[to] = got[r];
			}
		}
	for (r = 0; r < world; r++) {
		const struct gv_stage *t = stage_of(&m[r], level);

		wrong += t != NULL ? from[r] != t->from : from[r] != -1;
	}
	free(from);
	return wrong;
}

/* How much of it is wrong. */
static int
play(int world)
{
	struct member *m = gv_xcalloc((size_t)world, sizeof(*m));
	struct part *got = gv_xcalloc((size_t)world, sizeof(*got)), want = whole(world);
	uint32_t level;
	int wrong = 0, r;

	for (r = 0; r < world; r++) {
		gv_stages_tree(&m[r].stages, r, world);
		m[r].own = (struct part){r, 1, (uint64_t)r + 7};
		wrong += m[r].stages.n > GV_STAGES_MAX;
	}
	for (level = 0; level < GV_STAGES_MAX; level++) {
		wrong += deliver(m, got, world, level);
		for (r = 0; r < world; r++) {
			const struct gv_stage *t = stage_of(&m[r], level);

			if (t == NULL)
				continue;
			m[r].own = t->above ? add(m[r].own, got[r], &wrong)
					    : add(got[r], m[r].own, &wrong);
			m[r].at++;
		}
	}
	for (r = 0; r < world; r++)
		wrong += m[r].at != m[r].stages.n || m[r].own.n != world ||
			 m[r].own.shape != want.shape;
	free(m);
	free(got);
	return wrong;
}

static void
test_stages(void)
{
	struct gv_stages s;
	int world, wrong = 0;

	for (world = 1; world <= 70; world++)
		wrong += play(world);
	is_int(wrong, 0, "all members come to the same sum, lower ranks first");
	is_int(play(1023) + play(1024) + play(513), 0, "in the largest gangs as well");
	gv_stages_tree(&s, 0, 1);
	is_int((long long)s.n, 0, "who is alone has none");
	gv_stages_tree(&s, 5, 1024);
	is_int((long long)s.n, 10, "1,024 members have ten");
	gv_stages_tree(&s, 4, 5);
	ok(s.n == 1 && s.stage[0].level == 2 && s.stage[0].from == 0 && !s.stage[0].above,
	    "a block alone goes up as it is");
	gv_stages_tree(&s, 0, 5);
	ok(s.n == 3 && s.stage[2].n_pass == 2 && s.stage[2].pass[0] == 1 &&
		s.stage[2].pass[1] == 2 && s.stage[2].to == 4,
	    "the first passes on what it got to two others");
	gv_stages_tree(&s, 3, 5);
	ok(s.stage[2].to == -1 && s.stage[2].from == 1 && s.stage[2].n_pass == 0,
	    "and nobody needs what the last has");
}

/* ---- last words ---- */

static unsigned char said[1024];
static size_t n_said;

/* A frame, with so many bytes behind it. */
static void
say(uint32_t type, uint32_t slot, uint32_t kind, uint64_t claimed, size_t bytes)
{
	struct gv_net_frame f = {GV_FRAME_MAGIC, type, {slot, kind}, 0, 0, claimed};

	memcpy(said + n_said, &f, sizeof(f));
	n_said += sizeof(f);
	memset(said + n_said, 'x', bytes);
	n_said += bytes;
}

/* Whom they name, and for what; those before are forgotten. */
static void
names(const char *name, int culprit, enum gv_blame blame)
{
	enum gv_blame why = GV_BLAME_NONE;

	is_int(gv_frame_last_words(said, n_said, &why), culprit, "%s", name);
	is_int(why, blame, "%s: for what", name);
	n_said = 0;
}

static void
test_last_words(void)
{
	uint32_t kind;

	names("nothing was said", -1, GV_BLAME_NONE);
	for (kind = GV_BLAME_NONE + 1; kind < GV_BLAMES; kind++) {
		say(GV_ABORT, 3, kind, 0, 0);
		names("one is to blame", 3, (enum gv_blame)kind);
	}
	say(GV_ABORT, 0, GV_BLAME_GONE, 0, 0);
	names("the first", 0, GV_BLAME_GONE);
	say(GV_ABORT, 1023, GV_BLAME_GONE, 0, 0);
	names("the last of the largest gang", 1023, GV_BLAME_GONE);
	say(GV_ABORT, 1024, GV_BLAME_GONE, 0, 0);
	names("who is in no gang", -1, GV_BLAME_NONE);
	say(GV_ABORT, 3, GV_BLAME_NONE, 0, 0);
	names("for nothing", -1, GV_BLAME_NONE);
	say(GV_ABORT, 3, GV_BLAMES, 0, 0);
	names("for what is none", -1, GV_BLAME_NONE);
	say(GV_BYE, 3, GV_BLAME_GONE, 0, 0);
	names("who says goodbye blames nobody", -1, GV_BLAME_NONE);
	say(GV_DATA, 3, GV_BLAME_GONE, 5, 5);
	say(GV_GRANT, 3, GV_BLAME_GONE, 500, 0);
	say(GV_DATA, 3, GV_BLAME_GONE, 0, 0);
	say(GV_ABORT, 7, GV_BLAME_SILENT, 0, 0);
	names("behind messages", 7, GV_BLAME_SILENT);
	say(GV_DATA, 3, GV_BLAME_GONE, 40, 39);
	names("a message that is not whole", -1, GV_BLAME_NONE);
	say(GV_DATA, 3, GV_BLAME_GONE, UINT64_MAX, 39);
	names("or that claims to be without end", -1, GV_BLAME_NONE);
	say(GV_DATA, 3, GV_BLAME_GONE, 39, 39);
	names("a message alone", -1, GV_BLAME_NONE);
	say(GV_ABORT, 3, GV_BLAME_GONE, 0, 0);
	n_said--;
	names("half a frame", -1, GV_BLAME_NONE);
	say(GV_ABORT, 3, GV_BLAME_GONE, 0, 0);
	say(GV_ABORT, 4, GV_BLAME_GONE, 0, 0);
	names("the first of two", 3, GV_BLAME_GONE);
	say(GV_BYE, 0, 0, 0, 0);
	say(GV_ABORT, 3, GV_BLAME_GONE, 0, 0);
	n_said -= sizeof(struct gv_net_frame);
	names("what stands behind the bytes", -1, GV_BLAME_NONE);
	say(GV_DATA, 3, GV_BLAME_GONE, 5, 5);
	say(GV_ABORT, 3, GV_BLAME_GONE, 0, 0);
	n_said -= sizeof(struct gv_net_frame);
	names("or behind a message", -1, GV_BLAME_NONE);
	say(GV_BYE, 0, 0, 0, 0);
	said[0] ^= 1;
	say(GV_ABORT, 3, GV_BLAME_GONE, 0, 0);
	names("what begins with no frame", -1, GV_BLAME_NONE);
}

int
main(void)
{
	test_stages();
	test_last_words();
	return done_testing();
}
