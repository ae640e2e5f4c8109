/* Writing layers as gv-partition reads them. */
#ifndef GV_PROFILE_LAYERS_TABLE_H
#define GV_PROFILE_LAYERS_TABLE_H

#include "layer_times.h"

/*
 * The model's rows with all their columns byte for byte, then (in place of
 * columns of these names) node_id, layer, forward_ms, backward_ms,
 * activation_bytes, parameter_bytes, update_ms, repeats, forward_mad_ms,
 * backward_mad_ms, kept_bytes.
 */
void write_layers(struct gv_tabw *w, const struct gv_model *m,
    const struct layer_times *t, size_t batch);

/*
 * Behind them, where a row reads another one than that before it, or several: a table of
 * edges src, dst by node_id, each once.
 */
void write_edges(struct gv_tabw *w, const struct gv_model *m);

/* Of what is measured more than 6 digits mean nothing. */
void write_rounded(struct gv_tabw *w, double v);

#endif
