/* Jobs, GPU types and other names of a history: what has been heard of is made when it is new. */
#ifndef GV_REPORT_KNOWN_H
#define GV_REPORT_KNOWN_H

#include "history.h"

/* The number of a text in a hash whose keys live in the history's arena; *is_new tells. */
size_t history_number(
    struct history *h, struct gv_hash *hash, const char *s, size_t len, bool *is_new);
/* The number of a GPU type. */
size_t history_type(struct history *h, struct gv_cell name);
/* The job of that id; one that is new has arrived now.  Valid until the next one. */
struct job *history_job(struct history *h, const struct gv_cell *id, double now);
/* What a job has had of a type: in order of types, in the arena. */
struct use *history_use(struct history *h, struct job *j, size_t type);

#endif
