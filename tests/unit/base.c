/* common/base: numbers, quoting, random numbers, arenas. */
#define _XOPEN_SOURCE   700 /* posix_openpt */
#define _DEFAULT_SOURCE     /* struct winsize */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/shm.h"
#include "base/strbuf.h"
#include "base/term.h"
#include "base/words.h"
#include "draws.h"

static void
parse_ok(const char *s, double want)
{
	double v = -1;

	ok(gv_parse_double(s, strlen(s), &v) == 0 && v == want, "parse %s", s);
}

static void
test_parse(void)
{
	static const char *const bad[] = {"", "-", ".", "+1", " 1", "1 ", "0x10", "nan",
	    "inf", "-inf", "1e", "1e+", "e5", "1.2.3", "--1", "1e400", "1,5", "1_0",
	    "infinity", "1d"};
	size_t i;
	double v;
	int64_t n;

	parse_ok("0", 0);
	parse_ok("-0", 0);
	parse_ok("1.", 1);
	parse_ok(".5", .5);
	parse_ok("32.353384328946916", 32.353384328946916);
	parse_ok("9007199254740993", 9007199254740992.0);
	parse_ok("9007199254740993.0000000000000000001", 9007199254740994.0);
	parse_ok("1e22", 1e22);
	parse_ok("1E-7", 1e-7);
	parse_ok("4.9e-324", 4.9e-324);
	parse_ok("1e-400", 0);
	parse_ok("123456789012345678901234567890", 123456789012345678901234567890.0);
	parse_ok("0.000000000000000000000000000001", 1e-30);
	parse_ok(
	    "000000000000000000000000000000000000000000000000000000000000000000012", 12);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(gv_parse_double(bad[i], strlen(bad[i]), &v) == -1, "refuse \"%s\"",
		    bad[i]);
	ok(gv_parse_int("9223372036854775807", 19, &n) == 0 && n == INT64_MAX,
	    "largest int");
	ok(gv_parse_int("-9223372036854775808", 20, &n) == 0 && n == INT64_MIN,
	    "smallest int");
	ok(gv_parse_int("9223372036854775808", 19, &n) == -1, "int overflow");
	ok(gv_parse_int("-9223372036854775809", 20, &n) == -1, "int underflow");
	ok(gv_parse_int("1.0", 3, &n) == -1, "1.0 is no integer");
	ok(gv_parse_int("", 0, &n) == -1, "nothing is no integer");
}

/* Against strtod and printf, over random doubles of several kinds. */
static void
test_round_trip(void)
{
	uint64_t n = getenv("GV_LONG") != NULL ? 10000000 : 200000;
	long wrong = 0, differ = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		uint64_t bits = gv_random(7, 0, 0, i);
		char buf[GV_NUM_LEN], best[64];
		double v, back;
		int digits;
		size_t len;

		switch (i % 6) {
		case 0:
			memcpy(&v, &bits, sizeof(v));
			break;
		case 1:
			v = (double)(int64_t)(bits % 2000001 - 1000000) / 1000;
			break;
		case 2:
			v = (double)(bits >> 11) * 0x1p-53;
			break;
		case 3: /* all powers of two, where the doubles below are closer, and neighbours */
			v = ldexp(1, (int)(i / 6 % 2098) - 1074);
			v = bits & 1 ? v : nextafter(v, bits & 2 ? 0 : HUGE_VAL);
			break;
		case 4:
			v = (double)(bits >> (bits % 40 + 11)) /
			    pow(10, (double)(bits >> 6 & 15));
			break;
		default:
			v = (double)(bits % 1000000007) * 1e-5;
		}
		if (!isfinite(v))
			continue;
		len = gv_format_double(buf, v);
		for (digits = 15; digits <= 17; digits++) {
			snprintf(best, sizeof(best), "%.*g", digits, v);
			if (strtod(best, NULL) == v)
				break;
		}
		wrong += gv_parse_double(buf, len, &back) != 0 || back != v ||
			 strtod(buf, NULL) != v || strlen(buf) != len;
		differ += strcmp(buf, v == 0 ? "0" : best) != 0;
	}
	is_int(wrong, 0, "formatted doubles read back equal");
	is_int(differ, 0, "and are the shortest of printf's %%.15g, %%.16g, %%.17g");
}

