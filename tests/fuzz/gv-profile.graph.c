/*
 * Any bytes as a graph.txt of PipeDream's profiler.  Holds: two tables come of what can
 * be read, with the names of their columns; of what cannot, an error that says where.
 */
#include <string.h>

#include "file.h"
#include "gv-profile/layers/import_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct gv_frame layers = {0}, edges = {0};
	struct gv_error e = {0};
	const char *path = as_file(0, s, len);
	size_t i, j;
	double v;

	if (import_graph(&layers, &edges, path, &e) != 0) {
		HOLDS(e.count > 0 && strncmp(e.text[0], path, strlen(path)) == 0);
	} else {
		HOLDS(layers.n_rows > 0 && layers.n_columns >= 6 && edges.n_columns == 2);
		for (i = 0; i < layers.n_rows; i++)
			for (j = 2; j < layers.n_columns; j++)
				HOLDS(gv_frame_double(
					  &layers, i, (ptrdiff_t)j, -1, &v, &e) == 0 &&
				      v >= 0);
	}
	gv_frame_free(&layers);
	gv_frame_free(&edges);
	return 0;
}
