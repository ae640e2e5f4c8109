/* base/near.h: what is near is what the definition says, word by word. */
#include <stdbool.h>
#include <string.h>

#include "base/near.h"
#include "draws.h"
#include "tap.h"

enum { MOST = 70, TRIALS = 30000 };

/* ---- the definition ---- */

/* The fewest changes that make the rest of b of the rest of a; one more in fewest[i][k]. */
static size_t fewest[MOST][MOST];

static size_t
changes(const char *a, const char *b, size_t i, size_t k, size_t change)
{
	size_t n = strlen(a + i), m = strlen(b + k), best, other;

	if (n == 0 || m == 0)
		return n + m;
	if (fewest[i][k] > 0)
		return fewest[i][k] - 1;
	best = changes(a, b, i + 1, k + 1, change) + (a[i] == b[k] ? 0 : change);
	other = changes(a, b, i + 1, k, change) + 1;
	best = other < best ? other : best;
	other = changes(a, b, i, k + 1, change) + 1;
	best = other < best ? other : best;
	if (n > 1 && m > 1 && a[i] == b[k + 1] && a[i + 1] == b[k]) {
		other = changes(a, b, i + 2, k + 2, change) + 1;
		best = other < best ? other : best;
	}
	fewest[i][k] = best + 1;
	return best;
}

static void
fold(const char *s, char *to)
{
	for (; *s != '\0'; s++)
		if (strchr("_-. ", *s) == NULL)
			*to++ = *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s;
	*to = '\0';
}

static bool
is_sibling(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	return n > 2 && m > 2 && a[n - 2] == '_' && b[m - 2] == '_' &&
	       a[n - 1] != b[m - 1];
}

static bool
near_by(const char *typed, const char *word)
{
	char a[MOST], b[MOST];
	size_t n, m;

	if (is_sibling(typed, word))
		return false;
	fold(typed, a);
	fold(word, b);
	n = strlen(a);
	m = strlen(b);
	if (n == 0)
		return false;
	if (strcmp(a, b) == 0)
		return true;
	if (n < 3 || m < 4)
		return false;
	memset(fewest, 0, sizeof(fewest));
	return m < 8 ? changes(a, b, 0, 0, 2) <= 1 : changes(a, b, 0, 0, 1) <= 2;
}

/* ---- against it ---- */

static void
draw_word(char *s)
{
	size_t n = below(3) == 0 ? below(4) : 2 + below(11), i;

	for (i = 0; i < n; i++)
		s[i] = "aabbcde_-. AZz"[below(14)];
	s[n] = '\0';
}

/* A few letters of it inserted, removed, changed or exchanged. */
static void
spoil(char *s)
{
	size_t times = below(4);

	for (; times > 0; times--) {
		size_t n = strlen(s), i = n > 0 ? below(n) : 0;
		char c = "aabbcde_-. AZz"[below(14)];

		switch (below(4)) {
		case 0:
			memmove(s + i + 1, s + i, n - i + 1);
			s[i] = c;
			break;
		case 1:
			memmove(s + i, s + i + 1, n - i);
			break;
		case 2:
			s[i] = n > 0 ? c : '\0';
			break;
		default:
			if (i + 1 < n) {
				c = s[i];
				s[i] = s[i + 1];
				s[i + 1] = c;
			}
		}
	}
}

static void
test_random(void)
{
	int wrong = 0, near = 0, i;

	draws_begin(5, 2, 9);
	for (i = 0; i < TRIALS; i++) {
		char word[3][MOST], typed[MOST];
		const char *const words[3] = {word[0], word[1], word[2]};
		const char *want = NULL, *got;
		bool same = false;
		size_t n = 1 + below(3), k;

		for (k = 0; k < n; k++)
			draw_word(word[k]);
		strcpy(typed, word[below(n)]);
		spoil(typed);
		for (k = 0; k < n; k++) {
			same = same || strcmp(word[k], typed) == 0;
			if (want == NULL && near_by(typed, word[k]))
				want = word[k];
		}
		got = gv_near(typed, strlen(typed), words, n);
		wrong += got != (same ? NULL : want);
		near += got != NULL;
	}
	is_int(wrong, 0, "the first that so few changes make of it, unless it is one");
	ok(near > TRIALS / 10, "%d were near", near);
}

