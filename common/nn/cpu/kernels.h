/*
 * The inner loops of matrix products, once for each kind of vector.  Private to
 * gemm.c.
 */
#ifndef GV_NN_CPU_KERNELS_H
#define GV_NN_CPU_KERNELS_H

#include "nn/cpu/gemm.h"

enum { GV_CPU_START_0, GV_CPU_START_C, GV_CPU_START_BIAS };

/* How element (i, l) of A is found (gemm.h). */
enum gv_cpu_way { GV_CPU_ROWS, GV_CPU_TRANSPOSED, GV_CPU_LISTED };

/*
 * One tile of C: its rows of A, its panel of B, a piece of k.  While k runs, a line every
 * so many steps, what comes next is fetched: at once it would wait, for the sums of one
 * tile are in registers until they are stored, and the next one's numbers of B are not near.
 */
enum { GV_CPU_STEPS = 8 };
struct gv_cpu_tile {
	const gv_real *ahead; /* lines of B, so far apart */
	size_t lines, apart;
	const gv_real *next_c; /* where the next tile of these rows stores */
	size_t k, lda, ldb, ldc;
	const size_t *row_at, *step_at;
	const gv_real *a, *b, *bias;
	gv_real *c;
	size_t last; /* numbers of the last vector that are c's */
	int start;
	bool relu;
};

/* One tile of what gv_cpu_shards makes. */
enum { GV_CPU_DEEPEST = 17 }; /* sums of 2^16 shards */
struct gv_cpu_shards_tile {
	size_t lda, ldc, shards;
	const size_t *end; /* [shards] */
	const gv_real *a, *b;
	gv_real *c;
	size_t last; /* numbers of the last vector that are c's */
	bool add;
};

typedef void gv_cpu_run(
    size_t rows, size_t vectors, enum gv_cpu_way way, const struct gv_cpu_tile *t);

struct gv_cpu_kernel {
	const char *name;
	gv_cpu_run *run;
	void (*chain)(const struct gv_cpu_chain *c);
	void (*spread)(const struct gv_cpu_spread *s);
	/* the transpose of lanes x lanes numbers; NULL = no vectors */
	void (*square)(gv_real *to, size_t width, const gv_real *from, size_t apart);
	void (*shards)(size_t rows, size_t vectors, const struct gv_cpu_shards_tile *t);
	size_t lanes, rows; /* of a vector, of the largest tile */
	size_t listed_rows; /* each of which has a register of its own */
	size_t shard_rows;
};

/* The one that runs here: of the widest vectors. */
const struct gv_cpu_kernel *gv_cpu_kernel(void);

#endif
