/* Drawn numbers, names, words, texts, JSON and errors are read, compared and written as before. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_in.h"
#include "base/near.h"
#include "base/num.h"
#include "base/utf8.h"
#include "base/words.h"
#include "draws.h"
#include "recorded_frame.h"
#include "recorded_out.h"

static struct gv_error e;

/* ---- numbers ---- */

static void
draw_digits(struct gv_strbuf *s, size_t most)
{
	size_t n = below(9) == 0 ? 0 : 1 + below(below(5) == 0 ? most : 6);

	for (; n > 0; n--)
		gv_strbuf_char(s, (char)('0' + (below(4) == 0 ? 0 : below(10))));
}

static void
draw_number(struct gv_strbuf *s)
{
	static const char *const odd[] = {"nan", "inf", "0x1p3", "1e", "--1", "+1", " 1",
	    "1 ", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
	    "-9223372036854775809", "-9223372036854775810", "18446744073709551617",
	    "1.7976931348623157e308", "1.7976931348623159e308", "4.9e-324", "2.4e-324",
	    "2.2250738585072011e-308", "9007199254740993",
	    "123456789012345678901234567890", ".5", "5.", "1e400", "1e-400", "0e999",
	    "-0", "1.e3", "1e+5", "1E5"};

	if (below(6) == 0) {
		gv_strbuf_str(s, odd[below(30)]);
		return;
	}
	if (below(6) == 0)
		gv_strbuf_char(s, '-');
	draw_digits(s, 30);
	if (below(2) == 0) {
		gv_strbuf_char(s, '.');
		draw_digits(s, 40);
	}
	if (below(3) == 0)
		gv_strbuf_fmt(s, "e%d", (int)below(700) - 350);
}

static void
draw_time(struct gv_strbuf *s)
{
	static const char *const month[] = {
	    "01", "02", "02", "02", "03", "04", "06", "09", "11", "12", "00", "13"};
	static const char *const day[] = {"01", "28", "29", "30", "31", "32", "00", "7"};
	static const char *const year[] = {"1970", "2000", "2024", "2026", "2100", "1900",
	    "2400", "1969", "9999", "0001", "20", "10000"};
	static const char *const clock[] = {"", "T09:30", " 23:59:59", "T24:00", "T00:60",
	    "T12:00:60", "T1:2", "T09:30:15Z", "Z", "T09:30:15.5", " 00:00:00 "};

	gv_strbuf_fmt(s, "%s-", year[below(12)]);
	gv_strbuf_fmt(s, "%s-", month[below(12)]);
	gv_strbuf_str(s, day[below(8)]);
	gv_strbuf_str(s, clock[below(11)]);
}

static void
ask_numbers(struct recorded *r)
{
	static const char *const unit[] = {"", "s", "m", "h", "d", "ms", "us", "KB", "MB",
	    "GB", "TB", "KiB", "MiB", "GiB", "TiB", "K", "M", "G", "T", "B", "GB/s",
	    "Gb/s", "kbps", "MBps", "Gibit/s", "bytes/s", "b/s", "tbits/s", "mB/s", "x",
	    " s", "gib/s", "Kib/s", "S", "byte/s", "kB/s"};
	struct gv_strbuf s = {0};
	char buf[GV_NUM_LEN];
	double v = -7;
	int64_t n = -7;

	draw_number(&s);
	recorded_whole(r, gv_parse_double(s.s, s.len, &v));
	recorded_double(r, v);
	recorded_whole(r, (long long)gv_format_double(buf, v));
	recorded_text(r, buf);
	recorded_text(r, gv_show_bytes(buf, v));
	recorded_whole(r, gv_parse_int(s.s, s.len, &n));
	recorded_whole(r, n);
	recorded_whole(r, (long long)gv_format_int(buf, n));
	recorded_text(r, buf);
	gv_strbuf_str(&s, unit[below(36)]);
	recorded_whole(r, gv_parse_duration(s.s, &v));
	recorded_double(r, v);
	recorded_whole(r, gv_parse_bytes(s.s, &n));
	recorded_whole(r, n);
	recorded_whole(r, gv_parse_rate(s.s, &v));
	recorded_double(r, v);
	gv_strbuf_clear(&s);
	if (below(9) == 0)
		draw_number(&s);
	else
		draw_time(&s);
	recorded_whole(r, gv_parse_time(s.s, &v));
	recorded_double(r, v);
	gv_strbuf_free(&s);
}

