#include "ptd_export.h"

static void
add_sizes(struct gv_strbuf *s, const struct transformer *x, const struct ptd_machine *m)
{
	gv_strbuf_fmt(s,
	    " --num-layers %.0f --hidden-size %.0f --ffn-hidden-size %.0f"
	    " --num-attention-heads %.0f --seq-length %.0f --max-position-embeddings"
	    " %.0f",
	    x->layers, x->hidden, x->ffn, x->heads, x->seq, x->seq);
	if (x->kv_heads != x->heads)
		gv_strbuf_fmt(
		    s, " --group-query-attention --num-query-groups %.0f", x->kv_heads);
	if (x->head_size * x->heads != x->hidden)
		gv_strbuf_fmt(s, " --kv-channels %.0f", x->head_size);
	if (x->gated)
		gv_strbuf_str(s, " --swiglu");
	if (x->rms_norm)
		gv_strbuf_str(s, " --normalization RMSNorm");
	if (x->qk_norm)
		gv_strbuf_str(s, " --qk-layernorm");
	if (x->no_biases)
		gv_strbuf_str(s, " --disable-bias-linear");
	if (x->rotary)
		gv_strbuf_str(s, " --position-embedding-type rope");
	if (x->untied)
		gv_strbuf_str(s, " --untie-embeddings-and-output-weights");
	if (m->precision != PRECISION_FP32)
		gv_strbuf_fmt(s, " --%s", precision_name[m->precision]);
}

static void
add_experts(struct gv_strbuf *s, const struct transformer *x, const struct ptd_plan *k)
{
	gv_strbuf_fmt(s,
	    " --num-experts %.0f --moe-router-topk %.0f --moe-ffn-hidden-size %.0f",
	    x->experts, x->top, x->ffn);
	if (x->shared > 0)
		gv_strbuf_fmt(
		    s, " --moe-shared-expert-intermediate-size %.0f", x->shared);
	gv_strbuf_fmt(s,
	    " --moe-grouped-gemm --moe-token-dispatcher-type alltoall"
	    " --expert-model-parallel-size %zu --expert-tensor-parallel-size %zu",
	    k->e, k->t);
}

/* What replicas split; above the first stage that is Megatron-FSDP's work. */
static void
add_zero(struct gv_strbuf *s, const struct ptd_plan *k)
{
	if (k->zero > 0)
		gv_strbuf_str(s, " --use-distributed-optimizer");
	if (k->zero > 1)
		gv_strbuf_fmt(s,
		    " --use-megatron-fsdp --data-parallel-sharding-strategy %s"
		    " --no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor",
		    k->zero == 2 ? "optim_grads" : "optim_grads_params");
}

static void
add_features(struct gv_strbuf *s, const struct ptd_machine *m, const struct ptd_plan *k)
{
	if (!m->can[PTD_SCATTER_GATHER] && !m->can[PTD_SEQUENCE_PARALLEL])
		gv_strbuf_str(s, " --no-scatter-gather-tensors-in-pipeline");
	if (m->can[PTD_SEQUENCE_PARALLEL] && k->t > 1)
		gv_strbuf_str(s, " --sequence-parallel");
	if (m->can[PTD_FLASH_ATTENTION])
		gv_strbuf_str(s, " --use-flash-attn");
	add_zero(s, k);
	if (m->can[PTD_OVERLAP] && k->c * k->d > 1)
		gv_strbuf_fmt(s, " --overlap-grad-reduce%s",
		    k->zero > 0 ? " --overlap-param-gather" : "");
}

void
ptd_export_megatron(struct gv_strbuf *s, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_plan *k)
{
	gv_strbuf_fmt(s,
	    "--tensor-model-parallel-size %zu --pipeline-model-parallel-size %zu", k->t,
	    k->p);
	if (k->c > 1)
		gv_strbuf_fmt(s, " --context-parallel-size %zu", k->c);
	if (k->last != ptd_stage_layers(x, k)) {
		gv_strbuf_fmt(s, " --decoder-last-pipeline-num-layers %zu", k->last);
		if (k->v > 1)
			gv_strbuf_fmt(
			    s, " --num-virtual-stages-per-pipeline-rank %zu", k->v);
	} else if (k->v > 1) {
		gv_strbuf_fmt(s, " --num-layers-per-virtual-pipeline-stage %.0f",
		    x->layers / (double)(k->p * k->v));
	}
	gv_strbuf_fmt(
	    s, " --micro-batch-size %zu --global-batch-size %.0f", k->b, x->batch);
	if (k->recompute == PTD_FULL)
		gv_strbuf_str(s,
		    " --recompute-granularity full --recompute-method uniform"
		    " --recompute-num-layers 1");
	else if (k->recompute == PTD_SELECTIVE)
		gv_strbuf_str(s, " --recompute-granularity selective");
	add_sizes(s, x, m);
	if (x->experts > 0)
		add_experts(s, x, k);
	add_features(s, m, k);
}