static void
is_format(double v, const char *want)
{
	char buf[GV_NUM_LEN];

	gv_format_double(buf, v);
	is_str(buf, want, "format %s", want);
}

static void
test_format(void)
{
	is_format(0.1, "0.1");
	is_format(-0.0, "0");
	is_format(-2.5, "-2.5");
	is_format(100, "100");
	is_format(1e15, "1e+15");
	is_format(0.001, "0.001");
	is_format(0.00012, "0.00012");
	is_format(1.0 / 3, "0.3333333333333333");
	is_format(123456.789, "123456.789");
	is_format(5e-324, "4.94065645841247e-324");
}

static void
test_units(void)
{
	static const char *const names[] = {"B", "KB", "MB", "GB", "TB", "B", "KiB",
	    "MiB", "GiB", "TiB", "", "K", "M", "G", "T"};
	static const char *const rates[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "B/s",
	    "KiB/s", "MiB/s", "GiB/s", "TiB/s", "bps", "Kbps", "Mbps", "Gbps", "Tbps"};
	static const struct {
		const char *s;
		double seconds;
	} each[] = {{"1", 1}, {"1s", 1}, {"1ms", 1e-3}, {"1us", 1e-6}, {"1m", 60},
	    {"1min", 60}, {"1h", 3600}, {"1d", 86400}};
	double s, r, r_before = 0;
	int64_t b, b_before = 0;
	char text[16];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int step = strlen(names[i]) == 2 ? 1000 : 1024;

		snprintf(text, sizeof(text), "1%s", names[i]);
		ok(gv_parse_bytes(text, &b) == 0 &&
			b == (i % 5 == 0 ? 1 : b_before * step),
		    "%s is %d times the unit before", text, step);
		b_before = b;
		step = strchr(rates[i], 'i') != NULL ? 1024 : 1000;
		snprintf(text, sizeof(text), "8%s", rates[i]);
		ok(gv_parse_rate(text, &r) == 0 && r == (i % 5 > 0   ? r_before * step
							    : i == 5 ? 8
								     : 1),
		    "%s is %d times the unit before", text, step);
		r_before = r;
	}
	ok(gv_parse_bytes("1kB", &b) == 0 && b == 1000, "kB is KB");
	for (i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		ok(gv_parse_duration(each[i].s, &s) == 0 && s == each[i].seconds, "%s",
		    each[i].s);
	ok(gv_parse_duration("90", &s) == 0 && s == 90, "90");
	ok(gv_parse_duration("1.5h", &s) == 0 && s == 5400, "1.5h");
	ok(gv_parse_duration("250ms", &s) == 0 && s == .25, "250ms");
	ok(gv_parse_duration("15m", &s) == 0 && s == 900, "15m");
	ok(gv_parse_duration("-1s", &s) == -1, "-1s");
	ok(gv_parse_duration("1 s", &s) == -1, "1 s");
	ok(gv_parse_duration("1y", &s) == -1, "1y");
	ok(gv_parse_bytes("16GiB", &b) == 0 && b == INT64_C(16) << 30, "16GiB");
	ok(gv_parse_bytes("1.5KB", &b) == 0 && b == 1500, "1.5KB");
	ok(gv_parse_bytes("10EiB", &b) == -1, "10EiB");
	ok(gv_parse_bytes("16G", &b) == 0 && b == INT64_C(16) << 30, "16G");
	ok(gv_parse_bytes("16g", &b) == 0 && b == INT64_C(16) << 30,
	    "16g, as Slurm has it");
	ok(gv_parse_bytes("16gb", &b) == -1, "16gb");
}

