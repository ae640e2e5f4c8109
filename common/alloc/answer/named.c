#include "named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

/* Cuts an end off a name, if it is there. */
static bool
cut_end(char *name, const char *end)
{
	size_t len = strlen(name), cut = strlen(end);

	if (len < cut || strcmp(name + len - cut, end) != 0)
		return false;
	name[len - cut] = '\0';
	return true;
}

/* Cuts "+pop" and a number of parts off. */
static void
cut_pop(char *name, size_t *parts)
{
	char *end = strrchr(name, '+');
	int64_t n;

	if (end == NULL || strncmp(end, "+pop", 4) != 0 ||
	    gv_parse_int(end + 4, strlen(end + 4), &n) != 0 || n < 1 || n > GV_MOST_PARTS)
		return;
	*parts = (size_t)n;
	*end = '\0';
}

const struct gv_policy *
gv_policy_named(const char *name, struct gv_answer_options *opt, bool *inside)
{
	char *s = gv_xstrdup(name);
	const struct gv_policy *policy;

	cut_pop(s, &opt->pop);
	opt->policy.relax_slo = cut_end(s, "+relax-slo") || opt->policy.relax_slo;
	opt->policy.solve.placeable =
	    cut_end(s, "+placeable") || opt->policy.solve.placeable;
	opt->agnostic = cut_end(s, "+agnostic") || opt->agnostic;
	if (cut_end(s, "+fifo")) {
		opt->policy.inside = GV_INSIDE_FIFO;
		*inside = true;
	} else if (cut_end(s, "+none")) {
		opt->policy.inside = GV_INSIDE_NONE;
		*inside = true;
	}
	policy = gv_policy_find(s);
	free(s);
	return policy;
}

void
gv_policy_names(char *names, size_t len)
{
	size_t i, at = 0;

	names[0] = '\0';
	for (i = 0; gv_policies[i] != NULL && at < len; i++)
		at += (size_t)snprintf(names + at, len - at, "%s%s", i > 0 ? ", " : "",
		    gv_policies[i]->name);
}
