#include "measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static const double much_error = 0.05; /* of the rate: worth a warning */

void
measured_warn(const char *label, const struct measurement *m, double timeout_s)
{
	char q[GV_QUOTE_LEN];

	if (m->cut && m->verdict == SILENT)
		; /* the other one's matter */
	else if (m->cut && m->verdict == SHORT)
		gv_warn("warning: %s: only %zu reports before the other one was done",
		    label, m->fit.n);
	else if (m->verdict == FAILED && m->last_line[0] == '\0')
		gv_warn("warning: %s: failed with status %d and wrote nothing", label,
		    m->status);
	else if (m->verdict == FAILED)
		gv_warn("warning: %s: failed with status %d: %s", label, m->status,
		    gv_quote(q, m->last_line, strlen(m->last_line)));
	else if (m->verdict == SILENT && m->left)
		gv_warn("warning: %s: left without having reported a step: a job "
			"appends \"step N\" to the file $GV_PROGRESS",
		    label);
	else if (m->verdict == SILENT)
		gv_warn("warning: %s: reported no step within %g s: a job appends "
			"\"step N\" to the file $GV_PROGRESS",
		    label, timeout_s);
	else if (m->verdict == SHORT && m->fit.n < 2)
		gv_warn("warning: %s: too short to measure: the time of its start is "
			"counted in",
		    label);
	else if (m->verdict == SHORT)
		gv_warn("warning: %s: only %zu reports%s", label, m->fit.n,
		    m->left ? ", then it was done" : " before time was out");
	else if (m->fit.standard_error > much_error * m->fit.steps_per_s)
		gv_warn("warning: %s: its speed varies: standard error %.0f %%", label,
		    100 * m->fit.standard_error / m->fit.steps_per_s);
	if (m->use.throttled)
		gv_warn("warning: %s: the clocks of its GPUs were lowered, for power or "
			"heat",
		    label);
}

void
measured_say(const char *label, const struct measurement *m)
{
	char rate[GV_NUM_LEN];
	char error[64] = "";

	gv_format_double(rate, m->fit.steps_per_s);
	if (m->fit.n > 2)
		snprintf(error, sizeof(error), ", standard error %.2g %%",
		    100 * m->fit.standard_error / m->fit.steps_per_s);
	gv_warn("%s: %s steps/s%s, %zu reports in %.3g s", label, rate, error, m->fit.n,
	    m->fit.span_s);
}

double
measured_rate(const struct measurement *m)
{
	char text[GV_NUM_LEN];

	snprintf(text, sizeof(text), "%.6g", m->fit.steps_per_s);
	return strtod(text, NULL);
}
