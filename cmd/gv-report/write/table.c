#include "write.h"

#include "base/json.h"

struct table_to {
	struct gv_tabw w;
	size_t n_columns;
};

static void
put_row(void *to, const struct value *v)
{
	struct table_to *t = to;
	size_t i;

	for (i = 0; i < t->n_columns; i++) {
		switch (v[i].kind) {
		case TEXT:
			gv_tabw_cell(&t->w, v[i].text);
			break;
		case NUMBER:
			gv_tabw_double(&t->w, v[i].number);
			break;
		case COUNT:
		case FLAG:
			gv_tabw_int(&t->w, (int64_t)v[i].number);
			break;
		case NOTHING:
			gv_tabw_empty(&t->w);
			break;
		}
	}
	gv_tabw_end(&t->w);
}

void
write_table(struct gv_out *out, const struct report *r, const struct part *part, bool tsv)
{
	struct table_to to = {.n_columns = part->n_columns};
	size_t i;

	gv_tabw_init(&to.w, out, tsv);
	for (i = 0; i < part->n_columns; i++)
		gv_tabw_str(&to.w, part->column[i]);
	gv_tabw_end(&to.w);
	part->rows(r, put_row, &to);
}

/* ---- JSON ---- */

struct json_to {
	struct gv_json json;
	const struct part *part;
};

static void
put_object(void *to, const struct value *v)
{
	struct json_to *t = to;
	struct gv_json *j = &t->json;
	size_t i;

	gv_json_object(j, t->part->many != NULL);
	for (i = 0; i < t->part->n_columns; i++) {
		gv_json_key(j, t->part->column[i]);
		switch (v[i].kind) {
		case TEXT:
			gv_json_str(j, v[i].text.s, v[i].text.len);
			break;
		case NUMBER:
			gv_json_double(j, v[i].number);
			break;
		case COUNT:
			gv_json_int(j, (int64_t)v[i].number);
			break;
		case FLAG:
			gv_json_bool(j, v[i].number != 0);
			break;
		case NOTHING:
			gv_json_null(j);
			break;
		}
	}
	gv_json_end(j);
}

void
write_json(struct gv_out *out, const struct report *r, const struct part *part)
{
	struct json_to to = {.json = {.out = out}};
	int i;

	gv_json_object(&to.json, false);
	for (i = 0; i < PARTS; i++) {
		to.part = &parts[i];
		if (part != NULL && part != to.part)
			continue;
		gv_json_key(
		    &to.json, to.part->many != NULL ? to.part->many : to.part->by);
		if (to.part->many != NULL)
			gv_json_array(&to.json, false);
		to.part->rows(r, put_object, &to);
		if (to.part->many != NULL)
			gv_json_end(&to.json);
	}
	gv_json_end(&to.json);
}
