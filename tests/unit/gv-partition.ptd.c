/*
 * The planner for transformers: its formulas against published numbers, its search
 * against a plain loop over everything.
 */
#include "gv-partition/transformer/ptd.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

static struct transformer
gpt(double l, double h, double a, double s, double v, double b)
{
	return (struct transformer){.layers = l,
	    .hidden = h,
	    .ffn = 4 * h,
	    .heads = a,
	    .kv_heads = a,
	    .head_size = h / a,
	    .seq = s,
	    .vocab = v,
	    .batch = b};
}

/* Narayanan et al., SC 2021, tables 1 and 2, and what follows from them. */
static void
test_sc21(void)
{
	static const struct {
		const char *name;
		double l, h, a, gpus, batch, tflops, billions, iteration_s;
	} one[] = {{"1.7B", 24, 2304, 24, 32, 512, 137, 1.7, 3.528},
	    {"7.5B", 36, 4096, 32, 128, 512, 142, 7.5, 3.696},
	    {"145B", 80, 12288, 96, 1536, 2304, 148, 145.6, 24.82},
	    {"530B", 105, 20480, 128, 2520, 2520, 163, 529.6, 54.09},
	    {"1T", 128, 25600, 160, 3072, 3072, 163, 1008, 102.6}};
	static const struct {
		double l, h, gpus, batch, tflops, days;
	} two[] = {{96, 12288, 384, 1536, 144, 90}, {96, 12288, 768, 1536, 88, 74},
	    {96, 12288, 1536, 1536, 44, 74}, {105, 20480, 640, 2560, 138, 169},
	    {105, 20480, 1120, 2240, 98, 137}, {105, 20480, 2240, 2240, 48, 140},
	    {96, 12288, 384, 1536, 153, 84}, {96, 12288, 768, 1536, 149, 43},
	    {96, 12288, 1536, 1536, 141, 23}, {105, 20480, 560, 2240, 171, 156},
	    {105, 20480, 1120, 2240, 167, 80}, {105, 20480, 2240, 2240, 159, 42}};
	struct transformer x;
	double p, s;
	size_t i;

	for (i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		x = gpt(one[i].l, one[i].h, one[i].a, 2048, 51200, one[i].batch);
		p = transformer_parameters(&x) / 1e9;
		s = transformer_flops(&x, PTD_FULL) / one[i].gpus / one[i].tflops / 1e12;
		/* 1.65 is printed as 1.7 */
		ok(fabs(p / one[i].billions - 1) < (i == 0 ? 0.03 : 0.015),
		    "%s has %.4g billion parameters", one[i].name, p);
		is_near(s / one[i].iteration_s, 1, 5e-4, "%s takes %.4g s an iteration",
		    one[i].name, s);
		/* without the last norm */
		is_near(transformer_parameters(&x) - 2 * x.hidden,
		    12 * x.layers * x.hidden * x.hidden *
			(1 + 13 / (12 * x.hidden) +
			    (x.vocab + x.seq) / (12 * x.layers * x.hidden)),
		    1e-12, "%s: P as printed", one[i].name);
		is_near(transformer_flops(&x, PTD_FULL),
		    96 * x.batch * x.seq * x.layers * x.hidden * x.hidden *
			(1 + x.seq / (6 * x.hidden) +
			    x.vocab / (16 * x.layers * x.hidden)),
		    1e-12, "%s: F as printed", one[i].name);
	}
	for (i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		x = gpt(two[i].l, two[i].h, 128, 2048, 51200, two[i].batch);
		s = transformer_flops(&x, PTD_FULL) / two[i].gpus / two[i].tflops / 1e12;
		s *= 300e9 / (x.batch * x.seq) / 86400;
		ok(fabs(s - two[i].days) <= 1,
		    "300 billion tokens on %.0f GPUs: %.1f days", two[i].gpus, s);
	}
	is_near(
	    8 * 300e9 * 175e9 / (1024 * 140e12) / 86400, 34, 0.01, "GPT-3 in 34 days");
}

/* Korthikanti et al., 2022: shares of peak from times, 312 TFLOP/s. */
static void
test_korthikanti(void)
{
	static const struct {
		double l, h, a, gpus, batch, s, mfu, hfu;
	} row[] = {{48, 6144, 64, 8, 4, 1.10, 41.7, 43.8},
	    {96, 12288, 96, 64, 64, 13.75, 51.4, 52.8},
	    {105, 20480, 128, 280, 280, 37.83, 56.0, 57.0},
	    {128, 25600, 160, 512, 512, 71.49, 56.3, 57.0}};
	struct transformer x;
	double all;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		x = gpt(row[i].l, row[i].h, row[i].a, 2048, 51200, row[i].batch);
		all = 312e12 * row[i].gpus * row[i].s / 100;
		ok(fabs(transformer_flops(&x, PTD_NONE) / all - row[i].mfu) < 0.06,
		    "MFU %.1f %%", row[i].mfu);
		ok(fabs(transformer_flops(&x, PTD_SELECTIVE) / all - row[i].hfu) < 0.06,
		    "HFU %.1f %%", row[i].hfu);
	}
}

