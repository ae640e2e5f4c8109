/* What NVIDIA's example tuner reads (NCCL_TUNER_CONFIG_FILE): a choice by size. */
#include <string.h>

#include "channels.h"
#include "formats.h"

/* Below this latency decides, which a table of links does not tell. */
#define FROM_BYTES "4194304"
#define TO_BYTES   "4294967295"

/* Servers by the part of a GPU's name before its last dot. */
static size_t
servers(const struct plan *p)
{
	size_t v, u, n = 0;

	for (v = 0; v < p->f.n_gpus; v++) {
		const char *name = p->f.name[v], *dot = strrchr(name, '.');
		size_t len = dot != NULL ? (size_t)(dot - name) : 0;

		for (u = 0; u < v; u++) {
			const char *other = p->f.name[u], *at = strrchr(other, '.');

			if ((at != NULL ? (size_t)(at - other) : 0) == len &&
			    memcmp(name, other, len) == 0)
				break;
		}
		n += u == v;
	}
	return n;
}

int
export_tuner(const struct plan *p, struct gv_out *out, struct gv_error *e)
{
	struct channels c;

	if (channels_of(&c, p, e) != 0)
		return -1;
	gv_out_str(out, "# collective_type,min_bytes,max_bytes,algorithm,protocol,"
			"channels,nNodes,nRanks\n");
	gv_out_fmt(out, "%s," FROM_BYTES "," TO_BYTES ",%s,simple,%zu,%zu,%zu\n",
	    collective_name[p->wish.collective], c.rings ? "ring" : "tree", c.n,
	    servers(p), p->f.n_gpus);
	channels_free(&c);
	return 0;
}
