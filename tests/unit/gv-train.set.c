/*
 * The file that names the slices of a pipeline's checkpoint: written and read, what is damaged
 * refused and said, what is left over removed and nothing else.
 */
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-train/pipeline/set.h"

static char dir[] = "/tmp/gv-set-XXXXXX";
static char path[64];

static const char *
in_dir(const char *name)
{
	static char s[100];

	snprintf(s, sizeof(s), "%s/%s", dir, name);
	return s;
}

static void
put(const char *name, const char *text, size_t len)
{
	struct gv_error e = {0};

	if (gv_file_write(in_dir(name), text, len, &e) != 0)
		gv_die_error(&e);
}

static bool
is_there(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

/* Writes the set's file: these lines and their checksum, then more. */
static void
put_set(const char *lines, const char *more)
{
	struct gv_strbuf s = {0};

	gv_strbuf_str(&s, lines);
	gv_strbuf_fmt(&s, "end %08lx\n%s",
	    (unsigned long)crc32(0, (const Bytef *)lines, (uInt)strlen(lines)), more);
	put(SET_FILE, s.s, s.len);
	gv_strbuf_free(&s);
}

/* ---- reading ---- */

static void
is_set(const struct set *s, uint64_t step, const char *want)
{
	struct gv_strbuf is = {0};
	size_t i;

	for (i = 0; i < s->n; i++)
		gv_strbuf_fmt(&is, "%zu-%zu %s %s", s->slice[i].first, s->slice[i].last,
		    s->slice[i].path + (strncmp(s->slice[i].path, dir, strlen(dir)) == 0
					       ? strlen(dir) + 1
					       : 0),
		    s->slice[i].own);
	is_str(is.s == NULL ? "" : is.s, want, "its slices");
	is_int((long long)s->step, (long long)step, "of that step");
	gv_strbuf_free(&is);
}

static void
test_written(void)
{
	static const char text[] = "gvset 1\nstep 40\nslice 0 4 gv-train.40.0.ckpt\n"
				   "slice 4 7 gv-train.40.4.ckpt\n";
	struct set s = {.step = 40}, again;
	struct gv_error e = {0};
	struct stat st;
	char *is, want[200];
	size_t len;

	set_add(&s, dir, 0, 4);
	set_add(&s, dir, 4, 7);
	is_int(set_write(&s, dir, &e), 0, "written");
	snprintf(want, sizeof(want), "%send %08lx\n", text,
	    (unsigned long)crc32(0, (const Bytef *)text, sizeof(text) - 1));
	ok(gv_file_read(path, &is, &len, 1 << 20, &e) == 0 && len == strlen(want) &&
		memcmp(is, want, len) == 0,
	    "as it is said");
	free(is);
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "its owner's alone");
	is_int(set_read(&again, dir, &e), 1, "read");
	is_set(&again, 40,
	    "0-4 gv-train.40.0.ckpt rows 0 4\n4-7 gv-train.40.4.ckpt rows 4 7\n");
	set_free(&again);
	ok(again.n == 0 && again.slice == NULL, "freed");
	set_free(&s);
	is_int(set_write(&again, "/nowhere", &e), -1, "nowhere to write");
	is_int((long long)e.count, 1, "is told");
	gv_error_clear(&e);
}

static void
test_read(void)
{
	struct set s;
	struct gv_error e = {0};
	char want[200];

	put_set("gvset 1\nslice 0 1 a\nstep 0\n", "something behind\n");
	is_int(set_load(&s, path, &e), 1, "one row of one slice, in any order");
	is_set(&s, 0, "0-1 a rows 0 1\n");
	set_free(&s);
	put_set("gvset 1\nslice 0 12 a\nslice 12 103 b\n", "");
	is_int(set_load(&s, path, &e), 1, "many rows, no step");
	is_set(&s, 0, "0-12 a rows 0 12\n12-103 b rows 12 103\n");
	set_free(&s);
	ok(s.step == 0 && s.n == 0 && s.slice == NULL, "freed");
	put_set("gvset 1\nslice 0 1 a\nstep 0\n", "");
	ok(chdir(dir) == 0 && set_load(&s, SET_FILE, &e) == 1, "a path without a slash");
	is_set(&s, 0, "0-1 ./a rows 0 1\n");
	set_free(&s);
	ok(chdir("/") == 0, "away again");
	ok(set_is(path), "it begins as one");
	unlink(path);
	is_int(set_read(&s, dir, &e), 0, "there is none");
	is_int((long long)e.count, 0, "which is no error");
	ok(s.step == 0 && s.n == 0 && s.slice == NULL, "and nothing to free");
	is_int(set_load(&s, path, &e), -1, "one that is asked for");
	snprintf(want, sizeof(want), "%s: cannot open: No such file or directory", path);
	is_str(e.text[0], want, "is an error");
	gv_error_clear(&e);
	put("file", "x", 1);
	is_int(set_read(&s, in_dir("file"), &e), -1, "a file is no directory");
	snprintf(want, sizeof(want), "%s/file/%s: cannot open: Not a directory", dir,
	    SET_FILE);
	is_str(e.text[0], want, "says so");
	gv_error_clear(&e);
	ok(!set_is(in_dir("file")), "a letter is no set");
	ok(!set_is(in_dir("none")), "nor is what is not there");
	ok(!set_is(dir), "nor a directory");
	put("file", "gvset 2\nabc", 11);
	ok(!set_is(in_dir("file")), "nor another version");
	unlink(in_dir("file"));
}

