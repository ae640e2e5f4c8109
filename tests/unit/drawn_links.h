/* Tables of links, drawn: machines of many shapes, as gv-tree reads them.  Behind draws.h. */
#ifndef DRAWN_LINKS_H
#define DRAWN_LINKS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "draws.h"

enum rates_drawn {
	RATES_ONE,
	RATES_WHOLE,
	RATES_DIGITS,
	RATES_FAR,
	RATES_LANES,
	RATES_PRIME,
	RATES_NEAR,
	RATES_DRAWN
};

struct links_drawn {
	size_t gpus, switches, servers;
	enum rates_drawn rates;
	size_t density; /* of 10 pairs so many are linked */
	bool equal;     /* both directions of a pair are alike */
	bool stars;     /* a switch has the same links to all of its nodes */
	bool kinds;     /* the column kind */
	bool mixed;     /* rows in any order, pairs that have two */
};

static inline void
draw_shape(struct links_drawn *d, size_t most_gpus, size_t most_switches)
{
	d->gpus = 1 + below(most_gpus);
	d->switches = below(2) == 0 ? 0 : below(most_switches + 1);
	d->servers = below(4) == 0 ? 1 + below(3) : 0;
	d->rates = (enum rates_drawn)below(RATES_DRAWN);
	d->density = 3 + below(8);
	d->equal = below(3) > 0;
	d->stars = below(2) == 0;
	d->kinds = below(2) == 0;
	d->mixed = below(3) == 0;
}

static inline void
draw_rate(char rate[32], enum rates_drawn kind)
{
	static const char *const lanes[] = {"12", "25", "50", "6", "12.5", "100"};
	size_t digits = below(6), size = below(10);

	switch (kind) {
	case RATES_ONE:
		snprintf(rate, 32, "1");
		break;
	case RATES_WHOLE:
		snprintf(rate, 32, "%zu", below(6));
		break;
	case RATES_DIGITS:
		snprintf(rate, 32, "%.*f", (int)digits, 100 * uniform());
		break;
	case RATES_FAR:
		snprintf(rate, 32, "%zue%d", 1 + below(9), (int)size - 6);
		break;
	case RATES_LANES:
		snprintf(rate, 32, "%s", lanes[digits]);
		break;
	case RATES_NEAR:
		snprintf(rate, 32, "1000.0000%zu", size);
		break;
	default:
		snprintf(rate, 32, "999.%zu", 989 - 2 * below(50));
	}
}

/* Nodes: GPUs first, every second one with a number of two digits; a server has every so many. */
static inline void
drawn_name(char name[32], const struct links_drawn *d, size_t v)
{
	char server[4] = "";

	if (d->servers > 0)
		snprintf(server, sizeof(server), "%c.", 'a' + (char)(v % d->servers));
	if (v < d->gpus)
		snprintf(
		    name, 32, "%sgpu%zu", server, v % 2 == 1 && d->mixed ? v + 10 : v);
	else
		snprintf(name, 32, "%s%zu", v % 2 == 0 ? "sw" : "cpu", v - d->gpus);
}

static inline void
drawn_row(struct gv_strbuf *s, const struct links_drawn *d, size_t u, size_t v,
    const char *rate)
{
	static const char *const kind[] = {"NV1", "NV2", "XGMI", "PIX", "SYS", ""};
	char name[2][32];

	drawn_name(name[0], d, u);
	drawn_name(name[1], d, v);
	gv_strbuf_fmt(s, "%s,%s,%s%s%s\n", name[0], name[1], rate, d->kinds ? "," : "",
	    d->kinds ? kind[below(6)] : "");
}

/* The rows between two nodes. */
static inline void
draw_pair(struct gv_strbuf *s, const struct links_drawn *d, size_t u, size_t v,
    const char *star)
{
	char there[32], back[32];
	size_t rows = d->mixed && below(4) == 0 ? 2 : 1;

	for (; rows > 0; rows--) {
		draw_rate(there, d->rates);
		draw_rate(back, d->rates);
		if (star != NULL)
			snprintf(there, sizeof(there), "%s", star);
		if (d->equal || star != NULL)
			snprintf(back, sizeof(back), "%s", there);
		drawn_row(s, d, u, v, there);
		if (d->equal || star != NULL || below(4) > 0)
			drawn_row(s, d, v, u, back);
	}
}

/* The table; *s is empty before. */
static inline void
draw_links(struct gv_strbuf *s, const struct links_drawn *d)
{
	size_t n = d->gpus + d->switches, turn, u, v, k;
	char star[32];

	gv_strbuf_str(
	    s, d->kinds ? "src,dst,gbytes_per_s,kind\n" : "src,dst,gbytes_per_s\n");
	for (turn = 0; turn < n; turn++) {
		u = d->mixed ? n - 1 - turn : turn;
		draw_rate(star, d->rates);
		for (k = 0; k < (u < d->gpus ? u : n); k++) {
			v = d->mixed && u < d->gpus ? u - 1 - k : k;
			if (v == u || (v > u && below(2) == 0) || below(10) >= d->density)
				continue;
			draw_pair(s, d, u, v, u >= d->gpus && d->stars ? star : NULL);
		}
	}
}

#endif
