#include "set.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"

static const char MAGIC[] = "gvset 1\n";

/* ---- slices ---- */

static void
add(struct set *s, char *path, size_t first, size_t last)
{
	struct gv_strbuf own = {0};

	gv_strbuf_fmt(&own, "rows %zu %zu\n", first, last);
	s->slice = gv_xrealloc(s->slice, s->n + 1, sizeof(*s->slice));
	s->slice[s->n++] = (struct gv_ckpt_slice){path, first, last, own.s};
}

void
set_add(struct set *s, const char *dir, size_t first, size_t last)
{
	struct gv_strbuf path = {0};

	gv_strbuf_fmt(&path, "%s/" SET_SLICE "%" PRIu64 ".%zu.ckpt", dir, s->step, first);
	add(s, path.s, first, last);
}

void
set_free(struct set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free((char *)(uintptr_t)s->slice[i].path);
		free((char *)(uintptr_t)s->slice[i].own);
	}
	free(s->slice);
	*s = (struct set){0};
}

/* ---- the file ---- */

static int
damaged(const char *path, const char *what, struct gv_error *e)
{
	return gv_error_set(e, "%s: not a whole set of slices: %s", path, what);
}

/* The next line of *p, without its line feed; NULL: there is none. */
static char *
next_line(char **p)
{
	char *line = *p, *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = '\0';
	*p = end + 1;
	return line;
}

/* Behind the word, or behind the number that s begins with; NULL: there is none, or no s. */
static const char *
after(const char *s, const char *word)
{
	return s != NULL && strncmp(s, word, strlen(word)) == 0 ? s + strlen(word) : NULL;
}

static const char *
number(const char *s, int base, uint64_t *v)
{
	char *end;

	*v = 0;
	if (s == NULL || !isxdigit((unsigned char)*s))
		return NULL;
	errno = 0;
	*v = strtoull(s, &end, base);
	return errno == 0 && end > s ? end : NULL;
}

static int
parse_slice(struct set *s, const char *dir, const char *line)
{
	uint64_t first, last;
	struct gv_strbuf path = {0};
	const char *name = after(line, "slice ");

	name = after(number(name, 10, &first), " ");
	name = after(number(name, 10, &last), " ");
	if (name == NULL || first >= last ||
	    first != (s->n > 0 ? s->slice[s->n - 1].last : 0) ||
	    strchr(name, '/') != NULL || *name == '\0')
		return -1;
	gv_strbuf_fmt(&path, "%s/%s", dir, name);
	add(s, path.s, first, last);
	return 0;
}

static int
parse(struct set *s, const char *dir, const char *path, char *text, struct gv_error *e)
{
	uLong crc = crc32(0, NULL, 0);
	char *p = text, *line, *from = text;
	uint64_t want = 0;

	if (strncmp(text, MAGIC, sizeof(MAGIC) - 1) != 0)
		return damaged(path, "it does not start with \"gvset 1\"", e);
	next_line(&p);
	while ((line = next_line(&p)) != NULL) {
		if (number(after(line, "end "), 16, &want) != NULL)
			break;
		if (strncmp(line, "step ", 5) == 0) {
			int64_t step;

			if (gv_parse_int(line + 5, strlen(line + 5), &step) != 0 ||
			    step < 0)
				return damaged(path, "a step that is no number", e);
			s->step = (uint64_t)step;
		} else if (parse_slice(s, dir, line) != 0) {
			return damaged(path, "a line that is no slice", e);
		}
	}
	if (line == NULL || s->n == 0)
		return damaged(path, "it ends too early", e);
	for (p = from; p < line; p++)
		if (*p == '\0')
			*p = '\n';
	crc = crc32_z(crc, (const Bytef *)from, (size_t)(line - from));
	return crc == want ? 0 : damaged(path, "its checksum is wrong", e);
}

/* What is read is a file: a FIFO would be waited for. */
static bool
is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

bool
set_is(const char *path)
{
	struct gv_error ignored = {0};
	char start[sizeof(MAGIC) - 1];
	struct gv_in *in;
	bool is;

	if (!is_regular(path) || gv_in_open(&in, path, &ignored) != 0)
		return false;
	is = gv_in_read(in, start, sizeof(start), &ignored) == (ssize_t)sizeof(start) &&
	     memcmp(start, MAGIC, sizeof(start)) == 0;
	gv_in_close(in);
	return is;
}

int
set_load(struct set *s, const char *path, struct gv_error *e)
{
	const char *slash = strrchr(path, '/');
	char *dir, *text;
	size_t len;
	int status;

	*s = (struct set){0};
	if (!is_regular(path))
		return damaged(path, "it is no regular file", e);
	if (gv_file_read(path, &text, &len, 1 << 26, e) != 0)
		return -1;
	text = gv_xrealloc(text, len + 1, 1);
	text[len] = '\0';
	dir = slash == NULL ? gv_xstrdup(".") : gv_xstrndup(path, (size_t)(slash - path));
	status = strlen(text) != len ? damaged(path, "it holds zeros", e)
				     : parse(s, dir, path, text, e);
	free(dir);
	free(text);
	if (status != 0)
		set_free(s);
	return status == 0 ? 1 : -1;
}

static char *
path_of(const char *dir, const char *name)
{
	struct gv_strbuf path = {0};

	gv_strbuf_fmt(&path, "%s/%s", dir, name);
	return path.s;
}

int
set_read(struct set *s, const char *dir, struct gv_error *e)
{
	char *path = path_of(dir, SET_FILE);
	struct stat st;
	int status = 0;

	*s = (struct set){0};
	if (stat(path, &st) == 0)
		status = set_load(s, path, e);
	else if (errno != ENOENT)
		status = gv_error_sys(e, "%s: cannot open", path);
	free(path);
	return status;
}

int
set_write(const struct set *s, const char *dir, struct gv_error *e)
{
	char *path = path_of(dir, SET_FILE);
	struct gv_strbuf text = {0};
	struct gv_out *out;
	size_t i;
	int status = -1;

	gv_strbuf_fmt(&text, "%sstep %" PRIu64 "\n", MAGIC, s->step);
	for (i = 0; i < s->n; i++)
		gv_strbuf_fmt(&text, "slice %zu %zu %s\n", s->slice[i].first,
		    s->slice[i].last, strrchr(s->slice[i].path, '/') + 1);
	gv_strbuf_fmt(&text, "end %08lx\n",
	    (unsigned long)crc32_z(crc32(0, NULL, 0), (const Bytef *)text.s, text.len));
	if (gv_out_open(&out, path, e) == 0) {
		gv_out_private(out);
		gv_out_str(out, text.s);
		status = gv_out_close(out, e);
	}
	if (status == 0)
		status = gv_sync_dir(dir, e);
	gv_strbuf_free(&text);
	free(path);
	return status;
}

/* ---- left-overs ---- */

static bool
is_of(const struct set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(strrchr(s->slice[i].path, '/') + 1, name) == 0)
			return true;
	return false;
}

void
set_sweep(const struct set *s, const char *dir, bool all)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		const char *name = entry->d_name;
		const char *rest = after(name, SET_SLICE);
		uint64_t step, row;

		if (strncmp(name, SET_FILE ".", sizeof(SET_FILE)) == 0 && all)
			unlinkat(dirfd(d), name, 0);
		else if ((rest = after(number(rest, 10, &step), ".")) != NULL &&
			 after(number(rest, 10, &row), ".ckpt") != NULL &&
			 !is_of(s, name) && (all || step < s->step))
			unlinkat(dirfd(d), entry->d_name, 0);
	}
	if (d != NULL)
		closedir(d);
}
