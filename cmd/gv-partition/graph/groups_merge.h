/* What groups.c and groups_edges.c share. */
#ifndef GV_PARTITION_GROUPS_MERGE_H
#define GV_PARTITION_GROUPS_MERGE_H

#include "groups.h"

#define NOBODY UINT32_MAX

void merges_add(struct merges *m, uint32_t src, uint32_t dst);
/* Each layer by the first of its group after the first k merges, as the merges name it. */
uint32_t *merges_firsts(const struct merges *m, size_t k);
/* The first layers of the groups, each behind those of all that feed it: how many. */
size_t merges_order(const struct merges *m, const uint32_t *first, uint32_t *order);
/* Merges groups along edges until none are left. */
void merges_edges(struct merges *m);

#endif
