/* How a gang meets: from nothing to a proved connection to every other member. */
#ifndef GV_NET_MEET_H
#define GV_NET_MEET_H

#include "net/gang.h"
#include "net/hello.h"

/*
 * Fills fd[world] with a connection to each rank (-1 at the own one) and host
 * with where it is.  0, or -1 with *e set; then nothing stays open.
 */
int gv_meet(const struct gv_gang_spec *s, int *fd, char (*host)[GV_SOCK_ADDR],
    struct gv_error *e);

#endif
