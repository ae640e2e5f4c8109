/* common/base/fileio: a file is replaced whole or not at all, and its neighbours. */
#define _DEFAULT_SOURCE /* setrlimit, mkdtemp */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dirent.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Plain stdio, so that what is tested does not test itself. */
static void
put_file(const char *path, const char *s)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(s, f) == EOF || fclose(f) != 0)
		abort();
}

static bool
file_is(const char *path, const char *s)
{
	char buf[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	if (f == NULL)
		return false;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	fclose(f);
	return strcmp(buf, s) == 0;
}

static int
entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_mode : 0;
}

/* ---- replacing a file ---- */

static void
test_replace(void)
{
	struct gv_error e = {0};
	struct gv_out *out;

	umask(027);
	ok(gv_out_open(&out, "new", &e) == 0, "open a new file");
	gv_out_str(out, "new\n");
	gv_out_flush(out);
	ok(access("new", F_OK) != 0, "it is not there before the end");
	ok(gv_out_close(out, &e) == 0 && file_is("new", "new\n"), "but then");
	is_int(mode_of("new") & 07777, 0640, "with the mode of the umask");

	put_file("old", "old\n");
	chmod("old", 0604);
	ok(gv_out_open(&out, "old", &e) == 0, "open an old file");
	gv_out_fmt(out, "%d%c", 12, '\n');
	gv_out_flush(out);
	ok(file_is("old", "old\n"), "it stays until the end");
	ok(gv_out_close(out, &e) == 0 && file_is("old", "12\n"), "and is replaced");
	is_int(mode_of("old") & 07777, 0604, "with its mode");

	ok(gv_out_open(&out, "old", &e) == 0, "once more");
	gv_out_str(out, "never\n");
	gv_out_discard(out);
	ok(file_is("old", "12\n"), "discarded: the old file stays");
	ok(gv_out_open(&out, "old", &e) == 0, "once more");
	gv_out_discard_all();
	is_int(entries("."), 2, "nothing else is left");
	gv_out_discard(NULL);

	mkdir("sub", 0755);
	put_file("sub/target", "t\n");
	ok(symlink("sub/target", "link") == 0, "a symbolic link");
	ok(gv_file_write("link", "through\n", 8, &e) == 0, "write to it");
	ok(S_ISLNK(mode_of("link")), "it stays a link");
	ok(file_is("sub/target", "through\n"), "its target is replaced");
	is_int(entries("sub"), 1, "nothing else is left there");

	ok(gv_out_open(&out, "/dev/null", &e) == 0, "a device");
	gv_out_str(out, "x");
	ok(gv_out_close(out, &e) == 0 && S_ISCHR(mode_of("/dev/null")),
	    "is written, not replaced");
	is_int(e.count, 0, "no errors so far");
	is_int(gv_out_open(&out, "sub", &e), -1, "a directory");
	is_str(e.text[0], "sub: is a directory", "message");
	is_int(gv_out_open(&out, "none/x", &e), -1, "in a directory that is not there");
	is_str(e.text[1], "none/x: cannot create: No such file or directory", "message");
	ok(out == NULL, "no output then");
	ok(gv_out_open(&out, "/dev/full", &e) == 0, "a full device");
	gv_out_str(out, "x");
	is_int(gv_out_close(out, &e), -1, "fails when closed");
	is_str(e.text[2], "/dev/full: cannot write: No space left on device", "message");
}

/* A program that holds back signals goes on doing so. */
static void
test_mask(void)
{
	struct gv_error e = {0};
	struct gv_out *out;
	sigset_t held, now;

	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, NULL);
	ok(gv_out_open(&out, "masked", &e) == 0 && gv_out_close(out, &e) == 0 &&
		gv_out_open(&out, "masked", &e) == 0,
	    "files while SIGTERM is held back");
	gv_out_discard(out);
	sigprocmask(SIG_UNBLOCK, &held, &now);
	ok(sigismember(&now, SIGTERM) && !sigismember(&now, SIGINT),
	    "it still is, SIGINT is not");
	unlink("masked");
}

