#define _XOPEN_SOURCE 700
#include "owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Who this user is in the directory: a server may show its files as another one's
 * (root's as nobody's), so a file is made and looked at.
 */
static uid_t
own_id(int dir)
{
	char name[64];
	struct stat st;
	uid_t uid = geteuid();
	int fd;

	snprintf(name, sizeof(name), ".owner.%ld", (long)getpid());
	fd =
	    openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return uid;
	if (fstat(fd, &st) == 0)
		uid = st.st_uid;
	close(fd);
	(void)unlinkat(dir, name, 0);
	return uid;
}

static bool
is_trusted(int dir, const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0 || st->st_uid == own_id(dir);
}

static int
refuse(const char *dir, const char *name, const struct stat *st, struct gv_error *e)
{
	return gv_error_set(e, "%s%s%s: is refused: another user's, of uid %lu", dir,
	    name[0] != '\0' ? "/" : "", name, (unsigned long)st->st_uid);
}

static int
check_names(DIR *d, const char *dir, struct gv_error *e)
{
	const struct dirent *entry;
	struct stat st;
	int rc = 0;

	while ((entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !is_trusted(dirfd(d), &st))
			rc = refuse(dir, entry->d_name, &st, e);
	}
	return rc;
}

int
owner_take(const char *dir, struct gv_error *e)
{
	DIR *d = opendir(dir);
	struct stat st;
	int rc;

	if (d == NULL || fstat(dirfd(d), &st) != 0)
		rc = gv_error_sys(e, "%s: cannot open", dir);
	else if (!is_trusted(dirfd(d), &st))
		rc = refuse(dir, "", &st, e);
	else {
		(void)!fchmod(dirfd(d), 0700); /* also one that is older */
		rc = check_names(d, dir, e);
	}
	if (d != NULL)
		closedir(d);
	return rc;
}
