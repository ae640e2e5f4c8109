/* The machine that was asked for on the command line. */
#ifndef GV_PARTITION_OPTIONS_MACHINE_H
#define GV_PARTITION_OPTIONS_MACHINE_H

#include "options.h"

/* --level=[N]@BANDWIDTH[:BANDWIDTH]; without N the level has gpus = 0 until options_machine. */
void options_level(struct options *o, const char *arg);
/* --moving=BANDWIDTH */
void options_moving(struct options *o, const char *arg);
/* --gpu-speed=TYPE=X */
void options_gpu_speed(struct options *o, const char *arg);

/* Reads --levels, takes --gpus of them, checks; ends with an error of usage or input. */
void options_machine(struct options *o);

#endif
