/* Small files and directories. */
#define _DEFAULT_SOURCE
#include "base/fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int
gv_file_read(const char *path, char **s, size_t *len, size_t limit, struct gv_error *e)
{
	struct gv_in *in;
	size_t cap = 0;
	ssize_t r;

	*s = NULL;
	*len = 0;
	if (gv_in_open(&in, path, e) != 0)
		return -1;
	do {
		*s = gv_xgrow(*s, &cap, *len + 4096 + 1, 1);
		r = gv_in_read(in, *s + *len, cap - *len - 1, e);
		*len += r > 0 ? (size_t)r : 0;
	} while (r > 0 && *len <= limit);
	if (r > 0)
		r = gv_error_set(e, "%s: larger than %zu bytes", gv_in_name(in), limit);
	gv_in_close(in);
	if (r < 0) {
		free(*s);
		*s = NULL;
		return -1;
	}
	(*s)[*len] = '\0';
	return 0;
}

int
gv_file_write(const char *path, const void *s, size_t len, struct gv_error *e)
{
	const char *slash;
	struct gv_out *out;
	char *directory;
	int r;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_out_write(out, s, len);
	if (gv_out_close(out, e) != 0)
		return -1;
	slash = strrchr(path, '/');
	directory = slash == NULL ? gv_xstrdup(".")
				  : gv_xstrndup(path, (size_t)(slash - path) + 1);
	r = gv_sync_dir(directory, e); /* the file's new name must last, too */
	free(directory);
	return r;
}

/* errno stays as it is. */
static bool
is_directory(const char *path)
{
	int before = errno;
	struct stat st;
	bool yes = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

	errno = before;
	return yes;
}

int
gv_mkdirs(const char *path, struct gv_error *e)
{
	char *copy = gv_xstrdup(path);
	char *p = copy;
	int r = 0;

	do {
		p = *p != '\0' ? strchr(p + 1, '/') : NULL;
		if (p != NULL)
			*p = '\0';
		if (mkdir(copy, 0777) != 0 && !is_directory(copy)) {
			r = gv_error_sys(e, "%s: cannot make the directory", copy);
			break;
		}
		if (p != NULL)
			*p = '/';
	} while (p != NULL && p[1] != '\0');
	free(copy);
	return r;
}

/* dir is closed here. */
static int
remove_entries(int dir, const char *path, int depth, struct gv_error *e)
{
	DIR *d = fdopendir(dir);
	struct dirent *entry;
	int r = 0;

	if (d == NULL) {
		close(dir);
		return gv_error_sys(e, "%s: cannot read", path);
	}
	while (r == 0 && (entry = readdir(d)) != NULL) {
		const char *name = entry->d_name;
		int fd;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), name, 0) == 0 || errno == ENOENT)
			continue;
		fd = openat(
		    dirfd(d), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1) {
			r = gv_error_sys(e, "%s/%s: cannot remove", path, name);
			break;
		}
		if (depth == 0) {
			close(fd);
			r = gv_error_set(
			    e, "%s: directories nested too deeply to remove", path);
			break;
		}
		r = remove_entries(fd, path, depth - 1, e);
		if (r == 0 && unlinkat(dirfd(d), name, AT_REMOVEDIR) != 0 &&
		    errno != ENOENT)
			r = gv_error_sys(e, "%s/%s: cannot remove", path, name);
	}
	closedir(d);
	return r;
}

int
gv_remove_tree(const char *path, struct gv_error *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1) {
		if (errno == ENOENT || unlink(path) == 0)
			return 0;
		return gv_error_sys(e, "%s: cannot remove", path);
	}
	if (remove_entries(fd, path, 64, e) != 0)
		return -1;
	if (rmdir(path) != 0 && errno != ENOENT)
		return gv_error_sys(e, "%s: cannot remove", path);
	return 0;
}

int
gv_sync_dir(const char *path, struct gv_error *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;

	if (fd == -1 || (fsync(fd) != 0 && errno != EINVAL))
		r = gv_error_sys(e, "%s: cannot sync", path);
	if (fd != -1)
		close(fd);
	return r;
}
