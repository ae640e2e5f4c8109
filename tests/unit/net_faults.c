/*
 * common/net: members that are late, silent, lost or a sum behind, and systems that
 * have no more to give: what is said, and that no wrong sum comes of it.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "net_help.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "net/frame.h"
#include "net/hello.h"

/* ---- calls that fail ---- */

int fail_poll; /* the errno of poll; 0 = it works (glibc has poll inline: not static) */
static bool fail_random; /* there is no /dev/urandom */

int
poll(struct pollfd *fd, nfds_t n, int ms)
{
	int (*real)(struct pollfd *, nfds_t, int);
	void *p = dlsym(RTLD_NEXT, "poll");

	memcpy(&real, &p, sizeof(p));
	if (fail_poll != 0) {
		errno = fail_poll;
		return -1;
	}
	return real(fd, n, ms);
}

int gv_entropy(void *buf, size_t n);
int
gv_entropy(void *buf, size_t n)
{
	memset(buf, 'r', n);
	errno = ENOENT;
	return fail_random ? -1 : 0;
}

static bool fail_thread;

int
pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	void *p = dlsym(RTLD_NEXT, "pthread_create");

	memcpy(&real, &p, sizeof(p));
	return fail_thread ? EAGAIN : real(t, a, f, arg);
}

static int fail_reserve; /* the errno of reserving memory */
static bool fail_memfd, fail_open;

int
posix_fallocate(int fd, off_t from, off_t n)
{
	int (*real)(int, off_t, off_t);
	void *p = dlsym(RTLD_NEXT, "posix_fallocate");

	memcpy(&real, &p, sizeof(p));
	return fail_reserve != 0 ? fail_reserve : real(fd, from, n);
}

int
memfd_create(const char *name, unsigned flags)
{
	int (*real)(const char *, unsigned);
	void *p = dlsym(RTLD_NEXT, "memfd_create");

	memcpy(&real, &p, sizeof(p));
	errno = ENOSYS;
	return fail_memfd ? -1 : real(name, flags);
}

/* Another process's descriptors are not ours to open. */
static int
open_own(const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...);
	void *p = dlsym(RTLD_NEXT, "open");

	memcpy(&real, &p, sizeof(p));
	errno = EACCES;
	return fail_open && strstr(path, "/fd/") != NULL ? -1 : real(path, flags, mode);
}

int
open(const char *path, int flags, ...)
{
	return open_own(path, flags, 0600);
}

/* ---- a rank 0 of our own ---- */

/*
 * Lets a member in, and tells it of another one; then it waits, or leaves soon for a third,
 * gone (0: it stays).
 */
static void
rank_0(int listener, int world, int rank, const struct gv_member *other, int gone)
{
	static const struct gv_member here = {4000, "127.0.0.1"};
	unsigned char c[GV_CHALLENGE_LEN], h[GV_HELLO_LEN], a[GV_ANSWER_LEN];
	unsigned char roster[4 * GV_MEMBER_LEN] = {0}, nonce[GV_NONCE_LEN] = "nonce";
	struct gv_answer yes = {GV_WELCOME, (uint32_t)world};
	size_t n = (size_t)world * GV_MEMBER_LEN;
	struct gv_net_frame last_words = {
	    GV_FRAME_MAGIC, GV_ABORT, {0, GV_BLAME_GONE}, 0, 0, 0};
	struct gv_error e = {0};
	struct gv_hello hello;
	char addr[GV_SOCK_ADDR];
	int fd, i;

	if (gv_sock_accept(&fd, listener, gv_clock_s() + 5, addr, &e) != 0)
		_exit(1);
	gv_challenge_write(c, nonce);
	gv_sock_exchange(fd, c, sizeof(c), h, sizeof(h), 5, "", &e);
	gv_hello_read(&hello, h, c, "abc");
	for (i = 1; i < world; i++)
		gv_member_write(roster + (size_t)i * GV_MEMBER_LEN, &here);
	gv_member_write(roster + (size_t)rank * GV_MEMBER_LEN, other);
	gv_answer_write(a, &yes, roster, hello.nonce, "abc");
	gv_sock_exchange(fd, a, sizeof(a), NULL, 0, 5, "", &e);
	gv_sock_exchange(fd, roster, n, NULL, 0, 5, "", &e);
	while (gone == 0)
		pause();
	last_words.tag.slot = (uint32_t)gone;
	gv_sleep_s(.4);
	gv_sock_exchange(fd, &last_words, sizeof(last_words), NULL, 0, 5, "", &e);
	_exit(0);
}

