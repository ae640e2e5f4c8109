#define _GNU_SOURCE /* sched_getaffinity */
#include "cpu.h"

#include <sched.h>
#include <unistd.h>

int
cpu_threads(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
#endif
	return online > 0 ? (int)online : 1;
}

int64_t
cpu_memory_bytes(void)
{
#ifdef _SC_PHYS_PAGES
	long pages = sysconf(_SC_PHYS_PAGES);
	long size = sysconf(_SC_PAGESIZE);

	if (pages > 0 && size > 0)
		return (int64_t)pages * size;
#endif
	return -1;
}