/* Megatron-Core's models have output layers of their own; the rest of their sizes fits. */
static void
test_megatron_core(void)
{
	static const struct {
		double l, h, gpus, batch, tflops, billions, petaflops;
	} row[] = {{24, 2048, 48, 192, 408.8, 1.7, 19.6},
	    {32, 6144, 192, 192, 489.1, 16, 93.9}, {84, 8192, 768, 384, 419.7, 70, 322.3},
	    {96, 12288, 2304, 1152, 432.8, 177, 997.2},
	    {112, 18432, 6144, 3072, 459.9, 462, 2825.6}};
	struct transformer x;
	double p;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		x = gpt(row[i].l, row[i].h, 16, 4096, 131072, row[i].batch);
		x.untied = true;
		p = transformer_parameters(&x) / 1e9;
		ok(fabs(p / row[i].billions - 1) < (i == 0 ? 0.035 : 0.015),
		    "%.0f GPUs train %.4g billion parameters", row[i].gpus, p);
		ok(fabs(row[i].gpus * row[i].tflops / 1000 / row[i].petaflops - 1) < 2e-3,
		    "and their rate is in the table");
	}
}

/* Models of today: exactly as many parameters as the published files hold. */
static struct transformer
llama(double l, double h, double f, double a, double kv, double v)
{
	struct transformer x = gpt(l, h, a, 8192, v, 128);

	x.ffn = f;
	x.kv_heads = kv;
	x.gated = x.rms_norm = x.no_biases = x.rotary = x.untied = true;
	return x;
}

static struct transformer
mixtral(double l, double h, double f, double a, double v)
{
	struct transformer x = llama(l, h, f, a, 8, v);

	x.experts = 8;
	x.top = 2;
	return x;
}

static void
test_today(void)
{
	const struct {
		const char *name;
		struct transformer x;
		double parameters;
	} row[] = {{"GPT-2", gpt(12, 768, 12, 1024, 50257, 1), 124439808},
	    {"Llama-2-7B", llama(32, 4096, 11008, 32, 32, 32000), 6738415616},
	    {"Llama-2-70B", llama(80, 8192, 28672, 64, 8, 32000), 68976648192},
	    {"Llama-3-8B", llama(32, 4096, 14336, 32, 8, 128256), 8030261248},
	    {"Llama-3-70B", llama(80, 8192, 28672, 64, 8, 128256), 70553706496},
	    {"Llama-3.1-405B", llama(126, 16384, 53248, 128, 8, 128256), 405853388800},
	    {"Mixtral-8x7B", mixtral(32, 4096, 14336, 32, 32000), 46702792704},
	    {"Mixtral-8x22B", mixtral(56, 6144, 16384, 48, 32000), 140620634112}};
	struct transformer x;
	double tokens = 128 * 8192.0, attention, active;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		is_int((long long)transformer_parameters(&row[i].x),
		    (long long)row[i].parameters, "%s", row[i].name);
	x = gpt(96, 12288, 96, 2048, 50257, 1536);
	ok(fabs(transformer_parameters(&x) / 174.6e9 - 1) < 1e-3,
	    "GPT-3 has 174.6 billion");
	/* norms and the table of tokens multiply nothing; of 8 experts 2 do */
	x = mixtral(32, 4096, 14336, 32, 32000);
	attention = 32 * 2 * 8192 * 4096.0;
	active = 46702792704.0 - 32 * 6 * 3 * 4096 * 14336.0;
	is_near(transformer_flops(&x, PTD_NONE) /
		    (6 * tokens * (active - (65 + 32000) * 4096.0 + attention)),
	    1, 1e-12, "Mixtral computes with %.4g billion of them", active / 1e9);
}

/* ---- a machine ---- */

static struct gpu_type
a100(void)
{
	return (struct gpu_type){.name = "A100",
	    .memory = 80 * 1073741824.0,
	    .memory_bytes_per_s = 2.039e12,
	    .flops_per_s = {312e12, 312e12, 19.5e12},
	    .node_gpus = 8,
	    .link_bytes_per_s = 300e9,
	    .network_bytes_per_s = 25e9,
	    .gemm_share = 0.75,
	    .memory_share = 0.85,
	    .link_share = 0.8};
}

static struct ptd_machine
machine(const struct gpu_type *g, size_t gpus)
{
	return (struct ptd_machine){.gpu = g,
	    .gpus = gpus,
	    .node = 8,
	    .link_bytes_per_s = g->link_bytes_per_s,
	    .network_bytes_per_s = g->network_bytes_per_s,
	    .memory = g->memory};
}

static struct ptd_plan
plan(const struct transformer *x, size_t t, size_t p, size_t d, size_t v, size_t b)
{
	return (struct ptd_plan){.t = t,
	    .p = p,
	    .d = d,
	    .c = 1,
	    .e = 1,
	    .last = (size_t)x->layers / p,
	    .v = v,
	    .b = b,
	    .schedule = v > 1 ? PTD_INTERLEAVED : PTD_FLUSH};
}