static void
test_rates(void)
{
	static const char *const bad[] = {"", "1", "GB/s", "1GB", "1B", "1b", "1Gib",
	    "1iB/s", "1Gibps", "1gB/s", "0B/s", "-1GB/s", "1 GB/s", "1GB/s ", "1e308TB/s",
	    "1GiBps", "1Gibps", "1GG/s", "1gB/s", "1gib/s", "1gbit", "1gbytes/s", "1bit"};
	static const struct {
		const char *s;
		double bytes_per_s;
	} good[] = {{"25GB/s", 25e9}, {"10Gb/s", 1.25e9}, {"10Gbps", 1.25e9},
	    {"1e9B/s", 1e9}, {"2KiB/s", 2048}, {"8kb/s", 1000}, {"8Kb/s", 1000},
	    {"1.5TB/s", 1.5e12}, {"1GiB/s", 1073741824}, {"8bps", 1}, {"3B/s", 3},
	    {"1MB/s", 1e6}, {"10GBps", 1e10}, {"10Gbit/s", 1.25e9}, {"10gbps", 1.25e9},
	    {"100mbit/s", 1.25e7}, {"8bits/s", 1}, {"8kbit/s", 1000}, {"1tb/s", 1.25e11},
	    {"8Gibit/s", 1073741824}, {"2Gbytes/s", 2e9}, {"3byte/s", 3}};
	double v;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(gv_parse_rate(bad[i], &v), -1, "no rate: %s", bad[i]);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(gv_parse_rate(good[i].s, &v) == 0 && v == good[i].bytes_per_s, "%s",
		    good[i].s);
}

static void
test_times(void)
{
	static const char *const bad[] = {"", "2026-13-01", "2026-02-29", "2026-2-1",
	    "2026-11-22T24:00", "2026-11-22T09", "2026-11-22X", "2026-11-22T09:30:15Zx",
	    "26-11-22", "2026-11-22T09:3", "1900-02-29", "0000-01-01"};
	static const struct {
		const char *s;
		double seconds;
	} good[] = {{"0", 0}, {"1.5", 1.5}, {"-3e2", -300}, {"1970-01-01", 0},
	    {"2000-02-29", 951782400}, {"2026-11-22", 1795305600},
	    {"2026-11-22T09:30", 1795339800}, {"2026-11-22 09:30:15", 1795339815},
	    {"2026-11-22T09:30:15Z", 1795339815}, {"1969-12-31", -86400},
	    {"9999-12-31T23:59:59Z", 253402300799.0}};
	static const struct {
		double bytes;
		const char *shown;
	} bytes[] = {{0, "0 bytes"}, {524288, "524288 bytes"}, {1048576, "0.001 GiB"},
	    {888353408, "0.827 GiB"}, {1073741824, "1.00 GiB"},
	    {17179869184.0, "16.0 GiB"}, {395805900800.0, "369 GiB"}};
	char buf[GV_NUM_LEN];
	double v;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(gv_parse_time(bad[i], &v), -1, "no time: %s", bad[i]);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(gv_parse_time(good[i].s, &v) == 0 && v == good[i].seconds, "%s",
		    good[i].s);
	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		is_str(gv_show_bytes(buf, bytes[i].bytes), bytes[i].shown, "%s",
		    bytes[i].shown);
}

/* Where a long text is cut: before a character that does not fit, of 4 bytes at most. */
static void
quote_cut(void)
{
	static const struct {
		const char *character;
		int from, cut;
	} of[] = {
	    {"\xc3\xa9", 63, 63},
	    {"\xc3\xa9", 62, 64},
	    {"\xe2\x82\xac", 62, 62},
	    {"\xe2\x82\xac", 63, 63},
	    {"\xe2\x82\xac", 61, 64},
	    {"\xf0\x9f\x98\x80", 61, 61},
	    {"\xf0\x9f\x98\x80", 62, 62},
	    {"\xf0\x9f\x98\x80", 63, 63},
	    {"\xf0\x9f\x98\x80", 60, 64},
	    {"\xf0\x9f\x98\x80", 64, 64},
	};
	char s[80], q[GV_QUOTE_LEN], want[80];
	size_t k;
	int i;

	for (k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		int len = of[k].from + (int)strlen(of[k].character) + 3;

		memset(s, 'x', sizeof(s));
		memcpy(s + of[k].from, of[k].character, strlen(of[k].character));
		gv_quote(q, s, (size_t)len);
		snprintf(want, sizeof(want), "\"%.*s...\"", of[k].cut, s);
		is_str(q, want, "no part of a character of %zu bytes at %d",
		    strlen(of[k].character), of[k].from);
	}
	/* bytes that go on and on are no character: the cut is near the end all the same */
	memset(s, 'x', sizeof(s));
	for (i = 50; i < 70; i++)
		s[i] = '\xbf';
	gv_quote(q, s, 75);
	i = (int)strlen(q);
	is_str(q + i - 5, "\xbf...\"", "bytes that are no text are cut, too");
	is_int(i, 60 + 5, "not before the 60th");
	gv_quote(q, s, 64);
	ok(strstr(q, "...") == NULL, "64 bytes are not cut");
}

