/*
 * A machine as NCCL's topology file describes it: CPUs, PCIe bridges, GPUs and their
 * NVLinks; what of it NCCL would not take, and the links that are left.
 */
#ifndef TREE_NCCL_H
#define TREE_NCCL_H

#include "table/tab.h"
#include "xml.h"

/*
 * Says in *f what NCCL 2.28 would make of the elements: what it stops at (errors),
 * passes over or asks the machine for (warnings), and what it sees (notes).
 */
void nccl_check(const struct xml *x, struct xml_findings *f);

/*
 * The links: GPUs are gpuN by dev, bridges plxN, CPUs cpuN by numaid, NVSwitches one
 * nvs0.  lane as import_load takes it.
 */
void nccl_links(struct gv_frame *f, const struct xml *x, double lane);

#endif
