/* What the user is told of a measurement. */
#ifndef GV_PROFILE_MEASURED_H
#define GV_PROFILE_MEASURED_H

#include "measure.h"

/* Warnings: it failed, was too short, said nothing, or varies.  timeout_s: of one run. */
void measured_warn(const char *label, const struct measurement *m, double timeout_s);
/* The rate, and how well it is known. */
void measured_say(const char *label, const struct measurement *m);
/* The rate as it is written: more digits than a measurement has would be noise. */
double measured_rate(const struct measurement *m);

#endif
