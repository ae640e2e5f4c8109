/*
 * A fault injector to preload: makes the n-th call of a kind fail.
 *
 *	GV_FAIL=CALL:N:HOW[,...]   HOW is the name of an errno, or "short"
 *	GV_COUNT=FILE              how often each call was made, "CALL N" lines
 *
 * CALL is a name of the table below; "alloc" is malloc, calloc, realloc and
 * aligned allocation together.  N counts from 1 over the process and all that
 * it forks (the counters are shared memory), so a number names one call; 0
 * means every call, or every other one with EINTR, which is to be retried.
 * "short" lets a read or write through, but of one byte only; those of a pipe
 * only when they are larger than what pipes take and give whole (POSIX: 512).
 * A failing close does close.
 *
 * What is run by exec is left alone: the variables are gone from the
 * environment before main.  Not counted are calls from inside the C library
 * (except its allocations, which its caller sees as ENOMEM), memory of the dynamic
 * linker, which ends the process when it is out, and writes to stderr, which must
 * stay readable.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// clang-format off
#define CALLS(X)                                                                         \
	X(alloc)                                                                         \
	X(open)                                                                          \
	X(openat) X(fopen) X(fdopen) X(read) X(pread) X(write) X(pwrite) X(fsync)        \
	    X(fchmod) X(ftruncate) X(rename) X(unlink) X(mkdir) X(rmdir) X(mkstemp)      \
		X(mkdtemp) X(opendir) X(fdopendir) X(realpath) X(stat) X(fstat) X(close) \
		    X(fork) X(pipe) X(pipe2) X(dup) X(dup2) X(fcntl) X(flock) X(execv)   \
			X(execve) X(execvp) X(execl) X(execlp) X(waitpid) X(poll)        \
			    X(setpgid) X(pthread_create) X(dlopen) X(mmap)
// clang-format on

enum {
#define X(name) CALL_##name,
	CALLS(X)
#undef X
	    N_CALLS
};

static const char *const call_name[N_CALLS] = {
#define X(name) #name,
    CALLS(X)
#undef X
};

static const struct {
	const char *name;
	int value;
} errnos[] = {{"ENOMEM", ENOMEM}, {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
    {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN}, {"ENOENT", ENOENT},
    {"EPERM", EPERM}, {"EDQUOT", EDQUOT}, {"ENOEXEC", ENOEXEC}};

enum { SHORT = -1, MAX_FAULTS = 8, MAX_SPARED = 16 };

static struct fault {
	int call;
	unsigned long n;
	int how; /* an errno, or SHORT */
} fault[MAX_FAULTS];
static int n_faults;

static struct {
	uintptr_t from, to;
} spared[MAX_SPARED]; /* code whose memory and threads are let through */
static int n_spared;

static atomic_ulong *count; /* [N_CALLS], shared; NULL until the constructor ran */
static char count_path[1024];
static pid_t root;

/* Counts the call; what to do with it: 0 let it through, SHORT, or an errno (set). */
static int
hit(int call)
{
	unsigned long n;
	int i;

	if (count == NULL)
		return 0;
	n = atomic_fetch_add(&count[call], 1) + 1;
	for (i = 0; i < n_faults; i++) {
		const struct fault *f = &fault[i];

		if (f->call != call || (f->n != 0 && f->n != n))
			continue;
		if (f->n == 0 && f->how == EINTR && n % 2 == 0)
			continue;
		if (f->how != SHORT)
			errno = f->how;
		return f->how;
	}
	return 0;
}

/* As hit(), for calls that some libraries are spared. */
static int
hit_from(int call, const void *caller)
{
	uintptr_t p = (uintptr_t)caller;
	int i;

	for (i = 0; i < n_spared; i++)
		if (p >= spared[i].from && p < spared[i].to)
			return 0;
	return hit(call);
}

/* How many of n bytes a call may move. */
static size_t
at_most(int how, int fd, size_t n)
{
	if (how != SHORT || n < 2 || (n <= 512 && lseek(fd, 0, SEEK_CUR) == -1))
		return n;
	return 1;
}

#define CALLER __builtin_return_address(0)

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

