#include "base/shm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *
gv_shm_new(size_t n, struct gv_error *e)
{
	/* without a name, and without the limit that /dev/shm has in a container */
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd != -1)
		p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		gv_error_sys(e, "no shared memory of %zu bytes", n);
	if (fd != -1)
		close(fd);
	return p != MAP_FAILED ? p : NULL;
}

void
gv_shm_free(void *p, size_t n)
{
	if (p != NULL)
		munmap(p, n);
}