/* Bubbles are those of the closed forms, where nothing but layers takes time. */
static void
test_bubbles(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 64);
	struct transformer x = gpt(64, 4096, 32, 2048, 1, 128);
	struct ptd_layer l;
	struct ptd_time s;
	size_t p, v;

	m.link_bytes_per_s = m.network_bytes_per_s = 1e30;
	for (p = 2; p <= 8; p *= 2) {
		for (v = 1; v <= 4; v *= 2) {
			struct ptd_plan k = plan(&x, 1, p, 64 / p, v, 1);
			double n = (double)ptd_micro_batches(&x, &k);

			l = ptd_layer_time(&x, &m, &k);
			s = ptd_time(&x, &m, &k);
			is_near(s.bubble_s /
				    (n * 64 / (double)p * (l.forward_s + l.backward_s)),
			    (double)(p - 1) / (n * (double)v), 1e-9,
			    "p=%zu v=%zu: bubble (p - 1) / (v m)", p, v);
			k.schedule = PTD_ZB_H1;
			s = ptd_time(&x, &m, &k);
			is_near(
			    s.bubble_s * (double)v / ((double)(p - 1) * 64 / (double)p),
			    fmax(0, l.forward_s + l.backward_s - 2 * l.weight_s), 1e-9,
			    "p=%zu v=%zu: zb-h1's, (p - 1) (F + B - W)", p, v);
		}
	}
	is_near(s.tensor_s + s.pipeline_s, 0, 1e-9, "endless links cost nothing");
}

/* A batch through stages of unequal times: each once, the slowest m - 1 times more. */
static void
test_short_last(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 4);
	struct transformer x = gpt(61, 4096, 32, 2048, 51200, 16);
	struct ptd_plan k = plan(&x, 1, 1, 4, 1, 1);
	struct ptd_layer l = ptd_layer_time(&x, &m, &k);
	double layer = l.forward_s + l.backward_s, output, sum, most, n = 16;
	struct ptd_time s = ptd_time(&x, &m, &k);
	size_t last;

	m.link_bytes_per_s = m.network_bytes_per_s = 1e30;
	output = s.compute_s / 4 - 61 * layer;
	k = plan(&x, 1, 4, 1, 1, 1);
	for (last = 1; last <= 13; last += 3) {
		k.last = last;
		if (last > ptd_stage_layers(&x, &k))
			break;
		s = ptd_time(&x, &m, &k);
		sum = 61 * layer + output;
		most = fmax((double)ptd_stage_layers(&x, &k) * layer,
		    (double)last * layer + output);
		is_near((s.iteration_s - s.optimizer_s) / (sum + (n - 1) * most), 1, 1e-9,
		    "3 stages of %zu layers and one of %zu", ptd_stage_layers(&x, &k),
		    last);
	}
	is_int((long long)last, 16, "all of them");
}

/* Narayanan et al., section 3.2, in bytes. */
static void
test_communication(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 64);
	struct transformer x = gpt(32, 4096, 32, 2048, 51200, 64);
	struct ptd_plan k = plan(&x, 8, 4, 2, 1, 2);
	double n = 64 / (2 * 2), tokens = 2 * 2048, one;
	struct ptd_time s;

	g.link_share = 1;
	s = ptd_time(&x, &m, &k);
	/* 8 b s h (t - 1) / t numbers of 2 bytes a layer */
	is_near(s.tensor_s / (n * 8 * 8 * tokens * 4096 * 7 / 8 * 2 / 300e9), 1, 1e-12,
	    "tensor parallel: four all-reduces a layer");
	k.recompute = PTD_FULL;
	s = ptd_time(&x, &m, &k);
	is_near(s.tensor_s / (n * 8 * 12 * tokens * 4096 * 7 / 8 * 2 / 300e9), 1, 1e-12,
	    "and two more where the layer is computed again");
	one = tokens * 4096 * 2 / 25e9;
	is_near(s.pipeline_s / (n * 2 * one), 1, 1e-12, "pipeline: b s h each way");
	m.can[PTD_SCATTER_GATHER] = true;
	s = ptd_time(&x, &m, &k);
	is_near(s.pipeline_s / (n * 2 * (one / 8 + tokens * 4096 * 2 * 7 / 8 / 300e9)), 1,
	    1e-12, "with scatter/gather an eighth, and the rest inside the server");
	k.v = 2;
	k.schedule = PTD_INTERLEAVED;
	is_near(ptd_time(&x, &m, &k).pipeline_s / s.pipeline_s, 2, 1e-12,
	    "interleaved: v times that");
	k = plan(&x, 1, 1, 64, 1, 1);
	s = ptd_time(&x, &m, &k);
	is_near(
	    s.data_s / (2 * 4 * (32 * transformer_layer_parameters(&x) + 51200.0 * 4096) *
			   63 / 64 / 200e9),
	    1, 1e-9, "data parallel: a ring through all ports of the servers");
}