static void
test_errors(void)
{
	struct gv_error e = {0};
	char q[GV_QUOTE_LEN];
	char many[200];
	int i;

	is_int(gv_error_at(&e, "jobs.csv", 12, "share", "expected %s", "x"), -1,
	    "returns -1");
	is_str(e.text[0], "jobs.csv:12: share: expected x", "location in front");
	gv_error_at(&e, NULL, 0, NULL, "bad");
	is_str(e.text[1], "<stdin>: bad", "standard input by name");
	gv_error_clear(&e);
	gv_error_at(&e, "-", 3, NULL, "bad");
	gv_error_at(&e, "x", 0, "share", "bad");
	is_str(e.text[0], "<stdin>:3: bad", "as it is named in a command");
	is_str(e.text[1], "x: share: bad", "a column of no line");
	gv_error_at(&e, "a\nb", 1, NULL, "two\nlines");
	is_str(e.text[2], "a?b:1: two?lines", "no second line");
	for (i = 0; i < 20; i++)
		gv_error_set(&e, "more");
	is_int((long long)e.count, 23, "all are counted");
	is_str(gv_quote(q, "a\"b\n\x01", 5), "\"a\\\"b\\x0a\\x01\"", "quoting");
	memset(many, 'x', sizeof(many));
	is_str(gv_quote(q, "a\xc2\x9b\x33", 4), "\"a\\xc2\\x9b3\"", "C1 is escaped");
	is_str(gv_quote(q, "\x9bz", 2), "\"\\x9bz\"", "also a byte alone");
	is_str(gv_quote(q,
		   "a\xe2\x80\xae"
		   "b",
		   5),
	    "\"a\\xe2\\x80\\xaeb\"", "and bidi controls");
	is_str(gv_quote(q, "\xe2\x81\xa6\xc3\xa9", 5), "\"\\xe2\\x81\\xa6\xc3\xa9\"",
	    "not letters");
	gv_error_clear(&e);
	gv_error_set(&e, "a\nb\xc2\x85"
			 "c\xd8\x9c\xe2\x80\x8f.\xc3\x9f");
	is_str(e.text[0], "a?b??c?????.\xc3\x9f", "in messages they are marks");
	gv_quote(q, many, sizeof(many));
	is_int((long long)strlen(q), 64 + 5, "cut at 64");
	quote_cut();
}

