/* Rings and chains as NCCL_GRAPH_FILE takes them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "channels.h"
#include "formats.h"

/* NVML's number of each GPU, which is what NCCL knows it by. */
static int
device_numbers(const struct plan *p, int64_t *dev, struct gv_error *e)
{
	size_t v;
	char q[GV_QUOTE_LEN];

	for (v = 0; v < p->f.n_gpus; v++) {
		const char *name = p->f.name[v], *dot = strrchr(name, '.');
		const char *digits = (dot != NULL ? dot + 1 : name) + 3;

		if (gv_parse_int(digits, strlen(digits), &dev[v]) != 0 || dev[v] < 0)
			return gv_error_set(e, "%s: NCCL knows a GPU by its number",
			    gv_quote(q, name, strlen(name)));
		if (v > 0 && strchr(name, '.') != NULL &&
		    strncmp(name, p->f.name[0], (size_t)(strrchr(name, '.') - name)) != 0)
			return gv_error_set(e,
			    "%s is of another server than %s: a graph file has one", name,
			    p->f.name[0]);
	}
	return 0;
}

static void
write_graph(
    struct gv_out *out, const struct channels *c, const int64_t *dev, int id, int pattern)
{
	char speed[GV_NUM_LEN];
	size_t i, k;

	snprintf(speed, sizeof(speed), "%.12g", c->gbytes_per_s);
	gv_out_fmt(out,
	    "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"0\" nchannels=\"%zu\" "
	    "speedintra=\"%s\" speedinter=\"%s\" latencyinter=\"0\" typeintra=\"%s\" "
	    "typeinter=\"PIX\" samechannels=\"0\">\n",
	    id, pattern, c->n, speed, speed, c->kind);
	for (i = 0; i < c->n; i++) {
		gv_out_str(out, "    <channel>\n");
		for (k = 0; k < c->n_gpus; k++)
			gv_out_fmt(out, "      <gpu dev=\"%" PRIx64 "\"/>\n",
			    (uint64_t)dev[c->order[i * c->n_gpus + k]]);
		gv_out_str(out, "    </channel>\n");
	}
	gv_out_str(out, "  </graph>\n");
}

int
export_nccl_graph(const struct plan *p, struct gv_out *out, struct gv_error *e)
{
	enum { RING_ID = 0, TREE_ID = 1, RING_PATTERN = 4, TREE_PATTERN = 3, SUBS = 128 };
	struct channels c;
	int64_t *dev;
	int rc;

	if (channels_of(&c, p, e) != 0)
		return -1;
	if (c.n_gpus > SUBS) {
		channels_free(&c);
		return gv_error_set(
		    e, "NCCL reads at most %d GPUs of a channel from a file", SUBS);
	}
	dev = gv_xcalloc(c.n_gpus + 1, sizeof(*dev));
	rc = device_numbers(p, dev, e);
	if (rc == 0) {
		gv_out_str(out, "<graphs version=\"1\">\n");
		if (c.rings)
			write_graph(out, &c, dev, RING_ID, RING_PATTERN);
		write_graph(out, &c, dev, TREE_ID, TREE_PATTERN);
		gv_out_str(out, "</graphs>\n");
	}
	free(dev);
	channels_free(&c);
	return rc;
}
