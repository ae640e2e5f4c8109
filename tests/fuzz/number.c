/*
 * Numbers.  Holds: exactly the accepted grammar is accepted, with strtod's value;
 * what is formatted is the shortest of %.15g, %.16g, %.17g that reads back, and
 * it does; integers agree with strtoll and printf.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static size_t
digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* [-]digits[.digits][e[+-]digits], one digit at least before the e. */
static bool
is_number(const char *s)
{
	size_t whole, fraction = 0;

	s += *s == '-';
	whole = digits(s);
	s += whole;
	if (*s == '.') {
		fraction = digits(s + 1);
		s += 1 + fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		if (digits(s) == 0)
			return false;
		s += digits(s);
	}
	return *s == '\0';
}

static bool
same_double(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void
check_text(const char *s, size_t len)
{
	bool whole_text = strlen(s) == len; /* no NUL inside */
	double want = strtod(s, NULL);
	double v = 0;
	int64_t i = 0;
	char *end;
	long long n;

	HOLDS((gv_parse_double(s, len, &v) == 0) ==
	      (whole_text && is_number(s) && isfinite(want)));
	if (whole_text && is_number(s) && isfinite(want))
		HOLDS(same_double(v, want));
	errno = 0;
	n = strtoll(s, &end, 10);
	HOLDS((gv_parse_int(s, len, &i) == 0) ==
	      (whole_text && len > 0 && errno == 0 && digits(s + (*s == '-')) > 0 &&
		  s[(*s == '-') + digits(s + (*s == '-'))] == '\0'));
	if (gv_parse_int(s, len, &i) == 0)
		HOLDS(i == n);
}

static void
check_double(double v)
{
	char got[GV_NUM_LEN], want[64];
	double back;
	int precision = 14;
	size_t len;

	if (!isfinite(v))
		return;
	len = gv_format_double(got, v);
	HOLDS(strlen(got) == len);
	HOLDS(gv_parse_double(got, len, &back) == 0 && back == v);
	do
		snprintf(want, sizeof(want), "%.*g", ++precision, v == 0 ? 0.0 : v);
	while (strtod(want, NULL) != v);
	HOLDS(strcmp(got, want) == 0);
}

static void
check_int(int64_t v)
{
	char got[GV_NUM_LEN], want[64];
	size_t len = gv_format_int(got, v);
	int64_t back;

	snprintf(want, sizeof(want), "%" PRId64, v);
	HOLDS(strlen(got) == len && strcmp(got, want) == 0);
	HOLDS(gv_parse_int(got, len, &back) == 0 && back == v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	char *text = gv_xstrndup((const char *)s, len);
	double v = strtod(text, NULL);
	int64_t i;

	check_text(text, len);
	check_double(v);
	check_double(nextafter(v, 0));
	if (len >= sizeof(v)) {
		memcpy(&v, s, sizeof(v));
		memcpy(&i, s, sizeof(i));
		check_double(v);
		check_double(fmod(v, 1e6));
		check_int(i);
		check_double((double)(i % 1000000000000000) / 1000);
	}
	free(text);
	return 0;
}
