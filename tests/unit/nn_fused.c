/* Rows that are not fused: models of an array go through them one after the other. */
#include <string.h>

#include "nn/stage.h"
#include "tap.h"

enum { B = 3, ROWS = 7 };

/* A backend that writes down what it is asked: 2-4:0,2; is rows 2 and 3 of models 0 and 2. */
struct recorder {
	struct gv_nn_backend be;
	char text[1024];
};

static int
note(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	struct recorder *r = (struct recorder *)be;
	size_t len = strlen(r->text), b;

	len += (size_t)snprintf(
	    r->text + len, sizeof(r->text) - len, "%zu-%zu:", first, last);
	for (b = 0; b < c->plan->B; b++)
		if (c->active[b])
			len += (size_t)snprintf(
			    r->text + len, sizeof(r->text) - len, "%zu", b);
	snprintf(r->text + len, sizeof(r->text) - len, " ");
	return 0;
}

static int
note_pack(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    unsigned what)
{
	(void)be, (void)c, (void)first, (void)last, (void)what;
	return 0;
}

static int
note_gradient(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct gv_nn_grads *grads, bool add)
{
	(void)grads, (void)add;
	return note(be, c, first, last);
}

/* What rows [first, last) become, row i fused where fused[i] is 1. */
static void
test_rows(const char *fused, const bool *active, size_t first, size_t last,
    const char *forward, const char *backward, size_t models)
{
	struct gv_nn_row row[ROWS] = {0};
	struct gv_nn_plan plan = {.B = models, .R = 1, .row = row, .rows = ROWS};
	struct gv_nn_call c = {.plan = &plan, .active = active, .training = true};
	struct gv_nn_ranks ranks = {0};
	struct recorder r = {.be = {.pack = note_pack,
				 .forward = note,
				 .backward = note,
				 .gradient = note_gradient}};
	size_t i;

	for (i = 0; i < ROWS; i++) {
		row[i].l.op = GV_OP_RELU;
		row[i].l.serial = fused[i] == '0';
	}
	gv_nn_stage_forward(&r.be, &c, &ranks, first, last);
	is_str(r.text, forward, "%s, forward", fused);
	r.text[0] = '\0';
	gv_nn_stage_gradient(&r.be, &c, first, last, NULL, false);
	is_str(r.text, forward, "%s, gradients", fused);
	r.text[0] = '\0';
	gv_nn_stage_backward(&r.be, &c, &ranks, first, last);
	is_str(r.text, backward, "%s, backward", fused);
}

int
main(void)
{
	static const bool all[B] = {true, true, true}, two[B] = {true, false, true};

	test_rows("1111111", all, 0, 7, "0-7:012 ", "0-7:012 ", B);
	test_rows("1100111", all, 0, 7, "0-2:012 2-4:0 2-4:1 2-4:2 4-7:012 ",
	    "4-7:012 2-4:0 2-4:1 2-4:2 0-2:012 ", B);
	test_rows("0110110", two, 0, 7,
	    "0-1:0 0-1:2 1-3:02 3-4:0 3-4:2 4-6:02 6-7:0 6-7:2 ",
	    "6-7:0 6-7:2 4-6:02 3-4:0 3-4:2 1-3:02 0-1:0 0-1:2 ", B);
	test_rows("0000000", all, 2, 4, "2-4:0 2-4:1 2-4:2 ", "2-4:0 2-4:1 2-4:2 ", B);
	test_rows("1100111", all, 4, 7, "4-7:012 ", "4-7:012 ", B);
	/* one model goes through all rows at once */
	test_rows("1100111", two, 0, 7, "0-2:0 2-4:0 4-7:0 ", "4-7:0 2-4:0 0-2:0 ", 2);
	test_rows("1100111", all, 0, 7, "0-7:0 ", "0-7:0 ", 1);
	return done_testing();
}
