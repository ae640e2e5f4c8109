/* The only places where programs read a clock or sleep. */
#ifndef GV_BASE_CLOCK_H
#define GV_BASE_CLOCK_H

/* Seconds of a clock that never steps; its zero is arbitrary. */
double gv_clock_s(void);

/*
 * Seconds that the calling thread has computed: not those in which it slept or others had its
 * core.  A system call, a quarter of a microsecond.
 */
double gv_clock_thread_s(void);

/* The same of all threads of the process together. */
double gv_clock_process_s(void);

/* Seconds since the epoch. */
double gv_now_s(void);

/* Sleeps; returns early when a signal handler ran. */
void gv_sleep_s(double seconds);

#endif
