/* The Newton equations of interior.h; private to its files. */
#ifndef GV_ALLOC_INTERIOR_NEWTON_H
#define GV_ALLOC_INTERIOR_NEWTON_H

#include "interior.h"

/* Rows that are taken off the matrix at once; jobs of that part of all types are put there. */
enum { GV_INTERIOR_ASIDE = 64, GV_INTERIOR_DENSE = 5 };
/* Types from which on the matrix costs so much that steps are corrected. */
enum { GV_INTERIOR_CORRECTS = 100 };

/* A point, or a step: variables and the multipliers of their constraints. */
struct gv_interior_vector {
	double *x, *z;         /* [n_columns] shares, reduced costs */
	double *idle, *time;   /* [n] of a job's time: what is left, multiplier */
	double *over, *lambda; /* [n] of a job's level: what is over, multiplier */
	double *left, *price;  /* [m] of a type's GPUs: what is left, multiplier */
	double t;              /* the level */
	double *memory;        /* all of those but t */
	size_t size;           /* numbers there */
};

/* The program in columns, a point, and its equations. */
struct gv_interior_state {
	const struct gv_interior_program *p;
	size_t n, m, n_columns;
	size_t *begin, *type;
	double *a, *g; /* [n_columns] level and gain of a share */
	bool *wants;   /* [n] the job has a level to reach */
	bool level;    /* t is maximised */
	double size;   /* of a sum, at least */

	struct gv_interior_vector at, step, best;
	bool corrects;                   /* steps are corrected ... */
	struct gv_interior_vector trial; /* ... into this, which else there is not */
	/* residuals: of the constraints, and of the products of pairs */
	struct gv_interior_vector rest;
	double rest_t;

	double *weight;        /* [n_columns] x / z */
	double *root;          /* [n][3] Cholesky factor of a job's two equations */
	double *half0, *half1; /* [n_columns] its columns in terms of that */
	size_t stride;
	double *schur; /* [m][stride] lower triangle, then its factor */
	double *aside; /* [GV_INTERIOR_ASIDE][stride] */
	size_t n_aside;
	double *border; /* [m] what the level adds */
	double border_t;
	double *right;     /* [m] */
	double *right_job; /* [n][2] */
};

/* Sets weight, and factorises the equations of the present point.  False: they are singular. */
bool gv_interior_factorise(struct gv_interior_state *s);

/* The step that takes away the residuals in rest. */
void gv_interior_step(struct gv_interior_state *s, struct gv_interior_vector *step);

/* What shares x of the columns come to: sum_j a_ij x_ij */
double gv_interior_level_of(const struct gv_interior_state *s, const double *x, size_t i);

#endif
