#include "report_losses.h"

#include "compare.h"
#include "draw/palette.h"
#include "gv-report/charts/figure.h"
#include "gv-report/page/page.h"

bool
report_losses_takes(const struct gv_tab *t, const struct options *o)
{
	return losses_take(t) && (o->format == FORMAT_SVG || o->format == FORMAT_HTML);
}

static const char TITLE[] = "How training goes";

static void
drawing(struct gv_out *out, const struct losses *l, bool page)
{
	double height = losses_draw(NULL, l, 12) + 12;
	struct gv_svg s = {.out = out};

	gv_chart_begin(&s, FIGURE_W, height, TITLE, page, NULL);
	losses_draw(&s, l, 12);
	gv_chart_end(&s);
}

static void
write_all(struct gv_out *out, const struct losses *l, const struct options *o)
{
	if (o->format == FORMAT_SVG) {
		drawing(out, l, false);
		return;
	}
	page_begin(out, TITLE, sizeof(TITLE) - 1);
	drawing(out, l, true);
	page_end(out);
}

static void
check_options(const struct options *o)
{
	const char *what = o->chart != NULL        ? "chart"
			   : o->cluster != NULL    ? "cluster"
			   : o->expect_finished    ? "expect-finished"
			   : o->expect_points >= 0 ? "expect-shares"
						   : NULL;

	if (what != NULL)
		gv_opt_usage(
		    &o->common, "--%s is for runs of jobs, these are losses", what);
	if (o->format != FORMAT_SVG && o->format != FORMAT_HTML)
		gv_opt_usage(&o->common,
		    "several tables of losses are drawn: --format=svg or --format=html");
}

void
report_losses(
    const struct options *o, struct gv_tab *tab, const struct operand *operand, size_t n)
{
	struct gv_error e = {0};
	struct losses l = {.axis = o->axis, .smooth = o->smooth};
	struct gv_out *out;
	size_t i;
	long cut;

	check_options(o);
	for (i = 0; i < n; i++) {
		if (i > 0 && (gv_tab_open(&tab, operand[i].path, &e) != 0 ||
				 gv_tab_table(tab, &e) != 1))
			gv_die_error(&e);
		if (!losses_take(tab))
			gv_die("%s: this is no table of losses", gv_tab_file(tab));
		if (losses_read(&l, n > 1 || o->run != NULL ? operand[i].name : "", tab,
			&cut, &e) != 0 ||
		    gv_tab_last(tab, &e) != 0)
			gv_die_error(&e);
		if (cut > 0 && !o->common.quiet)
			warn_of_cut(gv_tab_file(tab), cut);
		gv_tab_close(tab);
	}
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_all(out, &l, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	losses_free(&l);
}
