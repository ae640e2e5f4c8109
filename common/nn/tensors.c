#include "nn/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/json.h"
#include "base/json_in.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"

enum { HEADER_MOST = 100 * 1000 * 1000, LENGTH = 8 };

static const struct {
	const char *name;
	size_t bytes;
} types[] = {
    {"F32", 4},
    {"F64", 8},
    {"F16", 2},
    {"BF16", 2},
    {"BOOL", 1},
    {"U8", 1},
    {"I8", 1},
    {"F8_E5M2", 1},
    {"F8_E4M3", 1},
    {"I16", 2},
    {"U16", 2},
    {"I32", 4},
    {"U32", 4},
    {"I64", 8},
    {"U64", 8},
};

/* 0: unknown */
static size_t
bytes_of(const char *dtype)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, dtype) == 0)
			return types[i].bytes;
	return 0;
}

/* ---- the header ---- */

struct reader {
	struct gv_json_in json;
	const char *path;
	struct gv_tensors *to;
	size_t room;
	/* of the tensor that is read */
	uint64_t begin, end;
	bool has_type, has_shape, has_place;
};

static int
wrong(const struct reader *r, struct gv_error *e, const char *what)
{
	return gv_error_set(e, "%s: not a safetensors file: %s", r->path, what);
}

/* "PATH: tensor "NAME": what" */
static int
wrong_tensor(
    const struct reader *r, const char *name, struct gv_error *e, const char *what)
{
	char q[GV_QUOTE_LEN];

	return gv_error_set(e, "%s: not a safetensors file: tensor %s %s", r->path,
	    gv_quote(q, name, strlen(name)), what);
}

/* The next token must be this one. */
static int
expect(struct reader *r, enum gv_json_token want, struct gv_error *e)
{
	enum gv_json_token t = gv_json_in_next(&r->json, e);

	if (t == want)
		return 0;
	return t == GV_JSON_ERROR ? -1 : wrong(r, e, "its header is of another form");
}

static int
read_whole(struct reader *r, uint64_t *v, struct gv_error *e)
{
	int64_t n;

	if (gv_parse_int(r->json.text.s, r->json.text.len, &n) != 0 || n < 0)
		return wrong(r, e, "its header has a number that is no size");
	*v = (uint64_t)n;
	return 0;
}

static int
read_shape(struct reader *r, struct gv_tensor *t, struct gv_error *e)
{
	enum gv_json_token token;

	if (expect(r, GV_JSON_ARRAY, e) != 0)
		return -1;
	t->dims = 0;
	while ((token = gv_json_in_next(&r->json, e)) == GV_JSON_NUMBER) {
		if (t->dims == GV_TENSOR_DIMS)
			return wrong_tensor(r, t->name, e, "has more than 8 dimensions");
		if (read_whole(r, &t->shape[t->dims++], e) != 0)
			return -1;
	}
	if (token == GV_JSON_ERROR)
		return -1;
	r->has_shape = true;
	return token == GV_JSON_ARRAY_END
		   ? 0
		   : wrong_tensor(r, t->name, e, "has a shape of other than numbers");
}

static int
read_place(struct reader *r, struct gv_error *e)
{
	if (expect(r, GV_JSON_ARRAY, e) != 0 || expect(r, GV_JSON_NUMBER, e) != 0 ||
	    read_whole(r, &r->begin, e) != 0 || expect(r, GV_JSON_NUMBER, e) != 0 ||
	    read_whole(r, &r->end, e) != 0)
		return -1;
	r->has_place = true;
	return expect(r, GV_JSON_ARRAY_END, e);
}

static int
read_type(struct reader *r, struct gv_tensor *t, struct gv_error *e)
{
	if (expect(r, GV_JSON_STRING, e) != 0)
		return -1;
	if (bytes_of(r->json.text.s) == 0)
		return wrong_tensor(r, t->name, e, "is of an unknown type");
	strcpy(t->dtype, r->json.text.s);
	r->has_type = true;
	return 0;
}

/* Numbers of a shape; SIZE_MAX: more than there can be. */
static size_t
count(const struct gv_tensor *t)
{
	size_t n = 1, i;

	for (i = 0; i < t->dims; i++)
		if (t->shape[i] == 0)
			return 0;
	for (i = 0; i < t->dims; i++) {
		if (t->shape[i] > SIZE_MAX / 16 / n)
			return SIZE_MAX;
		n *= (size_t)t->shape[i];
	}
	return n;
}

/* What is said of one tensor, against itself; behind: bytes behind the header. */
static int
check_tensor(struct reader *r, struct gv_tensor *t, const unsigned char *data,
    size_t behind, struct gv_error *e)
{
	if (!r->has_type || !r->has_shape || !r->has_place)
		return wrong_tensor(r, t->name, e, "lacks dtype, shape or data_offsets");
	if (r->begin > r->end || r->end > behind)
		return wrong_tensor(r, t->name, e, "is not within the file");
	t->n = count(t);
	t->bytes = (size_t)(r->end - r->begin);
	if (t->n == SIZE_MAX || t->n * bytes_of(t->dtype) != t->bytes)
		return wrong_tensor(
		    r, t->name, e, "has other bytes than its shape asks for");
	t->data = data + r->begin;
	return 0;
}

