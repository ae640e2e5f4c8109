/* What HTML pages have in common. */
#include "draw/palette.h"
#include "figure_numbers.h"
#include "gv-report/charts/figure.h"
#include "page.h"

static const char style[] =
    "body{font:13.5px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;"
    "color:var(--text);background:var(--page);max-width:1130px;margin:0 auto;"
    "padding:0 24px 48px}\n"
    "svg{display:block;margin:0 -24px;max-width:calc(100% + 48px);height:auto}\n"
    "h1{font-size:22px;color:var(--ink);margin:28px 0 8px}\n"
    "h2{font-size:16px;color:var(--ink);margin:28px 0 8px}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 20px;margin:0}\n"
    "dt{color:var(--dim)}dd{margin:0}\n"
    "div{overflow-x:auto}\n"
    "section{margin:36px 0}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:8px 0}\n"
    "th,td{padding:4px 16px 4px 0;text-align:left;white-space:nowrap}\n"
    "th{font-weight:600;white-space:normal;vertical-align:bottom;border-bottom:1px solid "
    "var(--axis)}\n"
    "td{border-bottom:1px solid var(--grid)}\n"
    ".r{text-align:right}\n"
    "th[tabindex]{cursor:pointer}\n"
    "th[aria-sort=ascending]:after{content:' \\2191'}\n"
    "th[aria-sort=descending]:after{content:' \\2193'}\n"
    "p{color:var(--dim)}\n"
    "@media print{body{max-width:none;padding:0}section{break-inside:avoid}}\n";

/* Tables can be sorted by a column: by a click on its head, or the enter key. */
static const char script[] =
    "<script>\n"
    "document.querySelectorAll('table').forEach(function (table) {\n"
    "  var heads = [].slice.call(table.tHead.rows[0].cells), body = table.tBodies[0];\n"
    "  function key(row, i) {\n"
    "    var s = row.cells[i].textContent, n = parseFloat(s);\n"
    "    return s === '-' ? -Infinity : isNaN(n) ? s : n;\n"
    "  }\n"
    "  function order(a, b) {\n"
    "    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;\n"
    "    return a === b ? 0 : a > b ? 1 : -1;\n"
    "  }\n"
    "  heads.forEach(function (head, i) {\n"
    "    function sort() {\n"
    "      var down = head.getAttribute('aria-sort') === 'ascending';\n"
    "      var rows = [].slice.call(body.rows);\n"
    "      rows.sort(function (a, b) {\n"
    "        return (down ? -1 : 1) * order(key(a, i), key(b, i));\n"
    "      });\n"
    "      rows.forEach(function (row) { body.appendChild(row); });\n"
    "      heads.forEach(function (h) { h.removeAttribute('aria-sort'); });\n"
    "      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "    }\n"
    "    head.tabIndex = 0;\n"
    "    head.title = 'sort';\n"
    "    head.addEventListener('click', sort);\n"
    "    head.addEventListener('keydown', function (e) {\n"
    "      if (e.key === 'Enter') sort();\n"
    "    });\n"
    "  });\n"
    "});\n"
    "</script>\n";

void
page_heading(struct gv_out *out, const char *element, const char *text, size_t len)
{
	struct gv_svg h = {.out = out};

	gv_svg_open(&h, element);
	gv_svg_text(&h, text, len);
	gv_svg_close(&h);
}

void
page_begin(struct gv_out *out, const char *title, size_t len)
{
	gv_out_str(out, "<!DOCTYPE html>\n"
			"<html lang=\"en\">\n"
			"<meta charset=\"utf-8\">\n"
			"<meta name=\"viewport\" content=\"width=device-width\">\n"
			"<style>\n");
	gv_chart_style(out, true);
	gv_out_str(out, style);
	gv_out_str(out, "</style>\n");
	page_heading(out, "title", title, len);
}

void
page_end(struct gv_out *out)
{
	gv_out_str(out, script);
	gv_out_str(out, "</html>\n");
}

static void
figure(struct gv_out *out, const struct runs *r, enum figure f, int digits)
{
	struct gv_strbuf about = {0};
	struct gv_svg s = {.out = out};

	gv_out_str(out, "<section>\n");
	figure_describe(&about, r, f);
	gv_chart_begin(&s, FIGURE_W, figure_draw(NULL, r, f, 0), about.s, true, NULL);
	figure_draw(&s, r, f, 0);
	gv_chart_end(&s);
	figure_numbers(out, r, f, digits);
	gv_out_str(out, "</section>\n");
	gv_strbuf_free(&about);
}

void
page_figures(struct gv_out *out, const struct runs *r, unsigned charts, int digits)
{
	int f;

	for (f = 0; f < FIGURES; f++)
		if ((charts >> f & 1) != 0 && figure_has(r, (enum figure)f))
			figure(out, r, (enum figure)f, digits);
}
