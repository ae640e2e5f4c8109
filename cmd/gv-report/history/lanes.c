#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include "known.h"

size_t
history_count_gpus(struct gv_cell list)
{
	size_t i, n = list.len > 0 ? 1 : 0;

	for (i = 0; i < list.len; i++)
		n += list.s[i] == ';';
	return n;
}

static size_t
lane_of(struct history *h, size_t type, struct gv_cell node, struct gv_cell gpu)
{
	const char *name = h->type[type].name;
	size_t name_len = h->type[type].name_len;
	size_t len = name_len + 1 + node.len + 1 + gpu.len;
	char *key = gv_xcalloc(len, 1); /* NULs between the three, which no cell holds */
	bool is_new;
	size_t i;

	memcpy(key, name, name_len);
	if (node.len > 0)
		memcpy(key + name_len + 1, node.s, node.len);
	if (gpu.len > 0)
		memcpy(key + name_len + 1 + node.len + 1, gpu.s, gpu.len);
	i = history_number(h, &h->lanes, key, len, &is_new);
	free(key);
	if (is_new) {
		h->lane = gv_xgrow(h->lane, &h->cap_lanes, i + 1, sizeof(*h->lane));
		h->lane[i] = (struct lane){.type = type,
		    .node = h->lanes.key[i].s + name_len + 1,
		    .gpu = h->lanes.key[i].s + name_len + 1 + node.len + 1};
		h->n_lanes = i + 1;
	}
	return i;
}

/* A job has come to a GPU. */
static void
use_lane(struct history *h, struct job *j, size_t lane, double now, bool told)
{
	if (h->keep_runs) {
		h->run = gv_xgrow(h->run, &h->cap_runs, h->n_runs + 1, sizeof(*h->run));
		h->run[h->n_runs++] =
		    (struct launch){(size_t)(j - h->job), lane, now, now, j->run, false};
		j->run = h->n_runs;
	}
	if (!told)
		return;
	j->lane = gv_xgrow(j->lane, &j->cap_lanes, j->n_lanes + 1, sizeof(*j->lane));
	j->lane[j->n_lanes++] = lane;
	if (h->lane[lane].users++ == 0)
		h->lane[lane].busy_since_s = now;
}

void
history_lanes(struct history *h, const struct gv_event *ev, size_t type, struct job *j)
{
	const char *s = ev->gpus.s, *end = s + ev->gpus.len, *p;
	size_t lane, n = 0;

	for (p = s;; p++) {
		if (p < end && *p != ';')
			continue;
		lane = lane_of(h, type, gv_event_node(ev, n++),
		    (struct gv_cell){s, (size_t)(p - s)});
		if (j != NULL)
			use_lane(h, j, lane, ev->time_s, ev->gpus.len > 0);
		if (p == end)
			return;
		s = p + 1;
	}
}

double
history_were_busy(struct history *h, size_t type, double from_s, double to_s, double gpus)
{
	if (h->over != NULL)
		over_time_busy(h->over, type, from_s, to_s, gpus);
	return (to_s - from_s) * gpus;
}

double
history_leave_lanes(struct history *h, struct job *j, double now)
{
	double gpu_s = 0, since_s = 0, n = 0; /* GPUs busy since the same time */
	size_t type = j->on->type, i;

	for (i = 0; i < j->n_lanes; i++) {
		struct lane *l = &h->lane[j->lane[i]];

		if (--l->users > 0)
			continue;
		if (l->busy_since_s != since_s) {
			gpu_s += history_were_busy(h, type, since_s, now, n);
			since_s = l->busy_since_s;
			n = 0;
		}
		n++;
	}
	j->n_lanes = 0;
	return gpu_s + history_were_busy(h, type, since_s, now, n);
}
