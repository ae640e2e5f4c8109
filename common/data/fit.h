/*
 * Samples and the model that is trained on them: what the model's head compares with,
 * and the shapes that the model has for such samples.
 */
#ifndef GV_DATA_FIT_H
#define GV_DATA_FIT_H

#include "data/data.h"
#include "nn/model.h"

/* What is read for a model, by the names that --data and its companions give it. */
struct gv_data_sets {
	struct gv_data_spec train, test; /* test.text NULL = none */
	enum gv_data_scale scale;        /* of samples that are no tokens */
	bool own;                        /* samples are their own targets */
};
#define GV_DATA_SETS_DEFAULTS                                                          \
	{                                                                              \
		.train = {.label = "label", .context = 64, .digit_seed = 1}, .test = { \
			.label = "label",                                              \
			.context = 64,                                                 \
			.digit_seed = 2                                                \
		}                                                                      \
	}

/*
 * Reads the sets for m, which has been read (gv_model_read), into d and test, gives them the
 * targets that its head compares with (labels; numbers; with sets->own the samples
 * themselves), and shapes m for them (gv_model_shape).  Classes are those of the training
 * set; of text as many as there are tokens, if the model knows more of them.
 *
 * 0, or -1 with *e set: what cannot be read, samples of d and test that differ, targets that
 * the head does not compare with, tokens that the model does not know.  d and test, both
 * zeroed before, are the caller's: gv_data_free, also then.  The samples are as read:
 * gv_data_fit_scale.
 */
int gv_data_fit(struct gv_data *d, struct gv_data *test, struct gv_model *m,
    const struct gv_data_sets *sets, struct gv_error *e);

/* Scales what gv_data_fit has read, and fills the targets of sets->own.  Once. */
void gv_data_fit_scale(struct gv_data *d, struct gv_data *test, const struct gv_model *m,
    const struct gv_data_sets *sets);

#endif
