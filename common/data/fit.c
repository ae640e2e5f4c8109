#include "data/fit.h"

#include <math.h>

static int
read_sets(struct gv_data *d, struct gv_data *test, const struct gv_model *m,
    const struct gv_data_sets *sets, struct gv_error *e)
{
	struct gv_data_spec spec = sets->train;

	spec.numbers = m->target == GV_TARGET_NUMBERS;
	if (gv_data_open(d, &spec, e) != 0)
		return -1;
	if (sets->test.text == NULL)
		return 0;
	spec = sets->test;
	spec.numbers = m->target == GV_TARGET_NUMBERS;
	if (gv_data_open(test, &spec, e) != 0)
		return -1;
	if (test->h != d->h || test->w != d->w || test->c != d->c)
		return gv_error_set(e,
		    "%s: samples of %zux%zux%zu, those of %s are %zux%zux%zu",
		    sets->test.text, test->h, test->w, test->c, sets->train.text, d->h,
		    d->w, d->c);
	if (test->classes > d->classes)
		return gv_error_set(e, "%s: label %zu, the largest of %s is %zu",
		    sets->test.text, test->classes - 1, sets->train.text, d->classes - 1);
	return 0;
}

/* Samples that are their own targets. */
static int
make_own(
    struct gv_data *d, struct gv_data *test, const struct gv_model *m, struct gv_error *e)
{
	if (m->target != GV_TARGET_NUMBERS)
		return gv_error_set(e,
		    "--autoencode: the head of %s compares with labels, not numbers",
		    m->table.file);
	gv_data_own_targets(d);
	if (test->n > 0)
		gv_data_own_targets(test);
	return 0;
}

/* Whether a label of 0 or 1 is the number that the model compares with. */
static bool
is_one_number(const struct gv_data *d, struct gv_model *m)
{
	struct gv_error ignored = {0};

	return d->classes == 2 && d->targets == 1 &&
	       gv_model_shape(m, (struct gv_shape){d->c, d->h, d->w}, 2, &ignored) == 0 &&
	       m->targets == 1;
}

/* Labels for a model that wants numbers. */
static void
make_numbers(struct gv_data *d, struct gv_data *test, struct gv_model *m)
{
	size_t classes = d->classes;
	bool one;

	if (m->target != GV_TARGET_NUMBERS || d->y == NULL)
		return;
	one = is_one_number(d, m);
	if (one)
		gv_data_as_numbers(d);
	else
		gv_data_one_hot(d, classes);
	if (test->n > 0 && one)
		gv_data_as_numbers(test);
	else if (test->n > 0)
		gv_data_one_hot(test, classes);
}

/* Samples for a model that embeds them are tokens that it knows. */
static int
check_tokens(const struct gv_data *d, const struct gv_model *m, const char *name,
    struct gv_error *e)
{
	size_t i;

	for (i = 0; i < d->n * d->size && m->tokens > 0; i++)
		if (!(d->x[i] >= 0 && d->x[i] < (float)m->tokens &&
			d->x[i] == floorf(d->x[i])))
			return gv_error_set(e,
			    "%s: sample %zu: %g is no token from 0 to %zu, which embed "
			    "knows",
			    name, i / d->size, (double)d->x[i], m->tokens - 1);
	return 0;
}

int
gv_data_fit(struct gv_data *d, struct gv_data *test, struct gv_model *m,
    const struct gv_data_sets *sets, struct gv_error *e)
{
	struct gv_shape input;
	size_t vocabulary;

	if (read_sets(d, test, m, sets, e) != 0 ||
	    (sets->own && make_own(d, test, m, e) != 0))
		return -1;
	make_numbers(d, test, m);
	vocabulary = gv_model_vocabulary(m);
	if (vocabulary > d->classes && d->y != NULL && d->targets > 1)
		d->classes = vocabulary;
	input = (struct gv_shape){d->c, d->h, d->w};
	if (gv_model_shape(m, input, d->classes, e) != 0)
		return -1;
	if (m->targets != d->targets)
		return gv_error_set(e,
		    "%s: a sample of %s has %zu targets, the model's head wants %zu",
		    m->table.file, sets->train.text, d->targets, m->targets);
	if (check_tokens(d, m, sets->train.text, e) != 0)
		return -1;
	return check_tokens(test, m, sets->test.text, e);
}

void
gv_data_fit_scale(struct gv_data *d, struct gv_data *test, const struct gv_model *m,
    const struct gv_data_sets *sets)
{
	gv_data_scale(
	    d, test->n > 0 ? test : NULL, m->tokens > 0 ? GV_DATA_UNSCALED : sets->scale);
	if (!sets->own)
		return;
	gv_data_own_targets_fill(d);
	if (test->n > 0)
		gv_data_own_targets_fill(test);
}
