/*
 * gv_format_double.  The 17 leading digits of v come out of one product of its
 * 53 bits with a power of ten of 128; the bits behind them tell whether 15 or 16
 * digits, rounded, still read back, and whether any of this is too close to call.
 * Then, and for subnormal numbers, printf and strtod decide: about once in 10^16.
 *
 * The product is Grisu's idea (Loitsch, PLDI 2010) with as many bits as make the
 * fallback rare; the digits are those of printf, not the shortest of all.
 */
#include "base/num.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The 128 leading bits of a number. */
struct bits {
	uint64_t high, low;
};

enum { STEP = 27, FIRST = -297, UNIT = 56 };

/* 10^(FIRST + STEP i), rounded to nearest. */
static const struct bits coarse[] = {
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e}, /* -297 */
    {0x873e4f75e2224e68, 0x5a7744a6e804a292}, {0xda7f5bf590966848, 0xaf39a475506a899f},
    {0xb080392cc4349dec, 0xbd8d794d96aacfb4}, {0x8e938662882af53e, 0x547eb47b7282ee9c},
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5113}, {0xba121a4650e4ddeb, 0x92f34d62616ce413},
    {0x964e858c91ba2655, 0x3a6a07f8d510f870}, {0xf2d56790ab41c2a2, 0xfae27299423fb9c3},
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b887}, {0x9e74d1b791e07e48, 0x775ea264cf55347e},
    {0x8000000000000000, 0x0000000000000000}, /* 0 */
    {0xcecb8f27f4200f3a, 0x0000000000000000}, {0xa70c3c40a64e6c51, 0x999090b65f67d924},
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a4}, {0xda01ee641a708de9, 0xe80e6f4820cc9496},
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f90}, {0x8e41ade9fbebc27d, 0x14588f13be847307},
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fb}, {0xb9a74a0637ce2ee1, 0x6d953e2bd7173693},
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e}, {0xf24a01a73cf2dccf, 0xbc633b39673c8cec},
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8},
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1}, /* 324 */
};

/* 10^i, exact. */
static const uint64_t fine[STEP] = {0x8000000000000000, 0xa000000000000000,
    0xc800000000000000, 0xfa00000000000000, 0x9c40000000000000, 0xc350000000000000,
    0xf424000000000000, 0x9896800000000000, 0xbebc200000000000, 0xee6b280000000000,
    0x9502f90000000000, 0xba43b74000000000, 0xe8d4a51000000000, 0x9184e72a00000000,
    0xb5e620f480000000, 0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000,
    0xde0b6b3a76400000, 0x8ac7230489e80000, 0xad78ebc5ac620000, 0xd8d726b7177a8000,
    0x878678326eac9000, 0xa968163f0a57b400, 0xd3c21bcecceda100, 0x84595161401484a0,
    0xa56fa5b99019a5c8};

static struct bits
multiply64(uint64_t a, uint64_t b)
{
	uint64_t a1 = a >> 32, a0 = a & 0xffffffff;
	uint64_t b1 = b >> 32, b0 = b & 0xffffffff;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	uint64_t other = a0 * b1 + (middle & 0xffffffff);

	return (struct bits){a1 * b1 + (middle >> 32) + (other >> 32),
	    (other << 32) | (a0 * b0 & 0xffffffff)};
}

/* The leading 128 of 192 bits. */
static struct bits
multiply(struct bits c, uint64_t f)
{
	struct bits p = multiply64(c.high, f);
	uint64_t carry = multiply64(c.low, f).high;

	p.low += carry;
	p.high += p.low < carry;
	return p;
}

static int
floor_shift(int x, int shift)
{
	return x >= 0 ? x >> shift : -((-x + (1 << shift) - 1) >> shift);
}

/* The leading bits of 10^q, FIRST <= q <= 350: less than 2^-125 off, relatively. */
static struct bits
ten_to(int q)
{
	struct bits c = multiply(coarse[(q - FIRST) / STEP], fine[(q - FIRST) % STEP]);

	if (c.high >> 63 == 0) {
		c.high = (c.high << 1) | (c.low >> 63);
		c.low <<= 1;
	}
	return c;
}

/* digits 10^exponent, found with %.*g of that precision */
struct decimal {
	uint64_t digits;
	int exponent;
	int precision;
};

/*
 * The shortest of 15 to 17 digits that reads back as the normal double of these
 * bits; false when it is too close to call.
 */
