#include "base/near.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 64 };

size_t
gv_fold(const char *s, size_t len, char *out)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		if (s[i] != '_' && s[i] != '-' && s[i] != '.' && s[i] != ' ')
			out[n++] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32) : s[i];
	return n;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many letters to insert, remove, change (at a cost of change) and pairs of
 * neighbours to exchange make b of a: optimal string alignment, row by row.
 */
static size_t
distance(const char *a, size_t n, const char *b, size_t m, size_t change)
{
	size_t row[3][LONGEST + 1];
	size_t *before = row[0], *last = row[1], *now = row[2];
	size_t i, j;

	for (j = 0; j <= m; j++)
		last[j] = j;
	for (i = 1; i <= n; i++) {
		size_t *spare = before;

		now[0] = i;
		for (j = 1; j <= m; j++) {
			size_t same = a[i - 1] == b[j - 1] ? 0 : change;

			now[j] =
			    least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

static bool
is_near(const char *a, size_t n, const char *b, size_t m)
{
	size_t shorter = least(n, m);

	if (n == m && memcmp(a, b, n) == 0)
		return true;
	if (shorter < 3 || m < 4) /* short words are near to too many */
		return false;
	return m < 8 ? distance(a, n, b, m, 2) <= 1 : distance(a, n, b, m, 1) <= 2;
}

/* Names that end in letters of their own, as in rate_a and rate_b. */
static bool
are_siblings(const char *a, size_t n, const char *b, size_t m)
{
	return n > 2 && m > 2 && a[n - 2] == '_' && b[m - 2] == '_' &&
	       a[n - 1] != b[m - 1];
}

/* What units are called in full: who writes usd_per_hour means usd_per_h. */
static const struct {
	const char *full, *symbol;
} units[] = {{"hour", "h"}, {"hours", "h"}, {"hr", "h"}, {"second", "s"},
    {"seconds", "s"}, {"sec", "s"}, {"secs", "s"}, {"millisecond", "ms"},
    {"milliseconds", "ms"}, {"msec", "ms"}, {"microsecond", "us"}, {"microseconds", "us"},
    {"usec", "us"}, {"byte", "bytes"}};

/* As gv_fold, the unit behind the last _ by its symbol; 0: there is none in full. */
static size_t
fold_unit(const char *s, size_t len, char *out)
{
	size_t n = len, k, word, symbol;

	while (n > 0 && s[n - 1] != '_')
		n--;
	word = gv_fold(s + n, len - n, out);
	for (k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
		if (n == 0 || strlen(units[k].full) != word ||
		    memcmp(units[k].full, out, word) != 0)
			continue;
		symbol = strlen(units[k].symbol);
		n = gv_fold(s, n, out);
		memcpy(out + n, units[k].symbol, symbol);
		return n + symbol;
	}
	return 0;
}

const char *
gv_near(const char *s, size_t len, const char *const *words, size_t n)
{
	char a[LONGEST], b[LONGEST], in_full[LONGEST];
	size_t a_len = len <= LONGEST ? gv_fold(s, len, a) : 0;
	size_t full = len <= LONGEST ? fold_unit(s, len, in_full) : 0;
	const char *found = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		size_t word_len = strlen(words[i]), b_len;

		if (word_len == len && memcmp(words[i], s, len) == 0)
			return NULL;
		if (found != NULL || a_len == 0 || word_len > LONGEST)
			continue;
		b_len = gv_fold(words[i], word_len, b);
		if ((full > 0 && full == b_len && memcmp(in_full, b, full) == 0) ||
		    (!are_siblings(s, len, words[i], word_len) &&
			is_near(a, a_len, b, b_len)))
			found = words[i];
	}
	return found;
}
