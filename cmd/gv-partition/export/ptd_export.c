#include "ptd_export.h"

static void
add_sizes(struct gv_strbuf *s, const struct transformer *x, const struct ptd_machine *m)
{
	gv_strbuf_fmt(s,
	    " --num-layers %.0f --hidden-size %.0f --ffn-hidden-size %.0f"
	    " --num-attention-heads %.0f --seq-length %.0f --max-position-embeddings"
	    " %.0f",
	    x->layers, x->hidden, x->ffn, x->heads, x->seq, x->seq);
	if (x->untied)
		gv_strbuf_str(s, " --untie-embeddings-and-output-weights");
	if (m->precision != PRECISION_FP32)
		gv_strbuf_fmt(s, " --%s", precision_name[m->precision]);
}

static void
add_features(struct gv_strbuf *s, const struct ptd_machine *m, const struct ptd_plan *k)
{
	bool distributed = m->can[PTD_DISTRIBUTED_OPTIMIZER];

	if (!m->can[PTD_SCATTER_GATHER] && !m->can[PTD_SEQUENCE_PARALLEL])
		gv_strbuf_str(s, " --no-scatter-gather-tensors-in-pipeline");
	if (m->can[PTD_SEQUENCE_PARALLEL] && k->t > 1)
		gv_strbuf_str(s, " --sequence-parallel");
	if (m->can[PTD_FLASH_ATTENTION])
		gv_strbuf_str(s, " --use-flash-attn");
	if (distributed)
		gv_strbuf_str(s, " --use-distributed-optimizer");
	if (m->can[PTD_OVERLAP] && k->d > 1)
		gv_strbuf_fmt(s, " --overlap-grad-reduce%s",
		    distributed ? " --overlap-param-gather" : "");
}

void
ptd_export_megatron(struct gv_strbuf *s, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_plan *k)
{
	gv_strbuf_fmt(s,
	    "--tensor-model-parallel-size %zu --pipeline-model-parallel-size %zu", k->t,
	    k->p);
	if (k->v > 1)
		gv_strbuf_fmt(s, " --num-layers-per-virtual-pipeline-stage %.0f",
		    x->layers / (double)(k->p * k->v));
	if (k->last != ptd_stage_layers(x, k))
		gv_strbuf_fmt(s, " --decoder-last-pipeline-num-layers %zu", k->last);
	gv_strbuf_fmt(
	    s, " --micro-batch-size %zu --global-batch-size %.0f", k->b, x->batch);
	if (k->recompute == PTD_FULL)
		gv_strbuf_str(s,
		    " --recompute-granularity full --recompute-method uniform"
		    " --recompute-num-layers 1");
	else if (k->recompute == PTD_SELECTIVE)
		gv_strbuf_str(s, " --recompute-granularity selective");
	add_sizes(s, x, m);
	add_features(s, m, k);
}
