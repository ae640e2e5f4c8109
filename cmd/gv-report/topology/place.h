/* Where nodes of a topology are drawn. */
#ifndef GV_REPORT_PLACE_H
#define GV_REPORT_PLACE_H

#include "topology.h"

/*
 * Gives each node a place, and the topology its height: the GPUs of a host on a circle in the
 * order of their names, its switches within, near what they are linked to; several
 * hosts around the switches between them, turned so that few links run below nodes that are
 * not at their ends, as far as hosts, links and nodes are not too many to look at.
 */
void topology_place(struct topology *t);

#endif