/* Of doubles that lie in the middle between two of 17 digits, and others, as the C library. */
static size_t
test_middles(void)
{
	char got[GV_NUM_LEN], want[40];
	size_t i, bad = 0;
	int digits;

	for (i = 0; i < 100; i++) {
		double mantissa = floor(ldexp(i % 4 == 0 ? 1 : 1 + uniform(), 52));
		int power = i % 2 == 0 ? (int)below(2000) - 1060 : (int)below(12) - 8;
		double v = ldexp(mantissa, power);

		for (digits = 15; digits <= 17; digits++) {
			snprintf(want, sizeof(want), "%.*g", digits, v);
			if (strtod(want, NULL) == v)
				break;
		}
		gv_format_double(got, v);
		bad += strcmp(got, want) != 0;
	}
	return bad;
}

/* ---- texts ---- */

static const char *const parts[] = {"a", "job", "_id", " ", "\t", "'", "\\", "\"", "\n",
    "\x01", "\x7f", "\xc3\xbc", "\xe2\x80\xae", "\xf0\x9f\x98\x80", "\xff", "\xc3", "$x",
    "\xed\xa0\x80", "\xc2\x85", "--", "gpu", "0", "\xf4\x90\x80\x80", "\xe0\x80\x80",
    "*"};

static void
draw_text(struct gv_strbuf *s)
{
	size_t n = below(below(9) == 0 ? 40 : 8);

	for (; n > 0; n--)
		gv_strbuf_str(s, parts[below(sizeof(parts) / sizeof(parts[0]))]);
	gv_strbuf_str(s, "");
	if (below(4) == 0 && s->len > 0)
		s->len = below(s->len);
}

static size_t
ask_text(struct recorded *r)
{
	struct gv_strbuf s = {0}, b = {0};
	char q[GV_QUOTE_LEN], **word;
	size_t i, n = 0, bad = 0;
	long line = (long)below(3);
	uint32_t c;

	draw_text(&s);
	for (i = 0; i < s.len; i += n) {
		recorded_whole(r, gv_utf8_steers(s.s + i, s.len - i, &n));
		recorded_whole(r, (long long)n);
		n = gv_utf8_next(s.s + i, s.len - i, &c);
		recorded_whole(r, (long long)(n << 32 | c));
	}
	recorded_text(r, gv_quote(q, s.s, s.len));
	gv_error_at(&e, line == 2 ? NULL : "file", line, s.len == 2 ? "column" : NULL,
	    "%s of %zu", s.s, s.len);
	if (below(9) == 0) {
		recorded_error(r, &e);
		gv_error_clear(&e);
	}
	s.s[s.len] = '\0';
	recorded_whole(r, (long long)gv_utf8_count(s.s));
	word = gv_words_cut(s.s, &n);
	recorded_whole(r, word != NULL);
	for (i = 0; word != NULL && i < n; i++) {
		recorded_text(r, word[i]);
		gv_words_add(&b, word[i]);
	}
	bad += word != NULL && word[n] != NULL;
	free(word);
	recorded_whole(r, (long long)b.len);
	if (b.len > 0)
		recorded_text(r, b.s);
	gv_strbuf_free(&s);
	gv_strbuf_free(&b);
	return bad;
}

/* ---- names that look like others ---- */

static void
ask_near(struct recorded *r)
{
	static const char *const known[] = {"job_id", "gpu_type", "steps_per_s", "share",
	    "usd_per_h", "rate_a", "rate_b", "id", "gpus", "bytes", "memory_bytes",
	    "completion_mean_s", "time_ms", "wait_us",
	    "a_name_of_sixty_four_letters_and_not_one_more_than_that_many_lets"};
	const char *name = known[below(15)];
	size_t changes = below(4), at, len = strlen(name), first = below(4);
	char s[100], fold[100];
	const char *near;

	snprintf(s, sizeof(s), "%s%s", name,
	    below(6) == 0   ? "our"
	    : below(9) == 0 ? "econds"
			    : "");
	for (; changes > 0 && len > 2; changes--) {
		len = strlen(s);
		at = below(len - 1);
		switch (below(6)) {
		case 0:
			memmove(s + at, s + at + 1, len - at);
			break;
		case 1:
			memmove(s + at + 1, s + at, len - at + 1);
			s[at] = 'q';
			break;
		case 2:
			s[at] = (char)(s[at] >= 'a' ? s[at] - 32 : '-');
			break;
		case 3: {
			char c = s[at];

			s[at] = s[at + 1];
			s[at + 1] = c;
			break;
		}
		case 4:
			s[at] = 'w';
			break;
		default:
			memmove(s + at + 1, s + at, len - at + 1);
			s[at] = "_-. "[below(4)];
		}
	}
	len = strlen(s);
	near = gv_near(s, len, known + first, 15 - first);
	recorded_text(r, near != NULL ? near : "");
	recorded_bytes(r, fold, gv_fold(s, len, fold));
}

