/* common/data: samples from files, byte by byte, and what is no such file; sentences. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/data.h"

static char path[2][40];

static void
put(int file, const void *s, size_t n)
{
	FILE *f = fopen(path[file], "wb");

	if (f == NULL || fwrite(s, 1, n, f) != n || fclose(f) != 0)
		exit(1);
}

/* What an error says behind the name of its file. */
static const char *
said(const struct gv_error *e)
{
	const char *colon = e->count > 0 ? strchr(e->text[0], ':') : NULL;

	return colon != NULL ? colon + 1 : "";
}

/* ---- IDX ---- */

/* Images from these bytes with labels from those. */
static int
read_idx(struct gv_data *d, const char *images, size_t n, const char *labels, size_t m,
    struct gv_error *e)
{
	*d = (struct gv_data){0};
	*e = (struct gv_error){0};
	put(0, images, n);
	put(1, labels, m);
	return gv_data_idx(d, path[0], path[1], e);
}

static const char two_labels[] = "\0\0\10\1\0\0\0\2\7\377";

static void
idx_shape(const char *head, size_t n, size_t h, size_t w, size_t c, const char *name)
{
	char image[64] = {0};
	struct gv_error e;
	struct gv_data d;
	size_t i, bad = 0;

	memcpy(image, head, n);
	for (i = 0; i < 2 * h * w * c; i++)
		image[n + i] = (char)(250 + i);
	ok(read_idx(&d, image, n + 2 * h * w * c, two_labels, 10, &e) == 0, "%s", name);
	ok(d.n == 2 && d.h == h && d.w == w && d.c == c && d.size == h * w * c,
	    "their shape");
	for (i = 0; i < 2 * d.size; i++)
		bad += d.x[i] != (float)((250 + i) % 256);
	ok(bad == 0 && d.y[0] == 7 && d.y[1] == 255 && d.low == 0 && d.high == 255,
	    "their values and labels");
	gv_data_free(&d);
}

static void
idx_fails(const char *image, size_t n, const char *labels, size_t m, const char *want)
{
	struct gv_error e;
	struct gv_data d;

	ok(read_idx(&d, image, n, labels, m, &e) == -1, "no images");
	ok(strncmp(said(&e), want, strlen(want)) == 0, "%s", want);
	gv_data_free(&d);
}

static void
test_idx(void)
{
	static const char good[] = "\0\0\10\2\0\0\0\2\0\0\0\1ab";

	idx_shape("\0\0\10\2\0\0\0\2\0\0\0\3", 12, 1, 1, 3, "rows");
	idx_shape("\0\0\10\3\0\0\0\2\0\0\0\3\0\0\0\2", 16, 3, 2, 1, "images");
	idx_shape("\0\0\10\4\0\0\0\2\0\0\0\3\0\0\0\2\0\0\0\2", 20, 3, 2, 2, "in colours");
	idx_fails(good, 13, two_labels, 10, " ends after 1 of 2 values");
	idx_fails(good, 12, two_labels, 10, " ends after 0 of 2 values");
	idx_fails(good, 15, two_labels, 10, " more than the 2 values of its header");
	idx_fails(good, 11, two_labels, 10, " ends in its header");
	idx_fails(good, 3, two_labels, 10, " not an IDX file");
	idx_fails("", 0, two_labels, 10, " not an IDX file");
	idx_fails("\1\0\10\2", 4, two_labels, 10, " not an IDX file");
	idx_fails("\0\1\10\2", 4, two_labels, 10, " not an IDX file");
	idx_fails("\0\0\11\2", 4, two_labels, 10,
	    " expected IDX type 8 (unsigned byte), got 9");
	idx_fails("\0\0\10\0", 4, two_labels, 10, " expected 1 to 4 dimensions, got 0");
	idx_fails("\0\0\10\5", 4, two_labels, 10, " expected 1 to 4 dimensions, got 5");
	idx_fails("\0\0\10\2\0\0\0\2\0\0\0\0", 12, two_labels, 10,
	    " dimension 2 of size 0 cannot be read");
	idx_fails("\0\0\10\2\377\377\377\377\0\0\0\2", 12, two_labels, 10,
	    " dimension 2 of size 2 cannot be read");
	idx_fails("\0\0\10\2\377\377\377\377\0\0\0\1", 12, two_labels, 10,
	    " ends after 0 of 4294967295 values");
	idx_fails("\0\0\10\2\1\2\3\4\0\0\0\1", 12, two_labels, 10,
	    " ends after 0 of 16909060 values");
	idx_fails("\0\0\10\1\0\0\0\2ab", 10, two_labels, 10,
	    " expected images (2 to 4 dimensions), got 1");
	idx_fails(good, 14, good, 14, " expected labels (1 dimension), got 2");
	idx_fails(good, 14, "\0\0\10\1\0\0\0\1a", 9, " 1 labels for 2 images of");
}

