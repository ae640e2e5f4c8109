#include "net/hmac.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
    0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
    0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
    0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
    0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
    0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t
rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void
compress(uint32_t h[8], const unsigned char block[GV_SHA256_BLOCK])
{
	uint32_t w[64], v[8];
	int t;

	for (t = 0; t < 16; t++)
		w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
		       (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
	for (; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, h, sizeof(v));
	for (t = 0; t < 64; t++) {
		uint32_t t1 = v[7] +
			      (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
			      ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[t] + w[t];
		uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
			      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (t = 0; t < 8; t++)
		h[t] += v[t];
}

void
gv_sha256_begin(struct gv_sha256 *s)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(s->h, start, sizeof(start));
	s->bytes = 0;
}

void
gv_sha256_add(struct gv_sha256 *s, const void *p, size_t n)
{
	const unsigned char *b = p;

	while (n > 0) {
		size_t at = s->bytes % GV_SHA256_BLOCK;
		size_t take = GV_SHA256_BLOCK - at < n ? GV_SHA256_BLOCK - at : n;

		memcpy(s->block + at, b, take);
		s->bytes += take;
		b += take;
		n -= take;
		if (s->bytes % GV_SHA256_BLOCK == 0)
			compress(s->h, s->block);
	}
}

void
gv_sha256_end(struct gv_sha256 *s, unsigned char sum[GV_SHA256_LEN])
{
	static const unsigned char pad[GV_SHA256_BLOCK] = {0x80};
	size_t at = s->bytes % GV_SHA256_BLOCK;
	uint64_t bits = s->bytes * 8;
	unsigned char length[8];
	int i;

	for (i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	gv_sha256_add(s, pad, (at < 56 ? 56 : 120) - at);
	gv_sha256_add(s, length, 8);
	for (i = 0; i < GV_SHA256_LEN; i++)
		sum[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void
gv_hmac_begin(struct gv_hmac *m, const void *key, size_t n)
{
	unsigned char inner[GV_SHA256_BLOCK] = {0}, outer[GV_SHA256_BLOCK];
	size_t i;

	gv_sha256_begin(&m->inner);
	gv_sha256_begin(&m->outer);
	if (n > sizeof(inner)) {
		gv_sha256_add(&m->inner, key, n);
		gv_sha256_end(&m->inner, inner);
		gv_sha256_begin(&m->inner);
	} else if (n > 0) {
		memcpy(inner, key, n);
	}
	for (i = 0; i < sizeof(inner); i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	gv_sha256_add(&m->inner, inner, sizeof(inner));
	gv_sha256_add(&m->outer, outer, sizeof(outer));
}

void
gv_hmac_add(struct gv_hmac *m, const void *p, size_t n)
{
	gv_sha256_add(&m->inner, p, n);
}

void
gv_hmac_end(struct gv_hmac *m, unsigned char mac[GV_SHA256_LEN])
{
	gv_sha256_end(&m->inner, mac);
	gv_sha256_add(&m->outer, mac, GV_SHA256_LEN);
	gv_sha256_end(&m->outer, mac);
}

bool
gv_hmac_same(const unsigned char a[GV_SHA256_LEN], const unsigned char b[GV_SHA256_LEN])
{
	unsigned different = 0;
	int i;

	for (i = 0; i < GV_SHA256_LEN; i++)
		different |= (unsigned)(a[i] ^ b[i]);
	return different == 0;
}