/* ---- damage ---- */

static void
refused(const char *what)
{
	struct set s;
	struct gv_error e = {0};
	char want[200];

	ok(set_read(&s, dir, &e) == -1 && e.count == 1 && s.n == 0 && s.slice == NULL,
	    "refused");
	snprintf(want, sizeof(want), "%s: not a whole set of slices: %s", path, what);
	is_str(e.text[0], want, "%s", what);
}

static void
test_damaged(void)
{
	static const char *const step[] = {"", "x", "-1", "1 ", "1x"};
	static const char *const slice[] = {"slice", "slice 0 4", "slice 0 4 ",
	    "slice 0 4 a/b", "slice 4 4 a", "slice 0 0 a", "slice 1 4 a", "slice a 4 x",
	    "slice 0 a x", "slice 0  4 a", "slice -0 4 a", "slice 0 4\ta", "slices 0 4 a",
	    "slice 0 99999999999999999999 a", "", "# 1", "end", "end ", "end x"};
	char text[200];
	size_t i;

	put(SET_FILE, "", 0);
	refused("it does not start with \"gvset 1\"");
	put(SET_FILE, "gvset 1", 7);
	refused("it does not start with \"gvset 1\"");
	put_set("gvset 2\nstep 1\nslice 0 4 a\n", "");
	refused("it does not start with \"gvset 1\"");
	put_set("gvset 1\nstep 1\n", "");
	refused("it ends too early");
	put(SET_FILE, "gvset 1\nstep 1\nslice 0 4 a\n", 27);
	refused("it ends too early");
	put(SET_FILE, "gvset 1\nstep 1\nslice 0 4 a\nend 1", 32);
	refused("it ends too early");
	put(SET_FILE, "gvset 1\nstep 1\nslice 0 4 a\nend 1\n", 33);
	refused("its checksum is wrong");
	put(SET_FILE, "gvset 1\nstep 1\n\0slice 0 4 a\n", 28);
	refused("it holds zeros");
	for (i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		snprintf(text, sizeof(text), "gvset 1\nstep %s\nslice 0 4 a\n", step[i]);
		put_set(text, "");
		refused("a step that is no number");
	}
	for (i = 0; i < sizeof(slice) / sizeof(slice[0]); i++) {
		snprintf(text, sizeof(text), "gvset 1\nstep 1\n%s\n", slice[i]);
		put_set(text, "");
		refused("a line that is no slice");
	}
	put_set("gvset 1\nstep 1\nslice 0 4 a\nslice 5 6 b\n", "");
	refused("a line that is no slice");
	unlink(path);
	mkdir(path, 0700);
	refused("it is no regular file");
	rmdir(path);
}

/* ---- left-overs ---- */

static const char *const names[] = {"gv-train.40.0.ckpt", "gv-train.40.4.ckpt",
    "gv-train.40.5.ckpt", "gv-train.39.0.ckpt", "gv-train.41.0.ckpt", "gv-train.ckpt",
    "gv-train.39.ckpt", "gv-train.39.x.ckpt", "gv-train.x.0.ckpt", "gv-train.39.0.ckp",
    "gv-train.set", "gv-train.set.AbCdEf", "gv-train.set2", "other.39.0.ckpt",
    "gv-train.39.0.ckpt.old", "gv-train.39.a.ckpt"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* Removes what is left over; what is still there, a letter each: x is not. */
static void
sweep(const struct set *s, bool all, const char *want)
{
	char is[NAMES + 1] = "";
	size_t i;

	for (i = 0; i < NAMES; i++)
		put(names[i], "x", 1);
	set_sweep(s, dir, all);
	for (i = 0; i < NAMES; i++) {
		is[i] = is_there(names[i]) ? (char)('a' + (int)i) : '-';
		unlink(in_dir(names[i]));
	}
	is_str(is, want, "%s", all ? "of any step" : "of steps before");
}

static void
test_sweep(void)
{
	struct set s = {.step = 40}, none = {0};

	set_add(&s, dir, 0, 4);
	set_add(&s, dir, 4, 7);
	sweep(&s, false, "abc-efghijklmn-p");
	sweep(&s, true, "ab---fghijk-mn-p");
	sweep(&none, false, "abcdefghijklmnop");
	sweep(&none, true, "-----fghijk-mn-p");
	set_sweep(&s, "/nowhere", true);
	ok(true, "a directory that is not there is left alone");
	set_free(&s);
}

int
main(void)
{
	gv_init("gv-train.set");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("cannot make %s", dir);
	snprintf(path, sizeof(path), "%s/%s", dir, SET_FILE);
	test_written();
	test_read();
	test_damaged();
	test_sweep();
	is_int(rmdir(dir), 0, "nothing is left");
	return done_testing();
}