/* Korthikanti et al., table 2 and what Megatron's own estimate counts. */
static void
test_memory(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 64);
	struct transformer x = gpt(32, 4096, 32, 2048, 51200, 64);
	double sbh = 2.0 * 2048 * 4096, as = 32 * 2048.0 / 4096, work;
	struct ptd_plan k = plan(&x, 8, 4, 2, 1, 2), deep;
	const double want[2][3] = {
	    {sbh * (10 + 24.0 / 8 + 5 * as / 8), sbh * (10 + 24.0 / 8), 2 * sbh},
	    {sbh / 8 * (34 + 5 * as), sbh / 8 * 34, sbh / 8 * 2}};
	int sequence, i;

	/* one more layer on each stage, less its weights: 4 micro-batches of it in flight */
	for (sequence = 0; sequence < 2; sequence++) {
		m.can[PTD_SEQUENCE_PARALLEL] = sequence == 1;
		for (i = 0; i < PTD_RECOMPUTES; i++) {
			struct transformer y = x;

			y.layers += 4;
			deep = plan(&y, 8, 4, 2, 1, 2);
			k.recompute = deep.recompute = (enum ptd_recompute)i;
			work = ptd_memory(&y, &m, &deep) - ptd_memory(&x, &m, &k) -
			       18 * transformer_layer_parameters(&x) / 8;
			is_near(work / 4 / want[sequence][i], 1, 1e-9,
			    "activations of a layer, %s, %s", ptd_recompute_name[i],
			    sequence ? "sequence parallel" : "tensor parallel");
		}
	}
	k = plan(&x, 1, 1, 64, 1, 1);
	k.zero = 1;
	work = ptd_memory(&x, &m, &k);
	k.zero = 0;
	work = ptd_memory(&x, &m, &k) - work;
	is_near(work / ((12 - 12.0 / 64) * transformer_parameters(&x)), 1, 1e-9,
	    "a distributed optimiser keeps 6 + 12 / d bytes for a parameter, not 18");
}

/* Grouped heads, gates, sequences in parts, experts: bytes of activations and weights. */
static void
test_memory_today(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 64);
	struct transformer x = llama(32, 4096, 14336, 32, 8, 32000), y = x;
	struct ptd_plan k = plan(&x, 4, 1, 4, 1, 1), deep;
	double s = 8192, work, more = 2, whole;

	m.can[PTD_FLASH_ATTENTION] = m.can[PTD_SEQUENCE_PARALLEL] = true;
	y.layers += more;
	deep = plan(&y, 4, 1, 4, 1, 1);
	work = ptd_memory(&y, &m, &deep) - ptd_memory(&x, &m, &k) -
	       more * 18 * transformer_layer_parameters(&x) / 4;
	/* 10 h unsliced, queries and their result 4 h, keys and values h, gate 6 f */
	whole = more * s * (15 * 4096 + 6 * 14336) / 4;
	is_near(work / whole, 1, 1e-9, "activations of a gated layer with shared keys");
	k.c = deep.c = 4;
	k.d = deep.d = 1;
	work = ptd_memory(&y, &m, &deep) - ptd_memory(&x, &m, &k) -
	       more * 18 * transformer_layer_parameters(&x) / 4;
	is_near(
	    work / whole, 0.25, 1e-9, "a quarter of each sequence, a quarter of that");
	x = y = mixtral(32, 4096, 14336, 32, 32000);
	y.layers += more;
	k = plan(&x, 4, 1, 16, 1, 1);
	deep = plan(&y, 4, 1, 16, 1, 1);
	k.e = deep.e = 8;
	work = ptd_memory(&y, &m, &deep) - ptd_memory(&x, &m, &k) -
	       more * 18 *
		   (transformer_layer_parameters(&x) -
		       transformer_expert_parameters(&x) * 7 / 8) /
		   4;
	whole = more * s * (15 * 4096 + 2 * (4 * 4096 + 6 * 14336)) / 4;
	is_near(work / whole, 1, 1e-9,
	    "an eighth of the experts, and what each token's two of them save");
	k.zero = 1;
	deep = k;
	deep.e = 1;
	work = ptd_memory(&x, &m, &deep) - ptd_memory(&x, &m, &k);
	/* the optimiser's state is split over all copies, however many experts each has */
	is_near(work / (6 * 32 * transformer_expert_parameters(&x) * 7 / 8 / 4), 1, 1e-9,
	    "copies that share experts save their weights and gradients");
}

/* Rajbhandari et al., section 5: what each stage of ZeRO leaves of 18 bytes. */
static void
test_zero(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 64);
	struct transformer x = llama(32, 4096, 14336, 32, 8, 32000);
	struct ptd_plan k = plan(&x, 1, 1, 64, 1, 2);
	static const double of[PRECISIONS][PTD_ZERO_STAGES] = {
	    {18, 6 + 12.0 / 64, 2 + 16.0 / 64, 18.0 / 64},
	    {20, 4 + 16.0 / 64, 2 + 18.0 / 64, 20.0 / 64},
	    {16, 8 + 8.0 / 64, 4 + 12.0 / 64, 16.0 / 64}};
	static const double width[] = {2, 2, 4}, wide[] = {4, 2, 4};
	double first, layer = transformer_layer_parameters(&x), want, all;
	double n, forward, back, gradients, weights;
	struct ptd_layer l;
	struct ptd_time s;
	int i;

	all = transformer_parameters(&x);
	for (i = 0; i < PRECISIONS; i++) {
		m.precision = (enum precision)i;
		k.zero = 0;
		first = ptd_memory(&x, &m, &k);
		for (k.zero = 1; k.zero < PTD_ZERO_STAGES; k.zero++) {
			want = (of[i][0] - of[i][k.zero]) * all -
			       (k.zero > 1 ? wide[i] * layer : 0) -
			       (k.zero > 2 ? width[i] * 2 * layer : 0);
			is_near((first - ptd_memory(&x, &m, &k)) / want, 1, 1e-9,
			    "%s, stage %zu: %.4g bytes for a parameter",
			    precision_name[i], k.zero, of[i][k.zero]);
		}
	}
	/* section 7: 2 P bytes times 2 as without, 3 of them in stage 3; for each micro-batch */
	m.precision = PRECISION_FP16;
	x.batch = 512;
	n = 4;
	all -= x.vocab * x.hidden + x.hidden; /* the output layer is another stage's */
	weights = gradients = 2 * all * 63 / 64 / (200e9 * 0.8);
	for (k.zero = 0; k.zero < PTD_ZERO_STAGES; k.zero++) {
		s = ptd_time(&x, &m, &k);
		is_near(s.data_s / (k.zero < 2       ? gradients + weights
				       : k.zero == 2 ? n * gradients + weights
						     : n * (gradients + 2 * weights)),
		    1, 1e-9, "stage %zu: communication", k.zero);
	}
	/* and hidden, as long as there is work */
	m.can[PTD_OVERLAP] = true;
	m.network_bytes_per_s = 1e8;
	weights = gradients = 2 * all * 63 / 64 / (8e8 * 0.8);
	l = ptd_layer_time(&x, &m, &k);
	forward = 32 * l.forward_s;
	back = 32 * l.backward_s;
	k.zero = 3;
	is_near(ptd_time(&x, &m, &k).data_s / (n * (fmax(0, gradients + weights - back) +
						       fmax(0, weights - forward))),
	    1, 1e-9, "stage 3: what the passes do not hide");
	ok(weights > forward, "which they do not");
}

