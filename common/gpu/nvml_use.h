/*
 * How much GPUs are used while something runs: what nvidia-smi calls utilisation, asked
 * of NVML now and then.  Utilisation is the part of the driver's last sample period, a
 * sixth of a second to a second, in which a kernel ran; of memory all that is in use.
 */
#ifndef GV_GPU_NVML_USE_H
#define GV_GPU_NVML_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Means over GPUs and looks; memory: the most of one GPU. */
struct gv_gpu_use {
	double utilization;        /* 0 to 1 */
	double memory_utilization; /* 0 to 1: the part of the time its memory was busy */
	int64_t memory_bytes;
	double sm_clock_hz;
	bool throttled; /* clocks were lowered for heat or power at some look */
	size_t looks;   /* 0: nothing is known, all else is 0 */
};

struct gv_gpu_watch;

/*
 * Watches GPUs id[n], NVML's numbers.  NULL where there is no NVML, or it does not tell:
 * the functions below take that and know nothing.
 */
struct gv_gpu_watch *gv_gpu_watch_new(const int *id, size_t n);
/* Looks, unless it did so within the last tenth of a second.  now_s: gv_clock_s(). */
void gv_gpu_watch_look(struct gv_gpu_watch *w, double now_s);
/* What was seen from a time on. */
struct gv_gpu_use gv_gpu_watch_use(const struct gv_gpu_watch *w, double from_s);
void gv_gpu_watch_free(struct gv_gpu_watch *w);

#endif
