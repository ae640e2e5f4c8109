/*
 * A libnvidia-ml.so.1 without a GPU: it tells what stands in the file that
 * GV_FAKE_NVML names, one GPU a line, fields separated by bars:
 *
 *	uuid|name|pci bus id|memory bytes|memory bytes free|state
 *
 * behind which |percent busy|percent of memory busy|MHz|reasons of throttling may stand.
 *
 * state is "ok", "lost" (no handle: GPU is lost), "reset" (no handle: it must be
 * reset), "dark" (a handle, but it tells no memory), each with NVML's own words,
 * "shared" (it has no memory of its own), or "action=N" (the recovery action that
 * the driver wants).  A first line "driver VERSION" sets the driver's version, "fail N"
 * makes nvmlInit_v2 return N, "crash" ends the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	INSUFFICIENT_SIZE = 7,
	DRIVER_NOT_LOADED = 9,
	GPU_IS_LOST = 15,
	RESET_REQUIRED = 16,
	VERSION_MISMATCH = 18,
	UNKNOWN = 999,
	MAX_GPUS = 64
};

struct fake {
	char uuid[80], name[96], pci[32], state[16];
	unsigned long long total, free, reasons;
	unsigned int busy, memory_busy, mhz;
};

struct pci_info {
	char legacy[16];
	unsigned int domain, bus, device, device_id, subsystem_id;
	char id[32];
};

struct memory {
	unsigned long long total, free, used;
};

struct field {
	unsigned int id, scope;
	long long time, latency;
	unsigned int type;
	int status;
	unsigned long long value;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int r);
int nvmlSystemGetDriverVersion(char *s, unsigned int len);
int nvmlDeviceGetCount_v2(unsigned int *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, struct fake **device);
int nvmlDeviceGetUUID(struct fake *device, char *s, unsigned int len);
int nvmlDeviceGetName(struct fake *device, char *s, unsigned int len);
int nvmlDeviceGetPciInfo_v3(struct fake *device, struct pci_info *pci);
int nvmlDeviceGetMemoryInfo(struct fake *device, struct memory *memory);
int nvmlDeviceGetFieldValues(struct fake *device, int n, struct field *f);
struct rates {
	unsigned int gpu, memory;
};
int nvmlDeviceGetUtilizationRates(struct fake *device, struct rates *rates);
int nvmlDeviceGetClockInfo(struct fake *device, int clock, unsigned int *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(
    struct fake *device, unsigned long long *reasons);

static struct fake gpu[MAX_GPUS];
static unsigned int n_gpus;
static int initialised;
static char driver[80] = "570.00";

int
nvmlInit_v2(void)
{
	const char *path = getenv("GV_FAKE_NVML");
	FILE *f = fopen(path != NULL ? path : "/nonexistent", "r");
	char line[512];
	int failure;

	if (f == NULL)
		return DRIVER_NOT_LOADED;
	n_gpus = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		struct fake *g = &gpu[n_gpus];

		if (sscanf(line, "fail %d", &failure) == 1) {
			fclose(f);
			return failure;
		}
		if (strcmp(line, "crash\n") == 0)
			abort();
		if (sscanf(line, "driver %79s", driver) == 1)
			continue;
		if (n_gpus < MAX_GPUS &&
		    sscanf(line,
			"%79[^|]|%95[^|]|%31[^|]|%llu|%llu|%15[^|\n]|%u|%u|%u|%llu",
			g->uuid, g->name, g->pci, &g->total, &g->free, g->state, &g->busy,
			&g->memory_busy, &g->mhz, &g->reasons) >= 6)
			n_gpus++;
	}
	fclose(f);
	initialised = 1;
	return SUCCESS;
}

int
nvmlShutdown(void)
{
	initialised = 0;
	return SUCCESS;
}

const char *
nvmlErrorString(int r)
{
	switch (r) {
	case SUCCESS:
		return "Success";
	case UNINITIALIZED:
		return "Uninitialized";
	case INVALID_ARGUMENT:
		return "Invalid Argument";
	case INSUFFICIENT_SIZE:
		return "Insufficient Size";
	case DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	case NOT_SUPPORTED:
		return "Not Supported";
	case GPU_IS_LOST:
		return "GPU is lost";
	case RESET_REQUIRED:
		return "GPU requires reset";
	case VERSION_MISMATCH:
		return "Driver/library version mismatch";
	default:
		return "Unknown Error";
	}
}

static int
copy(char *to, unsigned int len, const char *from)
{
	if (!initialised)
		return UNINITIALIZED;
	if (strlen(from) >= len)
		return INSUFFICIENT_SIZE;
	strcpy(to, from);
	return SUCCESS;
}

int
nvmlSystemGetDriverVersion(char *s, unsigned int len)
{
	return copy(s, len, driver);
}

int
nvmlDeviceGetCount_v2(unsigned int *n)
{
	*n = n_gpus;
	return initialised ? SUCCESS : UNINITIALIZED;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned int i, struct fake **device)
{
	if (i >= n_gpus)
		return INVALID_ARGUMENT;
	*device = &gpu[i];
	if (strcmp(gpu[i].state, "reset") == 0)
		return RESET_REQUIRED;
	return strcmp(gpu[i].state, "lost") == 0 ? GPU_IS_LOST : SUCCESS;
}

int
nvmlDeviceGetUUID(struct fake *device, char *s, unsigned int len)
{
	return copy(s, len, device->uuid);
}

int
nvmlDeviceGetName(struct fake *device, char *s, unsigned int len)
{
	return copy(s, len, device->name);
}

int
nvmlDeviceGetPciInfo_v3(struct fake *device, struct pci_info *pci)
{
	memset(pci, 0, sizeof(*pci));
	strcpy(pci->id, device->pci);
	return SUCCESS;
}

int
nvmlDeviceGetMemoryInfo(struct fake *device, struct memory *memory)
{
	if (strcmp(device->state, "dark") == 0)
		return UNKNOWN;
	if (strcmp(device->state, "shared") == 0)
		return NOT_SUPPORTED;
	memory->total = device->total;
	memory->free = device->free;
	memory->used = device->total - device->free;
	return SUCCESS;
}

int
nvmlDeviceGetFieldValues(struct fake *device, int n, struct field *f)
{
	unsigned int action = 0;

	if (n != 1 || f->id != 230)
		return INVALID_ARGUMENT;
	sscanf(device->state, "action=%u", &action);
	f->status = SUCCESS;
	f->value = action;
	return SUCCESS;
}

int
nvmlDeviceGetUtilizationRates(struct fake *device, struct rates *rates)
{
	if (strcmp(device->state, "dark") == 0)
		return UNKNOWN;
	*rates = (struct rates){device->busy, device->memory_busy};
	return SUCCESS;
}

int
nvmlDeviceGetClockInfo(struct fake *device, int clock, unsigned int *mhz)
{
	*mhz = device->mhz;
	return clock == 1 ? SUCCESS : INVALID_ARGUMENT;
}

int
nvmlDeviceGetCurrentClocksThrottleReasons(
    struct fake *device, unsigned long long *reasons)
{
	*reasons = device->reasons;
	return SUCCESS;
}