/* A write that fails in the middle: what each kind of output leaves behind. */
static void
test_failing_write(const char *path)
{
	struct rlimit all, little = {4096, 4096};
	struct gv_error e = {0};
	struct gv_out *out;
	char want[100];
	unsigned i;

	getrlimit(RLIMIT_FSIZE, &all);
	little.rlim_max = all.rlim_max;
	put_file(path, "old\n");
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &little);
	ok(gv_out_open(&out, path, &e) == 0, "%s: open", path);
	for (i = 0; i < 100000; i++)
		gv_out_fmt(out, "%u,", i * 2654435761u);
	is_int(gv_out_flush(out), -1, "%s: flush tells", path);
	is_int(gv_out_close(out, &e), -1, "%s: close tells", path);
	setrlimit(RLIMIT_FSIZE, &all);
	signal(SIGXFSZ, SIG_DFL);
	snprintf(want, sizeof(want), "%s: cannot write: File too large", path);
	is_str(e.text[0], want, "%s: message", path);
	ok(file_is(path, "old\n"), "%s: the old file stays", path);
	unlink(path);
}

/* A signal while a file is being written. */
static void
test_signal(int sig)
{
	struct gv_error e = {0};
	struct gv_out *out;
	int before = entries(".");
	int status;
	pid_t pid;

	put_file("old", "old\n");
	before = entries(".");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (gv_out_open(&out, "old", &e) != 0)
			_exit(1);
		gv_out_str(out, "half");
		gv_out_flush(out);
		if (entries(".") != before + 1)
			_exit(2);
		raise(sig);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == sig, "signal %d ends the program",
	    sig);
	ok(file_is("old", "old\n"), "signal %d: the old file stays", sig);
	is_int(entries("."), before, "signal %d: no temporary file stays", sig);
}

static void
test_gzip(void)
{
	struct gv_error e = {0};
	struct gv_out *out;
	struct gv_in *in;
	char *s, *big = gv_xcalloc(300000, 1);
	char head[2] = {0};
	size_t len, i;
	ssize_t r;
	FILE *f;

	for (i = 0; i < 300000; i++)
		big[i] = (char)(i * i >> 7);
	ok(gv_out_open(&out, "x.gz", &e) == 0, "a name in .gz");
	gv_out_write(out, big, 100000);
	gv_out_flush(out);
	gv_out_write(out, big + 100000, 200000);
	ok(gv_out_close(out, &e) == 0, "close");
	f = fopen("x.gz", "r");
	ok(fread(head, 1, 2, f) == 2 && memcmp(head, "\x1f\x8b", 2) == 0, "is gzip");
	fclose(f);
	ok(gv_file_read("x.gz", &s, &len, 300000, &e) == 0, "and read");
	ok(len == 300000 && memcmp(s, big, len) == 0, "as what was written");
	free(s);
	ok(gv_file_read("x.gz", &s, &len, 299999, &e) == -1 && s == NULL,
	    "the limit is of the inflated bytes");
	is_str(e.text[0], "x.gz: larger than 299999 bytes", "message");

	ok(gv_out_open(&out, "e.gz", &e) == 0 && gv_out_close(out, &e) == 0,
	    "an empty one");
	ok(gv_file_read("e.gz", &s, &len, 10, &e) == 0 && len == 0, "is read as empty");
	free(s);

	/* two bytes of which only the first is gzip's */
	ok(gv_in_memory(&in, "m", "\x1f", 1, 0, &e) == 0 &&
		gv_in_read(in, head, 2, &e) == 1,
	    "one byte 1f is text");
	gv_in_close(in);
	ok(gv_in_memory(&in, "m", "\x1f\x8c", 2, 1, &e) == 0, "so are 1f 8c");
	ok(gv_in_read(in, head, 1, &e) == 1 && gv_in_read(in, head, 2, &e) == 1 &&
		gv_in_read(in, head, 2, &e) == 0 && gv_in_read(in, head, 2, &e) == 0,
	    "read byte by byte to the end");
	gv_in_close(in);
	gv_error_clear(&e);
	ok(gv_in_memory(&in, "m", "\x1f\x8b\x08\xff", 4, 1, &e) == 0, "1f 8b is gzip");
	while ((r = gv_in_read(in, head, 1, &e)) > 0)
		;
	ok(r == -1 && strcmp(e.text[0], "m: bad gzip data") == 0, "or an error");
	gv_in_close(in);
	free(big);
}

