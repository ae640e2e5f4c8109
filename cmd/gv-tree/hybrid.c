#include "hybrid.h"

#include "write.h"

#define FAST_KINDS "NV,XGMI"

int
hybrid_make(struct hybrid *h, const struct gv_frame *frame, const char *gpus,
    const struct wish *w, struct gv_error *e)
{
	struct fabric f = {0};
	struct gv_error no_way = {0};
	double b_n, b_p, bytes = (double)h->bytes, part;

	h->slow_part = 0;
	if (fabric_read(&f, frame, gpus, FAST_KINDS, false, e) != 0 ||
	    plan_make(&h->fast, &f, w, e) != 0)
		return -1;
	b_n = h->achieved = h->fast.achieved;
	if (fabric_read(&f, frame, gpus, FAST_KINDS, true, e) != 0)
		return -1;
	if (plan_make(&h->slow, &f, w, &no_way) != 0)
		return 0;
	b_p = h->slow.achieved;
	part = b_p / (b_p + b_n);
	if (h->switch_s > 0)
		part -= h->switch_s * 1e9 * b_p * b_n / (b_p + b_n) / bytes;
	if (part <= 0)
		return 0;
	h->slow_part = part;
	h->achieved = b_n / (1 - part);
	return 0;
}

void
hybrid_free(struct hybrid *h)
{
	plan_free(&h->fast);
	plan_free(&h->slow);
}

void
hybrid_say(const struct hybrid *h)
{
	say_plan(&h->fast);
	if (h->slow.achieved > 0)
		say_plan(&h->slow);
	gv_warn("hybrid: %.6g GB/s; over the host goes %.4g %%", h->achieved,
	    100 * h->slow_part);
}

void
hybrid_write(struct gv_out *out, const struct hybrid *h, bool tsv)
{
	struct gv_tabw w;

	write_header(&w, out, tsv);
	write_trees(&w, &h->fast, 0, 1);
	if (h->slow_part > 0)
		write_trees(&w, &h->slow, h->fast.forest.n,
		    h->slow_part / (1 - h->slow_part) * h->fast.achieved /
			h->slow.achieved);
}
