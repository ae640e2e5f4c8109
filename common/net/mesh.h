/*
 * Messages over links: the inside of a gang.
 */
#ifndef GV_NET_MESH_H
#define GV_NET_MESH_H

#include <poll.h>

#include "net/frame.h"
#include "net/gang.h"
#include "net/link.h"
#include "net/sock.h"
#include "net/sum.h"

enum {
	GV_MESH_WINDOW = 256 * 1024, /* bytes kept per peer that nobody has asked for */
	GV_MESH_COST = 64,           /* of the window, a message beside its bytes */
	GV_MESH_PENDING_MAX = 65536, /* grants and offers a peer may be ahead */
	GV_MESH_BUFFER = 32 * 1024
};

/* Messages in the order in which they were posted. */
struct gv_queue {
	struct gv_message *first, *last;
};

/* Grants or offers that have come before their message was posted. */
struct gv_notes {
	struct gv_net_frame *note;
	size_t first, n, cap;
};

/* A small message that came before its receive was posted. */
struct gv_early {
	struct gv_net_frame frame;
	struct gv_early *next;
	unsigned char data[];
};

struct gv_peer {
	struct gv_link *link; /* NULL = ourselves, or closed */
	char host[GV_SOCK_ADDR];
	int64_t pid; /* its process, of this machine; 0 = another machine's, or unknown */
	bool left;   /* it has said BYE */
	bool deaf;   /* it takes no more */
	bool ready;  /* it need not be polled */
	double moved; /* when a byte went either way that is no sign of life */

	struct gv_queue out;    /* may go; the first is being written */
	struct gv_queue held;   /* have no grant or no window */
	struct gv_notes say;    /* frames without bytes, to be written between messages */
	struct gv_notes asks;   /* offers of small ones, written behind what may go */
	struct gv_notes grants; /* of messages that were not posted yet */
	size_t window;          /* used, of small messages that we sent */
	struct gv_net_frame head; /* being written */
	size_t head_left;         /* bytes of it; of a message also body_left */
	size_t body_left;

	unsigned char buf[GV_MESH_BUFFER];
	size_t at, end;
	struct gv_net_frame in;        /* whose bytes are coming */
	unsigned char *into;           /* where the next one goes */
	size_t in_left;                /* how many */
	struct gv_message *to;         /* its receive, or */
	struct gv_early *early;        /* where it is kept */
	struct gv_queue recv;          /* posted, */
	size_t large;                  /* and how many of them are no small ones */
	const struct gv_message *last; /* behind which nothing is read; NULL = none */
	struct gv_notes offers;        /* of receives that were not posted yet */
	struct gv_early *kept, *kept_last;
	size_t kept_bytes; /* of the window, of kept ones */
	size_t taken;      /* of the window, free again but the peer does not know */
};

struct gv_gang {
	int rank;
	int world;
	double silence_s;
	struct gv_peer *peer;   /* [world] */
	struct gv_sign *sign;   /* [world] */
	int awaits;             /* who is waited for; -1 = nobody */
	double idle_s;          /* for so long */
	double looked_s;        /* when that was looked at */
	double asked_s;         /* when all were asked last */
	struct pollfd *poll;    /* [world] */
	struct gv_mover *mover; /* NULL = the callers move all */
	/* seconds that the process has computed for others than its thread; NULL = for all */
	double (*computed_s)(struct gv_gang *g);
	bool stirred; /* the mover has to look anew */
	uint64_t moves,
	    seen; /* counts of when something moved; gv_gang_wait_some's last */
	enum gv_blame blame; /* not NONE: the gang is broken */
	int culprit;
	int accuser; /* who said so; the own rank = seen here */
	bool untold; /* somebody could not be told */

	struct gv_stages stages;
	struct gv_sum *sum; /* on their way, in order */
	uint32_t sequence;
	float *spare; /* [n_spare] what a sum received into, for the next one */
	size_t n_spare;
};

/* A gang of links that are there already (NULL at the own rank), which it owns. */
struct gv_gang *gv_mesh_new(
    int rank, int world, struct gv_link *const *link, double silence_s);

