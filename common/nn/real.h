/* The trainer's number: float; double in the second build, for gradient checks. */
#ifndef GV_NN_REAL_H
#define GV_NN_REAL_H

#ifdef GV_REAL_DOUBLE
typedef double gv_real;
#else
typedef float gv_real;
#endif

#endif
