#include "net/frame.h"

#include <string.h>

int
gv_frame_last_words(const unsigned char *b, size_t n, enum gv_blame *why)
{
	struct gv_net_frame f;

	while (n >= sizeof(f)) {
		memcpy(&f, b, sizeof(f));
		b += sizeof(f);
		n -= sizeof(f);
		if (f.magic != GV_FRAME_MAGIC)
			return -1;
		if (f.type == GV_ABORT && f.tag.slot < GV_GANG_MAX &&
		    f.tag.kind > GV_BLAME_NONE && f.tag.kind < GV_BLAMES) {
			*why = (enum gv_blame)f.tag.kind;
			return (int)f.tag.slot;
		}
		if (f.type == GV_DATA && f.bytes > n)
			return -1;
		if (f.type == GV_DATA) {
			b += f.bytes;
			n -= (size_t)f.bytes;
		}
	}
	return -1;
}
