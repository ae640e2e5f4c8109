/*
 * What a history comes to over time, in memory that does not grow with it: GPUs
 * busy, jobs that run, who has the GPUs.
 */
#ifndef GV_REPORT_OVER_TIME_H
#define GV_REPORT_OVER_TIME_H

#include <stddef.h>

#include "bins.h"

enum {
	FIRST_JOBS = 7,  /* that have a level of their own */
	GANG_SIZES = 24, /* 1, 2, 3-4, 5-8, ... GPUs */
	MOST_ENTITIES = 1000,
	MOST_GPUS = 20000 /* of which it is known who has them when */
};

/* = {0} is empty. */
struct over_time {
	size_t n_types, cap_types, cap_available;
	struct bins *busy, *available;  /* [n_types] GPUs */
	struct bins running;            /* jobs */
	struct bins of_job[FIRST_JOBS]; /* GPUs, by the number of the job */
	struct bins of_size[GANG_SIZES];
	size_t n_entities, cap_entities; /* further ones are not told apart */
	struct bins *of_entity;          /* [n_entities] GPUs */
	struct moments moments;          /* jobs on GPUs */
};

/* GPUs of a type are there, or are busy, for a time. */
void over_time_available(
    struct over_time *o, size_t type, double from_s, double to_s, double gpus);
void over_time_busy(
    struct over_time *o, size_t type, double from_s, double to_s, double gpus);
/* A job has gpus GPUs for a time, on lane[0..n_lanes) as far as these are told. */
void over_time_run(struct over_time *o, size_t job, size_t entity, double from_s,
    double to_s, size_t gpus, const size_t *lane, size_t n_lanes);
/* Which of of_size a gang of so many is, and the largest of these. */
size_t gang_size(size_t gpus);
size_t gang_size_most(size_t size);
void over_time_free(struct over_time *o);

#endif
