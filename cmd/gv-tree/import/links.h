/* A table of links, made row by row. */
#ifndef TREE_LINKS_H
#define TREE_LINKS_H

#include "table/tab.h"

/* src, dst, gbytes_per_s, kind */
void links_start(struct gv_frame *f, const char *file);
/* A link in both directions, or in one; line is that of the file it comes from. */
void links_add(struct gv_frame *f, const char *u, const char *v, double gbytes_per_s,
    const char *kind, long line);
void links_one_way(struct gv_frame *f, const char *u, const char *v, double gbytes_per_s,
    const char *kind, long line);

/* GB/s in one direction where nothing better is known. */
#define LINKS_LANE 25.0 /* an NVLink of V100, A100 and H100 */
#define LINKS_PCIE 12.0 /* 16 lanes of 8 GT/s, as NCCL counts them */
#define LINKS_QPI  6.0  /* between two sockets, as NCCL counts the oldest */

#endif
