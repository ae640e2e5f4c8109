/* madvise is in neither C nor POSIX. */
#define _DEFAULT_SOURCE

#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"

static GV_NORETURN void
out_of_memory(void)
{
	gv_die("out of memory");
}

void
gv_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	enum { MUCH = 4 << 20, PAGE = 64 << 10 };
	size_t off = (PAGE - (uintptr_t)p % PAGE) % PAGE;
	int before = errno;

	if (bytes >= MUCH)
		madvise((char *)p + off, (bytes - off) / PAGE * PAGE, MADV_HUGEPAGE);
	errno = before; /* it may fail: then pages are small */
#else
	(void)p;
	(void)bytes;
#endif
}

void *
gv_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n > 0 ? n : 1, size > 0 ? size : 1);

	if (p == NULL)
		out_of_memory();
	gv_large_pages(p, n * size);
	return p;
}

void *
gv_xrealloc(void *p, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		out_of_memory();
	p = realloc(p, n * size > 0 ? n * size : 1);
	if (p == NULL)
		out_of_memory();
	gv_large_pages(p, n * size);
	return p;
}

void *
gv_xlines(size_t n, size_t size)
{
	enum { LINE = 64 };
	size_t room;
	void *p;

	if (size != 0 && n > (SIZE_MAX - 2 * LINE) / size)
		out_of_memory();
	room = (n * size / LINE + 1) * LINE;
	p = aligned_alloc(LINE, room);
	if (p == NULL)
		out_of_memory();
	gv_large_pages(p, room);
	return p;
}

char *
gv_xstrndup(const char *s, size_t len)
{
	char *p = gv_xrealloc(NULL, len + 1, 1);

	if (len > 0)
		memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *
gv_xstrdup(const char *s)
{
	return gv_xstrndup(s, strlen(s));
}

void *
gv_xgrow(void *p, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap;

	if (want <= n)
		return p;
	n = n < 16 ? 16 : n + n / 2;
	if (n < want)
		n = want;
	p = gv_xrealloc(p, n, size);
	*cap = n;
	return p;
}

enum { BLOCK = 64 * 1024 };

struct gv_arena_block {
	struct gv_arena_block *next;
	size_t size;
	max_align_t data[];
};

static char *
take(struct gv_arena *a, size_t bytes, size_t align)
{
	struct gv_arena_block *b = a->head;
	size_t at = (a->used + align - 1) / align * align;

	if (b == NULL || at > b->size || bytes > b->size - at) {
		/* blocks double up to 16 MiB, so that a large table needs few */
		size_t size = b == NULL              ? BLOCK
			      : b->size < (16 << 20) ? b->size * 2
						     : b->size;

		if (size < bytes)
			size = bytes;
		if (size > SIZE_MAX - sizeof(*b))
			out_of_memory();
		b = gv_xrealloc(NULL, 1, sizeof(*b) + size);
		b->next = a->head;
		b->size = size;
		a->head = b;
		at = 0;
	}
	a->used = at + bytes;
	return (char *)b->data + at;
}

void *
gv_arena_alloc(struct gv_arena *a, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		out_of_memory();
	return take(a, n * size, _Alignof(max_align_t));
}

char *
gv_arena_strndup(struct gv_arena *a, const char *s, size_t len)
{
	char *p = take(a, len + 1, 1);

	if (len > 0)
		memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void
gv_arena_free(struct gv_arena *a)
{
	struct gv_arena_block *b = a->head;

	while (b != NULL) {
		struct gv_arena_block *next = b->next;

		free(b);
		b = next;
	}
	a->head = NULL;
}