static struct gv_tensor *
add_tensor(struct reader *r)
{
	struct gv_tensors *to = r->to;
	struct gv_tensor *t;

	if (to->n == r->room) {
		r->room = 2 * r->room + 16;
		to->v = gv_xrealloc(to->v, r->room, sizeof(*to->v));
	}
	t = &to->v[to->n++];
	memset(t, 0, sizeof(*t));
	t->name = gv_xstrdup(r->json.text.s);
	r->has_type = r->has_shape = r->has_place = false;
	return t;
}

/* One tensor, behind its name. */
static int
read_tensor(
    struct reader *r, const unsigned char *data, size_t behind, struct gv_error *e)
{
	struct gv_tensor *t = add_tensor(r);
	enum gv_json_token token;

	if (expect(r, GV_JSON_OBJECT, e) != 0)
		return -1;
	while ((token = gv_json_in_next(&r->json, e)) == GV_JSON_KEY) {
		const char *key = r->json.text.s;
		int status;

		if (strcmp(key, "dtype") == 0)
			status = read_type(r, t, e);
		else if (strcmp(key, "shape") == 0)
			status = read_shape(r, t, e);
		else if (strcmp(key, "data_offsets") == 0)
			status = read_place(r, e);
		else
			status =
			    wrong_tensor(r, t->name, e, "has a key that is not known");
		if (status != 0)
			return -1;
	}
	return token == GV_JSON_ERROR ? -1 : check_tensor(r, t, data, behind, e);
}

static int
read_header(
    struct reader *r, const unsigned char *data, size_t behind, struct gv_error *e)
{
	enum gv_json_token token;

	if (expect(r, GV_JSON_OBJECT, e) != 0)
		return -1;
	while ((token = gv_json_in_next(&r->json, e)) == GV_JSON_KEY) {
		int status;

		if (strcmp(r->json.text.s, "__metadata__") == 0)
			status =
			    gv_json_in_skip(&r->json, gv_json_in_next(&r->json, e), e);
		else
			status = read_tensor(r, data, behind, e);
		if (status != 0)
			return -1;
	}
	return token == GV_JSON_ERROR ? -1 : expect(r, GV_JSON_END, e);
}

/* ---- all tensors against each other ---- */

static int
by_place(const void *a, const void *b)
{
	const struct gv_tensor *x = a, *y = b;

	if (x->data != y->data)
		return x->data < y->data ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
by_name(const void *a, const void *b)
{
	const struct gv_tensor *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int
check_names(const struct reader *r, struct gv_error *e)
{
	const struct gv_tensors *t = r->to;
	const struct gv_tensor **sorted = gv_xcalloc(t->n + 1, sizeof(*sorted));
	size_t i;
	int status = 0;

	for (i = 0; i < t->n; i++)
		sorted[i] = &t->v[i];
	qsort(sorted, t->n, sizeof(*sorted), by_name);
	for (i = 1; i < t->n && status == 0; i++)
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			status = wrong_tensor(
			    r, sorted[i]->name, e, "is there more than once");
	free(sorted);
	return status;
}

static int
check_places(
    const struct reader *r, const unsigned char *data, size_t behind, struct gv_error *e)
{
	struct gv_tensors *t = r->to;
	const unsigned char *at = data;
	size_t i;

	if (t->n > 0)
		qsort(t->v, t->n, sizeof(*t->v), by_place);
	for (i = 0; i < t->n; i++) {
		if (t->v[i].data != at)
			return wrong_tensor(r, t->v[i].name, e,
			    t->v[i].data < at ? "overlaps another one"
					      : "leaves a gap before it");
		at += t->v[i].bytes;
	}
	return at == data + behind ? 0 : wrong(r, e, "bytes behind its last tensor");
}

static int
parse(struct reader *r, struct gv_error *e)
{
	const unsigned char *raw = (const unsigned char *)r->to->raw, *data;
	size_t len = r->to->raw_len, behind;
	uint64_t header = 0;
	struct gv_in *in;
	int i, status;

	for (i = LENGTH - 1; i >= 0 && len >= LENGTH; i--)
		header = header << 8 | raw[i];
	if (len < LENGTH || header > len - LENGTH || header > HEADER_MOST)
		return wrong(r, e, "it ends in its header");
	data = raw + LENGTH + header;
	behind = len - LENGTH - (size_t)header;
	if (header == 0 || raw[LENGTH] != '{')
		return wrong(r, e, "its header is no JSON object");
	if (gv_in_memory(&in, r->path, raw + LENGTH, (size_t)header, 0, e) != 0)
		return -1;
	gv_json_in_start(&r->json, in);
	status = read_header(r, data, behind, e);
	gv_json_in_free(&r->json);
	gv_in_close(in);
	if (status == 0)
		status = check_names(r, e);
	return status == 0 ? check_places(r, data, behind, e) : -1;
}

int
gv_tensors_parse(
    struct gv_tensors *t, char *raw, size_t len, const char *path, struct gv_error *e)
{
	struct reader *r = gv_xcalloc(1, sizeof(*r));
	int status;

	*t = (struct gv_tensors){.raw = raw, .raw_len = len};
	r->path = path;
	r->to = t;
	status = parse(r, e);
	free(r);
	if (status != 0)
		gv_tensors_free(t);
	return status;
}

int
gv_tensors_read(struct gv_tensors *t, const char *path, struct gv_error *e)
{
	char *raw;
	size_t len;

	*t = (struct gv_tensors){0};
	if (gv_file_read(path, &raw, &len, SIZE_MAX / 4, e) != 0)
		return -1;
	return gv_tensors_parse(t, raw, len, path, e);
}

void
gv_tensors_free(struct gv_tensors *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->v[i].name);
	free(t->v);
	free(t->raw);
	*t = (struct gv_tensors){0};
}

const struct gv_tensor *
gv_tensors_find(const struct gv_tensors *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strcmp(t->v[i].name, name) == 0)
			return &t->v[i];
	return NULL;
}

