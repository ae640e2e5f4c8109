#include "base/num.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const double power10[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
    1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static int
slow_double(const char *s, size_t len, double *v)
{
	char small[64];
	char *copy = small;
	char *end;
	int ok;

	if (len >= sizeof(small))
		copy = gv_xcalloc(len + 1, 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	*v = strtod(copy, &end);
	ok = end == copy + len && isfinite(*v);
	if (copy != small)
		free(copy);
	return ok ? 0 : -1;
}

/*
 * Up to 2^53 in the digits and 10^22 in the exponent both are exact doubles, so
 * one multiplication or division rounds correctly (Clinger 1990); the rest goes
 * to strtod, which glibc rounds correctly too.
 */
int
gv_parse_double(const char *s, size_t len, double *v)
{
	const char *p = s;
	const char *end = s + len;
	uint64_t digits = 0;
	int n_digits = 0; /* significant ones in digits */
	int exponent = 0;
	int seen = 0;
	int neg = p < end && *p == '-';

	p += neg;
	for (; p < end && *p >= '0' && *p <= '9'; p++, seen = 1) {
		digits = digits * 10 + (uint64_t)(*p - '0');
		n_digits += n_digits > 0 || *p != '0';
		if (n_digits > 18)
			goto scan;
	}
	if (p < end && *p == '.') {
		p++;
		for (; p < end && *p >= '0' && *p <= '9'; p++, seen = 1) {
			digits = digits * 10 + (uint64_t)(*p - '0');
			n_digits += n_digits > 0 || *p != '0';
			exponent--;
			if (n_digits > 18 || exponent < -300)
				goto scan;
		}
	}
	if (!seen)
		return -1;
	if (p < end && (*p == 'e' || *p == 'E'))
		goto scan;
	if (p != end)
		return -1;
	if (digits > (UINT64_C(1) << 53) || exponent < -22)
		return slow_double(s, len, v);
	*v = (double)digits / power10[-exponent];
	if (neg)
		*v = -*v;
	return 0;
scan: /* digits were seen; check the form, then let strtod do it */
	p = s + neg;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (p < end && *p == '.')
		for (p++; p < end && *p >= '0' && *p <= '9';)
			p++;
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '-' || *p == '+'))
			p++;
		if (p == end)
			return -1;
		while (p < end && *p >= '0' && *p <= '9')
			p++;
	}
	return p == end ? slow_double(s, len, v) : -1;
}

int
gv_parse_int(const char *s, size_t len, int64_t *v)
{
	uint64_t u = 0;
	size_t i = 0;
	int neg = len > 0 && s[0] == '-';
	uint64_t limit = neg ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;

	for (i = (size_t)neg; i < len; i++) {
		unsigned digit = (unsigned)(s[i] - '0');

		if (digit > 9 || u > (limit - digit) / 10)
			return -1;
		u = u * 10 + digit;
	}
	if (len == (size_t)neg)
		return -1;
	*v = neg ? (int64_t)(0 - u) : (int64_t)u;
	return 0;
}

/* Where the number in "12.5GiB" ends; 0 for a sign, which none of them may have. */
static size_t
number_length(const char *s)
{
	size_t n = strspn(s, ".0123456789");

	if (n > 0 && (s[n] == 'e' || s[n] == 'E')) {
		size_t sign = s[n + 1] == '-' || s[n + 1] == '+';
		size_t digits = strspn(s + n + 1 + sign, "0123456789");

		if (digits > 0)
			n += 1 + sign + digits;
	}
	return n;
}

int
gv_parse_duration(const char *s, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60},
	    {"min", 60}, {"h", 3600}, {"d", 86400}};
	size_t n = number_length(s);
	size_t i;
	double v;

	if (gv_parse_double(s, n, &v) != 0)
		return -1;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(s + n, units[i].unit) == 0) {
			*seconds = v * units[i].seconds;
			return isfinite(*seconds) ? 0 : -1;
		}
	return -1;
}

int
gv_parse_bytes(const char *s, int64_t *bytes)
{
	static const struct {
		const char *unit;
		int64_t bytes;
	} units[] = {{"", 1}, {"B", 1}, {"KB", 1000}, {"kB", 1000}, {"MB", 1000000},
	    {"GB", 1000000000}, {"TB", 1000000000000}, {"KiB", 1024}, {"MiB", 1048576},
	    {"GiB", 1073741824}, {"TiB", 1099511627776}, {"K", 1024}, {"M", 1048576},
	    {"G", 1073741824}, {"T", 1099511627776}, {"k", 1024}, {"m", 1048576},
	    {"g", 1073741824}, {"t", 1099511627776}};
	size_t n = number_length(s);
	size_t i;
	int64_t whole;
	double v;

	if (gv_parse_double(s, n, &v) != 0)
		return -1;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(s + n, units[i].unit) == 0)
			break;
	if (i == sizeof(units) / sizeof(units[0]))
		return -1;
	if (gv_parse_int(s, n, &whole) == 0) {
		if (whole > INT64_MAX / units[i].bytes)
			return -1;
		*bytes = whole * units[i].bytes;
		return 0;
	}
	v = round(v * (double)units[i].bytes);
	if (!(v < 0x1p63))
		return -1;
	*bytes = (int64_t)v;
	return 0;
}

