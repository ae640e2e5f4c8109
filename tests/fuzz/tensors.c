/*
 * Any bytes as a file of tensors.  Holds: what is read lies in the file, one tensor
 * behind the other from the header to the end, each of the bytes that its shape asks
 * for, under a name of its own; all numbers can be had; what is not read has an error
 * that names the file.
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "holds.h"
#include "nn/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static void
check_tensor(const struct gv_tensors *t, const struct gv_tensor *v)
{
	double last = 0;
	char shape[64];
	size_t i, n = 1;

	for (i = 0; i < v->dims; i++)
		n *= (size_t)v->shape[i];
	HOLDS(v->dims <= GV_TENSOR_DIMS && n == v->n);
	HOLDS(v->n == 0 ? v->bytes == 0 : v->bytes % v->n == 0 && v->bytes / v->n <= 8);
	HOLDS(v->bytes == 0 ||
	      (v->data >= (const unsigned char *)t->raw &&
		  v->data + v->bytes <= (const unsigned char *)t->raw + t->raw_len));
	HOLDS(gv_tensors_find(t, v->name) == v);
	for (i = 0; gv_tensor_is_real(v) && i < v->n; i++)
		last += gv_tensor_number(v, i);
	HOLDS(last < 0 || last >= 0 || last != last);
	gv_tensor_shape(shape, sizeof(shape), v->shape, v->dims);
	HOLDS(strlen(shape) < sizeof(shape) && shape[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct gv_error e = {0};
	struct gv_tensors t;
	size_t i, bytes = 0;
	char *raw = gv_xcalloc(len + 1, 1);

	memcpy(raw, s, len);
	if (gv_tensors_parse(&t, raw, len, "a file", &e) != 0) {
		HOLDS(e.count == 1 && strncmp(e.text[0], "a file:", 7) == 0);
		HOLDS(t.n == 0 && t.raw == NULL);
		return 0;
	}
	HOLDS(e.count == 0);
	for (i = 0; i < t.n; i++) {
		check_tensor(&t, &t.v[i]);
		HOLDS(i == 0 || t.v[i].data == t.v[i - 1].data + t.v[i - 1].bytes);
		bytes += t.v[i].bytes;
	}
	HOLDS(bytes <= len - 8);
	gv_tensors_free(&t);
	return 0;
}
