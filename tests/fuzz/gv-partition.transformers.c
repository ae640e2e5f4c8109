/*
 * Any bytes as a table of transformers.  Holds: what can be read has sizes that are not
 * 0, and as many parameters as they make; what cannot, an error that says where.
 */
#include <math.h>
#include <string.h>

#include "file.h"
#include "gv-partition/transformer/transformers.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct transformers t = {0};
	struct gv_error e = {0};
	const char *path = as_file(0, s, len);
	char name[64];
	size_t i;

	if (transformers_read(&t, path, &e) != 0) {
		HOLDS(e.count > 0 && strncmp(e.text[0], path, strlen(path)) == 0);
	} else {
		for (i = 0; i < t.rows.n_rows; i++) {
			const struct transformer *x = &t.row[i].x;

			transformers_name(&t, i, name, sizeof(name));
			HOLDS(x->layers > 0 && x->hidden > 0 && x->heads > 0);
			HOLDS(isfinite(transformer_parameters(x)) &&
			      transformer_parameters(x) > 0);
		}
	}
	transformers_free(&t);
	return 0;
}
