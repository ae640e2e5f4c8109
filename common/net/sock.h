/*
 * TCP sockets with deadlines: the part of common/net that knows the system
 * calls.  All descriptors are non-blocking and close-on-exec.  Functions return
 * 0, or -1 with *e set; what is written of the peer is "who".
 */
#ifndef GV_NET_SOCK_H
#define GV_NET_SOCK_H

#include <stddef.h>

#include "base/err.h"

/* Longest numeric address and port with their NULs. */
enum { GV_SOCK_ADDR = 64 };

/* Listens on all addresses, or only on addr; port 0 = any free one, *port tells which. */
int gv_sock_listen(int *fd, const char *addr, int *port, struct gv_error *e);

/* Takes one connection before the deadline (gv_clock_s); the peer's numeric address goes to addr. */
int gv_sock_accept(
    int *fd, int listener, double deadline, char addr[GV_SOCK_ADDR], struct gv_error *e);

/* Connects, trying again until the deadline while nobody listens. */
int gv_sock_connect(
    int *fd, const char *addr, int port, double deadline, struct gv_error *e);

/*
 * Sends out[0..n_out) and receives into in[0..n_in) at the same time.  An error
 * when the peer closes ("is gone") or nothing moves for silence seconds ("is
 * silent for ...").
 */
int gv_sock_exchange(int fd, const void *out, size_t n_out, void *in, size_t n_in,
    double silence, const char *who, struct gv_error *e);

#endif
