/* Parameters of nets into files of tensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "nn/weights_file.h"
#include "nn/weights_layout.h"

struct giving {
	const gv_real *from;
	unsigned char *to;
};

static void
give_number(void *ctx, size_t ours, size_t theirs)
{
	struct giving *g = ctx;
	unsigned char *p = g->to + theirs * sizeof(gv_real);
	uint64_t bits = 0;
	size_t k;

	if (sizeof(gv_real) == 4) {
		uint32_t v;

		memcpy(&v, &g->from[ours], sizeof(v));
		bits = v;
	} else
		memcpy(&bits, &g->from[ours], sizeof(bits));
	for (k = 0; k < sizeof(gv_real); k++)
		p[k] = (unsigned char)(bits >> 8 * k);
}

static struct gv_tensor
tensor_of(const struct gv_model *m, size_t row, const struct gv_weights_piece *p,
    const char *dtype, size_t bytes)
{
	struct gv_strbuf name = {0};
	struct gv_tensor t = {.dims = p->dims, .n = 1};
	size_t k;

	gv_weights_name(&name, m, row, p->name);
	t.name = name.s;
	memcpy(t.shape, p->shape, sizeof(t.shape));
	for (k = 0; k < p->dims; k++)
		t.n *= (size_t)p->shape[k];
	snprintf(t.dtype, sizeof(t.dtype), "%s", dtype);
	t.bytes = t.n * bytes;
	return t;
}

static unsigned char *
add(struct gv_weights_parts *all, struct gv_tensor t)
{
	unsigned char *bytes = gv_xcalloc(t.bytes + 1, 1);

	t.data = bytes;
	all->v = gv_xrealloc(all->v, all->n + 1, sizeof(*all->v));
	all->bytes = gv_xrealloc(all->bytes, all->n + 1, sizeof(*all->bytes));
	all->bytes[all->n] = bytes;
	all->v[all->n++] = t;
	return bytes;
}

/* bn's updates */
static void
add_count(struct gv_weights_parts *all, struct gv_net *net, const struct gv_model *m,
    size_t b, size_t row)
{
	static const struct gv_weights_piece one = {.name = "num_batches_tracked"};
	unsigned char *to = add(all, tensor_of(m, row, &one, "I64", 8));
	size_t k;

	for (k = 0; k < 8; k++)
		to[k] = (unsigned char)(gv_net_steps(net, b) >> 8 * k);
}

static void
add_tensor(struct gv_weights_parts *all, const struct gv_model *m,
    const struct gv_net_tensor *t, const gv_real *from)
{
	struct gv_weights_piece v[GV_WEIGHTS_PIECES];
	size_t n = gv_weights_pieces(&m->layer[t->row], t, v), i;

	for (i = 0; i < n; i++) {
		struct giving g = {.from = from};

		g.to =
		    add(all, tensor_of(m, t->row, &v[i],
				 sizeof(gv_real) == 4 ? "F32" : "F64", sizeof(gv_real)));
		if (!v[i].added)
			gv_weights_walk(&v[i], give_number, &g);
	}
}

int
gv_weights_collect(struct gv_weights_parts *all, struct gv_net *net,
    const struct gv_model *m, size_t b, struct gv_error *e)
{
	struct gv_weights_arrays a = {0};
	struct gv_net_tensor t;
	size_t i;
	int status = gv_weights_move(net, b, &a, false, e);

	for (i = 0; status == 0 && gv_net_tensor(net, i, &t) == 0; i++) {
		add_tensor(all, m, &t, gv_weights_place(&a, &t));
		if (t.running && strstr(t.name, ".mean") != NULL)
			add_count(all, net, m, b, t.row);
	}
	gv_weights_arrays_free(&a);
	return status;
}

/* Numbers of eight bytes first, so that all lie at multiples of theirs. */
static void
put_counts_first(struct gv_weights_parts *all)
{
	struct gv_tensor *v = gv_xcalloc(all->n + 1, sizeof(*v));
	size_t i, n = 0;
	int counts;

	for (counts = 1; counts >= 0; counts--)
		for (i = 0; i < all->n; i++)
			if ((strcmp(all->v[i].dtype, "I64") == 0) == counts)
				v[n++] = all->v[i];
	free(all->v);
	all->v = v;
}

static int
check_names(const struct gv_weights_parts *all, const char *path, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t i, k;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(all->v[i].name, all->v[k].name) == 0)
				return gv_error_set(e,
				    "%s: two rows of the model have a tensor %s", path,
				    gv_quote(q, all->v[i].name, strlen(all->v[i].name)));
	return 0;
}

int
gv_weights_write_parts(const char *path, struct gv_weights_parts *all, struct gv_error *e)
{
	put_counts_first(all);
	if (check_names(all, path, e) != 0)
		return -1;
	return gv_tensors_write(path, all->v, all->n, e);
}

void
gv_weights_parts_free(struct gv_weights_parts *all)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		free(all->v[i].name);
		free(all->bytes[i]);
	}
	free(all->bytes);
	free(all->v);
	*all = (struct gv_weights_parts){0};
}

int
gv_weights_write(const char *path, struct gv_net *net, const struct gv_model *m, size_t b,
    struct gv_error *e)
{
	struct gv_weights_parts all = {0};
	int status = gv_weights_collect(&all, net, m, b, e);

	if (status == 0)
		status = gv_weights_write_parts(path, &all, e);
	gv_weights_parts_free(&all);
	return status;
}
