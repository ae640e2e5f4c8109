/* Parcels of numbers between workers: buffers that come and go with their messages. */
#ifndef GV_TRAIN_POST_H
#define GV_TRAIN_POST_H

#include "net/gang.h"
#include "nn/real.h"

/* What a message is of; slot of its tag says which one. */
enum post_kind {
	POST_OUTPUT,   /* what crosses into a stage, of a micro-batch */
	POST_GRADIENT, /* what comes back from it */
	POST_TEST,     /* what crosses into it, of samples that are tested on */
	POST_PIECE,    /* of the gradients of a stage, for the replica that sums them, */
	POST_SUM,      /* and their sum */
	POST_LOSS,     /* of a step, */
	POST_SCORES,   /* or of samples that are tested on */
	POST_SAVED,    /* a slice of a checkpoint is on the disk */
	POST_WEIGHTS,  /* a stage's parameters, of a model */
	POST_TIMES,    /* what a stage took */
	POST_SQUARES,  /* of a stage's gradients, row by row */
	POST_REST, /* rank 0 is told who has come to the end of a unit, and tells all */
	POST_TIED, /* gradient of a weight that a row of another stage has, too */
	/* from device to device: the identifier of a way; that an output, or a gradient, is
	   sent: of which micro-batch is the message's word */
	POST_WAY,
	POST_OUTPUT_SENT,
	POST_GRADIENT_SENT,
	POST_KINDS
};

struct parcel {
	struct gv_message m;
	struct gv_tag tag;
	bool within; /* it does not leave this worker */
	gv_real *v;  /* [n]; where it is sent from pieces: nothing, until post_settle */
	size_t n, room;
	const void *source; /* of its pieces, */
	struct iovec *piece;
	size_t pieces, piece_room;
	struct parcel *next;
};

struct post {
	struct gv_gang *gang;
	size_t rank;
	struct parcel *sent;  /* on their way, */
	struct parcel *kept;  /* to this worker itself, the last first */
	struct parcel *spare; /* buffers for the next ones */
	double waited_s;      /* in post_wait */
	/* goes on with what has come, whoever waits for what: others may wait for that */
	void (*work)(void *ctx);
	void *ctx;
	double look_s; /* it is called so often at least, whatever comes; 0: only then, */
	double looks_s;        /* while a sum is waited for; after so long, no more */
	struct gv_error error; /* of the last failure */
};

/* The tag of what a stage is sent, or sends. */
static inline struct gv_tag
post_tag(enum post_kind kind, size_t stage, uint64_t number)
{
	return (struct gv_tag){
	    (uint32_t)number, (uint32_t)(stage * POST_KINDS + (size_t)kind)};
}

/* A buffer of n numbers, to be sent or given back. */
struct parcel *post_blank(struct post *p, size_t n);
void post_back(struct post *p, struct parcel *x);

/* Sends it; it comes back by itself. */
void post_send(struct post *p, struct parcel *x, size_t to, struct gv_tag tag);
/* A parcel of no numbers yet that n pieces of numbers will be sent from, all of one source. */
struct parcel *post_pieces(struct post *p, const void *source, size_t n);
void post_send_pieces(struct post *p, struct parcel *x, size_t to, struct gv_tag tag);
/* What is sent from pieces of that source may change from now on: what is not out is copied. */
void post_settle(struct post *p, const void *source);
/* Asks for n numbers: the parcel that they will be in. */
struct parcel *post_ask(struct post *p, size_t n, size_t from, struct gv_tag tag);

/* Moves what can move.  0, or -1: p->error. */
int post_move(struct post *p);
/* Waits until something moves, since when a message is waited for.  0, or -1: p->error. */
int post_wait_some(struct post *p, struct gv_message *m, double since);
/* Waits until a message is done; until a parcel that was asked for is there.  0, or -1: p->error. */
int post_wait(struct post *p, struct gv_message *m);
int post_take(struct post *p, struct parcel *x);
/* Whether post_take would not wait. */
bool post_has(const struct post *p, const struct parcel *x);
/* Waits until a sum that was begun is done.  0, or -1: p->error. */
int post_sum(struct post *p, struct gv_sum *s);
/* Waits until everything that was sent is out.  0, or -1: p->error. */
int post_flush(struct post *p);

void post_free(struct post *p);

#endif
