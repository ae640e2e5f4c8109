/* What the system says of a process or a thread of this machine, where it has /proc. */
#ifndef GV_NET_PROCESS_H
#define GV_NET_PROCESS_H

/* Of a file "/proc/N/stat": R it computes or would, S it sleeps, T it is stopped, ...; 0: unknown. */
char gv_process_state(const char *path);

#endif
