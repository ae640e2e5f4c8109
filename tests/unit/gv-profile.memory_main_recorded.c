/* Command lines of gv-profile memory, drawn, for models that nobody trains. */
#include "drawn_mains.h"

#define profile_memory               memory_main
#define net_model(m, o, e)           model_drawn(m, o, e)
#define gv_model_free(m)             model_forgotten(m)
#define bench_open(b, m, rule, l, e) open_drawn(b, m, rule, l, e)
#define bench_step(b, part)          step_drawn(b, part)
#define bench_close(b)               close_drawn(b)
#define memory_log_samples           samples_drawn
#define memory_log_step(m)           log_drawn(m)
#define memory_log_end               end_drawn
#define gv_net_error(n)              error_drawn(n)
#define layer_times(t, m, rule, e)   times_drawn(t, m, rule, e)
#include "../../cmd/gv-profile/memory.c"
#undef profile_memory
#undef net_model
#undef gv_model_free
#undef bench_open
#undef bench_step
#undef bench_close
#undef memory_log_samples
#undef memory_log_step
#undef memory_log_end
#undef gv_net_error
#undef layer_times

#include "base/mem.h"
#include "main_models.h"

enum { MOST = 9 };

static struct memory_log *drawn_log;

int
open_drawn(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct memory_log *log, struct gv_error *e)
{
	gv_warn("opens %d, %zu layers, %zu models", b->failed, m->n, rule->models);
	drawn_log = log;
	return one_in(15) ? gv_error_set(e, "no net") : 0;
}

double
step_drawn(struct bench *b, double *part)
{
	gv_warn("step, %d", part != NULL);
	b->failed = b->failed || one_in(15);
	return 1;
}

void
close_drawn(struct bench *b)
{
	gv_warn("closes %d", b->failed);
}

void
samples_drawn(void)
{
	gv_warn("what is new holds samples");
}

void
log_drawn(const struct gv_model *m)
{
	gv_warn("%zu layers are logged", m->n);
}

void
end_drawn(void)
{
	size_t i;

	gv_warn("the log ends");
	drawn_log->n = below(MOST);
	drawn_log->event = gv_xcalloc(MOST, sizeof(*drawn_log->event));
	for (i = 0; i < drawn_log->n; i++) {
		struct memory_event *event = &drawn_log->event[i];

		event->time_s = (double)(i * i) / 512;
		event->bytes = (int64_t)below(9000) - 3000;
		snprintf(event->tensor, sizeof(event->tensor), "y%zu", i);
	}
}

const char *
error_drawn(const struct gv_net *n)
{
	return n == NULL ? "it has failed" : "";
}

int
main(void)
{
	static const char *const made[] = {NULL};
	static const char *const word[] = {"m.tsv", "m.tsv", "m.tsv", "m.tsv",
	    "--models=1", "--models=65536", "--models=65537", "--models=0", "--batch=8",
	    "--tsv", "-o out", "-o none/out", "-q", "-v", "-v", "-v", "-h", "--what"};
	struct recorded r;

	gv_init("gv-profile");
	recorded_open(&r);
	scratch_enter();
	draws_begin(157, 0, 0);
	recorded_lines(
	    &r, "memory", 16, memory_main, word, sizeof(word) / sizeof(word[0]));
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