/* Breaks the gang, and tells the others whose fault it is. */
void gv_mesh_blame(struct gv_gang *g, enum gv_blame why, int culprit, int accuser);
/*
 * Says what nobody waits for the end of.  False: it could not be said, within the bytes of a
 * message, or as there was no room for it.
 */
bool gv_mesh_say_last(struct gv_peer *p, enum gv_net_frame_type type, struct gv_tag tag);

/* -1 with the sentence in *e when it is broken, else 0. */
int gv_mesh_state(const struct gv_gang *g, struct gv_error *e);

/* What gv_gang_send, gv_gang_send_pieces and gv_gang_recv do, for who has the gang already. */
void gv_mesh_send(struct gv_gang *g, struct gv_message *m, int to, struct gv_tag tag,
    const void *data, size_t bytes);
void gv_mesh_send_pieces(struct gv_gang *g, struct gv_message *m, int to,
    struct gv_tag tag, const struct iovec *piece, size_t pieces);
void gv_mesh_recv(struct gv_gang *g, struct gv_message *m, int from, struct gv_tag tag,
    void *data, size_t bytes);

/* Fills what to poll the links for, [world]; true: some need not be polled. */
bool gv_mesh_rest(struct gv_gang *g, struct pollfd *poll);
/* Moves what can move of those that were polled; true when something moved. */
bool gv_mesh_move_polled(struct gv_gang *g, const struct pollfd *poll);

/*
 * Moves what can move, of one peer at once or (NULL) of all, waiting timeout_ms
 * for something to do.  True when something moved.
 */
bool gv_mesh_move(struct gv_gang *g, struct gv_peer *only, int timeout_ms);

/* Waits until all n messages are done.  0 or -1. */
int gv_mesh_wait(
    struct gv_gang *g, struct gv_message *const *m, size_t n, struct gv_error *e);

/* What gv_gang_wait_some does, but that it does not see what it has seen. */
int gv_mesh_wait_some(struct gv_gang *g, struct gv_message *const *m, size_t n,
    double since, double until, struct gv_error *e);

/*
 * A peer has been waited for for idle_s seconds: asks all what they do when it is time to, and
 * blames who holds up all.  How long may be slept until the next look.
 */
double gv_mesh_await(struct gv_gang *g, int peer, double idle_s, double now);
/* A peer asks; a peer has answered. */
void gv_mesh_asked(struct gv_gang *g, struct gv_peer *p);
void gv_mesh_here(struct gv_gang *g, struct gv_peer *p, const struct gv_net_frame *f);

/* Closes the links and frees the gang. */
void gv_mesh_free(struct gv_gang *g);

/* ---- queues ---- */

void gv_queue_add(struct gv_queue *q, struct gv_message *m);
void gv_queue_remove(struct gv_queue *q, struct gv_message *m);

/* Adds; false: a peer is too far ahead. */
bool gv_notes_add(struct gv_notes *n, const struct gv_net_frame *f);
/* Removes the first of a tag; false: there is none. */
bool gv_notes_take(struct gv_notes *n, struct gv_tag tag, struct gv_net_frame *f);

static inline bool
gv_tag_same(struct gv_tag a, struct gv_tag b)
{
	return a.slot == b.slot && a.kind == b.kind;
}

/* ---- the two directions of a peer ---- */

/* Writes what can be written; true when something moved. */
bool gv_out_move(struct gv_gang *g, struct gv_peer *p);
bool gv_out_waits(const struct gv_peer *p); /* something is to be written */
void gv_out_post(struct gv_gang *g, struct gv_peer *p, struct gv_message *m);
void gv_out_say(struct gv_gang *g, struct gv_peer *p, enum gv_net_frame_type type,
    struct gv_tag tag, uint64_t bytes);
/* A grant has come, or room in the window. */
void gv_out_granted(struct gv_gang *g, struct gv_peer *p, const struct gv_net_frame *f);
void gv_out_taken(struct gv_gang *g, struct gv_peer *p, uint64_t bytes);

/* Reads what can be read; true when something moved. */
bool gv_in_move(struct gv_gang *g, struct gv_peer *p);
void gv_in_post(struct gv_gang *g, struct gv_peer *p, struct gv_message *m);

#endif
