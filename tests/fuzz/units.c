/*
 * Numbers with units, as options have them.  Holds: exactly a number without
 * a sign, with one of the units right behind it, is accepted; a duration is the
 * double nearest to number times unit; bytes are exact for whole numbers and
 * within half a byte and rounding for fractions.
 */
#include <math.h>

#include "base/num.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

struct unit {
	const char *name;
	double factor;
};

static const struct unit durations[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6},
    {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1}, {"B", 1}, {"kB", 1e3}, {"KB", 1e3},
    {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20},
    {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30},
    {"T", 0x1p40}, {"k", 0x1p10}, {"m", 0x1p20}, {"g", 0x1p30}, {"t", 0x1p40}, {NULL, 0}};

/*
 * Tries every unit as the tail of s: at most one can leave a number before it.
 * NULL when none does.
 */
static const struct unit *
find_unit(const struct unit *unit, const char *s, double *v)
{
	size_t len = strlen(s);

	for (; unit->name != NULL; unit++) {
		size_t n = strlen(unit->name);

		if (n <= len && strcmp(s + len - n, unit->name) == 0 &&
		    gv_parse_double(s, len - n, v) == 0)
			return unit;
	}
	return NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *s = gv_xstrndup((const char *)bytes, len);
	const struct unit *unit;
	double v = 0, got = 0;
	int64_t n = 0;

	unit = find_unit(durations, s, &v);
	HOLDS((gv_parse_duration(s, &got) == 0) ==
	      (unit != NULL && s[0] != '-' && isfinite(v * unit->factor)));
	if (gv_parse_duration(s, &got) == 0)
		HOLDS(got == v * unit->factor);
	unit = find_unit(sizes, s, &v);
	if (unit == NULL || s[0] == '-') {
		HOLDS(gv_parse_bytes(s, &n) == -1);
	} else if (gv_parse_bytes(s, &n) == 0) {
		long double product = (long double)v * (long double)unit->factor;

		HOLDS(n >= 0);
		HOLDS(fabsl((long double)n - product) <= 0.5L + product * 0x1p-52L);
		if (strspn(s, "0123456789") == strlen(s) - strlen(unit->name))
			HOLDS((uint64_t)n ==
			      strtoull(s, NULL, 10) * (uint64_t)unit->factor);
	} else {
		HOLDS((long double)v * (long double)unit->factor >=
		      0x1p63L * (1 - 0x1p-52L));
	}
	free(s);
	return 0;
}