/* ---- JSON ---- */

static void
put_value(struct gv_json *j, size_t depth)
{
	struct gv_strbuf s = {0};
	size_t n = below(4), kind = below(depth > 0 ? 8 : 6), i;
	bool one_line = below(3) == 0;

	draw_text(&s);
	switch (kind) {
	case 0:
		gv_json_str(j, s.s, s.len);
		break;
	case 1:
		gv_json_double(j, below(5) == 0 ? NAN : 8 * uniform());
		break;
	case 2:
		gv_json_int(j, (int64_t)below(900) - 450);
		break;
	case 3:
		gv_json_bool(j, n < 2);
		break;
	case 4:
	case 5:
		gv_json_null(j);
		break;
	default:
		if (kind == 6)
			gv_json_array(j, one_line);
		else
			gv_json_object(j, one_line);
		for (i = 0; i < n; i++) {
			if (kind == 7) {
				gv_strbuf_clear(&s);
				draw_text(&s);
				s.s[s.len] = '\0';
				gv_json_key(j, s.s);
			}
			put_value(j, depth - 1);
		}
		gv_json_end(j);
	}
	gv_strbuf_free(&s);
}

/* What was written, and then some of it spoilt, read. */
static void
ask_json(struct recorded *r)
{
	static const char odd[] = "{}[]:,\"\\0-.etn \n\x01\xff";
	struct gv_json j = {.out = answer_begin()};
	static struct gv_json_in in;
	enum gv_json_token t;
	struct gv_in *from;
	size_t turn, n = 0;

	gv_json_array(&j, below(2) == 0);
	put_value(&j, 4);
	put_value(&j, 3);
	gv_json_end(&j);
	gv_out_close(j.out, &e);
	recorded_bytes(r, answer_.text.s, answer_.text.len);
	for (turn = 0; turn < 3; turn++) {
		struct gv_error bad = {0};

		if (turn > 0) {
			size_t at = below(answer_.text.len);

			answer_.text.s[at] = odd[below(sizeof(odd) - 1)];
		}
		gv_in_memory(&from, "text", answer_.text.s, answer_.text.len, turn, &bad);
		gv_json_in_start(&in, from);
		do {
			t = gv_json_in_next(&in, &bad);
			recorded_whole(r, (long long)t);
			recorded_whole(r, in.line);
			if (t == GV_JSON_KEY || t == GV_JSON_STRING ||
			    t == GV_JSON_NUMBER)
				recorded_bytes(r, in.text.s, in.text.len);
			if (t == GV_JSON_ARRAY && n++ % 3 == 2)
				recorded_whole(r, gv_json_in_skip(&in, t, &bad));
		} while (t != GV_JSON_ERROR && t != GV_JSON_END);
		recorded_error(r, &bad);
		gv_json_in_free(&in);
		gv_in_close(from);
	}
}

/* ---- numbers of strings, against a look at all of them ---- */

static size_t
test_hash(void)
{
	static char key[400][24];
	size_t n = 0, bad = 0, i, k, len, many = 1 + below(400);
	struct gv_hash h = {0};

	bad += gv_hash_find(&h, "", 0) != -1;
	for (i = 0; i < many; i++) {
		char *s = key[n];

		len = below(3) == 0 ? below(20) : 4;
		for (k = 0; k < len; k++)
			s[k] = (char)('a' + below(3));
		for (k = 0; k < n && (h.key[k].len != len || memcmp(key[k], s, len) != 0);
		     k++)
			continue;
		bad += gv_hash_find(&h, s, len) != (k < n ? (ptrdiff_t)k : -1);
		bad += gv_hash_add(&h, s, len) != k;
		n += k == n;
		bad += h.n != n || h.n_slots < 2 * n || h.n_slots > 64 + 8 * n;
	}
	for (k = 0; k < n; k++)
		bad += gv_hash_find(&h, key[k], h.key[k].len) != (ptrdiff_t)k;
	gv_hash_free(&h);
	return bad + (h.n != 0 || gv_hash_find(&h, "a", 1) != -1);
}

