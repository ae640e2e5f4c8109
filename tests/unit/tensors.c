/*
 * Files of tensors: what is refused and how it is said; numbers of every kind; a net's
 * parameters written, read into another net, and the same.
 */
#include "nn_help.h"

#include <stdint.h>
#include <unistd.h>

#include "base/fileio.h"
#include "nn/tensors.h"
#include "nn/weights_file.h"

static char *
file_of(const char *header, const void *data, size_t n, size_t *len)
{
	size_t h = strlen(header), i;
	char *s = calloc(8 + h + n + 1, 1);

	for (i = 0; i < 8; i++)
		s[i] = (char)(unsigned char)(h >> 8 * i);
	memcpy(s + 8, header, h);
	memcpy(s + 8 + h, data, n);
	*len = 8 + h + n;
	return s;
}

static void
refused(const char *header, size_t bytes, const char *why)
{
	unsigned char data[64] = {0};
	struct gv_error e = {0};
	struct gv_tensors t;
	size_t len;
	char *s = file_of(header, data, bytes, &len);

	ok(gv_tensors_parse(&t, s, len, "x", &e) == -1 && e.count == 1, "refused: %s",
	    header);
	is_str(e.text[0], why, "says so");
}

#define NOT "x: not a safetensors file: "
#define A(type, shape, place)                                                            \
	"{\"a\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" place "}" \
	"}"

static void
test_refused(void)
{
	struct gv_error e = {0};
	struct gv_tensors t;
	char *s = calloc(16, 1);

	ok(gv_tensors_parse(&t, s, 7, "x", &e) == -1, "seven bytes");
	is_str(e.text[0], NOT "it ends in its header", "says so");
	s = calloc(16, 1);
	memset(s, 255, 8);
	gv_error_clear(&e);
	ok(gv_tensors_parse(&t, s, 16, "x", &e) == -1, "a header of 2^64 bytes");
	is_str(e.text[0], NOT "it ends in its header", "says so");
	refused("", 0, NOT "its header is no JSON object");
	refused(" {}", 0, NOT "its header is no JSON object");
	refused("{} x", 0, "x:1: not JSON: something behind the document");
	refused("{\"a\":3}", 0, NOT "its header is of another form");
	refused("{\"a\":{}}", 0, NOT "tensor \"a\" lacks dtype, shape or data_offsets");
	refused(
	    "{\"a\":{\"size\":3}}", 0, NOT "tensor \"a\" has a key that is not known");
	refused(A("F31", "[1]", "[0,4]"), 4, NOT "tensor \"a\" is of an unknown type");
	refused(
	    A("F32", "[-1]", "[0,4]"), 4, NOT "its header has a number that is no size");
	refused(
	    A("F32", "[1.5]", "[0,4]"), 4, NOT "its header has a number that is no size");
	refused(A("F32", "[\"1\"]", "[0,4]"), 4,
	    NOT "tensor \"a\" has a shape of other than numbers");
	refused(A("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4,
	    NOT "tensor \"a\" has more than 8 dimensions");
	refused(A("F32", "{}", "[0,4]"), 4, NOT "its header is of another form");
	refused(A("F32", "[1,x]", "[0,4]"), 4, "x:1: not JSON: a value was expected");
	refused(A("F32", "[1]", "[0]"), 4, NOT "its header is of another form");
	refused(A("F32", "[1]", "[0,4,4]"), 4, NOT "its header is of another form");
	refused(
	    A("F32", "[1]", "[0,-4]"), 4, NOT "its header has a number that is no size");
	refused(
	    A("F32", "[1]", "[-4,0]"), 4, NOT "its header has a number that is no size");
	refused("{\"a\":{\"dtype\":3}}", 0, NOT "its header is of another form");
	refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4,
	    NOT "tensor \"a\" lacks dtype, shape or data_offsets");
	refused("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4,
	    NOT "tensor \"a\" lacks dtype, shape or data_offsets");
	refused("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
	    NOT "tensor \"a\" lacks dtype, shape or data_offsets");
	refused(A("F32", "[1]", "[4,8]"), 4, NOT "tensor \"a\" is not within the file");
	refused(A("F32", "[1]", "[4,0]"), 4, NOT "tensor \"a\" is not within the file");
	refused(A("F32", "[2]", "[0,4]"), 4,
	    NOT "tensor \"a\" has other bytes than its shape asks for");
	refused(A("F32", "[4294967296,4294967296]", "[0,0]"), 0,
	    NOT "tensor \"a\" has other bytes than its shape asks for");
	refused(A("F32", "[1]", "[0,4]"), 5, NOT "bytes behind its last tensor");
	refused(A("F32", "[1]", "[4,8]"), 8, NOT "tensor \"a\" leaves a gap before it");
	refused("{\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
		"\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
	    4, NOT "tensor \"a\" overlaps another one");
	refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
		"\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
	    4, NOT "tensor \"a\" is there more than once");
}

