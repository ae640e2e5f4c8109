/* Command lines of gv-profile arrays, drawn, for models that nobody trains. */
#include "drawn_mains.h"

#define profile_arrays arrays_main
#define net_model(m, o, e) model_drawn(m, o, e)
#define layer_times(t, m, rule, e) times_drawn(t, m, rule, e)
#define gv_model_free(m) model_forgotten(m)
#include "../../cmd/gv-profile/.im_632.c"
#undef profile_arrays
#undef net_model
#undef layer_times
#undef gv_model_free

#include "main_models.h"

enum { ROUNDS = 20, PER_ROUND = 14 };

int
main(void)
{
	static const char *const made[] = {NULL};
	static const char *const word[] = {"m.tsv", "m.tsv", "m.tsv", "m.tsv", "--most=1",
	    "--most=2", "--most=3", "--most=7", "--most=8", "--most=65536",
	    "--most=65537", "--most=0", "--batch=8", "--repeats=5", "--tsv", "-o out",
	    "-o none/out", "-q", "-v", "-v", "-v", "-h", "--what"};
	struct recorded r;
	size_t k;
	uint32_t i;

	gv_init("gv-profile");
	recorded_begin(&r, "gv-profile.arrays_main_recorded.c");
	scratch_enter();
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(151, i, 0);
		for (k = 0; k < PER_ROUND; k++) {
			char *argv[MAIN_WORDS];
			int argc = draw_words(
			    argv, "arrays", word, sizeof(word) / sizeof(word[0]), 4);

			recorded_main(&r, arrays_main, argc, argv);
		}
		recorded_answer(&r, "%d command lines", PER_ROUND);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