static bool
is_any(const char *s, const char *const *names)
{
	while (*names != NULL && strcmp(s, *names) != 0)
		names++;
	return *names != NULL;
}

int
gv_parse_rate(const char *s, double *bytes_per_s)
{
	static const char prefixes[] = "kMGT", low[] = "kmgt";
	static const char *const bits[] = {"b/s", "bps", "bit/s", "bits/s", NULL};
	static const char *const bytes[] = {"B/s", "Bps", "byte/s", "bytes/s", NULL};
	size_t n = number_length(s);
	const char *unit = s + n;
	const char *prefix;
	double v, step = 1000;
	bool is_low;

	if (gv_parse_double(s, n, &v) != 0)
		return -1;
	prefix = *unit == 'K' ? prefixes : *unit != '\0' ? strchr(prefixes, *unit) : NULL;
	is_low = prefix == NULL && *unit != '\0' && strchr(low, *unit) != NULL;
	if (is_low)
		prefix = prefixes + (strchr(low, *unit) - low);
	if (prefix != NULL && *++unit == 'i') {
		step = 1024;
		unit++;
	}
	for (; prefix != NULL && prefix >= prefixes; prefix--)
		v *= step;
	if (is_any(unit, bits))
		v /= 8;
	else if (is_low || !is_any(unit, bytes))
		return -1;
	if ((unit[1] == 'p' || is_low) && step > 1000) /* who writes Gibps? */
		return -1;
	if (!(v > 0) || !isfinite(v))
		return -1;
	*bytes_per_s = v;
	return 0;
}

/* Reads a number of just that many digits, from min to max.  0 or -1. */
static int
take_digits(const char **s, int digits, int min, int max, int *v)
{
	int i;

	for (*v = 0, i = 0; i < digits; i++, (*s)++) {
		if (**s < '0' || **s > '9')
			return -1;
		*v = *v * 10 + (**s - '0');
	}
	return *v >= min && *v <= max ? 0 : -1;
}

static int
take_char(const char **s, const char *any_of)
{
	if (**s == '\0' || strchr(any_of, **s) == NULL)
		return -1;
	(*s)++;
	return 0;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static int64_t
days_to(int year, int month, int day)
{
	/* years from March on, so that the leap day is the last of its year */
	int64_t y = year - (month <= 2);
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 + of_year - 719468;
}

int
gv_parse_time(const char *s, double *seconds)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year, month, day, hour = 0, minute = 0, second = 0;

	if (gv_parse_double(s, strlen(s), seconds) == 0)
		return 0;
	if (take_digits(&s, 4, 1, 9999, &year) != 0 || take_char(&s, "-") != 0 ||
	    take_digits(&s, 2, 1, 12, &month) != 0 || take_char(&s, "-") != 0 ||
	    take_digits(&s, 2, 1, 31, &day) != 0)
		return -1;
	if (day > days[month - 1] && !(month == 2 && day == 29 && year % 4 == 0 &&
					 (year % 100 != 0 || year % 400 == 0)))
		return -1;
	if (take_char(&s, "T ") == 0) {
		if (take_digits(&s, 2, 0, 23, &hour) != 0 || take_char(&s, ":") != 0 ||
		    take_digits(&s, 2, 0, 59, &minute) != 0)
			return -1;
		if (take_char(&s, ":") == 0 && take_digits(&s, 2, 0, 60, &second) != 0)
			return -1;
		take_char(&s, "Z");
	}
	*seconds = (double)(days_to(year, month, day) * 86400 + hour * 3600 +
			    minute * 60 + second);
	return *s == '\0' ? 0 : -1;
}

char *
gv_show_bytes(char buf[GV_NUM_LEN], double bytes)
{
	double gib = bytes / 0x1p30, size = fabs(gib);

	if (size < 0.0005)
		snprintf(buf, GV_NUM_LEN, "%.0f bytes", bytes);
	else
		snprintf(buf, GV_NUM_LEN, "%.*f GiB",
		    size < 1       ? 3
		    : size < 9.995 ? 2
		    : size < 99.95 ? 1
				   : 0,
		    gib);
	return buf;
}

size_t
gv_format_int(char buf[GV_NUM_LEN], int64_t v)
{
	char tmp[GV_NUM_LEN];
	char *p = tmp + sizeof(tmp);
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	size_t len;

	do
		*--p = (char)('0' + u % 10);
	while ((u /= 10) > 0);
	if (v < 0)
		*--p = '-';
	len = (size_t)(tmp + sizeof(tmp) - p);
	memcpy(buf, p, len);
	buf[len] = '\0';
	return len;
}
