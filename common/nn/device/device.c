#include "nn/device/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/num.h"
#include "nn/backend.h"
#include "nn/cpu/cpu.h"

#ifndef GV_VERSION
#define GV_VERSION "unknown"
#endif

static const char plugin_name[] = "gv-cuda.so";

int
gv_nn_device_parse(const char *text, struct gv_nn_device *d)
{
	int64_t n;

	d->number = -1;
	if (strcmp(text, "cpu") == 0 || strcmp(text, "auto") == 0) {
		d->kind = text[0] == 'c' ? GV_NN_CPU : GV_NN_AUTO;
		return 0;
	}
	if (strncmp(text, "cuda", 4) != 0)
		return -1;
	d->kind = GV_NN_CUDA;
	if (text[4] == '\0')
		return 0;
	if (text[4] != ':' || gv_parse_int(text + 5, strlen(text + 5), &n) != 0 ||
	    n < 0 || n > 1023)
		return -1;
	d->number = (int)n;
	return 0;
}

static int
check_plugin(const struct gv_nn_plugin *p, const char *path, struct gv_error *e)
{
	static const size_t here[GV_NN_SIZES] = GV_NN_SIZES_HERE;

	if (p->interface == GV_NN_INTERFACE && memcmp(p->size, here, sizeof(here)) == 0)
		return 0;
	return gv_error_set(e,
	    "%s is of another build of gv (%s there, %s here): install both from one",
	    path, p->interface == 0 || p->version == NULL ? "?" : p->version, GV_VERSION);
}

/* The plug-in stays open until the process ends. */
static const struct gv_nn_plugin *
open_plugin(struct gv_error *e)
{
	const struct gv_nn_plugin *p;
	char path[PATH_MAX];
	void *library;

	gv_plugin_path(path, plugin_name);
	if (access(path, F_OK) != 0) {
		gv_error_set(e,
		    "no support for GPUs: %s is not there (gv was built without nvcc)",
		    path);
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		gv_error_set(e, "no support for GPUs: %s", dlerror());
		return NULL;
	}
	p = dlsym(library, "gv_nn_plugin");
	if (p == NULL) {
		gv_error_set(e, "no support for GPUs: %s is no plug-in of gv", path);
		return NULL;
	}
	return check_plugin(p, path, e) == 0 ? p : NULL;
}

static struct gv_nn_backend *
open_cuda(const struct gv_nn_device *d, struct gv_error *e)
{
	const struct gv_nn_plugin *p = open_plugin(e);

	return p == NULL ? NULL : p->open(d, e);
}

struct gv_nn_backend *
gv_nn_device_open(
    const struct gv_nn_device *d, char why[GV_ERROR_LEN], struct gv_error *e)
{
	struct gv_error no_gpu = {0};
	struct gv_nn_backend *be;

	why[0] = '\0';
	if (d->kind == GV_NN_CUDA)
		return open_cuda(d, e);
	if (d->kind == GV_NN_AUTO) {
		be = open_cuda(d, &no_gpu);
		if (be != NULL)
			return be;
		snprintf(why, GV_ERROR_LEN, "%s", no_gpu.text[0]);
	}
	return gv_cpu_new(d->threads);
}
