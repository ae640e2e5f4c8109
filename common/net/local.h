/*
 * Links among processes of one machine that one parent forks: made before, taken
 * after.
 */
#ifndef GV_NET_LOCAL_H
#define GV_NET_LOCAL_H

#include <stdbool.h>

#include "base/err.h"
#include "net/link.h"

enum gv_local_kind {
	GV_LOCAL_MEMORY, /* rings in memory that two processes share (link_memory) */
	GV_LOCAL_TCP,    /* connections over the loopback interface */
	GV_LOCAL_KINDS
};

/* memory, tcp */
extern const char *const gv_local_name[GV_LOCAL_KINDS];

struct gv_local;

/*
 * Links among n processes, for each two that are joined.  0, or -1 with *e: no
 * descriptors or no memory.  Two descriptors a link until they are taken.
 */
int gv_local_open(struct gv_local **l, int n, enum gv_local_kind kind,
    bool (*joined)(const void *ctx, int a, int b), const void *ctx, struct gv_error *e);

/*
 * In the process that is member r: its links to link[n], NULL where it has none, with
 * gv_link_ops.close to end each.  All others are closed here; *l is used up.  Memory
 * that links share stays until the process ends.
 */
void gv_local_take(struct gv_local *l, int r, struct gv_link **link);

/* In the parent, once all are forked; NULL is allowed. */
void gv_local_close(struct gv_local *l);

#endif
