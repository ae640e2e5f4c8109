#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gv_strbuf *
view_line(struct view *v, const char *label)
{
	v->line[v->n_lines].label = label;
	return &v->line[v->n_lines++].text;
}

struct sheet *
view_sheet(struct view *v, const char *by, const char *many, bool shown, size_t n)
{
	struct sheet *s = &v->sheet[v->n_sheets++];

	*s = (struct sheet){.by = by, .many = many, .shown = shown};
	s->column = gv_arena_alloc(&v->arena, n, sizeof(*s->column));
	return s;
}

void
sheet_column(struct sheet *s, const char *name, const char *head, enum sheet_kind kind)
{
	s->column[s->n_columns++] = (struct sheet_column){name, head, kind};
}

static void
add(struct sheet *s, struct sheet_cell cell)
{
	s->cell = gv_xgrow(s->cell, &s->cap, s->n + 1, sizeof(*s->cell));
	s->cell[s->n++] = cell;
}

void
sheet_text(struct sheet *s, struct gv_cell text)
{
	add(s, (struct sheet_cell){.text = text, .number = NAN});
}

void
sheet_number(struct sheet *s, double v)
{
	add(s, (struct sheet_cell){.text = {"", 0}, .number = v});
}

const char *
view_text(struct view *v, struct gv_cell text)
{
	return gv_arena_strndup(&v->arena, text.s, text.len);
}

const struct sheet *
view_find(const struct view *v, const char *by)
{
	size_t i;

	for (i = 0; i < v->n_sheets; i++)
		if (v->sheet[i].by != NULL && strcmp(v->sheet[i].by, by) == 0)
			return &v->sheet[i];
	return NULL;
}

void
view_free(struct view *v)
{
	size_t i;

	for (i = 0; i < v->n_sheets; i++)
		free(v->sheet[i].cell);
	for (i = 0; i < v->n_lines; i++)
		gv_strbuf_free(&v->line[i].text);
	gv_strbuf_free(&v->title);
	gv_frame_free(&v->frame);
	gv_arena_free(&v->arena);
}
