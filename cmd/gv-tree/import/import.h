/*
 * Links as other programs write them, made into a table of links: what
 * nvidia-smi topo -m prints, and the XML that NCCL reads its topology from.
 */
#ifndef TREE_IMPORT_H
#define TREE_IMPORT_H

#include <stddef.h>

#include "base/err.h"
#include "table/tab.h"

/*
 * Reads path (NULL or "-": standard input) into a table with the columns src, dst,
 * gbytes_per_s and kind; its lines are those of the file.  What it is shows in its
 * first bytes: "<" begins XML, a line of GPU0, GPU1, ... the matrix of nvidia-smi;
 * all else is read as a table and left as it is.
 *
 * lane: GB/s of one NVLink in one direction, 0 = as the GPU's compute capability
 * says, 25 where that is unknown.  The PCIe part has the rates of NCCL's model:
 * 12 GB/s for 16 lanes of 8 GT/s, 6 between sockets where nothing better is known.
 * 0, or -1 with *e.
 */
int import_load(struct gv_frame *f, const char *path, double lane, struct gv_error *e);

/* All of path, inflated; the caller frees *s, which has a NUL behind it.  0, or -1 with *e. */
int import_text(char **s, size_t *len, char **name, const char *path, struct gv_error *e);

#endif
