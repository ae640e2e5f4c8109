/* Where a device is, among those that NCCL brings together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/ranks.h"

int
gv_cuda_ranks_load(struct gv_cuda *c, struct gv_cuda_nccl *n, struct gv_error *e)
{
	if (c->load_nccl == NULL)
		return gv_error_set(e, "no NCCL");
	return c->load_nccl(n, e);
}

/* The host as NCCL tells it: by its name and the time it was started, or as told to. */
static void
host_of(char *to, size_t size)
{
	const char *told = getenv("NCCL_HOSTID");
	char boot[40] = "";
	size_t at;
	FILE *f;

	if (told != NULL && told[0] != '\0') {
		snprintf(to, size, "%s", told);
		return;
	}
	if (gethostname(to, size) != 0)
		to[0] = '\0';
	to[size - 1] = '\0';
	at = strlen(to);
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f != NULL && fgets(boot, sizeof(boot), f) == NULL)
		boot[0] = '\0';
	if (f != NULL)
		fclose(f);
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(to + at, size - at, " %s", boot);
}

int
gv_cuda_where(struct gv_nn_backend *be, struct gv_nn_where *w, struct gv_error *e)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_nccl n;
	char bus[24] = "";

	memset(w, 0, sizeof(*w));
	if (gv_cuda_ranks_load(c, &n, e) != 0)
		return -1;
	if (n.version(&w->version) != GV_NCCL_SUCCESS ||
	    c->d->device_bus(bus, sizeof(bus), c->device) != GV_CU_SUCCESS)
		return gv_error_set(
		    e, "%s (GPU %d): it does not say where it is", c->name, c->device);
	host_of(w->host, sizeof(w->host));
	snprintf(w->bus, sizeof(w->bus), "%s", bus);
	return 0;
}

int
gv_cuda_make_id(struct gv_nn_backend *be, unsigned char id[GV_NN_ID], struct gv_error *e)
{
	struct gv_cuda_nccl n;
	struct gv_nccl_id made;
	int result;

	if (gv_cuda_ranks_load((struct gv_cuda *)be, &n, e) != 0)
		return -1;
	result = n.make_id(&made);
	if (result != GV_NCCL_SUCCESS)
		return gv_error_set(e, "NCCL: %s", n.error_string(result));
	memcpy(id, made.bytes, GV_NN_ID);
	return 0;
}
