/* Numbers as tables and options write them. */
#ifndef GV_BASE_NUM_H
#define GV_BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

enum { GV_NUM_LEN = 32 }; /* room for any number and its NUL */

/*
 * Parse all of s[0..len): 0, or -1 when it is no number of the kind.  A double
 * is [-]digits[.digits][e[+-]digits], correctly rounded; no spaces, leading
 * plus, hex, nan, inf, and no overflow to infinity.  An integer is [-]digits
 * within int64_t.
 */
int gv_parse_double(const char *s, size_t len, double *v);
int gv_parse_int(const char *s, size_t len, int64_t *v);

/*
 * Options with units.  A duration is a number with s, m, h, d, ms, us or none
 * (seconds); bytes a number with KB, MB, GB, TB (10^3), KiB, MiB, GiB, TiB or K,
 * M, G, T alone (2^10, as memory is sold; small ones, too), B or none, exact when it is whole,
 * else rounded to a byte.  0, or -1 when malformed, signed or out of range.
 */
int gv_parse_duration(const char *s, double *seconds);
int gv_parse_bytes(const char *s, int64_t *bytes);

/*
 * A bandwidth: a number and k, K, M, G, T (10^3) or Ki, Mi, Gi, Ti (2^10) or none,
 * B/s, Bps, byte/s or bytes/s, or b/s, bps, bit/s or bits/s, before which m, g and t are
 * M, G and T; above 0.  In bytes per second.  The unit must be there.  0 or -1.
 */
int gv_parse_rate(const char *s, double *bytes_per_s);

/*
 * A time: seconds since the epoch, or a date in UTC, 2026-11-22, 2026-11-22T09:30
 * or 2026-11-22T09:30:15, with a space for the T or a Z behind it, if one likes.
 * In seconds since the epoch.  0 or -1.
 */
int gv_parse_time(const char *s, double *seconds);

/*
 * Writes a number of bytes for people: in GiB with three digits, "15.8 GiB"; below
 * a thousandth of that in bytes.  Returns buf.
 */
char *gv_show_bytes(char buf[GV_NUM_LEN], double bytes);

/*
 * Writes the shortest of %.15g, %.16g, %.17g that reads back equal; -0 is
 * written 0.  v must be finite.  Returns the length.
 */
size_t gv_format_double(char buf[GV_NUM_LEN], double v);
size_t gv_format_int(char buf[GV_NUM_LEN], int64_t v);

#endif