/* Many values, which are read in pieces. */
static void
test_pieces(void)
{
	enum { N = 65536 + 3 };
	char *image = gv_xcalloc(12 + N, 1), *labels = gv_xcalloc(8 + N, 1);
	struct gv_error e;
	struct gv_data d;
	size_t i, bad = 0;

	memcpy(image, "\0\0\10\2\0\1\0\3\0\0\0\1", 12);
	memcpy(labels, "\0\0\10\1\0\1\0\3", 8);
	for (i = 0; i < N; i++) {
		image[12 + i] = (char)(i * 7 % 251);
		labels[8 + i] = (char)(i % 10);
	}
	ok(read_idx(&d, image, 12 + N, labels, 8 + N, &e) == 0 && d.n == N, "many");
	for (i = 0; i < N; i++)
		bad += d.x[i] != (float)(i * 7 % 251) || d.y[i] != (int)(i % 10);
	is_int(bad, 0, "each as it is");
	gv_data_free(&d);
	free(image);
	free(labels);
}

/* ---- tables ---- */

static int
read_table(struct gv_data *d, const char *s, bool numbers, struct gv_error *e)
{
	*d = (struct gv_data){0};
	*e = (struct gv_error){0};
	put(0, s, strlen(s));
	return gv_data_table(d, path[0], "label", numbers, e);
}

static void
table_fails(const char *s, const char *want)
{
	struct gv_error e;
	struct gv_data d;

	ok(read_table(&d, s, false, &e) == -1, "no samples");
	is_str(said(&e), want, "%s", want);
	gv_data_free(&d);
}

static void
test_table(void)
{
	struct gv_error e;
	struct gv_data d;

	ok(read_table(&d, "a,label,b\n1,0,-2\n4,1048575,8\n", false, &e) == 0, "a table");
	ok(d.n == 2 && d.c == 2 && d.size == 2 && d.h == 1 && d.w == 1, "of two columns");
	ok(d.x[0] == 1 && d.x[1] == -2 && d.x[2] == 4 && d.x[3] == 8, "its features");
	ok(d.y[0] == 0 && d.y[1] == 1048575 && d.t == NULL, "its labels");
	ok(d.low == -2 && d.high == 8, "and their range");
	gv_data_free(&d);
	ok(read_table(&d, "label,b\n-1.5,3\n", true, &e) == 0 && d.t[0] == -1.5f &&
		d.y == NULL && d.n == 1 && d.low == 3 && d.high == 3,
	    "numbers for labels");
	gv_data_free(&d);
	ok(read_table(&d, "label,b\n0,3.4e38\n", false, &e) == 0, "a large number");
	gv_data_free(&d);
	table_fails("label,b\n0,3.5e38\n", "2: b: 3.5e+38 does not fit a 32-bit float");
	table_fails("label,b\n0,-3.5e38\n", "2: b: -3.5e+38 does not fit a 32-bit float");
	table_fails("label,b\n0,1\n1048576,1\n",
	    "3: label: expected a label from 0 to 1048575, got 1048576");
	table_fails("label,b\n-1,1\n0,1\n",
	    "2: label: expected a label from 0 to 1048575, got -1");
	table_fails("label,b\n0,x\n", "2: b: expected a number, got \"x\"");
	table_fails("label\n0\n", " no columns beside \"label\"");
	table_fails("label,b\n", " a table without rows");
	ok(read_table(&d, "label,b\n0,x\n1\n2,y\n", false, &e) == -1, "bad rows");
	is_int(e.count, 3, "each is told");
	gv_data_free(&d);
	ok(read_table(&d, "", false, &e) == -1, "an empty file");
	gv_data_free(&d);
}