void *
malloc(size_t n)
{
	return hit_from(CALL_alloc, CALLER) != 0 ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return hit_from(CALL_alloc, CALLER) != 0 ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return hit_from(CALL_alloc, CALLER) != 0 ? NULL : __libc_realloc(p, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
	if (hit_from(CALL_alloc, CALLER) != 0)
		return ENOMEM;
	*p = __libc_memalign(align, n);
	return *p != NULL ? 0 : ENOMEM;
}

void *
aligned_alloc(size_t align, size_t n)
{
	return hit_from(CALL_alloc, CALLER) != 0 ? NULL : __libc_memalign(align, n);
}

/* The next definition of a function, found once. */
#define REAL(type, name, args)   \
	static type(*real) args; \
	if (real == NULL)        \
	*(void **)(&real) = dlsym(RTLD_NEXT, #name)

#define WRAP(type, bad, name, args, pass)  \
	type name args                     \
	{                                  \
		REAL(type, name, args);    \
		if (hit(CALL_##name) != 0) \
			return bad;        \
		return real pass;          \
	}

WRAP(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, -1, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, unlink, (const char *path), (path))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, rmdir, (const char *path), (path))
WRAP(int, -1, mkstemp, (char *path), (path))
WRAP(char *, NULL, mkdtemp, (char *path), (path))
WRAP(DIR *, NULL, opendir, (const char *path), (path))
WRAP(DIR *, NULL, fdopendir, (int fd), (fd))
WRAP(char *, NULL, realpath, (const char *path, char *to), (path, to))
WRAP(int, -1, stat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, fstat, (int fd, struct stat *st), (fd, st))
WRAP(pid_t, -1, fork, (void), ())
WRAP(int, -1, pipe, (int fd[2]), (fd))
WRAP(int, -1, pipe2, (int fd[2], int flags), (fd, flags))
WRAP(int, -1, dup, (int fd), (fd))
WRAP(int, -1, dup2, (int fd, int to), (fd, to))
WRAP(int, -1, flock, (int fd, int how), (fd, how))
WRAP(int, -1, execv, (const char *path, char *const argv[]), (path, argv))
WRAP(int, -1, execve, (const char *path, char *const argv[], char *const envp[]),
    (path, argv, envp))
WRAP(int, -1, execvp, (const char *path, char *const argv[]), (path, argv))
WRAP(pid_t, -1, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
WRAP(int, -1, poll, (struct pollfd * fd, nfds_t n, int ms), (fd, n, ms))
WRAP(int, -1, setpgid, (pid_t pid, pid_t group), (pid, group))
WRAP(void *, NULL, dlopen, (const char *path, int flags), (path, flags))

void *
mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	REAL(void *, mmap, (void *, size_t, int, int, int, off_t));

	return hit_from(CALL_mmap, CALLER) != 0 ? MAP_FAILED
						: real(p, n, prot, flags, fd, at);
}

int
pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int how = hit_from(CALL_pthread_create, CALLER);
	REAL(int, pthread_create,
	    (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));

	return how != 0 ? how : real(thread, attr, start, arg);
}

int
close(int fd)
{
	int how = hit(CALL_close);
	int err = errno;
	int r;
	REAL(int, close, (int));

	r = real(fd);
	if (how == 0)
		return r;
	errno = err;
	return -1;
}

ssize_t
read(int fd, void *buf, size_t n)
{
	int how = hit(CALL_read);
	REAL(ssize_t, read, (int, void *, size_t));

	return how > 0 ? -1 : real(fd, buf, at_most(how, fd, n));
}

ssize_t
pread(int fd, void *buf, size_t n, off_t at)
{
	int how = hit(CALL_pread);
	REAL(ssize_t, pread, (int, void *, size_t, off_t));

	return how > 0 ? -1 : real(fd, buf, at_most(how, fd, n), at);
}

ssize_t
write(int fd, const void *buf, size_t n)
{
	int how = fd == STDERR_FILENO ? 0 : hit(CALL_write);
	REAL(ssize_t, write, (int, const void *, size_t));

	return how > 0 ? -1 : real(fd, buf, at_most(how, fd, n));
}

ssize_t
pwrite(int fd, const void *buf, size_t n, off_t at)
{
	int how = hit(CALL_pwrite);
	REAL(ssize_t, pwrite, (int, const void *, size_t, off_t));

	return how > 0 ? -1 : real(fd, buf, at_most(how, fd, n), at);
}

/* The mode of an open that may create. */
#define MODE(flags, mode)                                 \
	do {                                              \
		va_list ap;                               \
		if ((flags) & (O_CREAT | __O_TMPFILE)) {  \
			va_start(ap, flags);              \
			(mode) = (mode_t)va_arg(ap, int); \
			va_end(ap);                       \
		}                                         \
	} while (0)

int
open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	REAL(int, open, (const char *, int, ...));

	MODE(flags, mode);
	return hit(CALL_open) != 0 ? -1 : real(path, flags, mode);
}

int
openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	REAL(int, openat, (int, const char *, int, ...));

	MODE(flags, mode);
	return hit(CALL_openat) != 0 ? -1 : real(dir, path, flags, mode);
}

