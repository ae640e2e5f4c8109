#include "gpu/nvml_use.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static const double look_every_s = 0.1;

/* NVML's declarations, as in nvml.c; its ABI is kept by versioned names. */
struct device; /* opaque */
struct rates {
	unsigned int gpu, memory; /* percent */
};
struct memory {
	unsigned long long total, free, used;
};
enum { CLOCK_SM = 1 };
/* power cap, hardware slowdown, heat, power brake */
enum { THROTTLED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80 };

/* What was seen of all GPUs at a time. */
struct look {
	double at_s, utilization, memory_utilization, sm_clock_hz;
	int64_t memory_bytes;
	bool throttled;
};

struct gv_gpu_watch {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	int (*handle)(unsigned int, struct device **);
	int (*rates)(struct device *, struct rates *);
	int (*memory)(struct device *, struct memory *);
	int (*clock)(struct device *, int, unsigned int *); /* NULL: not told */
	int (*reasons)(struct device *, unsigned long long *);
	struct device **device; /* [n] */
	size_t n;
	bool begun;
	struct look *look;
	size_t looks, cap;
};

static const struct {
	const char *name;
	size_t at;
	bool needed;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct gv_gpu_watch, init), true},
    {"nvmlShutdown", offsetof(struct gv_gpu_watch, shutdown), true},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct gv_gpu_watch, handle), true},
    {"nvmlDeviceGetUtilizationRates", offsetof(struct gv_gpu_watch, rates), true},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct gv_gpu_watch, memory), true},
    {"nvmlDeviceGetClockInfo", offsetof(struct gv_gpu_watch, clock), false},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct gv_gpu_watch, reasons),
	false},
};

static bool
open_library(struct gv_gpu_watch *w)
{
	size_t i;

	w->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	for (i = 0; w->library != NULL && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *p = dlsym(w->library, symbols[i].name);

		if (p == NULL && symbols[i].needed)
			return false;
		/* C has no conversion from an object's to a function's pointer; POSIX has this */
		*(void **)(void *)((char *)w + symbols[i].at) = p;
	}
	return w->library != NULL;
}

struct gv_gpu_watch *
gv_gpu_watch_new(const int *id, size_t n)
{
	struct gv_gpu_watch *w = gv_xcalloc(1, sizeof(*w));
	size_t i;

	w->device = gv_xcalloc(n, sizeof(struct device *));
	w->n = n;
	w->begun = open_library(w) && w->init() == 0;
	for (i = 0; w->begun && i < n; i++)
		if (w->handle((unsigned int)id[i], &w->device[i]) != 0)
			break;
	if (w->begun && i == n)
		return w;
	gv_gpu_watch_free(w);
	return NULL;
}

/* Whether a GPU told what it must. */
static bool
ask(const struct gv_gpu_watch *w, struct device *d, struct look *l)
{
	struct rates rates = {0};
	struct memory memory = {0};
	unsigned int mhz = 0;
	unsigned long long reasons = 0;

	if (w->rates(d, &rates) != 0 || w->memory(d, &memory) != 0)
		return false;
	if (w->clock != NULL && w->clock(d, CLOCK_SM, &mhz) != 0)
		mhz = 0;
	if (w->reasons != NULL && w->reasons(d, &reasons) != 0)
		reasons = 0;
	l->utilization += rates.gpu / 100.0 / (double)w->n;
	l->memory_utilization += rates.memory / 100.0 / (double)w->n;
	l->sm_clock_hz += mhz * 1e6 / (double)w->n;
	if ((int64_t)memory.used > l->memory_bytes)
		l->memory_bytes = (int64_t)memory.used;
	l->throttled |= (reasons & THROTTLED) != 0;
	return true;
}

void
gv_gpu_watch_look(struct gv_gpu_watch *w, double now_s)
{
	struct look l = {.at_s = now_s};
	size_t i;

	if (w == NULL ||
	    (w->looks > 0 && now_s - w->look[w->looks - 1].at_s < look_every_s))
		return;
	for (i = 0; i < w->n; i++)
		if (!ask(w, w->device[i], &l))
			return;
	w->look = gv_xgrow(w->look, &w->cap, w->looks + 1, sizeof(*w->look));
	w->look[w->looks++] = l;
}

struct gv_gpu_use
gv_gpu_watch_use(const struct gv_gpu_watch *w, double from_s)
{
	struct gv_gpu_use u = {0};
	size_t i;

	for (i = 0; w != NULL && i < w->looks; i++) {
		const struct look *l = &w->look[i];

		if (l->at_s < from_s)
			continue;
		u.looks++;
		u.utilization += l->utilization;
		u.memory_utilization += l->memory_utilization;
		u.sm_clock_hz += l->sm_clock_hz;
		u.throttled |= l->throttled;
		if (l->memory_bytes > u.memory_bytes)
			u.memory_bytes = l->memory_bytes;
	}
	if (u.looks == 0)
		return u;
	u.utilization /= (double)u.looks;
	u.memory_utilization /= (double)u.looks;
	u.sm_clock_hz /= (double)u.looks;
	return u;
}

void
gv_gpu_watch_free(struct gv_gpu_watch *w)
{
	if (w == NULL)
		return;
	if (w->begun)
		w->shutdown();
	if (w->library != NULL)
		dlclose(w->library);
	free(w->device);
	free(w->look);
	free(w);
}