/* What a member of a gang says that rank_0 tells of one that it does not find. */
static void
lost(int rank, int world, int other, const struct gv_member *member, double join_s,
    int gone, const char *want)
{
	struct gv_error e = {0};
	int fd, port = 0;
	struct gv_gang_spec s;
	struct gv_gang *g;
	pid_t pid;

	gv_sock_listen(&fd, "127.0.0.1", &port, &e);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		rank_0(fd, world, other, member, gone);
	close(fd);
	s = spec(rank, world, port);
	s.join_s = join_s;
	ok(gv_gang_join(&g, &s, &e) == -1, "rank %d does not find rank %d", rank, other);
	ok(strncmp(e.text[0], want, strlen(want)) == 0, "%s: %s", want, e.text[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
test_lost(void)
{
	static const struct gv_member here = {4000, "127.0.0.1"},
				      everybody = {4000, "255.255.255.255"};
	struct gv_member nobody = {(uint32_t)free_port(), "127.0.0.1"};

	lost(1, 3, 2, &here, 2, 0, "rank 2 of 127.0.0.1 did not come within 2 s");
	lost(2, 3, 1, &everybody, 5, 0, "cannot connect to rank 1 of 255.255.255.255: ");
	/* it may have left for another one, which rank 0 says soon */
	lost(2, 4, 1, &nobody, 20, 3, "rank 3 of 127.0.0.1 is gone");
	lost(2, 4, 1, &everybody, 20, 3, "rank 3 of 127.0.0.1 is gone");
}

/* ---- systems that have no more to give ---- */

static void
test_system(void)
{
	struct gv_gang_spec s = spec(0, 2, free_port());
	struct gv_error e = {0};
	struct gv_gang *g;
	char want[100];
	int fd, port = s.port, taken;
	pid_t pid;

	fail_poll = ENOMEM;
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 0 cannot wait");
	is_str(e.text[0], "cannot wait for workers: Cannot allocate memory", "says so");
	fail_poll = 0;
	gv_error_clear(&e);

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		gv_sock_connect(&fd, "127.0.0.1", s.port, gv_clock_s() + 5, &e);
		pause();
	}
	fail_random = true;
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 0 has no random bytes");
	is_str(e.text[0], "cannot draw a nonce: No such file or directory", "says so");
	fail_random = false;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	gv_error_clear(&e);

	gv_sock_listen(&taken, NULL, &port, &e);
	ok(gv_sock_listen(&fd, NULL, &port, &e) == -1,
	    "a port of all addresses is taken");
	snprintf(
	    want, sizeof(want), "cannot listen on port %d: Address already in use", port);
	is_str(e.text[0], want, "says so");
	close(taken);
}

/* ---- members that are not in step ---- */

/* Rank 1 says nothing for longer than rank 0 has patience; both hear why. */
static int
silent_member(struct gv_gang_spec *s, void *arg)
{
	static const char *const want[] = {"rank 1 of 127.0.0.1 has not answered for 1 s",
	    "rank 0 of 127.0.0.1 gave up: this worker, rank 1, had not answered for 1 s"};
	struct gv_error e = {0};
	struct gv_gang *g;
	unsigned flags = 0;
	int bad;

	(void)arg;
	s->silence_s = 1;
	g = join_or_exit(s);
	if (s->rank == 1)
		gv_sleep_s(5);
	if (s->rank == 1) /* what rank 0 has given is there */
		gv_gang_sum(g, NULL, 0, &flags, &e);
	bad = gv_gang_sum(g, NULL, 0, &flags, &e) != -1 ||
	      strncmp(e.text[0], want[s->rank], strlen(want[s->rank])) != 0;
	if (bad)
		fprintf(stderr, "# rank %d: %s\n", s->rank, e.text[0]);
	gv_gang_leave(g);
	return bad;
}

/* A gang without the thread that it asked for is one as before. */
static int
threadless_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_gang *g = join_or_exit(s);
	struct gv_error e = {0}, f = {0};
	struct rlimit before, none;
	unsigned flags = 4;
	float x[1] = {1};

	(void)arg;
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	if (gv_gang_thread(g, &e) == 0 ||
	    strcmp(e.text[0], "no pipe: Too many open files") != 0)
		return 1;
	setrlimit(RLIMIT_NOFILE, &before);
	fail_thread = true;
	if (gv_gang_thread(g, &f) == 0 ||
	    strstr(f.text[0], "no thread for messages: ") == NULL)
		return 1;
	if (gv_gang_sum(g, x, 1, &flags, &e) != 0 || x[0] != 2)
		return 1;
	gv_gang_leave(g);
	return 0;
}

/* ---- what carries the messages ---- */

enum lack { NONE, NOT_WANTED, NO_ROOM, NO_CALL, NOT_OURS, LACKS };

static char told[4][200];
static int tells;

static void
hear(void *ctx, const char *line)
{
	(void)ctx;
	snprintf(told[tells++ % 4], sizeof(told[0]), "%s", line);
}

/* Rank 0 makes the memory of a pair, rank 1 opens it: whatever lacks, messages go. */
static int
lacking_member(struct gv_gang_spec *s, void *arg)
{
	static const char *const why[LACKS][2] = {
	    [NO_ROOM] = {"no memory is shared with "
			 "rank 1: memory: No space left on device"},
	    [NO_CALL] = {"no memory is shared with rank 1: memfd_create: Function not "
			 "implemented"},
	    [NOT_OURS] = {NULL, "no memory is shared with rank 0: /proc/"}};
	static const char *const links[] = {
	    "rank 0 shares memory with 0 of 1 other workers; TCP to the rest",
	    "rank 1 shares memory with 1 of 1 other workers; TCP to the rest"};
	enum lack lack = *(enum lack *)arg;
	struct gv_gang *g;
	struct gv_error e = {0};
	unsigned flags = 0;
	float x[3] = {1, 2, 3};
	char want[200];
	int bad;

	s->tell = hear;
	s->no_memory = lack == NOT_WANTED && s->rank == 1;
	fail_reserve = lack == NO_ROOM ? ENOSPC : 0;
	fail_memfd = lack == NO_CALL;
	fail_open = lack == NOT_OURS;
	g = join_or_exit(s);
	bad = gv_gang_sum(g, x, 3, &flags, &e) != 0 || x[2] != 6;
	snprintf(want, sizeof(want), "%s", links[lack == NONE]);
	want[5] = (char)('0' + s->rank);
	bad |= strcmp(told[tells - 1], want) != 0;
	bad |= tells != 1 + (why[lack][s->rank] != NULL);
	if (why[lack][s->rank] != NULL)
		bad |=
		    strncmp(told[0], why[lack][s->rank], strlen(why[lack][s->rank])) != 0;
	if (bad)
		fprintf(stderr, "# %d %s | %s\n", tells, told[0], told[1]);
	gv_gang_leave(g);
	return bad;
}

static void
test_links(void)
{
	int lack;

	for (lack = NONE; lack < LACKS; lack++)
		is_int(each_rank(2, lacking_member, &lack), 0,
		    "memory between processes, what lacks: %d", lack);
}

enum { LEVEL_BITS = 4 };

/* Rank 1 speaks the messages of sums itself; arg: the number that it gives the second. */
static int
sequence_member(struct gv_gang_spec *s, void *arg)
{
	uint32_t second = *(uint32_t *)arg;
	float x[2] = {1, 2}, in[2] = {0, 0};
	struct gv_error e = {0};
	unsigned flags = 0;
	struct gv_gang *g;
	uint32_t i;
	int bad = 0;

	s->silence_s = 2;
	g = join_or_exit(s);
	for (i = 0; s->rank == 1 && i < 2; i++) {
		uint32_t number = i == 0 ? 0 : second;
		struct gv_tag to = {number << LEVEL_BITS, GV_KIND_OWN},
			      from = {i << LEVEL_BITS, GV_KIND_OWN};
		struct gv_message out = {0}, back = {0};

		gv_gang_recv(g, &back, 0, from, in, sizeof(in));
		gv_gang_send(g, &out, 0, to, x, sizeof(x));
		bad |= gv_gang_wait(g, &out, &e) != 0;
		bad |= gv_gang_wait(g, &back, &e) != 0;
	}
	if (s->rank == 1)
		gv_sleep_s(1);
	for (i = 0; s->rank == 0 && i < 2; i++) {
		int r = gv_gang_sum(g, x, 2, &flags, &e);

		bad |=
		    i == 0 ? r != 0 || x[0] != 2 || x[1] != 4 : (r == 0) != (second == 1);
	}
	gv_gang_leave(g);
	return bad;
}

int
main(void)
{
	uint32_t second;

	test_lost();
	test_system();
	test_links();
	is_int(each_rank(2, silent_member, NULL), 0,
	    "who was given up hears it: rank 0 gave up");
	is_int(each_rank(2, threadless_member, NULL), 0, "no thread can be had");
	second = 1;
	is_int(each_rank(2, sequence_member, &second), 0, "sums have numbers");
	second = 0;
	is_int(each_rank(2, sequence_member, &second), 0,
	    "what belongs to the first sum is not taken for the second");
	second = 2;
	is_int(
	    each_rank(2, sequence_member, &second), 0, "nor what belongs to the third");
	return done_testing();
}
