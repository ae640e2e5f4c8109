/* base/num.h: short texts beside a grammar, days beside counting, numbers at their ends. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "tap.h"

/* ---- numbers ---- */

static const char *
digits(const char *s)
{
	return s + strspn(s, "0123456789");
}

/* -? (digits .? digits? | . digits) ([eE] [-+]? digits)? */
static bool
is_number(const char *s)
{
	const char *p = s + (*s == '-'), *q = digits(p);
	bool any = q > p;

	if (*q == '.') {
		p = q + 1;
		q = digits(p);
		any = any || q > p;
	}
	if (any && (*q == 'e' || *q == 'E')) {
		p = q + 1;
		p += *p == '-' || *p == '+';
		q = digits(p);
		any = q > p;
	}
	return any && *q == '\0';
}

/* Whether a text is read as it should be, whatever stands behind it. */
static bool
is_read(const char *s)
{
	static const char *const behind[] = {"", "5", ".5", "e1", "-"};
	double want = strtod(s, NULL), v;
	bool good = is_number(s) && isfinite(want);
	char text[200];
	size_t i;

	for (i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", s, behind[i]);
		v = -1;
		if (gv_parse_double(text, strlen(s), &v) != (good ? 0 : -1) ||
		    (good && v != want))
			return false;
	}
	return true;
}

static void
test_short(void)
{
	static const char letters[] = "01.-e9+Ex ";
	enum { N = sizeof(letters) - 1, LONGEST = 5 };
	long wrong = 0, n = 1, i, rest;
	int len, k;

	for (len = 0; len <= LONGEST; len++, n *= N)
		for (i = 0; i < n; i++) {
			char s[LONGEST + 1] = "";

			for (rest = i, k = 0; k < len; k++, rest /= N)
				s[k] = letters[rest % N];
			wrong += !is_read(s);
		}
	is_int(wrong, 0, "texts of up to 5 bytes are numbers as the grammar says");
}

static void
test_long(void)
{
	/* what overflows 64 bits to a small number, and the last power of ten that is exact */
	static const char *const text[] = {"18446744073709551617", "36893488147419103233",
	    "1844674407370955161.7", "18446744073709551.617", "-1.8446744073709551617",
	    "0.18446744073709551617", "0.0000000000000000000001",
	    "0.00000000000000000000001", "0.00000000000000000000003", "9007199254740992",
	    "9007199254740993", "9007199254740.993",
	    "000000000000000000000000000000000018446744073709551617",
	    "100000000000000000000000000000000000000000000000000000000000000000000000",
	    "0.12345678901234567890123456789012345678901234567890123456789012345678",
	    "1000000000000000000000000000000000000000000000000000000000000000000000x",
	    "12345678901234567890.", "12345678901234567890.5.", "12345678901234567890e5",
	    "12345678901234567890e", "12345678901234567890.5e-", "1e308", "1e309"};
	char s[200];
	size_t i;
	int k;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		ok(is_read(text[i]), "%s", text[i]);
	for (k = 60; k < 68; k++) {
		memset(s, '7', sizeof(s));
		s[1] = '.';
		s[k] = '\0';
		ok(is_read(s), "a number of %d bytes", k);
	}
}

static void
test_whole(void)
{
	static const struct {
		const char *s;
		int64_t v;
	} of[] = {{"0", 0}, {"-0", 0}, {"-1", -1}, {"0042", 42},
	    {"9223372036854775799", INT64_MAX - 8},
	    {"1000000000000000000", 1000000000000000000}};
	static const char *const bad[] = {"-", "--1", "+1", "1-", "1:", "1/", " 1",
	    "9223372036854775810", "92233720368547758070", "-9223372036854775810"};
	char buf[GV_NUM_LEN];
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		ok(gv_parse_int(of[i].s, strlen(of[i].s), &v) == 0 && v == of[i].v, "%s",
		    of[i].s);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(gv_parse_int(bad[i], strlen(bad[i]), &v), -1, "%s", bad[i]);
	ok(gv_parse_int("123", 2, &v) == 0 && v == 12, "no further than it is long");
	is_int((long long)gv_format_int(buf, INT64_MIN), 20, "the least one");
	is_str(buf, "-9223372036854775808", "is written");
	is_int((long long)gv_format_int(buf, 0), 1, "nothing");
	is_str(buf, "0", "is one digit");
	gv_format_int(buf, 10);
	is_str(buf, "10", "ten");
}

