/* The models that are shipped with gv, found by their names. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "nn/model.h"

static const char ending[] = ".tsv";

char *
gv_model_path(const char *name)
{
	size_t len;
	char *path;

	if (strchr(name, '/') != NULL || strcmp(name, "-") == 0 ||
	    access(name, F_OK) == 0)
		return gv_xstrdup(name);
	len = strlen(gv_data_dir()) + strlen(name) + 16;
	path = gv_xcalloc(len, 1);
	snprintf(path, len, "%s/models/%s.tsv", gv_data_dir(), name);
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return gv_xstrdup(name);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the models in a directory, sorted, to *names, whose texts the caller frees. */
static size_t
list_models(const char *dir, char ***names)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t n = 0, cap = 0;

	*names = NULL;
	while (d != NULL && (entry = readdir(d)) != NULL) {
		size_t len = strlen(entry->d_name), cut = strlen(ending);

		if (len <= cut || strcmp(entry->d_name + len - cut, ending) != 0)
			continue;
		*names = gv_xgrow(*names, &cap, n + 1, sizeof(**names));
		(*names)[n++] = gv_xstrndup(entry->d_name, len - cut);
	}
	if (d != NULL)
		closedir(d);
	if (n > 0)
		qsort(*names, n, sizeof(**names), by_name);
	return n;
}

int
gv_model_unknown(const char *name, struct gv_error *e)
{
	struct gv_strbuf dir = {0}, list = {0};
	char **names;
	size_t i, n;

	gv_strbuf_fmt(&dir, "%s/models", gv_data_dir());
	n = list_models(dir.s, &names);
	for (i = 0; i < n; i++) {
		gv_strbuf_fmt(&list, "%s%s", i > 0 ? ", " : "", names[i]);
		free(names[i]);
	}
	free(names);
	if (n > 0)
		gv_error_set(e,
		    "%s: there is no such file and no such model; shipped are %s", name,
		    list.s);
	else
		gv_error_set(
		    e, "%s: there is no such file, and no models in %s", name, dir.s);
	gv_strbuf_free(&dir);
	gv_strbuf_free(&list);
	return -1;
}
