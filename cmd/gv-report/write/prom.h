/* The text format of Prometheus, version 0.0.4: one family after another. */
#ifndef GV_REPORT_PROM_H
#define GV_REPORT_PROM_H

#include "base/fileio.h"
#include "gv-report/history/spread.h"

/* Where it goes, and the run of all samples. */
struct prom {
	struct gv_out *out;
	const char *run;
};

/* Begins a family: its samples follow. */
void prom_family(
    struct gv_out *out, const char *name, const char *type, const char *meaning);
/* A sample's name and its label run; more labels may follow, then its value. */
void prom_start(const struct prom *p, const char *name);
void prom_more(const struct prom *p, const char *key, const char *s, size_t len);
void prom_value(const struct prom *p, double v);
/* A family of one sample; left out when there is nothing to say. */
void prom_single(const struct prom *p, const char *name, const char *type,
    const char *meaning, double v);
/* The samples of a summary: quantiles, sum and count. */
void prom_spread(const struct prom *p, const char *name, const struct spread *s);

#endif
