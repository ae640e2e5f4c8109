#include "weighted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

/* One element s[0..len): its value is kept, its probability put to *p; NAN = none. */
static int
parse_element(
    struct weighted *w, const char *s, size_t len, double *p, struct gv_error *e)
{
	const char *colon = s + len;
	char q[GV_QUOTE_LEN];

	*p = NAN;
	while (colon > s && colon[-1] != ':')
		colon--;
	if (colon > s) {
		if (gv_parse_double(colon, (size_t)(s + len - colon), p) != 0 ||
		    !(*p > 0 && *p <= 1))
			return gv_error_set(e,
			    "expected a probability above 0 and at most 1, got %s",
			    gv_quote(q, colon, (size_t)(s + len - colon)));
		len = (size_t)(colon - 1 - s);
	}
	if (len == 0)
		return gv_error_set(e, "expected VALUE or VALUE:PROBABILITY, got \"\"");
	w->text = gv_xrealloc(w->text, w->n + 1, sizeof(*w->text));
	w->upto = gv_xrealloc(w->upto, w->n + 1, sizeof(*w->upto));
	w->text[w->n] = gv_xstrndup(s, len);
	w->upto[w->n++] = *p;
	return 0;
}

/* From probabilities to their sums. */
static int
add_up(struct weighted *w, size_t n_given, struct gv_error *e)
{
	const double tolerance =
	    1e-9; /* decimal probabilities, up to a thousand of them */
	double sum = 0;
	size_t i;

	if (n_given != 0 && n_given != w->n)
		return gv_error_set(
		    e, "expected a probability for each value, or for none");
	w->equal = n_given == 0;
	for (i = 0; i < w->n; i++) {
		sum = n_given == 0 ? (double)(i + 1) / (double)w->n : sum + w->upto[i];
		w->upto[i] = sum;
	}
	if (sum > 1 + tolerance)
		return gv_error_set(
		    e, "expected probabilities of at most 1 in all, got %.15g", sum);
	if (sum >= 1 - tolerance)
		w->upto[w->n - 1] = INFINITY; /* nothing is left */
	return 0;
}

int
weighted_parse(struct weighted *w, const char *list, struct gv_error *e)
{
	size_t n_given = 0;
	double p;

	*w = (struct weighted){0};
	for (;;) {
		size_t len = strcspn(list, ",");

		if (parse_element(w, list, len, &p, e) != 0)
			break;
		n_given += !isnan(p);
		if (list[len] == '\0') {
			if (add_up(w, n_given, e) == 0)
				return 0;
			break;
		}
		list += len + 1;
	}
	weighted_free(w);
	return -1;
}

void
weighted_free(struct weighted *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free(w->text[i]);
	free(w->text);
	free(w->upto);
	*w = (struct weighted){0};
}

size_t
weighted_pick(const struct weighted *w, double u)
{
	size_t i = 0;

	while (i < w->n && u >= w->upto[i])
		i++;
	return i;
}
