/*
 * Command lines of a program that are drawn, and answered in a process of their own: the status,
 * what is said on either output, and the file of -o.  What takes long or looks at the machine is
 * another function there, by a macro around the source.
 */
#ifndef DRAWN_MAINS_H
#define DRAWN_MAINS_H

#include <dirent.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fileio.h"
#include "draws.h"
#include "recorded.h"
#include "scratch.h"

enum { MAIN_WORDS = 24 };

/* Which of the standard streams say that they are terminals. */
static bool is_terminal[3];

int
isatty(int fd)
{
	return fd >= 0 && fd < 3 && is_terminal[fd];
}

static inline bool
one_in(size_t n)
{
	return below(n) == 0;
}

/* Up to most of the words behind the name, those of two by a blank as two; then operands. */
static inline int
draw_words(char **argv, const char *name, const char *const *word, size_t n, size_t most)
{
	static char text[MAIN_WORDS][64];
	size_t of = below(most + 1), k = 0;

	snprintf(text[k++], sizeof(text[0]), "%s", name);
	for (; of > 0 && k + 2 < MAIN_WORDS; of--) {
		const char *w = word[below(n)], *blank = strchr(w, ' ');

		snprintf(text[k++], sizeof(text[0]), "%.*s",
		    (int)(blank != NULL ? blank - w : (ptrdiff_t)strlen(w)), w);
		if (blank != NULL)
			snprintf(text[k++], sizeof(text[0]), "%s", blank + 1);
	}
	for (of = 0; of < k; of++)
		argv[of] = text[of];
	argv[k] = NULL;
	return (int)k;
}

static inline void
recorded_main_file(struct recorded *r, const char *name)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	if (gv_file_read(name, &s, &len, 1 << 20, &e) != 0) {
		recorded_whole(r, -1);
		return;
	}
	recorded_bytes(r, s, len);
	free(s);
	unlink(name);
}

/* A file of -o that did not come to be whole is gone. */
static inline void
die_of_leftovers(void)
{
	DIR *d = opendir(".");
	const struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (strncmp(entry->d_name, "out.", 4) == 0)
			gv_die("%s is left", entry->d_name);
	if (d != NULL)
		closedir(d);
}

static inline void
recorded_main(struct recorded *r, int (*main_)(int, char **), int argc, char **argv)
{
	int status = 0, said = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int wrote = open("wrote", O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t i;
	pid_t pid;

	for (i = 0; i < 3; i++)
		is_terminal[i] = one_in(12);
	fflush(stdout);
	fflush(stderr);
	if (r->new != NULL) /* or what ends there would write it once more */
		fflush(r->new);
	pid = fork();
	if (pid == 0) {
		dup2(wrote, 1);
		dup2(said, 2);
		_exit(main_(argc, argv));
	}
	close(said);
	close(wrote);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		gv_die("no answer");
	recorded_whole(r, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	recorded_main_file(r, "said");
	recorded_main_file(r, "wrote");
	recorded_main_file(r, "out");
	die_of_leftovers();
}

#endif
