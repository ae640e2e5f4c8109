/* Command lines of gv-profile arrays, drawn, for models that nobody trains. */
#include "drawn_mains.h"

#define profile_arrays             arrays_main
#define net_model(m, o, e)         model_drawn(m, o, e)
#define layer_times(t, m, rule, e) times_drawn(t, m, rule, e)
#define gv_model_free(m)           model_forgotten(m)
#include "../../cmd/gv-profile/arrays.c"
#undef profile_arrays
#undef net_model
#undef layer_times
#undef gv_model_free

#include "main_models.h"

int
main(void)
{
	static const char *const made[] = {NULL};
	static const char *const word[] = {"m.tsv", "m.tsv", "m.tsv", "m.tsv", "--most=1",
	    "--most=2", "--most=3", "--most=7", "--most=8", "--most=65536",
	    "--most=65537", "--most=0", "--batch=8", "--repeats=5", "--tsv", "-o out",
	    "-o none/out", "-q", "-v", "-v", "-v", "-h", "--what"};
	struct recorded r;

	gv_init("gv-profile");
	recorded_open(&r);
	scratch_enter();
	draws_begin(151, 0, 0);
	recorded_lines(
	    &r, "arrays", 20, arrays_main, word, sizeof(word) / sizeof(word[0]));
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