static bool
find_decimal(struct decimal *d, uint64_t bits)
{
	const uint64_t slack = 4; /* more than all errors together, in 2^-UNIT */
	uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
	int exponent = (int)(bits >> 52 & 0x7ff) - 1075; /* v = mantissa 2^exponent */
	int q =
	    16 - floor_shift((exponent + 52) * 315653, 20); /* 315653 / 2^20: log10(2) */
	uint64_t n, fraction, half_ulp;
	struct bits c, p;
	int shift, digits;

	/* n.fraction = v 10^q, 17 digits before the point */
	for (;; q--) {
		c = ten_to(q);
		p = multiply(c, mantissa << 11);
		shift = 10 - exponent -
			floor_shift(q * 217706, 16); /* 217706 / 2^16: log2(10) */
		n = p.high >> shift;
		if (n < UINT64_C(100000000000000000))
			break;
	}
	fraction = (p.high << (64 - shift)) | (p.low >> shift);
	half_ulp = c.high >> (shift - 2); /* of v 10^q, in 2^-UNIT */
	for (digits = 15; digits < 17; digits++) {
		uint64_t cut = digits == 15 ? 100 : 10;
		uint64_t down = (n % cut << UNIT) | (fraction >> (64 - UNIT));
		uint64_t up = (cut << UNIT) - down;
		uint64_t off = down < up ? down : up;
		uint64_t room = half_ulp;

		if (down < up && mantissa == UINT64_C(1) << 52 && exponent > -1074)
			room /= 2; /* the double below a power of two is closer */
		if (off <= room + slack && room <= off + slack)
			return false; /* on the border: does strtod come back? */
		if (off < room) {
			if (up - off <= slack && down - off <= slack)
				return false; /* in the middle: which way does printf go? */
			*d = (struct decimal){
			    n / cut + (up < down), 17 - digits - q, digits};
			return true;
		}
	}
	if (fraction - ((UINT64_C(1) << 63) - slack) <= 2 * slack)
		return false;
	*d = (struct decimal){n + (fraction >> 63), -q, 17};
	return true;
}

/* As %g lays it out. */
static size_t
lay_out(char buf[GV_NUM_LEN], struct decimal d, bool negative)
{
	char digit[GV_NUM_LEN];
	char *p = buf;
	int n, leading, i;

	if (d.digits % 100000000 == 0) {
		d.digits /= 100000000;
		d.exponent += 8;
	}
	for (; d.digits % 10 == 0; d.digits /= 10)
		d.exponent++;
	n = (int)gv_format_int(digit, (int64_t)d.digits);
	leading = n - 1 + d.exponent; /* X of the C standard's %g */
	if (negative)
		*p++ = '-';
	if (leading < -4 || leading >= d.precision) {
		*p++ = digit[0];
		if (n > 1) {
			*p++ = '.';
			memcpy(p, digit + 1, (size_t)n - 1);
			p += n - 1;
		}
		*p++ = 'e';
		*p++ = leading < 0 ? '-' : '+';
		leading = abs(leading);
		if (leading >= 100)
			*p++ = (char)('0' + leading / 100);
		*p++ = (char)('0' + leading / 10 % 10);
		*p++ = (char)('0' + leading % 10);
		*p = '\0';
		return (size_t)(p - buf);
	}
	if (leading < 0) {
		*p++ = '0';
		*p++ = '.';
		for (i = -1; i > leading; i--)
			*p++ = '0';
	}
	for (i = 0; i < n; i++) {
		if (i == leading + 1 && i > 0)
			*p++ = '.';
		*p++ = digit[i];
	}
	for (; i <= leading; i++)
		*p++ = '0';
	*p = '\0';
	return (size_t)(p - buf);
}

size_t
gv_format_double(char buf[GV_NUM_LEN], double v)
{
	struct decimal d;
	uint64_t bits;
	size_t len = 0;
	int digits;

	if (v == 0) {
		memcpy(buf, "0", 2);
		return 1;
	}
	memcpy(&bits, &v, sizeof(bits));
	if ((bits >> 52 & 0x7ff) != 0 && find_decimal(&d, bits))
		return lay_out(buf, d, v < 0);
	for (digits = 15; digits <= 17; digits++) {
		len = (size_t)snprintf(buf, GV_NUM_LEN, "%.*g", digits, v);
		if (digits == 17 || strtod(buf, NULL) == v)
			break;
	}
	return len;
}
