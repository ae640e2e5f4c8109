/*
 * What two members of a gang say to each other before anything else, as bytes:
 * pure, so that every byte a stranger could send can be tried.
 *
 *	callee  challenge: a nonce
 *	caller  hello: who it is, a nonce of its own, and a MAC over both
 *	callee  answer: welcome or why not, the roster, and a MAC over it and the
 *	        caller's nonce
 *
 * MACs are HMAC-SHA256 under the gang's key (an empty one where there is none),
 * so each side knows that the other has the key, now, and neither a hello nor an
 * answer can be used a second time or at another rank.  Numbers are little-endian.
 */
#ifndef GV_NET_HELLO_H
#define GV_NET_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sock.h"

enum {
	GV_NONCE_LEN = 16,
	GV_CHALLENGE_LEN = 4 + GV_NONCE_LEN,
	GV_HELLO_LEN = 24 + GV_NONCE_LEN + 32,
	GV_ANSWER_LEN = 12 + 32,
	GV_MEMBER_LEN = 4 + GV_SOCK_ADDR
};

struct gv_hello {
	uint32_t rank, world;
	uint32_t fingerprint; /* of what is computed */
	uint32_t port;        /* where the caller listens, 0 = it does not */
	uint32_t to;          /* the rank that is called */
	unsigned char nonce[GV_NONCE_LEN];
};

enum gv_verdict {
	GV_WELCOME,
	GV_OTHER_WORLD,
	GV_OTHER_FINGERPRINT,
	GV_RANK_TAKEN,
	GV_NO_SUCH_RANK,
	GV_OTHER_KEY,
	GV_ONE_GONE,    /* a member has left: the only one in the roster */
	GV_ONE_MISSING, /* one has not come: the first that is not in the roster */
	GV_ONE_MISFIT, /* one cannot join: the only one in the roster, for what its port is */
	GV_VERDICTS
};

/* Why a member is not welcome: "its WORLD_SIZE is another". */
const char *gv_verdict_text(uint32_t verdict);

struct gv_answer {
	uint32_t verdict;
	uint32_t members; /* that follow */
};

/* Where a member listens; rank 0's is empty. */
struct gv_member {
	uint32_t port;
	char addr[GV_SOCK_ADDR];
};

void gv_challenge_write(
    unsigned char b[GV_CHALLENGE_LEN], const unsigned char nonce[GV_NONCE_LEN]);
/* False: these are not the first bytes of a challenge; n may be less than all. */
bool gv_challenge_begins(const unsigned char *b, size_t n);

/* challenge: the bytes that the callee sent.  key may be NULL when n_key is 0. */
void gv_hello_write(unsigned char b[GV_HELLO_LEN], const struct gv_hello *h,
    const unsigned char challenge[GV_CHALLENGE_LEN], const char *key);
bool gv_hello_begins(const unsigned char *b, size_t n);
/* True: *h is filled, and the sender has the key; false: it has not. */
bool gv_hello_read(struct gv_hello *h, const unsigned char b[GV_HELLO_LEN],
    const unsigned char challenge[GV_CHALLENGE_LEN], const char *key);

/* The answer to a hello of this nonce; roster [members] already as bytes. */
void gv_answer_write(unsigned char b[GV_ANSWER_LEN], const struct gv_answer *a,
    const unsigned char *roster, const unsigned char nonce[GV_NONCE_LEN],
    const char *key);
/* 0, or -1: this is no answer (of a gang of at most world members). */
int gv_answer_read(
    struct gv_answer *a, const unsigned char b[GV_ANSWER_LEN], uint32_t world);
/* Whether answer and roster come from somebody who has the key, in reply to this nonce. */
bool gv_answer_true(const unsigned char b[GV_ANSWER_LEN], const unsigned char *roster,
    const unsigned char nonce[GV_NONCE_LEN], const char *key);

void gv_member_write(unsigned char b[GV_MEMBER_LEN], const struct gv_member *m);
/* 0, or -1: no port, or not a numeric address that ends. */
int gv_member_read(struct gv_member *m, const unsigned char b[GV_MEMBER_LEN]);

#endif
