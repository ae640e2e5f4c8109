/*
 * replay [-n N] DIRECTORY: runs the fuzz target it is linked with over every file
 * of the directory, as libFuzzer would, over N variants of each, which are the same every
 * time, and over each cut short at up to 256 places; prints how many files.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

/* Exactly as long as the file, so that sanitizers see its end. */
static uint8_t *
load(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *s;

	if (f == NULL || fstat(fileno(f), &st) != 0)
		gv_die_sys("%s", path);
	*len = (size_t)st.st_size;
	s = gv_xrealloc(NULL, *len, 1);
	if (fread(s, 1, *len, f) != *len)
		gv_die_sys("%s", path);
	fclose(f);
	return s;
}

enum { CUTS = 256, SHORT = 16 };

struct input {
	uint8_t *s;
	size_t len;
};

static uint64_t drawn;

static size_t
draw(size_t n)
{
	return (size_t)(gv_random_uniform(11, 0, 0, drawn++) * (double)n);
}

/* Puts what[0..n) in the place of in->s[at..at + removed). */
static void
replace(struct input *in, size_t at, size_t removed, const void *what, size_t n)
{
	uint8_t *s = gv_xrealloc(NULL, in->len - removed + n + 1, 1);

	if (at > 0)
		memcpy(s, in->s, at);
	if (n > 0)
		memcpy(s + at, what, n);
	if (in->len > at + removed)
		memcpy(s + at + n, in->s + at + removed, in->len - at - removed);
	free(in->s);
	*in = (struct input){s, in->len - removed + n};
}

/* One change: bytes that mean something to a format, a piece less, or one of another input. */
static void
change(struct input *in, const struct input *other)
{
	static const char *const token[] = {",", "\t", "\n", "\n\n", "\r", "\r\n", "\"",
	    "\"\"", "\\", "\\n", "{", "}", "[", "]", ":", "0", "1", "9", "-", ".", "e9",
	    "a", " ", "\xef\xbb\xbf", "\x80", "nan", ""};
	size_t at = draw(in->len + 1), from = draw(other->len + 1);
	size_t most = in->len - at < 16 ? in->len - at : 16;
	const char *t = token[draw(sizeof(token) / sizeof(token[0]))];

	switch (draw(4)) {
	case 0:
		replace(in, at, 0, t, *t == '\0' ? 1 : strlen(t));
		break;
	case 1:
		replace(in, at, most < 1 ? 0 : 1, t, *t == '\0' ? 1 : strlen(t));
		break;
	case 2:
		replace(in, at, draw(most + 1), NULL, 0);
		break;
	default:
		replace(in, at, draw(most + 1), other->s + from,
		    draw((other->len - from < 64 ? other->len - from : 64) + 1));
	}
}

/* Exactly as long as it is, so that sanitizers see its end. */
static void
try_variant(const struct input *in, const struct input *other)
{
	struct input v = {0};
	size_t n = 1 + draw(4);

	replace(&v, 0, 0, in->s, in->len);
	while (n-- > 0)
		change(&v, other);
	v.s = gv_xrealloc(v.s, v.len, 1);
	LLVMFuzzerTestOneInput(v.s, v.len);
	free(v.s);
}

/* Its beginnings, short ones and evenly spread: whoever reads must see that it ends. */
static void
try_cuts(const struct input *in)
{
	size_t step = in->len / CUTS + 1;
	size_t len;

	for (len = 0; len < in->len; len += len < SHORT ? 1 : step) {
		uint8_t *s = gv_xrealloc(NULL, len, 1);

		if (len > 0)
			memcpy(s, in->s, len);
		LLVMFuzzerTestOneInput(s, len);
		free(s);
	}
}

/* The files of a directory in the order of their names. */
static size_t
load_all(const char *directory, struct input **out)
{
	struct dirent **entry;
	int i, found = scandir(directory, &entry, NULL, alphasort);
	size_t n = 0;

	if (found < 0)
		gv_die_sys("%s", directory);
	*out = gv_xcalloc((size_t)found, sizeof(**out));
	for (i = 0; i < found; i++) {
		char path[4096];

		if (entry[i]->d_name[0] != '.') {
			snprintf(
			    path, sizeof(path), "%s/%s", directory, entry[i]->d_name);
			(*out)[n].s = load(path, &(*out)[n].len);
			n++;
		}
		free(entry[i]);
	}
	free(entry);
	return n;
}

int
main(int argc, char **argv)
{
	bool has_n = argc == 4 && strcmp(argv[1], "-n") == 0;
	size_t variants = has_n ? strtoul(argv[2], NULL, 10) : 0;
	struct input *in;
	size_t i, k, n;

	gv_init("replay");
	if (argc != 2 && !has_n)
		gv_die("usage: replay [-n N] DIRECTORY");
	n = load_all(argv[argc - 1], &in);
	for (i = 0; i < n; i++) {
		LLVMFuzzerTestOneInput(in[i].s, in[i].len);
		for (k = 0; k < variants; k++)
			try_variant(&in[i], &in[draw(n)]);
		if (variants > 0)
			try_cuts(&in[i]);
	}
	for (i = 0; i < n; i++)
		free(in[i].s);
	free(in);
	printf("%zu inputs\n", n);
	return n > 0 ? 0 : 1;
}
