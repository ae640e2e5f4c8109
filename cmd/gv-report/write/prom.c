#include "prom.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

void
prom_family(struct gv_out *out, const char *name, const char *type, const char *meaning)
{
	gv_out_fmt(out, "# HELP %s %s\n# TYPE %s %s\n", name, meaning, name, type);
}

/* A label's value: \ " and line feeds escaped, bytes that are no UTF-8 as \xHH. */
static void
label(struct gv_out *out, const char *key, const char *s, size_t len)
{
	size_t i, n;
	uint32_t c;

	gv_out_fmt(out, "%s=\"", key);
	for (i = 0; i < len; i += n) {
		n = gv_utf8_next(s + i, len - i, &c);
		if (c == '"' || c == '\\')
			gv_out_fmt(out, "\\%c", (char)c);
		else if (c == '\n')
			gv_out_str(out, "\\n");
		else if (c == GV_UTF8_BAD && n == 1)
			gv_out_fmt(out, "\\\\x%02x", (unsigned char)s[i]);
		else
			gv_out_write(out, s + i, n);
	}
	gv_out_char(out, '"');
}

void
prom_start(const struct prom *p, const char *name)
{
	gv_out_fmt(p->out, "%s{", name);
	label(p->out, "run", p->run, strlen(p->run));
}

void
prom_more(const struct prom *p, const char *key, const char *s, size_t len)
{
	gv_out_char(p->out, ',');
	label(p->out, key, s, len);
}

void
prom_value(const struct prom *p, double v)
{
	char buf[GV_NUM_LEN];

	gv_format_double(buf, v);
	gv_out_fmt(p->out, "} %s\n", buf);
}

void
prom_single(const struct prom *p, const char *name, const char *type, const char *meaning,
    double v)
{
	if (!isfinite(v))
		return;
	prom_family(p->out, name, type, meaning);
	prom_start(p, name);
	prom_value(p, v);
}

/* A quantile, left out where it is not known. */
static void
quantile(const struct prom *p, const char *name, const char *part, double v)
{
	if (!isfinite(v))
		return;
	prom_start(p, name);
	prom_more(p, "quantile", part, strlen(part));
	prom_value(p, v);
}

void
prom_spread(const struct prom *p, const char *name, const struct spread *s)
{
	char part[64];

	quantile(p, name, "0.5", s->median);
	quantile(p, name, "0.95", s->p95);
	quantile(p, name, "0.99", s->p99);
	quantile(p, name, "1", s->max);
	snprintf(part, sizeof(part), "%s_sum", name);
	prom_start(p, part);
	prom_value(p, s->sum);
	snprintf(part, sizeof(part), "%s_count", name);
	prom_start(p, part);
	prom_value(p, (double)s->n);
}
