/*
 * TCP sockets with deadlines: the part of common/net that knows the system
 * calls.  All descriptors are non-blocking and close-on-exec.  Functions return
 * 0, or -1 with *e set, if nothing else is said; what is written of the peer is
 * "who".  Deadlines are those of gv_clock_s.
 */
#ifndef GV_NET_SOCK_H
#define GV_NET_SOCK_H

#include <stddef.h>

#include "base/err.h"

/* Longest numeric address with its NUL. */
enum { GV_SOCK_ADDR = 64 };

/*
 * Listens on addr (the first of its addresses that can be had), or on all when it
 * is NULL; port 0 = any free one, *port tells which.
 */
int gv_sock_listen(int *fd, const char *addr, int *port, struct gv_error *e);

/* Takes one connection before the deadline; the peer's numeric address goes to addr. */
int gv_sock_accept(
    int *fd, int listener, double deadline, char addr[GV_SOCK_ADDR], struct gv_error *e);

/* Takes one connection without waiting: a descriptor, or -1 with errno (EAGAIN: nobody is there). */
int gv_sock_take(int listener, char addr[GV_SOCK_ADDR]);

/* Connects, trying again until the deadline while nobody listens. */
int gv_sock_connect(
    int *fd, const char *addr, int port, double deadline, struct gv_error *e);

/* Begins to connect to a numeric address; a descriptor that will be writable, or -1 with errno. */
int gv_sock_call(const char *addr, int port);
/* What has become of it once it is writable: 0, or an errno. */
int gv_sock_error(int fd);

/* Numeric addresses of the two ends; "" when they are not known. */
void gv_sock_here(int fd, char addr[GV_SOCK_ADDR]);
void gv_sock_there(int fd, char addr[GV_SOCK_ADDR]);

/*
 * Sends out[0..n_out) and receives into in[0..n_in) at the same time.  An error
 * when the peer closes ("is gone") or nothing moves for silence seconds ("is
 * silent for ...").
 */
int gv_sock_exchange(int fd, const void *out, size_t n_out, void *in, size_t n_in,
    double silence, const char *who, struct gv_error *e);

#endif
