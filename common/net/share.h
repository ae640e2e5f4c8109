/*
 * Memory between members that turn out to be on one machine, whoever started them.
 *
 * Behind the meeting each tells each where it is: the boot of its machine and its
 * namespaces of networks and processes, so that containers, and workers whose links
 * are to be those of other networks, count as machines of their own.  Where both say
 * the same, the lower rank makes memory without a name and draws a secret into it;
 * the higher one opens it as /proc/PID/fd/N, and only if it finds the secret there do
 * both use it (link_memory), with their TCP connection as its bell.  In all other
 * cases, other users and systems without /proc among them, the connection carries
 * everything.  Nothing is left behind, however the members end.
 */
#ifndef GV_NET_SHARE_H
#define GV_NET_SHARE_H

#include "net/mesh.h"

/*
 * Gives a gang over TCP, that has no thread yet, links through memory where that can be, and
 * learns the processes of members on this machine.  0, or -1 with *e set and the gang broken.
 */
int gv_share_links(struct gv_gang *g, const struct gv_gang_spec *s, struct gv_error *e);

#endif
