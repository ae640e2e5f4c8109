#include "options_ptd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
ptd_options_init(struct ptd_options *p)
{
	size_t i;

	memset(p, 0, sizeof(*p));
	p->precision = -1;
	p->recompute = -1;
	p->schedule = -1;
	p->zero = -1;
	for (i = 0; i < PTD_FEATURES; i++)
		p->can[i] = true;
}

void
ptd_options_features(struct ptd_options *p, const struct gv_opt *o, const char *arg)
{
	const char *s = arg, *end;
	char *word;

	memset(p->can, 0, sizeof(p->can));
	p->features = true;
	if (strcmp(arg, "none") == 0)
		return;
	for (;; s = end + 1) {
		end = s + strcspn(s, ",");
		word = gv_xstrndup(s, (size_t)(end - s));
		p->can[gv_opt_one_of(
		    o, "--features", word, ptd_feature_name, PTD_FEATURES)] = true;
		free(word);
		if (*end == '\0')
			return;
	}
}

void
ptd_options_precision(struct ptd_options *p, const struct gv_opt *o, const char *arg)
{
	p->precision =
	    (int)gv_opt_one_of(o, "--precision", arg, precision_name, PRECISIONS);
}

void
ptd_options_zero(struct ptd_options *p, const struct gv_opt *o, const char *arg)
{
	static const char *const word[] = {"0", "1", "2", "3", "auto"};
	size_t i = gv_opt_one_of(o, "--zero", arg, word, PTD_ZERO_STAGES + 1);

	p->any_zero = i == PTD_ZERO_STAGES;
	p->zero = p->any_zero ? -1 : (int)i;
}