/* ---- numbers ---- */

bool
gv_tensor_is_real(const struct gv_tensor *t)
{
	static const char *const real[] = {"F32", "F64", "F16", "BF16"};
	size_t i;

	for (i = 0; i < sizeof(real) / sizeof(real[0]); i++)
		if (strcmp(t->dtype, real[i]) == 0)
			return true;
	return false;
}

/* A half: 1 sign, 5 exponent, 10 fraction. */
static double
half(uint64_t bits)
{
	int exponent = (int)(bits >> 10 & 31);
	double fraction = (double)(bits & 1023), v;

	if (exponent == 31)
		v = fraction == 0 ? (double)INFINITY : (double)NAN;
	else if (exponent == 0)
		v = fraction * 0x1p-24;
	else
		v = ldexp(1024 + fraction, exponent - 25);
	return bits >> 15 ? -v : v;
}

static double
single(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

double
gv_tensor_number(const struct gv_tensor *t, size_t i)
{
	size_t size = bytes_of(t->dtype), k;
	const unsigned char *p = t->data + i * size;
	uint64_t bits = 0;
	double v;

	for (k = size; k-- > 0;)
		bits = bits << 8 | p[k];
	if (size == 4)
		return single((uint32_t)bits);
	if (size == 2)
		return t->dtype[0] == 'B' ? single((uint32_t)bits << 16) : half(bits);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

void
gv_tensor_shape(char *s, size_t len, const uint64_t *shape, size_t dims)
{
	size_t i, at = 0;

	snprintf(s, len, "one number");
	for (i = 0; i < dims && at < len; i++)
		at += (size_t)snprintf(s + at, len - at, "%s%llu", i > 0 ? " x " : "",
		    (unsigned long long)shape[i]);
}

/* ---- writing ---- */

static void
write_header(struct gv_strbuf *to, const struct gv_tensor *v, size_t n)
{
	struct gv_json j = {.out = gv_out_memory(to)};
	struct gv_error ignored = {0};
	int64_t at = 0;
	size_t i, k;

	gv_json_object(&j, true);
	gv_json_key(&j, "__metadata__");
	gv_json_object(&j, true);
	gv_json_key(&j, "format");
	gv_json_str(&j, "pt", 2);
	gv_json_end(&j);
	for (i = 0; i < n; i++) {
		gv_json_key(&j, v[i].name);
		gv_json_object(&j, true);
		gv_json_key(&j, "dtype");
		gv_json_str(&j, v[i].dtype, strlen(v[i].dtype));
		gv_json_key(&j, "shape");
		gv_json_array(&j, true);
		for (k = 0; k < v[i].dims; k++)
			gv_json_int(&j, (int64_t)v[i].shape[k]);
		gv_json_end(&j);
		gv_json_key(&j, "data_offsets");
		gv_json_array(&j, true);
		gv_json_int(&j, at);
		gv_json_int(&j, at += (int64_t)v[i].bytes);
		gv_json_end(&j);
		gv_json_end(&j);
	}
	gv_json_end(&j);
	gv_out_close(j.out, &ignored);
	while (to->len % LENGTH != 0)
		gv_strbuf_char(to, ' ');
}

int
gv_tensors_write(
    const char *path, const struct gv_tensor *v, size_t n, struct gv_error *e)
{
	struct gv_strbuf header = {0};
	unsigned char length[LENGTH];
	struct gv_out *out;
	size_t i;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	write_header(&header, v, n);
	for (i = 0; i < LENGTH; i++)
		length[i] = (unsigned char)((uint64_t)header.len >> 8 * i);
	gv_out_write(out, length, LENGTH);
	gv_out_write(out, header.s, header.len);
	gv_strbuf_free(&header);
	for (i = 0; i < n; i++)
		gv_out_write(out, v[i].data, v[i].bytes);
	return gv_out_close(out, e);
}
