#include "gpu/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* NVML's own declarations, as far as they are used; its ABI is kept by versioned names. */
enum { NVML_SUCCESS = 0, NVML_NOT_SUPPORTED = 3, NVML_DRIVER_NOT_LOADED = 9 };

enum { NVML_FIELD_RECOVERY_ACTION = 230 };

struct nvml_device; /* opaque */

struct nvml_pci {
	char bus_id_legacy[16];
	unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_field {
	unsigned int id, scope;
	long long time, latency;
	unsigned int type;
	int status;
	union {
		unsigned int u;
		unsigned long long whole;
	} value;
};

struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int);
	int (*driver_version)(char *, unsigned int);
	int (*count)(unsigned int *);
	int (*handle)(unsigned int, struct nvml_device **);
	int (*uuid)(struct nvml_device *, char *, unsigned int);
	int (*name)(struct nvml_device *, char *, unsigned int);
	int (*pci)(struct nvml_device *, struct nvml_pci *);
	int (*memory)(struct nvml_device *, struct nvml_memory *);
	int (*fields)(struct nvml_device *, int, struct nvml_field *);
};

static const struct {
	const char *name;
	size_t at; /* in struct nvml */
	bool optional;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init), false},
    {"nvmlShutdown", offsetof(struct nvml, shutdown), false},
    {"nvmlErrorString", offsetof(struct nvml, error_string), false},
    {"nvmlSystemGetDriverVersion", offsetof(struct nvml, driver_version), false},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, count), false},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, handle), false},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid), false},
    {"nvmlDeviceGetName", offsetof(struct nvml, name), false},
    {"nvmlDeviceGetPciInfo_v3", offsetof(struct nvml, pci), false},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory), false},
    {"nvmlDeviceGetFieldValues", offsetof(struct nvml, fields), true},
};

static const char library[] = "libnvidia-ml.so.1";

/* 0 opened, 1 there is none (why says so), -1 it is not what it should be. */
static int
open_library(struct nvml *n, struct gv_gpus *g, struct gv_error *e)
{
	size_t i;

	n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (n->library == NULL) {
		snprintf(g->why, sizeof(g->why), "%s is not there", library);
		return 1;
	}
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *p = dlsym(n->library, symbols[i].name);

		if (p == NULL && symbols[i].optional)
			continue;
		if (p == NULL) {
			gv_error_set(e, "%s: has no %s", library, symbols[i].name);
			return -1;
		}
		/* C has no conversion from an object's to a function's pointer; POSIX has this */
		*(void **)(void *)((char *)n + symbols[i].at) = p;
	}
	return 0;
}

/*
 * What the driver wants done before the GPU is used again; it is how the critical ones of
 * its messages (Xid) last.  "" = nothing, or the driver is too old to know.
 */
static const char *
recovery(const struct nvml *n, struct nvml_device *device)
{
	static const char *const action[] = {"", "it must be reset (nvidia-smi -r)",
	    "its node must be restarted", "its peers must be drained",
	    "it must be drained and reset", "its IMEX domain must be recovered",
	    "its PCIe bus must be reset", "its system must be restarted"};
	struct nvml_field f = {.id = NVML_FIELD_RECOVERY_ACTION};

	if (n->fields == NULL || n->fields(device, 1, &f) != NVML_SUCCESS ||
	    f.status != NVML_SUCCESS)
		return "";
	return f.value.u < sizeof(action) / sizeof(action[0]) ? action[f.value.u]
							      : "it must be recovered";
}

static void
ask_device(const struct nvml *n, struct gv_gpu *gpu)
{
	struct nvml_device *device;
	struct nvml_pci pci = {0};
	struct nvml_memory memory = {0};
	int r = n->handle((unsigned int)gpu->index, &device);

	if (r == NVML_SUCCESS)
		r = n->uuid(device, gpu->uuid, GV_GPU_TEXT);
	if (r == NVML_SUCCESS)
		r = n->name(device, gpu->name, GV_GPU_TEXT);
	if (r == NVML_SUCCESS)
		r = n->pci(device, &pci);
	if (r == NVML_SUCCESS) {
		snprintf(gpu->pci_bus_id, GV_GPU_TEXT, "%.31s", pci.bus_id);
		r = n->memory(device, &memory);
	}
	if (r == NVML_SUCCESS) {
		gpu->memory_bytes = (int64_t)memory.total;
		gpu->memory_free_bytes = (int64_t)memory.free;
	}
	if (r != NVML_SUCCESS && !(r == NVML_NOT_SUPPORTED && gpu->pci_bus_id[0] != '\0'))
		snprintf(gpu->problem, GV_GPU_TEXT, "%s", n->error_string(r));
	else /* GPUs whose memory is the system's tell none */
		snprintf(gpu->problem, GV_GPU_TEXT, "%s", recovery(n, device));
}

static int
ask(const struct nvml *n, struct gv_gpus *g, struct gv_error *e)
{
	unsigned int count = 0;
	unsigned int i;
	int r = n->driver_version(g->driver, GV_GPU_TEXT);

	if (r == NVML_SUCCESS)
		r = n->count(&count);
	if (r != NVML_SUCCESS)
		return gv_error_set(e, "NVML: %s", n->error_string(r));
	g->gpu = gv_xcalloc(count, sizeof(*g->gpu));
	g->n = count;
	for (i = 0; i < count; i++) {
		g->gpu[i].index = (int)i;
		g->gpu[i].memory_bytes = g->gpu[i].memory_free_bytes = -1;
		ask_device(n, &g->gpu[i]);
	}
	return 0;
}

int
gv_gpus_list(struct gv_gpus *g, struct gv_error *e)
{
	struct nvml n = {0};
	int rc;
	int r;

	*g = (struct gv_gpus){0};
	rc = open_library(&n, g, e);
	if (rc == 0) {
		r = n.init();
		if (r == NVML_SUCCESS) {
			rc = ask(&n, g, e);
			n.shutdown();
		} else if (r == NVML_DRIVER_NOT_LOADED) {
			snprintf(g->why, sizeof(g->why), "NVML: %s", n.error_string(r));
		} else {
			rc = gv_error_set(e, "NVML: %s", n.error_string(r));
		}
	}
	if (n.library != NULL)
		dlclose(n.library);
	return rc == -1 ? -1 : 0;
}

void
gv_gpus_free(struct gv_gpus *g)
{
	free(g->gpu);
	*g = (struct gv_gpus){0};
}