/* ---- small files ---- */

static void
test_files(void)
{
	struct gv_error e = {0};
	char *s;
	size_t len;

	put_file("five", "12345");
	ok(gv_file_read("five", &s, &len, 5, &e) == 0 && len == 5 &&
		strcmp(s, "12345") == 0,
	    "a file as large as the limit");
	free(s);
	is_int(gv_file_read("five", &s, &len, 4, &e), -1, "a larger one");
	is_str(e.text[0], "five: larger than 4 bytes", "message");
	ok(s == NULL, "gives nothing");
	is_int(gv_file_read("nothing", &s, &len, 4, &e), -1, "a missing one");
	is_str(e.text[1], "nothing: cannot open: No such file or directory", "message");
	is_int(gv_file_read(".", &s, &len, 4, &e), -1, "a directory");
	is_str(e.text[2], ".: is a directory", "message");
	put_file("empty", "");
	ok(gv_file_read("empty", &s, &len, 0, &e) == 0 && len == 0 && s[0] == '\0',
	    "an empty one");
	free(s);

	ok(gv_file_write("w", "a\0b", 3, &e) == 0, "write");
	ok(gv_file_read("w", &s, &len, 9, &e) == 0 && len == 3 &&
		memcmp(s, "a\0b", 4) == 0,
	    "and read, NUL and all");
	free(s);

	gv_error_clear(&e);
	is_int(gv_file_write("no/w", "a", 1, &e), -1, "into a folder that is not there");
	is_str(e.text[0], "no/w: cannot create: No such file or directory", "message");
	is_int(gv_mkdirs("", &e), -1, "a folder without a name");
	is_str(e.text[1], ": cannot make the directory: No such file or directory",
	    "message");
	gv_error_clear(&e);

	ok(gv_mkdirs("d/e//f/", &e) == 0 && S_ISDIR(mode_of("d/e/f")), "mkdir -p");
	ok(gv_mkdirs("d/e/f", &e) == 0 && gv_mkdirs("/", &e) == 0, "of what is there");
	is_int(gv_mkdirs("five/x", &e), -1, "below a file");
	is_str(e.text[0], "five: cannot make the directory: File exists", "message");
	is_int(gv_mkdirs("d/e/f/../../../five", &e), -1, "a file is no directory");
	ok(gv_sync_dir("d", &e) == 0, "sync a directory");
	is_int(gv_sync_dir("nothing", &e), -1, "a missing one");
	is_str(e.text[2], "nothing: cannot sync: No such file or directory", "message");
}

static void
test_remove_tree(void)
{
	struct gv_error e = {0};
	char path[400] = "deep";
	int i;

	gv_mkdirs("keep/inside", &e);
	put_file("keep/inside/file", "kept\n");
	gv_mkdirs("tree/a/b", &e);
	put_file("tree/a/b/file", "x");
	put_file("tree/file", "x");
	ok(symlink("../keep", "tree/link") == 0 &&
		symlink("nowhere", "tree/a/dangling") == 0,
	    "links in the tree");
	chmod("tree/a/b/file", 0);
	ok(gv_remove_tree("tree", &e) == 0 && mode_of("tree") == 0,
	    "the tree is removed");
	ok(file_is("keep/inside/file", "kept\n"), "what a link points to is not");
	ok(gv_remove_tree("tree", &e) == 0, "once more is no error");
	ok(symlink("keep", "link2") == 0 && gv_remove_tree("link2", &e) == 0 &&
		mode_of("link2") == 0 && file_is("keep/inside/file", "kept\n"),
	    "a link instead of a tree is removed itself");
	put_file("alone", "x");
	ok(gv_remove_tree("alone", &e) == 0 && mode_of("alone") == 0, "so is a file");
	for (i = 0; i < 70; i++)
		strcat(path, "/d");
	gv_mkdirs(path, &e);
	is_int(e.count, 0, "no errors so far");
	is_int(gv_remove_tree("deep", &e), -1, "70 levels are refused");
	ok(strstr(e.text[0], ": directories nested too deeply to remove") != NULL,
	    "message");
	strcpy(path, "deep/d/d/d/d/d/d/d/d/d/d");
	ok(gv_remove_tree(path, &e) == 0 && gv_remove_tree("deep", &e) == 0,
	    "in two steps");
	if (geteuid() == 0) {
		skip("root may remove from any directory");
		return;
	}
	gv_mkdirs("locked/x", &e);
	chmod("locked", 0555);
	gv_error_clear(&e);
	is_int(gv_remove_tree("locked", &e), -1, "a directory that may not be written");
	is_str(e.text[0], "locked/x: cannot remove: Permission denied", "message");
	chmod("locked", 0755);
}

