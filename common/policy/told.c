#include "policy/told.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const gv_told_column[GV_TOLD_NUMBERS] = {
    "steps_remaining", "elapsed_s", "isolated_elapsed_s"};

/* ---- what was told ---- */

static bool
differ(double a, double b)
{
	return a != b && !(isnan(a) && isnan(b));
}

/* Whether a number that the policy looks at is another one now. */
static bool
has_changed(
    const struct gv_told *t, const struct gv_told_job *was, const struct gv_told_job *is)
{
	size_t k;

	for (k = 0; k < GV_TOLD_NUMBERS; k++)
		if (t->reads[k] && differ(was->number[k], is->number[k]))
			return true;
	return false;
}

size_t
gv_told_compare(const struct gv_told *t, const struct gv_told_job *now, size_t n,
    struct gv_told_change **change)
{
	struct gv_told_change *list = gv_xcalloc(t->n + n + 1, sizeof(*list));
	size_t *new = gv_xcalloc(n + 1, sizeof(*new));
	size_t n_new = 0;
	size_t count = 0;
	size_t i = 0; /* of those that were told */
	size_t k = 0; /* of now */

	while (i < t->n || k < n) {
		if (k == n || (i < t->n && t->job[i].job < now[k].job)) {
			list[count++] = (struct gv_told_change){GV_TOLD_GONE, i, i};
			i++;
		} else if (i == t->n || now[k].job < t->job[i].job) {
			new[n_new++] = k++;
		} else {
			if (has_changed(t, &t->job[i], &now[k]))
				list[count++] =
				    (struct gv_told_change){GV_TOLD_NOW, k, i};
			i++;
			k++;
		}
	}
	for (i = 0; i < n_new; i++)
		list[count++] = (struct gv_told_change){GV_TOLD_NEW, new[i], new[i]};
	free(new);
	*change = list;
	return count;
}

void
gv_told_set(struct gv_told *t, const struct gv_told_job *now, size_t n)
{
	t->job = gv_xgrow(t->job, &t->cap, n + 1, sizeof(*t->job));
	memcpy(t->job, now, n * sizeof(*now));
	t->n = n;
}

/* Whether a list with semicolons has a word. */
static bool
lists(struct gv_cell list, const char *word)
{
	size_t len = strlen(word);
	size_t at = 0;

	while (at < list.len) {
		const char *s = list.s + at;
		const char *end = memchr(s, ';', list.len - at);
		size_t n = end != NULL ? (size_t)(end - s) : list.len - at;

		if (n == len && memcmp(s, word, len) == 0)
			return true;
		at += n + 1;
	}
	return false;
}

void
gv_told_hear(struct gv_told *t, const struct gv_frame *answer)
{
	ptrdiff_t column = gv_frame_find(answer, "reads");
	size_t k;

	/* who answers in shares of two jobs says nothing of how those would change */
	t->follows =
	    column >= 0 && answer->n_rows > 0 && gv_frame_find(answer, "with_job_id") < 0;
	for (k = 0; t->follows && k < GV_TOLD_NUMBERS; k++)
		t->reads[k] = lists(gv_frame_cell(answer, 0, column), gv_told_column[k]);
}

void
gv_told_forget(struct gv_told *t)
{
	t->follows = false;
	t->n = 0;
}

void
gv_told_free(struct gv_told *t)
{
	free(t->job);
	*t = (struct gv_told){0};
}

/* ---- as a table ---- */

enum { ID = -1, OTHER = -2 };

static signed char
kind_of(struct gv_cell name)
{
	int k;

	for (k = 0; k < GV_TOLD_NUMBERS; k++)
		if (gv_cell_is(name, gv_told_column[k]))
			return (signed char)k;
	return gv_cell_is(name, "job_id") ? ID : OTHER;
}

void
gv_told_begin(
    struct gv_told_writer *w, struct gv_out *out, const struct gv_cell *name, size_t n)
{
	size_t k;

	*w = (struct gv_told_writer){.n_columns = n};
	w->column = gv_xcalloc(n + 1, sizeof(*w->column));
	gv_tabw_init(&w->w, out, false);
	gv_tabw_str(&w->w, "change");
	gv_tabw_str(&w->w, "place");
	for (k = 0; k < n; k++) {
		w->column[k] = kind_of(name[k]);
		gv_tabw_cell(&w->w, name[k]);
	}
	gv_tabw_end(&w->w);
}

static void
begin_row(struct gv_told_writer *w, const struct gv_told_change *change)
{
	static const char *const word[] = {
	    [GV_TOLD_GONE] = "gone", [GV_TOLD_NOW] = "now", [GV_TOLD_NEW] = "new"};

	gv_tabw_str(&w->w, word[change->kind]);
	gv_tabw_int(&w->w, (int64_t)change->place + 1);
}

void
gv_told_row(struct gv_told_writer *w, const struct gv_told *t,
    const struct gv_told_change *change, struct gv_cell id, const struct gv_told_job *now)
{
	const struct gv_told_job *was = &t->job[change->place];
	size_t i;

	begin_row(w, change);
	for (i = 0; i < w->n_columns; i++) {
		signed char k = w->column[i];

		if (k == ID)
			gv_tabw_cell(&w->w, id);
		else if (k >= 0 && change->kind == GV_TOLD_NOW && t->reads[k] &&
			 differ(was->number[k], now->number[k]))
			gv_tabw_double(&w->w, now->number[k]);
		else
			gv_tabw_empty(&w->w);
	}
	gv_tabw_end(&w->w);
}

void
gv_told_new(struct gv_told_writer *w, const struct gv_told_change *change)
{
	begin_row(w, change);
}

void
gv_told_end(struct gv_told_writer *w)
{
	free(w->column);
	w->column = NULL;
}
