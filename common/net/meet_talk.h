/*
 * Connections of a meeting that are not proved yet: guests, who called us, and
 * calls of ours.  They are looked after all at once, each with a time of its own,
 * so that whoever says nothing keeps nobody waiting.
 */
#ifndef GV_NET_MEET_TALK_H
#define GV_NET_MEET_TALK_H

#include <poll.h>
#include <stdbool.h>

#include "net/frame.h"
#include "net/meet.h"

enum gv_talk_stage { AWAIT_CONNECTION, AWAIT_CHALLENGE, AWAIT_HELLO, AWAIT_ANSWER };

/* A connection that is not proved yet. */
struct gv_talk {
	int fd;
	enum gv_talk_stage stage;
	int rank; /* that we call; -1 = a guest */
	double since, deadline;
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
	/* who is to blame that it fails; NONE: nobody whom the others should hear of */
	enum gv_blame why;
	int culprit;
	/* rank 0: a guest with the key that does not belong here; its port is the verdict */
	int misfit; /* its rank, 0 = there is none */
	struct gv_member misfit_is;
};

/* Says hello to the rank of t, whose challenge has come.  0 or -1. */
int gv_talk_hello(
    struct gv_meeting *m, struct gv_talk *t, uint32_t port, struct gv_error *e);

/* Begins to call a member of a lower rank, where the roster says.  0 or -1. */
int gv_talk_call(struct gv_meeting *m, int rank, struct gv_error *e);

/* Takes guests and hears all until nobody is missing.  0, or -1 with *e set. */
int gv_talk_gather(struct gv_meeting *m, struct gv_error *e);

/* Who is at the door is heard, so that it can be told, too, why the gang does not meet. */
void gv_talk_linger(struct gv_meeting *m);

/* Ends what is not proved. */
void gv_talk_free(struct gv_meeting *m);

/* ---- members that are lost (meet_lost) ---- */

/* Fails for a member that is gone, or has not come (SILENT): -1 with *e set. */
int gv_talk_lost(
    struct gv_meeting *m, enum gv_blame why, int culprit, struct gv_error *e);

/* Fails for a member that has been proved and has left: for it, or for whom it named last. */
int gv_talk_left(struct gv_meeting *m, int rank, struct gv_error *e);

/*
 * One that has been called is not there: it may have left for another one, of which those that
 * have been proved tell soon.  True with *e set when one of them has.
 */
bool gv_talk_hears(struct gv_meeting *m, struct gv_error *e);

/* Fails for one that has been called and is not there, what is said of it ("is gone"). */
int gv_talk_no_answer(
    struct gv_meeting *m, int rank, const char *what, struct gv_error *e);

/* Tells those that have the roster, and have a rank below end, who is to blame. */
void gv_talk_abort(struct gv_meeting *m, int end);

#endif