/* Known answers of Random123's kat_vectors for philox4x32-10. */
static void
test_philox(void)
{
	static const uint32_t in[3][6] = {{0, 0, 0, 0, 0, 0},
	    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
	    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}};
	static const uint32_t want[3][4] = {
	    {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
	    {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
	    {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < 3; i++) {
		uint32_t out[4];

		gv_philox(in[i], in[i] + 4, out);
		ok(memcmp(out, want[i], sizeof(out)) == 0, "philox known answer %d", i);
	}
	ok(gv_random(0, 0, 0, 0) == UINT64_C(0xe169c58d6627e8d5),
	    "a number is the low words of a counter's");
	is_near(gv_random_uniform(0, 0, 0, 0), 0xe169c58d6627e8d5p-64, 1e-15,
	    "and a part of 1");
	is_near(gv_random_normal(0, 0, 0, 0),
	    sqrt(-2 * log(0xe169c58d6627e8d5p-64)) *
		cos(2 * acos(-1) * 0x9b00dbd8bc57ac4cp-64),
	    1e-12, "a normal one is of two, by Box and Muller");
	for (i = 0; i < 100000; i++) {
		double x = gv_random_normal(1, 2, 3, (uint64_t)i);

		sum += x;
		squares += x * x;
	}
	is_near(sum / 1e5, 0, .01, "mean of normals");
	is_near(squares / 1e5, 1, .02, "variance of normals");
}

static void
test_arena(void)
{
	struct gv_arena a = {0};
	char *s[1000];
	int i, bad = 0;

	for (i = 0; i < 1000; i++) {
		char text[2000];
		int len = i * 2 % 1999;

		memset(text, 'a' + i % 26, sizeof(text));
		s[i] = gv_arena_strndup(&a, text, (size_t)len);
	}
	for (i = 0; i < 1000; i++) {
		size_t len = (size_t)(i * 2 % 1999);

		bad += strlen(s[i]) != len || (len > 0 && s[i][len - 1] != 'a' + i % 26);
	}
	is_int(bad, 0, "arena keeps what it was given");
	ok((uintptr_t)gv_arena_alloc(&a, 3, 8) % _Alignof(max_align_t) == 0, "aligned");
	gv_arena_free(&a);
	gv_arena_free(&a);
	ok(a.head == NULL, "freed twice");
}

static void
test_shared(void)
{
	struct gv_error e = {0};
	unsigned char *p = gv_shm_new(70000, &e);

	ok(p != NULL && p[0] == 0 && p[69999] == 0, "shared memory is zeroed");
	fflush(stdout);
	if (p != NULL && fork() == 0) {
		p[69999] = 7;
		_exit(0);
	}
	wait(NULL);
	ok(p != NULL && p[69999] == 7, "and the same to a child");
	gv_shm_free(p, 70000);
	gv_shm_free(NULL, 0);
	ok(gv_shm_new(SIZE_MAX / 4, &e) == NULL &&
		strncmp(e.text[0], "no shared memory of ", 20) == 0,
	    "more than there is is refused");
}

/* ---- words ---- */

/* Words put together are cut into the same, and are those that sh reads. */
static void
test_words(void)
{
	static const char *const piece[] = {
	    "a", " ", "'", "\\", "\t", "$x", "\"", "*", "=1"};
	static const struct {
		const char *text,
		    *shown; /* words with | between them; NULL: a quote is open */
	} of[] = {{"", ""}, {"  \t ", ""}, {"a", "a"}, {" a  b\tc ", "a|b|c"},
	    {"'a b'c d", "a bc|d"}, {"'' x", "|x"}, {"a\\ b", "a b"}, {"\\'", "'"},
	    {"'\\'", "\\"}, {"'a", NULL}, {"a\\", NULL}, {"a 'b' 'c", NULL}};
	size_t k, i, n, wrong = 0;

	for (k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		char **word = gv_words_cut(of[k].text, &n);
		struct gv_strbuf s = {0};

		gv_strbuf_str(&s, "");
		for (i = 0; word != NULL && i < n; i++)
			gv_strbuf_fmt(&s, "%s%s", i > 0 ? "|" : "", word[i]);
		ok((word == NULL) == (of[k].shown == NULL) &&
			(word == NULL ||
			    (strcmp(s.s, of[k].shown) == 0 && word[n] == NULL)),
		    "words of \"%s\"", of[k].text);
		gv_strbuf_free(&s);
		free(word);
	}
	for (k = 0; k < 3000; k++) {
		char list[6][64] = {""};
		size_t count = 1 + below(6), len;
		struct gv_strbuf s = {0};
		char **word;

		for (i = 0; i < count; i++)
			for (len = below(5); len > 0; len--)
				strcat(list[i],
				    piece[below(sizeof(piece) / sizeof(*piece))]);
		for (i = 0; i < count; i++)
			gv_words_add(&s, list[i]);
		word = gv_words_cut(s.s, &n);
		wrong += word == NULL || n != count || word[n] != NULL;
		for (i = 0; word != NULL && i < n && n == count; i++)
			wrong += strcmp(word[i], list[i]) != 0;
		if (k < 20) { /* sh reads them so, too */
			struct gv_strbuf command = {0};
			char got[400] = "";
			FILE *f;

			gv_strbuf_fmt(&command, "printf '%%s|' %s", s.s);
			f = popen(command.s, "r");
			(void)!fread(got, 1, sizeof(got) - 1, f);
			pclose(f);
			gv_strbuf_clear(&command);
			for (i = 0; i < count; i++)
				gv_strbuf_fmt(&command, "%s|", list[i]);
			wrong += strcmp(got, command.s) != 0;
			gv_strbuf_free(&command);
		}
		gv_strbuf_free(&s);
		free(word);
	}
	is_int(wrong, 0, "words put together and cut again");
	{
		struct gv_strbuf s = {0};

		gv_words_add(&s, "plain/word-1.5,a:b@c%+=_");
		is_str(s.s, "plain/word-1.5,a:b@c%+=_", "plain words are not quoted");
		gv_strbuf_free(&s);
	}
}

/* ---- time ---- */

static void
test_sleep(void)
{
	double start_s = gv_clock_s(), took_s;

	gv_sleep_s(0);
	gv_sleep_s(-1);
	gv_sleep_s(NAN);
	gv_sleep_s(.05);
	took_s = gv_clock_s() - start_s;
	ok(took_s >= .05 && took_s < 5, "sleeps as long as it is told: %g s", took_s);
	ok(fabs(gv_now_s() - (double)time(NULL)) < 5, "the time of day");
}

/* ---- last words ---- */

static void
test_last_words(void)
{
	char said[200] = "";
	int to[2], status = 0;
	pid_t pid;
	ssize_t n;

	fflush(stdout);
	if (pipe(to) != 0 || (pid = fork()) == -1)
		abort();
	if (pid == 0) {
		if (dup2(to[1], STDERR_FILENO) == -1)
			_exit(1);
		errno = ENOENT;
		gv_die_sys("cannot open %s", "a\033b");
	}
	close(to[1]);
	n = read(to[0], said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	close(to[0]);
	waitpid(pid, &status, 0);
	ok(strstr(said, ": cannot open a?b: No such file or directory\n") != NULL,
	    "the call that failed, and why: %s", said);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 2, "status");
}

/* ---- more memory than there are addresses ---- */

enum { REALLOC, LINES, LINES_END, ARENA, ARENA_END, ASKED };

static void
ask_for_much(int which)
{
	static volatile size_t most = SIZE_MAX; /* or compilers say so */
	struct gv_arena a = {0};

	switch (which) {
	case REALLOC:
		gv_xrealloc(NULL, most / 8 + 2, 8);
		break;
	case LINES:
		gv_xlines(most / 8 + 2, 8);
		break;
	case LINES_END:
		gv_xlines(most - 100, 1);
		break;
	case ARENA:
		gv_arena_alloc(&a, most / 8 + 2, 8);
		break;
	case ARENA_END:
		gv_arena_alloc(&a, most - 4, 1);
		break;
	}
}

static void
test_much_memory(void)
{
	struct gv_arena a = {0};
	void *p = gv_xrealloc(NULL, 5, 0), *q = gv_xlines(5, 0);
	int which, status = 0;
	pid_t pid;

	ok(p != NULL && q != NULL && gv_arena_alloc(&a, 5, 0) != NULL,
	    "things of no size have a place");
	free(p);
	free(q);
	gv_arena_free(&a);
	for (which = 0; which < ASKED; which++) {
		fflush(stdout);
		if ((pid = fork()) == -1)
			abort();
		if (pid == 0) {
			int fd = open("/dev/null", O_WRONLY);

			dup2(fd, STDERR_FILENO);
			ask_for_much(which);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 2,
		    "too much is out of memory, not little (%d)", which);
	}
}

/* ---- terminals ---- */

struct seen {
	size_t width;
	bool colour;
};

/* What a program sees whose output is a terminal of so many columns, with that environment. */
static struct seen
see(bool terminal, unsigned short columns, const char *const env[3])
{
	static const char *const name[] = {"COLUMNS", "NO_COLOR", "TERM"};
	struct seen seen = {99, false};
	int to[2];
	pid_t pid;
	size_t i;

	fflush(stdout);
	if (pipe(to) != 0 || (pid = fork()) == -1)
		abort();
	if (pid == 0) {
		int master = posix_openpt(O_RDWR | O_NOCTTY), out;
		struct winsize size = {.ws_col = columns, .ws_row = 24};

		if (master == -1 || grantpt(master) != 0 || unlockpt(master) != 0)
			_exit(1);
		out = terminal ? open(ptsname(master), O_RDWR | O_NOCTTY)
			       : open("/dev/null", O_WRONLY);
		if (dup2(out, STDOUT_FILENO) == -1 ||
		    (terminal && ioctl(STDOUT_FILENO, TIOCSWINSZ, &size) != 0))
			_exit(1);
		for (i = 0; i < 3; i++)
			if (env[i] != NULL)
				setenv(name[i], env[i], 1);
			else
				unsetenv(name[i]);
		memset(&seen, 0, sizeof(seen));
		seen.width = gv_term_width();
		seen.colour = gv_term_colour();
		_exit(write(to[1], &seen, sizeof(seen)) != sizeof(seen));
	}
	close(to[1]);
	if (read(to[0], &seen, sizeof(seen)) != sizeof(seen))
		seen.width = 98;
	close(to[0]);
	waitpid(pid, NULL, 0);
	return seen;
}

static void
test_terminal(void)
{
	static const struct {
		bool terminal;
		unsigned short columns;
		const char *env[3]; /* COLUMNS, NO_COLOR, TERM */
		struct seen want;
	} of[] = {
	    {false, 0, {"50", NULL, "xterm"}, {0, false}},
	    {true, 70, {NULL, NULL, "xterm"}, {70, true}},
	    {true, 1, {NULL, NULL, "xterm"}, {1, true}},
	    {true, 70, {"50", "", "xterm"}, {50, true}},
	    {true, 70, {"1", "1", "xterm"}, {1, false}},
	    {true, 70, {"0", "yes", "xterm"}, {70, false}},
	    {true, 70, {"-3", NULL, "dumb"}, {70, false}},
	    {true, 70, {"wide", NULL, ""}, {70, false}},
	    {true, 70, {"99999", NULL, NULL}, {99999, false}},
	    {true, 70, {"100000", NULL, "vt100"}, {70, true}},
	    {true, 0, {NULL, NULL, "vt100"}, {80, true}},
	};
	size_t k;

	for (k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		struct seen got = see(of[k].terminal, of[k].columns, of[k].env);

		is_int((long long)got.width, (long long)of[k].want.width,
		    "terminal %zu: width", k);
		is_int(got.colour, of[k].want.colour, "terminal %zu: colour", k);
	}
}

/* A directory is synced; one that is not there, and a file, cannot be. */
/* What stands on a terminal, and nothing elsewhere. */
static void
test_progress(void)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), end, before = dup(STDERR_FILENO);
	char text[256] = "";
	ssize_t n;

	ok(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0,
	    "a terminal");
	end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	dup2(end, STDERR_FILENO);
	gv_progress("%d of %d", 3, 7);
	gv_progress(NULL);
	gv_progress(NULL);
	dup2(before, STDERR_FILENO);
	n = read(terminal, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	is_str(text, "\r\033[K3 of 7\r\033[K", "progress is shown, and taken back once");
	close(end);
	close(terminal);
	close(before);
}

static void
test_sync(void)
{
	struct gv_error e = {0};

	is_int(gv_sync_dir("/tmp", &e), 0, "a directory");
	is_int((long long)e.count, 0, "without an error");
	is_int(gv_sync_dir("/tmp/gv-none/none", &e), -1, "one that is not there");
	is_str(e.text[0], "/tmp/gv-none/none: cannot sync: No such file or directory",
	    "message");
	is_int(gv_sync_dir("/dev/null", &e), -1, "no directory");
}

int
main(void)
{
	test_shared();
	test_parse();
	test_round_trip();
	test_format();
	test_units();
	test_rates();
	test_times();
	test_errors();
	test_philox();
	test_arena();
	draws_begin(41, 0, 0);
	test_words();
	test_sleep();
	test_sync();
	test_last_words();
	test_much_memory();
	test_terminal();
	test_progress();
	return done_testing();
}
