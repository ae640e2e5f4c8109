/*
 * A gang: the processes of one job, numbered 0 .. world-1.  They meet, send each
 * other messages, and sum vectors.
 *
 * Meeting.  Rank 0 listens at MASTER_ADDR, port MASTER_PORT, and only there; the
 * others come, learn where everybody is, and connect to each other, all to all.
 * With a key (GV_GANG_KEY) both sides of every connection prove that they have it
 * (hello.h).  Whoever does not, says nothing or says something else is sent away
 * and reported through log; the meeting goes on.  A member that leaves before all are
 * there ends it: all that have come say who it was, as they do of one that never
 * comes.  Without a key a newcomer with the right numbers is believed.  The key guards
 * the meeting, not what is sent afterwards: messages are neither encrypted nor signed.
 *
 * Messages.  Each has a tag: a slot (which micro-batch) and a kind (what of it).
 * Messages with one tag from one member to another arrive in the order in which
 * they were posted, others in any.  A small one (up to GV_MESSAGE_SMALL bytes)
 * leaves at once while the receiver keeps less than a window of them that nobody
 * has asked for; a large one, and a small one that finds no room there, leaves
 * when its receiver has posted where it shall go.  So no member keeps more than a
 * window per peer, and no message waits behind another one of another tag: whoever
 * posts its receives before it waits for its sends cannot deadlock.
 *
 * Beside computation.  Posting does not block.  With gv_gang_thread a thread of the
 * gang moves messages whenever they can move, whatever the caller does; without it
 * gv_gang_poll moves them, and the system's own buffers carry on between two calls.
 * One thread at a time may use a gang, beside its own.  A message's bytes are
 * copied from where they lie to the link and from the link to where they go: through
 * memory that is shared twice, through TCP by the system alone, but for a small one's.
 *
 * Sums.  Level by level pairs of neighbouring blocks of 1, 2, 4, ... ranks are
 * added, lower block + upper block; a block without a neighbour goes up as it is:
 *
 *	world 4:  (x0 + x1) + (x2 + x3)
 *	world 5:  ((x0 + x1) + (x2 + x3)) + x4
 *
 * All members hold the same bits: those of one process that sums the shards of
 * its batch by such a tree, when each member holds an equal run of a power of two
 * of shards.  Of a power of two of members pairs exchange in log2(world) rounds;
 * else the ranks of the last, smaller block pass theirs on, in at most twice as
 * many.  A sum is a list of stages (sum.h): other lists make other algorithms of
 * the same messages.  A library that sums on devices (NCCL) needs the gang only
 * to hand round its identifier.
 *
 * Failure.  Every function that can wait fails when a member dies ("rank 3 of
 * 10.0.0.7 is gone"), does not send what it should ("is out of step"), or when nothing
 * has come for silence_s seconds from whoever is waited for, and some member holds all
 * up: it "has not answered for 60 s", being stopped, or "has neither computed nor sent
 * anything" (sign.h).  With gv_gang_thread one that computes is waited for as long as it
 * takes; without, it cannot answer meanwhile.  Whoever fails tells the others who was to blame, so that all name the same.
 * Then the gang cannot be used any more.
 */
#ifndef GV_NET_GANG_H
#define GV_NET_GANG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"

enum { GV_GANG_MAX = 1024 };

struct gv_gang_spec {
	int rank;
	int world;        /* 1 = alone: nothing is opened, sums are what they are */
	const char *addr; /* where rank 0 listens: a name or an address of its host */
	int port;
	double join_s;    /* time for all to arrive */
	double silence_s; /* how long somebody who is waited for may not answer */
	/* must be the same for all: a checksum of what is computed */
	uint32_t fingerprint;
	const char *key; /* a secret of the gang; NULL or "" = none */
	bool no_memory;  /* share none with members of the same machine (share.h) */
	/* is told of who was sent away, in a sentence without a dot; NULL = nobody is */
	void (*log)(void *ctx, const char *line);
	/* is told, once all are there, what carries the messages; NULL = nobody is */
	void (*tell)(void *ctx, const char *line);
	void *ctx;
};

/*
 * Fills rank, world, addr, port, key and no_memory from RANK, WORLD_SIZE, MASTER_ADDR,
 * MASTER_PORT, GV_GANG_KEY, as launchers set them, and GV_GANG_LINK; without WORLD_SIZE world
 * is 1.  The rest is left alone.  The strings belong to the environment.
 * 0, or -1 with *e set: malformed, out of range.
 */
