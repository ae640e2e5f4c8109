/*
 * A GLPK that is not to be trusted: GV_GLPK says how.
 *
 *	exact   glp_exact fails
 *	shares  values of columns but the first are too small by 5e-9 of themselves
 *	duals   all duals are 0
 *	abort   glp_simplex reports an internal error
 *	min     glp_simplex fails where the least is looked for
 *	max     where the largest is
 *	again   from its second call on
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <glpk.h>

static int
is(const char *how)
{
	const char *v = getenv("GV_GLPK");

	return v != NULL && strcmp(v, how) == 0;
}

static void *
original(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

int
glp_exact(glp_prob *p, const glp_smcp *parm)
{
	int (*f)(glp_prob *, const glp_smcp *);

	*(void **)&f = original("glp_exact");
	return is("exact") ? GLP_EFAIL : f(p, parm);
}

double
glp_get_col_prim(glp_prob *p, int j)
{
	double (*f)(glp_prob *, int);

	*(void **)&f = original("glp_get_col_prim");
	return f(p, j) * (is("shares") && j > 1 ? 1 - 5e-9 : 1);
}

double
glp_get_row_dual(glp_prob *p, int i)
{
	double (*f)(glp_prob *, int);

	*(void **)&f = original("glp_get_row_dual");
	return is("duals") ? 0 : f(p, i);
}

int
glp_simplex(glp_prob *p, const glp_smcp *parm)
{
	int (*f)(glp_prob *, const glp_smcp *);
	static int calls;

	if (is("again") && ++calls > 1)
		return GLP_EFAIL;
	if (is("abort"))
		glp_error("%s\n", "teta >= 0.0");
	if (is(glp_get_obj_dir(p) == GLP_MIN ? "min" : "max"))
		return GLP_EFAIL;
	*(void **)&f = original("glp_simplex");
	return f(p, parm);
}
