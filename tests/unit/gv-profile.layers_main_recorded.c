/* Command lines of gv-profile layers, drawn, for models that nobody trains. */
#include "drawn_mains.h"

#define profile_layers                       layers_main
#define net_model(m, o, e)                   model_drawn(m, o, e)
#define beside_start(b, n, m, rule, e)       beside_drawn(b, n, m, rule, e)
#define beside_stop(b)                       stop_drawn(b)
#define layer_times(t, m, rule, e)           times_drawn(t, m, rule, e)
#define write_layers(w, m, t, batch)         layers_drawn(w, m, t, batch)
#define write_edges(w, m)                    edges_drawn(w, m)
#define gv_model_free(m)                     model_forgotten(m)
#define import_graph(layers, edges, path, e) graph_drawn(layers, edges, path, e)
#include "../../cmd/gv-profile/layers.c"
#undef profile_layers
#undef net_model
#undef beside_start
#undef beside_stop
#undef layer_times
#undef write_layers
#undef write_edges
#undef gv_model_free
#undef import_graph

#include "main_models.h"

int
beside_drawn(struct beside *b, size_t n, const struct gv_model *m,
    struct times_rule *rule, struct gv_error *e)
{
	gv_warn("beside %zu, %zu, %zu", n, m->n, rule->batch);
	b->n = n;
	return one_in(20) ? gv_error_set(e, "no process") : 0;
}

bool
stop_drawn(struct beside *b)
{
	gv_warn("stops %zu", b->n);
	return !one_in(15);
}

void
layers_drawn(struct gv_tabw *w, const struct gv_model *m, const struct layer_times *t,
    size_t batch)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		gv_tabw_int(w, m->layer[i].id);
		gv_tabw_double(w, t->layer[i].forward.median_s);
		gv_tabw_int(w, (int64_t)batch);
		gv_tabw_end(w);
	}
}

void
edges_drawn(struct gv_tabw *w, const struct gv_model *m)
{
	gv_tabw_between(w);
	gv_tabw_int(w, (int64_t)m->n);
	gv_tabw_end(w);
}

int
graph_drawn(
    struct gv_frame *layers, struct gv_frame *edges, const char *path, struct gv_error *e)
{
	static const char text[] = "a,b\n1,\"2, 3\"\n4,5\n";
	static const char other[] = "src,dst\n1,2\n";

	gv_warn("a graph of %s", path);
	if (one_in(15))
		return gv_error_set(e, "no graph");
	return gv_frame_parse(layers, path, text, sizeof(text) - 1, e) |
	       gv_frame_parse(edges, path, other, sizeof(other) - 1, e);
}

int
main(void)
{
	static const char *const made[] = {NULL};
	static const char *const word[] = {"m.tsv", "m.tsv", "m.tsv", "m.tsv",
	    "--from=pipedream", "--from=x", "--beside=0", "--beside=1024",
	    "--beside=1025", "--in-flight=1", "--in-flight=4", "--in-flight=4096",
	    "--in-flight=4097", "--micro-batches=2", "--micro-batches=8",
	    "--micro-batches=0", "--micro-batches=4096", "--micro-batches=4097",
	    "--stages=2", "--stages=4096", "--stages=4097", "--stages=1", "--batch=8",
	    "--optimizer=adam", "--threads=2", "--warmup=1s", "--window=3s",
	    "--repeats=5", "--tsv", "-o out", "-o none/out", "-q", "-v", "-v", "-v", "-v",
	    "-h", "--what", "--from=pipedream", "--beside=2"};
	struct recorded r;

	gv_init("gv-profile");
	recorded_open(&r);
	scratch_enter();
	draws_begin(149, 0, 0);
	recorded_lines(
	    &r, "layers", 24, layers_main, word, sizeof(word) / sizeof(word[0]));
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
