/* Layers with the same weights (column tied_with), and what is said of them. */
#ifndef GV_PARTITION_TIES_H
#define GV_PARTITION_TIES_H

#include "options.h"
#include "plan/layers.h"

/*
 * Forgets the ties of l where a search may take tied layers apart.  Else says which layers
 * a search keeps in one stage that are not tied themselves.
 */
void take_ties(const struct options *o, struct gv_layers *l);

/*
 * Warns of tied layers of two stages, where the schedule updates stages at different
 * times.
 */
void say_split_ties(
    const struct options *o, const struct gv_layers *l, const struct gv_plan *p);

#endif
