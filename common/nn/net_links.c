/* Rows from device to device, between nets that are parts of a model. */
#include <stdlib.h>

#include "base/mem.h"
#include "nn/net_private.h"

/* Where rows are in a slot, to be freed; NULL with the net's error set: not here. */
static struct gv_nn_span *
spans_of(struct gv_net *net, const struct gv_net_rows *r, size_t slot)
{
	struct gv_nn_span *s = gv_xcalloc(r->n + 1, sizeof(*s));
	size_t i;

	for (i = 0; i < r->n; i++) {
		s[i].v = gv_net_find_row(net, slot, r->row[i], r->side);
		s[i].bytes = gv_net_row_size(net, r->row[i]) * net->plan.stored;
		if (s[i].v == NULL) {
			free(s);
			return NULL;
		}
	}
	return s;
}

int
gv_net_link(struct gv_net *net, const struct gv_net_rows *r, struct gv_nn_link *l,
    struct gv_error *e)
{
	size_t i;

	l->bytes = 0;
	for (i = 0; i < r->n; i++)
		l->bytes += gv_net_row_size(net, r->row[i]) * net->plan.stored;
	return net->be->link(net->be, l, e);
}

int
gv_net_send_rows(struct gv_net *net, int link, const struct gv_net_rows *r, size_t slot)
{
	struct gv_nn_span *s = spans_of(net, r, slot);
	int status = s == NULL ? -1 : net->be->send(net->be, link, s, r->n);

	free(s);
	return status;
}

int
gv_net_receive(struct gv_net *net, int link)
{
	return net->be->receive(net->be, link);
}

int
gv_net_take_rows(
    struct gv_net *net, int link, int message, const struct gv_net_rows *r, size_t slot)
{
	struct gv_nn_span *s = spans_of(net, r, slot);
	int status = s == NULL ? -1 : net->be->take(net->be, link, message, s, r->n);

	free(s);
	return status;
}

int
gv_net_look(struct gv_net *net)
{
	return net->be->look(net->be);
}
