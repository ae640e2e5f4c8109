/*
 * replay DIRECTORY...: runs the fuzz target it is linked with over every file
 * of the directories, as libFuzzer would; prints how many.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"

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

static size_t
replay(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;
	size_t n = 0;
	size_t len;

	if (d == NULL)
		gv_die_sys("%s", directory);
	while ((entry = readdir(d)) != NULL) {
		char path[4096];
		uint8_t *s;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		s = load(path, &len);
		LLVMFuzzerTestOneInput(s, len);
		free(s);
		n++;
	}
	closedir(d);
	return n;
}

int
main(int argc, char **argv)
{
	size_t n = 0;
	int i;

	gv_init("replay");
	for (i = 1; i < argc; i++)
		n += replay(argv[i]);
	printf("%zu inputs\n", n);
	return n > 0 ? 0 : 1;
}
