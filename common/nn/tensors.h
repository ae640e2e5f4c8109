/*
 * Files of named tensors, as PyTorch's users exchange them: safetensors.
 *
 *	8 bytes     length of the header, little-endian
 *	header      JSON: {"NAME": {"dtype": "F32", "shape": [10, 256],
 *	            "data_offsets": [BEGIN, END]}, ..., "__metadata__": {...}}
 *	the rest    the tensors' numbers, row-major, little-endian; BEGIN and END count
 *	            from here
 *
 * A file may come from anywhere.  One that is read is whole: every tensor has the bytes
 * that its shape asks for, they follow each other without gap or overlap from the first
 * byte behind the header to the last of the file, and no two have one name.
 */
#ifndef GV_NN_TENSORS_H
#define GV_NN_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { GV_TENSOR_DIMS = 8, GV_TENSOR_TYPE = 12 };

struct gv_tensor {
	char *name;
	char dtype[GV_TENSOR_TYPE]; /* F32, ... as in the file */
	size_t dims;
	uint64_t shape[GV_TENSOR_DIMS];
	size_t n; /* numbers: the product of the shape, 1 without dimensions */
	const unsigned char *data;
	size_t bytes;
};

struct gv_tensors {
	size_t n;
	struct gv_tensor *v; /* in the order of their bytes */
	char *raw;           /* the file */
	size_t raw_len;
};

/* Reads a file; 0, or -1 with *e set, and then there is nothing to free. */
int gv_tensors_read(struct gv_tensors *t, const char *path, struct gv_error *e);
/* The same of bytes in memory, which become *t's (freed also when it fails). */
int gv_tensors_parse(
    struct gv_tensors *t, char *raw, size_t len, const char *path, struct gv_error *e);
void gv_tensors_free(struct gv_tensors *t); /* also of a zeroed one */

/* The tensor of a name, or NULL. */
const struct gv_tensor *gv_tensors_find(const struct gv_tensors *t, const char *name);

/* Whether its numbers can be had: F64, F32, F16, BF16. */
bool gv_tensor_is_real(const struct gv_tensor *t);
/* Number i < n of such a one. */
double gv_tensor_number(const struct gv_tensor *t, size_t i);

/* "10 x 256", "one number": a shape in words, at most len bytes with the NUL. */
void gv_tensor_shape(char *s, size_t len, const uint64_t *shape, size_t dims);

/*
 * Writes n tensors in their order, which share no name; data [bytes] is little-endian.
 * The file is replaced whole when all is written.  0, or -1 with *e set.
 */
int gv_tensors_write(
    const char *path, const struct gv_tensor *v, size_t n, struct gv_error *e);

#endif
