/* Memory that a process shares with those that it forks. */
#ifndef GV_BASE_SHM_H
#define GV_BASE_SHM_H

#include <stddef.h>

#include "base/err.h"

/* n bytes of zeroes, without a name that stays; NULL with *e set. */
void *gv_shm_new(size_t n, struct gv_error *e);
void gv_shm_free(void *p, size_t n); /* here; NULL is allowed */

#endif
