/*
 * What members that have met send each other: frames.
 *
 * A frame is a header and, of a message, its bytes.  Machines of one byte order
 * only: the magic number tells.
 *
 *	DATA   a message: tag, word, bytes
 *	GRANT  a receive of so many bytes has been posted: send the message
 *	OFFER  a message, the next of its tag, waits for its grant: a small one that
 *	       found no room in the window, which is granted because of this, or a
 *	       large one (so that a receive of another size is found at once, not
 *	       after a long silence)
 *	TAKEN  so many bytes of the window are free again
 *	ABORT  who was to blame, and for what
 *	BYE    no more will come
 *	ASK    what do you do? (sign.h)
 *	HERE   the answer: tag.slot is who is waited for, or GV_HERE_WORKS; word the
 *	       ticks that were computed; bytes the milliseconds that were waited
 */
#ifndef GV_NET_FRAME_H
#define GV_NET_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "net/gang.h"
#include "net/sign.h"

enum gv_net_frame_type {
	GV_DATA = 1,
	GV_GRANT,
	GV_OFFER,
	GV_TAKEN,
	GV_ABORT,
	GV_BYE,
	GV_ASK,
	GV_HERE
};

#define GV_FRAME_MAGIC 0x67764d33u
#define GV_HERE_WORKS  0xffffffffu

struct gv_net_frame {
	uint32_t magic;
	uint32_t type;
	struct gv_tag tag;
	uint32_t word;
	uint32_t unused;
	uint64_t bytes;
};

/*
 * Of n bytes that a peer sent before it left, from the beginning of a frame on: who it says
 * is to blame, and for what to *why; -1: it says nothing of it.
 */
int gv_frame_last_words(const unsigned char *b, size_t n, enum gv_blame *why);

#endif
