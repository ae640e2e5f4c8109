/*
 * What a policy counts, for parts that look at its answer: of each job, where the least
 * or the largest of all is the objective, or where their sum is.
 */
#ifndef GV_ALLOC_MEASURE_H
#define GV_ALLOC_MEASURE_H

enum gv_measure {
	GV_MEASURE_NONE,
	GV_MEASURE_LEVEL,   /* max min  s_i thr_i / (w_i P_i) */
	GV_MEASURE_SECONDS, /* min max  n_i / thr_i */
	GV_MEASURE_ALONE,   /* min max  (e_i + n_i / thr_i) / D_i, policy/finish_time.c */
	GV_MEASURE_SUM,     /* max sum  thr_i */
	GV_MEASURE_PER_DOLLAR, /* max sum  T_ij x_ij / c_j */
	GV_MEASURE_QUEUE,      /* max sum  (M - m_i) thr_i / max_j T_ij */
	GV_MEASURE_RATIO       /* max sum thr_i / sum s_i c_j x_ij */
};

#endif
