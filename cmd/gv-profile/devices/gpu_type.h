/* Short names of GPU models for the column gpu_type.  No I/O. */
#ifndef GV_PROFILE_GPU_TYPE_H
#define GV_PROFILE_GPU_TYPE_H

#include <stddef.h>

/*
 * The name as tables use it, into out[len]: the words NVIDIA, Tesla and GeForce
 * are dropped, letters made small, and what is neither letter, digit nor dot
 * becomes one hyphen: "NVIDIA H100 80GB HBM3" is h100-80gb-hbm3, "Tesla
 * V100-SXM2-16GB" is v100-sxm2-16gb.  A name without any such letter is "gpu".
 */
void gpu_type_name(char *out, size_t len, const char *model);

/* Names the user wants instead: "FROM=TO", FROM being the model or its short name. */
struct gpu_type_map {
	const char **entry; /* [n] */
	size_t n;
	size_t cap;
};

/* gpu_type_name, then the last matching entry of the map. */
void gpu_type_mapped(
    char *out, size_t len, const char *model, const struct gpu_type_map *map);

#endif
