#include "format.h"

static const char *const format_names[FORMATS] = {
    "text", "csv", "tsv", "json", "svg", "html", "prom"};

const char *
format_name(enum format f)
{
	return format_names[f];
}