int
fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;
	REAL(int, fcntl, (int, int, ...));

	va_start(ap, cmd);
	arg = va_arg(ap, void *); /* an int arrives in the same register */
	va_end(ap);
	return hit(CALL_fcntl) != 0 ? -1 : real(fd, cmd, arg);
}

/* execl and execlp as their v forms: argument lists of up to 30. */
#define LIST(call, function)                                          \
	int call(const char *path, const char *arg, ...)              \
	{                                                             \
		char *argv[32] = {(char *)(uintptr_t)arg};            \
		va_list ap;                                           \
		int i = 0;                                            \
		REAL(int, function, (const char *, char *const[]));   \
		va_start(ap, arg);                                    \
		while (argv[i] != NULL && i < 30)                     \
			argv[++i] = va_arg(ap, char *);               \
		va_end(ap);                                           \
		return hit(CALL_##call) != 0 ? -1 : real(path, argv); \
	}

LIST(execl, execv)
LIST(execlp, execvp)

/* ---- setting up and reporting ---- */

static int
spare(struct dl_phdr_info *info, size_t size, void *data)
{
	int k;

	(void)size;
	(void)data;
	if (strstr(info->dlpi_name, "ld-linux") == NULL)
		return 0;
	for (k = 0; k < info->dlpi_phnum && n_spared < MAX_SPARED; k++)
		if (info->dlpi_phdr[k].p_type == PT_LOAD &&
		    (info->dlpi_phdr[k].p_flags & PF_X) != 0) {
			spared[n_spared].from =
			    info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
			spared[n_spared].to =
			    spared[n_spared].from + info->dlpi_phdr[k].p_memsz;
			n_spared++;
		}
	return 0;
}

static void
bad_setting(const char *s)
{
	fprintf(stderr, "faults.so: bad GV_FAIL: %s\n", s);
	_exit(99);
}

static void
parse(const char *s)
{
	char call[32], how[32];
	unsigned long n;
	int used, i;

	for (; *s != '\0' && n_faults < MAX_FAULTS; s += used + (s[used] == ',')) {
		struct fault *f = &fault[n_faults++];

		if (sscanf(s, "%31[^:]:%lu:%31[^,]%n", call, &n, how, &used) != 3)
			bad_setting(s);
		for (i = 0; i < N_CALLS && strcmp(call_name[i], call) != 0; i++)
			;
		f->call = i;
		f->n = n;
		f->how = strcmp(how, "short") == 0 ? SHORT : 0;
		for (i = 0; i < (int)(sizeof(errnos) / sizeof(errnos[0])); i++)
			if (strcmp(errnos[i].name, how) == 0)
				f->how = errnos[i].value;
		if (f->call == N_CALLS || f->how == 0)
			bad_setting(s);
	}
}

static void
report(void)
{
	FILE *f;
	int i;

	if (count == NULL || count_path[0] == '\0' || getpid() != root)
		return;
	n_faults = 0; /* the report itself must not fail */
	f = fopen(count_path, "w");
	if (f == NULL)
		_exit(99);
	for (i = 0; i < N_CALLS; i++) {
		/* less what this report did itself */
		unsigned long n =
		    atomic_load(&count[i]) - (i == CALL_fopen) - (i == CALL_alloc);

		if (n > 0)
			fprintf(f, "%s %lu\n", call_name[i], n);
	}
	fclose(f);
	count_path[0] = '\0';
}

void
_exit(int status)
{
	REAL(void, _exit, (int));

	report();
	real(status);
	abort(); /* not reached */
}

static void __attribute__((constructor)) set_up(void)
{
	const char *fail = getenv("GV_FAIL");
	const char *path = getenv("GV_COUNT");
	void *shared;

	dl_iterate_phdr(spare, NULL);
	if (fail != NULL)
		parse(fail);
	if (path != NULL)
		snprintf(count_path, sizeof(count_path), "%s", path);
	unsetenv("LD_PRELOAD");
	unsetenv("GV_FAIL");
	unsetenv("GV_COUNT");
	root = getpid();
	shared = mmap(NULL, N_CALLS * sizeof(*count), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		_exit(99);
	count = shared; /* from here on calls are counted */
}

static void __attribute__((destructor)) tear_down(void)
{
	report();
}
