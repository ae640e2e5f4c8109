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

	ok(gv_tensors_parse(&t, s, len, "x", &e) == -1, "refused: %s", header);
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

int
main(void)
{
	test_refused();
	test_types();
	test_numbers();
	return done_testing();
}
