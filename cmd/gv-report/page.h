/* A report for people, part by part; the same for text and HTML. */
#ifndef GV_REPORT_PAGE_H
#define GV_REPORT_PAGE_H

#include "base/strbuf.h"
#include "parts.h"

/* How an HTML page begins, up to its title. */
extern const char page_head[];

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

void page_summary(struct page *p);
void page_types(struct page *p);
void page_entities(struct page *p);
void page_jobs(struct page *p);
void page_shares(struct page *p);

/* "4 jobs: 4 finished", onto p->text. */
void page_add_jobs(struct page *p);

#endif