/* Bytes around a ring of parts of a sequence, and between the GPUs that share experts. */
static void
test_communication_today(void)
{
	struct gpu_type g = a100();
	struct ptd_machine m = machine(&g, 64);
	struct transformer x = llama(32, 4096, 14336, 32, 8, 32000);
	struct ptd_plan k = plan(&x, 2, 1, 8, 1, 1);
	double tokens, alone;

	g.link_share = 1;
	k.c = 4;
	tokens = 8192 / 4.0;
	is_near(
	    ptd_layer_time(&x, &m, &k).ring_s / (3 * tokens * 2 * 1024 / 2 * 2 / 300e9),
	    1, 1e-9, "keys and values of the three others, forward");
	is_near(ptd_layer_time(&x, &m, &k).ring_back_s /
		    (3 * tokens * 4 * 1024 / 2 * 2 / 300e9),
	    1, 1e-9, "and their gradients, backward");
	m.can[PTD_OVERLAP] = true;
	is_near(ptd_layer_time(&x, &m, &k).ring_s, 0, 1e-12, "hidden by attention");
	m.can[PTD_OVERLAP] = false;
	x = mixtral(32, 4096, 14336, 32, 32000);
	k = plan(&x, 1, 1, 64, 1, 1);
	alone = ptd_layer_time(&x, &m, &k).reduce_s;
	is_near(alone, 0, 1e-12, "all experts: nothing is sent");
	k.e = 8;
	is_near(ptd_layer_time(&x, &m, &k).reduce_s /
		    (2 * 2 * 8192 * 4096.0 * 2 * 7 / 8 / 300e9),
	    1, 1e-9, "each token twice to an expert and back, in a server");
	m.node = 4;
	is_near(ptd_layer_time(&x, &m, &k).reduce_s /
		    (2 * 2 * 8192 * 4096.0 * 2 * 4 / 8 / 25e9),
	    1, 1e-9, "across servers half of it, through each GPU's own port");
}

/* ---- the search ---- */

static size_t draws;

/* The next random number below n. */
static size_t
below(size_t n)
{
	return (size_t)(gv_random(7, 0, 0, draws++) % n);
}

static bool
divides(size_t a, double b)
{
	return fmod(b, (double)a) == 0;
}

/* Whether the plan may be tried. */
static bool
allowed(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double each = ((double)x->layers - (double)k->last) / (double)(k->p - 1);

	if (k->t * k->c * k->p * k->d != m->gpus || !divides(k->t, x->heads) ||
	    !divides(k->t, x->kv_heads) || !divides(k->t, x->ffn) ||
	    (k->c > 1 && (x->seq < PTD_LONG || !divides(2 * k->c, x->seq) ||
			     !m->can[PTD_CONTEXT_PARALLEL])) ||
	    (k->e > 1 && !m->can[PTD_EXPERT_PARALLEL]) || (k->zero > 1 && k->p > 1) ||
	    (k->zero != 0 && k->c * k->d == 1) || !divides(k->d * k->b, x->batch) ||
	    k->last > x->layers || (m->node % k->t != 0 && k->t % m->node != 0))
		return false;
	if (k->p == 1)
		return k->last == x->layers && divides(k->v, x->layers) && k->v == 1;
	if (each != floor(each) || each < (double)k->last)
		return false;
	if (each > (double)k->last && !m->can[PTD_SHORT_LAST])
		return false;
	return divides(k->v, each) && k->last % k->v == 0 &&
	       (k->v == 1 || divides(k->d * k->b * k->p, x->batch));
}