/* ---- units ---- */

static void
test_units(void)
{
	static const char *const bad[] = {"", "B", "-1B", "1e400", "1 B", "1BB",
	    "8388608TiB", "9223372036854775808", "8388608.0TiB", "8388607.99999999999TiB",
	    "1e", "1e+", "1.e"};
	static const struct {
		const char *s;
		int64_t bytes;
	} of[] = {{"8388607TiB", INT64_C(8388607) << 40},
	    {"9223372036854775807", INT64_MAX}, {"9223372036854775807B", INT64_MAX},
	    {"1e3", 1000}, {"1E+3kB", 1000000}, {"25e-1K", 2560}, {".5k", 512},
	    {"1.4", 1}, {"1.5", 2}, {"0", 0}, {"3m", 3 << 20}, {"1t", INT64_C(1) << 40},
	    {"2TB", 2000000000000}};
	int64_t bytes;
	double s;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(gv_parse_bytes(bad[i], &bytes), -1, "no bytes: %s", bad[i]);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		ok(gv_parse_bytes(of[i].s, &bytes) == 0 && bytes == of[i].bytes, "%s",
		    of[i].s);
	is_int(gv_parse_duration("1e308d", &s), -1, "longer than can be said");
	is_int(gv_parse_duration("", &s), -1, "no time");
	ok(gv_parse_duration("1e-1m", &s) == 0 && s == 6, "a tenth of a minute");
}

/* ---- days ---- */

/* All days of 1 to 9999, one after the other, and those beside them. */
static void
test_days(void)
{
	static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	long wrong = 0, day_of = -719162; /* 0001-01-01 */
	int year, month, day;
	char s[32];
	double v;

	for (year = 1; year <= 9999; year++) {
		bool leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);

		if (year > 3 && year < 9998 && year % 100 > 4 && year % 100 < 96 &&
		    year / 10 != 197) {
			day_of += 365 + leap;
			continue;
		}
		for (month = 1; month <= 12; month++) {
			int days = length[month - 1] + (month == 2 && leap);

			for (day = 0; day <= 32; day++) {
				bool is = day >= 1 && day <= days;

				snprintf(
				    s, sizeof(s), "%04d-%02d-%02d", year, month, day);
				if (!is)
					wrong += gv_parse_time(s, &v) != -1;
				else
					wrong += gv_parse_time(s, &v) != 0 ||
						 v != (double)day_of++ * 86400;
			}
		}
	}
	is_int(wrong, 0, "days of the calendar are as many as there are");
}

static void
test_times(void)
{
	static const char *const bad[] = {"2000-01-01T23:59:61", "2000-01-01T23:60",
	    "2000-01-01T24:00", "2000-01-01T:00", "2000-01-01T00", "2000-01-01T00:0",
	    "2000-01-01T00:00:", "2000-01-01T00:00:0", "2000-01-01Z", "2000-01-01T",
	    "2000-00-01", "2000-13-01", "2000-01", "2000:01-01", "2000-01:01",
	    "200:-01-01", "2000-01-01T00:00ZZ", "2000-01-01T00:00 "};
	static const struct {
		const char *s;
		double v;
	} of[] = {{"1970-01-01T23:59:60", 86400}, {"1970-01-01T00:00Z", 0},
	    {"1970-01-02 01:01:01Z", 86400 + 3661}, {"1970-01-01T00:59:59", 3599}};
	double v;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(gv_parse_time(bad[i], &v), -1, "no time: %s", bad[i]);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		ok(gv_parse_time(of[i].s, &v) == 0 && v == of[i].v, "%s", of[i].s);
}

/* ---- sizes as they are shown ---- */

static void
test_shown(void)
{
	static const struct {
		double gib;
		const char *shown;
	} of[] = {{.0005, "0.001 GiB"}, {.00049, "526133 bytes"}, {.999, "0.999 GiB"},
	    {1, "1.00 GiB"}, {9.99, "9.99 GiB"}, {9.996, "10.0 GiB"}, {99.9, "99.9 GiB"},
	    {99.96, "100 GiB"}, {-2, "-2.00 GiB"}};
	char buf[GV_NUM_LEN];
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		is_str(gv_show_bytes(buf, of[i].gib * 0x1p30), of[i].shown, "%g GiB",
		    of[i].gib);
}

int
main(void)
{
	test_short();
	test_long();
	test_whole();
	test_units();
	test_days();
	test_times();
	test_shown();
	return done_testing();
}
