/*
 * Connections of a meeting that are not proved yet: guests, who called us, and
 * calls of ours.  They are looked after all at once, each with a time of its own,
 * so that whoever says nothing keeps nobody waiting.
 */
#ifndef GV_NET_MEET_TALK_H
#define GV_NET_MEET_TALK_H

#include <poll.h>

#include "net/meet.h"

enum gv_talk_stage { AWAIT_CONNECTION, AWAIT_CHALLENGE, AWAIT_HELLO, AWAIT_ANSWER };

/* A connection that is not proved yet. */
struct gv_talk {
	int fd;
	enum gv_talk_stage stage;
	int rank; /* that we call; -1 = a guest */
	double deadline;
	unsigned char challenge[GV_CHALLENGE_LEN];
	unsigned char nonce[GV_NONCE_LEN]; /* of the hello */
	unsigned char in[GV_HELLO_LEN];    /* the longest */
	size_t got;
	char addr[GV_SOCK_ADDR];
};

struct gv_meeting {
	const struct gv_gang_spec *s;
	double deadline;
	int listener;
	int *fd;                              /* [world] proved */
	char (*host)[GV_SOCK_ADDR];           /* [world] */
	struct gv_member *member;             /* [world] where they listen */
	unsigned char (*nonce)[GV_NONCE_LEN]; /* [world] of the hellos to rank 0 */
	int missing;
	char rank_0[GV_SOCK_ADDR + 16]; /* for messages */
	struct gv_talk *talk;
	size_t n, cap;
	struct pollfd *poll;
	size_t poll_cap;
	unsigned sent_away;
};

/* Says hello to the rank of t, whose challenge has come.  0 or -1. */
int gv_talk_hello(
    struct gv_meeting *m, struct gv_talk *t, uint32_t port, struct gv_error *e);

/* Begins to call a member of a lower rank, where the roster says.  0 or -1. */
int gv_talk_call(struct gv_meeting *m, int rank, struct gv_error *e);

/* Takes guests and hears all until nobody is missing.  0, or -1 with *e set. */
int gv_talk_gather(struct gv_meeting *m, struct gv_error *e);

/* Ends what is not proved. */
void gv_talk_free(struct gv_meeting *m);

#endif
