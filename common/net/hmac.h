/*
 * HMAC-SHA256 (RFC 2104, FIPS 180-4): by it the members of a gang know each
 * other.  Messages are added piece by piece.
 */
#ifndef GV_NET_HMAC_H
#define GV_NET_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GV_SHA256_LEN = 32, GV_SHA256_BLOCK = 64 };

struct gv_sha256 {
	uint32_t h[8];
	uint64_t bytes; /* added so far */
	unsigned char block[GV_SHA256_BLOCK];
};

void gv_sha256_begin(struct gv_sha256 *s);
void gv_sha256_add(struct gv_sha256 *s, const void *p, size_t n);
void gv_sha256_end(struct gv_sha256 *s, unsigned char sum[GV_SHA256_LEN]);

struct gv_hmac {
	struct gv_sha256 inner, outer;
};

void gv_hmac_begin(struct gv_hmac *m, const void *key, size_t n);
void gv_hmac_add(struct gv_hmac *m, const void *p, size_t n);
void gv_hmac_end(struct gv_hmac *m, unsigned char mac[GV_SHA256_LEN]);

/* Compares in a time that does not depend on where they differ. */
bool gv_hmac_same(
    const unsigned char a[GV_SHA256_LEN], const unsigned char b[GV_SHA256_LEN]);

#endif