/* Counts what may be tried, and finds the fastest that fits, the plainest way. */
static size_t
copies(const struct transformer *x, const struct ptd_machine *m, struct ptd_plan k,
    double *best)
{
	size_t n = 0, all = k.d;

	for (k.c = 1; k.c <= all; k.c++)
		for (k.e = 1; k.e <= all; k.e++)
			for (k.zero = 0; k.zero < PTD_ZERO_STAGES; k.zero++) {
				k.d = all / k.c;
				if (k.c * k.d != all || all % k.e != 0 ||
				    (k.e > 1 &&
					(x->experts == 0 || !divides(k.e, x->experts))) ||
				    !allowed(x, m, &k))
					continue;
				n++;
				if (ptd_memory(x, m, &k) <= m->memory)
					*best =
					    fmin(*best, ptd_time(x, m, &k).iteration_s);
			}
	return n;
}

static size_t
everything(const struct transformer *x, const struct ptd_machine *m, double *best)
{
	size_t n = 0, t, p, last, v, b;
	int r;

	*best = INFINITY;
	for (t = 1; t <= m->gpus; t++)
		for (p = 1; p <= m->gpus / t; p++)
			for (b = 1; b <= (size_t)x->batch; b++)
				for (v = 1; v <= (size_t)x->layers; v++)
					for (last = 1; last <= (size_t)x->layers; last++)
						for (r = 0; r < PTD_RECOMPUTES; r++) {
							struct ptd_plan k = plan(x, t, p,
							    m->gpus / t / p, v, b);

							k.last = last;
							k.recompute =
							    (enum ptd_recompute)r;
							n += copies(x, m, k, best);
						}
	return n;
}

static bool
is_same(double a, double b)
{
	return !(a < b || a > b);
}

/* The order of rows that differ: by time, memory, then the parts of the plan. */
static bool
comes_before(const struct ptd_row *x, const struct ptd_row *y)
{
	const double a[] = {x->time.iteration_s, x->memory, (double)x->plan.t,
	    (double)x->plan.p, (double)x->plan.c, (double)x->plan.e, (double)x->plan.v,
	    -(double)x->plan.last, -(double)x->plan.b, (double)x->plan.zero,
	    (double)x->plan.recompute, (double)x->plan.schedule};
	const double b[] = {y->time.iteration_s, y->memory, (double)y->plan.t,
	    (double)y->plan.p, (double)y->plan.c, (double)y->plan.e, (double)y->plan.v,
	    -(double)y->plan.last, -(double)y->plan.b, (double)y->plan.zero,
	    (double)y->plan.recompute, (double)y->plan.schedule};
	size_t i;

	for (i = 0; i + 1 < sizeof(a) / sizeof(a[0]) && !(a[i] < b[i] || a[i] > b[i]);
	     i++)
		;
	return a[i] < b[i];
}

/* One of the parts of a plan that may be pinned without allowing others. */
static size_t
part_of(const struct ptd_plan *k, size_t which)
{
	const size_t part[] = {k->t, k->p, k->d, k->b, k->v, k->last, k->c, k->e};

	return part[which];
}

/* Pins one part after the other to what a row has: rows with it that are not found, or others. */
static size_t
wrong_pins(const struct ptd_rows *all, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_pins *pins)
{
	size_t which, i, k, wrong = 0;

	for (which = 0; which < 8; which++) {
		size_t value =
		    part_of(&all->row[(all->n / 2 + 7 * which) % all->n].plan, which);
		struct ptd_pins one = *pins;
		struct ptd_rows r;

		*(which == 0     ? &one.t
		    : which == 1 ? &one.p
		    : which == 2 ? &one.d
		    : which == 3 ? &one.b
		    : which == 4 ? &one.v
		    : which == 5 ? &one.last
		    : which == 6 ? &one.c
				 : &one.e) = value;
		ptd_search(&r, x, m, &one);
		for (i = k = 0; i < all->n; i++) {
			if (part_of(&all->row[i].plan, which) != value)
				continue;
			wrong += k >= r.n || comes_before(&r.row[k], &all->row[i]) ||
				 comes_before(&all->row[i], &r.row[k]);
			k++;
		}
		wrong += k != r.n;
		ptd_rows_free(&r);
	}
	return wrong;
}

/* Pins the schedule: rows of others, or not all of one that is tried without a pin as well. */
static size_t
wrong_schedules(const struct ptd_rows *all, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_pins *pins)
{
	size_t i, n, wrong = 0;
	int schedule;

	for (schedule = 0; schedule < PTD_SCHEDULES; schedule++) {
		struct ptd_pins one = *pins;
		struct ptd_rows r;

		one.schedule = schedule;
		ptd_search(&r, x, m, &one);
		for (i = n = 0; i < all->n; i++)
			n += (int)all->row[i].plan.schedule == schedule;
		for (i = 0; i < r.n; i++)
			wrong += (int)r.row[i].plan.schedule != schedule;
		if (schedule == PTD_FLUSH || schedule == PTD_INTERLEAVED)
			wrong += r.n != n;
		ptd_rows_free(&r);
	}
	return wrong;
}

/* Rows that compute some again as wanted, -1: none is wanted; not of that, or not so many. */
static bool
recomputes(const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_pins *pins, int wanted, size_t n)
{
	struct ptd_pins one = *pins;
	struct ptd_rows r;
	bool good;
	size_t i;

	one.recompute = wanted;
	ptd_search(&r, x, m, &one);
	good = r.n == n;
	for (i = 0; i < r.n && wanted >= 0; i++)
		good = good && (int)r.row[i].plan.recompute == wanted;
	ptd_rows_free(&r);
	return good;
}

