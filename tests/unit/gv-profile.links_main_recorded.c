/* Command lines of gv-profile links, drawn, with links that nobody measures. */
#include "drawn_mains.h"

#define profile_links links_main
#define link_times times_drawn
#define link_gang_times gang_times_drawn
#include "../../cmd/gv-profile/links.c"
#undef profile_links
#undef link_times
#undef link_gang_times

enum { ROUNDS = 24, PER_ROUND = 12 };

static void
draw_times(struct link_time *t, const struct link_rule *rule)
{
	int i, k;

	gv_warn("%d processes by %d, %zu bytes for %g s, %zu times", rule->n,
	    (int)rule->kind, rule->bytes, rule->window_s, rule->repeats);
	for (i = 0; rule->tell != NULL && i <= rule->n; i++)
		rule->tell((size_t)i, (size_t)rule->n);
	for (i = 0; i < rule->n * rule->n; i++) {
		double v[7];

		for (k = 0; k < 7; k++)
			v[k] = (double)below(100000) / 1024;
		t[i] = (struct link_time){v[0], v[1], v[2], v[3], v[4], v[5] * 1e-6,
		    1 + (double)below(9) / 8};
	}
	if (one_in(2)) /* one of them, or just not */
		t[below((size_t)(rule->n * rule->n))].scatter = 2 + (double)below(3) / 4;
}

int
times_drawn(struct link_time *t, const struct link_rule *rule, struct gv_error *e)
{
	draw_times(t, rule);
	return one_in(15) ? gv_error_set(e, "no links") : 0;
}

int
gang_times_drawn(struct link_time *t, const struct link_rule *rule,
    const struct gv_gang_spec *s, struct gv_error *e)
{
	gv_warn("rank %d of %d, %08lx, %g s, %g s", s->rank, s->world,
	    (unsigned long)s->fingerprint, s->join_s, s->silence_s);
	draw_times(t, rule);
	return one_in(15) ? gv_error_set(e, "no gang") : 0;
}

/* Where a launcher has started it. */
static void
draw_place(void)
{
	static const char *const world[] = {"1", "2", "3", "64", "65", "x"};
	static const char *const rank[] = {"0", "0", "0", "1", "7"};

	setenv("WORLD_SIZE", world[below(one_in(3) ? 6 : 3)], 1);
	setenv("RANK", rank[below(5)], 1);
	setenv("MASTER_ADDR", "127.0.0.1", 1);
	setenv("MASTER_PORT", "29500", 1);
	setenv("GV_GANG_KEY", "abc", 1);
	if (one_in(2))
		unsetenv("WORLD_SIZE");
}

int
main(void)
{
	static const char *const made[] = {NULL};
	static const char *const word[] = {"-n 2", "-n 3", "--processes=64", "-n 65",
	    "-n 1", "--node=m", "--repeats=1", "--repeats=1001", "--repeats=1002",
	    "--repeats=0", "--size=8", "--size=7", "--size=1GiB", "--size=1073741825",
	    "--size=1", "--size=64KiB", "--size=x", "--transport=tcp",
	    "--transport=memory", "--transport=x", "--window=1s", "--window=0",
	    "--window=3600s", "--window=3601s", "--window=x", "--tsv", "-o out",
	    "-o none/out", "-q", "-v", "-v", "-h", "operand", "--what", "-o out",
	    "--node=n", "--tsv", "-q", "-v", "-v"};
	struct recorded r;
	size_t k;
	uint32_t i;

	gv_init("gv-profile");
	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(131, i, 0);
		for (k = 0; k < PER_ROUND; k++) {
			char *argv[MAIN_WORDS];
			int argc = draw_words(
			    argv, "links", word, sizeof(word) / sizeof(word[0]), 4);

			draw_place();
			recorded_main(&r, links_main, argc, argv);
		}
		recorded_answer(&r, "%d command lines", PER_ROUND);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
