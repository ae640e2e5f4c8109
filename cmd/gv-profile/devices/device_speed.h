/* How fast a device is at what training asks of it. */
#ifndef GV_PROFILE_DEVICE_SPEED_H
#define GV_PROFILE_DEVICE_SPEED_H

#include "nn/device/device.h"

enum { DEVICE_MATHS = GV_NN_BF16 + 1 };

/* 0 = not measured: the CPU has fp32 alone, other math needs cuBLAS. */
struct device_speed {
	double copy_gbytes_per_s;          /* read and written */
	double gflops_per_s[DEVICE_MATHS]; /* of large products, by enum gv_nn_math */
	double launch_us; /* until something small was done and waited for */
};

/* Takes about a second.  0, or -1 with *e set; then what was measured so far stays. */
int device_speed(
    struct device_speed *s, const struct gv_nn_device *d, struct gv_error *e);

#endif
