#include "gpu_type.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
}

static bool
is_maker(const char *word, size_t len)
{
	static const char *const makers[] = {"nvidia", "tesla", "geforce"};
	size_t i;

	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strlen(makers[i]) == len && memcmp(makers[i], word, len) == 0)
			return true;
	return false;
}

void
gpu_type_name(char *out, size_t len, const char *model)
{
	char small[256];
	size_t n = 0;
	size_t used = 0;
	size_t i;

	for (i = 0; model[i] != '\0' && n < sizeof(small) - 1; i++) {
		char c = model[i];

		small[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	small[n] = '\0';
	for (i = 0; i < n;) {
		size_t end = i;

		while (is_plain(small[end]))
			end++;
		if (end > i && !is_maker(small + i, end - i) &&
		    used + (end - i) + 2 < len) {
			if (used > 0)
				out[used++] = '-';
			memcpy(out + used, small + i, end - i);
			used += end - i;
		}
		i = end + 1;
	}
	out[used] = '\0';
	if (used == 0)
		snprintf(out, len, "gpu");
}

void
gpu_type_mapped(char *out, size_t len, const char *model, const struct gpu_type_map *map)
{
	size_t i;

	gpu_type_name(out, len, model);
	for (i = map->n; i > 0; i--) {
		const char *entry = map->entry[i - 1];
		const char *to = strrchr(entry, '=') + 1;
		size_t from = (size_t)(to - entry) - 1;

		if ((strlen(model) == from && memcmp(model, entry, from) == 0) ||
		    (strlen(out) == from && memcmp(out, entry, from) == 0)) {
			snprintf(out, len, "%s", to);
			return;
		}
	}
}