/* ---- tokens ---- */

static int
read_tokens(struct gv_data *d, const void *s, size_t n, size_t width, int64_t context,
    struct gv_error *e)
{
	struct gv_data_spec spec = {.text = "t", .context = context};

	*d = (struct gv_data){0};
	*e = (struct gv_error){0};
	put(0, s, n);
	return gv_data_tokens(d, &spec, path[0], width, e);
}

static void
tokens_fail(const void *s, size_t n, size_t width, const char *want)
{
	struct gv_error e;
	struct gv_data d;

	ok(read_tokens(&d, s, n, width, 2, &e) == -1, "no tokens");
	is_str(said(&e), want, "%s", want);
	gv_data_free(&d);
}

static void
test_windows(void)
{
	struct gv_error e;
	struct gv_data d;

	ok(read_tokens(&d, "abcdef", 6, 1, 2, &e) == 0, "bytes are tokens");
	ok(d.n == 2 && d.h == 2 && d.size == 2 && d.targets == 2 && d.w == 1 && d.c == 1,
	    "two in a sample");
	ok(d.x[0] == 'a' && d.x[3] == 'd' && d.y[0] == 'b' && d.y[3] == 'e',
	    "and those behind");
	ok(d.classes == 256 && d.high == 256, "of as many as there are bytes");
	gv_data_free(&d);
	ok(read_tokens(&d, "abc", 3, 1, 2, &e) == 0 && d.n == 1 && d.y[1] == 'c', "one");
	gv_data_free(&d);
	tokens_fail("ab", 2, 1,
	    " 2 tokens, at least 3 are needed: a sample and the token behind it");
	ok(read_tokens(&d, "\1\2\0\0\377\0", 6, 2, 2, &e) == 0, "of two bytes");
	ok(d.classes == 514 && d.x[0] == 513 && d.x[1] == 0 && d.y[1] == 255,
	    "the low one first");
	gv_data_free(&d);
	ok(read_tokens(&d, "\0\0\0\0\377\377\377\0\1\0\0\0", 12, 4, 2, &e) == 0 &&
		d.classes == 1 << 24 && d.y[0] == (1 << 24) - 1,
	    "of four bytes");
	gv_data_free(&d);
	tokens_fail("\0\0\0\0\0\0\0\1\1\0\0\0", 12, 4,
	    " byte 4: token 16777216 is over 16777215");
	tokens_fail("abcdefg", 7, 2, " byte 6: ends within a token of 2 bytes");
}

/* More than is read at once. */
static void
test_many_tokens(void)
{
	enum { N = 3 * 65536 + 7 };
	unsigned char *s = gv_xcalloc(N, 1);
	struct gv_error e;
	struct gv_data d;
	size_t i, bad = 0;

	for (i = 0; i < N; i++)
		s[i] = (unsigned char)(i * i % 251);
	ok(read_tokens(&d, s, N, 1, 1, &e) == 0 && d.n == N - 1, "many tokens");
	for (i = 0; i < d.n; i++)
		bad += d.x[i] != s[i] || d.y[i] != s[i + 1];
	is_int((long long)bad, 0, "each as it is");
	gv_data_free(&d);
	free(s);
}

