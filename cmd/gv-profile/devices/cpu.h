/* What the CPU of this machine offers. */
#ifndef GV_PROFILE_CPU_H
#define GV_PROFILE_CPU_H

#include <stdint.h>

/* Cores that are online and that this process may run on: at least 1. */
int cpu_threads(void);
/* Bytes of memory, -1 where it cannot be asked. */
int64_t cpu_memory_bytes(void);

#endif
