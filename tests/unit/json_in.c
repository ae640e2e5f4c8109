/*
 * The JSON reader: what RFC 8259 allows comes out token by token, whatever pieces the
 * bytes come in; all else is an error with its line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/json_in.h"
#include "tap.h"

/* The tokens of a text in letters, texts behind = ; "!" and the message at an error. */
static void
read_all(const char *s, size_t len, size_t piece, char out[400])
{
	static const char letters[] = "!.{}[]ksntfN";
	struct gv_json_in *j = calloc(1, sizeof(*j));
	struct gv_error e = {0};
	struct gv_in *in;
	enum gv_json_token t;
	size_t n = 0;

	gv_in_memory(&in, "f", s, len, piece, &e);
	gv_json_in_start(j, in);
	do {
		t = gv_json_in_next(j, &e);
		out[n++] = letters[t];
		if (t == GV_JSON_KEY || t == GV_JSON_STRING || t == GV_JSON_NUMBER)
			n += (size_t)snprintf(out + n, 400 - n, "=%.40s ", j->text.s);
	} while (t != GV_JSON_ERROR && t != GV_JSON_END && n < 300);
	out[n] = '\0';
	if (t == GV_JSON_ERROR)
		snprintf(out + n, 400 - n, "%s%s", e.text[0],
		    e.count == 1 ? "" : ", and more");
	gv_json_in_free(j);
	free(j);
	gv_in_close(in);
}

static void
reads(const char *s, const char *want)
{
	char whole[400], pieces[400], q[GV_QUOTE_LEN];

	read_all(s, strlen(s), 0, whole);
	read_all(s, strlen(s), 1, pieces);
	is_str(whole, want, "%s", gv_quote(q, s, strlen(s)));
	is_str(pieces, whole, "byte by byte");
}

static void
texts_of_any_length(void)
{
	struct gv_json_in *j = calloc(1, sizeof(*j));
	size_t len = GV_JSON_IN_TEXT + 2, i;
	char *s = malloc(len + 1), out[400];
	struct gv_error e = {0};
	struct gv_in *in;

	memset(s, 'x', len);
	s[0] = s[len - 1] = '"';
	gv_in_memory(&in, "f", s, len, 0, &e);
	gv_json_in_start(j, in);
	ok(gv_json_in_next(j, &e) == GV_JSON_STRING && j->text.len == GV_JSON_IN_TEXT,
	    "a text of 1 MiB");
	gv_json_in_free(j);
	gv_in_close(in);
	s[len - 1] = 'x';
	s[len] = '"';
	read_all(s, len + 1, 0, out);
	is_str(out, "!f:1: not JSON: a string over 1 MiB", "and of more");
	for (i = 0; i < 65; i++)
		s[i] = '[';
	read_all(s, 65, 0, out);
	is_str(out + 64, "!f:1: not JSON: more than 64 levels", "too deep");
	free(s);
	free(j);
}

static void
skips(void)
{
	static const char s[] = "{\"a\": [1, {\"b\": [2]}, 3], \"c\": 4, \"d\": {}}";
	struct gv_json_in *j = calloc(1, sizeof(*j));
	struct gv_error e = {0};
	struct gv_in *in;

	gv_in_memory(&in, "f", s, sizeof(s) - 1, 0, &e);
	gv_json_in_start(j, in);
	ok(gv_json_in_next(j, &e) == GV_JSON_OBJECT &&
		gv_json_in_next(j, &e) == GV_JSON_KEY,
	    "a key");
	ok(gv_json_in_skip(j, gv_json_in_next(j, &e), &e) == 0 &&
		gv_json_in_next(j, &e) == GV_JSON_KEY && strcmp(j->text.s, "c") == 0,
	    "over an array");
	ok(gv_json_in_skip(j, gv_json_in_next(j, &e), &e) == 0 &&
		gv_json_in_next(j, &e) == GV_JSON_KEY,
	    "over a number");
	ok(gv_json_in_skip(j, gv_json_in_next(j, &e), &e) == 0 &&
		gv_json_in_next(j, &e) == GV_JSON_OBJECT_END &&
		gv_json_in_next(j, &e) == GV_JSON_END,
	    "over an empty object");
	gv_json_in_free(j);
	free(j);
	gv_in_close(in);
}