static void
test_numbers(void)
{
	static const unsigned char data[] = {0, 0, 0xc0, 0xbf,    /* F32 -1.5 */
	    0, 0, 0, 0, 0, 0, 4, 0x40,                            /* F64 2.5 */
	    0, 0x3c, 1, 0, 0, 0xfc, 0xff, 0x7b, 0, 0x84, 1, 0x7c, /* F16 */
	    0x80, 0x3f, 0x49, 0xc0 /* BF16 1, -3.140625 */};
	static const char header[] =
	    "{\"__metadata__\":{\"a\":\"b\"},"
	    "\"bf\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[24,28]},"
	    "\"f\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
	    "\"d\\u00e9\":{\"dtype\":\"F64\",\"shape\":[1,1],\"data_offsets\":[4,12]},"
	    "\"h\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[12,24]}}  ";
	struct gv_error e = {0};
	struct gv_tensors t;
	const struct gv_tensor *v;
	char shape[40];
	size_t len;
	char *s = file_of(header, data, sizeof(data), &len);

	ok(gv_tensors_parse(&t, s, len, "x", &e) == 0, "a file of four tensors");
	is_int(t.n, 4, "are four");
	ok((v = gv_tensors_find(&t, "f")) != NULL && gv_tensor_number(v, 0) == -1.5,
	    "F32");
	gv_tensor_shape(shape, sizeof(shape), v->shape, v->dims);
	is_str(shape, "one number", "without dimensions");
	ok((v = gv_tensors_find(&t, "d\303\251")) != NULL &&
		gv_tensor_number(v, 0) == 2.5,
	    "F64, by a name with an escape");
	v = gv_tensors_find(&t, "h");
	gv_tensor_shape(shape, sizeof(shape), v->shape, v->dims);
	is_str(shape, "2 x 3", "a shape");
	ok(gv_tensor_number(v, 0) == 1 && gv_tensor_number(v, 1) == 0x1p-24 &&
		gv_tensor_number(v, 2) == -INFINITY && gv_tensor_number(v, 3) == 65504 &&
		gv_tensor_number(v, 4) == -0x1p-14 && isnan(gv_tensor_number(v, 5)),
	    "F16: 1, the least, infinity, the largest, the least normal, none");
	v = gv_tensors_find(&t, "bf");
	ok(gv_tensor_number(v, 0) == 1 && gv_tensor_number(v, 1) == -3.140625, "BF16");
	ok(gv_tensors_find(&t, "g") == NULL, "no tensor of another name");
	gv_tensors_free(&t);
}

/* Three of each of the format's types take the bytes that its name says, no more and no less. */
static void
test_types(void)
{
	static const char *const type[] = {"F64", "F32", "F16", "BF16", "I64", "I32",
	    "I16", "I8", "U64", "U32", "U16", "U8", "BOOL", "F8_E4M3", "F8_E5M2"};
	static const unsigned char data[32];
	size_t i, wrong = 0;

	for (i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		const char *digits = type[i] + strcspn(type[i], "0123456789");
		int bytes = *digits == '\0' ? 1 : atoi(digits) / 8, n;

		for (n = 3 * bytes - 1; n <= 3 * bytes + 1; n++) {
			struct gv_error e = {0};
			struct gv_tensors t;
			char header[200];
			size_t len;
			bool taken;
			char *s;

			snprintf(
			    header, sizeof(header), A("%s", "[3]", "[0,%d]"), type[i], n);
			s = file_of(header, data, (size_t)n, &len);
			taken = gv_tensors_parse(&t, s, len, "x", &e) == 0;
			wrong += taken != (n == 3 * bytes);
			if (taken)
				gv_tensors_free(&t);
		}
	}
	is_int(wrong, 0, "as many bytes as a type has");
}