/* Pins what is computed again; where nothing is left to, that is tried only where it is pinned. */
static size_t
wrong_recomputes(const struct ptd_rows *all, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_pins *pins)
{
	struct ptd_machine flash = *m;
	size_t n[PTD_RECOMPUTES] = {0}, i, wrong = 0;

	flash.can[PTD_FLASH_ATTENTION] = true;
	for (i = 0; i < all->n; i++)
		n[all->row[i].plan.recompute]++;
	for (i = 0; i < PTD_RECOMPUTES; i++) {
		wrong += !recomputes(x, m, pins, (int)i, n[i]);
		wrong += !recomputes(x, &flash, pins, (int)i, n[i]);
	}
	return wrong + !recomputes(x, &flash, pins, -1, all->n - n[PTD_SELECTIVE]);
}

/* Whether all that is tried is listed in its order where any memory will do, the least said. */
static bool
lists_all(const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_pins *pins, size_t n, bool with_pins)
{
	struct ptd_pins any = *pins;
	struct ptd_rows r;
	double least = INFINITY;
	bool good;
	size_t i;

	any.any_memory = true;
	ptd_search(&r, x, m, &any);
	good = r.n == n && r.tried == n;
	for (i = 0; i < r.n; i++) {
		good = good && (i == 0 || comes_before(&r.row[i - 1], &r.row[i]));
		good = good && is_same(r.row[i].memory, ptd_memory(x, m, &r.row[i].plan));
		least = fmin(least, r.row[i].memory);
	}
	good = good && (r.n == 0 || (is_same(r.least.memory, least) &&
					is_same(ptd_memory(x, m, &r.least.plan), least)));
	if (with_pins && r.n > 0)
		good = good && wrong_pins(&r, x, m, &any) == 0 &&
		       wrong_schedules(&r, x, m, &any) == 0 &&
		       wrong_recomputes(&r, x, m, &any) == 0;
	ptd_rows_free(&r);
	return good;
}

static void
test_search(void)
{
	static const double lengths[] = {512, 2048, 8192};
	struct gpu_type g = a100();
	size_t round, i, wrong = 0, unordered = 0, unlisted = 0, none = 0;

	for (round = 0; round < 150; round++) {
		struct transformer x =
		    gpt(1 + (double)below(8), 256 * (1 + (double)below(20)), 8,
			lengths[below(3)], 51200, 1 + (double)below(12));
		struct ptd_machine m = machine(&g, 1 + below(12));
		struct ptd_pins free = {.recompute = -1, .schedule = -1, .zero = -1};
		struct ptd_rows r;
		double best;
		size_t n;

		if (below(2) == 0) {
			x.kv_heads = 2 << below(2);
			x.gated = x.rms_norm = x.no_biases = true;
		}
		if (below(2) == 0) {
			x.experts = 2 << below(3);
			x.top = 1 + (double)below(2);
		}
		free.any_zero = true;
		m.can[PTD_CONTEXT_PARALLEL] = below(4) > 0;
		m.can[PTD_EXPERT_PARALLEL] = below(4) > 0;
		m.node = 1 + below(4);
		m.can[PTD_SHORT_LAST] = below(2) == 0;
		m.memory = 2e9 + 1e9 * (double)below(30);
		n = everything(&x, &m, &best);
		ptd_search(&r, &x, &m, &free);
		wrong += r.tried != n || (r.n == 0) != isinf(best) ||
			 (r.n > 0 && r.row[0].time.iteration_s != best);
		none += r.n == 0;
		unlisted += !lists_all(&x, &m, &free, n, round % 4 == 0);
		for (i = 1; i < r.n; i++)
			unordered +=
			    r.row[i].time.iteration_s < r.row[i - 1].time.iteration_s ||
			    r.row[i].memory > m.memory;
		ptd_rows_free(&r);
	}
	is_int(wrong, 0, "150 searches find what a loop over everything finds");
	is_int(unordered, 0, "the best first, and all fit");
	is_int(unlisted, 0, "all that is tried, what is pinned, and the least of it");
	ok(none > 5 && none < 100, "some have no plan: %zu", none);
}

/* Where no plan takes time, many are equal: their parts alone are in order. */
static void
test_equals(void)
{
	struct transformer x = {.layers = 12,
	    .heads = 4,
	    .kv_heads = 4,
	    .seq = 8192,
	    .batch = 24,
	    .experts = 4,
	    .top = 1};
	struct ptd_pins free = {
	    .recompute = -1, .schedule = -1, .zero = -1, .any_zero = true};
	struct gpu_type g = a100();
	struct ptd_machine m;
	struct ptd_rows r;
	size_t i, unequal = 0, unordered = 0;

	g.flops_per_s[0] = g.memory_bytes_per_s = INFINITY;
	g.link_bytes_per_s = g.network_bytes_per_s = INFINITY;
	m = machine(&g, 8);
	m.can[PTD_CONTEXT_PARALLEL] = m.can[PTD_EXPERT_PARALLEL] = true;
	m.can[PTD_FLASH_ATTENTION] = m.can[PTD_SHORT_LAST] = true;
	ptd_search(&r, &x, &m, &free);
	for (i = 0; i < r.n; i++)
		unequal += r.row[i].time.iteration_s != 0;
	is_int(unequal, 0, "nothing takes time on a machine that takes none");
	for (i = 1; i < r.n; i++)
		unordered += !comes_before(&r.row[i - 1], &r.row[i]);
	is_int(unordered, 0, "and %zu plans are in order", r.n);
	ptd_rows_free(&r);
}