/* A document in gzip whose end is cut off: the text comes, then an error that is of the file. */
static void
cut_off(const char *text)
{
	unsigned char packed[200];
	char out[400];
	z_stream z = {.next_in = (Bytef *)(uintptr_t)text,
	    .avail_in = (uInt)strlen(text),
	    .next_out = packed,
	    .avail_out = sizeof(packed)};

	if (deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	read_all((const char *)packed, z.total_out - 8, 0, out);
	ok(strchr(out, '!') != NULL && strstr(out, "not JSON") == NULL &&
		strstr(out, "and more") == NULL,
	    "%s: %s", text, out);
	read_all((const char *)packed, z.total_out, 0, out);
	ok(strchr(out, '!') == NULL || strstr(out, "not JSON") != NULL, "whole: %s", out);
}

/* Memory that held something before. */
static void
starts_anew(void)
{
	struct gv_json_in *j = malloc(sizeof(*j));
	struct gv_error e = {0};
	struct gv_in *in;

	memset(j, 0xff, sizeof(*j));
	gv_in_memory(&in, "f", "[1]", 3, 0, &e);
	gv_json_in_start(j, in);
	ok(j->text.s != NULL && j->text.s[0] == '\0', "its text is one from the start");
	ok(gv_json_in_next(j, &e) == GV_JSON_ARRAY &&
		gv_json_in_next(j, &e) == GV_JSON_NUMBER &&
		gv_json_in_next(j, &e) == GV_JSON_ARRAY_END &&
		gv_json_in_next(j, &e) == GV_JSON_END,
	    "whatever there was before");
	gv_json_in_free(j);
	gv_in_close(in);
	free(j);
}

/* Words of as many letters as are read, and of one more. */
static void
long_words(void)
{
	char s[402], out[400];

	memset(s, '1', sizeof(s));
	read_all(s, 400, 0, out);
	ok(strncmp(out, "n=1", 3) == 0, "a number of 400 digits");
	read_all(s, 401, 0, out);
	is_str(out, "!f:1: not JSON: a word without an end", "and of more");
}

int
main(void)
{
	char nul[400];

	reads("[]", "[].");
	reads(" {} \n", "{}.");
	reads("\t\r\n[\r\n1\t]\r ", "[n=1 ].");
	reads("\r\r\n\n\tx", "!f:3: not JSON: a value was expected");
	reads("0", "n=0 .");
	reads("\"\"", "s= .");
	reads("[1, -0.5e+3, true, false, null, \"x\"]", "[n=1 n=-0.5e+3 tfNs=x ].");
	reads("{\"a\": {\"b\": []}, \"c\": 1}", "{k=a {k=b []}k=c n=1 }.");
	reads("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[s=\"\\/\b\f\n\r\t ].");
	reads("[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]",
	    "[s=A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ].");

	/* the first and the last of each length */
	reads("[\"\\u0001\\u007f\\u0080\\u07ff\\u0800\\ud7ff\"]",
	    "[s=\x01\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf ].");
	reads("[\"\\ue000\\uffff\\ud800\\udc00\\uDBFF\\uDFFF\"]",
	    "[s=\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf ].");
	reads("[1e5, 1E05, 10e-5, 0e+0, -0, 1.50e1, 2]",
	    "[n=1e5 n=1E05 n=10e-5 n=0e+0 n=-0 n=1.50e1 n=2 ].");

	reads("", "!f:1: not JSON: the end was not expected here");
	reads("[1\n,\n2", "[n=1 n=2 !f:3: not JSON: the end was not expected here");
	reads("[] []", "[]!f:1: not JSON: something behind the document");
	reads("[1,]", "[n=1 !f:1: not JSON: an end that does not belong here");
	reads("[,1]", "[!f:1: not JSON: a value was expected");
	reads("[1 2]", "[n=1 !f:1: not JSON: a comma was expected");
	reads("{\"a\" 1}", "{!f:1: not JSON: a colon was expected");
	reads("{\"a\":}", "{k=a !f:1: not JSON: an end that does not belong here");
	reads("{1: 2}", "{!f:1: not JSON: a key was expected");
	reads("{\"a\": 1,}", "{k=a n=1 !f:1: not JSON: an end that does not belong here");
	reads("{\"a\": 1]", "{k=a n=1 !f:1: not JSON: an end that does not belong here");
	reads("]", "!f:1: not JSON: an end that does not belong here");
	reads("01", "!f:1: not JSON: a value was expected");
	reads("-", "!f:1: not JSON: a value was expected");
	reads("+1", "!f:1: not JSON: a value was expected");
	reads("1.", "!f:1: not JSON: a value was expected");
	reads("nul", "!f:1: not JSON: a value was expected");
	reads("\"a", "!f:1: not JSON: a string without its end");
	reads("\"\\x\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\u12g4\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\u0000\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\ud83dx\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\ud83d\\n\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\ude00\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\ud800\\udbff\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\ud800\\ue000\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\udfff\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\udc00\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\x1f\"", "!f:1: not JSON: a control byte in a string");
	reads("\" \x7f\"", "s= \x7f .");
	reads("1e", "!f:1: not JSON: a value was expected");
	reads("1e+", "!f:1: not JSON: a value was expected");
	reads("1e5x", "!f:1: not JSON: a value was expected");
	read_all("\"\\\0\"", 4, 0, nul);
	is_str(nul, "!f:1: not JSON: an escape that there is not", "a byte 0 is none");
	reads("\"a\nb\"", "!f:1: not JSON: a control byte in a string");
	reads("\"\\udc00\\udc00\"", "!f:1: not JSON: an escape that there is not");
	reads("\"\\udbff\"", "!f:1: not JSON: an escape that there is not");
	cut_off("[]");
	cut_off("[] ");
	cut_off("1");
	cut_off("{\"a\"");
	cut_off("{\"a\": [1");
	cut_off("[");
	cut_off("[1,");
	cut_off("\"a");
	cut_off("\"\\");
	cut_off("\"\\u12");
	cut_off("[tru");
	starts_anew();
	long_words();
	texts_of_any_length();
	skips();
	return done_testing();
}
