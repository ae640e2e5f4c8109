/*
 * Checked memory: allocators that die with "out of memory", and arenas whose
 * contents live and die together.
 */
#ifndef GV_BASE_MEM_H
#define GV_BASE_MEM_H

#include <stddef.h>

/*
 * Asks for large pages for much memory that nobody has touched, if the system has them: a
 * fault for each 4 KiB would take longer than many a loop over it.
 */
void gv_large_pages(void *p, size_t bytes);

/* As calloc, realloc (of n elements of size bytes), strdup; exit 2 when memory is out. */
void *gv_xcalloc(size_t n, size_t size);
void *gv_xrealloc(void *p, size_t n, size_t size);
char *gv_xstrdup(const char *s);
char *gv_xstrndup(const char *s, size_t len); /* s[0..len) and a NUL */

/* At the beginning of a cache line, not cleared; exit 2 as above. */
void *gv_xlines(size_t n, size_t size);

/*
 * Makes room for at least want elements of size bytes in the array p of *cap
 * elements, growing by half; p may be NULL with *cap 0.  Returns the array.
 */
void *gv_xgrow(void *p, size_t *cap, size_t want, size_t size);

/*
 * An arena: gives memory that is freed all at once.  = {0} is an empty arena.
 * Memory is aligned for any type and not cleared.
 */
struct gv_arena {
	struct gv_arena_block *head;
	size_t used; /* bytes given out of head */
};

void *gv_arena_alloc(struct gv_arena *a, size_t n, size_t size);
char *gv_arena_strndup(
    struct gv_arena *a, const char *s, size_t len); /* NUL behind it, unaligned */
void gv_arena_free(struct gv_arena *a);             /* also of a zeroed arena */

#endif