static void
test_memory(void)
{
	struct gv_strbuf s = {0};
	struct gv_error e = {0};
	struct gv_out *out = gv_out_memory(&s);
	char *word = gv_xcalloc(200001, 1);
	int i;

	memset(word, 'w', 200000);
	for (i = 0; i < 65536; i++)
		gv_out_char(out, 'c');
	gv_out_char(out, 'd');
	gv_out_str(out, word);
	gv_out_fmt(out, "<%s>", word);
	is_int(gv_out_close(out, &e), 0, "an output in memory");
	is_int(s.len, 65537 + 200000 + 200002, "has all bytes");
	ok(s.s[65535] == 'c' && s.s[65536] == 'd' && s.s[65537] == 'w' &&
		s.s[265537] == '<' && s.s[s.len - 1] == '>',
	    "in their places");
	gv_strbuf_free(&s);
	free(word);
	fflush(stdout);
	if (fork() == 0) {
		close(STDERR_FILENO);
		gv_init("x");
		gv_strbuf_fmt(&s, "%ls", L"\x7fffffff"); /* "cannot format a string" */
		_exit(0);
	}
	wait(&i);
	ok(WIFEXITED(i) && WEXITSTATUS(i) == 2,
	    "a string that printf refuses ends the program");
	setenv("GV_DATA", "/somewhere", 1);
	is_str(gv_data_dir(), "/somewhere", "GV_DATA");
	setenv("GV_DATA", "", 1);
	ok(gv_data_dir()[0] == '/' && strcmp(gv_data_dir(), "/somewhere") != 0,
	    "or its default");
}

static int
descriptors(void)
{
	return entries("/proc/self/fd");
}

/* A descriptor that was given stays open, one that was opened does not. */
static void
test_descriptors(void)
{
	static const char *const path[] = {"/dev/null", "new", "new.gz"};
	struct gv_error e = {0};
	int before = descriptors(), fd = open("/dev/null", O_WRONLY), discards;
	size_t i;

	for (discards = 0; discards < 2; discards++) {
		struct gv_out *out = gv_out_fd(fd, "it");

		gv_out_str(out, "x");
		if (discards)
			gv_out_discard(out);
		else
			gv_out_close(out, &e);
		ok(fcntl(fd, F_GETFD) != -1, "given: %s", discards ? "left" : "closed");
		for (i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
			gv_out_open(&out, path[i], &e);
			gv_out_str(out, "x");
			if (discards)
				gv_out_discard(out);
			else
				gv_out_close(out, &e);
			is_int(descriptors(), before + 1, "opened: %s, %s", path[i],
			    discards ? "left" : "closed");
		}
	}
	close(fd);
	unlink("new");
	unlink("new.gz");
}

int
main(void)
{
	const char *tmp = getenv("TMPDIR");
	char dir[200];
	struct gv_error e = {0};
	int open_before;

	snprintf(dir, sizeof(dir), "%s/gv-fileio.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(dir) == NULL || chdir(dir) != 0)
		return 2;
	open_before = descriptors();
	test_replace();
	test_mask();
	test_failing_write("plain");
	test_failing_write("packed.gz");
	test_signal(SIGTERM);
	test_signal(SIGINT);
	test_signal(SIGHUP);
	test_gzip();
	test_files();
	test_remove_tree();
	test_memory();
	test_descriptors();
	is_int(descriptors(), open_before, "no descriptor is left open");
	ok(gv_remove_tree(dir, &e) == 0, "the scratch directory is removed");
	return done_testing();
}