/* What is said last of one tensor holds; one of nothing comes before another at its place. */
static void
test_order(void)
{
	static const char header[] =
	    "{\"b\":{\"shape\":[7,7],\"dtype\":\"U8\",\"data_offsets\":[2,4],"
	    "\"shape\":[2]},"
	    "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
	    "\"d\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[2,2]},"
	    "\"c\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[2,2]}}";
	struct gv_error e = {0};
	struct gv_tensors t;
	size_t len, i;
	char *s = file_of(header, "wxyz", 4, &len), names[5] = "";

	ok(gv_tensors_parse(&t, s, len, "x", &e) == 0, "tensors in another order");
	for (i = 0; i < t.n; i++)
		names[i] = t.v[i].name[0];
	is_str(names, "acdb", "are by place, length and name");
	is_int(t.v[3].dims, 1, "a shape that is said again is one");
	is_int(t.v[2].n, 0, "none of 3 x 0");
	gv_tensors_free(&t);
	ok(t.n == 0 && t.v == NULL && t.raw == NULL, "freed, nothing is left");
}

static void
test_real(void)
{
	static const char *const type[] = {"F64", "F32", "F16", "BF16", "I64", "F8_E4M3"};
	struct gv_tensor t = {0};
	size_t i;

	for (i = 0; i < 6; i++) {
		strcpy(t.dtype, type[i]);
		is_int(gv_tensor_is_real(&t), i < 4, "%s: numbers or not", type[i]);
	}
}

/* A shape that does not fit is cut, and nothing is written behind it. */
static void
test_shapes(void)
{
	static const uint64_t shape[] = {10, 256, 3};
	static const char whole[] = "10 x 256 x 3";
	char s[20];
	size_t len;

	for (len = 1; len <= sizeof(whole); len++) {
		memset(s, '#', sizeof(s));
		gv_tensor_shape(s, len, shape, 3);
		ok(strlen(s) == len - 1 && memcmp(s, whole, len - 1) == 0 &&
			s[len] == '#',
		    "%zu bytes of a shape", len);
	}
}

/* A written file is, byte for byte, what the format says, and is read as it was written. */
static void
test_written(void)
{
	static const char header[] =
	    "{\"__metadata__\": {\"format\": \"pt\"}, "
	    "\"a\": {\"dtype\": \"U8\", \"shape\": [3], \"data_offsets\": [0, 3]}, "
	    "\"b\": {\"dtype\": \"U8\", \"shape\": [], \"data_offsets\": [3, 4]}, "
	    "\"none\": {\"dtype\": \"F32\", \"shape\": [2, 0], \"data_offsets\": [4, "
	    "4]}, "
	    "\"of another name\": {\"dtype\": \"I16\", \"shape\": [1, 2], "
	    "\"data_offsets\": [4, 8]}}\n";
	static const unsigned char data[] = "abcdefgh";
	struct gv_tensor v[] = {{.name = (char *)(uintptr_t) "a",
				    .dtype = "U8",
				    .dims = 1,
				    .shape = {3},
				    .data = data,
				    .bytes = 3},
	    {.name = (char *)(uintptr_t) "b",
		.dtype = "U8",
		.data = data + 3,
		.bytes = 1},
	    {.name = (char *)(uintptr_t) "none",
		.dtype = "F32",
		.dims = 2,
		.shape = {2, 0},
		.data = data},
	    {.name = (char *)(uintptr_t) "of another name",
		.dtype = "I16",
		.dims = 2,
		.shape = {1, 2},
		.data = data + 4,
		.bytes = 4}};
	char path[] = "/tmp/gv-tensors.XXXXXX";
	struct gv_error e = {0};
	struct gv_tensors t;
	size_t h = (strlen(header) + 7) / 8 * 8, i;

	close(mkstemp(path));
	ok(gv_tensors_write(path, v, 4, &e) == 0 && gv_tensors_read(&t, path, &e) == 0,
	    "written and read");
	is_int(t.raw_len, 8 + h + 8, "no longer than needed, a header of whole words");
	for (i = 0; i < 8; i++)
		if ((unsigned char)t.raw[i] != (h >> 8 * i & 255))
			break;
	is_int(i, 8, "its length, the least byte first");
	ok(memcmp(t.raw + 8, header, strlen(header)) == 0, "its header");
	for (i = strlen(header); i < h && t.raw[8 + i] == ' '; i++)
		;
	is_int(i, h, "filled up by blanks");
	ok(memcmp(t.raw + 8 + h, data, 8) == 0, "its numbers");
	is_int(t.n, 4, "all tensors");
	gv_tensors_free(&t);
	unlink(path);
	ok(gv_tensors_read(&t, path, &e) == -1 && e.count == 1, "no file");
	ok(t.n == 0 && t.v == NULL && t.raw == NULL, "has nothing to free");
	ok(gv_tensors_write("/nowhere/x", v, 4, &e) == -1 && e.count == 2, "no folder");
	gv_error_clear(&e);
}

int
main(void)
{
	test_refused();
	test_order();
	test_real();
	test_shapes();
	test_written();
	test_types();
	test_numbers();
	return done_testing();
}
