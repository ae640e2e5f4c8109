/* A report for people, part by part; the same for text and HTML. */
#ifndef GV_REPORT_PAGE_H
#define GV_REPORT_PAGE_H

#include "base/strbuf.h"
#include "gv-report/charts/frame.h"
#include "gv-report/history/parts.h"
#include "gv-report/runs/run.h"

/* How an HTML page begins, its title included, and how it ends; a heading on it. */
void page_begin(struct gv_out *out, const char *title, size_t len);
void page_end(struct gv_out *out);
void page_heading(struct gv_out *out, const char *element, const char *text, size_t len);

/* The figures of which chart has the bit, as far as there are any, with their numbers. */
void page_figures(struct gv_out *out, const struct runs *r, unsigned charts, int digits);

/* One unit for all times of a report, by its length, so that they compare by eye. */
struct time_unit page_unit(const struct report *r);

/* What a page needs everywhere. */
struct page {
	struct gv_out *out;
	const struct report *r;
	int digits;
	const char *unit; /* of all its times */
	double unit_s;
	bool html;
	struct gv_strbuf text; /* of the present line of the summary */
};

struct page page_of(struct gv_out *out, const struct report *r, int digits, bool html);
void page_all_tables(struct page *p); /* those of a report of all parts */
void page_summary(struct page *p);
void page_types(struct page *p);
void page_entities(struct page *p);
void page_jobs(struct page *p);
void page_shares(struct page *p);

/* "4 jobs: 4 finished", onto p->text. */
void page_add_jobs(struct page *p);

#endif