/* ---- units ---- */

static void
unit(const char *typed, const char *word, bool want)
{
	const char *got = gv_near(typed, strlen(typed), &word, 1);

	ok((got != NULL) == want, "%s, %s", typed, word);
}

/* A word of a letter, and units of which no few changes make the symbol. */
static void
test_units(void)
{
	static const char *const units[][2] = {{"hour", "h"}, {"hours", "h"}, {"hr", "h"},
	    {"second", "s"}, {"seconds", "s"}, {"sec", "s"}, {"secs", "s"},
	    {"millisecond", "ms"}, {"milliseconds", "ms"}, {"msec", "ms"},
	    {"microsecond", "us"}, {"microseconds", "us"}, {"usec", "us"},
	    {"byte", "bytes"}};
	char typed[64], word[64];
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		snprintf(typed, sizeof(typed), "x_%s", units[i][0]);
		snprintf(word, sizeof(word), "x_%s", units[i][1]);
		unit(typed, word, true);
	}
	unit("a_hour", "b_h", false);
	unit("hour", "h", false);
	unit("_hour", "h", true);
	unit("a.HOUR", "a_h", false);
	unit("a_HOUR", "A.h", true);
	unit("a_hour_", "a_h", false);
	unit("a_hou", "a_h", false);
	unit("a_b_second", "ab_s", true);
	unit("_A", "__a", true);
	unit("__A", "_a", true);
	unit("", "", false);
	unit("", "abcd", false);
	unit("_", "_-", false);
}

/* Words and those meant. */
static void
test_near(void)
{
	static const char *const known[] = {"priority_weight", "scale_factor",
	    "deadline_s", "gpus", "share", "ids", "rate_a", "usd_per_h", "forward_ms",
	    "steps_per_s"};
	static const char *const words[][2] = {{"priority_wieght", "priority_weight"},
	    {"scalefactor", "scale_factor"}, {"Scale-Factor", "scale_factor"},
	    {"deadline", "deadline_s"}, {"gpu", "gpus"}, {"GPUS", "gpus"},
	    {"shraes", NULL}, {"shraer", NULL}, {"share", NULL}, {"shares", "share"},
	    {"shard", NULL}, {"id", NULL}, {"IDs", "ids"}, {"rate_b", NULL}, {"", NULL},
	    {"priority", NULL}, {"pr1ority_we1ght", "priority_weight"},
	    {"pr1or1ty_we1ght", NULL}, {"usd_per_hour", "usd_per_h"},
	    {"usd_per_day", NULL}, {"steps_per_second", "steps_per_s"},
	    {"Deadline_Seconds", "deadline_s"}, {"forward_milliseconds", "forward_ms"},
	    {"forward_usec", NULL}, {"hour", NULL}, {"_hour", NULL}};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *near = gv_near(words[i][0], strlen(words[i][0]), known,
		    sizeof(known) / sizeof(known[0]));

		is_str(near != NULL ? near : "none",
		    words[i][1] != NULL ? words[i][1] : "none", "near \"%s\"",
		    words[i][0]);
	}
}

/* Words of 64 letters are compared, longer ones are not. */
static void
test_near_longest(void)
{
	char known[66], typed[66];
	const char *const words[] = {known};
	size_t n;

	memset(known, 'b', sizeof(known));
	memset(typed, 'b', sizeof(typed));
	typed[30] = 'x';
	for (n = 64; n <= 65; n++) {
		known[n] = typed[n] = 0;
		ok((gv_near(typed, n, words, 1) == known) == (n == 64),
		    "a letter of %zu is wrong", n);
		known[n] = typed[n] = 'b';
	}
}

int
main(void)
{
	char folded[16];

	is_int(gv_fold("A_Z-a.z @[`{", 12, folded), 8, "without what separates");
	ok(memcmp(folded, "azaz@[`{", 8) == 0, "small letters, and what are none");
	test_random();
	test_units();
	test_near();
	test_near_longest();
	return done_testing();
}
