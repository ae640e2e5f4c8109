/* UTF-8, for outputs that must be valid whatever bytes a table holds. */
#ifndef GV_BASE_UTF8_H
#define GV_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GV_UTF8_BAD = 0xfffd }; /* the replacement character */

/*
 * Decodes the first character of s[0..len), len > 0: its code point into *c,
 * its length in bytes returned.  Anything that is not valid (RFC 3629: overlong,
 * surrogate, beyond U+10FFFF, cut off) is one byte of GV_UTF8_BAD.
 */
size_t gv_utf8_next(const char *s, size_t len, uint32_t *c);

/*
 * Whether the first character of s[0..len), len > 0, steers a terminal instead of being
 * shown on it: control characters (C0, DEL, C1, also a byte of C1 alone) and those that
 * change the direction of text (bidi controls), which can make a name read as another.
 * *n: its length in bytes.
 */
bool gv_utf8_steers(const char *s, size_t len, size_t *n);

/* How many characters s, which is valid, has: as wide as a terminal shows most scripts. */
size_t gv_utf8_count(const char *s);

#endif