int gv_gang_env(struct gv_gang_spec *s, struct gv_error *e);

struct gv_gang;

/*
 * Joins.  0, or -1 with *e set: nobody listens, somebody is missing after
 * join_s, a member that has the key is of another world or fingerprint.  Needs a
 * descriptor for each other member.  Ends with gv_gang_leave.
 */
int gv_gang_join(struct gv_gang **g, const struct gv_gang_spec *s, struct gv_error *e);

/*
 * Begins a thread that moves messages while the caller computes; it ends as the gang
 * is left.  Signals do not go to it.  0, or -1 with *e set: no thread can be had, and
 * the gang goes on as before.
 */
int gv_gang_thread(struct gv_gang *g, struct gv_error *e);

/* Who is to blame that the gang is broken: a rank; -1: it is not. */
int gv_gang_culprit(struct gv_gang *g);

/* Lets go; sends that are not done may not arrive.  NULL is allowed. */
void gv_gang_leave(struct gv_gang *g);

/* ---- messages ---- */

enum { GV_MESSAGE_SMALL = 8192 };

struct gv_tag {
	uint32_t slot;
	uint32_t kind; /* below GV_KIND_OWN */
};

enum { GV_KIND_OWN = 0x7f000000 }; /* from here on: the gang's own */

/*
 * One message on its way.  The caller's memory: it and the data stay where they
 * are, and data is not touched, until done is true or the gang is left.
 */
struct gv_message {
	atomic_bool done;
	uint32_t word; /* a number that travels along */
	/* the rest is the gang's */
	int peer;
	double posted_s;
	struct gv_tag tag;
	unsigned char *in;
	const struct iovec *piece; /* [pieces] that it is made of */
	size_t pieces;
	struct iovec one;
	size_t bytes;
	bool offered; /* a small one that goes when it is granted */
	struct gv_message *next;
};

/*
 * Posts.  Returns at once; what goes wrong shows when it is waited for.  m->word
 * is sent, or received.  A message of 0 bytes is one.
 */
void gv_gang_send(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const void *data, size_t bytes);
void gv_gang_recv(struct gv_gang *g, struct gv_message *m, int from, struct gv_tag tag,
    void *data, size_t bytes);

/*
 * A message that is made of pieces, one behind the other.  The pieces stay, too.
 */
void gv_gang_send_pieces(struct gv_gang *g, struct gv_message *m, int to,
    struct gv_tag tag, const struct iovec *piece, size_t pieces);
/*
 * What a message that is not out yet is sent from may change from now on: it goes from copy,
 * where its bytes are put.  False: it is out, and copy is not touched.
 */
bool gv_gang_send_copy(struct gv_gang *g, struct gv_message *m, void *copy);

/* Moves what can move, without waiting.  0, or -1 with *e set. */
int gv_gang_poll(struct gv_gang *g, struct gv_error *e);

/* Waits until m is done, moving everything meanwhile.  0, or -1 with *e set. */
int gv_gang_wait(struct gv_gang *g, struct gv_message *m, struct gv_error *e);

/*
 * Waits until something has moved since its last call, at most until a time (gv_clock_s; infinity = no
 * bound).  The n messages are what is waited for since then: whoever of their peers
 * is gone, or silent since, is to blame.  0 or -1 with *e set.
 */
int gv_gang_wait_some(struct gv_gang *g, struct gv_message *const *m, size_t n,
    double since, double until, struct gv_error *e);

/* ---- sums ---- */

/*
 * One sum on its way: the caller's memory, as a message is, until it is done or
 * the gang is left.
 */
struct gv_sum {
	bool done;
	unsigned flags; /* the OR of all members' flags */
	/* the rest is the gang's */
	float *x;
	size_t n;
	float *in;
	size_t n_in;
	size_t stage, passed;
	bool added;
	uint32_t sequence;
	struct gv_message from, to, pass[10];
	struct gv_sum *next;
};

/*
 * Begins to make x[0..n) its sum over the members, in the order above, and flags
 * the OR of all members' flags.  All members begin the same sums in the same
 * order; several may be on their way.
 */
void gv_gang_sum_begin(
    struct gv_gang *g, struct gv_sum *s, float *x, size_t n, unsigned flags);
int gv_gang_sum_wait(struct gv_gang *g, struct gv_sum *s, struct gv_error *e);

/* Both at once. */
int gv_gang_sum(
    struct gv_gang *g, float *x, size_t n, unsigned *flags, struct gv_error *e);

#endif
