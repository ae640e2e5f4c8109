/* Command lines of gv-profile devices, drawn, on machines that are drawn. */
#include "drawn_mains.h"

#define profile_devices devices_main
#define gv_gpus_list gpus_drawn
#define gv_gpus_free gpus_drawn_free
#define device_speed(s, d, e) speed_drawn(s, d, e)
#define cpu_threads threads_drawn
#define cpu_memory_bytes memory_drawn
#include "../../cmd/gv-profile/devices.c"
#undef profile_devices
#undef gv_gpus_list
#undef gv_gpus_free
#undef device_speed
#undef cpu_threads
#undef cpu_memory_bytes

enum { ROUNDS = 24, PER_ROUND = 14, MOST = 6 };

static struct gv_gpu gpu[MOST];

static const char *
draw_model(void)
{
	static const char *const model[] = {"Tesla V100-SXM2-16GB", "NVIDIA H100 80GB HBM3",
	    "NVIDIA GeForce RTX 3090", "Tesla V100-SXM2-16GB", "NVIDIA H100 80GB HBM3"};

	return model[below(5)];
}

int
gpus_drawn(struct gv_gpus *g, struct gv_error *e)
{
	static const int64_t memory[] = {16 << 20, -1, 80 << 20, (16 << 20) - 1};
	size_t i, n = below(MOST + 1);

	*g = (struct gv_gpus){.n = one_in(4) ? 0 : n, .gpu = gpu};
	gv_warn("order %s", getenv("CUDA_DEVICE_ORDER"));
	if (one_in(20))
		return gv_error_set(e, "NVML fails");
	for (i = 0; i < g->n; i++) {
		struct gv_gpu *p = &gpu[i];

		p->index = (int)i;
		snprintf(p->uuid, sizeof(p->uuid), "GPU-%zu", i);
		snprintf(p->name, sizeof(p->name), "%s", one_in(9) ? "" : draw_model());
		snprintf(p->pci_bus_id, sizeof(p->pci_bus_id), "0%zu:00.0", i);
		p->memory_bytes = memory[below(4)];
		p->memory_free_bytes = memory[below(4)];
		if (one_in(5))
			snprintf(p->problem, sizeof(p->problem), "%s",
			    one_in(3) ? "?" : "GPU is lost");
	}
	if (g->n > 0)
		snprintf(g->driver, sizeof(g->driver), "550.1");
	else
		snprintf(g->why, sizeof(g->why), "there is none");
	return 0;
}

void
gpus_drawn_free(struct gv_gpus *g)
{
	gv_warn("%zu GPUs forgotten", g->n);
}

int
speed_drawn(struct device_speed *s, const struct gv_nn_device *d, struct gv_error *e)
{
	size_t i;

	gv_warn("kind %d, number %d, %zu threads", (int)d->kind, d->number, d->threads);
	s->copy_gbytes_per_s = (double)below(900000) / 1024;
	for (i = 0; i < DEVICE_MATHS; i++)
		s->gflops_per_s[i] = one_in(3) ? 0 : (double)below(9000000) / 1024;
	s->launch_us = one_in(3) ? 0 : (double)below(9000) / 512;
	return one_in(4) ? gv_error_set(e, "no cuBLAS") : 0;
}

int
threads_drawn(void)
{
	return 12;
}

int64_t
memory_drawn(void)
{
	return one_in(3) ? -1 : (int64_t)1 << 34;
}

/* What nvidia-smi, sinfo or somebody else lists. */
static void
draw_list(void)
{
	struct gv_strbuf b = {0};
	size_t n = below(5), i;

	switch (below(3)) {
	case 0:
		gv_strbuf_str(&b, "index, name, memory.total [MiB]\n");
		for (i = 0; i < n; i++)
			gv_strbuf_fmt(
			    &b, "%zu, %s, 16384 MiB\n", i, draw_model());
		break;
	case 1:
		gv_strbuf_str(&b, "NODELIST NODES PARTITION STATE GRES\n");
		for (i = 0; i < n; i++) {
			const char *state = one_in(4) ? "down*" : "idle";

			gv_strbuf_fmt(&b, "n%zu 1 all %s gpu:v100:%zu\n", i, state,
			    1 + below(4));
		}
		break;
	default:
		gv_strbuf_str(&b, "no list of devices\n");
	}
	scratch_file("list", b.s, b.len);
	gv_strbuf_free(&b);
}

int
main(void)
{
	static const char *const made[] = {"list", NULL};
	static const char *const word[] = {"--cpu", "--list", "--measure", "--node=m",
	    "--map=Tesla V100-SXM2-16GB=v", "--map=h100-80gb-hbm3=h",
	    "--map=v100-sxm2-16gb=h", "--map==x", "--map=x=", "--map=x", "--map=a=b=c",
	    "--from=list", "--from=none", "--tsv", "-o out", "-o none/out", "-q", "-v",
	    "-v", "-h", "operand", "--what", "--list", "--measure", "--cpu",
	    "--from=list", "--node=", "--measure"};
	struct recorded r;
	size_t k;
	uint32_t i;

	gv_init("gv-profile");
	unsetenv("CUDA_DEVICE_ORDER");
	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(137, i, 0);
		for (k = 0; k < PER_ROUND; k++) {
			char *argv[MAIN_WORDS];
			int argc = draw_words(
			    argv, "devices", word, sizeof(word) / sizeof(word[0]), 4);

			draw_list();
			recorded_main(&r, devices_main, argc, argv);
		}
		recorded_answer(&r, "%d command lines", PER_ROUND);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