/* What the program cannot do on its own is planned where it is said. */
static void
test_said(void)
{
	struct gpu_type g = a100();
	struct transformer x = gpt(4, 512, 8, 2048, 51200, 8);
	struct ptd_pins pins = {
	    .recompute = -1, .schedule = -1, .zero = -1, .any_memory = true};
	struct ptd_machine m = machine(&g, 8);
	struct ptd_rows r;
	size_t i, wrong = 0;

	x.experts = 4;
	x.top = 2;
	pins.c = 4;
	pins.e = 2;
	ptd_search(&r, &x, &m, &pins);
	for (i = 0; i < r.n; i++)
		wrong += r.row[i].plan.c != 4 || r.row[i].plan.e != 2;
	ok(r.n > 10 && wrong == 0, "%zu plans of said c and e", r.n);
	ptd_rows_free(&r);
	x.seq = 2044; /* 4 parts, but not 8 */
	ptd_search(&r, &x, &m, &pins);
	is_int(r.n, 0, "none where the sequence is not in twice as many parts");
	ptd_rows_free(&r);
}

/* The largest part of the GPUs that something divides. */
static void
test_part(void)
{
	struct gpu_type g = a100();
	struct transformer x = llama(80, 8192, 28672, 64, 8, 128256);
	struct ptd_pins free = {.recompute = -1, .schedule = -1, .zero = -1};
	struct ptd_machine m;
	struct ptd_rows r;
	size_t n, used, wrong = 0;

	for (n = 1; n <= 300; n++) {
		m = machine(&g, n);
		ptd_search_part(&r, &x, &m, &free);
		used = m.gpus;
		wrong += used > n || r.tried == 0;
		ptd_rows_free(&r);
		for (m.gpus = used + 1; m.gpus <= n; m.gpus++) {
			ptd_search(&r, &x, &m, &free);
			wrong += r.tried > 0;
			ptd_rows_free(&r);
		}
	}
	is_int(wrong, 0, "no larger part of 1 to 300 GPUs has a plan");
	m = machine(&g, 999983);
	ptd_search_part(&r, &x, &m, &free);
	is_int(m.gpus, 8 * 80 * 128, "of a million they are found at once");
	ptd_rows_free(&r);
	x = llama(1, 96, 384, 4, 4, 1000);
	x.batch = 1;
	m = machine(&g, 5);
	ptd_search_part(&r, &x, &m, &free);
	is_int(m.gpus, 4, "as many as there are heads, if nothing else divides them");
	ptd_rows_free(&r);
	x = llama(80, 8192, 28672, 64, 8, 128256);
	m = machine(&g, 1100);
	free.t = free.p = 8;
	free.d = 16;
	ptd_search_part(&r, &x, &m, &free);
	is_int(m.gpus, 1024, "a plan that is said takes as many as it has");
	ptd_rows_free(&r);
	free.c = 4;
	free.d = 0;
	x.batch = 3;
	ptd_search_part(&r, &x, &m, &free);
	is_int(m.gpus, 8 * 8 * 4 * 3, "parts of sequences, which are said, among them");
	ptd_rows_free(&r);
	free.b = 1000;
	ptd_search_part(&r, &x, &m, &free);
	is_int(r.tried, 0, "or none,");
	is_int(m.gpus, 768, "and then the machine stays as it is");
	ptd_rows_free(&r);
}

/* What must hold whatever the numbers: better machines are no slower. */
static void
test_better(void)
{
	struct gpu_type g = a100(), better;
	struct transformer x = gpt(48, 6144, 48, 2048, 51200, 256);
	struct ptd_pins free = {.recompute = -1, .schedule = -1, .zero = -1};
	struct ptd_machine m = machine(&g, 64);
	struct ptd_rows r;
	double before, after;
	int i;

	ptd_search(&r, &x, &m, &free);
	before = r.row[0].time.iteration_s;
	ptd_rows_free(&r);
	ptd_rows_free(&r); /* nothing is left to free */
	for (i = 0; i < 5; i++) {
		better = g;
		m = machine(&better, 64);
		*(i == 0     ? &better.flops_per_s[0]
		    : i == 1 ? &better.memory_bytes_per_s
		    : i == 2 ? &m.link_bytes_per_s
		    : i == 3 ? &m.network_bytes_per_s
			     : &m.memory) *= 1.5;
		ptd_search(&r, &x, &m, &free);
		after = r.row[0].time.iteration_s;
		ok(i == 4 ? after <= before : after < before,
		    "one thing better: %.4g s instead of %.4g", after, before);
		ptd_rows_free(&r);
	}
}

int
main(void)
{
	test_sc21();
	test_korthikanti();
	test_megatron_core();
	test_today();
	test_bubbles();
	test_short_last();
	test_communication();
	test_memory();
	test_memory_today();
	test_zero();
	test_communication_today();
	test_search();
	test_equals();
	test_said();
	test_part();
	test_better();
	return done_testing();
}
