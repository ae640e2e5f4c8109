#include "runs.h"

#include "draw/palette.h"
#include "gv-report/charts/figure.h"
#include "gv-report/page/page.h"

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
	gv_chart_begin(
	    &s, FIGURE_W, height, about.len > 0 ? about.s : "no figures", false, NULL);
	for (f = 0; f < FIGURES; f++)
		if ((charts >> f & 1) != 0 && figure_has(r, (enum figure)f))
			y += figure_draw(&s, r, (enum figure)f, y);
	gv_chart_end(&s);
	gv_strbuf_free(&about);
}

void
write_runs_html(struct gv_out *out, const struct runs *r, const struct view *v,
    unsigned charts, int digits)
{
	page_begin(out, v->title.s, v->title.len);
	page_heading(out, "h1", v->title.s, v->title.len);
	view_write_sheets(out, v, digits);
	page_figures(out, r, charts, digits);
	page_end(out);
}
