#include "again.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/words.h"

static void
add_text(struct gv_strbuf *b, const char *option, const char *value)
{
	struct gv_strbuf word = {0};

	if (value == NULL)
		return;
	gv_strbuf_fmt(&word, "--%s=%s", option, value);
	gv_words_add(b, word.s);
	gv_strbuf_free(&word);
}

static void
add_number(struct gv_strbuf *b, const char *option, double value)
{
	char number[GV_NUM_LEN];

	gv_format_double(number, value);
	add_text(b, option, number);
}

char *
again_words(const struct options *o)
{
	struct gv_strbuf b = {0};
	char seed[GV_NUM_LEN];

	gv_words_add(&b, o->name);
	add_text(&b, "entities", o->entities);
	add_text(&b, "space-sharing", o->sharing);
	add_text(&b, "prices", o->prices);
	if (o->at_s < INFINITY)
		add_number(&b, "at", o->at_s);
	if (o->answer.budget > 0)
		add_number(&b, "budget", o->answer.budget);
	if (o->answer.policy.alpha > 0)
		add_number(&b, "alpha", o->answer.policy.alpha);
	if (o->answer.seed != 0) {
		snprintf(seed, sizeof(seed), "%" PRIu64, o->answer.seed);
		add_text(&b, "seed", seed);
	}
	if (o->has_stay || o->previous != NULL)
		add_number(&b, "stay", o->answer.stay);
	return b.s;
}
