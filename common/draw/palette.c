#include "draw/palette.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name; /* of the variable, without the dashes in front */
	const char *light, *dark;
} colours[] = {
    {"s0", "#0072b2", "#4aa3df"},
    {"s1", "#d55e00", "#f0803c"},
    {"s2", "#009e73", "#2cc295"},
    {"s3", "#cc79a7", "#dd98be"},
    {"s4", "#e69f00", "#f2b632"},
    {"s5", "#56b4e9", "#9ad7f7"},
    {"s6", "#6c757d", "#a3abb3"},
    {"ink", "#212529", "#e9ecef"},
    {"text", "#343a40", "#ced4da"},
    {"dim", "#6c757d", "#9aa3ab"},
    {"page", "#ffffff", "#16191d"},
    {"track", "#eef0f2", "#262b31"},
    {"grid", "#e3e6ea", "#2c3238"},
    {"axis", "#adb5bd", "#59626b"},
};

enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

static const struct {
	const char *selector, *property, *name;
} rules[] = {
    {".c-page", "fill", "page"},
    {".c-track", "fill", "track"},
    {".c-grid", "stroke", "grid"},
    {".c-axis", "stroke", "axis"},
    {".c-rule", "stroke", "text"},
    {".c-title,.c-head", "fill", "ink"},
    {".c-text", "fill", "text"},
    {".c-dim", "fill", "dim"},
    {".c-most", "stroke", "dim"},
};

static const char fonts[] =
    ".chart text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif}"
    ".chart .c-title{font-size:15px;font-weight:600}"
    ".chart .c-head{font-size:12px;font-weight:600}"
    ".c-end{text-anchor:end}.c-mid{text-anchor:middle}"
    ".c-most{fill:none;stroke-dasharray:2 3}.c-rule{stroke-dasharray:5 4}";

/* Of lines behind the first, which has none. */
static const char *const dashes[] = {"9 3", "5 3", "2 2", "9 3 2 3", "14 4", "5 2 2 2"};

const char *
gv_line_class(char buf[GV_CLASS_LEN], size_t i)
{
	snprintf(buf, GV_CLASS_LEN, "l%zu d%zu", i % GV_PALETTE,
	    (i + i / GV_PALETTE) % GV_PALETTE);
	return buf;
}

const char *
gv_fill_class(size_t i)
{
	static const char *const class[GV_PALETTE] = {
	    "f0", "f1", "f2", "f3", "f4", "f5", "f6"};

	return class[i % GV_PALETTE];
}

/* PROPERTY:COLOUR, of that name. */
static void
put(struct gv_out *out, const char *property, size_t colour, bool page)
{
	if (page)
		gv_out_fmt(out, "%s:var(--%s)", property, colours[colour].name);
	else
		gv_out_fmt(out, "%s:%s", property, colours[colour].light);
}

static size_t
colour_named(const char *name)
{
	size_t i = 0;

	while (i + 1 < COLOURS && strcmp(colours[i].name, name) != 0)
		i++;
	return i;
}

static void
variables(struct gv_out *out, bool dark)
{
	size_t i;

	gv_out_str(out, ":root{");
	for (i = 0; i < COLOURS; i++)
		gv_out_fmt(out, "--%s:%s;", colours[i].name,
		    dark ? colours[i].dark : colours[i].light);
	gv_out_str(out, "}");
}

void
gv_chart_style(struct gv_out *out, bool page)
{
	size_t i;

	if (page) {
		variables(out, false);
		gv_out_str(out, "\n@media screen and (prefers-color-scheme:dark){");
		variables(out, true);
		gv_out_str(out, "}\n");
	}
	gv_out_str(out, fonts);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		gv_out_fmt(out, "%s{", rules[i].selector);
		put(out, rules[i].property, colour_named(rules[i].name), page);
		gv_out_str(out, "}");
	}
	for (i = 0; i < GV_PALETTE; i++) {
		gv_out_fmt(out, ".l%zu{fill:none;stroke-width:1.8;", i);
		put(out, "stroke", i, page);
		gv_out_fmt(out, "}.f%zu{", i);
		put(out, "fill", i, page);
		gv_out_str(out, "}");
	}
	for (i = 0; i < sizeof(dashes) / sizeof(dashes[0]); i++)
		gv_out_fmt(out, ".d%zu{stroke-dasharray:%s}", i + 1, dashes[i]);
	gv_out_char(out, '\n');
}
