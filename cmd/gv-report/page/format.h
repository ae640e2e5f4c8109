/* The formats that a report has. */
#ifndef GV_REPORT_FORMAT_H
#define GV_REPORT_FORMAT_H

enum format {
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_JSON,
	FORMAT_SVG,
	FORMAT_HTML,
	FORMAT_PROM,
	FORMATS
};

/* As --format names it. */
const char *format_name(enum format f);

#endif