/* llm.c's header, then tokens of so many bytes each. */
static size_t
with_header(unsigned char *b, uint32_t magic, uint32_t version, uint32_t n, size_t width)
{
	const uint32_t head[3] = {magic, version, n};
	size_t i;

	memset(b, 0, 1024 + 4 * 8);
	for (i = 0; i < 12; i++)
		b[i] = (unsigned char)(head[i / 4] >> 8 * (i % 4));
	for (i = 0; i < 4; i++)
		b[1024 + i * width] = (unsigned char)(i + 1);
	return 1024 + 4 * width;
}

static void
test_header(void)
{
	unsigned char b[1024 + 4 * 8];
	struct gv_error e;
	struct gv_data d;
	size_t n;

	n = with_header(b, 20240520, 1, 4, 2);
	ok(read_tokens(&d, b, n, 2, 3, &e) == 0 && d.n == 1 && d.x[0] == 1 &&
		d.y[2] == 4 && d.classes == 5,
	    "behind a header");
	gv_data_free(&d);
	n = with_header(b, 20240801, 7, 4, 4);
	ok(read_tokens(&d, b, n, 2, 3, &e) == 0 && d.n == 1 && d.x[1] == 2 &&
		d.classes == 5,
	    "which says that they are wider");
	gv_data_free(&d);
	n = with_header(b, 20240521, 1, 4, 2);
	ok(read_tokens(&d, b, n, 2, 3, &e) == 0 && d.n == (n / 2 - 1) / 3, "no header");
	gv_data_free(&d);
	n = with_header(b, 20240520, 1, 0, 2);
	ok(read_tokens(&d, b, 1022, 2, 3, &e) == 0 && d.n == 510 / 3,
	    "too short for one");
	gv_data_free(&d);
	n = with_header(b, 20240520, 7, 4, 2);
	tokens_fail(b, n, 2, " byte 4: version 7 of llm.c's token files is not known");
	n = with_header(b, 20240801, 1, 4, 4);
	tokens_fail(b, n, 2, " byte 4: version 1 of llm.c's token files is not known");
	n = with_header(b, 20240520, 1, 5, 2);
	tokens_fail(b, n, 2, " byte 8: 5 tokens, but 8 bytes of them");
	n = with_header(b, 20240520, 1, 0, 2);
	tokens_fail(b, 1024, 2,
	    " 0 tokens, at least 3 are needed: a sample and the token behind it");
}

/* ---- sentences ---- */

/* The text of so many sentences. */
static char *
sentences(size_t n, uint64_t seed)
{
	struct gv_data_spec spec = {.text = "s", .context = 1};
	struct gv_error e = {0};
	struct gv_data d = {0};
	char *s;
	size_t i;

	if (gv_data_sentences(&d, &spec, n, seed, &e) != 0)
		return gv_xcalloc(1, 1);
	s = gv_xcalloc(d.n + 2, 1);
	for (i = 0; i < d.n; i++) {
		s[i] = (char)d.x[i];
		s[i + 1] = (char)d.y[i];
	}
	gv_data_free(&d);
	return s;
}

static void
test_sentences(void)
{
	char *many = sentences(3000, 1), *few = sentences(40, 1), *p;
	uint32_t hash = 2166136261u;

	ok(strncmp(many, few, strlen(few)) == 0, "more sentences begin as fewer do");
	few[strcspn(few, "\n") + 1] = '\0';
	is_str(
	    few, "clara says that two young rivers find three old dogs.\n", "the first");
	for (p = many; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	is_int(hash, 3845902236u, "the same text on every machine");
	free(few);
	few = sentences(40, 2);
	ok(strncmp(many, few, strlen(few)) != 0, "another seed, another text");
	free(few);
	free(many);
}

int
main(void)
{
	char dir[] = "/tmp/gv-data.XXXXXX";
	int i;

	if (mkdtemp(dir) == NULL)
		return 1;
	for (i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%d", dir, i);
	test_idx();
	test_pieces();
	test_table();
	test_windows();
	test_many_tokens();
	test_header();
	test_sentences();
	for (i = 0; i < 2; i++)
		unlink(path[i]);
	rmdir(dir);
	return done_testing();
}