/* ---- memory ---- */

/* Pieces of an arena do not overlap, stand where they may, and stay as they are. */
static size_t
test_arena(void)
{
	enum { LETTERS = 300000 };
	static char letters[LETTERS];
	struct {
		unsigned char *p;
		size_t n;
	} piece[200];
	size_t n = 1 + below(200), i, k, bad = 0, cap = 0, want = 0;
	struct gv_arena a = {0};
	int *grown = NULL;
	char *copy[200];

	memset(letters, 'x', LETTERS);
	for (i = 0; i < n; i++) {
		size_t size = below(30) == 0 ? below(LETTERS) : below(100);
		bool text = below(2) == 0;

		piece[i].n = size;
		piece[i].p = text ? (unsigned char *)gv_arena_strndup(&a, letters, size)
				  : gv_arena_alloc(&a, size, 1);
		if (text)
			bad += strlen((char *)piece[i].p) != size;
		else
			bad += (uintptr_t)piece[i].p % _Alignof(max_align_t) != 0;
		memset(piece[i].p, (int)(i % 251), piece[i].n);
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < piece[i].n; k++)
			bad += piece[i].p[k] != i % 251;
	gv_arena_free(&a);
	memset(gv_arena_alloc(&a, 10, 1), 'x', 10); /* it can be used again */
	gv_arena_free(&a);
	for (i = 0; i < 200; i++) {
		copy[i] = gv_xlines(i, 3);
		bad += (uintptr_t)copy[i] % 64 != 0;
		memset(copy[i], 'x', 3 * i);
	}
	for (i = 0; i < 200; i++) {
		free(copy[i]);
		copy[i] = gv_xstrndup(letters, i);
	}
	for (i = 0; i < 200; i++) {
		bad += strlen(copy[i]) != i;
		free(copy[i]);
	}
	for (i = 0; i < 40; i++) {
		size_t before = cap;

		want += below(9);
		grown = gv_xgrow(grown, &cap, want, sizeof(*grown));
		bad += cap < want;
		/* by half, so that many additions cost no more than a few */
		bad += cap != before && cap != want && cap != 16 &&
		       cap != before + before / 2;
	}
	free(grown);
	return bad;
}

int
main(void)
{
	struct recorded r;
	size_t turn, i, bad = 0, n;
	uint32_t point;

	recorded_open(&r);
	for (point = 0; point < 0x110000; point++) {
		const bool three = point < 0x10000;
		const char s[4] = {
		    (char)(three ? 0xe0 | point >> 12 : 0xf0 | point >> 18),
		    (char)(0x80 | (point >> (three ? 6 : 12) & 63)),
		    (char)(0x80 | (point >> (three ? 0 : 6) & 63)),
		    (char)(0x80 | (point & 63))};

		recorded_whole(&r, gv_utf8_steers(s, three ? 3 : 4, &n));
		recorded_whole(&r, (long long)n);
	}
	recorded_answer(&r, "characters that steer");
	for (turn = 0; turn < 40; turn++) {
		draws_begin(97, 0, (uint32_t)turn);
		for (i = 0; i < 300; i++)
			ask_numbers(&r);
		recorded_answer(&r, "numbers %zu", turn);
		for (i = 0; i < 100; i++)
			bad += ask_text(&r);
		recorded_answer(&r, "texts %zu", turn);
		for (i = 0; i < 200; i++)
			ask_near(&r);
		recorded_answer(&r, "names %zu", turn);
		for (i = 0; i < 20; i++)
			ask_json(&r);
		recorded_answer(&r, "JSON %zu", turn);
		bad += test_middles();
		bad += test_hash();
		bad += test_arena();
	}
	is_int((long long)bad, 0,
	    "numbers are the shortest, hashes, arenas and lists of words whole");
	answer_free();
	recorded_close(&r);
	return done_testing();
}
