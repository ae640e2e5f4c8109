#include "export.h"

#include "formats.h"

const char *const export_name[EXPORTS] = {"dot", "links", "msccl", "nccl-graph", "tuner"};

int
export_write(
    enum export format, const struct plan *p, struct gv_out *out, struct gv_error *e)
{
	switch (format) {
	case EXPORT_DOT:
		return export_dot(p, out, e);
	case EXPORT_MSCCL:
		return export_msccl(p, out, e);
	case EXPORT_NCCL_GRAPH:
		return export_nccl_graph(p, out, e);
	default:
		return export_tuner(p, out, e);
	}
}
