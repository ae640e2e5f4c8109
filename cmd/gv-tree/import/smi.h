/* The matrix that nvidia-smi topo -m prints. */
#ifndef TREE_SMI_H
#define TREE_SMI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "table/tab.h"

/* Whether s begins as such a matrix does. */
bool smi_is(const char *s, size_t len);

/*
 * Its links: NVLinks of lane GB/s (0 = LINKS_LANE), to a switch where a GPU has more of them than
 * any GPU has; of PCIe the bridges and sockets that the distances tell.
 * 0, or -1 with *e.
 */
int smi_links(struct gv_frame *f, const char *file, const char *s, size_t len,
    double lane, struct gv_error *e);

#endif
