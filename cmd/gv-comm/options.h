/* What gv-comm is asked for. */
#ifndef COMM_OPTIONS_H
#define COMM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "coll/coll.h"
#include "coll/model.h"
#include "net/local.h"

enum chunk_by { CHUNK_SEARCH, CHUNK_FORMULA, CHUNK_BYTES };

struct options {
	struct gv_opt common;
	bool model;
	int64_t least_bytes, most_bytes; /* of the buffer */
	int64_t factor;
	int64_t iterations, warmup;
	enum chunk_by chunk_by;
	int64_t chunk_bytes;
	struct gv_coll_cost cost;
	const char *links; /* whose rates are kept to; NULL = none */
	enum gv_local_kind transport;
	enum gv_coll_type type;
	enum gv_coll_op op;
};

/* Fills *o; ends the process on a usage error, --help and --version. */
void parse_options(struct options *o, int argc, char **argv);

#endif
