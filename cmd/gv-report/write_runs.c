#include "write_runs.h"

#include "draw/palette.h"
#include "gv-report/charts/figure.h"
#include "page.h"

void
write_runs_svg(struct gv_out *out, const struct runs *r, unsigned charts)
{
	struct gv_svg s = {.out = out};
	struct gv_strbuf about = {0};
	double height = 16, y = 12;
	int f;

	for (f = 0; f < FIGURES; f++) {
		if ((charts >> f & 1) == 0 || !figure_has(r, (enum figure)f))
			continue;
		height += figure_draw(NULL, r, (enum figure)f, 0);
		if (about.len == 0)
			figure_describe(&about, r, (enum figure)f);
	}
	gv_svg_begin(&s, FIGURE_W, height, about.len > 0 ? about.s : "no figures");
	gv_svg_open(&s, "style");
	gv_svg_str(
	    &s, ""); /* the sheet is written as it is: nothing in it needs an escape */
	gv_chart_style(out, false);
	gv_svg_close(&s);
	gv_svg_rect(&s, "c-page", 0, 0, FIGURE_W, height);
	gv_svg_open(&s, "g");
	gv_svg_attr(&s, "class", "chart");
	gv_svg_str(&s, "");
	for (f = 0; f < FIGURES; f++)
		if ((charts >> f & 1) != 0 && figure_has(r, (enum figure)f))
			y += figure_draw(&s, r, (enum figure)f, y);
	gv_svg_close(&s);
	gv_svg_close(&s);
	gv_strbuf_free(&about);
}

void
write_runs_html(struct gv_out *out, const struct runs *r, const struct view *v,
    unsigned charts, int digits)
{
	struct gv_svg h = {.out = out};

	page_begin(out);
	gv_svg_open(&h, "title");
	gv_svg_text(&h, v->title.s, v->title.len);
	gv_svg_close(&h);
	gv_svg_open(&h, "h1");
	gv_svg_text(&h, v->title.s, v->title.len);
	gv_svg_close(&h);
	view_write_sheets(out, v, digits);
	page_figures(out, r, charts, digits);
	page_end(out);
}
