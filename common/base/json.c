#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/utf8.h"

static void
indent(struct gv_json *j)
{
	int i;

	gv_out_char(j->out, '\n');
	for (i = 0; i < j->depth; i++)
		gv_out_str(j->out, "  ");
}

/* What stands between the value before and this one. */
static void
begin(struct gv_json *j)
{
	int top = j->depth - 1;

	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->depth == 0)
		return;
	if (j->level[top].started)
		gv_out_char(j->out, ',');
	if (!j->level[top].inline_)
		indent(j);
	else if (j->level[top].started)
		gv_out_char(j->out, ' ');
	j->level[top].started = true;
}

static void
open_level(struct gv_json *j, char open, char close, bool on_one_line)
{
	begin(j);
	if (j->depth >= GV_JSON_DEPTH)
		gv_die(
		    "JSON nested too deeply"); /* a mistake of the program, not of its input */
	gv_out_char(j->out, open);
	j->level[j->depth].close = close;
	j->level[j->depth].inline_ = on_one_line;
	j->level[j->depth].started = false;
	j->depth++;
}

void
gv_json_object(struct gv_json *j, bool on_one_line)
{
	open_level(j, '{', '}', on_one_line);
}

void
gv_json_array(struct gv_json *j, bool on_one_line)
{
	open_level(j, '[', ']', on_one_line);
}

void
gv_json_end(struct gv_json *j)
{
	int top = --j->depth;

	if (j->level[top].started && !j->level[top].inline_)
		indent(j);
	gv_out_char(j->out, j->level[top].close);
	if (j->depth == 0)
		gv_out_char(j->out, '\n');
}

static void
quoted(struct gv_out *out, const char *s, size_t len)
{
	size_t i, n;
	uint32_t c;

	gv_out_char(out, '"');
	for (i = 0; i < len; i += n) {
		n = gv_utf8_next(s + i, len - i, &c);
		if (c == '"' || c == '\\')
			gv_out_fmt(out, "\\%c", (char)c);
		else if (c < 0x20 || c == 0x7f)
			gv_out_fmt(out, "\\u%04x", (unsigned)c);
		else if (c == GV_UTF8_BAD)
			gv_out_str(out, "\xef\xbf\xbd");
		else
			gv_out_write(out, s + i, n);
	}
	gv_out_char(out, '"');
}

void
gv_json_key(struct gv_json *j, const char *key)
{
	begin(j);
	quoted(j->out, key, strlen(key));
	gv_out_str(j->out, ": ");
	j->after_key = true;
}

void
gv_json_str(struct gv_json *j, const char *s, size_t len)
{
	begin(j);
	quoted(j->out, s, len);
}

void
gv_json_double(struct gv_json *j, double v)
{
	char buf[GV_NUM_LEN];

	if (!isfinite(v)) {
		gv_json_null(j);
		return;
	}
	begin(j);
	gv_out_write(j->out, buf, gv_format_double(buf, v));
}

void
gv_json_int(struct gv_json *j, int64_t v)
{
	char buf[GV_NUM_LEN];

	begin(j);
	gv_out_write(j->out, buf, gv_format_int(buf, v));
}

void
gv_json_bool(struct gv_json *j, bool v)
{
	begin(j);
	gv_out_str(j->out, v ? "true" : "false");
}

void
gv_json_null(struct gv_json *j)
{
	begin(j);
	gv_out_str(j->out, "null");
}
