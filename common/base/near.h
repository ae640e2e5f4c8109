/* Words that were probably meant to be others. */
#ifndef GV_BASE_NEAR_H
#define GV_BASE_NEAR_H

#include <stddef.h>

/*
 * The first of the words that s[0..len) is probably a misspelling of, NULL when
 * there is none or when it is one of them itself.  Near are: words that differ in
 * case, underscores, hyphens, dots and spaces alone; of at least 4 letters, also
 * those with one letter more or less, or two neighbours exchanged; of at least 8,
 * also those two such changes, or changed letters, away; and those whose unit behind the
 * last underscore is written out, as usd_per_hour.  Words of more than 64
 * letters are near to none, and those that end in _a and _b not to each other.
 */
const char *gv_near(const char *s, size_t len, const char *const *words, size_t n);

/*
 * Writes s[0..len) in lower case (ASCII) and without underscores, hyphens, dots
 * and spaces to out[len]; returns how many bytes that are.
 */
size_t gv_fold(const char *s, size_t len, char *out);

#endif
